"""Has the host been told to run the hook? What it wants approved before it does, as far as files show it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hookctl import hosts
from hookctl.checks import Finding, Scene
from hookctl.checks.environment import is_true
from hookctl.documents import MISSING, Document
from hookctl.hosts import codex, shapes
from hookctl.model import Path
from hookctl.packs.settings import settings_from
from hookctl.places import GUARD, readable


def check(scene: Scene) -> Iterator[Finding]:
    """The gates in front of the guard in this file: of its folder, and of the hook itself."""
    if scene.guard is None or not settings_from(scene.guard.settings).events or scene.live is None:
        return
    if not any(element.id.startswith(f"{GUARD}/") for element in scene.live.elements):
        return
    yield from _folder(scene)
    about = scene.host.data.get("trust", {})
    if "config" in about:
        yield from _approved(scene, about)
    elif "memory" in about:
        yield from _agreed(scene, about)
    elif about and scene.place.scope in about.get("scopes", ()) and "folder_trust" not in scene.host.data:
        yield scene.find("not_approved", "info", f"{about['gate']}: {about['action']}")


def _read(scene: Scene, name: str, format: str) -> Document | None:
    """A file in the host's own folder; None where it cannot be read."""
    return readable(name.format(config=hosts.config_folder(scene.host, scene.folders.environ)), format)


# Approvals of single hooks.


def _approved(scene: Scene, about: dict[str, Any]) -> Iterator[Finding]:
    """Each hook of the guard against the approvals that the host keeps by position."""
    config = _read(scene, about["config"], "toml")
    root = scene.document.value if scene.document else {}
    for path, digest in codex.approvals(scene.host.shape, scene.path, root, GUARD):
        known = codex.approved(config, path) if config else None
        if config and config.get((*path, "enabled")) is False:
            message = f"{scene.host.title} has this hook of the guard switched off, under {'.'.join(map(str, path))}"
            where = about["config"].format(config=hosts.config_folder(scene.host, scene.folders.environ))
            yield scene.find("hook_disabled", "error", message, f"Take `enabled = false` out of {where}.")
        if known != digest:
            why = "has not been approved" if known is None else "was changed since it was approved"
            message = f"a hook of the guard {why}, so {scene.host.title} passes over it without a word"
            yield scene.find("not_approved", "error", message, f"{_sentence(about['action'])}.")


def _agreed(scene: Scene, about: dict[str, Any]) -> Iterator[Finding]:
    """Each hook of the guard against the commands that were agreed to, unless the host agrees by itself."""
    root = scene.document.value if scene.document else {}
    said = about.get("unasked", {})
    if is_true(scene.folders.environ.get(said.get("variable", ""), "")) or is_true(str(root.get(said.get("key")))):
        return
    memory = _read(scene, about["memory"], "json")
    listed = memory.get(("approvals",)) if memory else ()
    known = [(one.get("event"), one.get("command")) for one in listed if isinstance(one, dict)] if listed else []
    ours = {element.path for element in scene.live.elements if element.id.startswith(f"{GUARD}/")} if scene.live else {}
    for path, handler, _ in shapes.handlers(scene.host.shape, root):
        if path in ours and (shapes.event_of(scene.host.shape, path), handler["command"]) not in known:
            message = f"nobody has agreed to a hook of the guard, so {scene.host.title} does not run it"
            yield scene.find("not_approved", "error", message, f"{_sentence(about['action'])}.")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


# Folders.


def _folder(scene: Scene) -> Iterator[Finding]:
    """A gate in front of all hooks of a folder."""
    about = scene.host.data.get("folder_trust")
    if not about or scene.place.scope not in about["scopes"] or not _is_on(scene, about):
        return
    document = _read(scene, about["file"], about["format"])
    if document is None or not _is_trusted(about, _words(about, document), scene.start):
        message = f"{scene.host.title} has not been told to trust {scene.start}, so it runs no hook there"
        level = "warning" if scene.place.project else "info"
        if level == "info":
            message += " as long as it is not"
        yield scene.find("not_trusted", level, message, f"{_sentence(about['action'])}.")


def _is_on(scene: Scene, about: dict[str, Any]) -> bool:
    path = tuple(about.get("switch", ()))
    if not path:
        return bool(about["on"])
    host = hosts.load(scene.host.name)
    user = hosts.settings_path(host, "user", scene.folders.environ)
    document = readable(user, host.format)
    said = document.get(path) if document else MISSING
    return said if isinstance(said, bool) else bool(about["on"])


def _words(about: dict[str, Any], document: Document) -> dict[str, Any]:
    """What the host was told of folders."""
    path: Path = tuple(about.get("folders", ()))
    found = document.get(path)
    words = found if isinstance(found, dict) else {}
    if "level" in about:
        return {name: one.get(about["level"]) for name, one in words.items() if isinstance(one, dict)}
    return words


def _is_trusted(about: dict[str, Any], words: dict[str, Any], folder: str) -> bool:
    """The word on the folder itself, or where folders inside go with it, that of the nearest one."""
    folder, best = os.path.realpath(folder), ("", None)
    for name, word in words.items():
        if "\0" in name:
            continue
        above = os.path.realpath(os.path.dirname(name) if word == about.get("parent") else name)
        inside = about["inherited"] and folder.startswith(f"{above.rstrip('/')}/")
        if (above == folder or inside) and len(name) > len(best[0]):
            best = name, word
    return best[1] in about["trusted"]
