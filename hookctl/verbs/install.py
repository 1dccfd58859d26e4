"""hookctl install: register a pack's hooks and env values; hookctl plan: say what that would do."""

import os
import shlex
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hookctl.documents import MISSING, formats
from hookctl.errors import FAILED, OK, HookctlError
from hookctl.hosts import Host
from hookctl.model import GIT, WRAP, Action, Line, Message, Result
from hookctl.output.lines import progress, say
from hookctl.output.plans import plan_result
from hookctl.ownership.draft import Draft
from hookctl.ownership.install import check_request, find_lacking, plan_install
from hookctl.ownership.plan import Plan
from hookctl.ownership.run import apply_plan, finish_pending, locked_run
from hookctl.ownership.sources import Sources
from hookctl.packs import MANIFEST, Pack
from hookctl.packs.choices import Choice, Request, Settings, asked_names, settings_from
from hookctl.packs.programs import load_pack
from hookctl.settings.targets import GUARD, RULES, Target
from hookctl.system.folders import Folders
from hookctl.verbs import choosing

if TYPE_CHECKING:  # late: most calls are about the guard
    from hookctl.ownership.consent import Review

_DOES = {
    "breaker": "keeps an agent working while work remains, "
    "and lets it stop once it makes no progress any more",
    "keepalive": "keeps an agent going in a run that `hookctl run start` began, until the run ends",
    "guard": "never blocks by itself, and ends a chain of stops that other hooks force",
    "off": "refuses tool calls that are repeated too often",
}
# The first command in a project for each mode that blocks
_FIRST_STEPS = {
    "breaker": "run remaining 3    in a project: three pieces of work are left there",
    "keepalive": "run start    in a project: a run of 12 hours; --for 8h is one of 8",
}

HELP = """
Examples:
  hookctl install --host claude
  hookctl install --host claude --set MAX_STOP_BLOCKS=8
  hookctl install --host claude --scope project  for each clone of it
  hookctl install protect --host claude          keeps .env files from tools
  hookctl install ./notify.toml --host claude    a pack of your own
  hookctl install git+https://github.com/ORG/REPO@latest --host claude
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
    full: bool = False,
    dry_run: bool = False,
    json: bool = False,
    project: str = "",
) -> Result:
    """Install a pack for these hosts, or with `dry_run` only say what would change."""
    hosts = choosing.choose_hosts(host, scope, json)
    if not dry_run and folders.has_unfinished_run():
        finish_pending(folders, say)
    targets = choosing.find_targets(folders, hosts, scope, project)
    content = load_source(folders, pack)
    wish = Request(
        mode, preset, assign, nudge, nudge_env, dispatch, wrap, guidance, rules, allow_run
    )
    check_request(content, wish)
    choice = Choice(wish, reset, force, allow_env)
    review = None
    if content.source and not dry_run:  # a person is asked before the lock is taken
        from hookctl.ownership.consent import agree  # late: most calls are about the guard

        named = " ".join(f"--host {target.host.name}" for target in targets)
        named += _scope_option(targets[0])
        command = f"hookctl plan {shlex.quote(content.source)} {named}"
        permission = choosing.permission(yes, accept_changed, full, json)
        review = agree(Sources(folders), content, targets, choice, permission, command)
    with locked_run(folders, say, dry_run=dry_run):
        plan, review = install_agreed(folders, content, targets, choice, review, dry_run=dry_run)
    result = _describe(plan, content, choice, targets, review, dry_run=dry_run)
    return with_review(result, review, verbose=full) if review and dry_run else result


def load_source(folders: Folders, source: str) -> Pack:
    """The pack of this name or path, or from this address of git; says what `@latest` is."""
    if not source.startswith(GIT):
        return load_pack(source)
    from hookctl.packs.pack import load_from_git  # late: few packs come from git

    pack = load_from_git(source, folders, progress)
    if pack.release:
        tag, skipped = pack.release.tag, pack.release.skipped or "none"
        text = f"{pack.name}: the latest is {tag}, commit {pack.commit}; skipped: {skipped}"
        say(Message(text, "latest", level="info", path=source))
    return pack


def install_agreed(
    folders: Folders,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    review: "Review | None",
    *,
    dry_run: bool,
) -> "tuple[Plan, Review | None]":
    """Install what was agreed to, in a locked run; a dry run reviews what it would bring."""
    make_plan = partial(plan_install, pack=pack, targets=targets, choice=choice)
    if pack.source:
        from hookctl.ownership import consent  # late: most calls are about the guard

        if not dry_run:
            agreed = {"pack": pack, "agreed": review}
            make_plan = partial(consent.plan_agreed, make_plan=make_plan, **agreed)
    projects = [target.project for target in targets if target.shared]
    plan = apply_plan(folders, make_plan, say, projects=projects, dry_run=dry_run)
    if pack.source and dry_run:
        review = consent.review(Sources(folders), pack, plan)
    return plan, review


# What is said.


def _describe(
    plan: Plan,
    pack: Pack,
    choice: Choice,
    targets: list[Target],
    review: "Review | None",
    *,
    dry_run: bool,
) -> Result:
    ineffective, notes = _find_ineffective(plan, pack, choice, targets)
    messages = [Message(str(error), error.code, path=error.path) for error in notes]
    done: list[str | Line] = []
    if not (plan.empty or ineffective):
        titles, settings = _hosts_with_hooks(plan, pack.name), None
        if pack.name == GUARD:
            record = plan.files[0].record
            settings = settings_from(record.packs[GUARD].settings if record else {})
        done += _describe_success(plan, pack, targets, titles, settings)
        if settings and settings.events and not titles:
            text = "the guard does not run: none of its hooks is registered; --force adds them"
            messages.append(Message(text, "guard_off"))
    result = plan_result(plan, done, dry_run=dry_run, warned={error.path for error in ineffective})
    if review and not review.is_agreed:
        result.data["pack"] = review.data
    return result._replace(
        messages=(*result.messages, *messages),
        errors=tuple(error.as_dict() for error in ineffective),
        exit_code=FAILED if ineffective else OK,
    )


def with_review(result: Result, review: "Review", *, verbose: bool) -> Result:
    """The result of a dry run for a pack that is not built in, with what it brings."""
    refused = tuple(Message(str(error), error.code) for error in review.refusals())
    text = (*review.describe(verbose=verbose), *result.text)
    return result._replace(text=text, messages=result.messages + refused)


def _find_ineffective(
    plan: Plan, pack: Pack, choice: Choice, targets: list[Target]
) -> tuple[list[HookctlError], list[HookctlError]]:
    """What was asked for and does not come about; apart what is only to be said."""
    found = []
    for file in plan.files:
        reasons: dict[str, str] = {}
        if choice.settings.allow_run:
            reasons["the list of what its agent may do"] = _find_refused(file)
        for action in file.kept:
            if action.from_state == "disabled":
                reasons[pack.name] = action.reason
            elif _is_asked(file, action, choice.settings):
                is_rules = file.target.host.format == RULES
                name = "the block of rules" if is_rules else action.id or str(action.path[-1])
                reasons[name] = action.reason
        for name, reason in reasons.items():
            message = f"{name} stays as it is for {file.target.host.title}: "
            message += reason.partition("; --force")[0]
            hint = "Put it right by hand, or add --force to take it over."
            error = HookctlError("no_effect", message, path=file.path, hint=hint, exit_code=FAILED)
            found += [error] if reason else []
    lacking = []
    if choice.settings.allow_run:
        lacking += find_lacking([target.host for target in targets], choice.settings)
    if choice.reset:  # it asks for a state, and what a person has changed since is no failure
        return [], lacking + found
    if len(lacking) == len(targets):
        return found + lacking, []
    return found, lacking


def _is_asked(file: Draft, action: Action, request: Request) -> bool:
    """Whether what is kept stands in the way of something that was asked for by name."""
    if file.target.host.format == RULES:
        return request.rules and action.path[0] == GUARD
    if action.id.startswith(WRAP):
        return request.wrap is not None
    if action.id and action.from_state != "missing":
        return False
    return (action.id or action.path[-1]) in asked_names(request)


def _find_refused(file: Draft) -> str:
    """Why the agent must still ask before `hookctl run` after this change; empty if it need not."""
    host, permission = file.target.host, file.target.host.permission
    if not permission.path or file.after is None or host.format == RULES:
        return ""
    document = formats.parse(host.format, file.after, where=file.path)
    for above in permission.against:
        for rule in host.report_rules(document, above):
            return f"{rule} in {'.'.join(above)} stands against it"
    for text in permission.texts:
        if document.get((*permission.path, text)) is MISSING:
            return f"{text} is not in {'.'.join(permission.path)}"
    return ""


# What the pack does now, and what to do next.


def _describe_success(
    plan: Plan, pack: Pack, targets: list[Target], titles: list[str], settings: Settings | None
) -> Iterator[str | Line]:
    """What the pack does now in which hosts, what to do with the project's files, and commands."""
    idle = []  # the hosts that something keeps from running their hooks
    for file in plan.files:
        if {"not_loaded", "hooks_disabled"}.intersection(one.code for one in file.messages):
            idle.append(file.target.host.title)
    steps: list[str | Line] = []
    if targets[0].project and (settings or plan.changes):
        steps += _advise_on_commit(plan, targets)
    if idle:
        text = f"{pack.name} is written, but does not run in {', '.join(idle)}: see the message."
        yield Line(text)
        steps.append(Line("  hookctl doctor"))
    elif settings and titles:
        hosts = [target.host for target in targets]
        yield from _describe_guard(settings, hosts)
        steps.append(Line("  hookctl doctor"))
        told = settings.effective
        is_told = (told.get("task_file") or told.get("task_env")) and told.get("task_fields")
        blocks = any(host.dialect.block for host in hosts)
        if blocks and is_told:
            steps.append(Line("  hookctl run status"))  # another system writes what remains
        elif blocks and settings.mode in _FIRST_STEPS:
            steps.append(Line(f"  hookctl {_FIRST_STEPS[settings.mode]}"))
    elif settings:
        if not settings.events:
            yield Line("The guard registers no hook of its own: --mode breaker does.")
    elif not plan.changes:  # only what this machine knows of it is new: a colleague installed it
        yield "nothing to do"
    else:
        text = f" for {', '.join(titles) or 'no host'}" if pack.all_hooks else ""
        command = f"`hookctl uninstall {pack.name}{_scope_option(targets[0])}`"
        yield Line(f"{pack.name} {pack.version} is installed{text}. {command} takes it out.")
    if steps:
        yield from ("Next:", *steps)


def _describe_guard(settings: Settings, hosts: Sequence[Host]) -> Iterator[Line]:
    blocks = settings.mode in _FIRST_STEPS
    able = [host for host in hosts if (host.dialect.block if blocks else host.dialect.end)]
    is_able = able or settings.mode == "off"
    does = _DOES[settings.mode] if is_able else "only watches there: see the message"
    yield Line(f"The guard {does}.")
    for host in hosts:
        if blocks and host.client.block_shown:
            shown = f"{host.title} shows that as `{host.client.block_shown}`"
            yield Line(f"{shown}; it is no failure.")


def _hosts_with_hooks(plan: Plan, pack: str) -> list[str]:
    """The hosts whose settings have a hook of the pack once the plan is carried out."""
    titles = []
    for file in plan.files:
        removed = {one.id for one in file.kept if one.from_state in ("missing", "disabled")}
        ids = {entry.id for entry in file.record.entries} if file.record else set()
        left = [id for id in ids - removed if id.startswith(f"{pack}/") and not id.startswith(WRAP)]
        titles += [file.target.host.title] if left else []
    return titles


def _advise_on_commit(plan: Plan, targets: list[Target]) -> Iterator[Line]:
    root = targets[0].project
    paths: list[str] = []
    sources: list[str] = []  # packs in the project: an upgrade in a clone needs them
    for file in plan.files:
        is_asked = file.target in targets or file.target.host.format == RULES
        if is_asked and file.target.project and file.after is not None:
            paths.append(file.target.path)
        for pack in file.record.packs.values() if file.target.shared and file.record else ():
            if pack.source.startswith(f"{root}/"):
                folder = os.path.dirname(pack.source)
                files = [os.path.join(folder, name) for name in pack.files if name != MANIFEST]
                sources += [pack.source, *files]
    names = " ".join(os.path.relpath(path, root) for path in dict.fromkeys([*paths, *sources]))
    text = f"keep {names} out of version control: it names paths of this machine"
    if targets[0].shared:
        text = f"commit {names} and .hookctl, so that every clone has it"
    if names or targets[0].shared:
        yield Line(text, indent=2)


def _scope_option(target: Target) -> str:
    return "" if target.scope == "user" else f" --scope {target.scope}"
