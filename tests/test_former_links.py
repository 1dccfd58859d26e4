"""A program puts a file in place of a settings file that was a link: both have our entries, and both are known."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl.ledger import store
from hookctl.system import folders
from tests.conftest import Hookctl, put

THEIRS = '{"model": "m"}\n'
HOSTS = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture(params=HOSTS)
def replaced(request: pytest.FixtureRequest, isolated: Path, hookctl: Hookctl) -> tuple[str, Path, Path]:
    """A host, its settings file as a program wrote it anew, and the file that the link led to."""
    host = request.param
    path, target = isolated / "home" / HOSTS[host], put(isolated / "dotfiles" / "settings.json", THEIRS)
    path.parent.mkdir()
    path.symlink_to(target)
    assert hookctl("install", "--host", host).code == 0
    text = path.read_text()
    path.unlink()
    path.write_text(text + "\n")  # by a program that knows of no links
    return host, path, target


def test_both_are_named(replaced: tuple[str, Path, Path], hookctl: Hookctl) -> None:
    host, path, target = replaced
    shown = {file["file"] for file in hookctl("status", "--json").data["files"]}
    assert shown == {str(path), str(target)}
    findings = hookctl("doctor", "--host", host, "--json").data["findings"]
    assert str(target) in [finding["path"] for finding in findings if finding["code"] == "not_read"]


def test_uninstall_names_the_other_one_and_takes_it_out_with_all(
    replaced: tuple[str, Path, Path], isolated: Path, hookctl: Hookctl
) -> None:
    _, path, target = replaced
    done = hookctl("uninstall")
    assert (done.code, "hookctl=" in path.read_text()) == (0, False)
    assert str(target) in done.err and "--all" in done.err
    assert hookctl("uninstall", "--all", "--yes").code == 0
    assert target.read_text() == THEIRS
    assert store.load(folders.here().ledger) == {} and not (isolated / "data").exists()


@pytest.mark.parametrize("between", [["install"], ["install", "--force"], ["doctor", "--fix"]])
def test_both_go_at_once_whatever_comes_between(
    between: list[str], replaced: tuple[str, Path, Path], isolated: Path, hookctl: Hookctl
) -> None:
    host, path, target = replaced
    assert hookctl(*between, "--host", host).code in (0, 1)
    assert hookctl("uninstall", "--all", "--yes").code == 0
    assert "hookctl=" not in path.read_text() + target.read_text()
    assert store.load(folders.here().ledger) == {} and not (isolated / "data").exists()


def test_a_link_that_is_put_back_is_one_file_again(replaced: tuple[str, Path, Path], hookctl: Hookctl) -> None:
    _, path, target = replaced
    path.unlink()
    path.symlink_to(target)
    assert hookctl("uninstall").code == 0
    assert target.read_text() == THEIRS
    assert store.load(folders.here().ledger) == {}
