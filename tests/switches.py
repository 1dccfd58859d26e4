"""What switches hooks off on each host, and which hooks then run: seen on the real client, but where a row says docs.

A host's places are settings files with one hook each, whose command writes the place's name; ~ is the home, and what
begins with no slash is in the project. A row adds keys to some of these files, or other files, and says what runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

Texts = Mapping[str, Any]


class Case(NamedTuple):
    """One row: what is added to files, by place or path, and which places' hooks run."""

    host: str
    added: Texts
    runs: str
    environ: Mapping[str, str] = {}
    sure: str = "run"


class Places(NamedTuple):
    """The settings files of a host, and the event that they have a hook on."""

    event: str
    files: dict[str, str]
    form: str = "groups"  # groups | flat
    top: Mapping[str, Any] = MappingProxyType({})


HOSTS = {
    "claude": Places("Stop", {
        "user": "~/.claude/settings.json", "project": ".claude/settings.json", "local": ".claude/settings.local.json",
        "managed": "/etc/claude-code/managed-settings.json", "dropin": "/etc/claude-code/managed-settings.d/10.json"}),
    "codex": Places("Stop", {
        "user": "~/.codex/hooks.json", "config": "~/.codex/config.toml", "project": ".codex/hooks.json",
        "projects": ".codex/config.toml", "hooks": "/etc/codex/hooks.json", "system": "/etc/codex/config.toml",
        "managed": "/etc/codex/managed_config.toml", "requirements": "/etc/codex/requirements.toml"}),
    "copilot": Places("agentStop", {
        "user": "~/.copilot/hooks/a.json", "settings": "~/.copilot/settings.json", "project": ".github/hooks/a.json",
        "shared": ".github/copilot/settings.json", "local": ".github/copilot/settings.local.json",
        "policy": "/etc/github-copilot/policy.d/10.json"}, "flat", {"version": 1}),
    "cursor": Places("stop", {
        "user": "~/.cursor/hooks.json", "managed": "/etc/cursor/hooks.json"}, "flat", {"version": 1}),
    "droid": Places("Stop", {
        "user": "~/.factory/settings.json", "project": ".factory/settings.json",
        "managed": "/etc/factory/settings.json"}),
    "gemini": Places("AfterAgent", {
        "user": "~/.gemini/settings.json", "project": ".gemini/settings.json",
        "managed": "/etc/gemini-cli/settings.json", "defaults": "/etc/gemini-cli/system-defaults.json"}),
    "grok": Places("Stop", {
        "user": "~/.grok/hooks/a.json", "project": ".grok/hooks/a.json",
        "managed": "/etc/grok/managed_config.toml", "requirements": "/etc/grok/requirements.toml"}),
    "hermes": Places("post_llm_call", {"user": "~/.hermes/config.yaml"}, "flat"),
    "qwen": Places("Stop", {
        "user": "~/.qwen/settings.json", "project": ".qwen/settings.json",
        "managed": "/etc/qwen-code/settings.json", "defaults": "/etc/qwen-code/system-defaults.json"}),
    "vscode": Places("Stop", {"user": "~/.copilot/hooks/hookctl-vscode.json"}, "flat"),
    "windsurf": Places("pre_run_command", {
        "user": "~/.codeium/windsurf/hooks.json", "managed": "/etc/windsurf/hooks.json"}, "flat"),
}  # fmt: skip

OFF, ON = {"disableAllHooks": True}, {"disableAllHooks": False}
GEMINIS_OFF, GEMINIS_ON = {"hooksConfig": {"enabled": False}}, {"hooksConfig": {"enabled": True}}
DROIDS_OFF, DROIDS_ON = {"hooks": {"hooksDisabled": True}}, {"hooks": {"hooksDisabled": False}}
CODEX_OFF, CODEX_ON = {"features": {"hooks": False}}, {"features": {"hooks": True}}
ONLY, ONLY_TOML = {"allowManagedHooksOnly": True}, {"allow_managed_hooks_only": True}
ALL = {host: " ".join(places.files) for host, places in HOSTS.items()}
CODEX_MANAGED = "hooks system managed requirements"

CASES = [
    *[Case(host, {}, ALL[host], sure="docs" if host in ("cursor", "windsurf", "vscode") else "run") for host in HOSTS],
    # Claude Code.
    Case("claude", {"user": OFF}, "managed dropin"),
    Case("claude", {"user": OFF, "local": ON}, ALL["claude"]),
    Case("claude", {"managed": OFF}, ""),
    Case("claude", {"managed": ON, "user": OFF}, ALL["claude"]),
    Case("claude", {"managed": ONLY}, "managed dropin"),
    Case("claude", {"user": ONLY}, ALL["claude"]),
    Case("claude", {"managed": {"strictPluginOnlyCustomization": True}}, "managed dropin"),
    Case("claude", {"managed": {"strictPluginOnlyCustomization": ["hooks", "skills"]}}, "managed dropin"),
    Case("claude", {"managed": {"strictPluginOnlyCustomization": ["skills"]}}, ALL["claude"]),
    Case("claude", {"user": {"strictPluginOnlyCustomization": True}}, ALL["claude"]),
    *[row for name in ("CLAUDE_CODE_SAFE_MODE", "CLAUDE_CODE_SIMPLE") for row in (
        Case("claude", {}, "managed dropin", {name: "1"}),
        Case("claude", {}, ALL["claude"], {name: "0"}),
        Case("claude", {"user": {"env": {name: "1"}}}, "managed dropin"),
        Case("claude", {"managed": {"env": {name: "1"}}}, "managed dropin"),
        Case("claude", {"project": {"env": {name: "1"}}}, ALL["claude"]),
    )],
    Case("claude", {"user": {"env": {"CLAUDE_CODE_SAFE_MODE": "0"}}}, ALL["claude"], {"CLAUDE_CODE_SAFE_MODE": "1"}),
    Case("claude", {}, ALL["claude"], {"CLAUDE_CODE_SAFE_MODE": "2"}),
    Case("claude", {}, ALL["claude"], {"CLAUDE_CODE_PERSONAL_HOOKS_OFF": "1"}),
    # Codex.
    *[Case("codex", {place: CODEX_OFF}, "") for place in ("system", "managed", "config", "projects", "requirements")],
    Case("codex", {"system": CODEX_OFF, "config": CODEX_ON}, ALL["codex"]),
    Case("codex", {"config": CODEX_OFF, "projects": CODEX_ON}, ALL["codex"]),
    Case("codex", {"config": CODEX_OFF, "managed": CODEX_ON}, ALL["codex"]),
    Case("codex", {"config": CODEX_OFF, "requirements": CODEX_ON}, ALL["codex"]),
    Case("codex", {"managed": CODEX_OFF, "config": CODEX_ON}, ""),
    Case("codex", {"requirements": ONLY_TOML}, CODEX_MANAGED),
    *[Case("codex", {place: ONLY_TOML}, ALL["codex"]) for place in ("system", "managed", "config", "projects")],
    # Copilot CLI.
    *[Case("copilot", {place: OFF}, "policy") for place in ("shared", "local")],
    *[Case("copilot", {f".claude/{name}.json": OFF}, "policy") for name in ("settings", "settings.local")],
    Case("copilot", {"~/.claude/settings.json": OFF}, ALL["copilot"]),
    Case("copilot", {"settings": OFF}, "user project shared local policy"),
    Case("copilot", {"user": OFF}, "settings project shared local policy"),
    Case("copilot", {"project": OFF}, "user settings shared local policy"),
    Case("copilot", {"policy": OFF}, "user settings project shared local"),
    Case("copilot", {"shared": OFF, "local": ON}, ALL["copilot"]),
    Case("copilot", {"shared": ON, "local": OFF}, "policy"),
    Case("copilot", {"shared": ON, ".claude/settings.local.json": OFF}, ALL["copilot"]),
    Case("copilot", {"shared": OFF, ".claude/settings.local.json": ON}, "policy"),
    Case("copilot", {".claude/settings.json": OFF, ".claude/settings.local.json": ON}, ALL["copilot"]),
    # Droid.
    *[Case("droid", {place: DROIDS_OFF}, "") for place in ("user", "project", "managed")],
    Case("droid", {"user": DROIDS_OFF, "project": DROIDS_ON}, ALL["droid"]),
    Case("droid", {"user": DROIDS_OFF, "managed": DROIDS_ON}, ALL["droid"]),
    Case("droid", {"project": DROIDS_OFF, "user": DROIDS_ON}, ""),
    Case("droid", {"~/.factory/hooks.json": {"hooksDisabled": True}}, ""),
    Case("droid", {"managed": ONLY}, "managed"),
    *[Case("droid", {place: ONLY}, ALL["droid"]) for place in ("user", "project")],
    # Gemini CLI and Qwen Code: managed hooks go with the others.
    *[row for host, off, on in (("gemini", GEMINIS_OFF, GEMINIS_ON), ("qwen", OFF, ON)) for row in (
        *[Case(host, {place: off}, "") for place in HOSTS[host].files],
        Case(host, {"user": off, "project": on}, ALL[host]),
        Case(host, {"project": off, "user": on}, ""),
        Case(host, {"project": off, "managed": on}, ALL[host]),
        Case(host, {"defaults": off, "user": on}, ALL[host]),
    )],
    *[row for name in ("QWEN_CODE_SAFE_MODE", "QWEN_CODE_SIMPLE") for row in (
        Case("qwen", {}, "", {name: "1"}), Case("qwen", {"user": {"env": {name: "1"}}}, ""))],
    # Grok Build.
    *[Case("grok", {place: ONLY_TOML}, "managed requirements") for place in ("managed", "requirements")],
    *[Case("grok", {f"~/.grok/{name}.toml": ONLY_TOML}, "managed requirements")
      for name in ("managed_config", "requirements")],
    Case("grok", {"requirements": ONLY}, "managed requirements"),
    Case("grok", {"/etc/claude-code/managed-settings.json": ONLY}, "managed requirements"),
    Case("grok", {"/etc/claude-code/managed-settings.json": OFF}, ALL["grok"]),
    Case("grok", {".grok/config.toml": ONLY_TOML}, ALL["grok"]),
    # Hermes and VS Code.
    Case("hermes", {}, "", {"HERMES_SAFE_MODE": "1"}),
    Case("hermes", {}, "user", {"HERMES_SAFE_MODE": "0"}),
    Case("vscode", {"/etc/vscode/policy.json": {"ChatHooks": False}}, "", sure="docs"),
    Case("vscode", {"~/.config/Code/User/settings.json": {"chat.useHooks": False}}, "", sure="docs"),
]  # fmt: skip


def texts_of(case: Case, command: str) -> dict[str, str]:
    """The text of each file by its path; the command gets the name of the place for %s."""
    places = HOSTS[case.host]
    added = {places.files.get(name, name): value for name, value in case.added.items()}
    texts = {}
    for name, path in places.files.items():
        hook = {"type": "command", "command": command % name}
        list_ = [hook] if places.form == "flat" else [{"hooks": [hook]}]
        value = _merge({**places.top, "hooks": {places.event: list_}}, added.pop(path, {}))
        texts[path] = text_of(path, value)
    return {**texts, **{path: text_of(path, value) for path, value in added.items()}}


def _merge(value: dict[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    for key, more in added.items():
        value[key] = _merge(value[key], more) if key in value and isinstance(more, dict) else more
    return value


def text_of(path: str, value: dict[str, Any]) -> str:
    """A file's text: JSON serves for YAML as well; in TOML tables come last."""
    if not path.endswith(".toml"):
        return json.dumps(value)
    lines = [f"{key} = {_toml(item)}" for key, item in value.items() if not isinstance(item, dict)]
    for key, table in value.items():
        if isinstance(table, dict):
            lines += [f"[{key}]", *(f"{name} = {_toml(item)}" for name, item in table.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
