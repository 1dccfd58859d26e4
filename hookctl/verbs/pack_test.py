"""hookctl pack test: a pack's cases, asked as every host asks and answered as it answers."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookctl import hosts
from hookctl.errors import FAILED, OK, HookctlError, nearest
from hookctl.firing.calls import Call, is_meant, tool_in
from hookctl.firing.shooting import Stand, list_shots
from hookctl.hosts import Host
from hookctl.model import Line, Result
from hookctl.output.lines import progress
from hookctl.packs.cases import Bench, Case, load_cases
from hookctl.packs.model import Pack
from hookctl.packs.protocol import SHORT, native_event, native_payload
from hookctl.system.files import private_folder
from hookctl.system.folders import Folders
from hookctl.system.package_data import guard_module
from hookctl.verbs.choosing import load_hosts

# What stands for an outcome on a host that has no form for it.
_INSTEAD = {
    "ask": ("ask", "deny"),
    "change": ("change", "deny"),
    "context": ("context", "none"),
    "deny": ("refuse", "none"),
    "block": ("refuse", "none"),
}
_NO_ANSWER = ("failed", "timeout")
# The strictest first; "" where the hook was not asked.
_ORDER = (
    "timeout", "failed", "deny", "block", "end", "ask", "change", "context", "allow", "none", "",
)  # fmt: skip
_NOT_ASKED: dict[str, Any] = {"outcome": "", "stdout": "", "dropped": [], "ms": 0}
_SAYS_WHAT = {"ask": ("NEEDS_PERSON",), "change": ("WOULD_PASS", "UNFIT_CHANGE")}  # of the runner


def test(folders: Folders, pack: Pack, names: Sequence[str]) -> Result:
    """Play the cases on each host with the real runner; exit code 1 if one goes otherwise."""
    cases = load_cases(pack)
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
        bench = Bench(top, pack)
        stand = Stand(top, folders.state, bench.project)
        environ = {**folders.environ, "HOME": top}
        for host in load_hosts(names) or map(hosts.load, hosts.names()):
            progress(f"{host.title} ...")
            played = [*_play(bench, stand, environ, host, cases)]
            rows += played
            lines += _describe(host, played)
    failed = sum(row["failed"] for row in rows)
    played = sum(not row["skipped"] for row in rows)
    summary = f"{played} runs, {failed} not as expected"
    lines.append(Line(summary, "error" if failed else "ok"))
    data = {"pack": pack.name, "cases": rows}
    return Result(data, tuple(lines), exit_code=FAILED if failed else OK)


def _play(
    bench: Bench, stand: Stand, environ: Mapping[str, str], host: Host, cases: list[Case]
) -> Iterator[dict[str, Any]]:
    """What came of each case on a host."""
    for case in cases:
        if case.hosts and host.name not in case.hosts:
            continue
        fields = {"session_id": "trial", "cwd": bench.project, **case.fields}
        event = native_event(host, SHORT[case.event])
        payload = {"hook_event_name": event, "event_type": event}
        payload |= native_payload(host, case.tool, case.input, fields)
        data = json.dumps(payload).encode()
        call = Call(host, event, case.event, payload, data, tool_in(payload))
        shots = list_shots(bench, call)
        of_event = [hook.id for hook in bench.pack.hooks if hook.event == SHORT[case.event]]
        asked = [case.hook] if case.hook else of_event
        meant = [shot for shot in shots if shot.hook.own_id.partition("/")[2] in asked]
        trials = [_NOT_ASKED]
        for shot in meant:
            if not is_meant(call, shot.hook.matcher or None):
                continue
            ran, receipt = stand.ask(shot, environ)
            # An exit status that refuses has its reason on stderr.
            said, dropped = ran.err if ran.status == 2 else ran.out, receipt.get("dropped", ())
            trial = {"outcome": str(receipt.get("outcome", "")), "stdout": said}
            trials.append({**trial, "dropped": [*dropped], "ms": int(receipt.get("ms", 0))})
        trial = min(trials, key=lambda trial: _ORDER.index(trial["outcome"]))
        problem = _judge(host, case, trial["outcome"], trial["stdout"]) if meant else ""
        yield {
            "skipped": not meant,  # the host has no such event or tool, which `pack check` says
            "host": host.name,
            "case": case.name,
            "expected": case.expect,
            **trial,
            "failed": bool(problem),
            "problem": problem,
        }


def _judge(host: Host, case: Case, outcome: str, answer: str) -> str:
    """What is not as the case expects, in words; '' where all is well on this host."""
    if outcome != case.expect and (outcome or case.expect != "none"):
        forms = host.runner.get("answers", {}).get(case.event, {})
        form, instead = _INSTEAD.get(case.expect, ("", ""))
        if case.expect == "change" and case.event == "PostToolUse":
            form, instead = "replace", "none"
        is_lost = not forms.get(form) or (form == "change" and forms.get("change_allows"))
        if not (form and is_lost and outcome == instead):
            return f"expected {case.expect}, and it was {outcome or 'not asked'}"
        if instead != "none" and not _says_instead(case.expect, answer):
            return f"expected {case.expect}, and it was {outcome}"
    if not case.text or outcome in ("none", *_NO_ANSWER):
        return ""
    said = answer
    with contextlib.suppress(ValueError):  # of plain text
        said += json.dumps(json.loads(answer), ensure_ascii=False)
    if case.text in said:
        return ""
    return f"{case.text!r} is not in the answer: {answer.strip()[:200]}"


def _says_instead(outcome: str, answer: str) -> bool:
    """Whether a refusal says that it is one only because the host knows no such outcome."""
    runner = guard_module("answer")
    texts = [getattr(runner, name).removeprefix("{reason} ") for name in _SAYS_WHAT[outcome]]
    return any(text.partition("{")[0] in answer for text in texts)


def _describe(host: Host, rows: list[dict[str, Any]]) -> Iterator[Line]:
    problems = [row for row in rows if row["failed"]]
    skipped = sum(row["skipped"] for row in rows)
    played = len(rows) - skipped
    text = f"{host.title}: {played - len(problems)} of {played} as expected"
    if skipped:
        text += f", {skipped} skipped: `hookctl pack check` says why"
    yield Line(text, "error" if problems else "ok" if played else "skip")
    for row in problems:
        yield Line(f"{row['case']}: {row['problem']}", indent=2)
