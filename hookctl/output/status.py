"""Status in a few lines a settings file: what is installed, and whether it is active here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookctl.model import WRAP, Line
from hookctl.output.lines import ERROR, OK, SKIP, WARN, amount, fix, tilde
from hookctl.output.plans import event_of
from hookctl.settings.effective import STOP
from hookctl.settings.targets import GUARD

_FOREIGN = ("changed", "unreadable", "newer")  # programs that are not as hookctl wrote them
_LONG = 40  # characters of a sentence that is worth saying once


def file_lines(file: dict[str, Any], title: str, *, is_here: bool, verbose: bool) -> list[Line]:
    """The lines about one settings file, which status describes as `--json` shows it."""
    if file["scope"] != "user":
        title += f" ({file['scope']})"
    path = tilde(file["file"])
    if file["error"]:
        text = f"{title}: it cannot be read, so what is in it is not known"
        return [Line(text, ERROR, path=path), fix("see what `hookctl doctor` says")]
    if not is_here and not verbose:
        names = " and ".join(file["packs"])
        return [Line(f"{title}: {names}, in another project", SKIP, path=path)]
    lines = [Line(title, _mark(file), path=path)]
    for name, version in file["packs"].items():
        lines.append(Line(f"{name} {version}: {_describe_pack(file, name)}", indent=4))
        if verbose and name in file["installs"]:
            lines.append(Line(file["installs"][name], indent=6))
    for rules in file["rules"]:
        state = rules["state"]
        remark = "" if state == "owned" else f": {_STATES.get(state, 'cannot be read')}"
        text = f"rules ({rules['pack']}){remark}"
        lines.append(Line(text, indent=4, sign=_SIGNS.get(state, "="), path=tilde(rules["file"])))
    is_disabled = _is_disabled(file)
    for entry in file["entries"]:
        if verbose or (_is_remarkable(entry) and not is_disabled):
            lines.append(_entry_line(entry, file["program"]))
        for key, value in (entry["env"] or {}).items() if verbose else ():
            lines.append(Line(f"{key}={value}", indent=6, sign="+"))
    return lines


def say_once(lines: Iterable[Line]) -> list[Line]:
    """The lines, without a long sentence on a pack that stands word for word above."""
    said: dict[str, str] = {}
    shorter = []
    for line in lines:
        pack, colon, sentence = line.text.partition(": ")
        if colon and line.indent and not line.sign and len(sentence) > _LONG:
            if said.get(pack) == sentence:
                line = line._replace(text=f"{pack}: as above")
            said[pack] = sentence
        shorter.append(line)
    return shorter


def _mark(file: dict[str, Any]) -> str:
    if _is_disabled(file):
        return SKIP
    is_idle = file["program"] in _FOREIGN or (file["guard"] or "").startswith("does nothing")
    is_incomplete = any(entry["state"] == "missing" for entry in file["entries"])
    is_waiting = bool(file["idle"] or file["unapproved"] or file["runner"])
    return WARN if is_idle or is_incomplete or is_waiting else OK


def _is_guard_disabled(file: dict[str, Any]) -> bool:
    """Whether the guard's stop hook is disabled, whatever tells it of tools and prompts."""
    return STOP in file["disabled"] and (file["guard"] or "").startswith("does nothing")


def _is_disabled(file: dict[str, Any]) -> bool:
    """Whether everything that packs have in the file is disabled."""
    entries = file["entries"]
    if _is_guard_disabled(file):
        entries = [entry for entry in entries if entry["owners"] != [GUARD]]
        if not entries:
            return True
    for entry in entries:
        is_off = bool(entry["id"]) and entry["id"] in file["disabled"]  # by the host's own switch
        if entry["state"] != "disabled" and not is_off:
            return False
    return bool(entries)


def _describe_pack(file: dict[str, Any], name: str) -> str:
    """What a pack does, or which entries it has in the file."""
    hook_ids = [entry["id"] for entry in file["entries"] if name in entry["owners"] and entry["id"]]
    disabled = [id for id in hook_ids if id in file["disabled"]]
    if disabled and disabled == [id for id in hook_ids if not id.startswith(WRAP)]:
        return f"disabled; `hookctl enable {name}` puts it back"
    if name == GUARD and _is_guard_disabled(file):
        return f"disabled; `hookctl enable {GUARD}` puts it back"
    if name == GUARD and file["guard"]:
        return str(file["guard"])
    own = [entry for entry in file["entries"] if name in entry["owners"]]
    hooks = sum(bool(entry["id"]) for entry in own)
    names = [key for entry in own for key in entry["env"] or ()]
    settings = len(own) - hooks + len(set(names))
    parts = []
    if hooks:
        parts.append(amount(hooks, "hook"))
    if settings:
        parts.append(amount(settings, "setting"))
    text = " and ".join(parts) or "nothing in this file"
    if not parts and any(rules["pack"] == name for rules in file["rules"]):
        text = "rules for the agent"
    waiting = [entry["id"] for entry in own if entry["id"] in file["unapproved"]]
    if hooks and file["idle"]:
        return f"does nothing: {file['idle']}"
    if hooks and file["runner"] and name in file["run_packs"]:
        return str(file["runner"])
    if waiting:
        text += f", {amount(len(waiting), 'hook')} not approved: `hookctl doctor` says more"
    return text


def _is_remarkable(entry: dict[str, Any]) -> bool:
    """Whether an entry is not simply as hookctl wrote it."""
    return entry["state"] != "owned" or bool(entry["in_effect"]) or bool(entry["wraps"])


def _entry_line(entry: dict[str, Any], program: str | None) -> Line:
    """An entry with its value and its state."""
    state = entry["state"]
    if program in _FOREIGN and entry["id"].startswith(f"{GUARD}/"):
        state = program
    text = entry["path"][-1]
    if entry["id"]:
        text = f"{event_of(tuple(entry['path']))} hook ({entry['id']})"
    elif entry["value"] not in (None, text):  # in a list of texts each is its own key
        text += f"={entry['value']}"
    remarks = [_STATES.get(state, state)] if state != "owned" else []
    if entry["in_effect"]:
        in_effect = entry["in_effect"]
        remarks.append(f"here {in_effect['value']} counts, from {in_effect['scope']} scope")
    if entry["wraps"]:
        remarks.append(f"wraps {entry['wraps']}")
    if entry["note"]:
        remarks.append(entry["note"])
    if remarks:
        text += f": {', '.join(remarks)}"
    return Line(text, indent=4, sign=_SIGNS.get(state, "="))


_STATES = {
    "overridden": "your change, kept",
    "adopted": "already there, left alone",
    "missing": "gone from the file",
    "disabled": "disabled",
}
_SIGNS = {"owned": "+", "missing": "-", "overridden": "~"}
