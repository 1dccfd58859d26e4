"""What each host drops of a hook, or takes the whole file for, as its own client says, and what is then said of it."""

from __future__ import annotations

import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents import formats
from hookctl.documents.toml import inline
from hookctl.hosts import load
from hookctl.hosts.loading import find_fault
from hookctl.packs.guard import wanted_hook
from tests.conftest import Hookctl, put
from tests.documents.table import document_of
from tests.manifest import hook as pack_hook
from tests.manifest import manifest
from tests.texts import rows

pytestmark = pytest.mark.usefixtures("fixed_python")

COMMAND = {"type": "command", "command": "x"}
ENTRIES = [(host, json.loads(document_of(entry)), said) for host, entry, said in rows("entries")]


def of(host: str, *, fine: bool) -> list[Any]:
    """The entries that a host's client takes, or those that it does not, with what it says."""
    found = [(entry, said) for name, entry, said in ENTRIES if name == host and (said == "fine") == fine]
    return [entry for entry, _ in found] if fine else found


CODEX_BAD = [entry for entry, _ in of("codex", fine=False)]
CODEX_GOOD = of("codex", fine=True)


def errors(hookctl: Hookctl, isolated: Path, hook: Any) -> list[str]:
    put(isolated / "home/.codex/hooks.json", json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    told = json.loads(hookctl("doctor", "--host", "codex", "--json").out)["data"]["findings"]
    return [finding["message"] for finding in told if finding["code"] == "invalid_hook"]


@pytest.mark.parametrize("hook", CODEX_BAD, ids=str)
def test_one_such_field_costs_the_file(isolated: Path, hookctl: Hookctl, hook: dict[str, Any]) -> None:
    (message,) = errors(hookctl, isolated, hook)
    assert "hooks.Stop.0.hooks.0 has " in message and "loads no hook of this file" in message
    assert "does not run in Codex CLI" in hookctl("install", "--host", "codex").out


@pytest.mark.parametrize("hook", CODEX_GOOD, ids=str)
def test_what_it_takes_or_ignores(isolated: Path, hookctl: Hookctl, hook: dict[str, Any]) -> None:
    assert errors(hookctl, isolated, hook) == []


# What Claude Code drops of its settings, as its own doctor says, and what it takes.
CLAUDES_BAD = of("claude", fine=False)
CLAUDES_GOOD = of("claude", fine=True)


def findings(hookctl: Hookctl, settings: Path, value: Any) -> list[dict[str, Any]]:
    put(settings, json.dumps(value))
    told = json.loads(hookctl("doctor", "--host", "claude", "--json").out)["data"]["findings"]
    return [finding for finding in told if finding["code"] in ("invalid_hook", "wrong_type")]


def under(event: str, *handlers: object) -> dict[str, Any]:
    return {"hooks": {event: [{"hooks": [handler]} for handler in handlers]}}


@pytest.mark.parametrize("event", ["PreToolUse", "PreSkillShellCommand"])
@pytest.mark.parametrize(("handler", "reason"), CLAUDES_BAD, ids=[reason for _, reason in CLAUDES_BAD])
def test_fields_that_claude_code_does_not_take(
    hookctl: Hookctl, settings: Path, event: str, handler: dict[str, Any], reason: str
) -> None:
    (finding,) = findings(hookctl, settings, under(event, COMMAND, handler))
    assert (finding["code"], finding["level"]) == ("invalid_hook", "error")
    assert f"hooks.{event}.1.hooks.0 {reason}; Claude Code" in finding["message"]


def test_elsewhere_such_a_hook_costs_itself(hookctl: Hookctl, settings: Path) -> None:
    assert findings(hookctl, settings, under("PostToolUse", *(handler for handler, _ in CLAUDES_BAD))) == []
    hooks = hookctl("hooks", "--host", "claude", "--json").data["hooks"]
    assert [hook["state"] for hook in hooks] == ["ignored"] * len(CLAUDES_BAD)
    for hook, (_, reason) in zip(hooks, CLAUDES_BAD, strict=True):
        assert hook["reason"].startswith(f"it {reason}; Claude Code drops it")


@pytest.mark.parametrize("event", ["PreToolUse", "Notification"])
def test_fields_that_it_takes(hookctl: Hookctl, settings: Path, event: str) -> None:
    assert findings(hookctl, settings, under(event, *CLAUDES_GOOD)) == []


@pytest.mark.parametrize(
    "value",
    [{"permissions": {"defaultMode": "manual"}}, {"allowManagedHooksOnly": None}, {"allowManagedHooksOnly": True}],
)
def test_settings_that_it_takes(hookctl: Hookctl, settings: Path, value: object) -> None:
    assert findings(hookctl, settings, value) == []
    assert "not loaded" not in hookctl("install", "--host", "claude").out


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest", "PreSkillShellCommand", "Stop"])
def test_an_event_that_is_null_costs_itself(hookctl: Hookctl, settings: Path, event: str) -> None:
    assert findings(hookctl, settings, {"hooks": {event: None}}) == []


@pytest.mark.parametrize("groups", [[None], [{"hooks": [None]}], [{"hooks": None}], 5])
def test_a_null_inside_its_list_costs_the_file(hookctl: Hookctl, settings: Path, groups: object) -> None:
    (finding,) = findings(hookctl, settings, {"hooks": {"PreToolUse": groups}})
    assert (finding["code"], finding["level"]) == ("invalid_hook", "error")


# Mistral Vibe, which drops a hook for a field that it cannot take: what is dropped, and what is listed so.
VIBE = ("--host", "vibe")
# Fields beside event, name and command, as hooks have them in the client's file; seen on the real client.
TAKEN = of("vibe", fine=True)
DROPPED = of("vibe", fine=False)


def text_of(fields: dict[str, Any], number: int, command: str) -> str:
    """A hook of the file, with a name of its own unless the fields have one; None: it has no such field."""
    whole = {"name": f"hook {number}", "command": command} | fields
    return "[[hooks]]\n" + "".join(f"{key} = {inline(value)}\n" for key, value in whole.items() if value is not None)


@pytest.mark.parametrize("fields", TAKEN, ids=str)
def test_what_the_client_takes_is_listed_as_running(fields: dict[str, Any], hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "home" / ".vibe" / "hooks.toml", text_of(fields, 1, "true"))
    (hook,) = hookctl("hooks", *VIBE, "--json").data["hooks"]
    assert (hook["state"], hook["reason"]) == ("runs", "")
    assert [found["code"] for found in hookctl("doctor", *VIBE, "--json").data["findings"]] == ["not_installed"]


@pytest.mark.parametrize(("fields", "reason"), DROPPED, ids=lambda value: json.dumps(value))
def test_what_the_client_drops_is_listed_so(
    fields: dict[str, Any], reason: str, hookctl: Hookctl, isolated: Path
) -> None:
    put(isolated / "home" / ".vibe" / "hooks.toml", text_of(fields, 1, "true"))
    (hook,) = hookctl("hooks", *VIBE, "--json").data["hooks"]
    drops = load("vibe").loading.entry
    assert (hook["state"], hook["reason"]) == ("ignored", f"it {reason}; Mistral Vibe {drops}")
    tool = () if fields["type"] == "post_agent" else ("--tool", "Bash")
    (fired,) = hookctl("fire", fields["type"], *tool, *VIBE, "--json").data["hosts"]
    assert {hook["outcome"] for hook in fired["hooks"]} <= {"not_run"}


# Kimi Code, whose strict list of hooks stands in a settings file that it writes anew by itself.
KIMI = ("--host", "kimi")
STOP = '[[hooks]]\nevent = "Stop"\ncommand = "bell"\n'
MINE = f"""\
# mine
default_model = "m"   # the model

{STOP}timeout = 5

[models.m]
provider = "x"
"""
PACK = manifest("slow", pack_hook("stop", "true", timeout=900), protocol="host")


@pytest.fixture
def config(isolated: Path) -> Path:
    return put(isolated / "home" / ".kimi-code" / "config.toml", MINE)


def test_no_hook_has_a_field_or_a_timeout_that_would_cost_all_of_them(
    hookctl: Hookctl, config: Path, isolated: Path
) -> None:
    said = hookctl("install", str(put(isolated / "slow.toml", PACK)), *KIMI)
    assert said.code == 0
    hook = tomllib.loads(config.read_text())["hooks"][-1]
    assert (sorted(hook), hook["timeout"]) == (["command", "event", "timeout"], 600)
    assert wanted_hook(load("claude"), "slow/stop", "Stop", "true", "", 900).value["timeout"] == 900


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ('name = "mine"\n', 'has "name", which no hook may have there'),
        ("timeout = 0\n", "has timeout, which must be above 0"),
        ("timeout = 601\n", "has timeout, which must be 600 or less"),
        ("timeout = 1.5\n", "has a timeout that is not a whole number"),
        ('timeout = "5"\n', "has timeout, which must be of type number"),
        ("matcher = 1\n", "has matcher, which must be of type string"),
        ('[[hooks]]\nevent = "Stop"\n', "has no command"),
        ('[[hooks]]\nevent = "Stop"\ncommand = ""\n', "has command, which must be more than an empty text"),
        ('[[hooks]]\nevent = "stop"\ncommand = "bell"\n', "event is no event of Kimi Code"),
        ('[[hooks]]\ncommand = "bell"\n', "names no event"),
    ],
)
def test_a_hook_that_the_client_cannot_take_costs_all_of_them(more: str, reason: str) -> None:
    host = load("kimi")
    lost = find_fault(host, "user", "config.toml", formats.parse(host.format, (STOP + more).encode()))
    assert lost is not None and reason in lost.text


# Files that a host reads and loads nothing of: install, plan and status say so, and nobody says "installed".
STOPS = [{"hooks": [{"type": "command", "command": "say done"}]}]


CASES = [
    ("codex", ".codex/hooks.json", {"$schema": "x", "hooks": {}}, "$schema is not allowed at the root"),
    ("codex", ".codex/hooks.json", {"Stop": STOPS}, "Stop is not allowed at the root"),
    ("openhands", ".openhands/hooks.json", {"hooks": {"setup": []}}, "hooks.setup is no event of OpenHands"),
    ("openhands", ".openhands/hooks.json", {"setup": []}, "line 1: setup is no event of OpenHands"),
    ("claude", ".claude/settings.json", {"permissions": {"defaultMode": "x"}}, "defaultMode must be one of"),
    ("claude", ".claude/settings.json", {"hooks": {"PreToolUse": [None]}}, "hooks.PreToolUse.0 is not a group"),
    ("droid", ".factory/settings.json", {"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}, "has no command"),
]  # fmt: skip


@pytest.mark.parametrize(("host", "name", "value", "reason"), CASES)
def test_install_says_that_nothing_of_the_file_is_loaded(
    isolated: Path, hookctl: Hookctl, host: str, name: str, value: object, reason: str
) -> None:
    path = isolated / "home" / name
    put(path, json.dumps(value))
    before = path.read_bytes()
    planned = hookctl("plan", "--host", host)
    assert f"{path}: " in planned.err and reason in planned.err
    done = hookctl("install", "--host", host)
    assert done.code == 0
    assert reason in done.err
    assert "installed" not in done.out
    assert "guard is written, but does not run in" in done.out
    again = hookctl("install", "--host", host)
    assert again.out == "nothing to do\n"
    assert reason in again.err
    assert "does nothing: " in hookctl("status").out
    assert hookctl("doctor", "--host", host).code == 1
    assert hookctl("uninstall", "--host", host).code == 0
    assert path.read_bytes() == before


# Codex reads TOML 1.1; approvals that stay are named.
NEW = [
    'a = {\n  b = 1,  # mine\n  c = 2,\n}\n',
    'a = { b = [\n 1, 2,\n], c = { d = "}", e = \'\'\'\n,}\'\'\',\n }\n,}\r\n',
    '\ufeffa = {b = """\n{,}""",\r\n # }\r\n}\n',
    "a = [{b = 1,}, {c = 2\n}, ]\n",
]  # fmt: skip


@pytest.fixture
def toml(isolated: Path) -> Path:
    return isolated / "home" / ".codex" / "config.toml"


@pytest.mark.parametrize("text", NEW)
def test_codex_is_installed_beside_it_and_the_bytes_come_back(toml: Path, hookctl: Hookctl, text: str) -> None:
    before = put(toml, text.encode()).read_bytes()
    assert hookctl("install", "--host", "codex").code == 0
    told = json.loads(hookctl("doctor", "--host", "codex", "--json").out)["data"]["findings"]
    assert "unparsable" not in {finding["code"] for finding in told}
    assert "nobody has approved it" in hookctl("status").out
    assert toml.read_bytes() == before
    assert hookctl("uninstall", "--host", "codex").code == 0
    assert toml.read_bytes() == before


# Codex knows hooks by their place: an empty group keeps it, and goes when nothing stands behind it any more.
JSON = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}\n'
TOML = 'model = "m"  # mine\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "true"\n'
TWO_EVENTS = (
    '[pack]\nname = "{0}"\nversion = "1.0.0"\nprotocol = "host"\n\n[[hooks]]\nevent = "stop"\ncommand = "true {0}"\n'
)
OTHERS = ("one", "two")
ORDERS = list(itertools.permutations(("guard", *OTHERS)))


@pytest.fixture
def folder(isolated: Path) -> Path:
    for name in OTHERS:
        put(isolated / f"{name}.toml", TWO_EVENTS.format(name))
    (isolated / "home" / ".codex").mkdir()
    return isolated / "home" / ".codex"


class Codex:
    """Codex's hooks in one of the files in which they may stand, with groups of the operator's behind ours."""

    def __init__(self, hookctl: Hookctl, top: Path, place: str, text: str) -> None:
        self.hookctl, self.top = hookctl, top
        folder = top / "site" / ".codex" if place == "project" else top / "home" / ".codex"
        self.file = folder / ("config.toml" if place == "config.toml" else "hooks.json")
        self.options = ["--host", "codex"]
        if place == "project":
            (top / "site" / ".git").mkdir(parents=True, exist_ok=True)
            self.options += ["--scope", "project", "--project", str(top / "site")]
        if text:
            put(self.file, text)

    def run(self, *words: str) -> str:
        done = self.hookctl(*words, *self.options)
        assert done.code == 0, done.out + done.err
        return done.out

    def install(self, *names: str, options: tuple[str, ...] = ()) -> None:
        for name in names:
            self.run("install", name if name == "guard" else str(self.top / f"{name}.toml"), *options)


LEFT = {
    "a hook of theirs": ("hooks.json", JSON),
    "without": ("hooks.json", ""),
    "a hook of theirs in TOML": ("config.toml", TOML),
    "without, in TOML": ("config.toml", 'model = "m"\n'),
    "a project, whose ledger is committed": ("project", JSON),
}


@pytest.mark.parametrize("order", ORDERS, ids=" ".join)
@pytest.mark.parametrize("case", LEFT)
def test_packs_leave_in_any_order_and_no_byte_stays(
    hookctl: Hookctl, isolated: Path, folder: Path, case: str, order: tuple[str, ...]
) -> None:
    place, text = LEFT[case]
    codex = Codex(hookctl, isolated, place, text)
    codex.install("guard", *OTHERS)
    for pack in order:
        codex.run("uninstall", pack)
    assert {path.name: path.read_text() for path in codex.file.parent.iterdir()} == (
        {codex.file.name: text} if text else {}
    )
    assert "nothing is installed" in hookctl("status").out
