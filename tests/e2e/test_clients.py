"""How clients are had: from the cache, from npm, or not at all; which tests run, and what is said of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_tests_marked_full_are_left_out_unless_all_are_wanted() -> None:
    collect = ["--collect-only", "tests/e2e/test_gemini_facts.py", "tests/e2e/test_clients.py"]
    quick, every = pytest_says(*collect), pytest_says(*collect, HOOKCTL_TESTS="all")
    assert ("test_gemini_facts" in quick, "test_gemini_facts" in every) == (False, True)
    assert "test_clients" in quick
    assert "deselected" in quick
    assert "skipped" not in quick.splitlines()[-1]


def test_the_tests_of_some_clients_alone_may_be_wanted() -> None:
    collect = ["--collect-only", "tests/e2e/test_common_facts.py", "tests/e2e/test_clients.py"]
    said = pytest_says(*collect, HOOKCTL_TESTS="all", HOOKCTL_TEST_CLIENTS="kimi=1.2.3 pi")
    assert {line.partition("[")[2] for line in said.splitlines() if "::" in line} == {"kimi]", "pi]"}


@pytest.mark.parametrize(("environment", "outcome"), [({}, "1 skipped"), ({"HOOKCTL_E2E": "require"}, "1 error")])
def test_without_a_client_the_tests_are_skipped_or_fail_and_say_why(
    tmp_path: Path, environment: dict[str, str], outcome: str
) -> None:
    said = pytest_says(*ONE, **nothing_here(tmp_path), **environment)
    assert outcome in said
    assert "there is no npm to fetch it" in said
