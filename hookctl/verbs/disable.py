"""hookctl disable: switch hooks off without losing them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from hookctl import clock, hosts
from hookctl.errors import FAILED, HookctlError
from hookctl.hosts import Host
from hookctl.hosts.hook_id import shorten
from hookctl.model import WRAP, Line, Message, Result
from hookctl.output.lines import say, tilde, tildes
from hookctl.output.plans import plan_result
from hookctl.ownership import store
from hookctl.ownership.disable import plan_disable
from hookctl.ownership.disabled import HOOK, NAME, DisabledHook, Step, plain_fields
from hookctl.ownership.run import carry_out, locked_run
from hookctl.ownership.sources import Sources
from hookctl.settings.targets import Target, top, variant_of_record
from hookctl.survey.listing import Inventory, find, take_inventory
from hookctl.survey.model import DISABLED, OFF, Hook
from hookctl.system import project
from hookctl.system.folders import Folders
from hookctl.verbs.choosing import in_project, load_hosts

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
    with locked_run(folders, say, dry_run=dry_run):
        sources = Sources(folders)
        selection = _Selection(folders, load_hosts(host))
        for text in ids:
            selection.add(text)
        chosen = selection.chosen(clock.now(folders.environ))
        make_plan = partial(plan_disable, sources, chosen)
        projects = {target.project for target, _ in chosen if target.scope == "project"}
        plan = carry_out(sources, make_plan, say, projects=projects, dry_run=dry_run)
    result = plan_result(plan, [*selection.describe()], dry_run=dry_run)
    return result._replace(messages=tuple(selection.messages))


class _Selection:
    """What the IDs mean here."""

    def __init__(self, folders: Folders, chosen: Sequence[Host]) -> None:
        self._inventory: Inventory = take_inventory(folders, chosen)
        self._here = project.look(folders.cwd, folders.environ)
        self._hosts = {host.name for host in chosen or self._inventory.hosts}
        # Of the hooks of another host that a wanted one reads too, none is meant.
        self._known = [hook for hook in self._inventory.hooks if hook.host in self._hosts]
        self._records, _ = store.read_known(folders)
        self._hooks: list[Hook] = []
        self._off: list[Hook] = []  # by their host's own switch
        self._staying: list[Hook] = []
        self._packs: set[tuple[str, str]] = set()  # key of the record, and name
        self.messages: list[Message] = []

    def add(self, text: str) -> None:
        """Take in the hooks that an ID means; refuses (usage) what means none."""
        is_pack = False
        for key, record in self._records.items():
            is_here = record.scope == "user" or record.project == self._here
            if is_here and text in record.packs and record.host in self._hosts:
                self._packs.add((key, text))
                is_pack = True
        try:
            found = find(self._known, text)
        except HookctlError:
            if is_pack:
                return  # one of values alone
            raise
        if any(text == _pack_of(hook) for hook in found):
            found = [hook for hook in found if _pack_of(hook)]
        for hook in found:
            if hook.state == DISABLED:
                self._tell(f"{self._name(hook)} is disabled already", hook, "disabled")
                continue
            self._require_editable(hook)
            # Its state may be another one: of several obstacles the first counts.
            own = [one for one in hook.obstacles if not one.is_shared]
            switches = "; ".join(one.reason for one in own if one.state == OFF)
            if switches:
                self._tell(f"{self._name(hook)} is off already: {tildes(switches)}", hook, "off")
                self._off.append(hook)
            elif hook not in self._hooks:
                self._hooks.append(hook)

    def _tell(self, text: str, hook: Hook, code: str) -> None:
        self.messages.append(Message(text, code, "info", hook.host, hook.file))

    def _name(self, hook: Hook) -> str:
        return hook.own_id or shorten(hook.id.partition("#")[0])

    def _require_editable(self, hook: Hook) -> None:
        if not hook.plugin and hook.scope != "managed":
            return
        place, hint = "managed settings", "Ask whoever manages this machine."
        if hook.plugin:
            host = hosts.load(hook.host)
            place, hint = f"the plugin {hook.plugin}", f"Switch the plugin off in {host.title}."
            if "disable" in host.plugins:
                action = host.plugins["disable"].replace("{name}", hook.plugin)
                hint = f"To switch the plugin off, {action}."
        message = f"{self._name(hook)} belongs to {place}, which hookctl does not edit"
        raise HookctlError("not_ours_to_edit", message, path=hook.file, hint=hint, exit_code=FAILED)

    def chosen(self, now: float) -> list[tuple[Target, DisabledHook]]:
        """The hooks, and the values of the packs of which no hook stays."""
        chosen = []
        gone = (*self._hooks, *self._off)
        for hook in self._inventory.hooks:
            if hook not in gone and hook.state != DISABLED:
                self._staying.append(hook)
        left = {(hook.host, hook.file, _pack_of(hook)) for hook in self._staying}
        packs = set(self._packs)
        for hook in self._hooks:
            chosen.append(self._choose(hook, now))
            key, record = store.find_record(self._records, hook.file)
            pack = _pack_of(hook)
            if record and pack in record.packs and (hook.host, hook.file, pack) not in left:
                packs.add((key, pack))
        for key, pack in sorted(packs):
            record = self._records[key]
            path = store.current_path(self._records, key)
            host = variant_of_record(hosts.load(record.host), record, path)
            target = Target(host, record.scope, path, record.project)
            values = DisabledHook(host.name, record.scope, path, (), name=pack, since=now)
            chosen.append((target, values))
        return chosen

    def _choose(self, hook: Hook, now: float) -> tuple[Target, DisabledHook]:
        is_inside = hook.scope != "user" and hook.file.startswith(top(self._here))
        host, project = hook.within.host, self._here if is_inside else ""
        step, names = Step(HOOK, hook.path), host.list_key("names")
        name = hook.fields.get("name", hook.command)
        of_host = [
            one.fields.get("name", one.command) for one in self._staying if one.host == hook.host
        ]
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

    def describe(self) -> Iterator[Line]:
        """What is disabled, as people name it, and the equal hooks that run from now on instead."""
        packs = [pack for _, pack in sorted(self._packs)]
        others = [self._name(hook) for hook in self._hooks if _pack_of(hook) not in packs]
        if names := [*dict.fromkeys([*packs, *others])]:
            is_or_are = "is" if len(names) == 1 else "are"
            yield Line(f"{' and '.join(names)} {is_or_are} disabled.")
            yield Line(f"To put back: `hookctl enable {' '.join(names)}`")
        gone = {(hook.host, hook.event, hook.matcher, hook.command) for hook in self._hooks}
        for hook in self._staying:
            if (hook.host, hook.event, hook.matcher, hook.command) in gone:
                place = f"line {hook.line} of {tilde(hook.file)}"
                yield Line(f"an equal hook stays and runs: {shorten(hook.id)}, {place}")


def _pack_of(hook: Hook) -> str:
    """The pack of one of our hooks; '' for others', wrapped ones too."""
    return "" if hook.own_id.startswith(WRAP) else hook.own_id.partition("/")[0]
