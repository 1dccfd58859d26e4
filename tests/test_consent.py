"""Packs that are not built in: nothing of theirs is written before somebody has read it and agreed."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.conftest import Hookctl, Outcome, put

PACK = """[pack]
name = "bell"
version = "1.0.0"

[files]
include = ["ring.sh"]

[env]
BELL_TOKEN = "abc-very-secret"

[[hooks]]
event = "stop"
id = "ring"
command = "sh {files}/ring.sh | curl -H 'X-Api-Key: hunter2' h"
"""
HOST = ("--host", "claude")


class Bell:
    """A pack in a folder, and the commands that install it."""

    def __init__(self, folder: Path, hookctl: Hookctl) -> None:
        self.hookctl = hookctl
        self.folder = folder
        self.toml = put(folder / "pack.toml", PACK)
        self.script = put(folder / "ring.sh", "echo ding\n")

    def change(self, old: str, new: str) -> None:
        self.toml.write_text(self.toml.read_text().replace(old, new))

    def install(self, *options: str, verb: str = "install") -> Outcome:
        return self.hookctl(verb, str(self.folder), *HOST, *options, agrees=False)

    def plan(self, *options: str) -> Outcome:
        return self.install(*options, verb="plan")


@pytest.fixture
def bell(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Bell:
    return Bell(isolated / "work" / "bell", hookctl)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> object:
    """Sits at the terminal and types this."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def type_(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal(text))
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)

    return type_


def nothing_written(isolated: Path) -> bool:
    return not (isolated / "home" / ".claude").exists() and not (isolated / "data").exists()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_without_a_terminal_nothing_is_written_unless_yes_is_said(
    bell: Bell, isolated: Path, options: tuple[str, ...]
) -> None:
    done = bell.install(*options)
    assert done.code == 2
    assert "consent_needed" in done.out if options else "--yes" in done.err
    assert nothing_written(isolated)
    assert bell.install(*options, "--yes").code == 0
    assert not nothing_written(isolated)


@pytest.mark.parametrize("text", ["", "n\n", "what?\n"])
def test_at_a_terminal_a_no_writes_nothing(bell: Bell, isolated: Path, answer: object, text: str) -> None:
    answer(text)  # type: ignore[operator]
    assert bell.install().code == 2
    assert nothing_written(isolated)


def test_at_a_terminal_it_asks_once(bell: Bell, settings: Path, answer: object) -> None:
    answer("y\n")  # type: ignore[operator]
    done = bell.install()
    assert (done.code, "Install bell?" in done.err) == (0, True)
    assert "hookctl=bell/ring" in settings.read_text()
    answer("")  # type: ignore[operator]
    again = bell.install()
    assert (again.code, again.out) == (0, "nothing to do\n")
    assert "Install bell?" not in again.err


def test_at_a_terminal_json_never_asks(bell: Bell, isolated: Path, answer: object) -> None:
    answer("y\n")  # type: ignore[operator]
    done = bell.install("--json")
    assert (done.code, "Install" in done.err) == (2, False)
    assert nothing_written(isolated)


def test_everything_is_shown_in_full(bell: Bell) -> None:
    for text in (bell.plan().out, bell.install().err, bell.install("--yes").err):
        assert "sh {files}/ring.sh | curl -H 'X-Api-Key: hunter2' h" in text
        assert "BELL_TOKEN=abc-very-secret" in text
        assert "| echo ding" in text


def test_a_plan_needs_no_consent_and_json_has_it_all(bell: Bell, isolated: Path) -> None:
    for done in (bell.plan("--json"), bell.install("--dry-run", "--json")):
        assert done.code == 0
        brings = done.data["pack"]
        assert "hunter2" in brings["commands"][0]["command"]
        assert (brings["env"][0]["value"], brings["files"][0]["text"]) == ("abc-very-secret", "echo ding")
    assert nothing_written(isolated)
    bell.install("--yes")
    assert "pack" not in bell.plan("--json").data, "nothing is left to agree to"


def test_a_program_that_is_no_text_is_named_with_its_digest(bell: Bell) -> None:
    bell.script.write_bytes(b"\x7fELF\0\1")
    assert "ring.sh (6 bytes, sha256 " in bell.plan().out


@pytest.mark.parametrize("scope", ["user", "local", "project"])
def test_other_content_under_the_same_version_is_asked_for_again(bell: Bell, isolated: Path, scope: str) -> None:
    (isolated / "work" / ".git").mkdir()
    where = ("--scope", scope)
    assert bell.install(*where, "--yes").code == 0
    assert bell.install(*where).out == "nothing to do\n"
    bell.script.write_text("echo evil\n")
    bell.change("ring.sh |", "ring.sh | tee x |")
    before = sorted(isolated.rglob("*"))
    done = bell.install(*where, "--yes")
    assert (done.code, "--accept-changed" in done.err) == (2, True)
    assert sorted(isolated.rglob("*")) == before
    for text in ("was : hookctl=bell/ring", "tee x", "-echo ding", "+echo evil"):
        assert text in done.err
    assert bell.install(*where, "--accept-changed").code == 2
    assert bell.install(*where, "--accept-changed", "--yes").code == 0
    assert bell.install(*where).out == "nothing to do\n"


def test_a_new_version_needs_consent_but_no_more(bell: Bell) -> None:
    bell.install("--yes")
    bell.change("1.0.0", "1.1.0")
    assert bell.install().code == 2
    assert bell.install("--yes").code == 0


def test_what_was_agreed_to_once_is_not_asked_for_on_another_host(bell: Bell, hookctl: Hookctl) -> None:
    bell.install("--yes")
    done = hookctl("install", str(bell.folder), "--host", "codex", agrees=False)
    assert done.code == 0


def test_a_committed_ledger_is_no_consent(bell: Bell, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (isolated / "work" / ".git").mkdir()
    assert bell.install("--scope", "project", "--yes").code == 0
    monkeypatch.setenv("HOOKCTL_STATE_DIR", str(isolated / "another machine"))
    assert bell.install("--scope", "project").code == 2


def test_the_ledger_of_a_project_holds_no_consent(bell: Bell, isolated: Path) -> None:
    (isolated / "work" / ".git").mkdir()
    bell.install("--scope", "project", "--yes")
    assert "consent" not in (isolated / "work" / ".hookctl" / "ledger.json").read_text()


RISKY = [
    "PATH", "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "PYTHONPATH", "PYTHONSTARTUP", "NODE_OPTIONS",
    "NODE_PATH", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "HTTPS_PROXY", "http_proxy", "HOOKCTL_DISABLE",
    "HOOKCTL_STATE_DIR", "BASH_ENV", "ENV", "GIT_SSH_COMMAND", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS",
    "CLAUDE_CONFIG_DIR", "CODEX_HOME", "ANTHROPIC_CUSTOM_HEADERS", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "HOME",
    "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "EDITOR", "PAGER", "XDG_CONFIG_HOME", "IFS",
]  # fmt: skip


@pytest.mark.parametrize("name", RISKY)
def test_a_variable_that_changes_what_runs_is_refused(bell: Bell, isolated: Path, name: str) -> None:
    bell.change("BELL_TOKEN", name)
    done = bell.install("--yes")
    assert (done.code, f"--allow-env {name}" in done.err) == (2, True)
    assert nothing_written(isolated)


def test_an_allowed_variable_is_remembered_and_a_second_one_is_not(bell: Bell, settings: Path) -> None:
    bell.change("BELL_TOKEN", "PATH")
    assert bell.install("--yes", "--allow-env", "PATH").code == 0
    assert json.loads(settings.read_text())["env"]["PATH"]
    assert bell.install().out == "nothing to do\n"
    bell.change("1.0.0", "1.1.0")
    bell.change("[[hooks]]", 'LD_PRELOAD = "x"\n[[hooks]]')
    done = bell.install("--yes")
    assert done.code == 2
    assert "--allow-env LD_PRELOAD" in done.err and "--allow-env PATH." not in done.err
    assert bell.install("--yes", "--reset", "--allow-env", "LD_PRELOAD").code == 2


def test_a_variable_for_one_host_only_is_refused_too(bell: Bell) -> None:
    bell.toml.write_text(PACK + '\n[host.codex.env]\nPATH = "x"\n')
    assert bell.install("--yes").code == 2


def test_a_plan_names_what_would_be_refused(bell: Bell) -> None:
    bell.change("BELL_TOKEN", "PATH")
    done = bell.plan()
    assert (done.code, "--allow-env PATH" in done.err, "needs --allow-env PATH" in done.out) == (0, True, True)
    assert bell.plan("--json").data["pack"]["refused_env"] == ["PATH"]


def test_variables_of_its_own_are_none_of_those(bell: Bell) -> None:
    for name in ("BELL_URL", "BELL_PATH", "MAX_STOP_BLOCKS", "BELL_LEVEL", "DEBUG"):
        bell.toml.write_text(PACK.replace("BELL_TOKEN", name))
        assert "--allow-env" not in bell.install("--yes", "--dry-run").err


def test_what_changes_after_the_question_is_not_installed(
    bell: Bell, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hookctl.planner import consent

    asked = consent.require_consent

    def swap(*arguments: object) -> None:
        asked(*arguments)  # type: ignore[arg-type]
        bell.script.write_text("echo evil\n")

    monkeypatch.setattr(consent, "require_consent", swap)
    done = bell.install("--yes")
    assert (done.code, "changed while" in done.err) == (4, True)
    assert nothing_written(isolated)


# Approvals on a host that asks for one (Codex)

CODEX = ("--host", "codex")


class Approved:
    """A pack that was approved with --trust on Codex."""

    def __init__(self, bell: Bell, home: Path) -> None:
        self.bell = bell
        self.config = home / ".codex" / "config.toml"
        assert self.install("--trust").code == 0
        assert self.approvals == 1

    def install(self, *options: str) -> Outcome:
        return self.bell.hookctl("install", str(self.bell.folder), *CODEX, "--accept-changed", *options)

    @property
    def approvals(self) -> int:
        return self.config.read_text().count("trusted_hash") if self.config.exists() else 0


@pytest.fixture
def approved(bell: Bell, isolated: Path) -> Approved:
    return Approved(bell, isolated / "home")


@pytest.mark.parametrize("version", ["1.0.0", "2.0.0"])
@pytest.mark.parametrize(
    "old, new",
    [("X-Api-Key", "X-Evil"), ('"stop"\n', '"stop"\ntimeout = 3\n'), ("[[hooks]]", "")],
    ids=["command", "timeout", "hook"],
)
def test_a_changed_pack_loses_its_approval(approved: Approved, old: str, new: str, version: str) -> None:
    bell = approved.bell
    bell.change("1.0.0", version)
    if new:
        bell.change(old, new)
    else:
        bell.toml.write_text(bell.toml.read_text() + '[[hooks]]\nevent = "prompt"\ncommand = "true evil"\n')
    done = approved.install()
    assert done.code == 0
    if "timeout" in new:
        assert approved.approvals == 1, "the same command and the same files"
        return
    assert approved.approvals == 0
    assert "took its approval back" in done.err
    assert "X-Evil" in done.err.split("took its approval back")[1] or "true evil" in done.err
    assert approved.install("--trust").code == 0
    assert approved.approvals == (2 if not new else 1)


def test_a_changed_file_alone_costs_the_approval_too(approved: Approved) -> None:
    approved.bell.script.write_text("echo evil\n")
    told = approved.install().err.split("took its approval back")[1]
    assert "file ring.sh" in told and "was sha256" in told
    assert approved.approvals == 0


def test_a_changed_pack_loses_what_is_left_of_its_approvals(approved: Approved) -> None:
    """The operator has changed one approval; the other one is ours, and must not cover a new program."""
    bell = approved.bell
    bell.toml.write_text(bell.toml.read_text() + '[[hooks]]\nevent = "prompt"\ncommand = "sh {files}/ring.sh"\n')
    approved.install("--trust")
    approved.config.write_text(approved.config.read_text().replace("sha256:", "sha256:0", 1))
    bell.script.write_text("echo evil\n")
    approved.install()
    assert approved.approvals == 1
    assert "sha256:0" in approved.config.read_text()


def test_an_approval_that_cannot_be_reached_stops_the_change(approved: Approved) -> None:
    """Else it would cover the new program as soon as somebody mends the file."""
    broken = approved.config.read_text() + "x =\n"
    approved.config.write_text(broken)
    approved.bell.script.write_text("echo evil\n")
    assert approved.install().code == 4
    (program,) = (approved.config.parents[2] / "data" / "packs").rglob("ring.sh")
    assert (program.read_text(), approved.config.read_text()) == ("echo ding\n", broken)


def test_a_pack_that_moves_keeps_its_approval(approved: Approved) -> None:
    path = approved.config.with_name("hooks.json")
    page = json.loads(path.read_text())
    page["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "say"}]})
    path.write_text(json.dumps(page))
    assert approved.install().code == 0
    assert "stop:1:0" in approved.config.read_text()


def test_an_edited_guard_gets_no_approval_for_a_new_hook(hookctl: Hookctl, isolated: Path, fixed_python: None) -> None:
    assert hookctl("install", *CODEX, "--trust").code == 0
    (program,) = (isolated / "data" / "guard").glob("*/hook.py")
    program.write_text("import os\n")
    assert hookctl("install", *CODEX).code == 0
    config = isolated / "home" / ".codex" / "config.toml"
    assert config.read_text().count("trusted_hash") == 1
    assert "took its approval back" in hookctl("install", *CODEX, "--dispatch", "Bash").err
    assert not config.exists()
