"""Addresses of packs in git repositories."""

from __future__ import annotations

import re
from typing import NamedTuple

from hookctl.errors import usage_error
from hookctl.model import GIT

OF_THIS_MACHINE = f"{GIT}file:"  # never in a committed record
_HOST = r"(?:[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?"
_USER = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_PATH = r"(?:/(?!\.\.?(?:[/@#]|$))[A-Za-z0-9._~+-]+)+/*"
# No option, no range, and no two names for git.
_REVISION = r"(?![^#]*(?:\.\.|//))[A-Za-z0-9_][A-Za-z0-9._+/-]{0,199}(?<![/.])(?<!\.lock)"
_PART = r"(?!(?i:\.git|\.\.?)(?:/|$))[A-Za-z0-9._-]+"  # of a path in the repository
_ADDRESS = (
    rf"git\+(?P<url>(?:https://{_HOST}|ssh://(?:{_USER}@)?{_HOST}|file://){_PATH})"
    rf"(?:@(?P<revision>{_REVISION}))?(?:#subdirectory=(?P<folder>{_PART}(?:/{_PART})*/?))?"
)
_COMMIT = r"[0-9a-f]{40}"
_LONGEST = 2000  # characters
_HINT = (
    "Use git+https://HOST/REPO[@REV][#subdirectory=PATH], git+ssh or git+file, in plain letters. "
    "No user or password: it is recorded, and a private repository needs git+ssh."
)


class Address(NamedTuple):
    """A pack's place in a git repository."""

    text: str  # as it was typed, and as it is recorded
    url: str
    revision: str = ""  # a branch, a tag or a commit; empty: the repository's default branch
    folder: str = ""  # in the repository, or a pack file; empty: its top

    @property
    def scheme(self) -> str:
        """How git reaches it: https, ssh or file."""
        return self.url.partition(":")[0]

    @property
    def path(self) -> str:
        """The repository's folder on this machine, for git+file alone."""
        return self.url.removeprefix("file://")


def is_commit(revision: str) -> bool:
    """Whether a revision is a whole commit id, which never means anything else."""
    return bool(re.fullmatch(_COMMIT, revision))


def parse(text: str) -> Address:
    """The address that a text spells; else a usage error, which repeats no password."""
    match = re.fullmatch(_ADDRESS, text) if len(text) <= _LONGEST else None
    if not match:
        shown = re.sub("://.*[:@?].*", "://***", ascii(text[:120])[1:-1])
        raise usage_error(f"no git address: {shown}", _HINT)
    return Address(text, match["url"], match["revision"] or "", match["folder"] or "")
