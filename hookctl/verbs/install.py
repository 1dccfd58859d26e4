"""hookctl install: register a pack's hooks and env values; hookctl plan: say what that would do."""

from __future__ import annotations

import json
import os
import shlex
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from hookctl import errors, report
from hookctl.documents import MISSING, formats
from hookctl.errors import HookctlError
from hookctl.hosts import Host
from hookctl.masking import masked
from hookctl.model import GIT, WRAP, Action, Line, Message, Result
from hookctl.output.lines import WARN, fix, program
from hookctl.output.plans import plan_result
from hookctl.packs import load
from hookctl.packs.choices import (
    Choice,
    Permission,
    Request,
    Settings,
    asked_names,
    settings_from,
)
from hookctl.packs.guard import can_refuse, cost_of_run
from hookctl.packs.model import MANIFEST, Pack
from hookctl.planner.draft import Draft
from hookctl.planner.install import (
    agree,
    check_request,
    find_lacking,
    plan_agreed,
    plan_install,
    review_of,
)
from hookctl.planner.records import Plan
from hookctl.planner.run import carry_out, finish_pending, locked_run
from hookctl.planner.sources import Sources
from hookctl.settings.targets import GUARD, RULES, Target
from hookctl.system.folders import Folders
from hookctl.verbs import choosing

if TYPE_CHECKING:  # late: most calls are about the guard
    from hookctl.planner.consent import Review

_SILENT = 1.0  # seconds until progress is shown

_NAMED = 2  # hosts; for more a command does not name each
_OUT = ("missing", "disabled")  # states of hooks that do not come into the file
_DOES = {
    "breaker": "keeps an agent working while work remains, "
    "and lets it stop once it makes no progress any more",
    "keepalive": "keeps an agent going in a run that `hookctl run start` began, until the run ends",
    "guard": "never blocks by itself, and ends a chain of stops that other hooks force",
    "off": "refuses tool calls that are repeated too often",
}
# The first command for each mode, and what it does
_FIRST_STEPS = {
    "breaker": "run remaining 3\nin a project: three pieces of work are left there",
    "keepalive": "run start\nin a project: a run of 12 hours; --for 8h is one of 8",
}

HELP = """
Examples:
  hookctl install --host claude
  hookctl install --host claude --set MAX_STOP_BLOCKS=8
  hookctl install --host claude --scope project  for each clone of it
  hookctl install ./notify.toml --host claude    a pack of your own
  hookctl install git+https://github.com/ORG/REPO@v1 --host claude
"""


def install(
    folders: Folders,
    pack: str = GUARD,
    host: Sequence[str] = (),
    scope: str = "user",
    mode: str = "",
    preset: str = "",
    assign: Sequence[str] = (),
    nudge: str | None = None,
    nudge_env: str | None = None,
    dispatch: Sequence[str] = (),
    wrap: str | None = None,
    guidance: bool = False,
    rules: bool = False,
    allow_run: bool = False,
    reset: bool = False,
    force: bool = False,
    yes: bool = False,
    allow_env: Sequence[str] = (),
    accept_changed: bool = False,
    dry_run: bool = False,
    diff: bool = False,
    json: bool = False,
    project: str = "",
) -> Result:
    """Install a pack for these hosts, or with `dry_run` only say what would change."""
    hosts = choosing.choose_hosts(host, scope, json)
    if not dry_run and folders.has_unfinished_run():
        finish_pending(folders, report.say)
    targets = choosing.find_targets(folders, hosts, scope, project)
    content = load_source(folders, pack) if pack.startswith(GIT) else load(pack)
    wish = Request(
        mode, preset, assign, nudge, nudge_env, dispatch, wrap, guidance, rules, allow_run
    )
    choice = Choice(wish, reset, force, allow_env, enables=force)
    permission = Permission()
    if content.source:
        permission = choosing.permission(yes, accept_changed, json)
    return install_at(folders, content, targets, choice, permission, dry_run=dry_run, diff=diff)


def load_source(folders: Folders, source: str) -> Pack:
    """The pack of this name or path, or from this address of git."""
    if source.startswith(GIT):
        from hookctl.packs.git_source import load_from_git  # late: few packs come from git

        return load_from_git(source, folders, report.progress)
    return load(source)


def install_at(
    folders: Folders,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    permission: Permission,
    *,
    dry_run: bool,
    diff: bool = False,
) -> Result:
    """Install a pack at these targets, or with `dry_run` only say what would change."""
    check_request(pack, choice.settings)
    sources, review = Sources(folders), None
    if pack.source and not dry_run:  # it is shown, and a person asked, before the lock is taken
        named = " ".join(f"--host {target.host.name}" for target in targets)
        scope = _scope_option(targets[0])
        command = f"{program()} plan {shlex.quote(pack.source)} {named}{scope}"
        review = agree(sources, pack, targets, choice, permission, command)
    with locked_run(folders, report.say, dry_run=dry_run):
        sources.forget()
        plan, review = install_agreed(sources, pack, targets, choice, review, dry_run=dry_run)
    if plan.conflicts:
        result = plan_result(plan, dry_run=False)
        data = {**result.data, "actions": [], "files": [], "changed": False}
        error_list = tuple(error.as_dict() for error in list_conflicts(plan))
        return Result(data, (), result.messages, error_list, errors.FAILED)
    ineffective, notes = _find_ineffective(plan, pack, choice, targets)
    done: list[str | Line] = []
    if not plan.empty and not ineffective:
        done = _describe_success(folders, plan, pack, targets)
    warned = {error.path for error in ineffective}
    result = plan_result(plan, done, dry_run=dry_run, diff=diff, warned=warned)
    if review is not None:
        result = with_review(result, review, dry_run=dry_run)
        if not review.is_agreed:
            result.data["pack"] = review.data
    messages = [Message(str(error), error.code, path=error.path) for error in notes]
    return result._replace(
        messages=(*result.messages, *messages),
        errors=tuple(error.as_dict() for error in ineffective),
        exit_code=errors.FAILED if ineffective else errors.OK,
    )


def install_agreed(
    sources: Sources,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    review: Review | None,
    *,
    dry_run: bool,
) -> tuple[Plan, Review | None]:
    """Install what was agreed to, in a locked run; a dry run reviews what it would bring."""
    begin = time.monotonic()

    def show_progress(target: Target) -> None:
        if time.monotonic() - begin > _SILENT:
            report.progress(f"{targets.index(target) + 1} of {len(targets)}: {target.host.title}")

    looking = show_progress if len(targets) > 1 else None
    make_plan = partial(plan_install, sources, pack, targets, choice, looking)
    if pack.source and not dry_run:
        make_plan = partial(plan_agreed, make_plan, pack, review)
    projects = [target.project for target in targets if target.shared]
    plan = carry_out(sources, make_plan, report.say, projects=projects, dry_run=dry_run)
    if pack.source and dry_run:
        review = review_of(sources, pack, plan)
    return plan, review


def with_review(result: Result, review: Review | None, *, dry_run: bool) -> Result:
    """The result of a dry run for a pack that is not built in, with what it brings."""
    if review is None or not dry_run:
        return result
    text, messages = (*review.text, *result.text), result.messages + review.messages
    return result._replace(text=text, messages=messages)


def _find_ineffective(
    plan: Plan, pack: Pack, choice: Choice, targets: list[Target]
) -> tuple[list[HookctlError], list[HookctlError]]:
    """What was asked for and does not come about; apart what is only to be said."""
    found, asked = [], asked_names(choice.settings)
    for file in plan.files:
        reasons: dict[str, str] = {}
        if choice.settings.allow_run:
            reasons["the list of what its agent may do"] = _find_refused(file)
        for action in file.kept:
            if action.from_state == "disabled":
                reasons[pack.name] = f"{action.reason}; --force does too"
            elif _is_asked(file, action, asked, choice.settings):
                is_rules = file.target.host.format == RULES
                name = "the block of rules" if is_rules else action.id or str(action.path[-1])
                reasons[name] = action.reason
        for name, text in reasons.items():
            if text:
                reason, _, forced = text.partition("; --force")
                message = f"{name} stays as it is for {file.target.host.title}: {reason}"
                hint = "Add --force to take it over." if forced else "Put it right by hand."
                code = errors.FAILED
                found.append(
                    HookctlError("no_effect", message, path=file.path, hint=hint, exit_code=code)
                )
    lacking = []
    if choice.settings.allow_run:
        lacking += find_lacking([target.host for target in targets], choice.settings)
    if len(lacking) == len(targets):
        found, lacking = found + lacking, []
    if choice.reset:  # it asks for a state, and what a person has changed since is no failure
        return [], lacking + found
    return found, lacking


def _is_asked(file: Draft, action: Action, asked: set[str], request: Request) -> bool:
    """Whether what is kept stands in the way of something that was asked for by name."""
    if file.target.host.format == RULES:
        return request.rules and action.path[0] == GUARD
    if action.id.startswith(WRAP):
        return request.wrap is not None
    if action.id:
        return action.id in asked and action.from_state == "missing"
    return action.path[-1] in asked


def _find_refused(file: Draft) -> str:
    """Why the agent must still ask before `hookctl run` after this change; empty if it need not."""
    host, permission = file.target.host, file.target.host.permission
    if not permission.path or file.after is None or host.format == RULES:
        return ""
    document = formats.parse(host.format, file.after, where=file.path)
    for above in permission.against:
        for rule in permission.rules_in(document, above):
            return f"{rule} in {'.'.join(above)} stands against it"
    for text in permission.texts:
        if document.get((*permission.path, text)) is MISSING:
            return f"{text} is not in {'.'.join(permission.path)}; --force puts it there"
    return ""


def list_conflicts(plan: Plan) -> list[HookctlError]:
    """An error for each value that packs want differently."""
    found = []
    for file in plan.files:
        for conflict in file.conflicts:
            key = str(conflict.path[-1])
            claims = []
            for pack, value in conflict.claims.items():
                text = json.dumps(masked(value, key), ensure_ascii=False)
                claims.append(f"{pack} wants {text}")
            message = f"{'.'.join(map(str, conflict.path))}: {', '.join(claims)}"
            hint = (
                "Take it over with --force, give both the same value or merge rule "
                "(the guard's: --set), or uninstall one of the packs."
            )
            found.append(
                HookctlError(
                    "conflict", message, path=file.path, hint=hint, exit_code=errors.FAILED
                )
            )
    return found


# What the pack does now, and what to do next.


def _describe_success(
    folders: Folders, plan: Plan, pack: Pack, targets: list[Target]
) -> list[str | Line]:
    """What the pack does now, where it is loaded, and the next steps."""
    idle = [file for file in plan.files if file.not_loaded or file.switched_off]
    titles = _hosts_with_hooks(plan, pack.name)
    scope = _scope_option(targets[0])
    steps = ["doctor"]
    if idle:
        stopped = ", ".join(file.target.host.title for file in idle)
        text = f"{pack.name} is written, but does not run in {stopped}: see the message."
    elif pack.name == GUARD:
        return _describe_guard(folders, plan, targets)
    elif not plan.changes:  # only what this machine knows of it is new: a colleague installed it
        return [Line("nothing to do")]
    else:
        text, steps = f"{pack.name} {pack.version} is installed", []
        if pack.has_hooks:
            text += f" for {', '.join(titles) or 'no host'}"
        text += f". `{program()} uninstall {pack.name}{scope}` takes it out."
    return [Line(text), *_next(folders, plan, targets, steps)]


def _describe_guard(folders: Folders, plan: Plan, targets: list[Target]) -> list[str | Line]:
    record = plan.files[0].record
    settings = settings_from(record.packs[GUARD].settings if record else {})
    hosts = [target.host for target in targets]
    if not _hosts_with_hooks(plan, GUARD):
        if settings.events:
            text = "the guard does not run: none of its hooks is registered"
            return [Line(text, WARN), fix("add --force, or see what `hookctl doctor` says")]
        command = f"{program()} install{_name(hosts)}{_scope_option(targets[0])} --mode breaker"
        return [Line(f"The guard registers no hook of its own: `{command}` starts it.")]
    if not any(_is_new(file, settings) for file in plan.files):
        return _next(folders, plan, targets, [])
    does = _DOES[settings.mode]
    if settings.mode == "guard" and not all(host.dialect.end for host in hosts):
        does = "never blocks by itself, and may only count: see the message"
    blocks = settings.mode in _FIRST_STEPS
    if blocks and not any(host.dialect.block for host in hosts):
        does = "only watches there: see the message"
        blocks = False
    lines = [Line(f"The guard {does}.")]
    if settings.mode == "keepalive":
        cost = cost_of_run(settings.effective.get("keepalive_cap", 0))
        lines.append(Line(f"A run costs {cost}."))
    for host in hosts if blocks else ():
        if host.client.block_shown:
            shown = f"{host.title} shows that as `{host.client.block_shown}`; it is no failure."
            lines.append(Line(shown))
    has_rules = bool(record and record.packs[GUARD].settings.get("rules"))
    is_told = has_rules or bool(settings.effective.get("guidance"))
    scope = _scope_option(targets[0])
    steps = _advise(hosts, settings, scope, blocks=blocks, is_told=is_told)
    return [*lines, *_next(folders, plan, targets, steps)]


def _is_new(file: Draft, settings: Settings) -> bool:
    """Whether the guard comes into a file, or into another mode or preset there."""
    if file.record is None or GUARD not in file.record.packs:
        return False
    if file.known is None or GUARD not in file.known.packs:
        return True
    before = settings_from(file.known.packs[GUARD].settings)
    return (before.mode, before.preset) != (settings.mode, settings.preset)


def _advise(
    hosts: list[Host], settings: Settings, scope: str, *, blocks: bool, is_told: bool
) -> list[str]:
    """The steps after a first install: commands, each with what it does on a line of its own."""
    steps = ["doctor"]
    if blocks and settings.reads_anothers_task:
        steps.append("run status\nin a project: what the system there says is left")
    elif blocks:
        steps.append(_FIRST_STEPS[settings.mode])
        able = [host for host in hosts if host.permission.path]
        if able and not settings.allow_run:
            options = f"{_name(able)}{scope}{'' if is_told else ' --rules'} --allow-run"
            steps.append(f"install{options}\nlets the agent itself report its work")
    refusing = [host for host in hosts if can_refuse(host)]
    if refusing and not settings.effective.get("dispatch_tools"):
        options = f"{_name(refusing)}{scope} --dispatch '*'"
        steps.append(f"install{options}\nrefuses endless calls of one tool")
    return steps


def _name(hosts: Sequence[Host]) -> str:
    if len(hosts) > _NAMED:
        return " --host NAME"
    return "".join(f" --host {host.name}" for host in hosts)


def _hosts_with_hooks(plan: Plan, pack: str) -> list[str]:
    """The hosts whose settings have a hook of the pack once the plan is carried out."""
    titles = []
    for file in plan.files:
        removed = {action.id for action in file.kept if action.from_state in _OUT}
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
    root = targets[0].project
    paths: dict[str, None] = {}
    sources: dict[str, None] = {}  # packs in the project: an upgrade in a clone needs them
    for file in plan.files:
        is_asked = file.target in targets or file.target.host.format == RULES
        if is_asked and file.target.project and file.after is not None:
            paths[file.target.path] = None
        for pack in file.record.packs.values() if file.target.shared and file.record else ():
            if pack.source.startswith(f"{root}/"):
                folder = os.path.dirname(pack.source)
                names = [name for name in pack.files if name != MANIFEST]
                files = [os.path.join(folder, name) for name in names]
                sources |= dict.fromkeys([pack.source, *files])
    paths |= sources
    names = " ".join(os.path.relpath(path, root) for path in paths)
    lines = []
    if targets[0].shared:
        from hookctl.system import git, project  # late: most settings are a person's own

        paths |= dict.fromkeys(project.shared_files(root))
        kept_out = git.find_ignored(root, [*paths], folders.environ, folders.state)
        for rule in kept_out:
            way = "remove that line, or install with --scope local instead"
            lines.append(f"{rule.describe(root)}, so no clone gets it: {way}")
        lines.append(f"commit {names} and .hookctl, so that every clone has it")
    elif names:
        lines.append(f"keep {names} out of version control: it names paths of this machine")
    return [Line(text, indent=2) for text in lines]


def _scope_option(target: Target) -> str:
    return "" if target.scope == "user" else f" --scope {target.scope}"
