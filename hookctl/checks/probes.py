"""Reads single files and programs: settings, installed files, rights, a client's version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping

from hookctl.checks.facts import (
    Client,
    Configuration,
    EnvFile,
    ProgramFile,
    Python,
    Rights,
)
from hookctl.checks.machine import FileReader
from hookctl.checks.scripts import NOT_EXECUTABLE, Program, Script
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.model import PackRecord, PathFault
from hookctl.packs.programs import load_programs
from hookctl.packs.wrapping import PROGRAM as WRAPPER
from hookctl.planner.runtime_files import CONFIG
from hookctl.settings.targets import GUARD, OWN
from hookctl.system import files, interpreter, owners
from hookctl.system import project as project_folder
from hookctl.system.packages import HOOK

_SECONDS = 15  # for a client to say its version
_MOST_HOPS = 40
_MOST_FOLDERS = 2000  # that are looked at for nested ones
_GUARD_VARIABLE = r"^[ \t]*(?:export[ \t]+)?(HOOKCTL_[A-Z0-9_]+|MAX_STOP_BLOCKS)[ \t]*="


def is_missing(path: str) -> bool:
    """Whether nothing is there; what may not be looked at counts as there."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def broken_script(script: Script, environ: Mapping[str, str]) -> Script | None:
    """The script with what keeps it from being run; None if nothing does, as far as can be seen."""
    if is_missing(script.path):
        return script
    if not isinstance(script, Program) or not os.path.isfile(script.path):
        return None
    if not os.access(script.path, os.X_OK):
        return script._replace(status=script.status and 126, problem=NOT_EXECUTABLE)
    interpreter_name = _find_interpreter(script.path)
    if os.path.isabs(interpreter_name):
        is_there = not is_missing(interpreter_name)
    else:
        is_there = shutil.which(interpreter_name, path=environ.get("PATH", "")) is not None
    if not interpreter_name or is_there:
        return None
    return script._replace(problem=f"needs {interpreter_name}, which is not there")


def _find_interpreter(path: str) -> str:
    """What the first line of a script says that it runs with; '' where it says nothing."""
    try:
        with open(path, "rb") as file:
            line = file.readline(256).decode("utf-8", "replace")
    except OSError:
        return ""
    words = line[2:].split() if line.startswith("#!") else []
    if words and os.path.basename(words[0]) == "env" and not is_missing(words[0]):
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return words[0] if words else ""


def configuration(reader: FileReader, folder: str) -> Configuration:
    """The guard's config.json in a folder."""
    path = os.path.join(folder, CONFIG)
    data = None
    try:
        data = reader.snapshot(path).data
        if data is None:
            return Configuration(path, False, {}, None)
        value = JsonDocument.parse(data, where=path, comments=False, trailing_commas=False).value
        if not isinstance(value, dict):
            raise HookctlError("wrong_shape", "it is not a JSON object")
    except HookctlError as error:
        return Configuration(path, True, {}, error, data)
    return Configuration(path, True, value, None, data)


def guard_files(
    reader: FileReader, pack_record: PackRecord, *, wraps: bool
) -> tuple[ProgramFile, ...]:
    """The guard's programs, the launcher first, compared with the ledger and this version.

    Programs that only this version has count only if its launcher is installed.
    """
    current = load_programs(wrapper=wraps).all
    names = [HOOK, *(name for name in pack_record.files if name not in (CONFIG, HOOK, WRAPPER))]
    if wraps:
        names.append(WRAPPER)
    (launcher,) = _compare_files(reader, pack_record, [HOOK], current)
    if launcher.is_there and launcher.is_current:
        names += current
    return _compare_files(reader, pack_record, names, current)


def pack_files(reader: FileReader, pack_record: PackRecord) -> tuple[ProgramFile, ...]:
    """The files of a pack by path, each against the ledger."""
    return _compare_files(reader, pack_record, sorted(pack_record.files), {})


def _compare_files(
    reader: FileReader, pack_record: PackRecord, names: Iterable[str], current: Mapping[str, bytes]
) -> tuple[ProgramFile, ...]:
    """Installed files compared with the record and with this version."""
    folder = pack_record.folder
    paths = {name: os.path.normpath(os.path.join(folder, name)) for name in names}
    snapshots = reader.snapshots(paths.values())
    digests = {name: files.digest(data) for name, data in current.items()}
    programs = []
    for name, path in paths.items():
        snapshot = snapshots[path]
        if isinstance(snapshot, HookctlError):
            programs.append(ProgramFile(name, path, snapshot, False, False, False))
            continue
        data = snapshot.data
        sha = files.digest(data)
        is_current = name not in current or data == current[name]
        # A package has no digest on record: it has one in its name.
        is_recorded = sha != "" and sha in (pack_record.files.get(name), digests.get(name))
        programs.append(
            ProgramFile(name, path, None, data is not None, is_recorded, is_current, sha)
        )
    return tuple(programs)


def programs_digest(programs: Iterable[ProgramFile]) -> str:
    """A text that identifies the guard's programs, or '' if one is missing."""
    shas = [program.sha for program in programs if program.name != WRAPPER]
    return "-".join(shas) if all(shas) else ""


def python(path: str) -> Python:
    """An interpreter, asked for its version if it can be started."""
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return Python(path, False, None)
    fault = owners.find_fault(path)
    if fault:
        return Python(path, True, None, fault)
    answer = interpreter.ask(path)
    return Python(path, True, answer[1] if answer else None)


def client(host: Host, program: str, project: str, home: str) -> Client:
    """A host's own program, and the version that it prints; one of the project's is not started."""
    if not program or not host.client.asks_version:
        return Client(program, "")
    if project_folder.is_inside(project, program, home):
        return Client(program, "", "it lies in the project")
    fault = owners.find_fault(program)
    if fault:
        return Client(program, "", f"{fault.path} {fault.reason}")
    call = [os.path.abspath(program), *host.client.version_args]
    try:
        # In /: a version manager's shim starts what the working folder's files name.
        process = subprocess.run(
            call,
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            stdin=subprocess.DEVNULL,
            cwd="/",
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return Client(program, "")
    version = re.search(r"[0-9]+(?:\.[0-9]+)+", process.stdout)
    return Client(program, version[0] if version else "")


def first_python(path: str, project: str) -> str:
    """The first python3 on a PATH, as a hook that is started in the project finds it; or ''."""
    for folder in path.split(":") if path else ():
        program = os.path.join(project, folder, "python3")
        if os.path.lexists(program):
            return program
    return ""


def rights(paths: Iterable[str]) -> tuple[Rights, ...]:
    """Those of these paths that somebody else could change; what is not there is left out."""
    loose = []
    known: dict[str, PathFault | None] = {}
    for path in dict.fromkeys(paths):
        fault = owners.find_fault(path, known) if os.path.exists(path) else None
        if fault:
            loose.append(Rights(path, fault))
    return tuple(loose)


def links(path: str) -> tuple[str, ...]:
    """Where each link leads that stands at a path, one behind the other."""
    hops: list[str] = []
    while os.path.islink(path) and len(hops) < _MOST_HOPS:
        path = os.path.join(os.path.dirname(path), os.readlink(path))
        hops.append(path)
    return tuple(hops)


def find_foreign_folders(project: str) -> Iterator[str]:
    """Another user's `.hookctl` with programs below a project, in its first 2,000 folders."""
    own = os.path.join(project, OWN)
    for number, (parent, folders, _) in enumerate(os.walk(project)):
        if number > _MOST_FOLDERS:
            return
        path = os.path.join(parent, OWN)
        is_nested = OWN in folders and path != own
        if is_nested and _has_programs(path) and project_folder.is_foreign(parent):
            yield path
        folders[:] = sorted(name for name in folders if name not in (".git", OWN))


def _has_programs(folder: str) -> bool:
    return any(os.path.isdir(os.path.join(folder, name)) for name in (GUARD, "packs"))


def env_files(reader: FileReader, paths: Iterable[str]) -> Iterator[EnvFile]:
    """Those of these files that set a variable which the guard reads."""
    for path in paths:
        try:
            text = (reader.snapshot(path).data or b"").decode("utf-8", "replace")
        except HookctlError:
            continue
        names = re.findall(_GUARD_VARIABLE, text, re.MULTILINE)
        if names:
            yield EnvFile(path, tuple(dict.fromkeys(names)))


def written_at(path: str) -> float | None:
    """When a file was written last; None where there is none."""
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return None
