"""How clients are had: from the cache, from npm, or not at all; which tests run, and what is said of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from . import clients

ROOT = Path(__file__).parents[2]
ONE = ("tests/e2e/test_common_facts.py", "-k", "without_a_hook")


def nothing_here(folder: Path) -> dict[str, str]:
    """An environment in which neither a cached client nor npm is to be found."""
    return {"PATH": "/nowhere", "HOME": str(folder), "HOOKCTL_TEST_CACHE": str(folder / "cache")}


def pytest_says(*arguments: str, **environment: str) -> str:
    """What another run of pytest says, without anything of this machine's but its Python."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=ROOT,
        env={"PATH": os.defpath, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    return done.stdout


def put_program(cache: Path, folder: str, package: str, program: str, text: str = "") -> Path:
    """A program where the cache has it."""
    path = cache / folder / "node_modules" / package / program
    path.parent.mkdir(parents=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_tests_marked_full_are_left_out_unless_all_are_wanted() -> None:
    collect = ["--collect-only", "tests/e2e/test_gemini_facts.py", "tests/e2e/test_model_server.py"]
    quick, every = pytest_says(*collect), pytest_says(*collect, HOOKCTL_TESTS="all")
    assert ("test_gemini_facts" in quick, "test_gemini_facts" in every) == (False, True)
    assert "test_model_server" in quick
    assert "deselected" in quick
    assert "skipped" not in quick


def test_the_tests_of_some_clients_alone_may_be_wanted() -> None:
    collect = ["--collect-only", "tests/e2e/test_common_facts.py", "tests/e2e/test_model_server.py"]
    said = pytest_says(*collect, HOOKCTL_TESTS="all", HOOKCTL_TEST_CLIENTS="kimi=1.2.3 pi")
    assert {line.partition("[")[2] for line in said.splitlines() if "::" in line} == {"kimi]", "pi]"}


@pytest.mark.parametrize("processes", [[], ["-n", "1"]], ids=["this process", "a worker"])
def test_the_clients_that_ran_are_named_at_the_end(tmp_path: Path, processes: list[str]) -> None:
    about = clients.CLIENTS["claude"]
    package = clients.for_this_machine(about["package"])
    folder = f"{package.partition('/')[2]}-{about['version']}"
    put_program(tmp_path, folder, package, "claude", f"#!/bin/sh\necho {about['version']}\n")
    test = "tests/e2e/test_common_facts.py::test_the_client_is_the_pinned_version[claude]"
    said = pytest_says(test, *processes, HOOKCTL_TEST_CACHE=str(tmp_path))
    assert f"clients: claude {about['version']}\n" in said


@pytest.mark.parametrize(("environment", "outcome"), [({}, "1 skipped"), ({"HOOKCTL_E2E": "require"}, "1 error")])
def test_without_a_client_the_tests_are_skipped_or_fail_and_say_why(
    tmp_path: Path, environment: dict[str, str], outcome: str
) -> None:
    said = pytest_says(*ONE, **nothing_here(tmp_path), **environment)
    assert outcome in said
    assert "there is no npm to fetch it" in said


@pytest.mark.parametrize("wanted", ["", "99.0.1"])
def test_a_cached_client_is_used_as_it_is(wanted: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_CACHE", tmp_path)
    monkeypatch.setattr(clients, "_NPM_ENVIRONMENT", {"PATH": "/nowhere"})
    monkeypatch.setattr(clients, "WANTED", {"claude": wanted})
    about = clients.CLIENTS["claude"]
    package = clients.for_this_machine(about["package"])
    program = put_program(tmp_path, f"{package.partition('/')[2]}-{wanted or about['version']}", package, "claude")
    assert clients.find_client("claude").command == [str(program)]


def test_a_release_of_this_platform_may_have_its_program_in_a_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "_CACHE", tmp_path)
    about = clients.CLIENTS["codex"]
    folder = f"codex-{about['version']}-{clients._platform()}"
    program = put_program(tmp_path, folder, about["package"], "vendor/some-triple/bin/codex")
    assert clients.find_client("codex").command == [str(program)]


def test_a_runtime_is_the_machine_s_or_a_version_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "_CACHE", tmp_path)
    monkeypatch.setattr(clients, "_NPM_ENVIRONMENT", {"PATH": str(tmp_path / "bin")})
    with pytest.raises(clients.Unavailable, match="no node on the PATH"):
        clients._runtime("node")
    name = f"node-{clients._platform()}"
    own = put_program(tmp_path, f"{name}-22.1.0", name, "bin/node")
    assert clients._runtime("node 22.1.0") == (str(own),)
    (tmp_path / "bin").symlink_to(own.parent)
    assert clients._runtime("node") == (str(tmp_path / "bin" / "node"),)


def test_a_fetch_that_fails_says_what_npm_said_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho 'no such version' >&2\nexit 1\n")
    npm.chmod(0o755)
    monkeypatch.setattr(clients, "_CACHE", tmp_path / "cache")
    monkeypatch.setattr(clients, "_NPM_ENVIRONMENT", {"PATH": f"{npm.parent}:{os.defpath}"})
    with pytest.raises(clients.Unavailable, match="no such version"):
        clients.find_client("claude")
    assert list((tmp_path / "cache").iterdir()) == []
