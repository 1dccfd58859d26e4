"""hookctl pack check: what of a pack runs on each host, what cannot, and why."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Sequence

from hookctl import hosts as known
from hookctl.errors import FAILED, OK
from hookctl.model import Line, Result
from hookctl.output.lines import amount
from hookctl.packs.cases import Bench, find_answers, load_cases
from hookctl.packs.model import Pack
from hookctl.survey.programs import find_interpreter, find_syntax_fault
from hookctl.survey.scripts import find_scripts
from hookctl.system.files import private_folder
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import load_hosts

_INTERPRETERS = {".sh": "sh", ".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node"}


def check(folders: Folders, pack: Pack, names: Sequence[str]) -> Result:
    """Say what runs where; exit code 1 if a program of the pack cannot run at all."""
    cases = load_cases(pack)
    faults = [*_find_broken_files(pack)]
    hosts, lines = [], []
    told: dict[str, list[str]] = {}  # by what the hosts lack: their titles
    with private_folder("pack", folders.state) as top:
        bench = Bench(top, pack)
        for host in load_hosts(names) or map(known.load, known.names()):
            hooks, notes = bench.look_at(host, lambda hook: find_answers(hook, cases))
            texts = [*dict.fromkeys(notes)]
            mark = "warn" if notes else "ok"
            lines.append(Line(f"{host.title}: {amount(len(hooks), 'hook')}", mark))
            for text in texts:
                told.setdefault(text, []).append(host.title)
            hosts.append({"host": host.name, "hooks": [hook.id for hook in hooks], "notes": texts})
    lines = [*(Line(text, "error") for text in faults), *lines]
    for text, titles in told.items():
        lines += [Line(text, "warn"), Line(", ".join(titles), indent=4)]
    if told and not cases:
        lines.append(Line("no case in tests/ shows an answer, so any is assumed"))
    data = {"pack": pack.name, "version": pack.version, "faults": faults, "hosts": hosts}
    return Result(data, tuple(lines), exit_code=FAILED if faults else OK)


def _find_broken_files(pack: Pack) -> Iterator[str]:
    folder, named = os.path.dirname(os.path.realpath(pack.source)), {}
    for _, hook in pack.all_hooks:
        command = hook.command.replace("{files}", shlex.quote(folder))
        for script in find_scripts(command, {}):
            named[script.path] = script.interpreter
            is_of_path = "/" not in script.path and command != hook.command
            if is_of_path and shutil.which(script.path) is None:
                yield f"{hook.id}: there is no program {script.path}"
    for name, (data, _) in pack.contents.items():
        path = os.path.join(folder, name)
        usual = _INTERPRETERS.get(os.path.splitext(name)[1], "")
        interpreter = os.path.basename(named.get(path) or find_interpreter(path) or usual)
        problem = find_syntax_fault(interpreter, path, data, shutil.which)
        if problem:
            yield f"{name}: {problem}"
