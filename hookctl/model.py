"""The values that the rooms pass to each other: frozen, and without behaviour."""

from collections.abc import Callable
from typing import Any, NamedTuple

Path = tuple[str | int, ...]
HEAD = ": hookctl="  # how the command of each of our hooks begins
# The start of the id of another tool's hook that we wrap; only its command is ours.
WRAP = "guard/wrap-"
INTERRUPTED = "interrupted_run"  # the code of messages on what an interrupted run left to do
GIT = "git+"  # how the address of a pack from git begins; no absolute path does
OURS = "hookctl:"  # and how the source of a pack that comes along, before its name
LIMIT = 16 * 1024 * 1024  # bytes of a file; no settings file seen was larger than 0.1 MB


class Wanted(NamedTuple):
    """One entry that a pack wants in a settings file."""

    path: Path  # leaf: the key; element: the array that it goes into
    kind: str  # leaf | element
    value: Any  # leaf: the value; element: its fields
    id: str = ""  # element: PACK/ID
    # element: gives a regular expression for every command that a released version wrote
    forms: Callable[[], str] = str
    merge: str = ""  # leaf: max | min | first, where several packs may want the key
    follows: Path = ()  # leaf: the one that decides its value, by what stands there after the run
    value_after: Callable[[Any], Any] | None = None  # leaf: the value, from that of the other one


class PathFault(NamedTuple):
    """The first part of a path that another user could change, why, and the command against it."""

    path: str
    reason: str
    fix: str


class HookEntry(NamedTuple):
    """One of our hooks in a settings file, recognised by the head of its command."""

    path: Path
    id: str
    fields: dict[str, Any]

    @property
    def pack(self) -> str:
        """The pack that the hook belongs to, by its id."""
        return self.id.partition("/")[0]


class Current(NamedTuple):
    """The current values of a settings file that concern us: parsed, never bytes."""

    values: dict[Path, Any]  # leaves and containers that are present
    raw: dict[Path, str]  # source text of the same leaves, and of the elements
    hooks: dict[str, list[HookEntry]]  # ours, by their id, in the order of the file


class Claim(NamedTuple):
    """What one pack wants an entry to be."""

    value: Any
    merge: str = ""  # max | min | first; it holds where all owners have the same


class Entry(NamedTuple):
    """What we wrote at one path of a settings file, for which packs, and what was there before."""

    path: Path
    kind: str  # leaf | element | container
    mode: str = "owned"  # owned | adopted
    # Source text, of a container that of a null; None: nothing was there.
    before: str | None = None
    written: Any = None
    owners: dict[str, Claim] = {}  # noqa: RUF012 (never changed in place)
    id: str = ""


class Consent(NamedTuple):
    """What a person on this machine agreed to when a pack that is not built in was installed."""

    digest: str = ""  # of the pack's file and its files; empty: no person was asked
    env: tuple[str, ...] = ()  # names of variables that --allow-env let in
    source: str = ""  # the git address that it was fetched from; empty for a path


class PackRecord(NamedTuple):
    """A pack as it is installed in one settings file."""

    version: str
    settings: dict[str, Any]
    folder: str = ""  # where its runtime files lie
    files: tuple[str, ...] = ()  # their names there
    former: tuple[str, ...] = ()  # what 0.2.0 laid below it, for sessions that were open then
    # The pack's own file or git address; empty for a built-in pack, and where a project's lies
    # outside of it on another machine.
    source: str = ""
    digest: str = ""  # of all that the pack brought (files.content_digest)
    consent: Consent = Consent()  # never committed: it holds on this machine only
    commit: str = ""  # of a pack from git

    @property
    def config(self) -> str:
        """The path of the guard's configuration; '' where none was written."""
        is_guard = "config" in self.settings
        names = [name for name in self.files if is_guard and name.endswith(".json")]
        return f"{self.folder}/{names[0]}" if names else ""


class Release(NamedTuple):
    """The tag that `@latest` means, and what else a repository has."""

    tag: str  # empty: none of its tags is a version
    tags: dict[str, str]  # the newest version at each commit
    skipped: str  # in words: what could be taken for something newer, or for a version


class Record(NamedTuple):
    """What the ledger has about one settings file."""

    host: str
    scope: str
    format: str
    created_file: bool = False
    created_dirs: tuple[str, ...] = ()
    packs: dict[str, PackRecord] = {}  # noqa: RUF012
    # Of the bytes before our first write; empty: another program wrote in between, or no file.
    sha256_before: str = ""
    sha256_after: str = ""  # of the bytes that our last write left
    entries: tuple[Entry, ...] = ()
    known_as: str = ""  # the path as the host has it; links are not resolved, since they may change
    project: str = ""  # the project's real path; empty at user scope
    # The arrays in which an empty group of ours keeps the later groups at their index.
    gaps: tuple[Path, ...] = ()


# The changes to a document that the engine decides on.


class Put(NamedTuple):
    """Set a leaf to a value, or to the source text `raw` that was there before."""

    path: Path
    value: Any = None
    raw: str | None = None


class DropValue(NamedTuple):
    """Remove a leaf."""

    path: Path


class AddHook(NamedTuple):
    """Append a hook, in a group of its own, to the array at path; or fill a placeholder of it."""

    path: Path
    fields: dict[str, Any]
    placeholder: int | None = None  # its index


class EditHook(NamedTuple):
    """Set these fields of a hook; a field that is None is removed."""

    element: HookEntry
    fields: dict[str, Any]


class DropHook(NamedTuple):
    """Remove a hook, and its group if nothing of the operator's is left in it."""

    element: HookEntry


class CloseGap(NamedTuple):
    """Remove the last group of an array: an empty one of ours with no group behind it any more."""

    path: Path


class Prune(NamedTuple):
    """Remove a container if it is empty, or put back the null `raw` that it was before us."""

    path: Path
    raw: str | None = None


Edit = Put | DropValue | AddHook | EditHook | DropHook | CloseGap | Prune


class Action(NamedTuple):
    """One line of a plan or a report: what happens to one entry, or why it is left alone."""

    # write, replace, remove, adopt, share, take-back, drop, keep;
    # create-file, replace-file, remove-file
    action: str
    path: Path
    kind: str = "leaf"
    id: str = ""
    from_state: str = ""
    to_state: str = ""
    reason: str = ""
    owners: tuple[str, ...] = ()


class Decision(NamedTuple):
    """What the engine decides about one settings file."""

    edits: tuple[Edit, ...] = ()
    entries: tuple[Entry, ...] = ()
    actions: tuple[Action, ...] = ()
    # What packs want differently: by the path, then by the pack.
    conflicts: dict[Path, dict[str, Any]] = {}  # noqa: RUF012 (never changed in place)


class Change(NamedTuple):
    """One file of a run: from these bytes to those; None stands for no file."""

    path: str  # real path, every link resolved
    before: bytes | None
    after: bytes | None
    mode: int = 0o600  # of a new file
    chmod: int | None = None  # of an existing file; None: it keeps its own
    settings: bool = False  # a host's settings file, to be backed up; else our own file


class Line(NamedTuple):
    """A line for people in plain words; how it is shown is the matter of `output`."""

    text: str
    mark: str = ""  # ok, warn, error or skip
    indent: int = 0  # columns, behind the place of the mark
    label: str = ""  # a word before the text, which further lines of the text leave free
    path: str = ""  # dimmed, on a line of its own where it does not fit
    sign: str = ""  # + added, - removed, ~ changed, = left alone


class Message(NamedTuple):
    """A warning or a note on what a command does; no error."""

    text: str
    code: str
    level: str = "warning"  # warning | info
    host: str = ""
    path: str = ""  # of the settings file


class Result(NamedTuple):
    """What a verb returns: data for machines, text for people, messages for stderr."""

    data: dict[str, Any]
    text: tuple[str | Line, ...] = ()  # plain text is shown as it is, a Line is fitted
    messages: tuple[Message, ...] = ()
    errors: tuple[dict[str, Any], ...] = ()  # as HookctlError.as_dict has them
    exit_code: int = 0
    verbatim: bool = False  # the text is a file, which is of no use when masked
