"""Which values are nobody's business, and how they are shown: not at all.

A value is secret by the name that it stands under, also within a text (`API_KEY=...`, `--token ...`, a header in a
command), or by its own look, wherever it stands.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

MASK = "***"
Fill = Callable[[str], str]  # what goes where a secret stood
LONGEST = 4096  # characters that a pattern looks at at once: nothing takes long, whoever wrote it
# All patterns are compiled when they are used: most calls show no value at all.
_SECRET = (
    r"(?i)api[-_]?key|token|secret|passw|passphrase|credential|authorization|private[-_]?key|access[-_]?key"
    r"|cookie|bearer|webhook|jwt|connection[-_]?string|(^|[-_.])(key|auth|pwd|pass|pat|dsn)$|(?-i:[a-z]Key$)"
)
# What a group holds is kept and shown. Rather a word too many masked than a secret shown.
_LOOKS = (
    r"-----BEGIN (?=[A-Z0-9 ]{0,60}KEY)[A-Z0-9 ]{0,60}+-----(?s:.*?)(?:-----END [A-Z0-9 ]{0,60}+-----|\Z)"
    r"|(://[^\s/:@'\"]*+:)[^\s/'\"]+(?=@)"
    r"|(\b(?i:bearer)\s++)[\w.~+/=-]{3,}"
    r"|(\s-(?:u|-user)[\s=]++['\"]?[^\s:'\"]++:)[^\s'\"]+"
    r"|(?<![A-Za-z0-9])(?:"
    r"sk-[\w-]{5,}|[rsp]k_(?:live|test)_\w{5,}|whsec_\w{5,}"
    r"|gh[oprsu]_\w{5,}|github_pat_\w{5,}|glpat-[\w-]{5,}"
    r"|xox[a-z]-[\w-]{5,}|xapp-[\w-]{5,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|ya29\.[\w-]{5,}"
    r"|hf_[A-Za-z0-9]{16,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}"
    r"|eyJ[\w-]{5,}(?:\.[\w-]*)+|eyJ[\w-]{30,})"
)
# One of these is in every match, in lower case; looking for them first spares most calls the patterns.
_MARKS = (
    "-----begin",
    "://",
    "bearer",
    "-u",
    "sk-",
    "k_live_",
    "k_test_",
    "whsec_",
    "gho_",
    "ghp_",
    "ghr_",
    "ghs_",
    "ghu_",
    "github_pat_",
    "glpat-",
    "xox",
    "xapp-",
    "akia",
    "asia",
    "aiza",
    "ya29.",
    "hf_",
    "npm_",
    "pypi-",
    "eyj",
)
# Keys of our own results that hold where something is: a machine needs it as it is.
_PLACES = ("file", "path", "project", "run_dir", "from", "to")
# A name in a text with what stands between it and its value, over line breaks and the marks of comments.
_NAMED = (
    r"(?<![\w.-])(?P<flag>--?)?(?P<name>\w[\w.-]*+)"
    r"(?P<gap>(?P<says>\\*[\"']?\s*[:=](?:\n[ \t]*\*(?!/)|\s|//|/\*)*)|\\*[\"']\s*,(?:\s|//)*|[ \t]+)"
)
# A command of ours is a pack's, and must not be able to hide what it runs: of it, only bare words are masked.
# (A wrapped hook's is somebody else's.)
_OURS = r": hookctl=(?!guard/wrap-)"
_BARE = r"[\"']?[\w+=~%-]+[\"']?"
_QUOTED = r"(?P<quote>\\*[\"'])(?s:.*?)(?:(?<!\\)(?P=quote)|\Z)"
_REST = r"[^\"'\r\n]+"
_WORD = r"""(?:\\.|\"[^\"]*\"?|'[^']*'?|[^\s\"';&|<>()])+"""


def is_secret(key: str) -> bool:
    """Whether a key's name says that its value is nobody's business."""
    return bool(re.search(_SECRET, key))


def masked(value: Any, key: str = "") -> Any:
    """The value of a key with everything secret in it masked, at any depth."""
    if isinstance(value, dict):
        names = {name: name if not is_secret(key) else key for name in value}
        return {masked_text(name): masked(inner, names[name]) for name, inner in value.items()}
    if isinstance(value, list):
        flags = ["", *(flag_of(inner) for inner in value)]
        return [
            masked(inner, flag if is_secret(flag) else key)
            for inner, flag in zip(value, flags, strict=False)
        ]
    if is_secret(key):
        return MASK
    return masked_text(value) if isinstance(value, str) else value


def veiled(value: Any) -> Any:
    """Data of our own making, with what looks like a secret masked in all its texts."""
    if isinstance(value, dict):
        return {name: inner if name in _PLACES else veiled(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [veiled(inner) for inner in value]
    if callable(value):  # what costs much to make, and is made only for whom sees it
        return veiled(value())
    return by_look(value) if isinstance(value, str) else value


def flag_of(word: Any) -> str:
    """The name of a command's flag, whose value may be the next word of a list; empty for anything else."""
    return word[2:] if isinstance(word, str) and word.startswith("--") else ""


def masked_text(text: str, fill: Fill = lambda hidden: MASK) -> str:
    """A text that somebody else wrote, with what is secret in it by its name or its look filled."""
    if len(text) > LONGEST:
        return _in_parts(text, lambda part: masked_text(part, fill), fill)
    return by_look(_by_name(text, _careful(text, fill)), fill)


def by_look(text: str, fill: Fill = lambda hidden: MASK) -> str:
    """A text with what looks like a secret filled, whatever it is called."""
    lower = text.lower()
    if not any(mark in lower for mark in _MARKS):
        return text
    if len(text) > LONGEST:
        return _in_parts(text, lambda part: by_look(part, fill), fill)
    fill = _careful(text, fill)
    return re.sub(_LOOKS, lambda match: _filled(match, fill), text, flags=re.ASCII)


def _in_parts(text: str, mask: Fill, fill: Fill) -> str:
    """A long text, looked at in parts that end between two words; a longer word is secret, but in a command of ours."""
    is_ours, parts = bool(re.search(_OURS, text)), [""]
    for word in re.split(r"(?<=[\s\",;])", text):
        if len(word) > LONGEST and not is_ours:
            word = fill(word)
        if len(parts[-1]) + len(word) > LONGEST or parts[-1].endswith("\n"):
            parts.append("")
        parts[-1] += word
    return "".join(part if len(part) > LONGEST else mask(part) for part in parts)


def _careful(text: str, fill: Fill) -> Fill:
    if not re.search(_OURS, text):
        return fill
    return lambda hidden: fill(hidden) if re.fullmatch(_BARE, hidden) else hidden


def _filled(match: re.Match[str], fill: Fill) -> str:
    kept = next((group for group in match.groups() if group), "")
    return kept + fill(match[0][len(kept) :])


def _by_name(text: str, fill: Fill) -> str:
    """The values behind names of secrets: `NAME=value`, `"name": value`, `--name value`, `"--name", "value"`."""
    parts, at = [], 0
    for match in re.finditer(_NAMED, text):
        is_flag = match["flag"] and len(match["name"]) > 1
        if match.start() < at or not (match["says"] or is_flag) or not is_secret(match["name"]):
            continue
        end = _value_end(text, match.end(), in_shell=not re.search("[:,]", match["gap"]))
        parts += [
            text[at : match.end()],
            fill(text[match.end() : end]) if end > match.end() else "",
        ]
        at = end
    return "".join([*parts, text[at:]])


def _value_end(text: str, at: int, *, in_shell: bool) -> int:
    """Where a value ends: a list with its bracket, what is quoted with its quote, else a word or the rest of a line."""
    if text.startswith(("[", "{"), at):
        return _bracket_end(text, at)
    match = re.compile(_WORD if in_shell else f"{_QUOTED}|{_REST}").match(text, at)
    return match.end() if match else at


def _bracket_end(text: str, at: int) -> int:
    depth = 0
    for place in range(at, len(text)):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(text[place], 0)
        if not depth:
            return place + 1
    return len(text)
