"""Asks git which files it ignores, without running any program that the repository names.

A repository's configuration can name programs (core.fsmonitor, pagers, filters, transports), and
one that was unpacked from an archive comes with a configuration. So git gets an empty repository of
ours; of the real one it sees the ignore files and the index, never the configuration.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from hookctl.errors import HookctlError, usage_error
from hookctl.model import GIT, IgnoreRule
from hookctl.system import files
from hookctl.system.files import private_folder
from hookctl.system.project import find_repository, safe_path

_PATIENCE = 10.0  # seconds: an ignore file may be a pipe


def find_ignored(
    project: str, paths: Iterable[str], environ: Mapping[str, str], state: str
) -> tuple[IgnoreRule, ...]:
    """The rules by which git ignores some of these files of a project, the user's own too."""
    return fold(project, find_rules(project, paths, environ, state, personal=True) or {})


def find_rules(
    project: str, paths: Iterable[str], environ: Mapping[str, str], state: str, *, personal: bool
) -> dict[str, tuple[str, int]] | None:
    """Those of these files that git ignores, each with file and line of the rule; None: unknown."""
    top = find_repository(project)
    program = shutil.which("git", path=safe_path(environ, project)) if top else None
    names = {}
    for path in paths:
        real = os.path.realpath(path)
        if top and real.startswith(f"{top.rstrip('/')}/"):
            names[os.path.join(".", os.path.relpath(real, top))] = path
    if not program or not names:
        return None
    try:
        with private_folder("git", state) as folder:
            answer = _ask(program, top, names, folder, environ, personal)
    except (HookctlError, OSError, subprocess.TimeoutExpired):
        return None
    rules = {}
    for path, line, pattern, name in zip(*[iter(answer)] * 4, strict=False):
        if not pattern.startswith("!"):  # a rule that takes a file back in
            rules[names[name]] = os.path.join(top, path), int(line)
    return rules


def fold(project: str, rules: Mapping[str, tuple[str, int]]) -> tuple[IgnoreRule, ...]:
    """The rules that ignore these files of a project, each with one name for a folder of them."""
    ignored: dict[tuple[str, int], dict[str, list[str]]] = {}
    for path, rule in sorted(rules.items()):
        name = os.path.relpath(path, project)
        ignored.setdefault(rule, {}).setdefault(name.split("/")[0], []).append(name)
    return tuple(
        IgnoreRule(*rule, tuple(map(os.path.commonpath, folders.values())))
        for rule, folders in ignored.items()
    )


def _ask(
    program: str,
    top: str,
    names: Iterable[str],
    folder: str,
    environ: Mapping[str, str],
    personal: bool,
) -> list[str]:
    """The output of `git check-ignore --verbose`: file, line, pattern and name for each name."""
    safe = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    if not personal:
        safe |= {"HOME": folder, "XDG_CONFIG_HOME": folder, "GIT_CONFIG_NOSYSTEM": "1"}
    # A linked work tree has a file there, which points to its own folder with the index; that one
    # points to the folder that all work trees share.
    mark = os.path.join(top, ".git")
    own = _follow(mark, "gitdir: ", mark)
    common = _follow(os.path.join(own, "commondir"), "", own)
    empty = os.path.join(folder, ".git")
    for name in ("objects", "refs", "info"):
        os.makedirs(os.path.join(empty, name))
    with open(os.path.join(empty, "HEAD"), "w", encoding="utf-8") as file:
        file.write("ref: refs/heads/main\n")
    exclude = os.path.join(common, "info", "exclude")
    copied = os.path.join(empty, "info", "exclude")
    with open(copied, "wb") as rules:
        rules.write(files.read(exclude).data or b"")
    variables = {
        **safe,
        "GIT_DIR": empty,
        "GIT_WORK_TREE": top,
        "GIT_INDEX_FILE": os.path.join(own, "index"),
        "GIT_OPTIONAL_LOCKS": "0",
    }
    command = [program, "-c", "core.fsmonitor=false", "check-ignore", "--verbose", "-z", "--stdin"]
    done = subprocess.run(
        command,
        input=os.fsencode("\0".join(names)),
        capture_output=True,
        cwd=top,
        env=variables,
        timeout=_PATIENCE,
        check=False,
    )
    fields = os.fsdecode(done.stdout).split("\0")
    return [exclude if field == copied else field for field in fields[:-1]]


def _follow(mark: str, head: str, usual: str) -> str:
    """The folder that a file points to behind this head; the usual one where there is no file."""
    if not os.path.isfile(mark):
        return usual
    with open(mark, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read(4096).strip().removeprefix(head)
    return os.path.normpath(os.path.join(os.path.dirname(mark), text))


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
