"""hookctl pack check: what of a pack runs on each host, what cannot, and why."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator

from hookctl.errors import FAILED, OK
from hookctl.model import Line, Result
from hookctl.packs.cases import Case, cases_of, find_answers, load_cases
from hookctl.packs.model import Pack, PackHook
from hookctl.packs.pack import read_files
from hookctl.packs.runner import is_run_by_runner
from hookctl.packs.shortfalls import possible_answers
from hookctl.packs.trial import Bench, every_host
from hookctl.system.folders import Folders
from hookctl.system.temporary import private_folder

_COMPILE = "import sys; compile(open(sys.argv[1], 'rb').read(), sys.argv[1], 'exec')"
_COMPILERS = {  # by the ending of a file: what says whether it can run
    ".sh": ["sh", "-n", "FILE"],
    ".py": [sys.executable, "-I", "-S", "-c", _COMPILE, "FILE"],
    ".js": ["node", "--check", "FILE"],
    ".mjs": ["node", "--check", "FILE"],
    ".cjs": ["node", "--check", "FILE"],
}
_SECONDS = 30  # for one script to be compiled


def check(folders: Folders, pack: Pack, names: tuple[str, ...]) -> Result:
    """Say what runs where; exit code 1 if a program of the pack cannot run at all."""
    cases = load_cases(os.path.dirname(os.path.realpath(pack.source)))
    faults = [*_find_faults(pack)]
    hosts, lines = [], []
    told: dict[str, list[str]] = {}  # by what the hosts lack: their titles
    with private_folder("pack", folders.state) as top:
        bench = Bench(top, pack, sys.executable)
        for host in every_host(names):
            hooks, notes = bench.look_at(host, lambda hook: find_answers(hook, cases))
            texts = [*dict.fromkeys(note.text for note in notes)]
            count = f"{len(hooks)} hook{'' if len(hooks) == 1 else 's'}"
            lines.append(Line(f"{host.title}: {count}", "warn" if notes else "ok"))
            for text in texts:
                told.setdefault(text, []).append(host.title)
            hosts.append({"host": host.name, "hooks": [hook.id for hook in hooks], "notes": texts})
    untold = [hook.id for hook in pack.hooks if _is_unknown(pack, hook, cases)]
    lines = [*(Line(text, "error") for text in faults), *lines]
    for text, titles in told.items():
        lines += [Line(text, "warn"), Line(", ".join(titles), indent=4)]
    if untold and told:
        text = "no case in tests/ shows an answer, so any is assumed"
        lines.append(Line(f"{', '.join(untold)}: {text}"))
    data = {"pack": pack.name, "version": pack.version, "faults": faults, "hosts": hosts}
    data["without_cases"] = untold
    return Result(data, tuple(lines), exit_code=FAILED if faults else OK)


def _is_unknown(pack: Pack, hook: PackHook, cases: Collection[Case]) -> bool:
    """Whether a hook may answer something, and no case shows what."""
    may_answer = is_run_by_runner(pack, hook) and possible_answers(hook)
    return bool(may_answer) and not cases_of(hook, cases)


def _find_faults(pack: Pack) -> Iterator[str]:
    """Why a script of the pack cannot run, in one line each."""
    folder = os.path.dirname(os.path.realpath(pack.source))
    for name in read_files(pack):  # which refuses what leads out of the folder
        call = _COMPILERS.get(os.path.splitext(name)[1])
        if call is None or shutil.which(call[0]) is None:
            continue
        path = os.path.join(folder, name)
        words = [path if word == "FILE" else word for word in call]
        try:
            done = subprocess.run(words, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            yield f"{name}: whether it compiles is not known after {_SECONDS} seconds"
            continue
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()  # it may quote the script
            last = (said.splitlines() or ["it does not compile"])[-1]
            yield f"{name}: {last}"
