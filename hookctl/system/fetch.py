"""Fetches one commit of a git repository, and gives the bytes of files in it.

Nothing of the repository runs, and nothing of it is checked out: git fetches into an empty bare
repository of ours, whose configuration is the only one that git reads, and prints the bytes of
single files. So there are no hooks, submodules or filters, and no names meet on a disk.
"""

import contextlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from hookctl.errors import HookctlError, usage_error
from hookctl.model import GIT, LIMIT, Release
from hookctl.system import owners
from hookctl.system.files import PRIVATE, folder_in, sweep, write_tree
from hookctl.system.folders import Folders
from hookctl.system.processes import Keeper
from hookctl.system.project import safe_path, search

MOST = 4 * LIMIT  # bytes that a fetch may bring
PATIENCE = 120.0  # seconds for all of it
MEMORY = "128m"  # for one object, which may grow a thousandfold when it is unpacked
_REF = "refs/hookctl/pack"
# Variables that say how the network is reached; every other one stays away from git.
_NETWORK = ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
# The certificates to trust, as other programs are told them, and as git is.
_CERTIFICATES = {"SSL_CERT_FILE": "GIT_SSL_CAINFO", "SSL_CERT_DIR": "GIT_SSL_CAPATH"}
# To bring what is missing in a partial clone on this machine, an older git runs a program that the
# clone's configuration names: with no protocol allowed to it, it brings nothing.
_UPLOAD = "--upload-pack=GIT_ALLOW_PROTOCOL=none git-upload-pack"
_SSH = "ssh -a -x -T -o BatchMode=yes -o ClearAllForwardings=yes -o PermitLocalCommand=no"
_CONFIG = """\
[core]
    repositoryFormatVersion = 0
    bare = true
    hooksPath = /dev/null
    attributesFile = /dev/null
    fsmonitor = false
    bigFileThreshold = 1m
[credential]
    helper =
[transfer]
    fsckObjects = true
    unpackLimit = 1
    bundleURI = false
[pack]
    threads = 1
[http]
    lowSpeedLimit = 100
    lowSpeedTime = 30
"""
_TOO_LARGE = ("the repository is larger than 64 MiB", "Tell its author: a pack needs less.")
# What git says where it may write no more.
_CUT = r"died of signal|File too large|\Afatal: fetch-pack: invalid index-pack output\Z"
# And where the repository has not all that is asked for.
_MISSING = r"from promisor remote|remote: fatal: transport '[^']*' not allowed"
_HINT = (
    "Check the address, the revision (a branch, a tag, or a commit with all its 40 digits) and the "
    "network. A private repository needs git+ssh:// and a key in "
    "ssh-agent; SSL_CERT_FILE names the certificates of your authority."
)
_NO_GIT = "Install git, or clone it elsewhere and give the path of the pack in it."
Tell = Callable[[str], None]


OF_THIS_MACHINE = f"{GIT}file:"  # never in a committed record
LATEST = "latest"  # as a revision: the newest tag by version, whatever else has this name
_NO_RELEASE = "Name a tag, a branch or a commit instead of `latest`, or leave out `@latest`."
# A version, and what makes it none that is released: v2.0.0-rc1.
_VERSION = r"(?s)v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,9})(.*)"
_HOST = r"(?:[A-Za-z0-9][A-Za-z0-9.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?"
_PART = r"(?!(?i:\.git|\.\.?)(?:/|$))[A-Za-z0-9._-]+"  # of a path in the repository
_ADDRESS = rf"""(?x)
    git\+(?P<url>
        (?:https://{_HOST}|ssh://(?:[A-Za-z0-9_][A-Za-z0-9._-]{{0,63}}@)?{_HOST}|file://)
        (?:/(?!\.\.?(?:[/@\#]|$))[A-Za-z0-9._~+-]+)+/*
    )
    # A revision is no option, no range, and no two names for git.
    (?:@(?P<revision>
        (?![^\#]*(?:\.\.|//))[A-Za-z0-9_][A-Za-z0-9._+/-]{{0,199}}(?<![/.])(?<!\.lock)
    ))?
    (?:\#subdirectory=(?P<folder>{_PART}(?:/{_PART})*/?))?
"""
_SPELLING = (
    "Use git+https://HOST/REPO[@REV][#subdirectory=PATH], git+ssh or git+file, in plain letters. "
    "No user or password: it is recorded, and a private repository needs git+ssh."
)


class Address(NamedTuple):
    """A pack's place in a git repository."""

    text: str  # as it was typed, and as it is recorded
    url: str
    revision: str = ""  # a branch, a tag or a commit; empty: the repository's default branch
    folder: str = ""  # in the repository, or a pack file; empty: its top


def is_commit(revision: str) -> bool:
    """Whether a revision is a whole commit id, which never means anything else."""
    return bool(re.fullmatch(r"[0-9a-f]{40}", revision))


def parse_address(text: str) -> Address:
    """The address that a text spells; else a usage error, which repeats no password."""
    match = re.fullmatch(_ADDRESS, text) if len(text) <= 2000 else None
    if not match:
        shown = re.sub("://.*[:@?].*", "://***", ascii(text[:120])[1:-1])
        raise usage_error(f"no git address: {shown}", _SPELLING)
    return Address(text, match["url"], match["revision"] or "", match["folder"] or "")


def find_release(tags: Mapping[str, str]) -> Release:
    """The newest version among the names of tags, which have the ids of their commits.

    A pre-release, and a name that is no version, is skipped.
    """
    releases, others = list[tuple[list[int], str]](), list[tuple[list[int], str]]()
    for name in tags:
        match = re.fullmatch(_VERSION, name)
        numbers = [int(number) for number in match[1].split(".")] if match else []
        (releases if match and not match[2] else others).append((numbers, name))
    releases.sort()
    newest, tag = releases[-1] if releases else ([], "")
    skipped = [
        name for numbers, name in sorted(others, reverse=True) if not numbers or numbers > newest
    ]
    return Release(tag, {tags[name]: name for _, name in releases}, _list_few(skipped))


def _list_few(names: Sequence[str]) -> str:
    # A server could put a sentence into a name.
    few = [name if re.fullmatch("[!-~]{1,60}", name) else ascii(name[:60]) for name in names[:3]]
    return ", ".join(few + [f"{len(names) - 3} more"] * (len(names) > 3))


class TreeEntry(NamedTuple):
    """A file or folder of a commit."""

    name: str
    mode: str  # as git has it: 100644, 100755, 120000 (a link), 160000 (a submodule), 040000
    object: str
    size: int  # bytes; 0 of a folder

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file."""
        return self.mode in ("100644", "100755", "100664")

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of the same repository."""
        return self.mode == "040000"


class Commit:
    """One commit in an empty repository of ours; its files can be read as long as it is open."""

    id = ""
    release: Release | None = None  # where the address has `@latest`

    def __init__(self, folder: str, address: Address, folders: Folders) -> None:
        """Make the repository, and the environment that says nothing else."""
        self._folder, self._address, self._begin = folder, address, time.monotonic()
        for name in ("git/objects", "git/refs", "home"):
            os.makedirs(os.path.join(folder, name))
        repository, home = os.path.join(folder, "git"), os.path.join(folder, "home")
        contents = {"HEAD": b"ref: refs/heads/none\n", "config": _CONFIG.encode()}
        write_tree(repository, contents, PRIVATE)
        path = safe_path(folders.environ, search(folders.cwd, folders.environ))
        self._program = shutil.which("git", path=path)
        environ = folders.environ
        known = (*_NETWORK, *map(str.lower, _NETWORK), "SSH_AUTH_SOCK")
        self._environ = {
            **{name: environ[name] for name in known if environ.get(name)},
            **{ours: environ[name] for name, ours in _CERTIFICATES.items() if environ.get(name)},
            "PATH": path,
            "HOME": home,
            "XDG_CONFIG_HOME": home,
            "TMPDIR": home,
            "LC_ALL": "C",
            "GIT_DIR": repository,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_ALLOW_PROTOCOL": address.url.partition(":")[0],
            "GIT_PROTOCOL_FROM_USER": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "GIT_SSH_COMMAND": _SSH,
            "GIT_SSH_VARIANT": "ssh",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_ALLOC_LIMIT": MEMORY,
        }

    def find(self, path: str) -> TreeEntry | None:
        """The file or folder at a path, no link followed; None where there is none."""
        return next((entry for entry in self.list_folder("", path) if entry.name == path), None)

    def list_folder(self, folder: str, *paths: str) -> list[TreeEntry]:
        """What lies in a folder of it, '' for the top; or of that only these paths."""
        tree = f"{self.id}:{folder}"
        data = self._read("ls-tree", "-z", "-l", "--full-tree", tree, "--", *paths)
        entries = []
        for line in data.split(b"\0")[:-1]:
            about, _, name = line.partition(b"\t")
            mode, _, id, size = about.decode().split()
            number = int(size) if size.isdecimal() else 0
            entries.append(TreeEntry(os.fsdecode(name), mode, id, number))
        return entries

    def read(self, entry: TreeEntry) -> bytes:
        """The bytes of a file."""
        return self._read("cat-file", "blob", entry.object)

    def fetch(self) -> None:
        """Fetch the revision, and nothing before it."""
        wanted = self._address.revision or "HEAD"
        upload = [_UPLOAD] if self._address.url.startswith("file:") else []
        where = [*upload, "--", self._address.url]
        if wanted == LATEST:
            self.release = self._find_release(where)
            wanted = f"refs/tags/{self.release.tag}"
        options = ["--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--quiet"]
        self._read("fetch", *options, *where, f"+{wanted}:{_REF}")
        self.id = (
            self._read("rev-parse", "--verify", "--quiet", f"{_REF}^{{commit}}").decode().strip()
        )
        if not is_commit(self.id) or (is_commit(wanted) and self.id != wanted):
            hint = "Name a branch, a tag or a commit."
            raise self._error(f"{wanted} is no commit of the repository", hint)

    def _find_release(self, where: Sequence[str]) -> Release:
        listed = self._read("ls-remote", "--tags", *where).decode("utf-8", "replace")
        rows = [line.partition("\trefs/tags/") for line in listed.split("\n")]
        # Behind an annotated tag comes its commit.
        release = find_release({name.removesuffix("^{}"): id for id, _, name in rows if name})
        if not release.tag:
            message = f"no tag of the repository is a version; it has {release.skipped or 'none'}"
            raise self._error(message, _NO_RELEASE)
        return release

    def _read(self, *arguments: str) -> bytes:
        """What git prints."""
        if not self._program:
            raise self._error("git is not installed", _NO_GIT, "git_missing")
        seconds = PATIENCE - (time.monotonic() - self._begin)
        with (
            tempfile.TemporaryFile(dir=self._folder) as said,
            tempfile.TemporaryFile(dir=self._folder) as output,
            Keeper() as keeper,
        ):
            try:
                status = keeper.run(
                    [self._program, *arguments],
                    self._environ,
                    output.fileno(),
                    seconds,
                    errors=said.fileno(),
                    cwd=self._environ["GIT_DIR"],
                    prepare=_limit,
                )
            except TimeoutError:
                message = f"git was not done after {PATIENCE:.0f} seconds"
                raise self._error(message, "Check the network, and try again.") from None
            except OSError as error:
                message = f"git cannot be started ({error.strerror})"
                raise self._error(message, _NO_GIT, "git_missing") from None
            if status:
                said.seek(0)
                raise self._explain(said.read(64 * 1024).decode("utf-8", "replace"))
            if output.seek(0, os.SEEK_END) > LIMIT:
                hint = "Name a folder in it, and a tag."
                raise self._error("the repository has too many files or tags", hint)
            output.seek(0)
            return output.read()

    def _explain(self, said: str) -> HookctlError:
        """The error for what git says, and the server, who could say anything."""
        lines = list(filter(None, said.splitlines()))
        if re.search(_CUT, "\n".join(lines)):
            return self._error(*_TOO_LARGE)
        if re.search(_MISSING, said):
            hint = "Make a whole clone, and give its path."
            return self._error("the repository is a partial clone", hint)
        fatal = [line for line in lines if line.startswith("fatal: ")] or lines[-1:]
        reason = "".join(fatal[:1]).removeprefix("fatal: ")[:200]
        return self._error(f"git cannot fetch it: {reason}", _HINT)

    def _error(self, message: str, hint: str, code: str = "fetch_failed") -> HookctlError:
        return HookctlError(code, message, path=self._address.text, hint=hint)


def _limit() -> None:
    """In the child: no file larger than a fetch may be, and no dump of memory."""
    import resource  # late: Windows has none

    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    most = MOST if hard == resource.RLIM_INFINITY else min(MOST, hard)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextlib.contextmanager
def fetched(address: Address, folders: Folders, tell: Tell) -> Iterator[Commit]:
    """The commit that an address means now; `tell` gets a line, since it may take long."""
    own = address.url.removeprefix("file://")
    for path in (own, os.path.join(own, ".git")) if own.startswith("/") else ():
        with contextlib.suppress(OSError):  # git says so
            status = os.stat(path)
            if owners.is_foreign(status):  # who could fill it while git reads it
                message = f"this repository belongs to {owners.user_name(status.st_uid)}"
                hint = "Clone it as yourself, and give the path of the pack in it."
                raise HookctlError("fetch_failed", message, path=address.text, hint=hint)
    owners.require_own_home(folders.cache)
    sweep(folders.cache)  # what a command that was killed has left
    with folder_in(folders.cache, "git") as folder:
        commit = Commit(folder, address, folders)
        tell(f"fetching {address.url}")
        commit.fetch()
        yield commit
