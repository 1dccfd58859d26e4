"""What switches hooks off on each host, and which hooks then run: seen on the real client, but where a row says docs.

A host's places are settings files with one hook each, whose command writes the place's name; ~ is the home, and what
begins with no slash is in the project. A row adds keys to some of these files, or other files, and says what runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from tests.texts import rows

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


def _read(host: str, added: str, environ: str, runs: str, sure: str = "run") -> Case:
    places = {"all": " ".join(HOSTS[host].files), "none": ""}.get(runs, runs)
    variables = dict(word.split("=") for word in environ.split() if word != "-")
    return Case(host, json.loads(added), places, variables, sure)


CASES = [_read(*row) for row in rows("switches")]


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
