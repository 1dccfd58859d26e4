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


def test_what_was_asked_for_is_kept_up_and_goes_with_the_hook(hookctl: Hookctl, config: Path) -> None:
    config.write_bytes(CONFIG.encode())
    assert hookctl(*TRUST).code == 0
    first = approved(config)
    assert list(first) == ["hooks.json:stop:0:0"]
    assert b"\n" not in config.read_bytes().replace(b"\r\n", b"")
    assert hookctl(*INSTALL).out == "nothing to do\n"
    assert hookctl(*INSTALL, "--dispatch", "Bash").code == 0
    assert list(approved(config)) == ["hooks.json:stop:0:0", "hooks.json:pre_tool_use:0:0"]
    assert hookctl(*INSTALL, "--dispatch", "").code == 0
    assert approved(config) == first
    assert hookctl(*UNINSTALL).code == 0
    assert config.read_bytes() == CONFIG.encode()


def test_where_one_approval_was_taken_back_no_other_is_written_unasked(hookctl: Hookctl, config: Path) -> None:
    hookctl(*TRUST, "--dispatch", "Bash")
    head, _, tail = config.read_text().partition("\n[hooks.state.")
    stop, _, _ = tail.partition("\n[hooks.state.")
    config.write_text(f"{head}\n[hooks.state.{stop}")
    assert list(approved(config)) == ["hooks.json:stop:0:0"]
    theirs = config.read_bytes()
    for _ in range(2):
        assert "approve it under /hooks" in hookctl(*INSTALL).err
        assert config.read_bytes() == theirs
    path = config.with_name("hooks.json")
    page = json.loads(path.read_text())
    page["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "say"}]})
    path.write_text(json.dumps(page))
    assert "approve it under /hooks" in hookctl(*INSTALL).err
    assert config.read_bytes() == theirs
    assert hookctl(*TRUST).code == 0
    assert sorted(approved(config)) == ["hooks.json:pre_tool_use:0:0", "hooks.json:stop:1:0"]


def test_with_the_hook_in_the_same_file_both_come_and_go(isolated: Path, hookctl: Hookctl, config: Path) -> None:
    text = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say"\n'
    config.write_text(text)
    assert hookctl(*TRUST).code == 0
    assert list(approved(config)) == ["config.toml:stop:1:0"]
    page = json.loads((isolated / "state" / "ledger.json").read_text())["files"][str(config)]
    assert page["sha256_after"] == files.digest(config.read_bytes())
    assert hookctl(*TRUST).out == "nothing to do\n"
    assert hookctl(*UNINSTALL).code == 0
    assert config.read_text() == text


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


@pytest.mark.parametrize("verb", ["install", "plan"])
@pytest.mark.parametrize("host", ["codex", "claude"])
def test_nothing_of_a_project_is_approved(hookctl: Hookctl, config: Path, project: Path, verb: str, host: str) -> None:
    done = hookctl(verb, "--host", host, *SHARED, "--trust")
    assert (done.code, "a later commit" in done.err) == (2, True)
    assert config.read_text() == THEIRS
    assert not (project / ".hookctl").exists()


def test_an_install_takes_back_what_an_earlier_version_approved_in_a_project(
    hookctl: Hookctl, config: Path, project: Path, approve_in_project: Callable[..., None]
) -> None:
    approve_in_project()
    assert len(approved(config)) == 1
    assert "approve it under /hooks" in hookctl(*INSTALL, *SHARED).err
    assert config.read_text() == THEIRS


def test_a_program_in_a_project_is_not_approved(
    isolated: Path, hookctl: Hookctl, config: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKCTL_DATA_DIR", str(project / "data"))
    done = hookctl(*TRUST)
    assert (done.code, "lies in the project" in done.err) == (1, True)  # no program of ours lies there at all
    assert config.read_text() == THEIRS


@pytest.mark.parametrize("command", ["sh ./run.sh", "{project}/run.sh now", "sh ../run.sh"])
def test_nor_is_a_pack_whose_command_runs_one(
    isolated: Path, hookctl: Hookctl, config: Path, project: Path, command: str
) -> None:
    put(project / "run.sh", "true")
    text = command.replace("{project}", str(project))
    pack = put(
        isolated / "bell.toml",
        f'''[pack]
name = "bell"
version = "1"
[[hooks]]
event = "stop"
command = "{text}"
''',
    )
    done = hookctl("install", str(pack), *CODEX, "--trust")
    assert (done.code, "a later commit" in done.err) == (2, True)
    assert config.read_text() == THEIRS


def test_a_file_that_cannot_be_read_stops_an_approval_and_no_removal(hookctl: Hookctl, config: Path) -> None:
    config.write_text("x =\n")
    done = hookctl(*TRUST)
    assert (done.code, "config.toml:1:4" in done.err) == (4, True)
    assert not config.with_name("hooks.json").exists()
    config.unlink()
    hookctl(*TRUST)
    config.write_text("x =\n")
    assert hookctl("uninstall", *CODEX).code == 1  # the hook is out, and the approval may be there
    assert config.read_text() == "x =\n"


def test_what_a_pull_makes_of_an_approved_command_is_not_approved(
    isolated: Path, hookctl: Hookctl, config: Path, project: Path, approve_in_project: Callable[..., None]
) -> None:
    pack = put(isolated / "bell.toml", '[pack]\nname = "bell"\nversion = "1"\n\n'
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


OTHER = '[pack]\nname = "other"\nversion = "1.0.0"\n\n[[hooks]]\nevent = "stop"\ncommand = "true other"\n'


@pytest.mark.parametrize("verb", [("doctor", "--fix"), INSTALL, ("install", "other.toml", *CODEX)], ids=" ".join)
@pytest.mark.parametrize("theirs", [True, False], ids=["with a hook of theirs", "without"])
def test_where_a_file_was_lost_the_approvals_of_every_pack_follow(
    isolated: Path, hookctl: Hookctl, config: Path, verb: tuple[str, ...], theirs: bool
) -> None:
    put(isolated / "work" / "other.toml", OTHER)
    assert hookctl(*TRUST).code == hookctl("install", "other.toml", *CODEX, "--trust").code == 0
    group = {"hooks": [{"type": "command", "command": "true"}]}
    config.with_name("hooks.json").write_text(json.dumps({"hooks": {"Stop": [group]} if theirs else {}}))
    hookctl(*verb)
    where = [f"hooks.json:stop:{n + theirs}:0" for n in (0, 1)]
    assert sorted(approved(config)) == where
    findings = hookctl("doctor", "--json").data["findings"]
    assert not [finding for finding in findings if finding["code"] == "not_approved"]
    assert hookctl("uninstall", "--all", "--json").code == 0
    assert config.read_text() == CONFIG.replace("\r\n", "\n")


def test_an_approval_of_another_pack_that_was_taken_back_does_not_follow(
    isolated: Path, hookctl: Hookctl, config: Path
) -> None:
    put(isolated / "work" / "other.toml", OTHER)
    assert hookctl(*TRUST).code == hookctl("install", "other.toml", *CODEX, "--trust").code == 0
    text = config.read_text()
    config.write_text(text[: text.index("[hooks.state", text.index("[hooks.state") + 1)])
    config.with_name("hooks.json").unlink()
    assert hookctl(*INSTALL).code == 0
    assert list(approved(config)) == ["hooks.json:stop:0:0"]


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


def test_an_approval_that_the_operator_took_back_stays_away_when_another_pack_leaves_its_place(
    isolated: Path, hookctl: Hookctl, config: Path
) -> None:
    head = '[pack]\nname = "{0}"\nversion = "1"\n[[hooks]]\nevent = "stop"\ncommand = "{0}"\n'
    for name in ("first", "second"):
        put(isolated / "work" / f"{name}.toml", head.format(name))
    assert hookctl("install", "first.toml", *CODEX, "--trust").code == 0
    settings = config.with_name("hooks.json")
    settings.write_text(json.dumps({"hooks": {"Stop": []}}))
    config.write_text("x = 1\n")
    assert hookctl("install", "second.toml", *CODEX, "--trust").code == 0
    assert list(approved(config)) == ["hooks.json:stop:0:0"]
    done = hookctl("uninstall", "second")
    assert "remaining" not in done.out
    assert config.read_text() == "x = 1\n"
