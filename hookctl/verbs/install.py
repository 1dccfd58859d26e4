"""hookctl install: register a pack's hooks and env values; hookctl plan: say what that would do."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hookctl import errors, report
from hookctl.documents import MISSING, formats
from hookctl.errors import HookctlError
from hookctl.masking import masked
from hookctl.model import GIT, WRAP, Action, Conflict, Line, Message, Result
from hookctl.output.lines import program
from hookctl.output.plans import hints, plan_data, plan_text
from hookctl.packs import load
from hookctl.packs.choices import LIMIT_KEY, Choice, Permission, Request, asked_names
from hookctl.packs.model import Pack
from hookctl.planner.draft import Draft
from hookctl.planner.install import (
    agree,
    check_request,
    find_lacking,
    plan_agreed,
    plan_install,
    review_of,
)
from hookctl.planner.plan import Plan
from hookctl.planner.run import carry_out, finish_pending, locked_run
from hookctl.planner.sources import Sources
from hookctl.settings.targets import GUARD, RULES, Target
from hookctl.system.folders import Folders
from hookctl.verbs import choosing

if TYPE_CHECKING:  # late: most calls are about the guard
    from hookctl.planner.consent import Review

_SILENT = 1.0  # seconds until progress is shown

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
    *,
    command: str = "install",
) -> Result:
    """Install a pack for these hosts, or with `dry_run` only say what would change."""
    content = None
    if pack.startswith(GIT):
        from hookctl.packs.git_source import load_from_git  # late: most packs are the guard
        from hookctl.system.git_address import parse

        parse(pack)  # refuses what is none before anything is asked or fetched
    else:
        content = load(pack)
    hosts = choosing.choose_hosts(f"{command} {pack}", host, scope, json)
    find = partial(choosing.find_targets, folders, hosts, scope, project)
    content = content or load_from_git(pack, folders, report.progress)
    wish = Request(
        mode, preset, assign, nudge, nudge_env, dispatch, wrap, guidance, rules, allow_run
    )
    choice = Choice(wish, reset, force, allow_env, enables=force)
    permission = choosing.permission(yes, accept_changed, json) if content.source else None
    return install_at(
        folders, content, find, choice, dry_run=dry_run, diff=diff, permission=permission
    )


def install_at(
    folders: Folders,
    pack: Pack,
    find_targets: Callable[[], list[Target]],
    choice: Choice,
    *,
    dry_run: bool,
    diff: bool = False,
    permission: Permission | None = None,
) -> Result:
    """Install a pack at these targets, or with `dry_run` only say what would change.

    A pack that is not built in needs consent; no `permission` is the least that there is.
    """
    check_request(pack, choice.settings)
    sources, review = Sources(folders), None
    if pack.source and not dry_run:  # it is shown, and a person asked, before the lock is taken
        finish_pending(folders, report.say)
        targets = find_targets()
        named = " ".join(f"--host {target.host.name}" for target in targets)
        scope = "" if targets[0].scope == "user" else f" --scope {targets[0].scope}"
        command = f"{program()} plan {shlex.quote(pack.source)} {named}{scope}"
        permission = permission or Permission()
        review = agree(sources, pack, targets, choice, permission, command)
    with locked_run(folders, report.say, dry_run=dry_run):
        sources.forget()
        targets = find_targets()
        looking = _progress_reporter(targets) if len(targets) > 1 else None
        make_plan = partial(plan_install, sources, pack, targets, choice, looking)
        if pack.source and not dry_run:
            make_plan = partial(plan_agreed, make_plan, pack, review)
        projects = [target.project for target in targets if target.shared]
        plan = carry_out(sources, make_plan, report.say, projects=projects, dry_run=dry_run)
    if pack.source and dry_run:
        review = review_of(sources, pack, plan)
    return _make_result(folders, pack, targets, choice, plan, review, dry_run=dry_run, diff=diff)


def _make_result(
    folders: Folders,
    pack: Pack,
    targets: list[Target],
    choice: Choice,
    plan: Plan,
    review: Review | None,
    *,
    dry_run: bool,
    diff: bool,
) -> Result:
    messages = tuple(message for file in plan.files for message in file.messages)
    if plan.conflicts:
        return _refuse(plan, messages)
    lacking = []
    ineffective = list(_find_ineffective(plan, pack, choice))
    if choice.settings.allow_run:
        lacking += find_lacking([target.host for target in targets], choice.settings)
        if not ineffective:
            ineffective += _find_refused(plan)
    if len(lacking) == len(targets):
        ineffective += lacking
    else:
        messages += tuple(Message(str(error), error.code) for error in lacking)
    if choice.reset:  # it asks for a state, and what a person has changed since is no failure
        for error in ineffective:
            messages += (Message(error.message, error.code, path=error.path),)
        ineffective = []
    done: list[str | Line] = []
    if not plan.empty and not ineffective:
        from hookctl.verbs.outcome import describe_success  # late: most calls find nothing to do

        done = describe_success(folders, plan, pack, targets)
    warned = {error.path for error in ineffective}
    text = plan_text(plan, dry_run=dry_run, done=done, diff=diff, warned=warned)
    data = plan_data(plan, dry_run=dry_run, diff=diff)
    if review is not None and not review.is_agreed:
        data["pack"] = review.data
    if review is not None and dry_run:
        text = [*review.text, *text]
        messages += review.messages
    error_list = tuple(error.as_dict() for error in ineffective)
    exit_code = errors.FAILED if ineffective else errors.OK
    return Result(data, tuple(text), messages, error_list, exit_code, hints(done))


def _find_ineffective(plan: Plan, pack: Pack, choice: Choice) -> Iterator[HookctlError]:
    """What was asked for and does not come about, since something of the operator's stays."""
    asked = asked_names(choice.settings)
    for file in plan.files:
        title, disabled = file.target.host.title, set()
        for action in file.kept:
            if action.from_state == "disabled":
                disabled.add(action.id or pack.name)
            elif _is_asked(file, action, asked, choice.settings):
                reason, _, forced = action.reason.partition("; --force")
                is_rules = file.target.host.format == RULES
                name = "the block of rules" if is_rules else action.id or action.path[-1]
                message = f"{name} stays as it is for {title}: {reason}"
                hint = "Add --force to take it over." if forced else "Put it right by hand."
                yield _no_effect(file, message, hint)
        if disabled:
            names = ", ".join(sorted(disabled - {pack.name})) or "its values"
            message = f"{pack.name} is disabled for {title} ({names})"
            hint = f"`hookctl enable {pack.name}` puts it back, and so does --force."
            yield _no_effect(file, message, hint)


def _is_asked(file: Draft, action: Action, asked: set[str], request: Request) -> bool:
    """Whether what is kept stands in the way of something that was asked for by name."""
    if file.target.host.format == RULES:
        return request.rules and action.path[0] == GUARD
    if action.id.startswith(WRAP):
        from hookctl.packs.wrapping import original_of  # late: few installs wrap a hook

        entries = {entry.id: entry for entry in file.record.entries} if file.record else {}
        command = str(entries[action.id].written["command"]) if action.id in entries else ""
        return request.wrap is not None and request.wrap in (original_of(command) or "")
    if action.id:
        return action.id in asked and action.from_state == "missing"
    return action.path[-1] in asked


def _no_effect(file: Draft, message: str, hint: str) -> HookctlError:
    path, exit_code = file.path, errors.FAILED
    return HookctlError("no_effect", message, path=path, hint=hint, exit_code=exit_code)


def _find_refused(plan: Plan) -> Iterator[HookctlError]:
    """The files after whose change the agent must still ask before `hookctl run`, and why."""
    for file in plan.files:
        host, permission = file.target.host, file.target.host.permission
        if not permission.path or file.after is None or host.format == RULES:
            continue
        document = formats.parse(host.format, file.after, where=file.path)
        reason = hint = ""
        for above in permission.against:
            for rule in permission.rules_in(document, above):
                reason = f"{rule} in {'.'.join(above)} stands against it"
                hint = "Say yourself what is left: `hookctl run remaining N`."
        for text in permission.texts[::-1]:
            if document.get((*permission.path, text)) is MISSING:
                reason = f"{text} is not in {'.'.join(permission.path)}"
                hint = "Add --force if you took it out; with --mode off nothing is allowed."
        if reason:
            yield _no_effect(file, f"--allow-run has no effect for {host.title}: {reason}", hint)


def _progress_reporter(targets: list[Target]) -> Callable[[Target], None]:
    """A function that names each target on stderr, once planning has taken a while."""
    begin = time.monotonic()

    def show_progress(target: Target) -> None:
        if time.monotonic() - begin > _SILENT:
            report.progress(f"{targets.index(target) + 1} of {len(targets)}: {target.host.title}")

    return show_progress


def _refuse(plan: Plan, messages: tuple[Message, ...]) -> Result:
    """The result when packs want different values."""
    error_list = []
    for file in plan.files:
        for conflict in file.conflicts:
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
