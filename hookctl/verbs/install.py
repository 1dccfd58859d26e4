"""hookctl install: register a pack's hooks and env values; hookctl plan: say what that would do."""

from __future__ import annotations

import json
import os
import time
from functools import partial

from hookctl import errors, report
from hookctl.errors import HookctlError
from hookctl.masking import masked
from hookctl.model import Conflict, Result
from hookctl.packs.choices import LIMIT_KEY, settings_from
from hookctl.packs.model import Pack
from hookctl.planner.content import Choice
from hookctl.planner.install import check_request, plan_install
from hookctl.planner.plan import Plan
from hookctl.planner.run import carry_out
from hookctl.settings.sources import Sources
from hookctl.settings.targets import GUARD, Target
from hookctl.system.folders import Folders

_SILENT = 1.0  # seconds before somebody who waits is told what goes on
# mode: what an operator does first, and what that means
_FIRST_STEPS = {
    "breaker": "run remaining 3  in a project: three pieces of work are left there",
    "keepalive": "run start        in a project: arms it for 12 hours; --for 8h says otherwise",
}


def install(
    folders: Folders, pack: Pack, targets: list[Target], choice: Choice, *, dry_run: bool
) -> Result:
    """Install the pack at these places, or with `dry_run` only say what would change."""

    check_request(pack, choice.settings)
    begin, sources = time.monotonic(), Sources(folders)

    def looking(target: Target) -> None:
        if time.monotonic() - begin > _SILENT:
            report.progress(f"{targets.index(target) + 1} of {len(targets)}: {target.host.title}")

    make_plan = partial(
        plan_install, sources, pack, targets, choice, looking if len(targets) > 1 else None
    )
    try:
        plan = make_plan() if dry_run else carry_out(sources, make_plan, report.say)
    except HookctlError as error:
        attempts = [partial(plan_install, sources, pack, [target], choice) for target in targets]
        problems = errors.problems_of(error, attempts)
        return Result(
            {}, errors=tuple(problem.as_dict() for problem in problems), exit_code=error.exit_code
        )
    messages = tuple(message for file in plan.files for message in file.messages)
    if plan.conflicts:
        return _refused(plan, messages)
    done = "" if dry_run else _installed(plan, pack, targets)
    text = report.plan_text(plan, dry_run=dry_run, done=done)
    summary = (
        _summary(plan, targets, "would change" if dry_run else "changed")
        if len(targets) > 1
        else []
    )
    return Result(report.plan_data(plan, dry_run=dry_run), (*text, *summary), messages)


def _summary(plan: Plan, targets: list[Target], changed: str) -> list[str]:
    """A row a host: its file, what became of it, and what is left to do there."""
    by_path = {file.target.path: file for file in plan.files}
    rows = [["HOST", "FILE", "RESULT", "LEFT TO DO"]]
    for target in targets:
        file = by_path[target.path]
        became = changed if file.settings or file.runtime else "as it was"
        gate = target.host.trust
        step = (
            gate.action
            if gate.gate and file.messages and gate.gate in " ".join(file.messages)
            else ""
        )
        kept = f", kept {len(file.decision.kept)} of yours" if file.decision.kept else ""
        rows.append([target.host.title, report.tilde(target.path), became + kept, step])
    return ["", *report.table(rows)]


def _installed(plan: Plan, pack: Pack, targets: list[Target]) -> str:
    title, hookctl = ", ".join(target.host.title for target in targets), report.program()
    if pack.name != GUARD:
        scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
        out = f"`{hookctl} uninstall {pack.name}{scope}` takes it out."
        return "\n".join(
            [f"{pack.name} {pack.version} is installed for {title}. {out}", *_commit(targets)]
        )
    record = plan.files[0].record
    settings = settings_from(record.packs[GUARD].settings if record else {})
    scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
    if not settings.events:
        back = f"`{hookctl} install --host {targets[0].host.name}{scope} --mode breaker`"
        return f"{pack.name} is off: it registers no hook of its own. {back} puts it back."
    return "\n".join(
        [
            f"{pack.name} is installed for {title}. Next:",
            *_commit(targets),
            f"  {hookctl} doctor           checks that it works",
            *(
                [f"  {hookctl} {_FIRST_STEPS[settings.mode]}"]
                if settings.mode in _FIRST_STEPS
                else []
            ),
        ]
    )


def _commit(targets: list[Target]) -> list[str]:
    """What is to be done with the files of a project."""
    names = " ".join(
        os.path.relpath(target.path, target.project) for target in targets if target.project
    )
    if targets[0].shared:
        return [f"  commit {names} and .hookctl, so that every clone has it"]
    return (
        [f"  keep {names} out of version control: it names paths of this machine"] if names else []
    )


def _refused(plan: Plan, messages: tuple[str, ...]) -> Result:
    error_list = tuple(
        _conflict_error(file.path, c).as_dict()
        for file in plan.files
        for c in file.decision.conflicts
    )
    data = {**report.plan_data(plan, dry_run=False), "actions": [], "files": []}
    return Result(data, (), messages, error_list, errors.FAILED)


def _conflict_error(path: str, conflict: Conflict) -> errors.HookctlError:
    key = str(conflict.path[-1])
    quoted = {
        pack: json.dumps(masked(value, key), ensure_ascii=False)
        for pack, value in conflict.claims.items()
    }
    claims = ", ".join(f"{pack} wants {text}" for pack, text in quoted.items())
    message = f"{'.'.join(map(str, conflict.path))}: {claims}"
    same = "give both the same value"
    if GUARD in conflict.claims and key == LIMIT_KEY:
        same = f"want the same value (the guard's: --set {key}=N)"
    hint = f"Take it over with --force, {same} or merge rule in their pack files, or uninstall one of the packs."
    return errors.HookctlError("conflict", message, path=path, hint=hint, exit_code=errors.FAILED)
