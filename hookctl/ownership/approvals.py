"""Approvals of hosts that run only approved hooks: the person's own, only read.

What 0.2.0 approved where it was asked to is on record, an entry like any other, in the file that
the host keeps it in. An upgrade or uninstall takes it out.
"""

from collections.abc import Iterable

from hookctl.hosts import codex, shapes
from hookctl.hosts.model import APPROVALS
from hookctl.model import Entry
from hookctl.ownership import engine, store
from hookctl.ownership.draft import Draft
from hookctl.ownership.plan import Drafts
from hookctl.ownership.sources import current_of
from hookctl.settings import switches
from hookctl.settings.targets import Target


def install(draft: Draft, drafts: Drafts, pack: str) -> None:
    """Tell the person where a pack's hooks wait for an approval; those of 0.2.0 go."""
    if not draft.host.needs_approval(draft.target.scope):
        return
    if not draft.records.disabled:  # beside the switch of a disabled hook they wait for it
        uninstall(draft, drafts, pack)
    # Whether one is missing, or may be after an edit:
    host, target, environ = draft.host, draft.target, draft.folders.environ
    read = draft.sources.read
    if host.trust.memory or host.trust.config:
        root = draft.document.value or {}
        closed = switches.closed(host, target.path, root, environ, read)
        hooks = [hook for hook in shapes.elements(host.shape, root) if hook.pack == pack]
        waits = any(hook.path in closed for hook in hooks)
    else:
        folder = target.project or draft.folders.cwd
        waits = draft.is_edited or switches.is_untrusted(host, target.scope, folder, environ, read)
    if waits:
        draft.warn("not_approved", f"{draft.host.trust.gate}: {draft.host.trust.action}")


def uninstall(draft: Draft, drafts: Drafts, pack: str) -> None:
    """Take out the approvals of a pack that 0.2.0 wrote."""
    for key, record in drafts.records.items():
        if not _list_approvals(record.entries, draft, drafts, pack):
            continue
        path = store.current_path(drafts.records, key)
        config = drafts.open(Target(draft.host._replace(format="toml"), "user", path))
        approvals = _list_approvals(config.entries, draft, drafts, pack)
        visible = (*approvals, *(one for one in config.entries if one.kind == "container"))
        current = current_of(config.host, config.document, (), visible)
        config.apply_decision(engine.uninstall(visible, current, pack), visible)


def _list_approvals(
    entries: Iterable[Entry], draft: Draft, drafts: Drafts, pack: str
) -> list[Entry]:
    """The entries that approve a pack's hooks in one settings file.

    So are those for a file that is on no record: its HOME was moved.
    """
    records = drafts.records
    own = {draft.target.path, draft.snapshot.path, draft.key}
    own |= {draft.known.known_as} if draft.known else set()
    known = {*records, *(record.known_as for record in records.values())} - own
    ours = [entry for entry in entries if entry.path[:2] == APPROVALS and pack in entry.owners]
    ours = [entry for entry in ours if len(entry.path) > 2]
    return [entry for entry in ours if codex.file_of_state(entry.path) not in known]
