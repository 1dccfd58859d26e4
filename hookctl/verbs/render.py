"""hookctl render: print the settings text, for those who ship settings by other means."""

from __future__ import annotations

import json
import os
import re
import textwrap
from collections.abc import Sequence

from hookctl import engine, hosts
from hookctl.documents import formats
from hookctl.errors import usage_error
from hookctl.hosts import Host, loading, shapes
from hookctl.model import Current, Hooks, Result, Wanted
from hookctl.packs import guard, load
from hookctl.packs.choices import Request, Settings, choose, require_portable
from hookctl.packs.model import Pack
from hookctl.packs.programs import template_files
from hookctl.packs.runner import find_programs, hosts_file, needs_runner
from hookctl.packs.shortfalls import describe
from hookctl.packs.wants import wants as pack_wants
from hookctl.planner.install import check_request, find_lacking
from hookctl.planner.own_files import new_config, own_top
from hookctl.settings import managed
from hookctl.settings.managed import ManagedFile
from hookctl.settings.targets import GUARD, SCOPES, Target, require_scope
from hookctl.system import files, interpreter
from hookctl.system.folders import Folders
from hookctl.system.package_data import asset
from hookctl.system.packages import CONFIGS, PACKS, TABLE
from hookctl.verbs.choosing import choose_hosts

# For all users of a machine: no user's own folder, where that user could change what runs.
_SHARED = "/usr/local/lib/hookctl"
_SHARED_PYTHON = "/usr/bin/python3"


HELP = """
--host H <host>  The host; it must have settings of this scope.
--scope S <rendered-scope>  managed, user, project or local.
--hook-dir DIR  The folder of the pack's files.
--python P  The Python that runs the guard; in managed settings /usr/bin/python3.
--platform OS <platform>  Managed settings for linux or macos.  [default: this machine's]

Examples:
  hookctl render --host claude --set MAX_STOP_BLOCKS=8
  hookctl render --host codex --platform macos --json
  hookctl render --host claude --scope user --python /usr/bin/python3
"""


def render(
    folders: Folders,
    pack: str = GUARD,
    host: Sequence[str] = (),
    scope: str = "managed",
    hook_dir: str = "",
    python: str = "",
    platform: str = "",
    mode: str = "",
    preset: str = "",
    assign: Sequence[str] = (),
    nudge: str | None = None,
    nudge_env: str | None = None,
    dispatch: Sequence[str] = (),
    allow_run: bool = False,
) -> Result:
    """The text that an install into an empty settings file of this scope would write."""
    content = load(pack)
    chosen = choose_hosts("render", [_require_one_host(host, scope)], "user", True)[0]
    asked = Request(mode, preset, assign, nudge, nudge_env, dispatch, allow_run=allow_run)
    place = _find_place(folders, content, chosen, scope, platform)
    for error in find_lacking([chosen], asked):
        raise error
    if scope == "managed":
        chosen = hosts.managed_layout(chosen, place.path)
    target = Target(chosen, scope, "", "/" if scope == "project" else "")
    folder = _choose_folder(folders, target, hook_dir)
    if python and not os.path.isabs(python):
        hint = "Give its absolute path: the command must work wherever the agent is started."
        raise usage_error(f"--python {python} is relative", hint)
    settings = _choose_settings(content, target, asked, python)
    wants, notes = _list_wants(folders, target, content, folder, settings)
    decision = engine.install((), Current({}, {}, Hooks()), content.name, content.version, wants)
    document = shapes.apply(chosen.shape, formats.parse(chosen.format, b""), decision.edits)
    loading.require(chosen, document)
    text = document.data.decode()
    copies, copy_notes = _list_copies(content, target, folder, settings)
    notes = [*notes, _say_place(chosen, scope, place), *copy_notes]
    data = {
        "text": text,
        "settings": document.value,
        "path": place.path,
        "drop_in": place.is_drop_in,
        "owner": managed.OWNER if scope == "managed" else "",
        "mode": managed.MODE,
        "sha256": files.digest(document.data),
        "files": copies,
    }
    return Result(data, tuple(text.removesuffix("\n").split("\n")), tuple(notes))


def _require_one_host(names: Sequence[str], scope: str) -> str:
    """The named host; it refuses none, several and `all`, and lists those that have the scope."""
    if len(names) == 1 and names[0] != "all":
        return names[0]
    _require_known_scope(scope)
    able = [name for name in hosts.names() if hosts.load(name).has_files(scope)]
    hint = f"Name it with --host; those that have {scope} settings are: {', '.join(able)}."
    raise usage_error("which host? render prints the text of one", hint)


def _require_known_scope(scope: str) -> None:
    scopes = (*SCOPES, "managed")
    if scope not in scopes:
        raise usage_error(f"unknown scope {scope!r}", f"Scopes: {', '.join(scopes)}.")


def _find_place(folders: Folders, pack: Pack, host: Host, scope: str, platform: str) -> ManagedFile:
    """The settings file that the text is for; it refuses a scope that the host does not have."""
    _require_known_scope(scope)
    if scope == "managed":
        return managed.find(host, managed.require_platform(platform), pack.name)
    if platform:
        hint = "Leave it out: the other scopes' files are those of this machine."
        raise usage_error("--platform is for managed settings", hint)
    require_scope(host, scope)
    path = hosts.settings_path(host, scope, folders.environ, "<project>")
    return ManagedFile(path, False)


def _choose_folder(folders: Folders, target: Target, hook_dir: str) -> str:
    """The folder that the launcher, and all that it needs, belongs in."""
    if hook_dir and os.path.isabs(hook_dir):
        return os.path.normpath(hook_dir)
    if hook_dir:
        hint = "Give an absolute folder: the command must work wherever the agent is started."
        raise usage_error(f"--hook-dir {hook_dir} is relative", hint)
    if target.scope == "managed":
        return _SHARED
    if target.scope == "local":
        hint = "At local scope each project has its own: name the folder."
        raise usage_error("--hook-dir is missing", hint)
    return own_top(folders, target)


def _choose_settings(pack: Pack, target: Target, asked: Request, python: str) -> Settings:
    """The chosen settings of the guard, checked as install checks them."""
    check_request(pack, asked)
    current = Settings(python=python)
    if target.scope == "managed":
        python = python or _SHARED_PYTHON  # the text is for every machine
        current = Settings(options={"locked": True} if pack.name == GUARD else {}, python=python)
    settings = choose(current, asked)
    if not settings.events:
        hint = "Leave it out; where the guard is registered already, remove that."
        raise usage_error("--mode off registers nothing, so there is no text", hint)
    if target.shared:
        require_portable(settings)
    return settings


def _list_wants(
    folders: Folders, target: Target, pack: Pack, folder: str, settings: Settings
) -> tuple[list[Wanted], list[str]]:
    """What the pack wants in the settings, and warnings."""
    # A named folder lies outside the project, and is the same for everyone.
    if target.shared and folder != "/.hookctl":
        target = Target(target.host, "managed", target.path, target.project)
    warning = ""
    is_started = pack.name == GUARD or needs_runner(pack, target.host)
    if is_started and not settings.python and not target.shared:
        python, warning = interpreter.choose(folders.environ)
        settings = settings.with_python(python)
    if pack.name != GUARD:
        files_folder = os.path.join(folder, PACKS, pack.name)
        programs = find_programs(target, files_folder, folder, settings.python)
        wants, notes = pack_wants(pack, target.host, programs)
        surely, perhaps = describe(pack, target.host, notes)
        return wants, [*surely, *perhaps, *([warning] if warning else [])]
    wants = guard.wants(
        settings, target, pack, _config(folder, target), guard.wanted_limit(settings)
    )
    return wants, [warning] if warning else []


def _config(folder: str, target: Target) -> str:
    return os.path.join(folder, CONFIGS, f"{target.host.name}.json")


def _list_copies(
    pack: Pack, target: Target, folder: str, settings: Settings
) -> tuple[list[dict[str, str]], list[str]]:
    """The files to put in the folder, for machines and as notes for people."""
    sources = {}
    for name in () if pack.name == GUARD else pack.files:
        copy = os.path.join(folder, PACKS, pack.name, name)
        sources[copy] = os.path.join(os.path.dirname(pack.source), name)
    has_runner = needs_runner(pack, target.host)
    if pack.name == GUARD or has_runner:
        for name, source in template_files(runner=has_runner).items():
            sources[os.path.join(folder, name)] = source
    notes = []
    for copy, from_ in _fold_package(sources).items():
        notes.append(f"put {' and '.join(from_)} at {_shorten(target, copy)}")
    copies = []
    for copy, source in sources.items():
        with open(source, "rb") as stream:
            data = stream.read()
        described = _describe(_shorten(target, copy), data, os.access(source, os.X_OK))
        copies.append({"from": source, **described})
    if pack.name == GUARD:
        config = new_config(guard.configuration(settings, "", target.host), target.host)
        copies.append(_describe_text(target, _config(folder, target), config, notes))
    if has_runner:
        table = hosts_file({target.host.name: [pack.name]}, "")
        copies.append(_describe_text(target, os.path.join(folder, TABLE), table, notes))
    return copies, notes


def _describe_text(target: Target, path: str, data: bytes, notes: list[str]) -> dict[str, str]:
    """A JSON file that is written as it is shown; a note for people is added."""
    path = _shorten(target, path)
    notes.append(f"put this at {path}:\n{_lay_out(data)}")
    return _describe(path, data, False)


def _lay_out(data: bytes) -> str:
    """A JSON file with a line for each value, and for a list of plain values."""
    text = json.dumps(json.loads(data), indent=2, ensure_ascii=False)
    text = re.sub(
        r"\[\n *([^][{}]*)\n *\]",
        lambda found: f"[{' '.join(map(str.strip, found[1].splitlines()))}]",
        text,
    )
    return textwrap.indent(text, "  ")


def _describe(path: str, data: bytes, is_program: bool) -> dict[str, str]:
    """Where a file goes, and its content; as text, if it is one."""
    mode = "0755" if is_program else managed.MODE
    described = {"to": path, "mode": mode, "sha256": files.digest(data)}
    try:
        return {**described, "text": data.decode()}
    except UnicodeDecodeError:
        return described


def _fold_package(sources: dict[str, str]) -> dict[str, list[str]]:
    """The sources of each copy, with a package as one folder: that of the folders it comes from."""
    packages = [asset("templates", GUARD, "guard"), asset("templates", "runner")]
    folded: dict[str, list[str]] = {}
    for copy, source in sources.items():
        is_in_package = os.path.dirname(source) in packages
        if is_in_package:
            copy, source = os.path.dirname(copy), os.path.dirname(source)
        if source not in folded.setdefault(copy, []):
            folded[copy].append(source)
    return folded


def _say_place(host: Host, scope: str, place: ManagedFile) -> str:
    """The sentence about the file that the text is for."""
    if scope != "managed":
        return f"{host.title} reads it from {place.path}"
    said = f"put the settings at {place.path} (owner {managed.OWNER}, mode {managed.MODE})"
    if place.is_drop_in:
        return said
    return f"{said}; if that file has other settings, merge the two"


def _shorten(target: Target, path: str) -> str:
    """The path, relative to the project if it lies in our folder there."""
    if target.shared and path.startswith("/.hookctl/"):
        return os.path.relpath(path, "/")
    return path
