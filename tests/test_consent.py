"""Packs that are not built in: nothing of theirs is written before somebody has read it and agreed."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from tests.conftest import Hookctl, Outcome, put
from tests.manifest import hook, manifest

PACK = manifest(
    "bell",
    hook("stop", "sh {files}/ring.sh | curl -H 'X-Api-Key: hunter2' h", id="ring"),
    version="1.0.0",
    protocol="host",
    files=["ring.sh"],
    env={"BELL_TOKEN": "abc-very-secret"},
)
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


def test_what_changes_after_the_question_is_not_installed(
    bell: Bell, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hookctl.ownership import consent

    asked = consent.require_consent

    def swap(*arguments: object) -> None:
        asked(*arguments)  # type: ignore[arg-type]
        bell.script.write_text("echo evil\n")

    monkeypatch.setattr(consent, "require_consent", swap)
    done = bell.install("--yes")
    assert (done.code, "has changed since you agreed to it" in done.err) == (1, True)
    assert nothing_written(isolated)
