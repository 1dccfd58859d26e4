"""Approvals of our hooks, for hosts that run only approved hooks.

They are written only with --trust, then kept up to date, and removed on uninstall. An approval is
an entry like any other, in the file that the host keeps it in; the operator's own always stay.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from hookctl import engine
from hookctl.errors import USAGE, HookctlError
from hookctl.hosts import codex, config_folder, shapes
from hookctl.hosts.model import APPROVALS
from hookctl.hosts.shapes import split_words
from hookctl.ledger import store
from hookctl.masking import OwnText, masked_text
from hookctl.model import WRAP, Decision, Entry, HookEntry, Path, Record, Wanted
from hookctl.packs.wrapping import original_of
from hookctl.planner import fixes
from hookctl.planner.draft import Draft
from hookctl.planner.runtime_files import CONFIG
from hookctl.planner.sources import Sources
from hookctl.settings import approval
from hookctl.settings.targets import GUARD, Target
from hookctl.system import project

_FORMAT = "toml"  # of the only file that has such approvals
_WRITTEN = ("write", "replace", "remove")


class Approvals:
    """The approvals that one run writes and takes out, beside its drafts of settings files."""

    def __init__(
        self, sources: Sources, records: Mapping[str, Record], drafts: Iterable[Draft]
    ) -> None:
        self.sources = sources
        self._records = records
        self._drafts = list(drafts)
        for draft in self._drafts:
            if draft.host.trust.config:
                draft.former_paths = _former_paths(records, draft)
        self._opened: list[Draft] = []  # files that only hold approvals
        self.unread: list[HookctlError] = []  # why our approvals stay where they are

    @property
    def drafts(self) -> list[Draft]:
        """The drafts of the run, and those of other files whose approvals change."""
        changed = []
        for draft in self._opened:
            if draft.is_edited or draft.has_other_entries or draft.disabled_after is not None:
                changed.append(draft)
        return [*self._drafts, *changed]

    def install(self, draft: Draft, pack: str, *, ask: bool) -> None:
        """Approve a pack's hooks if asked now or before; else tell the operator what to do."""
        trust = draft.host.trust
        if not trust.covers(draft.target.scope):
            if ask:
                title = draft.host.title
                text = f"{title} asks for no approval of hooks here, so --trust does nothing"
                draft.tell("trust_not_needed", text, level="info")
        elif trust.config:
            self._approve_in_config(draft, pack, ask=ask)
        elif ask or self._waits_for_host(draft):
            draft.tell("not_approved", _operator_step(draft, pack))

    def _approve_in_config(self, draft: Draft, pack: str, *, ask: bool) -> None:
        """Approve a pack's hooks in the file where the host keeps approvals."""
        if ask:
            _require_own_programs(draft, pack)
        is_renewed = ask or _runs_the_same(draft, pack)
        if not is_renewed:
            self._take_back(draft, pack)
        config = self._open_config_of(draft, must=ask)
        if config is None:
            draft.tell("not_approved", _operator_step(draft, pack))
            return
        needed, others = _needed_approvals(draft, pack)
        if not _may_approve(draft.target):
            _withdraw(config, draft, pack)  # what an earlier version approved
        elif ask:
            _approve(config, draft, pack, needed)
        elif is_renewed and _keeps_up(config, draft, pack):
            _approve(config, draft, pack, _without_new_wraps(config, draft, pack, needed))
        if ask:
            for hook in others:
                text = f"{hook.id} is not as {pack} wants it, so it is not approved"
                draft.tell("entry_edited", text)
        draft.tell("not_approved", *_voided_approvals(config, draft, needed))
        if _misses_any(config, needed) or (ask and others):
            draft.tell("not_approved", _operator_step(draft, pack))

    def _take_back(self, draft: Draft, pack: str) -> None:
        """Take our approvals of a pack out again, and show what it ran and what it runs now.

        An approval that cannot be reached would cover the new program, so that is an error.
        """
        has_any = False
        for key, record in self._records.items():
            if _owned_approvals(record, draft, pack):
                path = store.current_path(self._records, key)
                _withdraw(self._find_or_open(draft, path), draft, pack)
                has_any = True
        if has_any:
            draft.tell("approval_taken_back", _describe_taken_back(draft, pack))

    def follow(self, draft: Draft, pack: str) -> None:
        """Keep up a pack's approvals after another pack's install has moved its hooks."""
        if not draft.host.trust.config:
            return
        config = self._open_config_of(draft, must=False)
        if config and _may_approve(draft.target) and _keeps_up(config, draft, pack):
            needed, _ = _needed_approvals(draft, pack)
            needed = _without_new_wraps(config, draft, pack, needed)
            if needed:
                _approve(config, draft, pack, needed)

    def uninstall(self, draft: Draft, packs: Iterable[str]) -> None:
        """Take out our approvals of these packs, wherever the host's own folder is now.

        A file that cannot be read keeps them, and is named in `unread`.
        """
        for key, record in self._records.items():
            for pack in packs:
                if not _approvals_of(record.entries, draft, pack):
                    continue
                path = store.current_path(self._records, key)
                try:
                    _withdraw(self._find_or_open(draft, path), draft, pack)
                except HookctlError as error:
                    self.unread.append(_unread_approvals(error, draft, pack))

    def _waits_for_host(self, draft: Draft) -> bool:
        """Whether an approval that only the host takes is missing, or may be after an edit."""
        host, environ = draft.host, self.sources.folders.environ
        if host.trust.memory:
            values = draft.document.value or {}
            read = self.sources.read
            return bool(approval.closed(host, draft.target.path, values, environ, read))
        folder = draft.target.project or self.sources.folders.cwd
        scope, read = draft.target.scope, self.sources.read
        return draft.is_edited or approval.is_untrusted(host, scope, folder, environ, read)

    def _open_config_of(self, draft: Draft, *, must: bool) -> Draft | None:
        """The draft of the file with the host's approvals, as `_open_config` gives it."""
        folder = config_folder(draft.host, self.sources.folders.environ)
        path = draft.host.trust.config.format(config=folder)
        return self._open_config(draft, path, must=must)

    def _open_config(self, draft: Draft, path: str, *, must: bool) -> Draft | None:
        """The draft of a file with approvals; None (an error with `must`) if unreadable."""
        try:
            return self._find_or_open(draft, path)
        except HookctlError:
            if must:
                raise
            return None

    def open_beside(self, draft: Draft, path: str) -> Draft:
        """The draft of another file of a draft's host: its approvals stand there."""
        return self._find_or_open(draft, path)

    def _find_or_open(self, draft: Draft, path: str) -> Draft:
        real = store.real_path(path)
        for known in (*self._drafts, *self._opened):
            if known.snapshot.path == real:
                return known
        snapshot, document = self.sources.read(path, _FORMAT)
        key, record = store.find_record(self._records, path)
        target = Target(draft.host._replace(format=_FORMAT), "user", path)
        config = Draft(self.sources, target, snapshot, document, key, record)
        self._opened.append(config)
        return config


def _unread_approvals(error: HookctlError, draft: Draft, pack: str) -> HookctlError:
    """The error of a file that cannot be read, with what stays in it for now."""
    named = "" if pack == GUARD else f" {pack}"
    message = f"{error.message}; the approvals of {pack} stay in it"
    hint = f"Fix it, then run `hookctl uninstall{named} --host {draft.host.name}` again."
    return error.reworded(message, hint)


def _may_approve(target: Target) -> bool:
    """Whether a hook there may be approved: not in a project; its next commit would inherit it."""
    return not target.shared


def _require_own_programs(draft: Draft, pack: str) -> None:
    """Refuse to approve a program in a project: a later commit of it would be approved, too."""
    sources, paths = draft.sources, [draft.packs[pack].folder]
    for hook in shapes.elements(draft.host.shape, draft.document.value or {}):
        if hook.pack == pack:
            command = str(hook.fields["command"])
            paths += _paths_in(sources, command)
            paths += _paths_in(sources, original_of(command) or "")
    for path in filter(None, paths):
        root, is_projects = path, not os.path.isabs(path)
        if not is_projects:
            root = sources.once(project.search, path, sources.folders.environ, key=path)
            is_projects = sources.once(project.has_mark, root)
        if is_projects:
            message = f"--trust: {path} is a project's, so a later commit could change what it runs"
            hint = "Leave --trust out and approve it in the host, or move the program out of there."
            raise HookctlError("trust_refused", message, path=root, hint=hint, exit_code=USAGE)


def _paths_in(sources: Sources, command: str) -> list[str]:
    """The paths of files that a command names, and those that depend on the working folder."""
    try:
        words = split_words(command)
    except ValueError:
        return []
    paths = []
    for word in words:
        is_relative = word.startswith(("./", "../")) or "_PROJECT_DIR" in word
        if is_relative or (os.path.isabs(word) and sources.once(os.path.isfile, word)):
            paths.append(word)
    return paths


def _operator_step(draft: Draft, pack: str) -> str:
    """What the operator has to do before the host runs a pack's hooks."""
    trust, source = draft.host.trust, draft.packs[pack].source
    command = fixes.approve_command(draft.target, pack, source, draft.folders.cwd)
    return f"{trust.gate}: {trust.step(draft.target.scope, command)}"


def commands_to_approve(draft: Draft) -> set[tuple[str, str]]:
    """Event and command of each hook whose approval is asked for or kept up.

    These are what is installed now and what this machine wrote, not what a committed ledger says.
    """
    shape = draft.host.shape
    commands = set()
    for want in draft.wants:
        if want.id:
            commands.add((shapes.event_of(shape, want.path), want.value["command"]))
    for entry in draft.pack_entries():
        if entry.kind == "element" and not draft.target.shared:
            commands.add((shapes.event_of(shape, entry.path), entry.written["command"]))
    return commands


def _needed_approvals(draft: Draft, pack: str) -> tuple[dict[Path, str], list[HookEntry]]:
    """The approvals that a pack's hooks need, and its hooks that were edited."""
    shape, root = draft.host.shape, draft.document.value or {}
    commands, as_wanted, edited = commands_to_approve(draft), set(), []
    for hook in shapes.elements(shape, root):
        if hook.pack != pack:
            continue
        event = shapes.event_of(shape, hook.path)
        if (event, hook.fields["command"]) in commands:
            as_wanted.add(hook.path)
        else:
            edited.append(hook)
    return dict(codex.approvals(shape, draft.target.path, root, as_wanted)), edited


def _without_new_wraps(
    config: Draft, draft: Draft, pack: str, needed: dict[Path, str]
) -> dict[Path, str]:
    """The approvals without those of other tools' hooks that the operator did not ask for.

    An approval of the guard does not cover a hook that it wraps since.
    """
    ours = {entry.path[:-1] for entry in _owned_approvals(config.record, draft, pack)}
    kept = dict(needed)
    for hook in shapes.elements(draft.host.shape, draft.document.value or {}):
        if hook.id.startswith(WRAP):
            path = codex.state_path(draft.target.path, hook.path)
            if path not in ours:
                kept.pop(path, None)
    return kept


def _voided_approvals(config: Draft, draft: Draft, needed: Mapping[Path, str]) -> list[str]:
    """A line for each wrapped hook that waits for an approval: its old command had its own."""
    lines = []
    for hook in shapes.elements(draft.host.shape, draft.document.value or {}):
        if not hook.id.startswith(WRAP):
            continue
        path = codex.state_path(draft.target.path, hook.path)
        if path in needed and codex.approved(config.document, path) != needed[path]:
            command = masked_text(original_of(str(hook.fields["command"])) or hook.id)
            title = draft.host.title
            lines.append(f"{title} does not run {command} until it is approved anew, as wrapped")
    return lines


def _misses_any(config: Draft, needed: Mapping[Path, str]) -> bool:
    """Whether a needed approval is not in the file."""
    return any(codex.approved(config.document, path) != needed[path] for path in needed)


def _former_paths(records: Mapping[str, Record], draft: Draft) -> set[str]:
    """The paths of a settings file below a HOME that was moved, which approvals still name.

    They are on no record any more, and end as the file's own path does below today's HOME.
    """
    home, own = draft.folders.home, draft.target.path
    known = {own, *records, *(record.known_as for record in records.values())}
    ends = [path.removeprefix(home) for path in known if path.startswith(f"{home}/")]
    found = set()
    for record in records.values():
        for entry in record.entries:
            if entry.path[:2] != APPROVALS or len(entry.path) == 2:
                continue
            path = codex.file_of_state(entry.path)
            fitting = [end for end in ends if path.endswith(end)]
            if path not in known and own == home + max(fitting, key=len, default=""):
                found.add(path)
    return found


def _approvals_of(entries: Iterable[Entry], draft: Draft, pack: str) -> list[Entry]:
    """Our entries that approve a pack's hooks in one settings file."""
    names = {draft.target.path, draft.snapshot.path, draft.key, *draft.former_paths}
    if draft.record:
        names.add(draft.record.known_as)
    prefixes = tuple(f"{name}:" for name in names - {""})
    approvals = []
    for entry in entries:
        is_of_pack = entry.path[:2] == APPROVALS and pack in entry.owners
        if is_of_pack and str(entry.path[2]).startswith(prefixes):
            approvals.append(entry)
    return approvals


def _runs_the_same(draft: Draft, pack: str) -> bool:
    """Whether a pack's hooks run what they ran before, or the guard as hookctl released it."""
    if pack == GUARD and not draft.foreign_programs:
        return True
    if draft.record is None or pack not in draft.record.packs:
        return False
    known, new = draft.record.packs[pack].files, draft.packs[pack].files
    if any(known.get(name) != digest for name, digest in new.items() if name != CONFIG):
        return False
    return _hooks_of(draft.entries, pack) <= _hooks_of(draft.record.entries, pack)


def _hooks_of(entries: Iterable[Entry], pack: str) -> set[tuple[Path, str, str]]:
    """Where each hook of a pack stands, what it runs, and for which tools."""
    hooks = set()
    for entry in entries:
        if entry.kind == "element" and pack in entry.owners:
            fields = entry.owners[pack].value
            hooks.add((entry.path, fields["command"], str(fields.get("matcher"))))
    return hooks


def _describe_taken_back(draft: Draft, pack: str) -> OwnText:
    """What a pack ran when it was approved, and what it runs now."""
    from hookctl.planner.consent import changed_claims, changed_files  # late: rare

    lines = [f"{pack} changed, so hookctl took its approval back"]
    if draft.record and pack in draft.record.packs:
        lines += changed_claims(draft.record.entries, draft.entries, pack)
        lines += changed_files(draft.record.packs[pack].files, draft.packs[pack].files)
    return OwnText("\n".join(lines))


def _owned_approvals(record: Record | None, draft: Draft, pack: str) -> list[Entry]:
    """The approvals of a pack that we wrote."""
    known = record.entries if record else ()
    return [entry for entry in _approvals_of(known, draft, pack) if entry.mode == "owned"]


def _keeps_up(config: Draft, draft: Draft, pack: str) -> bool:
    """Whether we approved hooks here, and the operator has taken none of that back."""
    ours = _owned_approvals(config.record, draft, pack)
    # Compare with the file before this run: by now one pack's approval may have replaced another's.
    return bool(ours) and all(config.before.get(entry.path) == entry.written for entry in ours)


def _approve(config: Draft, draft: Draft, pack: str, needed: dict[Path, str]) -> None:
    """Make the approvals of a pack in one settings file those that are needed."""
    wants = [Wanted((*path, "trusted_hash"), "leaf", digest) for path, digest in needed.items()]
    _take_over_entries(config, pack, {want.path for want in wants})
    visible = _with_containers(config, _approvals_of(config.entries, draft, pack))
    version = draft.packs[pack].version
    current = config.read_current(wants, visible)
    # The operator was asked, or agreed before: so replace what is in the place of our hook.
    decision = engine.install(visible, current, pack, version, wants, force=True)
    config.apply_decision(_describe_for_people(decision, pack), visible)


def _take_over_entries(config: Draft, pack: str, paths: set[Path]) -> None:
    """Give this pack alone the entries at these paths: an approval follows the hook's position."""
    entries = []
    for entry in config.entries:
        if entry.path in paths and entry.owners.keys() != {pack}:
            claims = list(entry.owners.values())
            entry = entry._replace(owners={pack: claims[0]})
        entries.append(entry)
    config.entries = tuple(entries)


def _withdraw(config: Draft, draft: Draft, pack: str) -> None:
    """Take out the approvals of a pack in one settings file."""
    visible = _with_containers(config, _approvals_of(config.entries, draft, pack))
    decision = engine.uninstall(visible, config.read_current((), visible), pack)
    config.apply_decision(_describe_for_people(decision, pack), visible)


def _with_containers(config: Draft, approvals: list[Entry]) -> tuple[Entry, ...]:
    containers = [entry for entry in config.entries if entry.kind == "container"]
    return config.visible_entries([*approvals, *containers])


def _describe_for_people(decision: Decision, pack: str) -> Decision:
    """The decision with a line for each approval that is written or taken out, and no other."""
    actions = []
    for action in decision.actions:
        if action.action in ("write", "replace") and action.to_state == "owned":
            reason = f"approves {pack}'s hook"
            if action.reason:
                reason = f"{reason}; {action.reason}"
            actions.append(action._replace(reason=reason))
        elif action.action in _WRITTEN:
            actions.append(action)
    return decision._replace(actions=tuple(actions), kept=())
