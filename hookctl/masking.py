"""What no output shows as it is: secrets, and characters that nobody sees.

A value is secret by its name, also within a text (`API_KEY=...`, `--token ...`, a header in a
command), or by its own look, wherever it stands.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

MASK = "***"
LONGEST = 4096  # characters that a pattern gets at once, so that no text takes long
# The patterns are compiled when they are used: most calls show no value at all.
_SECRET = (
    r"(?i)api[-_]?key|token|secret|passw|passphrase|credential|authorization"
    r"|private[-_]?key|access[-_]?key"
    r"|cookie|bearer|webhook|jwt|connection[-_]?string"
    r"|(^|[-_.])(key|auth|pwd|pass|pat|dsn|sig|signature)$|[-_]headers$|(?-i:[a-z]Key$)"
)
_OWN_KEY = r"hookctl-[a-z0-9-]{1,64}"  # of a pack's hooks, on a host that groups them by a name
# How the tokens of many services begin.
_SHORT = r"""
    sk- whsec_ gho_ ghp_ ghr_ ghs_ ghu_ github_pat_ glpat- xapp- ya29\.
"""
_LONG = r"""
    hf_ hvb\. hvs\. hvr\. gsk_ SG\. GOCSPX- xai- pplx- r8_ tvly- nvapi- fw_ doo_v1_ dop_v1_ dor_v1_
    shpat_ shpss_ shpca_ shppa_ glrt- gldt- glcbt- glptt- glsoat- glimt- glft- glagent- glsa_ glc_
    dckr_pat_ dckr_oat_ ATATT3 ATCTT3 ATBB lin_api_ lin_oauth_ ntn_ figd_ PMAK- phc_ phx_ rubygems_
    NRAK- AGE-SECRET-KEY- sq0 tskey- sbp_ sb_secret_ nfp_
"""
# The groups are shown, the rest is masked. In doubt a word is masked.
_LOOKS = (
    r"-----BEGIN (?=[A-Z0-9 ]{0,60}KEY)[A-Z0-9 ]{0,60}+-----"
    r"(?s:.*?)(?:-----END [A-Z0-9 ]{0,60}+-----|\Z)"
    r"|(://[^\s/:@'\"]*+:)(?!\d{1,5}/)[^\s'\"]+(?=@)"  # a port is no password
    r"|(\b(?i:bearer)\s++)[\w.~+/=-]{3,}"
    r"|(\b(?i:basic)\s++)(?=[a-z+/]{0,80}[A-Z0-9])[A-Za-z0-9+/_-]{8,}={0,2}"
    r"|(\bhooks\.slack\.com/(?:services|workflows|triggers)/)[\w/+-]{5,}"
    r"|(\bdiscord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/)[\w/-]{5,}"
    r"|(/bot)\d{8,10}:AA[\w-]{30,}"
    r"|(\bsshpass\s++-p\s*+)(?:'[^']*'|\"[^\"]*\"|[^\s'\"]+)"
    r"|(\s-(?:u|-user)[\s=]++['\"]?[^\s:'\"]++:)[^\s'\"]+"
    # curl's cookies
    r"|(\s-b\s++)(?:'[^'=]*+=[^']*'|\"[^\"=]*+=[^\"]*\"|[^\s'\"=]++=[^\s'\"]+)"
    # -pSECRET: not -print, -parallel=2, -p8080:80, -projectPath, -p/folder or -p$VARIABLE
    r"|(\s-p)(?:'[^'$]+'|\"[^\"$]+\"|(?![a-z-]*[=:/.]|[~$])(?![a-z]+(?:[A-Z][a-z]+)+\b)"
    r"(?![\d.:]+(?:/\w+)?(?![^\s'\"]))(?=[^\s'\"]*[A-Z0-9])[^\s'\";&|()<>]{6,})"
    r"|(\b(?:mysql\w*|mariadb[\w-]*|7z[ar]?|(?:un)?rar)(?=\s)[^\n|;&]{0,200}?\s-p)[^\s'\"$;&|()<>]+"
    rf"|(?<![A-Za-z0-9])(?:(?:{'|'.join(_SHORT.split())})[\w-]{{5,}}|(?:{'|'.join(_LONG.split())})[\w.=-]{{16,}}"
    r"|[rsp]k_(?:live|test)_\w{5,}|xox[a-z](?:\.xox[a-z])?-[\w-]{5,}|(?:sntry[su]_|fm2_)[\w+/=-]{16,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[\w-]{30,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}"
    # Databricks and Mailgun, Telegram, Facebook, Alibaba, Terraform, and any JWT
    r"|(?:dapi|key-)[0-9a-f]{32}|\d{8,10}:AA[\w-]{30,}|EAA[A-Za-z0-9]{30,}|LTAI\w{12,}"
    r"|\w{14}\.atlasv1\.[\w-]{30,}|eyJ[\w-]{5,}(?:\.[\w-]*)+|eyJ[\w-]{30,})"
)
# Every match has one of these in lower case, so most texts never meet the patterns.
_OTHER_MARKS = """
    -----begin :// bearer basic -u -b -p hooks.slack.com/ /webhooks/ k_live_ k_test_ xox sntry fm2_
    akia asia aiza npm_ pypi- dapi key- :aa eaa ltai .atlasv1. eyj
"""
_MARKS = f"{_SHORT} {_LONG} {_OTHER_MARKS}".replace("\\", "").lower().split()
# Keys of results with a location, which a machine needs unchanged.
_LOCATIONS = ("file", "path", "project", "run_dir", "from", "to")
# A name in a text, and what stands between it and its value, across line breaks.
_NAMED = (
    r"(?<![\w.-])(?P<flag>--?)?(?P<name>\w[\w.-]*+)"
    r"(?P<gap>(?P<says>\\*[\"']?\s*[:=]\s*)|\\*[\"']\s*,\s*|[ \t]+)"
)
# A pack's command must not hide what it runs, so only bare words in it are masked.
# The command of a wrapped hook belongs to another tool, and is masked like any text.
_OURS = r": hookctl=(?!guard/wrap-)"
_BARE = r"[\"']?[\w+=~%-]+[\"']?"
# A value goes to its last bracket or its closing quote, else to the end of the line or the word.
_BRACKETS = r"[\[{](?s:.*[\]}]|.*)"
_DATA = rf"{_BRACKETS}|(?P<quote>\\*[\"'])(?s:.*?)(?:(?<!\\)(?P=quote)|\Z)|[^\"'\r\n]+"
_WORD = r"""(?:\\.|\"[^\"]*\"?|'[^']*'?|[^\s\"';&|<>()])+"""
_SPLIT = r"\s\",;"  # what may end a part of a long text
_PARTS = (
    rf"(?s)(?P<long>[^{_SPLIT}]{{{LONGEST}}}[^{_SPLIT}]*+.?)"
    rf"|.{{1,{LONGEST}}}\Z|.{{0,{LONGEST - 1}}}\n|.{{0,{LONGEST - 1}}}[{_SPLIT}]"
)
# By name, since their categories are those of letters, marks and symbols.
_EMPTY = (
    "VARIATION SELECTOR|HANGUL .*FILLER|GRAPHEME JOINER|VOWEL INHERENT|PATTERN BLANK|NULL NOTEHEAD"
)


class OwnText(str):
    """A text of hookctl's or of a pack's own, which no mask touches: people must see what runs."""


def is_secret(key: str) -> bool:
    """Whether a key's name says that its value is secret; a pack's own key is its mere name."""
    return bool(re.search(_SECRET, key)) and not re.fullmatch(_OWN_KEY, key)


def masked(value: Any, key: str = "") -> Any:
    """The value of a key with everything secret in it masked, at any depth."""
    if isinstance(value, OwnText):
        return value
    hides = is_secret(key)
    if isinstance(value, dict):  # below a secret key, every value is secret
        return {
            masked_text(name): masked(inner, key if hides else name)
            for name, inner in value.items()
        }
    if isinstance(value, list):  # the word after a flag with a secret name is secret
        flags = ["", *map(flag_of, value)]
        return [
            masked(inner, flag if is_secret(flag) else key)
            for inner, flag in zip(value, flags, strict=False)
        ]
    if hides:
        return MASK
    return masked_text(value) if isinstance(value, str) else value


def veiled(value: Any) -> Any:
    """hookctl's own data, with what looks like a secret masked in all its texts."""
    if isinstance(value, dict):
        return {
            name: inner if name in _LOCATIONS else veiled(inner) for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [veiled(inner) for inner in value]
    if callable(value):  # expensive to make, so it is made only where it is shown
        return veiled(value())
    return by_look(value) if isinstance(value, str) else value


def flag_of(word: Any) -> str:
    """The name of a command's flag, whose value may be the next word of a list; otherwise ''."""
    if isinstance(word, str) and word.startswith("--"):
        return word[2:]
    return ""


def masked_text(text: str) -> str:
    """A text with each secret in it masked, known by its name or by its look.

    By its name in `NAME=value`, `"name": value`, `--name value`, `"--name", "value"`.
    """
    if isinstance(text, OwnText):
        return text
    if len(text) > LONGEST:
        return _in_parts(text, masked_text)
    parts, done = [], 0
    for match in re.finditer(_NAMED, text):
        is_flag = bool(match["flag"]) and len(match["name"]) > 1
        is_named = bool(match["says"] or is_flag) and is_secret(match["name"])
        if match.start() < done or not is_named:
            continue
        is_data = re.search("[:,]", match["gap"])
        value = re.compile(_DATA if is_data else f"{_BRACKETS}|{_WORD}").match(text, match.end())
        parts.append(text[done : match.end()])
        if value and value[0]:
            parts.append(_mask(value[0], text))
        done = value.end() if value else match.end()
    return by_look("".join([*parts, text[done:]]))


def by_look(text: str) -> str:
    """A text with everything that looks like a secret masked, whatever its name."""
    if isinstance(text, OwnText):
        return text
    lower = text.lower()
    if not any(mark in lower for mark in _MARKS):
        return text
    if len(text) > LONGEST:
        return _in_parts(text, by_look)

    def fill(match: re.Match[str]) -> str:
        kept = match[match.lastindex] if match.lastindex else ""
        return kept + _mask(match[0][len(kept) :], text)

    return re.sub(_LOOKS, fill, text, flags=re.ASCII)


def _in_parts(text: str, mask: Callable[[str], str]) -> str:
    """A long text, masked in parts that end between two lines, or two words of a long line.

    A word longer than a part is secret, except in a command of hookctl's.
    """
    is_ours, parts = re.search(_OURS, text), []
    for part in re.finditer(_PARTS, text):
        if part["long"]:
            parts.append(part[0] if is_ours else MASK)
        else:
            parts.append(mask(part[0]))
    return "".join(parts)


def _mask(secret: str, text: str) -> str:
    """The mask for a secret in a text; in a pack's command only a bare word has one."""
    return secret if re.search(_OURS, text) and not re.fullmatch(_BARE, secret) else MASK


# Characters that nobody sees


def shown(text: str) -> str:
    """A text as it is shown: masked, and plain."""
    return plain(by_look(text))


def plain(text: str) -> str:
    """A line in which everything can be seen, and nothing controls the terminal: <U+200B>."""
    if text.isascii() and text.isprintable():
        return text
    unseen = [character for character in set(text) - {"\t"} if _is_unseen(character)]
    return text.translate({ord(one): f"<{number_of(one)}>" for one in unseen})


def find_unseen(text: str) -> Iterator[int]:
    """Where a text has a character that shows nothing, or turns around or controls the rest."""
    return (at.start() for at in re.finditer("[^ -~]", text) if _is_unseen(at[0]))


def _is_unseen(character: str) -> bool:
    if character.isascii():
        return not character.isprintable()
    import unicodedata  # late: most texts are ASCII

    is_control = re.match("C|Zl|Zp", unicodedata.category(character))
    return bool(is_control or re.search(_EMPTY, unicodedata.name(character, "")))


def number_of(character: str) -> str:
    """A character as people write it who cannot see it: U+200B."""
    return f"U+{ord(character):04X}"
