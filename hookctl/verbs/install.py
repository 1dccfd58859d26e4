"""hookctl install: register a pack's hooks and env values; hookctl plan: say what that would do."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from hookctl import errors, report
from hookctl.errors import HookctlError
from hookctl.masking import masked
from hookctl.model import Conflict, Result
from hookctl.packs.choices import LIMIT_KEY, settings_from
from hookctl.packs.model import Pack
from hookctl.planner.content import Choice
from hookctl.planner.install import check_request, plan_install
from hookctl.planner.plan import FilePlan, Plan
from hookctl.planner.run import carry_out
from hookctl.settings.sources import Sources
from hookctl.settings.targets import GUARD, Target
from hookctl.system.folders import Folders

if TYPE_CHECKING:
    from hookctl.planner.consent import Permission, Review

_SILENT = 1.0  # seconds until progress is shown
# The first command for each mode, and what it does
_FIRST_STEPS = {
    "breaker": "run remaining 3  in a project: three pieces of work are left there",
    "keepalive": "run start        in a project: arms it for 12 hours; --for 8h says otherwise",
}


def install(
    folders: Folders,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    *,
    dry_run: bool,
    permission: Permission | None = None,
) -> Result:
    """Install the pack at these targets, or with `dry_run` only say what would change.

    A pack that is not built in needs consent; no `permission` is the least that there is.
    """
    check_request(pack, choice.settings)
    sources = Sources(folders)
    show_progress = _progress_reporter(targets) if len(targets) > 1 else None
    make_plan = partial(plan_install, sources, pack, targets, choice, show_progress)
    review: Review | None = None
    try:
        if pack.source:
            review, make_plan = _review(sources, pack, targets, make_plan, permission, dry_run)
        plan = make_plan() if dry_run else carry_out(sources, make_plan, report.say)
    except HookctlError as error:
        attempts = [partial(plan_install, sources, pack, [target], choice) for target in targets]
        problems = errors.problems_of(error, attempts)
        error_list = tuple(problem.as_dict() for problem in problems)
        return Result({}, errors=error_list, exit_code=error.exit_code)
    messages = tuple(message for file in plan.files for message in file.messages)
    if plan.conflicts:
        return _refuse(plan, messages)
    done = "" if dry_run else _describe_success(plan, pack, targets)
    text = report.plan_text(plan, dry_run=dry_run, done=done)
    data = report.plan_data(plan, dry_run=dry_run)
    if review is not None and not review.is_agreed:
        data["pack"] = review.data
    if review is not None and dry_run:
        text = [*review.text, *text]
        messages += review.warnings
    if len(targets) > 1:
        text += _summarize(plan, targets, "would change" if dry_run else "changed")
    return Result(data, tuple(text), messages)


def _review(
    sources: Sources,
    pack: Pack,
    targets: list[Target],
    make_plan: Callable[[], Plan],
    permission: Permission | None,
    dry_run: bool,
) -> tuple[Review | None, Callable[[], Plan]]:
    """What a pack brings, agreed to unless on a dry run, and a plan of that very content."""
    from hookctl.planner import consent

    plan = make_plan()
    if plan.conflicts:
        return None, make_plan
    review = consent.review(sources.folders, pack, plan)
    if not dry_run:
        command = _plan_command(pack, targets)
        consent.require_consent(review, permission or consent.Permission(), command)
    sources.forget()

    def make_reviewed_plan() -> Plan:
        plan = make_plan()
        consent.require_digest(plan, pack.name, review.digest)
        return plan

    return review, make_reviewed_plan


def _plan_command(pack: Pack, targets: list[Target]) -> str:
    """The command that shows what an install would write."""
    hosts = " ".join(f"--host {target.host.name}" for target in targets)
    scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
    return f"{report.program()} plan {shlex.quote(pack.source)} {hosts}{scope}"


def _progress_reporter(targets: list[Target]) -> Callable[[Target], None]:
    """A function that names each target on stderr, once planning has taken a while."""
    begin = time.monotonic()

    def show_progress(target: Target) -> None:
        if time.monotonic() - begin > _SILENT:
            report.progress(f"{targets.index(target) + 1} of {len(targets)}: {target.host.title}")

    return show_progress


def _summarize(plan: Plan, targets: list[Target], changed: str) -> list[str]:
    """A row for each host: its file, the result, and what is left to do."""
    planned = {file.target.path: file for file in plan.files}
    rows = [["HOST", "FILE", "RESULT", "LEFT TO DO"]]
    for target in targets:
        file = planned[target.path]
        outcome = changed if file.settings or file.runtime else "as it was"
        if file.decision.kept:
            outcome += f", kept {len(file.decision.kept)} of yours"
        path = report.tilde(target.path)
        rows.append([target.host.title, path, outcome, _next_action(target, file)])
    return ["", *report.table(rows)]


def _next_action(target: Target, file: FilePlan) -> str:
    """How to approve the hooks, if the host wants that and the plan says so; else ''."""
    if file.not_loaded:
        return "fix the file: it is not loaded"
    trust = target.host.trust
    if trust.gate and trust.gate in " ".join(file.messages):
        return trust.step(target.scope)
    return ""


def _describe_success(plan: Plan, pack: Pack, targets: list[Target]) -> str:
    broken = {file.target.path for file in plan.files if file.not_loaded}
    if broken:
        return _describe_partial_success(pack, targets, broken)
    title, program = ", ".join(target.host.title for target in targets), report.program()
    scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
    if pack.name != GUARD:
        undo = f"`{program} uninstall {pack.name}{scope}` takes it out."
        line = f"{pack.name} {pack.version} is installed for {title}. {undo}"
        return "\n".join([line, *_advise_on_commit(targets)])
    record = plan.files[0].record
    settings = settings_from(record.packs[GUARD].settings if record else {})
    if not settings.events:
        command = f"`{program} install --host {targets[0].host.name}{scope} --mode breaker`"
        return f"{pack.name} is off: it registers no hook of its own. {command} puts it back."
    lines = [
        f"{pack.name} is installed for {title}. Next:",
        *_advise_on_commit(targets),
        f"  {program} doctor           checks that it works",
    ]
    if settings.mode in _FIRST_STEPS:
        lines.append(f"  {program} {_FIRST_STEPS[settings.mode]}")
    return "\n".join(lines)


def _describe_partial_success(pack: Pack, targets: list[Target], broken: set[str]) -> str:
    """Where the pack is installed, and where it only stands in a file that the host drops."""
    installed = [target.host.title for target in targets if target.path not in broken]
    written = [target.host.title for target in targets if target.path in broken]
    lines = []
    if installed:
        lines.append(f"{pack.name} is installed for {', '.join(installed)}.")
    lines.append(
        f"{pack.name} is written, but not loaded by {', '.join(written)}: fix the file as the "
        "message says."
    )
    lines.append(f"`{report.program()} doctor` says when it is right.")
    return "\n".join(lines)


def _advise_on_commit(targets: list[Target]) -> list[str]:
    """Whether to commit the project's files."""
    paths = [os.path.relpath(target.path, target.project) for target in targets if target.project]
    names = " ".join(paths)
    if targets[0].shared:
        return [f"  commit {names} and .hookctl, so that every clone has it"]
    if names:
        return [f"  keep {names} out of version control: it names paths of this machine"]
    return []


def _refuse(plan: Plan, messages: tuple[str, ...]) -> Result:
    """The result when packs want different values."""
    error_list = []
    for file in plan.files:
        for conflict in file.decision.conflicts:
            error_list.append(_conflict_error(file.path, conflict).as_dict())
    data = {**report.plan_data(plan, dry_run=False), "actions": [], "files": []}
    return Result(data, (), messages, tuple(error_list), errors.FAILED)


def _conflict_error(path: str, conflict: Conflict) -> errors.HookctlError:
    key = str(conflict.path[-1])
    claims = []
    for pack, value in conflict.claims.items():
        text = json.dumps(masked(value, key), ensure_ascii=False)
        claims.append(f"{pack} wants {text}")
    message = f"{'.'.join(map(str, conflict.path))}: {', '.join(claims)}"
    agree = "give both the same value"
    if GUARD in conflict.claims and key == LIMIT_KEY:
        agree = f"want the same value (the guard's: --set {key}=N)"
    hint = (
        f"Take it over with --force, {agree} or merge rule in their pack files, "
        "or uninstall one of the packs."
    )
    return errors.HookctlError("conflict", message, path=path, hint=hint, exit_code=errors.FAILED)
