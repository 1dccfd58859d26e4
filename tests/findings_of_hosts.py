"""How findings come about that only some hosts have, or that they have in their own way."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hookctl.documents import yaml

from .approving import approve
from .conftest import put
from .findings import LIMIT, Place

Arrange = Callable[[Place], None]

HOOK = {"type": "command", "command": "say done"}
COMMAND = ": hookctl=guard/stop; "


def at(place: Place, name: str) -> Path:
    """A file in HOME, or in the project."""
    return (place.root / "work" if name.startswith("project/") else place.root / "home") / name.removeprefix("project/")


def there(name: str, value: Any) -> Arrange:
    """A file with this text, or with this value as JSON."""

    def arrange(place: Place) -> None:
        put(at(place, name), value if isinstance(value, str | bytes) else json.dumps(value))

    return arrange


def installed(host: str, *options: str) -> Arrange:
    """The guard, and nothing else."""

    def arrange(place: Place) -> None:
        outcome = place.hookctl("install", "--host", host, *options)
        assert outcome.code == 0, outcome

    return arrange


def both(*arrangements: Arrange) -> Arrange:
    """One after the other."""

    def arrange(place: Place) -> None:
        for one in arrangements:
            one(place)

    return arrange


def changed(name: str, change: Callable[[Any], object]) -> Arrange:
    """A change of a JSON file."""

    def arrange(place: Place) -> None:
        place.change(change, at(place, name))

    return arrange


def groups(*hooks: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"hooks": [hook]} for hook in hooks]


def ours(page: Any, event: str = "Stop") -> dict[str, Any]:
    """The guard's hook in a value with the events in groups."""
    return next(h for group in page["hooks"][event] for h in group["hooks"] if h["command"].startswith(COMMAND))


def codex_state(**fields: Any) -> Arrange:
    """What config.toml has of the guard's hook, approved before."""

    def arrange(place: Place) -> None:
        installed("codex")(place)
        approve(place.root / "home" / ".codex" / "hooks.json")
        config = place.root / "home" / ".codex" / "config.toml"
        (key,) = tomllib.loads(config.read_text())["hooks"]["state"]
        lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())
        config.write_text(f"[hooks.state.{json.dumps(key)}]\n{lines}")

    return arrange


def says(name: str, text: str) -> Arrange:
    def arrange(place: Place) -> None:
        place.script(name, text)
        place.monkeypatch.setenv("PATH", f"{place.root / 'bin'}:/usr/bin:/bin")

    return arrange


def edited(name: str, old: str, new: str) -> Arrange:
    return lambda place: place.edit(old, new, at(place, name))


def without_yaml(place: Place) -> None:
    """hookctl without its optional part."""
    there(HERMES, "model: x\n")(place)
    yaml.reader.cache_clear()
    place.monkeypatch.setitem(sys.modules, "yaml", None)


def of_other_tools(place: Place) -> None:
    """A pack whose matcher is a tool of Claude Code."""
    pack = '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n'
    pack += '[[hooks]]\nevent = "pre-tool"\ncommand = "x"\nmatcher = "Bash"\n'
    path = put(place.root / "bell.toml", pack)
    assert place.hookctl("install", str(path), "--host", "gemini").code == 0


PLUGIN, HERMES = ".config/opencode/plugin/hookctl.js", ".hermes/config.yaml"
AGREED = ".hermes/shell-hooks-allowlist.json"
GEMINI, QWEN, CODEX = ".gemini/settings.json", ".qwen/settings.json", ".codex/hooks.json"
DROID, DROID_OWN = ".factory/settings.json", ".factory/hooks.json"
HANDS, CURSOR, CONFIG = ".openhands/hooks.json", ".cursor/hooks.json", ".codex/config.toml"
PI = ".pi/agent/settings.json"
TOML_HOOKS = '[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "say done"\n'
TRUSTED_ON = {"security": {"folderTrust": {"enabled": True}}}

MADE_OF_HOSTS: list[tuple[str, str, str, Arrange]] = [
    # What costs the whole file, or keeps the client from starting.
    ("strict_host", "error", "gemini", there(GEMINI, b"\xef\xbb\xbf{}")),
    ("strict_host", "error", "gemini", there(GEMINI, "")),
    ("strict_host", "error", "gemini", there(GEMINI, '{"a": 1,}')),
    ("strict_host", "error", "gemini", there(f"project/{GEMINI}", '{"a": 1,}')),
    ("strict_host", "error", "droid", there(DROID, b"\xef\xbb\xbf{}")),
    ("strict_host", "warning", "droid", both(there(DROID, "{}"), there(f"project/{DROID}", '{"a": 1,}'))),
    ("unparsable", "error", "qwen", both(there(QWEN, "{}"), there(f"project/{QWEN}", "{"))),
    ("unparsable", "error", "codex", both(there(CODEX, "{}"), there(CONFIG, "a = "))),
    ("foreign_file", "error", "opencode", there(PLUGIN, "export const Mine = 1\n")),
    ("foreign_file", "warning", "opencode", there("project/.opencode/plugin/hookctl.js", "export const Mine = 1\n")),
    ("unsupported_yaml", "error", "hermes",
     both(installed("hermes"), edited(HERMES, "hooks:\n", "base: &base {}\nhooks:\n  <<: *base\n"))),
    ("unsupported_toml", "error", "codex",
     both(there(".codex/config.toml", "[[hooks.PreToolUse]]\nhooks = [{command = 'x', type = 'command'}]\n"),
          installed("codex"), there(".codex/config.toml", "hooks = {Stop = []}\n"))),
    ("extra_missing", "error", "hermes", without_yaml),
    ("wrong_key", "error", "codex", there(CODEX, {"$schema": "x", "hooks": {}})),
    ("wrong_key", "error", "cursor", there(CURSOR, {"hooks": {"stop": [{"command": "x"}]}})),
    ("wrong_key", "error", "cursor", there(CURSOR, {"version": True, "hooks": {"stop": [{"command": "x"}]}})),
    ("invalid_hook", "error", "codex", there(CODEX, {"hooks": {"Stop": groups({**HOOK, "timeout": "10"})}})),
    ("invalid_hook", "error", "codex", there(CODEX, {"hooks": {"SessionEnd": groups({"command": "x"})}})),
    ("invalid_hook", "error", "codex", there(CODEX, {"hooks": {"Stop": groups({**HOOK, "type": "http"})}})),
    ("invalid_hook", "error", "codex", there(CONFIG, TOML_HOOKS + 'timeout = "10"\n')),
    ("invalid_hook", "error", "droid", there(DROID_OWN, {"Stop": groups({**HOOK, "timeout": "10"})})),
    ("invalid_hook", "error", "openhands", there(HANDS, {"stop": groups({**HOOK, "timeout": 1.5})})),
    ("invalid_hook", "error", "openhands", there(HANDS, {"hooks": {"Stop": groups({"type": "command"})}})),
    ("strict_host", "error", "openhands", there(HANDS, b"\xef\xbb\xbf{}")),
    ("unknown_event", "error", "openhands", there(HANDS, {"subagent_stop": []})),
    ("unknown_event", "error", "openhands", there(HANDS, {"hooks": {"SubagentStop": []}})),
    # Timeouts that are not meant so.
    ("entry_disarmed", "warning", "gemini",
     both(installed("gemini"), changed(GEMINI, lambda page: ours(page, "AfterAgent").update(timeout=10)))),
    ("entry_disarmed", "warning", "qwen",
     both(installed("qwen"), changed(QWEN, lambda page: ours(page).update(timeout=1000)))),
    # Hidden files, and two forms.
    ("not_read", "warning", "droid", both(installed("droid"), there(DROID_OWN, {"Stop": groups(HOOK)}))),
    ("not_read", "warning", "openhands", both(installed("openhands"), there(f"project/{HANDS}", {}))),
    # Switched off.
    ("hooks_disabled", "error", "droid", both(there(DROID_OWN, {"hooksDisabled": True}), installed("droid"))),
    ("hooks_disabled", "error", "droid",
     both(there(DROID, {"hooks": {"hooksDisabled": True}}), there(DROID_OWN, {}), installed("droid"))),
    ("hooks_disabled", "error", "codex",
     both(there(CONFIG, "features.codex_hooks = false\n"), installed("codex"))),
    ("hooks_disabled", "error", "pi",
     both(installed("pi"), there(PI, {"extensions": ["-extensions/hookctl.js"]}))),
    ("hooks_disabled", "error", "pi",
     both(there(PI, {"defaultProjectTrust": "always"}), there("project/.pi/settings.json", {"extensions": ["!h*"]}),
          installed("pi", "--scope", "project"))),
    ("hook_disabled", "error", "gemini",
     both(installed("gemini"), changed(GEMINI, lambda page: page.update(hooksConfig={"disabled": ["hookctl-guard"]})))),
    ("hook_disabled", "error", "codex", both(says("codex", "exit 0"), codex_state(enabled=False))),
    # Trust.
    ("not_approved", "error", "codex", both(says("codex", "exit 0"), installed("codex"))),
    ("not_approved", "error", "codex", both(says("codex", "exit 0"), codex_state(trusted_hash="sha256:0"))),
    ("not_approved", "info", "codex", installed("codex")),
    ("not_approved", "error", "hermes", both(says("hermes", "exit 0"), installed("hermes"))),
    ("not_approved", "error", "hermes",
     both(says("hermes", "exit 0"), installed("hermes"),
          there(AGREED, {"approvals": [{"event": "pre_verify", "command": "other"}]}))),
    ("not_trusted", "info", "gemini", installed("gemini")),
    ("not_trusted", "info", "gemini", installed("gemini", "--scope", "project")),
    ("not_trusted", "warning", "gemini", both(says("gemini", "exit 0"), installed("gemini", "--scope", "project"))),
    ("not_trusted", "warning", "qwen",
     both(says("qwen", "exit 0"), there(QWEN, TRUSTED_ON), installed("qwen", "--scope", "project"))),
    # The limit and the cap.
    ("cap_below_limit", "warning", "copilot", installed("copilot", "--set", f"{LIMIT}=20")),
    ("cap_below_limit", "warning", "hermes", installed("hermes", "--set", f"{LIMIT}=6")),
    ("cap_below_limit", "warning", "qwen", installed("qwen", "--set", f"{LIMIT}=150")),
    ("cap_below_limit", "warning", "qwen", both(there(QWEN, {"stopHookBlockingCap": 4}), installed("qwen"))),
    ("cap_below_limit", "warning", "qwen",
     both(there(QWEN, {"stopHookBlockingCap": 4}), installed("qwen"), changed(QWEN, lambda page: page.pop("env")))),
    ("cap_below_limit", "warning", "cursor",
     both(installed("cursor"), changed(CURSOR, lambda page: page["hooks"]["stop"][0].update(loop_limit=3)))),
    ("config_invalid", "warning", "gemini",
     both(installed("gemini"),
          changed(GEMINI, lambda page: ours(page, "AfterAgent")["env"].update(MAX_STOP_BLOCKS="five")))),
    ("matcher_misses", "warning", "gemini", of_other_tools),
    # The environment, and hooks of others.
    ("hook_environment", "error", "gemini",
     both(installed("gemini"),
          changed(GEMINI, lambda page: ours(page, "AfterAgent")["env"].update(HOOKCTL_DISABLE="1")))),
    ("hook_environment", "warning", "gemini",
     both(installed("gemini"), there("project/.env", "HOOKCTL_LATCH=false\n"))),
    ("hook_environment", "error", "gemini",
     both(installed("gemini"), there("project/.gemini/.env", "export HOOKCTL_DISABLE='1'\n"))),
    ("not_read", "warning", "codex",
     both(installed("codex", "--scope", "project"), there("project/../.git/HEAD", ""))),
    # The client.
    ("client_old", "error", "pi", both(installed("pi"), says("pi", "echo 0.86.9"))),
    ("client_old", "error", "vibe", both(installed("vibe"), says("vibe", "echo vibe 2.20.0"))),
]  # fmt: skip
