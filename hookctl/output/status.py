"""Status in a line a settings file: what is installed, whether it is active here, why not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookctl import hosts
from hookctl.model import Line
from hookctl.output.lines import ERROR, OK, SKIP, WARN, fix, tilde
from hookctl.output.plans import event_of
from hookctl.settings.targets import GUARD
from hookctl.survey.model import DISABLED

_STATES = {
    "owned": "",
    "overridden": "your change, kept",
    "adopted": "already there, left alone",
    "missing": "gone from the file",
    "unreadable": "cannot be read",
}
_SIGNS = {"owned": "+", "missing": "-", "overridden": "~"}
_LOOK = fix("see what `hookctl doctor` says")


def file_lines(file: dict[str, Any], *, verbose: bool) -> Iterator[Line]:
    """The lines about one settings file, which status describes as `--json` shows it."""
    name, path = file["host"], tilde(file["file"])
    title = hosts.load(name).title if name in hosts.names() else name
    if file["scope"] != "user":
        title += f" ({file['scope']})"
    packs = ", ".join(f"{pack} {version}" for pack, version in file["packs"].items())
    if file["guard"] and not _is_idle(file):
        version = file["packs"][GUARD]
        packs = packs.replace(f"{GUARD} {version}", f"{GUARD} {version} ({file['guard']})")
    if file["error"]:
        text = f"{title}: it cannot be read, so what is in it is not known"
        yield from (Line(text, ERROR, path=path), _LOOK)
    elif not file["here"] and not verbose:
        yield Line(f"{title}: {packs}, in another project", SKIP, path=path)
    else:
        yield Line(f"{title}: {packs}", _mark(file), path=path)
        yield from _effect_lines(file, verbose=verbose)
        for rules in file["rules"]:
            if verbose or rules["state"] != "owned":
                text = _with_remarks(f"rules ({rules['pack']})", _STATES[rules["state"]])
                sign = _SIGNS.get(rules["state"], "=")
                yield Line(text, indent=4, sign=sign, path=tilde(rules["file"]))
        for entry in file["entries"]:
            if verbose or _is_remarkable(entry):
                yield _entry_line(entry)
            for key, value in (entry["env"] or {}).items() if verbose else ():
                yield Line(f"{key}={value}", indent=6, sign="+")


def _is_idle(file: dict[str, Any]) -> bool:
    """Whether the guard does nothing there."""
    return bool(file["guard"]) and file["guard"].startswith("does nothing")


def _mark(file: dict[str, Any]) -> str:
    states = {obstacle["state"] for obstacle in file["obstacles"]}
    is_incomplete = any(entry["state"] == "missing" for entry in file["entries"])
    if is_incomplete or file["program"] or states - {DISABLED} or (_is_idle(file) and not states):
        return WARN
    return SKIP if states else OK


def _effect_lines(file: dict[str, Any], *, verbose: bool) -> Iterator[Line]:
    """What keeps hooks of the file from running, and what the guard does."""
    for obstacle in file["obstacles"]:
        names = obstacle["names"]
        verb = "does" if len(names) == 1 else "do"
        yield Line(f"{', '.join(names)} {verb} nothing: {obstacle['reason']}", indent=4)
        if obstacle["fix"]:
            yield fix(obstacle["fix"])
    if file["program"] and not file["obstacles"]:
        yield from (Line(file["program"], indent=4), _LOOK)
    if _is_idle(file) and not file["obstacles"]:
        yield Line(f"guard {file['guard']}", indent=4)
    for command in file["installs"].values() if verbose else ():
        yield Line(command, indent=6)


def _is_remarkable(entry: dict[str, Any]) -> bool:
    """Whether an entry is not simply as hookctl wrote it; a disabled one has its obstacle."""
    is_own = entry["state"] in ("owned", "disabled")
    return not is_own or bool(entry["in_effect"]) or bool(entry["wraps"])


def _entry_line(entry: dict[str, Any]) -> Line:
    """An entry with its value and its state."""
    text = entry["path"][-1]
    if entry["id"]:
        text = f"{event_of(tuple(entry['path']))} hook ({entry['id']})"
    elif entry["value"] not in (None, text):  # in a list of texts each is its own key
        text += f"={entry['value']}"
    remarks = [_STATES.get(entry["state"], entry["state"])]
    if entry["in_effect"]:
        in_effect = entry["in_effect"]
        remarks.append(f"here {in_effect['value']} counts, from {in_effect['scope']} scope")
    if entry["wraps"]:
        remarks.append(f"wraps {entry['wraps']}")
    text = _with_remarks(text, *remarks, entry["note"])
    return Line(text, indent=4, sign=_SIGNS.get(entry["state"], "="))


def _with_remarks(text: str, *remarks: str) -> str:
    said = ", ".join(filter(None, remarks))
    return f"{text}: {said}" if said else text
