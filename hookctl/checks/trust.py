"""Has the host been told to run the hooks of ours? What it wants approved before it does."""

from __future__ import annotations

from collections.abc import Iterator

from hookctl import gates, hosts
from hookctl.checks import Finding, Scene
from hookctl.gates import Closed
from hookctl.places import GUARD


def check(scene: Scene) -> Iterator[Finding]:
    """The gates in front of what the ledger has in this file: of its folder, and of each hook."""
    packs = scene.record.packs if scene.record else {}
    elements = scene.live.elements if scene.live else ()
    if scene.document is None or not any(element.pack in packs for element in elements):
        return
    about = scene.host.data.get("trust", {})
    yield from _folder(scene)
    for one in gates.closed(scene.host, scene.path, scene.document.value, scene.folders.environ):
        if one.element.pack in packs:
            yield _closed(scene, one)
    nobody_knows = about.keys().isdisjoint(("config", "memory")) and "folder_trust" not in scene.host.data
    if nobody_knows and scene.place.scope in about.get("scopes", ()):
        yield scene.find("not_approved", "info", f"{about['gate']}: {about['action']}")


def _closed(scene: Scene, one: Closed) -> Finding:
    about, title = scene.host.data["trust"], scene.host.title
    pack = "the guard" if one.element.pack == GUARD else one.element.pack
    if one.why == gates.OFF:
        where = about["config"].format(config=hosts.config_folder(scene.host, scene.folders.environ))
        message = f"{title} has this hook of {pack} switched off, under {'.'.join(map(str, one.state))}"
        return scene.find("hook_disabled", "error", message, f"Take `enabled = false` out of {where}.")
    message = f"a hook of {pack} was changed since it was approved, so {title} passes over it without a word"
    if one.why == gates.UNKNOWN:
        message = f"nobody has approved a hook of {pack}, so {title} passes over it without a word"
    return scene.find("not_approved", "error", message, f"{_sentence(about['action'])}.")


def _folder(scene: Scene) -> Iterator[Finding]:
    """A gate in front of all hooks of a folder."""
    if not gates.is_untrusted(scene.host, scene.place.scope, scene.start, scene.folders.environ):
        return
    message = f"{scene.host.title} has not been told to trust {scene.start}, so it runs no hook there"
    level = "warning" if scene.place.project else "info"
    if level == "info":
        message += " as long as it is not"
    yield scene.find("not_trusted", level, message, f"{_sentence(scene.host.data['folder_trust']['action'])}.")


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
