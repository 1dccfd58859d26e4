"""hookctl disable: switch hooks off without losing them."""

from collections.abc import Iterator, Sequence
from functools import partial

from hookctl import clock, hosts
from hookctl.errors import FAILED, HookctlError
from hookctl.hosts.shapes import shorten
from hookctl.model import WRAP, Line, Message, Record, Result
from hookctl.output.lines import place, say, tilde, tildes
from hookctl.output.plans import plan_result
from hookctl.ownership import store
from hookctl.ownership.disable import plan_disable
from hookctl.ownership.run import apply_plan, locked_run
from hookctl.ownership.store import HOOK, NAME, DisabledHook, Step, plain_fields
from hookctl.settings.targets import Target, top
from hookctl.survey.listing import Inventory, find, take_inventory
from hookctl.survey.model import DISABLED, OFF, Hook
from hookctl.system.folders import Folders
from hookctl.system.project import find_quietly
from hookctl.verbs.choosing import in_project, load_hosts, recorded_target

HELP = """
Examples:
  hookctl disable guard            a pack, with its settings
  hookctl disable 3f84             any hook, by its ID in hooks
"""


def disable(
    folders: Folders,
    ids: Sequence[str],
    host: Sequence[str] = (),
    project: str = "",
    dry_run: bool = False,
) -> Result:
    """Switch off the hooks that these IDs mean, and with the last hook of a pack its values."""
    folders = in_project(folders, project)
    here, now = find_quietly(folders.cwd, folders.environ), clock.now(folders.environ)
    with locked_run(folders, say, dry_run=dry_run):
        named = load_hosts(host)
        inventory, records = take_inventory(folders, named), store.read_known(folders)[0]
        names = {one.name for one in named or inventory.hosts}
        meant: list[Hook] = []
        packs = set[tuple[str, str]]()  # key of the record, and name
        for text in ids:
            found, keys = _find_meant(inventory, records, names, here, text)
            meant += [hook for hook in found if hook not in meant]
            packs |= {(key, text) for key in keys}
        notes = [_explain_off(folders, hook) for hook in meant]
        going = [hook for hook, note in zip(meant, notes, strict=True) if note is None]
        running = [hook for hook in inventory.hooks if hook.state != DISABLED]
        staying = [hook for hook in running if hook not in meant]
        chosen = [_choose(hook, here, staying, now) for hook in going]
        left = {(hook.host, hook.file, _pack_of(hook)) for hook in staying}
        emptied = set(packs)  # and those all of whose hooks in a file go, or are disabled already
        for hook in going:
            (key, record), pack = store.find_record(records, hook.file), _pack_of(hook)
            if record and pack in record.packs and (hook.host, hook.file, pack) not in left:
                emptied.add((key, pack))
        for key, pack in sorted(emptied):
            path = store.current_path(records, key)
            target = recorded_target(records[key], path)
            values = DisabledHook(target.host.name, target.scope, path, (), name=pack, since=now)
            chosen.append((target, values))
        projects = {target.project for target, _ in chosen if target.scope == "project"}
        make_plan = partial(plan_disable, chosen=chosen)
        plan = apply_plan(folders, make_plan, say, projects=projects, dry_run=dry_run)
    done = _describe_done([pack for _, pack in sorted(packs)], going, staying)
    result = plan_result(plan, [*done], dry_run=dry_run)
    return result._replace(messages=tuple(filter(None, notes)))


def _find_meant(
    inventory: Inventory, records: dict[str, Record], names: set[str], here: str, text: str
) -> tuple[list[Hook], list[str]]:
    """The hooks of these hosts that an ID means, and the records that have a pack of this name."""
    keys = []
    for key, record in records.items():
        is_here = record.scope == "user" or record.project == here
        if is_here and text in record.packs and record.host in names:
            keys.append(key)
    try:
        # Of the hooks of another host that a wanted one reads too, none is meant.
        found = find([hook for hook in inventory.hooks if hook.host in names], text)
    except HookctlError as error:
        if not keys:
            for file in inventory.unreadable:
                where = place(file.path, file.line)
                error.message += f"; the hooks of {where} are not known: {file.message}"
            raise
        found = []  # a pack of values alone
    if any(text == _pack_of(hook) for hook in found):
        found = [hook for hook in found if _pack_of(hook)]
    return [*found], keys


def _explain_off(folders: Folders, hook: Hook) -> Message | None:
    """What to say of a hook that is disabled or off already.

    Refuses one that stands where hookctl edits nothing, with the host's own means.
    """
    owner, hint = "managed settings", "Ask whoever manages this machine."
    if hook.plugin:
        host, owner = hosts.load(hook.host), f"the plugin {hook.plugin}"
        config = tilde(hosts.config_folder(host, folders.environ))
        action = host.plugins["disable"].replace("{name}", hook.plugin)
        hint = f"To switch the plugin off, {action.replace('{config}', config)}."
    if hook.plugin or hook.scope == "managed":
        message = f"{_name(hook)} belongs to {owner}, which hookctl does not edit"
        raise HookctlError("not_ours_to_edit", message, path=hook.file, hint=hint, exit_code=FAILED)
    # Its state may be another one: of several obstacles the first counts.
    own = [one for one in hook.obstacles if not one.is_shared and one.state in (OFF, DISABLED)]
    if not own:
        return None
    reasons = "; ".join(one.reason for one in own)
    text = f"{_name(hook)} is off already: {tildes(reasons)}"
    return Message(text, own[0].state, "info", hook.host, hook.file)


def _choose(
    hook: Hook, here: str, staying: Sequence[Hook], now: float
) -> tuple[Target, DisabledHook]:
    is_inside = hook.scope != "user" and hook.file.startswith(top(here))
    host, project = hook.within.host, here if is_inside else ""
    step, names = Step(HOOK, hook.path), host.list_key("names")
    name = hook.fields.get("name", hook.command)
    of_host = [one.fields.get("name", one.command) for one in staying if one.host == hook.host]
    # Its host's list of disabled hooks must not mean one that is to go on.
    if names and isinstance(name, str) and name not in of_host:
        step = Step(NAME, names, name)
    disabled = DisabledHook(
        host=host.name,
        scope=hook.scope,
        file=hook.file,
        steps=(step,),
        event=hook.event,
        matcher=hook.matcher,
        fields=plain_fields(hook.fields),
        id=hook.id.partition("#")[0],
        name=hook.own_id,
        since=now,
    )
    return Target(host, hook.scope, hook.file, project), disabled


def _describe_done(
    packs: Sequence[str], going: Sequence[Hook], staying: Sequence[Hook]
) -> Iterator[Line]:
    """What is disabled, as people name it, and the equal hooks that run from now on instead."""
    others = [_name(hook) for hook in going if _pack_of(hook) not in packs]
    if names := [*dict.fromkeys([*packs, *others])]:
        yield Line(f"Disabled. `hookctl enable {' '.join(names)}` puts it back.")
    gone = {(hook.host, hook.event, hook.matcher, hook.command) for hook in going}
    for hook in staying:
        if (hook.host, hook.event, hook.matcher, hook.command) in gone:
            where = place(hook.file, hook.line)
            yield Line(f"an equal hook stays and runs: {shorten(hook.id)}, {where}")


def _name(hook: Hook) -> str:
    return hook.own_id or shorten(hook.id.partition("#")[0])


def _pack_of(hook: Hook) -> str:
    """The pack of one of our hooks; '' for others', wrapped ones too."""
    return "" if hook.own_id.startswith(WRAP) else hook.own_id.partition("/")[0]
