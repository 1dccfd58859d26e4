"""What keeps a host's hooks from running here: switches, missing trust, files of no use to it.

A host's file says which settings those are. A place of a switch is a settings file, or a variable.
"""

import glob
import json
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from hookctl.documents import MISSING, Document, value_at
from hookctl.errors import HookctlError
from hookctl.hosts import (
    Host,
    codex,
    config_folder,
    config_of,
    load,
    loading,
    managed_layout,
    shapes,
)
from hookctl.hosts.model import Table
from hookctl.model import HookEntry, Path
from hookctl.settings.targets import (
    GUARD,
    Read,
    active_file,
    all_files,
    read_settings,
    readable,
    variant_of_file,
)
from hookctl.system import files
from hookctl.system.folders import Folders

UNKNOWN = "nobody has approved it"
CHANGED = "it was changed since it was approved"
OFF = "off"  # the operator switched it off
_YES = ("1", "true", "yes", "on")
_NO = ("0", "false", "no", "off")


class Switch(NamedTuple):
    """A place where a switch is set."""

    rule: Table
    scope: str  # empty for a variable
    path: str  # of the file; empty for a variable
    name: str  # the key as people write it, or $VARIABLE
    value: Any
    counts: bool = True  # whether no stronger place has it

    @property
    def said(self) -> str:
        """The key with its value, as people write it."""
        verb = "has" if self.rule.reach in ("names", "rules") else "is"
        return f"{self.name} {verb} {json.dumps(self.value)}"

    @property
    def where(self) -> str:
        """Where it is set, in words."""
        return f"in {self.path}" if self.path else "in the environment"


# Scope, the path of a file or $VARIABLE, and the layout of a file that may have hooks, too.
_Place = tuple[str, str, Host | None]


# What is set


def find(
    folders: Folders,
    host: Host,
    user: str,
    start: str,
    scopes: Collection[str],
    read: Read = read_settings,
) -> tuple[Switch, ...]:
    """The switches of a host that are set where it is started, of each the winning place first.

    `user` is the path of the user's settings file. Other `scopes` are left out; '' is a variable's.
    """
    if not host.switches:
        return ()
    environ, settings = folders.environ, list[_Place]()
    for scope in [scope for scope in host.scope_rules.precedence if scope in scopes]:
        for layout, path in find_files(folders, host, scope, user, start, read):
            settings.append((scope, path, layout))
    found: list[Switch] = []
    opened: dict[str, Document | str | None] = {}
    for rule in host.switches:
        for scope, path, layout in _list_places(rule, settings, host, user, start, environ):
            if scope in scopes and path not in opened:
                opened[path] = _open(path, environ, read, layout)
            value = _look_up(rule, opened[path]) if scope in scopes else MISSING
            if value is MISSING:
                continue
            is_variable, values = path.startswith("$"), [value]
            if rule.reach == "names":  # of a list one for each
                entries = value if isinstance(value, list) else []
                values = [entry for entry in entries if isinstance(entry, str)]
            same = [(rule.key, "host") == (other.rule.key, other.rule.reach) for other in found]
            counts = rule.reach != "host" or not any(same)
            name, file = (path, "") if is_variable else (".".join(rule.key), path)
            found += [Switch(rule, scope, file, name, each, counts) for each in values]
    return tuple(found)


def _list_places(
    rule: Table,
    settings: Sequence[_Place],
    host: Host,
    user: str,
    start: str,
    environ: Mapping[str, str],
) -> Iterator[_Place]:
    by_path = {place[1]: place for place in settings}
    for pattern in rule.files:
        if pattern.startswith("$"):
            yield "", pattern, None
        elif "/" not in pattern:
            yield from (place for place in settings if place[0] == pattern)
        else:
            scope = "project" if pattern.startswith("{project}") else "managed"
            scope = "user" if pattern.startswith(("{config}", "{home}")) else scope
            values = {"home": environ["HOME"], "project": start.rstrip("/")}
            path = pattern.format(config=config_of(host, user), **values)
            folder, _, name = path.rpartition("/")
            found = sorted(glob.glob(f"{glob.escape(folder)}/{name}")) if "*" in name else [path]
            for path in found:
                yield by_path.get(path, (scope, path, None))


def _open(
    place: str, environ: Mapping[str, str], read: Read, layout: Host | None = None
) -> Document | str | None:
    """The document of a path, or the text of a $VARIABLE; None where a host would read nothing.

    `layout` is that of a file with hooks.
    """
    if place.startswith("$"):
        return environ.get(place[1:])
    if not os.path.lexists(place):  # no format is loaded for nothing
        return None
    document = readable(place, layout.format if layout else place.rpartition(".")[2], read)
    return None if document is None or (layout and loading.refusal(layout, document)) else document


def _look_up(rule: Table, place: Document | str | None) -> Any:
    """What an open place says, of a variable whether it says yes or no; or MISSING."""
    value: Any = place or ""
    if isinstance(place, Document):
        value = value_at(place.value, tuple(rule.key))
        if rule.key[:1] != ["env"]:
            return value
    word = value.strip().lower() if isinstance(value, str) else ""
    return word in _YES if word in (*_YES, *_NO) else MISSING


def _is_off(rule: Table, value: Any) -> bool:
    values = value if isinstance(value, list) else [value]
    return any(value in rule.off for value in values)


# What follows


def find_stopping(switches: Iterable[Switch], scope: str, path: str) -> Switch | None:
    """The switch that keeps all hooks of a file from running.

    A list of rules has the word on the files of its scope, and of another scope on those it names.
    """
    for switch in switches:
        is_about = switch.rule.reach == "host" or (switch.rule.reach, switch.path) == ("file", path)
        is_minded = is_about and switch.counts and scope not in switch.rule.spares
        if is_minded and _is_off(switch.rule, switch.value):
            return switch
        if switch.rule.reach == "rules" and isinstance(switch.value, list):
            rules = FileRules(os.path.dirname(switch.path), switch.value)
            if switch.scope == scope or rules.names(path):
                off = rules.find_off(path)
                return switch._replace(value=off) if off else None
    return None


def find_refusing(switches: Iterable[Switch], scope: str, url: str) -> Switch | None:
    """The list of URLs that keeps a hook of a scope from being called; any list may allow it."""
    lists = [switch for switch in switches if switch.rule.reach == "urls"]
    for switch in lists:
        for pattern in switch.value if isinstance(switch.value, list) else ():
            if fnmatchcase(url, glob.escape(str(pattern)).replace("[*]", "*")):
                return None
    return next((switch for switch in lists if scope not in switch.rule.spares), None)


# A host's own gates


def read_gate(rule: Table, host: Host, environ: Mapping[str, str], read: Read) -> bool | None:
    """Whether a switch of the host itself is off, by the first place that has it.

    None where no place has it, or says something else than off or a word for on.
    """
    for place in rule.files:
        path = place if place.startswith("$") else place.format(config=config_folder(host, environ))
        value = _look_up(rule, _open(path, environ, read))
        if value is not MISSING:
            return _is_off(rule, value) or (False if isinstance(value, bool) else None)
    return None


# Trust and approval


def closed(
    host: Host, path: str, root: Any, environ: Mapping[str, str], read: Read = read_settings
) -> dict[Path, str]:
    """Why the host skips hooks of a settings file until they are approved, by their paths."""
    trust, root = host.trust, {} if root is MISSING else root
    found: dict[Path, str] = {}
    if trust.config:
        config = _read_host_file(host, trust.config, "toml", environ, read)
        for position, digest in codex.approvals(host.shape, root):
            state = codex.state_path(path, position)
            approved = config.get((*state, "trusted_hash")) if config else MISSING
            if config and config.get((*state, "enabled")) is False:
                found[position] = OFF
            elif approved is MISSING:
                found[position] = UNKNOWN
            elif digest and str(approved) != digest:
                found[position] = CHANGED
    asks = Table("switches", trust.unasked)  # else the host agrees by itself
    if trust.memory and not read_gate(asks, host, environ, read):
        memory = _read_host_file(host, trust.memory, "json", environ, read)
        listed = memory.get(("approvals",)) if memory else []
        told = listed if isinstance(listed, list) else []
        agreed = [(one.get("event"), one.get("command")) for one in told if isinstance(one, dict)]
        for position, handler, _ in shapes.handlers(host.shape, root):
            if (shapes.event_of(host.shape, position), handler.get("command")) not in agreed:
                found[position] = UNKNOWN
    return found


def is_untrusted(
    host: Host, scope: str, folder: str, environ: Mapping[str, str], read: Read = read_settings
) -> bool:
    """Whether the host runs no hook of a scope in a folder, because the folder is not trusted."""
    trust = host.folder_trust
    if scope not in trust.scopes:
        return False
    is_off = read_gate(Table("switches", trust.switch), host, environ, read)
    if is_off or (is_off is None and not trust.on):
        return False
    document = _read_host_file(host, trust.file, trust.format, environ, read)
    return document is None or not _is_trusted(trust, document, folder)


def list_scopes(host: Host, folder: str, environ: Mapping[str, str], read: Read) -> list[str]:
    """The scopes whose settings count in a folder; a project's do where the host trusts it."""
    scopes = ["", "managed", "user", "project", "local"]  # the first is that of variables
    return scopes[:3] if is_untrusted(host, "project", folder, environ, read) else scopes


def _read_host_file(
    host: Host, name: str, format: str, environ: Mapping[str, str], read: Read
) -> Document | None:
    return readable(name.format(config=config_folder(host, environ)), format, read)


def _is_trusted(trust: Table, document: Document, folder: str) -> bool:
    """Whether the folder is trusted, or the nearest folder above where trust is inherited."""
    listed = document.get(tuple(trust.folders))
    folders = listed.items() if isinstance(listed, dict) else ()
    levels: dict[str, Any] = {}
    for name, said in sorted(folders, key=lambda item: item[0] not in trust.trusted):
        if trust.lists:  # a word has its folders; of two words the trusting one, only of real paths
            for path in said if isinstance(said, list) else ():
                if isinstance(path, str) and "\0" not in path and path == os.path.realpath(path):
                    levels.setdefault(path, name)
        elif not trust.level:
            levels[name] = said
        elif isinstance(said, dict):
            levels[name] = said.get(trust.level)
    folder = os.path.realpath(folder)
    by_name = {}
    for name, level in levels.items():
        if not name or "\0" in name or level is None:
            continue
        means_parent = bool(trust.parent) and level == trust.parent
        path = os.path.realpath(os.path.dirname(name) if means_parent else name)
        if path == folder or (trust.inherited and folder.startswith(f"{path.rstrip('/')}/")):
            by_name[name] = level
    return by_name.get(max(by_name, key=len, default="")) in trust.trusted


# Files of which a host takes nothing


def read_fault(host: Host, scope: str, path: str, read: Read) -> loading.Unreadable | None:
    """Why a host takes nothing from the file at a path; None if it does."""
    try:
        snapshot, document = read(path, host.format)
    except HookctlError as error:
        stops = loading.reach_of(host, "text") == loading.CLIENT
        # What hookctl itself does not read, the host may.
        cost = f"; {loading.cost(host)}" if error.line or stops else ""
        text = f"{error.message}{cost}"
        return loading.Unreadable(path, error.line, text, error.code, error.hint, scope, stops)
    return loading.find_fault(host, scope, path, document) if snapshot.data is not None else None


def find_fatal_files(
    folders: Folders, host: Host, user: str, start: str, read: Read
) -> Iterator[loading.Unreadable]:
    """The files of a host that stop its client when it is started in a folder.

    `user` is the path of the user's settings file.
    """
    usual = [*host.layouts(), *filter(None, [host.beside])]
    for scope in host.scope_rules.precedence:
        is_managed = scope == "managed" and host.managed
        layouts = host.managed.layouts() if is_managed else usual
        costs = [cost for layout in layouts for cost in layout.loading.costs]
        is_judged = any(cost.endswith((loading.HOST, loading.CLIENT)) for cost in costs)
        if not is_judged or is_skipped(folders, host, scope, start, read):
            continue  # no file is read for nothing
        for variant, path in find_files(folders, host, scope, user, start, read):
            fault = read_fault(variant, scope, path, read) if os.path.lexists(path) else None
            if fault and fault.stops_client:
                yield fault


def is_skipped(folders: Folders, host: Host, scope: str, start: str, read: Read) -> bool:
    """Whether a host does not even read the files of a scope, in a folder without its trust."""
    return not host.folder_trust.reads and is_untrusted(host, scope, start, folders.environ, read)


# Lists of rules about files


def is_rule(entry: str) -> bool:
    """Whether an entry is a rule, and names no file."""
    return entry.startswith(("-", "+", "!")) or "*" in entry or "?" in entry


class FileRules(NamedTuple):
    """Such a list, and the folder that its paths begin in."""

    folder: str
    entries: Sequence[Any]

    def locate(self, name: str) -> str:
        """The path of a file that the list names."""
        return os.path.normpath(os.path.join(self.folder, os.path.expanduser(name.strip())))

    def names(self, path: str) -> bool:
        """Whether the list names this file."""
        return any(not is_rule(entry) and self.locate(entry) == path for entry in self._texts())

    def find_off(self, path: str) -> str:
        """The rule that switches a file off; '' where it is on."""
        names = (os.path.relpath(path, self.folder), path)
        rules: dict[str, str] = {}
        for entry in self._texts():
            mark, name = entry[0], entry[1:].removeprefix("./")
            if mark == "!":
                fits = any(_fits(name, text) for text in (*names, os.path.basename(path)))
            else:
                fits = mark in "-+" and name in names
            if fits:
                rules.setdefault(mark, entry)
        by_glob = "" if "+" in rules else rules.get("!", "")
        return rules.get("-", by_glob)

    def _texts(self) -> list[str]:
        return [entry for entry in self.entries[:200] if isinstance(entry, str) and entry]


def _fits(glob: str, path: str) -> bool:
    """Whether a glob fits a path, part by part; `**` fits any number that are not hidden."""
    names = path.split("/")
    fitting = {0}  # how many parts of the path may be used up so far
    for part in glob.split("/"):
        if part == "**":
            for used in range(min(fitting, default=len(names)), len(names)):
                if used in fitting and not names[used].startswith("."):
                    fitting.add(used + 1)
        else:
            rest = [used for used in fitting if used < len(names)]
            fits = [used for used in rest if fnmatchcase(names[used], part)]
            names_hidden = part.startswith(".")
            fitting = {used + 1 for used in fits if names_hidden or not names[used].startswith(".")}
    return len(names) in fitting


# The settings in effect: which files a host merges, which one wins, and what the guard gets.

STOP = f"{GUARD}/stop"  # the hook that counts


class Source(NamedTuple):
    """A settings file of some scope that the host reads."""

    scope: str
    path: str
    document: Document
    host: Host  # in the variant of this file


def sources(
    folders: Folders, host: Host, user: str, start: str, read: Read = read_settings
) -> list[Source]:
    """The files that the host reads when started in a folder, the winning ones first.

    `user` is the path of the user's settings file.
    """
    readable_files = []
    for scope in host.scope_rules.precedence:
        for variant, path in find_files(folders, host, scope, user, start, read):
            try:
                snapshot, document = read(path, variant.format)
                # In HOME, the project's settings file is the user's own.
                is_users = scope != "user" and snapshot.path == files.real(user)
            except HookctlError:
                continue
            if is_users or snapshot.data is None or loading.refusal(variant, document):
                continue
            if isinstance(document.value, dict):
                readable_files.append(Source(scope, path, document, variant))
    return readable_files[:1] if host.scope_rules.first_only else readable_files


def find_files(
    folders: Folders, host: Host, scope: str, user: str, start: str, read: Read
) -> list[tuple[Host, str]]:
    """The settings files of a scope, each with the host's variant that matches its layout."""
    if scope == "managed":
        paths = []  # of an administrator on this platform, the winning ones first
        for pattern in reversed(host.managed_files.get(sys.platform, [])):
            paths += reversed(_find_matching(os.path.dirname(pattern), os.path.basename(pattern)))
        return [(managed_layout(host, path), path) for path in paths]
    if scope not in host.scopes:
        return []
    variant, path = variant_of_file(host, user, read), user
    if scope != "user":
        variant, path = active_file(host, scope, folders.environ, start, read)
    found = [(variant, path)]
    if variant.variants:
        candidates = all_files(load(host.name), scope, folders.environ, start, read)
        # It reads them together.
        merges = any(layout.where != "wrapped" for layout in variant.variants)
        if merges and path in [other for _, other in candidates]:
            found += [(layout, other) for layout, other in candidates if other != path]
    if variant.files_beside:
        for other in _find_matching(os.path.dirname(path), variant.files_beside):
            if other != path and os.path.basename(other) not in variant.not_beside:
                found.append((variant, other))
    for pattern in host.other_files.get(scope, ()):  # they may have comments, too
        other = pattern.format(config=config_of(host, user), project=start.rstrip("/"))
        layout = host.beside or managed_layout(host, other)
        found.append((layout._replace(comments=True), other))
    return found


def _find_matching(folder: str, pattern: str) -> list[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder), pattern)))


def text(value: Any) -> str:
    """An env value as the host passes it on."""
    return value if isinstance(value, str) else json.dumps(value)


# What the guard gets


class Value(NamedTuple):
    """A setting as it is in effect, and the file that it comes from, if any."""

    text: str
    source: Source | None
    is_set: bool

    @property
    def path(self) -> str:
        return self.source.path if self.source else ""


def hook_of(source: Source) -> HookEntry | None:
    """The guard's hook on the stop event in a settings file."""
    hooks = shapes.elements(source.host.shape, source.document.value)
    return next((hook for hook in hooks if hook.id == STOP), None)


def env_path(source: Source) -> Path:
    """The map in a settings file that is the environment of the guard's hook; () for none."""
    if not source.host.env_field:
        return source.host.env_path
    hook = hook_of(source)
    return (*hook.path, source.host.env_field) if hook else ()


def variable(found: Sequence[Source], environ: Mapping[str, str], name: str) -> Value:
    """A variable as the hook gets it: from the first of these files that has it, or the shell."""
    for source in found:
        path = env_path(source)
        value = source.document.get((*path, name)) if path else MISSING
        if value is not MISSING:
            return Value(text(value), source, True)
    return Value(environ.get(name, ""), None, name in environ)


def variables(found: Sequence[Source]) -> dict[str, str]:
    """Every variable that settings files give to the hook."""
    texts: dict[str, str] = {}
    for source in reversed(found):
        path = env_path(source)
        values = source.document.get(path) if path else {}
        for name, value in values.items() if isinstance(values, dict) else ():
            texts[name] = text(value)
    return texts


def cap(host: Host, found: Sequence[Source], environ: Mapping[str, str]) -> Value:
    """The host's cap: from its variable, or else its setting, or the field of our hook."""
    if host.cap_key:
        value = variable(found, environ, host.cap_key)
        if value.is_set or "setting" not in host.cap:
            return value
    setting = tuple(host.cap.get("setting", ()))
    for source in found if setting else ():
        said = source.document.get(setting)
        if said is not MISSING:
            return Value(text(said), source, True)
    field = host.cap.get("field", "")
    for source in found if field else ():
        hook = hook_of(source)
        if hook:  # our first one
            is_set = field in hook.fields
            return Value(json.dumps(hook.fields[field]) if is_set else "", source, is_set)
    return Value("", None, False)
