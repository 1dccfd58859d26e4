"""The effect of an install: what the pack does now, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterator

from hookctl.model import WRAP, Line
from hookctl.output.lines import WARN, fix, program
from hookctl.packs.abilities import count_blocks
from hookctl.packs.choices import Settings, settings_from
from hookctl.packs.guard import can_refuse, cost_of_run, wanted_limit
from hookctl.packs.model import MANIFEST, Pack
from hookctl.planner.draft import Draft
from hookctl.planner.plan import Plan
from hookctl.settings.targets import GUARD, RULES, Target
from hookctl.system import git, project
from hookctl.system.folders import Folders

_NAMED = 2  # hosts; for more a command does not name each
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
_NO_REPOSITORY = "this is no git repository, so no clone brings it to others: `git init` makes one"
_THEIR_TASK = "run status    in a project: what the system there says is left"


def describe_success(
    folders: Folders, plan: Plan, pack: Pack, targets: list[Target]
) -> list[str | Line]:
    """What the pack does now, where it is loaded, and the next steps."""
    unloaded = [file.target.host.title for file in plan.files if file.not_loaded]
    switched_off = [file.target.host.title for file in plan.files if file.switched_off]
    scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
    steps = ["doctor"]
    if unloaded:
        text = f"{pack.name} is written, but not loaded by {', '.join(unloaded)}: see the message."
    elif switched_off:
        text = f"{pack.name} is written, but hooks are switched off for {', '.join(switched_off)}."
    elif pack.name != GUARD and targets[0].shared and not plan.changes:
        # Only what this machine knows of it is new: a colleague has installed it.
        return [Line(f"{pack.name} {pack.version} is here already: nothing to do")]
    elif pack.name != GUARD:
        undo = f"`{program()} uninstall {pack.name}{scope}` takes it out."
        text, steps = f"{_describe_installed(plan, pack)} {undo}", []
    else:
        return _describe_guard(folders, plan, targets, scope)
    return [Line(text), *_next(folders, plan, targets, steps)]


def _describe_guard(
    folders: Folders, plan: Plan, targets: list[Target], scope: str
) -> list[str | Line]:
    """What a guard that every host loads does now, and the next steps."""
    record = plan.files[0].record
    settings = settings_from(record.packs[GUARD].settings if record else {})
    if settings.events and not _hosts_with_hooks(plan, GUARD):
        text = "the guard does not run: none of its hooks is registered"
        return [Line(text, WARN), fix("add --force, or see what `hookctl doctor` says")]
    if (
        not settings.events
        and record
        and any(entry.id.startswith(WRAP) for entry in record.entries)
    ):
        text = "The guard limits the denials of the hooks that it wraps, and does nothing else."
        return [Line(text), *_next(folders, plan, targets, ["doctor"])]
    if not settings.events:
        option = "--dispatch '*'" if settings.preset == "rockbot" else "--mode breaker"
        command = f"`{program()} install --host {targets[0].host.name}{scope} {option}`"
        return [Line(f"The guard is off: it registers no hook of its own. {command} starts it.")]
    reporting = _advise_on_reporting(plan, scope)
    if all(_was_like_that(file, settings) for file in plan.files):
        return _next(folders, plan, targets, [one for one in reporting if "--rules" not in one])
    steps = ["doctor"]
    only_watches = not any(target.host.dialect.block for target in targets)
    if settings.mode == "breaker" and settings.reads_anothers_task:
        steps.append(_THEIR_TASK)
    elif settings.mode in _FIRST_STEPS and not only_watches:
        steps.append(_FIRST_STEPS[settings.mode])
    steps += reporting
    if not settings.effective.get("dispatch_tools"):
        steps += _advise_on_dispatch(targets, scope)
    does = _DOES[settings.mode]
    counting = [target.host.title for target in targets if not target.host.dialect.end]
    if settings.mode == "guard" and counting:
        does = f"never blocks by itself, and only counts on {', '.join(counting)}: see the message"
    if settings.mode in _FIRST_STEPS and only_watches:
        does = "only watches there: see the message"
    lines = [Line(f"The guard {does}.")]
    if settings.mode == "keepalive":
        lines.append(
            Line(f"A run costs {cost_of_run(settings.effective.get('keepalive_cap', 0))}.")
        )
    return [
        *lines,
        *_describe_blocks(settings, targets),
        *_next(folders, plan, targets, steps),
    ]


def _advise_on_reporting(plan: Plan, scope: str) -> list[str]:
    """The step with which the agent itself reports its work, where it does not yet."""
    hosts: dict[str, str] = {}
    for file in plan.files:
        options = _reporting_options(file)
        if options:
            hosts[options] = f"{hosts.get(options, '')} --host {file.target.host.name}"
    steps = []
    for options, names in hosts.items():
        does = "lets the agent itself report its work"
        if "--rules" not in options:
            does = "lets it report without asking; a headless agent is refused otherwise"
        steps.append(f"install{names}{scope}{options}\n{does}")
    return steps


def _reporting_options(file: Draft) -> str:
    """The options with which the agent itself would report its work here; empty if it does."""
    permission, record = file.target.host.permission, file.record
    if not permission.path or record is None or GUARD not in record.packs:
        return ""
    chosen = record.packs[GUARD].settings
    settings = settings_from(chosen)
    if settings.mode not in _FIRST_STEPS or settings.reads_anothers_task:
        return ""
    is_told = chosen.get("rules") is True or settings.effective.get("guidance") is True
    is_allowed = settings.allow_run or permission.rules_in(file.before, permission.path)
    return " --rules" * (not is_told) + " --allow-run" * (not is_allowed)


def _was_like_that(file: Draft, settings: Settings) -> bool:
    """Whether the guard was there before the run, in the same mode and preset; or has no part."""
    if file.record is None or GUARD not in file.record.packs:
        return True
    known = file.known.packs.get(GUARD) if file.known else None
    if known is None:
        return False
    before = settings_from(known.settings)
    return (before.mode, before.preset) == (settings.mode, settings.preset)


def _describe_blocks(settings: Settings, targets: list[Target]) -> list[Line]:
    """How many blocks a host takes in a turn, and how it shows one that looks like a failure.

    A message says the first where that is less than the limit.
    """
    blocks = settings.mode in _FIRST_STEPS
    hosts = {target.host.name: target.host for target in targets if blocks}
    lines = []
    for host in hosts.values():
        if host.cap.get("asks") and host.cap["default"] >= int(wanted_limit(settings)):
            most = count_blocks(host, host.cap["default"])
            lines.append(Line(f"{host.title} takes {most}, and no more."))
        if host.client.block_shown:
            shown = f"{host.title} shows that as `{host.client.block_shown}`; it is no failure."
            lines.append(Line(shown))
    return lines


def _advise_on_dispatch(targets: list[Target], scope: str) -> list[str]:
    """The step against an agent that calls one tool for ever, which never asks a stop hook."""
    hosts = [target.host for target in targets if can_refuse(target.host)]
    if not hosts:
        return []
    names = "".join(f" --host {host.name}" for host in hosts)
    if len(hosts) > _NAMED:
        names = " --host NAME"
    command = f"install{names}{scope} --dispatch '*'"
    can_end = all(host.dialect.refuse_end for host in hosts)
    reason = "ends a turn stuck on one call" if can_end else "refuses endless calls"
    text = f"{command}    {reason}"
    return [text if len(f"  {program()} {text}") <= _WIDTH else f"{command}\n{reason}"]


def _describe_installed(plan: Plan, pack: Pack) -> str:
    """Where a pack is installed; a pack whose hooks are registered nowhere is not."""
    titles = _hosts_with_hooks(plan, pack.name)
    settings = [file for file in plan.files if file.target.host.format != RULES]
    if not pack.has_hooks or len(titles) == len(settings):
        return f"{pack.name} {pack.version} is installed."
    if titles:
        return f"{pack.name} {pack.version} is installed for {', '.join(titles)}."
    return f"No hook of {pack.name} {pack.version} is registered."


def _hosts_with_hooks(plan: Plan, pack: str) -> list[str]:
    """The hosts whose settings have a hook of the pack once the plan is carried out."""
    titles = []
    for file in plan.files:
        removed = {action.id for action in file.kept if action.from_state == "missing"}
        for entry in file.record.entries if file.record else ():
            is_hook = entry.id.startswith(f"{pack}/") and not entry.id.startswith(WRAP)
            if is_hook and entry.id not in removed:
                titles.append(file.target.host.title)
                break
    return titles


def _next(
    folders: Folders, plan: Plan, targets: list[Target], steps: list[str]
) -> list[str | Line]:
    """The next steps: what to do with the project's files, and commands to copy."""
    lines: list[str | Line] = []
    if targets[0].project:
        lines += _advise_on_commit(folders, plan, targets)
    for step in steps:
        command, *reasons = step.split("\n")
        lines += [f"  {program()} {command}", *(f"      {reason}" for reason in reasons)]
    return ["Next:", *lines] if lines else []


def _advise_on_commit(folders: Folders, plan: Plan, targets: list[Target]) -> list[Line]:
    """Whether to commit the project's files, and before that what keeps them out of clones."""
    paths = []
    for file in plan.files:
        is_asked = file.target in targets or file.target.host.format == RULES
        if is_asked and file.target.project and file.after is not None:
            paths.append(file.target.path)
    root = targets[0].project
    paths += _find_sources(plan, root)
    names = " ".join(os.path.relpath(path, root) for path in paths)
    if targets[0].shared:
        ignored = list(_describe_ignored(folders, root, paths))
        commit = f"commit {names} and .hookctl, so that every clone has it"
        lines = [*ignored, f"once git takes them, {commit}" if ignored else commit]
        if not git.find_top(root):
            lines.insert(0, _NO_REPOSITORY)
    elif names:
        lines = [f"keep {names} out of version control: it names paths of this machine"]
    else:
        lines = []
    return [Line(text, indent=2) for text in lines]


def _find_sources(plan: Plan, root: str) -> list[str]:
    """The packs that the project's record names, and their files: an upgrade needs all of them."""
    sources: dict[str, None] = {}
    for file in plan.files:
        if file.target.shared and file.record:
            for pack in file.record.packs.values():
                if pack.source.startswith(f"{root}/"):
                    folder = os.path.dirname(pack.source)
                    names = [name for name in pack.files if name != MANIFEST]
                    files = [os.path.join(folder, name) for name in names]
                    sources.update(dict.fromkeys([pack.source, *files]))
    return list(sources)


def _describe_ignored(folders: Folders, root: str, paths: list[str]) -> Iterator[str]:
    """Which of these files, and of those in hookctl's folder, git would not bring to a clone."""
    paths = [*paths, *project.shared_files(root)]
    for rule in git.find_ignored(root, paths, folders.environ, folders.state):
        yield (
            f"{rule.describe(root)}, so no clone gets it: remove that line, "
            "or install with --scope local instead"
        )
