"""Whether a matcher of Claude Code's settings fits: names, `A|B`, or an expression."""

PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-|, ")
FORMER = {"Task": "Agent"}  # a tool's name in earlier versions


def matches(matcher, name):
    """Does it fit a name? An empty one and `*` fit all; an invalid expression fits none.

    An expression may fit a part of the name, as it is not anchored.
    """
    if matcher in ("", "*"):
        return True
    if PLAIN.issuperset(matcher):
        names = [part.strip() for part in matcher.replace(",", "|").split("|")]
        return name in names or name in [FORMER.get(part) for part in names]
    import re

    try:
        return re.search(matcher, name) is not None
    except (re.error, RecursionError, OverflowError):
        return False
