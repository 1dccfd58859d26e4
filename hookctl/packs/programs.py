"""The guard's programs as files: the runtime hook, with the words of hosts that it does not know by itself."""

from __future__ import annotations

from hookctl.folders import asset
from hookctl.hosts import Host
from hookctl.packs.wrapping import PROGRAM as WRAPPER


def hook_program(*hosts: Host) -> bytes:
    """The runtime hook of this version, for these hosts: a host is one data file, and the hook imports nothing."""
    text = _template("hook.py")
    for host in hosts:
        if f'\n    "{host.name}": ('.encode() not in text:
            text = _taught(text, host)
    return text


def wrapper_program() -> bytes:
    """The program that another tool's hook runs through."""
    return _template(WRAPPER)


def _template(name: str) -> bytes:
    with open(asset("templates", "guard", name), "rb") as stream:
        return stream.read()


def _taught(text: bytes, host: Host) -> bytes:
    """The hook with a host in its tables, and for what its data file does not say the careful guess."""
    cap, name = host.cap, ascii(host.name)
    text = _behind(text, "\nHOSTS = {", f"\n    {name}: {_words(host)!a},")
    if cap and "field" not in cap and not cap.get("asks"):
        row = cap.get("key", ""), cap["default"], False  # no tool call starts the host's count anew
        text = _behind(text, "\nCAPS = {", f"\n    {name}: {row!a},")
    return _behind(text, "\nFLAGLESS = (", f"{name}, ")  # a stop behind a block of ours is a forced one


def _words(host: Host) -> tuple[str, ...]:
    dialect, environment = host.data["dialect"], host.data["environment"]
    said = (dialect[name] for name in ("block", "release", "end", "refuse"))
    return *said, environment.get("project", ""), environment.get("session", "")


def _behind(text: bytes, head: str, new: str) -> bytes:
    before, found, after = text.partition(head.encode())
    assert found, f"the hook has no line that begins with {head}"
    return before + head.encode() + new.encode() + after
