"""Which clients are behind: what is asked, the table, and what is written."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts

from . import newest
from .e2e.clients import CLIENTS, FILE

TODAY = newest.datetime.date.today()


def client(version: str, sure: str = "run") -> dict[str, Any]:
    return {"package": "made-up", "version": version, "sure": sure}


THREE = {"old": client("1.9.0"), "new": client("2.0.0"), "unsure": client("2.0.0", "not run")}


def ask(about: Mapping[str, Any]) -> str:
    return "2.0.0"


def test_npm_is_asked_for_the_package_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm = tmp_path / "npm"
    npm.write_text('#!/bin/sh\ncase "$*" in *PLATFORM*) exit 1 ;; "view made-up-"*" version") echo 1.10.0 ;; esac\n')
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert newest.ask({"package": "made-up-PLATFORM"}) == "1.10.0"
    with pytest.raises(newest.Unasked, match="other: no version in the answer ''"):
        newest.ask({"package": "other"})
    npm.write_text("#!/bin/sh\necho 'npm error no such package' >&2\nexit 1\n")
    with pytest.raises(newest.Unasked, match="`npm view other version` failed: npm error no such package"):
        newest.ask({"package": "other"})
    npm.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(newest.Unasked, match="npm is not on the PATH"):
        newest.ask({"package": "other"})


def test_pip_is_asked_for_the_first_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("1.9", "1.10"):
        (tmp_path / f"made_up-{version}-py3-none-any.whl").touch()
    for name, value in (("PIP_NO_INDEX", "1"), ("PIP_FIND_LINKS", str(tmp_path)), ("PIP_CONFIG_FILE", "/dev/null")):
        monkeypatch.setenv(name, value)
    assert newest.ask({"registry": "pypi", "package": "made-up other", "python": "3.12"}) == "1.10"
    with pytest.raises(newest.Unasked, match="No matching distribution found for other"):
        newest.ask({"registry": "pypi", "package": "other"})


def test_the_table_says_which_are_behind(capsys: pytest.CaptureFixture[str]) -> None:
    assert newest.main([], THREE, ask) == 1
    assert capsys.readouterr().out.splitlines() == [
        "client      here        newest",
        "old         1.9.0       2.0.0       behind",
        "new         2.0.0       2.0.0",
        "unsure      2.0.0       2.0.0       not run",
    ]
    assert newest.main(["new"], THREE, ask) == 0


def test_a_registry_without_an_answer_is_named_and_stops_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    def fail(about: Mapping[str, Any]) -> str:
        if about is THREE["old"]:
            raise newest.Unasked("npm is not on the PATH")
        return "2.0.0"

    assert newest.main(["old", "new"], THREE, fail) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        "old         1.9.0       ?           npm is not on the PATH",
        "new         2.0.0       2.0.0",
    ]


@pytest.mark.parametrize(
    ("words", "passed", "code", "written"),
    [
        (["--run"], True, 0, []),
        (["--run"], False, 1, []),
        (["--run", "--write"], True, 0, [("old", "2.0.0", "run"), ("unsure", "2.0.0", "run")]),
        (["--run", "--write"], False, 1, []),
        (["--write"], None, 1, [("old", "2.0.0", "not run"), ("unsure", "2.0.0", "not run")]),
        (["--write", "new"], None, 0, []),
    ],
)
def test_what_is_written_is_what_passed_or_is_marked(
    words: list[str], passed: bool | None, code: int, written: list[tuple[str, str, str]]
) -> None:
    seen: list[tuple[str, str, str]] = []
    ran: list[str] = []

    def passes(name: str, version: str) -> bool:
        assert passed is not None, "tests were run unasked"
        ran.append(name)
        return passed

    assert newest.main(words, THREE, ask, passes, lambda *row: seen.append(row)) == code
    assert (ran, seen) == (["old", "unsure"] if "--run" in words else [], written)


@pytest.mark.parametrize("name", CLIENTS)
def test_a_version_is_written_into_the_client_s_own_table(name: str, tmp_path: Path) -> None:
    file = tmp_path / "clients.toml"
    file.write_text(FILE.read_text())
    newest.write(name, "99.0.1", "not run", file)
    more = {"version": "99.0.1", "seen": TODAY, "sure": "not run"}
    assert tomllib.loads(file.read_text()) == {**CLIENTS, name: {**CLIENTS[name], **more}}


def test_an_unknown_client_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        newest.main(["oldd"], THREE, ask)
    assert ended.value.code == 2
    assert "unknown client oldd: one of old, new, unsure" in capsys.readouterr().err


# One file of versions.


@pytest.mark.parametrize("name", CLIENTS)
def test_the_tests_were_run_with_the_version_that_the_host_s_data_names(name: str) -> None:
    seen = hosts.load(name).client.seen
    assert (seen, CLIENTS[name]["sure"]) == (CLIENTS[name]["version"], "run")


def test_no_other_file_beside_it_names_a_client_s_version() -> None:
    versions = re.compile("|".join(rf"(?<![\w.]){re.escape(about['version'])}(?![\w.])" for about in CLIENTS.values()))
    files = [path for path in FILE.parent.rglob("*.*") if path.suffix in (".py", ".toml") and path != FILE]
    assert len(files) > 80
    assert {path.name: found for path in files if (found := versions.findall(path.read_text()))} == {}
