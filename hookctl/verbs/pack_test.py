"""hookctl pack test: a pack's cases, asked as every host asks and answered as it answers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from hookctl.errors import FAILED, OK, HookctlError, nearest
from hookctl.firing.model import Call
from hookctl.firing.shooting import Stand
from hookctl.firing.trying import list_shots
from hookctl.hosts import Host
from hookctl.model import Line, Result
from hookctl.packs.cases import Case, load_cases
from hookctl.packs.model import Pack
from hookctl.packs.native import native_payload
from hookctl.packs.protocol import SHORT, native_event
from hookctl.packs.trial import Bench, every_host
from hookctl.report import progress
from hookctl.system.folders import Folders
from hookctl.system.package_data import guard_module
from hookctl.system.temporary import private_folder

# What stands for an outcome on a host that has no form for it.
_INSTEAD = {
    "ask": ("ask", "deny"),
    "change": ("change", "deny"),
    "context": ("context", "none"),
    "deny": ("refuse", "none"),
    "block": ("refuse", "none"),
}
_NO_ANSWER = ("failed", "timeout")
_SAYS_WHAT = {"ask": ("NEEDS_PERSON",), "change": ("WOULD_PASS", "UNFIT_CHANGE")}  # of the runner


def test(folders: Folders, pack: Pack, names: Sequence[str]) -> Result:
    """Play the cases on each host with the real runner; exit code 1 if one goes otherwise."""
    cases = load_cases(os.path.dirname(os.path.realpath(pack.source)))
    if not cases:
        hint = "Write them into tests/cases.toml beside the pack; docs/packs.md has an example."
        raise HookctlError("no_cases", "the pack has no cases", path=pack.source, hint=hint)
    ids = [hook.id for _, hook in pack.all_hooks]
    for case in cases:
        if case.hook and case.hook not in ids:
            hint = f"{nearest(case.hook, ids)}Its hooks: {', '.join(ids)}."
            message = f"{case.name} asks a hook {case.hook!r}, which the pack does not have"
            raise HookctlError("bad_case", message, path=case.path, hint=hint)
    rows: list[dict[str, Any]] = []
    lines: list[Line] = []
    with private_folder("pack", folders.state) as top:
        bench = Bench(top, pack, sys.executable)
        stand = Stand(top, folders.state, bench.project)
        environ = {**folders.environ, "HOME": top}
        for host in every_host(names):
            progress(f"{host.title} ...")
            played = [*_play(bench, stand, environ, host, cases)]
            rows += played
            lines += _describe(host, played)
    failed = sum(row["failed"] for row in rows)
    played = sum(not row["skipped"] for row in rows)
    summary = f"{played} runs, {failed} not as expected"
    lines.append(Line(summary, "error" if failed else "ok"))
    return Result(
        {"pack": pack.name, "cases": rows}, tuple(lines), exit_code=FAILED if failed else OK
    )


class Trial(NamedTuple):
    """What came of one run."""

    outcome: str  # as in the receipt; "" if the hook was not asked
    answer: str  # for the host
    dropped: tuple[str, ...] = ()  # what the host cannot take
    ms: int = 0


def _play(
    bench: Bench, stand: Stand, environ: Mapping[str, str], host: Host, cases: list[Case]
) -> Iterator[dict[str, Any]]:
    """What came of each case on a host."""
    for case in cases:
        if case.hosts and host.name not in case.hosts:
            continue
        fields = {"session_id": "trial", "cwd": bench.project, **case.fields}
        payload = native_payload(host, case.event, case.tool, case.input, fields)
        event, data = native_event(host, SHORT[case.event]), json.dumps(payload).encode()
        shots = list_shots(bench, Call(host, event, case.event, payload, data))
        meant = [shot for shot in shots if _is_meant(bench.pack, shot.hook.own_id, case)]
        trials = []
        for shot in meant:
            ran, receipt = stand.ask(shot, environ)
            # An exit status that refuses has its reason on stderr.
            said, dropped = ran.err if ran.status == 2 else ran.out, receipt.get("dropped", ())
            outcome, ms = str(receipt.get("outcome", "")), int(receipt.get("ms", 0))
            trials.append(Trial(outcome, said, tuple(dropped), ms))
        trial = _strictest([trial for trial in trials if trial.outcome])
        problem = _judge(host, case, trial) if meant else ""
        yield {
            "skipped": not meant,  # the host has no such event or tool, which `pack check` says
            "host": host.name,
            "case": case.name,
            "expected": case.expect,
            "outcome": trial.outcome,
            "stdout": trial.answer,
            "dropped": [*trial.dropped],
            "ms": trial.ms,
            "failed": bool(problem),
            "problem": problem,
        }


def _is_meant(pack: Pack, name: str, case: Case) -> bool:
    """Whether a case is about the hook of this name."""
    id = name.partition("/")[2]
    if case.hook:
        return id == case.hook
    return any(one.id == id and one.event == SHORT[case.event] for one in pack.hooks)


def _strictest(trials: list[Trial]) -> Trial:
    order = ("timeout", "failed", "deny", "block", "end", "ask", "change", "context", "allow")
    for outcome in order:
        for trial in trials:
            if trial.outcome == outcome:
                return trial
    return trials[0] if trials else Trial("", "")


def _judge(host: Host, case: Case, trial: Trial) -> str:
    """What is not as the case expects, in words; '' where all is well on this host."""
    answers = host.runner.get("answers", {}).get(case.event, {})
    if trial.outcome == case.expect or (not trial.outcome and case.expect == "none"):
        return _judge_text(case, trial)
    form, instead = _INSTEAD.get(case.expect, ("", ""))
    if case.expect == "change" and case.event == "PostToolUse":
        form, instead = "replace", "none"
    is_lost = not answers.get(form) or (form == "change" and answers.get("change_allows"))
    if form and is_lost and trial.outcome == instead:
        if instead == "none":
            return ""
        if _stands_for(case.expect, trial):
            return _judge_text(case, trial)
    return f"expected {case.expect}, and it was {trial.outcome or 'not asked'}"


def _stands_for(outcome: str, trial: Trial) -> bool:
    """Whether a refusal says that it is one only because the host knows no such outcome."""
    runner = guard_module("answer")
    for name in _SAYS_WHAT[outcome]:
        words = getattr(runner, name).removeprefix("{reason} ").partition("{")[0]
        if words in trial.answer:
            return True
    return False


def _judge_text(case: Case, trial: Trial) -> str:
    """Whether the answer has the words that it should have."""
    if not case.text or trial.outcome in ("none", *_NO_ANSWER):
        return ""
    if case.text in trial.answer or case.text in _read_answer(trial.answer):
        return ""
    return f"{case.text!r} is not in the answer: {trial.answer.strip()[:200]}"


def _read_answer(stdout: str) -> str:
    """An answer in JSON with its words as they are written in a case; '' for plain text."""
    try:
        return json.dumps(json.loads(stdout), ensure_ascii=False)
    except ValueError:
        return ""


def _describe(host: Host, rows: list[dict[str, Any]]) -> Iterator[Line]:
    problems = [row for row in rows if row["failed"]]
    played = [row for row in rows if not row["skipped"]]
    skipped = len(rows) - len(played)
    text = f"{host.title}: {len(played) - len(problems)} of {len(played)} as expected"
    if skipped:
        text += f", {skipped} skipped: `hookctl pack check` says why"
    mark = "error" if problems else "ok" if played else "skip"
    yield Line(text, mark)
    for row in problems:
        yield Line(f"{row['case']}: {row['problem']}", indent=2)
    for row in rows:
        if row["dropped"] and not row["failed"]:
            dropped = ", ".join(row["dropped"])
            yield Line(f"{row['case']}: dropped there: {dropped}", indent=2)
