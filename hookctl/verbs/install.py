"""hookctl install: register a pack's hooks and env values; hookctl plan: say what that would do."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable
from functools import partial

from hookctl import errors, report
from hookctl.errors import HookctlError
from hookctl.masking import masked
from hookctl.model import Conflict, Line, Message, Result
from hookctl.output.lines import WARN, fix
from hookctl.output.plans import hints, plan_data, plan_text
from hookctl.output.words import program
from hookctl.packs.choices import LIMIT_KEY, settings_from
from hookctl.packs.guard import can_refuse
from hookctl.packs.model import Pack
from hookctl.packs.wrapping import is_wrap_id
from hookctl.planner.content import Choice
from hookctl.planner.install import check_request, plan_install
from hookctl.planner.permission import Permission
from hookctl.planner.plan import Plan
from hookctl.planner.preparing import prepare
from hookctl.planner.run import carry_out
from hookctl.settings.sources import Sources
from hookctl.settings.targets import GUARD, RULES, Target
from hookctl.system.folders import Folders
from hookctl.verbs.sharing import advise_on_commit

_SILENT = 1.0  # seconds until progress is shown
_WIDTH = 80  # columns
_DOES = {
    "breaker": "keeps an agent working while work remains, "
    "and lets it stop once it makes no progress any more",
    "keepalive": "keeps an agent going in a run that `hookctl run start` began, until the run ends",
    "guard": "never blocks by itself, and ends a chain of stops that other hooks force",
    "off": "refuses tool calls that are repeated too often",
}
# The first command for each mode, and what it does
_FIRST_STEPS = {
    "breaker": "run remaining 3    in a project: three pieces of work are left there",
    "keepalive": "run start    in a project: a run of 12 hours; --for 8h is one of 8",
}

_THEIR_TASK = "run status    in a project: what the system there says is left"


def install(
    folders: Folders,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    *,
    dry_run: bool,
    diff: bool = False,
    permission: Permission | None = None,
) -> Result:
    """Install the pack at these targets, or with `dry_run` only say what would change.

    A pack that is not built in needs consent; no `permission` is the least that there is.
    """
    check_request(pack, choice.settings)
    sources = Sources(folders)
    show_progress = _progress_reporter(targets) if len(targets) > 1 else None
    ask = None if dry_run else permission or Permission()
    command = _plan_command(pack, targets)
    try:
        make_plan, review = prepare(
            sources, pack, targets, choice, ask=ask, command=command, show_progress=show_progress
        )
        plan = make_plan() if dry_run else carry_out(sources, make_plan, report.say)
    except HookctlError as error:
        attempts = [partial(plan_install, sources, pack, [target], choice) for target in targets]
        problems = errors.problems_of(error, attempts)
        error_list = tuple(problem.as_dict() for problem in problems)
        return Result({}, errors=error_list, exit_code=error.exit_code)
    messages = tuple(message for file in plan.files for message in file.messages)
    messages += _report_without_effect(plan, choice)
    if plan.conflicts:
        return _refuse(plan, messages)
    done = _describe_success(folders, plan, pack, targets)
    text = plan_text(plan, dry_run=dry_run, done=done, diff=diff)
    data = plan_data(plan, dry_run=dry_run, diff=diff)
    if review is not None and not review.is_agreed:
        data["pack"] = review.data
    if review is not None and dry_run:
        text = [*review.text, *text]
        messages += review.messages
    below = () if plan.empty else hints(done)
    return Result(data, tuple(text), messages, hints=below)


def _report_without_effect(plan: Plan, choice: Choice) -> tuple[Message, ...]:
    """The limit that was asked for by name, where a value of the operator's stays instead."""
    asked = [
        text for text in choice.settings.assignments if text.upper().startswith(f"{LIMIT_KEY}=")
    ]
    if not asked:
        return ()
    messages = []
    for file in plan.files:
        host = file.target.host
        if any(action.path[-1:] == (LIMIT_KEY,) for action in file.decision.kept):
            text = f"{asked[-1]} has no effect for {host.title}: your own value stays"
            messages.append(Message(text, "no_effect", host=host.name, path=file.path))
    return tuple(messages)


def _plan_command(pack: Pack, targets: list[Target]) -> str:
    """The command that shows what an install would write."""
    hosts = " ".join(f"--host {target.host.name}" for target in targets)
    scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
    return f"{program()} plan {shlex.quote(pack.source)} {hosts}{scope}"


def _progress_reporter(targets: list[Target]) -> Callable[[Target], None]:
    """A function that names each target on stderr, once planning has taken a while."""
    begin = time.monotonic()

    def show_progress(target: Target) -> None:
        if time.monotonic() - begin > _SILENT:
            report.progress(f"{targets.index(target) + 1} of {len(targets)}: {target.host.title}")

    return show_progress


def _describe_success(
    folders: Folders, plan: Plan, pack: Pack, targets: list[Target]
) -> list[str | Line]:
    """What the pack does now, where it is loaded, and the next steps."""
    unloaded = [file.target.host.title for file in plan.files if file.not_loaded]
    switched_off = [file.target.host.title for file in plan.files if file.switched_off]
    if not unloaded and not switched_off:
        return _describe_effect(folders, plan, pack, targets)
    if not unloaded:
        text = f"{pack.name} is written, but hooks are switched off for {', '.join(switched_off)}."
        return [Line(text), *_next(folders, plan, targets, ["doctor"])]
    text = f"{pack.name} is written, but not loaded by {', '.join(unloaded)}: see the message."
    return [Line(text), *_next(folders, plan, targets, ["doctor"])]


def _describe_effect(
    folders: Folders, plan: Plan, pack: Pack, targets: list[Target]
) -> list[str | Line]:
    """What a pack that every host loads does now, and the next steps."""
    scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
    if pack.name != GUARD:
        undo = f"`{program()} uninstall {pack.name}{scope}` takes it out."
        text = f"{_describe_installed(plan, pack)} {undo}"
        return [Line(text), *_next(folders, plan, targets, [])]
    record = plan.files[0].record
    settings = settings_from(record.packs[GUARD].settings if record else {})
    if settings.events and not _hosts_with_hooks(plan, GUARD):
        text = "the guard does not run: none of its hooks is registered"
        return [Line(text, WARN), fix("add --force, or see what `hookctl doctor` says")]
    if not settings.events and record and any(is_wrap_id(entry.id) for entry in record.entries):
        text = "The guard limits the denials of the hooks that it wraps, and does nothing else."
        return [Line(text), *_next(folders, plan, targets, ["doctor"])]
    if not settings.events:
        command = f"`{program()} install --host {targets[0].host.name}{scope} --mode breaker`"
        return [Line(f"The guard is off: it registers no hook of its own. {command} starts it.")]
    steps = ["doctor"]
    if settings.mode == "breaker" and settings.reads_anothers_task:
        steps.append(_THEIR_TASK)
    elif settings.mode in _FIRST_STEPS:
        steps.append(_FIRST_STEPS[settings.mode])
    if not settings.effective.get("dispatch_tools"):
        steps += _advise_on_dispatch(targets)
    return [
        Line(f"The guard {_describe_mode(settings.mode, targets)}."),
        *_describe_looks(settings.mode, targets),
        *_next(folders, plan, targets, steps),
    ]


def _describe_looks(mode: str, targets: list[Target]) -> list[Line]:
    """How a host shows a block where that looks like a failure."""
    lines = []
    for host in {target.host.name: target.host for target in targets}.values():
        shown = host.client.block_shown
        if shown and mode in _FIRST_STEPS:
            lines.append(Line(f"{host.title} shows that as `{shown}`; it is no failure."))
    return lines


def _advise_on_dispatch(targets: list[Target]) -> list[str]:
    """The step against an agent that calls one tool for ever: no stop hook is asked then."""
    hosts = [target.host for target in targets if can_refuse(target.host)]
    if not hosts:
        return []
    scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
    names = "".join(f" --host {host.name}" for host in hosts)
    command = f"install{names}{scope} --dispatch '*'"
    can_end = all(host.dialect.refuse_end for host in hosts)
    text = f"{command}    {'ends a turn stuck on one call' if can_end else 'refuses endless calls'}"
    return [text if len(f"  {program()} {text}") <= _WIDTH else command]


def _describe_mode(mode: str, targets: list[Target]) -> str:
    """What the guard does in a mode, where every one of these hosts lets it."""
    titles = [target.host.title for target in targets if not target.host.dialect.end]
    if mode == "guard" and titles:
        return f"never blocks by itself, and only counts on {', '.join(titles)}: see the message"
    return _DOES[mode]


def _describe_installed(plan: Plan, pack: Pack) -> str:
    """Where a pack is installed; a pack whose hooks are registered nowhere is not."""
    from hookctl.packs.wants import has_hooks

    titles = _hosts_with_hooks(plan, pack.name)
    settings = [file for file in plan.files if file.target.host.format != RULES]
    if not has_hooks(pack) or len(titles) == len(settings):
        return f"{pack.name} {pack.version} is installed."
    if titles:
        return f"{pack.name} {pack.version} is installed for {' and '.join(titles)}."
    return f"No hook of {pack.name} {pack.version} is registered."


def _hosts_with_hooks(plan: Plan, pack: str) -> list[str]:
    """The hosts whose settings have a hook of the pack once the plan is carried out."""
    titles = []
    for file in plan.files:
        removed = {action.id for action in file.decision.kept if action.from_state == "missing"}
        for entry in file.record.entries if file.record else ():
            is_hook = entry.id.startswith(f"{pack}/") and not is_wrap_id(entry.id)
            if is_hook and entry.id not in removed:
                titles.append(file.target.host.title)
                break
    return titles


def _next(
    folders: Folders, plan: Plan, targets: list[Target], steps: list[str]
) -> list[str | Line]:
    """The next steps: what to do with the project's files, and commands to copy."""
    lines: list[str | Line] = [*advise_on_commit(folders, plan, targets)]
    lines += [f"  {program()} {step}" for step in steps]
    return ["Next:", *lines] if lines else []


def _refuse(plan: Plan, messages: tuple[Message, ...]) -> Result:
    """The result when packs want different values."""
    error_list = []
    for file in plan.files:
        for conflict in file.decision.conflicts:
            error_list.append(_conflict_error(file.path, conflict).as_dict())
    data = {**plan_data(plan, dry_run=False), "actions": [], "files": [], "changed": False}
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
