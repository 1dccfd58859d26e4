"""Whether the matcher of a hook can match a tool of its host, where that is certain."""

import difflib
import json
import re
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatchcase

from hookctl import hosts
from hookctl.hosts import Host

FOR_ALL = ("", "*")  # not on every host: a hook without a matcher runs for all tools everywhere

_TOOL_EVENTS = ("pre-tool", "post-tool")
# Names of tools, and of MCP tools with expressions in them, with | or commas between them.
_NAME = r"(?>mcp__[A-Za-z0-9_.*-]+|[A-Za-z][A-Za-z0-9_]*)"  # atomic: two forms fit one name
_NAMES = rf"{_NAME}(?:[|,] ?{_NAME})*"
_WHOLE = rf"\^(?:\(({_NAMES})\)|({_NAME}))\$"  # an expression for nothing but these names
# What an engine refuses although Python takes it.
_NOT_IN = {
    "python": r"(?!)",
    "js": r"\(\?(?:[aiLmsux]+\)|P|>|\()|[*+?}]\+",
    "rust": r"\(\?(?:=|!|<=|<!|>|\(|P=)|\\[1-9Z]|\[\]",
}
# An expression that takes no time, and how many seconds all others may take: one can be written to
# take hours. Then none of them is tried.
_QUICK = r"(?=.{0,200}$)\^?\(?[\w|.-]*(?:\.[*+])?\)?(?:\.[*+])?\$?"
_left = [2.0]
_MCP_NAME = r"mcp__(.+?)(?:__(.+))?"  # as Claude Code has it: server and tool


def is_about_tools(host: Host, event: str) -> bool:
    """Whether the host holds the matcher of an event against the name of a tool."""
    host = host.dialect_of(event)
    named = host.matchers.tool_events or [host.events.get(name) for name in _TOOL_EVENTS]
    return event in named


def explain_mismatch(host: Host, event: str, matcher: object) -> str:
    """Why a matcher never fits on the host's own event; empty if it does, or may.

    A host has tools that its file does not name, and those of MCP servers and extensions. So only
    a name that is another host's, or nearly one of this host's, is known to be none.
    """
    host = host.dialect_of(event)
    if not isinstance(matcher, str) or host.matchers.none:
        return ""
    if host.matchers.trims:
        matcher = matcher.strip()
    if not is_about_tools(host, event):
        return _explain_elsewhere(host, event, matcher)
    if not host.tools:
        return ""
    if matcher in (*FOR_ALL, *host.matchers.all):
        what = "where a hook for all tools has no matcher"
        return "" if matcher in host.matchers.all else _reason(host, matcher, what)
    prefix = host.matchers.prefix
    if prefix and not matcher.startswith(prefix) and re.search("[|,]", matcher):
        return _reason(host, matcher, f"where names stand behind {prefix}, with | between them")
    return _explain_names(host, matcher, matcher.removeprefix(prefix))


def _explain_elsewhere(host: Host, event: str, matcher: str) -> str:
    name, words = json.dumps(matcher), host.matchers.words.get(event)
    if words:
        if any(fits_word(host, event, matcher, word) for word in words):
            return ""
        return f"the matcher {name} fits none of {', '.join(words)}, what {event} is about"
    if not host.matchers.every_event or fits(host, matcher, [""]):
        return ""
    if compile_for(host, matcher) is None:
        return f"the matcher {name} is no expression, as {host.title} wants it"
    if event == host.events.get("stop"):
        return f"the matcher {name} has nothing to match on {event}: leave it out"
    return ""


def compile_for(host: Host, text: str) -> re.Pattern[str] | None:
    """An expression as the host's own engine reads it; None where that cannot compile it.

    Python stands in for JavaScript and for Rust, which both refuse some of what it takes.
    """
    engine = host.matchers.engine
    if re.search(_NOT_IN[engine], text):
        return None
    if engine == "js":
        text = text.replace("[^]", r"[\s\S]").replace("[]", "(?!)").replace(r"\Z", "Z")
    if engine != "python":
        text = re.sub(r"\(\?<(?=[A-Za-z_])", "(?P<", text)
    try:
        return re.compile(text, re.IGNORECASE if host.matchers.any_case else 0)
    except (re.error, RecursionError, OverflowError):
        return None


def _explain_names(host: Host, matcher: str, text: str) -> str:
    """Why a matcher fits no tool; '' where it fits one, or may fit one that is not known."""
    whole = re.fullmatch(_WHOLE, text)
    names = (whole[1] or whole[2]) if whole else text
    is_list = bool(re.fullmatch(_NAMES, names))
    words = re.findall(r"[A-Za-z_]\w{2,}", re.sub(r"\\.", " ", text))
    if is_list:
        words = re.split("[|,] ?", names)
    try:
        if _fits(host, matcher, [*_own_tools(host), *_mcp_tools(host, words, is_list=is_list)]):
            return ""
    except TimeoutError:
        return ""  # nobody can tell
    if compile_for(host, text) is None:
        return f"the matcher {json.dumps(matcher)} is no expression that {host.title} can read"
    by_name = {word: _tools_instead(host, word) for word in words}
    is_comma_known = host.matchers.commas and not whole
    if is_list:
        single = words if is_comma_known else [part for part in names.split("|") if "," not in part]
        may_fit = any(by_name[name] is None for name in single)
    else:
        known = {tool for name in hosts.names() for tool in _own_tools(hosts.load(name))}
        may_fit = "mcp" in text.lower() or (bool(words) and known.isdisjoint(words))
    if may_fit:
        return ""
    tools = dict.fromkeys(tool for word in words for tool in by_name[word] or ())
    what = f"which has {', '.join(tools) or 'none of that kind'}"
    if is_list and "," in names and not is_comma_known:
        meant = dict.fromkeys(tool for word in words for tool in by_name[word] or [word])
        what = f"where | and not a comma stands between names: {'|'.join(meant)}"
    return _reason(host, matcher, what)


def _mcp_tools(host: Host, words: Sequence[str], *, is_list: bool) -> Iterator[str]:
    """Tools of MCP servers that these words could mean; those of a list are whole names."""
    (form,) = host.tools.get("mcp", ("mcp__{server}__{tool}",))
    if not is_list:
        yield form.format(server="server", tool="_".join(words) or "tool")
    for word in words:
        named = re.fullmatch(_MCP_NAME, word)
        if named or not is_list:
            names = named.groups("tool") if named else (word, word)
            server, tool = (re.sub(r"[^\w-]", "x", name) for name in names)
            yield form.format(server=server, tool=tool)


def fits(host: Host, matcher: str | None, names: Sequence[str]) -> bool:
    """Whether a matcher fits one of a tool's names, or the value that an event is matched by.

    Not, where its expression takes too long to say so.
    """
    try:
        return _fits(host, matcher, names)
    except TimeoutError:
        return False


def _fits(host: Host, matcher: str | None, names: Sequence[str]) -> bool:
    rules = host.matchers
    fold = str.lower if rules.any_case else str
    if rules.none or matcher is None:
        return True
    matcher = matcher.strip() if rules.trims else matcher
    if matcher in (*FOR_ALL, *rules.all):
        return matcher in rules.all
    if rules.prefix and not matcher.startswith(rules.prefix):
        return any(fnmatchcase(fold(name), fold(matcher)) for name in names)
    matcher = matcher.removeprefix(rules.prefix)
    is_list = r"[\w|, -]+" if rules.commas else r"[\w|-]+"
    if re.fullmatch(is_list, matcher) and not (rules.parts or rules.prefix):
        listed = [fold(part.strip()) for part in re.split("[|,] ?", matcher)]
        return not set(listed).isdisjoint(map(fold, names))
    if rules.plain_names:
        is_list = rules.parts or re.fullmatch(r"[\w|, -]+", matcher)
        if is_list and set(names) & set(matcher.split("|")):
            return True
        names = [name for name in names if name not in _other_names(host)]
    expression = compile_for(host, matcher)
    if expression is None:
        return False
    find = expression.fullmatch if rules.whole else expression.search
    if re.fullmatch(_QUICK, matcher):
        return any(find(name) for name in names)
    return _finds(find, names)


def _finds(find: Callable[[str], object], names: Iterable[str]) -> bool:
    """Whether an expression finds one of these names; refuses (TimeoutError) to take for ever."""

    def end(*_: object) -> None:
        raise TimeoutError

    begin = time.monotonic()
    if _left[0] <= 0:
        raise TimeoutError
    before = signal.signal(signal.SIGALRM, end)
    try:
        signal.setitimer(signal.ITIMER_REAL, _left[0])
        return any(find(name) for name in names)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        _left[0] -= time.monotonic() - begin


def _other_names(host: Host) -> list[str]:
    return [name for names in host.matchers.names.values() for name in names]


def fits_word(host: Host, event: str, matcher: str | None, word: str) -> bool:
    """Whether a matcher fits the word that an event without a tool is about, if that counts."""
    if event not in host.matchers.words and not host.matchers.every_event:
        return True
    if host.matchers.exact_words:
        return matcher is None or matcher.strip() in (*FOR_ALL, word)
    return fits(host, matcher, [word])


def sent_names(host: Host, name: str) -> list[str]:
    """The names that the host sends for the tools which a matcher may call so, or the name."""
    fold = str.lower if host.matchers.any_case else str
    sent = {tool: [tool, *host.matchers.names.get(tool, ())] for tool in _sent_tools(host)}
    meant = [tool for tool, names in sent.items() if fold(name) in map(fold, names)]
    return meant or [name]


def _reason(host: Host, matcher: str, what: str) -> str:
    return f"the matcher {json.dumps(matcher)} matches no tool of {host.title}, {what}"


def _sent_tools(host: Host) -> list[str]:
    return [tool for kind, tools in host.tools.items() if kind != "mcp" for tool in tools]


def _own_tools(host: Host) -> list[str]:
    return [*_sent_tools(host), *_other_names(host)]


def _tools_instead(host: Host, name: str) -> list[str] | None:
    """The tools with the purpose or nearly the spelling of a name; None where it is unknown."""
    mcp = re.fullmatch(_MCP_NAME, name)
    if mcp and "mcp" in host.tools:
        (form,) = host.tools["mcp"]
        return [form.format(server=mcp[1], tool=mcp[2] or ".*")]
    found, is_known = [], False
    plain = name.replace("_", "").lower()
    for other in map(hosts.load, hosts.names()):
        kinds = []
        for kind, tools in other.tools.items():
            aliases = other.matchers.names
            called = [each for tool in tools for each in (tool, *aliases.get(tool, ()))]
            if plain in [each.replace("_", "").lower() for each in called]:
                kinds.append(kind)
        if kinds and kinds[0] in host.tools:  # one tool may have several purposes
            is_known = True
            found += host.tools[kinds[0]]
    own = _own_tools(host)
    found += difflib.get_close_matches(name, own, 1, 0.75)
    found += [] if host.matchers.parts else [tool for tool in own if tool.startswith(name)]
    return found if found or is_known else None
