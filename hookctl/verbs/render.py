"""hookctl render: print the settings text, for those who ship settings by other means."""

import contextlib
import os
import sys
from collections.abc import Sequence

from hookctl import hosts
from hookctl.documents import formats
from hookctl.errors import FAILED, HookctlError, require_known, usage_error
from hookctl.hosts import Host, loading, shapes
from hookctl.model import Current, Message, Result, Wanted
from hookctl.output.lines import amount
from hookctl.ownership import engine
from hookctl.ownership.install import check_request, find_lacking
from hookctl.ownership.own_files import new_config
from hookctl.packs import Pack, guard
from hookctl.packs.choices import Request, Settings, choose, require_portable
from hookctl.packs.programs import load_pack, load_programs
from hookctl.packs.runner import describe, find_programs, hosts_file, needs_runner
from hookctl.packs.runner import wants as pack_wants
from hookctl.settings.targets import GUARD, Target, own_top, require_scope
from hookctl.system import files, interpreter
from hookctl.system.folders import Folders
from hookctl.system.packages import CONFIGS, PACKS, TABLE
from hookctl.verbs.choosing import choose_hosts

# For all users of a machine: no user's own folder, where that user could change what runs.
_SHARED = "/usr/local/lib/hookctl"
_SHARED_PYTHON = "/usr/bin/python3"
_OWNER, _MODE = "root", "0644"
_PLATFORMS = {"linux": "linux", "macos": "darwin"}  # our word: Python's
_DROP_IN = "50-hookctl"
_OF_PROJECT = "/.hookctl"  # stands for the folder in each project


HELP = """
--host H  The host; it must have settings of this scope.
--scope S  managed, user, project or local.
--hook-dir DIR  The folder of the pack's files.
--python P  The Python that runs the guard; in managed settings /usr/bin/python3.
--platform OS  Managed settings for linux or macos.  [default: this machine's]

Examples:
  hookctl render --host claude --set MAX_STOP_BLOCKS=8
  hookctl render --host codex --platform macos --json
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
    content = load_pack(pack)
    if len(host) != 1 or "all" in host:
        hint = "Name it, as in `hookctl render --host claude`."
        raise usage_error("which host? render prints the text of one", hint)
    for option, given in (("--hook-dir", hook_dir), ("--python", python)):
        if given and not os.path.isabs(given):
            hint = "Give its absolute path: the command must work wherever the agent is started."
            raise usage_error(f"{option} {given} is relative", hint)
    chosen = choose_hosts(host, "user", True)[0]
    asked = Request(mode, preset, assign, nudge, nudge_env, dispatch, allow_run=allow_run)
    is_managed, is_drop_in = scope == "managed", False
    if is_managed:
        path, is_drop_in = _find_managed(chosen, platform, content.name)
        chosen = hosts.managed_layout(chosen, path)
    elif platform:
        hint = "Leave it out: the other scopes' files are those of this machine."
        raise usage_error("--platform is for managed settings", hint)
    else:
        require_scope(chosen, scope)
        path = hosts.settings_path(chosen, scope, folders.environ, "<project>")
    for error in find_lacking([chosen], asked):
        raise error
    target = Target(chosen, scope, "", "/" if scope == "project" else "")
    if not hook_dir and scope == "local":
        hint = "At local scope each project has its own: name the folder."
        raise usage_error("--hook-dir is missing", hint)
    top = _SHARED if is_managed else own_top(folders, target)
    folder = os.path.normpath(hook_dir or top)
    settings = _choose_settings(content, target, asked, python)
    wants, notes, contents = _list_content(folders, target, content, folder, settings)
    decision = engine.install((), Current({}, {}, {}), content.name, wants)
    document = shapes.apply(chosen.shape, formats.parse(chosen.format, b""), decision.edits)
    loading.require(chosen, document)
    said = f" (owner {_OWNER}, mode {_MODE})" if is_managed else ""
    if is_managed and not is_drop_in:
        said += "; if that file has other settings, merge the two"
    notes.append(f"put the settings at {path}{said}")
    if contents:
        count = amount(len(contents), "file")
        notes.append(f"put {count} in {folder}: `files` of --json has each with its text")
    text = document.data.decode()
    data = {
        "text": text,
        "settings": document.value,
        "path": path,
        "drop_in": is_drop_in,
        "owner": _OWNER if is_managed else "",
        "mode": _MODE,
        "sha256": files.digest(document.data),
        "files": [_describe_copy(folder, name, *contents[name]) for name in contents],
    }
    messages = tuple(Message(note, "note") for note in notes)
    return Result(data, tuple(text.removesuffix("\n").split("\n")), messages, verbatim=True)


def _find_managed(host: Host, platform: str, pack: str) -> tuple[str, bool]:
    """The file for a pack, and whether it stands beside others and is not merged into the only one.

    Without a platform it is that of this machine. no_managed_scope (exit code 1) where hookctl
    knows of none.
    """
    platform = platform or ("macos" if sys.platform == "darwin" else "linux")
    require_known("platform", platform, _PLATFORMS)
    named = _PLATFORMS[platform]
    patterns = host.managed_files.get(named)
    if not patterns:
        able = [name for name in hosts.names() if hosts.load(name).managed_files.get(named)]
        message = f"hookctl knows of no managed settings of {host.title} on {platform}"
        hint = f"Install at user or project scope. Hosts that have some: {', '.join(able)}."
        raise HookctlError("no_managed_scope", message, hint=hint, exit_code=FAILED)
    pattern = next((one for one in patterns if "*" in one), patterns[-1])
    name = _DROP_IN if pack == GUARD else f"{_DROP_IN}-{pack}"
    return pattern.replace("*", name), "*" in pattern


def _choose_settings(pack: Pack, target: Target, asked: Request, python: str) -> Settings:
    check_request(pack, asked)
    current = Settings(python=python)
    if target.scope == "managed":  # the text is for every machine
        current = Settings(options={"locked": True}, python=python or _SHARED_PYTHON)
    settings = choose(current, asked)
    if not settings.events:
        hint = "Leave it out; where the guard is registered already, remove that."
        raise usage_error("--mode off registers nothing, so there is no text", hint)
    if target.shared:
        require_portable(settings)
    return settings


def _list_content(
    folders: Folders, target: Target, pack: Pack, folder: str, settings: Settings
) -> tuple[list[Wanted], list[str], dict[str, tuple[bytes, bool]]]:
    """What the settings get, what is to be said of it, and the files in the folder, by name."""
    # A named folder lies outside the project, and is the same for everyone.
    if target.shared and folder != _OF_PROJECT:
        target = Target(target.host, "managed", target.path, target.project)
    stay = "the hooks that it replaces stay: only an install disables them"
    notes = [stay] if pack.replaces else []
    contents = {f"{PACKS}/{pack.name}/{name}": file for name, file in pack.contents.items()}
    has_runner = needs_runner(pack, target.host)
    if pack.name == GUARD or has_runner:
        for name, data in load_programs().all.items():
            if has_runner or "/runner_" not in name:
                contents[name] = data, False
        if not settings.python and not target.shared:
            settings.python, warning = interpreter.choose(folders.environ)
            notes += [warning] if warning else []
    if has_runner:
        contents[TABLE] = hosts_file({target.host.name: [pack.name]}, ""), False
    if pack.name == GUARD:
        name = f"{CONFIGS}/{target.host.name}.json"
        config = guard.configuration(settings, "", target.host)
        contents[name] = new_config(config, target.host), False
        return guard.wants(settings, target, pack, os.path.join(folder, name)), notes, contents
    files_folder = os.path.join(folder, PACKS, pack.name)
    programs = find_programs(target, files_folder, folder, settings.python)
    wants, more = pack_wants(pack, target.host, programs)
    surely, perhaps = describe(pack, target.host, more)
    return wants, [*surely, *perhaps, *notes], contents


def _describe_copy(folder: str, name: str, data: bytes, is_executable: bool) -> dict[str, str]:
    to = os.path.join(folder, name)
    copy = {
        "to": os.path.relpath(to, "/") if folder == _OF_PROJECT else to,
        "mode": "0755" if is_executable else _MODE,
        "sha256": files.digest(data),
    }
    with contextlib.suppress(UnicodeDecodeError):
        copy["text"] = data.decode()
    return copy
