"""The operator's last word where a story cannot tell it: odd spellings, broken files, and a disk that fails."""

from __future__ import annotations

import json
import random
import re
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl.ownership import execute as run
from tests.conftest import Hookctl, put
from tests.documents.table import document_of
from tests.hostfiles import KINDS
from tests.texts import rows

INSTALL, UNINSTALL = ("install", "--host", "claude"), ("uninstall", "--host", "claude")


@pytest.mark.parametrize("raw", ["1e3", '"\\u0037"', "12345678901234567890123", "null", '{ "a" : [1, 2] }'])
def test_a_forced_value_comes_back_in_its_own_spelling(raw: str, settings: Path, hookctl: Hookctl) -> None:
    text = f'{{\n  "env": {{"MAX_STOP_BLOCKS": {raw}}}\n}}\n'
    put(settings, text)
    outcome = hookctl(*INSTALL)
    assert f'"MAX_STOP_BLOCKS": {raw}' in settings.read_text()
    assert f"kept: your MAX_STOP_BLOCKS={raw};" in outcome.out
    hookctl(*INSTALL, "--force")
    assert json.loads(settings.read_bytes())["env"]["MAX_STOP_BLOCKS"] == "5"
    put(settings, settings.read_text() + "\n")  # somebody wrote, so no backup helps
    hookctl(*UNINSTALL)
    assert settings.read_text() == text + "\n"


CONFIG = "data/guard/claude.json"


def in_settings(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """An edit of the settings file by hand."""

    def edit(isolated: Path) -> None:
        path = isolated / "home" / ".claude" / "settings.json"
        page = json.loads(path.read_bytes())
        change(page)
        path.write_text(json.dumps(page))

    return edit


def in_config(**values: Any) -> Callable[[Path], None]:
    """An edit of the guard's configuration by hand."""

    def edit(isolated: Path) -> None:
        path = isolated / CONFIG
        path.write_text(json.dumps({**json.loads(path.read_bytes()), **values}))

    return edit


def without_claim(isolated: Path) -> None:
    path = isolated / CONFIG
    path.write_text(json.dumps({name: value for name, value in document(path).items() if name != "claim"}))


def in_rules(isolated: Path) -> None:
    path = isolated / "home" / ".claude" / "CLAUDE.md"
    path.write_text(path.read_text().replace("## Long", "## Very long"))


LIMIT = in_settings(lambda page: page["env"].update(MAX_STOP_BLOCKS="9"))
WITHOUT_LIMIT = in_settings(lambda page: page["env"].pop("MAX_STOP_BLOCKS"))
WITHOUT_STOP = in_settings(lambda page: page["hooks"].pop("Stop"))
WITHOUT_DISPATCH = in_settings(lambda page: page["hooks"].pop("PreToolUse"))
WITHOUT_GUIDANCE = in_settings(lambda page: page["hooks"].pop("SessionStart"))


@pytest.mark.parametrize(
    ("first", "edit", "asked", "stays"),
    [
        ("", LIMIT, "--set MAX_STOP_BLOCKS=7", 'MAX_STOP_BLOCKS stays as it is for Claude Code: kept your'),
        ("", WITHOUT_LIMIT, "--set max_stop_blocks=7", "MAX_STOP_BLOCKS stays as it is for Claude Code: you removed"),
        ("", LIMIT, "--preset bmad", "MAX_STOP_BLOCKS stays"),
        ("", in_config(mode="guard"), "--mode keepalive", 'mode stays as it is for Claude Code: kept your mode='),
        ("--set claim=false", in_config(claim=True), "--set claim=false", "claim stays"),
        ("--set claim=false", without_claim, "--set claim=false", "claim stays as it is for Claude Code: you removed"),
        ("--nudge a", in_config(required_tools=["b"]), "--nudge c", "required_tools stays"),
        ("--nudge a --nudge-env X", in_config(required_scope_env="Y"), "--nudge-env Z", "required_scope_env stays"),
        ("--dispatch A", in_config(dispatch_tools=["B"]), "--dispatch C", "dispatch_tools stays"),
        ("--dispatch A", WITHOUT_DISPATCH, "--dispatch C", "guard/pre-tool stays as it is for Claude Code: you"),
        ("--guidance", WITHOUT_GUIDANCE, "--guidance", "guard/session-start stays"),
        ("", WITHOUT_STOP, "--mode keepalive", "guard/stop stays"),
        ("--rules", in_rules, "--rules", "the block of rules stays"),
        ("--dispatch A", LIMIT, "--dispatch C", ""),
        ("--dispatch A", WITHOUT_DISPATCH, "--set MAX_STOP_BLOCKS=7", ""),
        ("--dispatch A", WITHOUT_STOP, "--dispatch C", ""),
        ("", LIMIT, "--set MAX_STOP_BLOCKS=9", ""),
    ],
)  # fmt: skip
def test_an_option_against_what_a_person_changed_ends_with_1(
    first: str, edit: Callable[[Path], None], asked: str, stays: str, isolated: Path, hookctl: Hookctl
) -> None:
    assert hookctl(*INSTALL, *first.split()).code == 0
    edit(isolated)
    assert hookctl(*INSTALL).code == 0
    outcome = hookctl(*INSTALL, *asked.split())
    assert outcome.code == bool(stays) and stays in outcome.err, outcome
    if not stays:
        return
    assert "fix: Put it right by hand, or add --force to take it over." in outcome.err
    assert not outcome.out.startswith("ok")
    assert hookctl("plan", *INSTALL[1:], *asked.split()).code == 1
    reset = hookctl(*INSTALL, *asked.split(), "--reset")
    assert reset.code == 0 and stays in reset.err and "error" not in reset.err
    assert hookctl(*INSTALL, *asked.split(), "--force").code == 0
    assert hookctl(*INSTALL, *asked.split()).code == 0


# The cells of the table of ownership that need files: what doctor says, and who writes at the same time.
pytestmark = pytest.mark.usefixtures("fixed_python")

LIMIT_NAME = "MAX_STOP_BLOCKS"
HOST = ("--host", "claude")
OWN = '{\n  "model": "m"\n}\n'


def document(path: Path) -> Any:
    return json.loads(path.read_bytes())


@pytest.mark.parametrize(
    "command",
    [("install",), ("install", "--set", "max_stop_blocks=9"), ("uninstall",), ("doctor", "--fix")],
    ids=["install", "upgrade", "uninstall", "fix"],
)
@pytest.mark.parametrize("times", [1, 4])
def test_row_24_who_writes_meanwhile_loses_nothing(
    command: tuple[str, ...], times: int, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(settings, OWN)
    hookctl(*(command if command == ("install",) else ("install",)), *HOST)
    if command in (("install",), ("doctor", "--fix")):
        put(settings, OWN)  # reset by somebody, so that there is something to write
    writes, real = [], run.execute

    def execute(*arguments: Any) -> None:
        if len(writes) < times:
            writes.append(f"X{len(writes)}")
            put(settings, json.dumps({**document(settings), writes[-1]: 1}))
        real(*arguments)

    monkeypatch.setattr(run, "execute", execute)
    outcome = hookctl(*command, *HOST)
    assert "changed_meanwhile" not in outcome.err
    here = document(settings)
    assert {key: here[key] for key in ("model", *writes)} == {"model": "m", **dict.fromkeys(writes, 1)}
    assert len(writes) == times
    assert ("hooks" in here) == (command != ("uninstall",))
    assert here.get("env", {}).get(LIMIT_NAME) == {"install": "5", "doctor": "5", "uninstall": None}[command[0]] or (
        "--set" in command and here["env"][LIMIT_NAME] == "9"
    )


# No command that writes shows a value or a comment that is not hookctl's: of a foreign one only the key.
FILES = {
    "claude": ".claude/settings.json", "gemini": ".gemini/settings.json", "antigravity": ".gemini/config/hooks.json",
    "cursor": ".cursor/hooks.json", "kiro": ".kiro/hooks/hookctl.json", "kimi": ".kimi-code/config.toml",
    "vibe": ".vibe/hooks.toml", "hermes": ".hermes/config.yaml", "opencode": ".config/opencode/plugin/hookctl.js",
}  # fmt: skip
OF_HOSTS = {
    "json": ("claude", "gemini"), "comments": ("gemini",), "toml": ("kimi", "vibe"), "yaml": ("hermes",),
    "plain": ("antigravity", "cursor", "kiro"), "kiro": ("kiro",),
}  # fmt: skip
CASES = [
    (host, name, document_of(text).decode()) for kind, name, text in rows("foreign-values") for host in OF_HOSTS[kind]
]


class Foreign:
    """Fills a text with random words and numbers, and finds them again."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def fill(self, text: str) -> str:
        return re.sub("[@0]", lambda match: self._make(match[0]), text)

    def _make(self, kind: str) -> str:
        signs = string.ascii_lowercase if kind == "@" else "123456789"
        self.words.append("".join(random.choices(signs, k=12)))
        return self.words[-1]

    def run(self, hookctl: Hookctl, *commands: str) -> str:
        """Run commands; returns all that they print, in which there is no foreign word."""
        seen = ""
        for command in commands:
            done = hookctl(*command.split())
            seen += done.out + done.err
            assert done.code in (0, 1, 4), done
            assert not [word for word in self.words if word in seen], f"{command}: {seen}"
        return seen


def looking(verb: str) -> list[str]:
    return [f"{verb} --dry-run {flags}" for flags in ("", "--json")]


def id_of(case: object) -> str:
    return str(case) if isinstance(case, str) and len(case) < 20 else ""


@pytest.mark.parametrize(("host", "name", "text"), CASES, ids=id_of)
def test_of_a_foreign_value_only_the_key_is_shown(
    hookctl: Hookctl, isolated: Path, host: str, name: str, text: str
) -> None:
    foreign = Foreign()
    file = put(isolated / "home" / FILES[host], foreign.fill(text))
    install = f"install --host {host}"
    planned = foreign.run(hookctl, f"plan --host {host}")
    assert f"--- {file}\n+++ {file}\n@@ " in planned
    assert re.search(r"^\+ .*: hookctl=guard/stop; ", planned, re.MULTILINE)
    foreign.run(hookctl, *looking(install), f"{install} --json", *looking(f"{install} --set max_stop_blocks=7 --force"))
    removed = foreign.run(hookctl, *looking("uninstall"), "status", f"doctor --host {host}")
    assert re.search(r"^- .*: hookctl=guard/stop; ", removed, re.MULTILINE)
    foreign.run(hookctl, *looking("upgrade"), f"restore {file} --dry-run", f"restore {file} --dry-run --json")
    installed = file.read_text()
    file.write_text(installed.replace("\n", foreign.fill("\n# @\n" if host in ("kimi", "vibe", "hermes") else "\n"), 1))
    for word in foreign.words[:3]:  # what a restore would undo
        file.write_text(file.read_text().replace(word, foreign.fill("@")))
    foreign.run(hookctl, f"restore {file} --dry-run", f"restore {file} --dry-run --json", f"restore {file}")
    foreign.run(hookctl, f"doctor --host {host} --fix", "hosts", "log --json", "run status --json", "uninstall --json")


@pytest.mark.parametrize(("host", "text"), rows("foreign-broken"))
def test_nor_is_what_stands_where_a_file_is_broken(hookctl: Hookctl, isolated: Path, host: str, text: str) -> None:
    foreign = Foreign()
    file = isolated / "home" / FILES[host]
    put(file, foreign.fill(document_of(text).decode()))
    words = f"plan --host {host}", f"install --host {host} --json", f"doctor --host {host}", "status"
    assert str(file) in foreign.run(hookctl, *words)


# What a settings file may have anywhere but where hookctl writes: there it is refused, with the form that works.
class Form(NamedTuple):
    """A form: where it is refused, at which place and with which fix; and where it is not touched."""

    kind: str
    refused: str
    place: tuple[int, int]
    fix: str
    untouched: str


FORMS = [
    Form(kind, document_of(refused).decode(), (int(line), int(column)), fix, document_of(untouched).decode())
    for kind, refused, line, column, fix, untouched in rows("forms")
]
each_form = pytest.mark.parametrize("form", FORMS, ids=[f"{form.kind} {form.refused!r}" for form in FORMS])


@each_form
def test_it_is_refused_where_hookctl_would_write(form: Form, isolated: Path, hookctl: Hookctl) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == form.kind)
    path = put(kind.path(isolated, "user"), form.refused)
    done = hookctl("install", "--host", kind.host, "--json")
    (error,) = done.result["errors"]
    code = "unsupported_yaml" if form.kind == "hermes" else "unsupported_toml"
    assert (done.code, error["code"], error["path"]) == (4, code, str(path)), error
    assert ((error["line"], error["column"]), error["hint"][: len(form.fix)]) == (form.place, form.fix)
    assert path.read_text() == form.refused and not (isolated / "data").exists()


@each_form
def test_it_is_no_obstacle_elsewhere(form: Form, isolated: Path, hookctl: Hookctl) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == form.kind)
    path = put(kind.path(isolated, "user"), form.untouched)
    assert hookctl("install", "--host", kind.host).code == 0
    assert "hookctl=guard" in path.read_text()
    put(path, "# later\n" + path.read_text())
    assert hookctl("uninstall", "--host", kind.host).code == 0
    assert path.read_text() == "# later\n" + form.untouched
