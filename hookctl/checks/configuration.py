"""The guard's config.json: can the hook read it, and does it mean what it says?"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

from hookctl import files
from hookctl.checks import Finding, Scene
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.folders import asset
from hookctl.masking import masked_text

_ELSEWHERE = ("max_stop_blocks", "state_dir", "$schema", "hosts")  # no variables of the guard's own


def check(scene: Scene, folder: str) -> Iterator[Finding]:
    """The hook ignores what it cannot read, so a slip here would go unnoticed."""
    path = os.path.join(folder, "config.json")
    try:
        value = _read(path)
    except HookctlError as error:
        message = f"the hook's configuration cannot be read, so it lets every stop pass: {error.message}"
        fix = error.hint or f"`{scene.install} --force` puts it back."
        yield scene.find("config_unreadable", "error", message, fix, path)
        return
    if value is None:
        message = "the hook's configuration is missing, so it lets every stop pass"
        yield scene.find("config_missing", "warning", message, f"`{scene.install}` puts it back.", path)
        return
    import jsonschema

    for error in jsonschema.Draft202012Validator(_schema()).iter_errors(value):
        name = ".".join(map(str, error.absolute_path)) or "the configuration"
        message = f"{name}: {masked_text(error.message)}; the hook ignores it"
        yield scene.find("config_invalid", "warning", message, "Mend it.", path)
    yield from _meaning(scene, value, path)


def _read(path: str) -> dict[str, Any] | None:
    data = files.read(path).data
    if data is None:
        return None
    value = JsonDocument.parse(data, where=path, comments=False, trailing_commas=False).value
    if not isinstance(value, dict):
        raise HookctlError("wrong_shape", "it holds no object")
    return value


def _meaning(scene: Scene, value: dict[str, Any], path: str) -> Iterator[Finding]:
    if value.get("mode") == "off":
        message = "the hook's configuration says mode off, so it lets every stop pass"
        yield scene.find("guard_off", "info", message, "Change the mode there.", path)
    soft, progress = value.get("max_soft_resets"), value.get("progress")
    if type(soft) is int and soft <= 0 and not (isinstance(progress, list) and "action" not in progress):
        message = f"max_soft_resets is {soft}, so the limit never ends a run of ever new tool calls; the ceiling does"
        yield scene.find("no_soft_limit", "warning", message, "Set it to 1 or more.", path)
    named, there = value.get("state_dir"), scene.folders.state
    if isinstance(named, str) and named and named != there and not scene.folders.environ.get("HOOKCTL_STATE_DIR"):
        message = f"the hook keeps its state in {named}, and hookctl looks in {there}: log, run and doctor miss it"
        fix = f"Start hookctl with HOOKCTL_STATE_DIR={named}, or change state_dir there."
        yield scene.find("state_elsewhere", "warning", message, fix, path)


def variables() -> list[str]:
    """The variables that the hook takes for knobs, and the one that switches it off."""
    names = [name for name in _schema()["properties"] if name not in _ELSEWHERE]
    return ["HOOKCTL_DISABLE", *(f"HOOKCTL_{name.upper()}" for name in names)]


def _schema() -> dict[str, Any]:
    with open(asset("schemas", "guard-config.schema.json"), encoding="utf-8") as stream:
        return dict(json.load(stream))
