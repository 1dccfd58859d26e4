"""hookctl install: register a pack's hooks and env values; hookctl plan: say what that would do."""

from __future__ import annotations

from hookctl import errors, planner, report
from hookctl.folders import Folders
from hookctl.hosts import Host
from hookctl.model import Conflict, Result
from hookctl.packs import guard


def install(folders: Folders, pack: str, hosts: list[Host], choice: planner.Choice, *, dry_run: bool) -> Result:
    """Install the pack at user scope of these hosts, or with `dry_run` only say what would change."""

    def make() -> planner.Plan:
        return planner.plan_install(folders, pack, hosts, choice)

    plan = make() if dry_run else planner.carry_out(folders, make, report.say)
    messages = tuple(message for file in plan.files for message in file.messages)
    if plan.conflicts:
        return _refused(plan, messages)
    done = "" if dry_run else _installed(plan, pack, hosts)
    text = report.plan_text(plan, dry_run=dry_run, done=done)
    return Result(report.plan_data(plan, dry_run=dry_run), tuple(text), messages)


def _installed(plan: planner.Plan, pack: str, hosts: list[Host]) -> str:
    record = plan.files[0].record
    settings = guard.settings_from(record.packs["guard"].settings if record else {})
    if settings.mode == "off":
        back = f"`{report.program()} install --host {hosts[0].name} --mode breaker`"
        return f"{pack} is off: no hook is registered. {back} puts it back."
    title, hookctl = ", ".join(host.title for host in hosts), report.program()
    return (
        f"{pack} is installed for {title}. Next:\n"
        f"  {hookctl} doctor           checks that it works\n"
        f"  {hookctl} run remaining 3  in a project: three pieces of work are left there"
    )


def _refused(plan: planner.Plan, messages: tuple[str, ...]) -> Result:
    error_list = tuple(_conflict_error(file.path, c).as_dict() for file in plan.files for c in file.decision.conflicts)
    data = {**report.plan_data(plan, dry_run=False), "actions": [], "files": []}
    return Result(data, (), messages, error_list, errors.FAILED)


def _conflict_error(path: str, conflict: Conflict) -> errors.HookctlError:
    wishes = ", ".join(f"{pack} wants {value!r}" for pack, value in conflict.wishes.items())
    message = f"{'.'.join(map(str, conflict.path))}: {wishes}"
    hint = "Take it over with --force, want the same value with --set, or uninstall one of the packs."
    return errors.HookctlError("conflict", message, path=path, hint=hint, exit_code=errors.FAILED)
