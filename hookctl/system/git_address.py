"""Where a pack lies in a git repository: `git+https://HOST/REPO[@REV][#subdirectory=PATH]`.

Spelled as pip and uv do. An address is printed, recorded and given to git, so it is of few
characters, has no password, and no part of it can be taken for an option.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hookctl.errors import HookctlError, usage_error
from hookctl.model import GIT

OF_THIS_MACHINE = f"{GIT}file:"  # never in a committed record
_SCHEMES = ("https", "ssh", "file")
_FORM = "git+https://HOST/REPO[@REV][#subdirectory=PATH]"
_HOST = r"(?:[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?"
_USER = r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}"
_PART = r"[A-Za-z0-9._~+-]+"  # of a path in a URL
_WORD = r"[A-Za-z0-9._-]+"  # of a path in a repository, or of a revision
_REVISION = r"[A-Za-z0-9_][A-Za-z0-9._+/-]{0,199}"
_COMMIT = r"[0-9a-f]{40}"
_LONGEST = 2000  # characters


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
    rest, mark, fragment = text.removeprefix(GIT).partition("#")
    scheme, _, rest = rest.partition("://")
    if scheme not in _SCHEMES:
        raise _refuse(f"no git address: {_safe(text)}", "Use git+https, git+ssh or git+file.")
    if len(text) > _LONGEST:
        raise _refuse("the git address is too long", f"Use {_FORM}.")
    authority, slash, path = rest.partition("/")
    _check_authority(scheme, authority)
    path, at, revision = path.rpartition("@") if "@" in path else (path, "", "")
    _check_path(text, path)
    if at:
        _check_revision(revision)
    folder = fragment.removeprefix("subdirectory=")
    if mark and (folder == fragment or not _is_inside(folder)):
        message = f"no folder of a repository: #{_shown(fragment)}"
        raise _refuse(message, "Write #subdirectory=PATH, without `..` and behind no other word.")
    return Address(text, f"{scheme}://{authority}{slash}{path}", revision, folder)


def _check_authority(scheme: str, authority: str) -> None:
    """Refuse a host that is none, and every password: an address is shown and recorded."""
    user, at, host = authority.rpartition("@")
    if at and (scheme != "ssh" or ":" in user):
        message = f"the git address has a user or password before {_shown(host)}"
        hint = "Leave it out: addresses are recorded. For a private repository use git+ssh://."
        raise _refuse(message, hint)
    if scheme == "file":
        is_valid = not authority
    else:
        is_valid = bool(re.fullmatch(_HOST, host)) and (not at or re.fullmatch(_USER, user))
    if not is_valid:
        hint = "Write git+file:///PATH." if scheme == "file" else f"Use {_FORM}."
        named = _shown(re.sub(":.*[^0-9].*", ":***", authority))  # a password may have a slash
        raise _refuse(f"no host of a git address: {named}", hint)


def _check_path(text: str, path: str) -> None:
    parts = path.rstrip("/").split("/")
    if not all(re.fullmatch(_PART, part) and part not in (".", "..") for part in parts):
        hint = "Its path may have letters, digits and . _ ~ + - in it, no `..`, and no ? or %."
        raise _refuse(f"no git address: {_safe(text)}", hint)


def _check_revision(revision: str) -> None:
    """Refuse what git could take for an option, a range or two names."""
    is_odd = ".." in revision or "//" in revision or revision.endswith(("/", ".", ".lock"))
    if is_odd or not re.fullmatch(_REVISION, revision):
        hint = "Behind @ stands a branch, a tag or a commit, in plain letters."
        raise _refuse(f"no revision: {_shown(revision)}", hint)


def _is_inside(folder: str) -> bool:
    """Whether a path stays in the repository, and in no `.git`."""
    parts = folder.removesuffix("/").split("/")
    if not all(re.fullmatch(_WORD, part) for part in parts):
        return False
    return {".", "..", ".git"}.isdisjoint(part.lower() for part in parts)


def _refuse(message: str, hint: str) -> HookctlError:
    return usage_error(message, hint)


def _safe(text: str) -> str:
    """The text without what may be a password: a part before @, and what follows a ?."""
    return re.sub(r"://[^/]*@", "://***@", _shown(text.partition("?")[0]))


def _shown(text: str) -> str:
    """A text on one line, in plain characters."""
    return ascii(text[:120])[1:-1]
