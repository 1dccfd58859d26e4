"""Approvals in Codex's config.toml: written on --trust only, kept up, taken out again, and never the operator's."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents.yaml import YamlDocument
from hookctl.model import Record
from hookctl.run import recover
from hookctl.run.journal import Journal, Step, write_journal
from hookctl.system import files, folders
from tests.conftest import Hookctl, put
from tests.disk import data_of, outcome, put_back, quiet, reached, temporary, tree
from tests.test_crash import STRIDE, killed

pytestmark = pytest.mark.usefixtures("fixed_python")

CONFIG = '# mine\r\nmodel = "m"\r\n\r\n[projects."/a"]\r\ntrust_level = "trusted"\r\n'
CODEX = ("--host", "codex")
INSTALL, TRUST, UNINSTALL = ("install", *CODEX), ("install", *CODEX, "--trust"), ("uninstall", *CODEX)


@pytest.fixture
def config(isolated: Path) -> Path:
    return put(isolated / "home" / ".codex" / "config.toml", CONFIG.replace("\r\n", "\n")).absolute()


def approved(config: Path) -> dict[str, Any]:
    """The approvals: the place of the hook to what stands there."""
    state = tomllib.loads(config.read_text()).get("hooks", {}).get("state", {})
    return {key.removeprefix(f"{config.parent}/"): about for key, about in state.items()}


THEIRS = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n'


@pytest.fixture
def project(isolated: Path, config: Path) -> Path:
    """A repository, and the user's own hook in config.toml."""
    put(isolated / "work" / ".git" / "HEAD", "ref: refs/heads/main\n")
    config.write_text(THEIRS)
    return isolated / "work"


SHARED = ("--scope", "project")


@pytest.fixture
def approve_in_project(monkeypatch: pytest.MonkeyPatch, hookctl: Hookctl) -> Callable[..., None]:
    """Install at project scope and approve it, as version 0.1.0 did."""

    def install(*arguments: str) -> None:
        with monkeypatch.context() as patch:
            patch.setattr("hookctl.planner.install._refuse_inherited_trust", lambda targets: None)
            patch.setattr("hookctl.planner.approvals._require_own_programs", lambda *_: None)
            patch.setattr("hookctl.planner.approvals._may_approve", lambda target: True)
            assert hookctl("install", *arguments, *CODEX, *SHARED, "--trust").code == 0

    return install


@pytest.mark.parametrize("last", [("uninstall", "--all", "--json"), ("uninstall", *CODEX)])
@pytest.mark.parametrize("out", [False, True])
def test_a_projects_approval_leaves_what_is_installed_in_the_same_file(
    isolated: Path, hookctl: Hookctl, config: Path, project: Path, last: tuple[str, ...], out: bool,
    approve_in_project: Callable[..., None],
) -> None:  # fmt: skip
    assert hookctl(*TRUST).code == 0
    approve_in_project()
    pages = json.loads((isolated / "state" / "ledger.json").read_text())["files"]
    assert pages[str(config)]["sha256_after"] == files.digest(config.read_bytes())
    assert hookctl(*TRUST).out == "nothing to do\n"
    if out:
        assert hookctl("uninstall", *CODEX, *SHARED).code == 0
    assert hookctl(*last).code == 0
    stays = last[1] != "--all" and not out
    assert list(approved(config)) == ([f"{project}/.codex/hooks.json:stop:0:0"] if stays else [])
    assert stays or config.read_text() == THEIRS


def test_an_install_takes_back_what_an_earlier_version_approved_in_a_project(
    hookctl: Hookctl, config: Path, project: Path, approve_in_project: Callable[..., None]
) -> None:
    approve_in_project()
    assert len(approved(config)) == 1
    assert "approve it under /hooks" in hookctl(*INSTALL, *SHARED).err
    assert config.read_text() == THEIRS


def test_what_a_pull_makes_of_an_approved_command_is_not_approved(
    isolated: Path, hookctl: Hookctl, config: Path, project: Path, approve_in_project: Callable[..., None]
) -> None:
    pack = put(isolated / "bell.toml", '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n\n'
               '[[hooks]]\nevent = "stop"\ncommand = "true"\n')  # fmt: skip
    approve_in_project(str(pack))
    before = [about["trusted_hash"] for about in approved(config).values()]
    for path in (project / ".codex" / "hooks.json", project / ".hookctl" / "ledger.json"):
        text = path.read_text()
        assert "; true" in text
        path.write_text(text.replace("; true", "; touch pwned"))
    assert hookctl(*INSTALL, *SHARED).code == 0
    assert hookctl("doctor", *CODEX, "--fix", "--json").code in (0, 1)
    assert "pwned" not in config.read_text()
    assert [about["trusted_hash"] for about in approved(config).values()] in ([], before)


AGREED = "shell-hooks-allowlist.json"


def test_a_gate_is_told_as_long_as_it_is_shut(isolated: Path, hookctl: Hookctl) -> None:
    hermes, words = ("install", "--host", "hermes"), "start `hermes` and agree"
    assert [words in hookctl(*hermes).err for _ in range(2)] == [True, True]
    path = isolated / "home" / ".hermes" / "config.yaml"
    hooks = YamlDocument.parse(path.read_bytes()).value["hooks"]
    agreed = [{"event": event, "command": one["command"]} for event in hooks for one in hooks[event]]
    put(path.with_name(AGREED), json.dumps({"approvals": agreed}))
    assert words not in hookctl(*hermes, "--set", "latch=no").err


def test_the_run_after_a_kill_ends_as_if_nothing_had_happened(isolated: Path, config: Path) -> None:
    hooks, start = config.with_name("hooks.json"), tree(isolated)
    done, new = reached(isolated, start, TRUST), config.read_bytes()
    put_back(isolated, start)
    at = 1
    while killed(TRUST, at):
        assert data_of(config) in (start.data[str(config)], new), at
        assert data_of(hooks) in (None, done[0].data[str(hooks)]), at
        assert quiet(*TRUST) == 0
        assert (at, outcome(isolated), temporary(isolated)) == (at, done, [])
        put_back(isolated, start)
        at += min(STRIDE, 13)
    assert at > 40


def test_a_write_after_a_kill_keeps_the_page_of_a_file_that_only_got_an_approval(config: Path) -> None:
    text = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n'
    config.write_text(text)
    assert quiet(*INSTALL) == 0
    before = (folders.here(), config.read_bytes())
    theirs = b"x = 1\n"
    step = Step(str(config), files.digest(before[1]), files.digest(b"y = 1\n"), 0o600, True)
    write_journal(before[0], Journal((step,), {}, (), ()))
    config.write_bytes(theirs)
    recover.recover(before[0])
    assert config.read_bytes() == theirs
    assert str(config) in json.loads(Path(before[0].ledger).read_text())["files"]


@pytest.mark.parametrize(("format", "data", "torn"), [("toml", b"a = 1\n", False), ("toml", b"a =\n", True)])
def test_a_file_without_backups_is_torn_if_its_own_format_does_not_read_it(
    isolated: Path, format: str, data: bytes, torn: bool
) -> None:
    step = Step("x", "0" * 64, "", 0o600, True)
    found = files.Snapshot("x", data, 2)
    assert recover._is_torn(folders.here(), found, step, Record("codex", "user", format)) == torn
    assert not recover._is_torn(folders.here(), found, step, None)


@pytest.mark.parametrize("asked", [("--all", "--json"), ("--scope", "project", *CODEX)], ids=["all", "a project"])
def test_an_approval_goes_wherever_the_settings_of_codex_are_now(
    isolated: Path, hookctl: Hookctl, config: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...],
    approve_in_project: Callable[..., None],
) -> None:  # fmt: skip
    (isolated / "work" / ".git").mkdir()
    if "project" in asked:
        approve_in_project()
    else:
        assert hookctl(*TRUST).code == 0
    assert "hooks.state" in config.read_text()
    monkeypatch.setenv("CODEX_HOME", str(isolated / "elsewhere"))
    assert hookctl("uninstall", *asked).code == 0
    assert config.read_text() == CONFIG.replace("\r\n", "\n")
    assert not (isolated / "state" / "approvals.json").exists()
