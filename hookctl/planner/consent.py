"""Consent to a pack that is not built in: a person sees it and agrees before it is written.

Consent is recorded on this machine as the digest of the pack's file and its files. A
committed ledger is a stranger's, so nothing in it counts as consent.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from hookctl.errors import FAILED, USAGE, HookctlError
from hookctl.ledger import store
from hookctl.masking import OwnText
from hookctl.model import Consent, Entry, Message, PackRecord, Record
from hookctl.packs import listing
from hookctl.packs.choices import Permission
from hookctl.packs.model import MANIFEST, Pack
from hookctl.packs.pack import load_file
from hookctl.packs.risks import risky_env
from hookctl.planner.own_files import read_own
from hookctl.planner.plan import FilePlan, Plan
from hookctl.planner.sources import Sources
from hookctl.settings.targets import Target
from hookctl.system import files
from hookctl.system.files import content_digest

Entries = tuple[Entry, ...]


class Review(NamedTuple):
    """What a pack brings, and which parts of it still need consent."""

    pack: Pack
    digest: str
    is_agreed: bool  # a person on this machine agreed to this very content
    replaces: bool  # other content than was installed under the same version
    refused_env: tuple[str, ...]  # the variables that --allow-env has not let in
    changes: tuple[str, ...]  # what was, and what is to be

    @property
    def text(self) -> list[str]:
        """The text to read before consent; none if all of it was agreed to."""
        if self.is_agreed:
            return []
        lines = listing.lines(self.pack, self.digest)
        if self.changes:
            lines.append(f"what changes in {self.pack.name}:")
            lines += map(OwnText, self.changes)
        return lines

    @property
    def messages(self) -> tuple[Message, ...]:
        """What an install would refuse without another option."""
        messages = []
        if self.refused_env:
            messages.append(Message(str(_refused(self)), "env_refused"))
        if self.replaces:
            text = f"{_describe_replacement(self.pack)}: it needs --accept-changed"
            messages.append(Message(text, "pack_changed"))
        return tuple(messages)

    @property
    def data(self) -> dict[str, Any]:
        """The same for machines."""
        return {
            **listing.data(self.pack, self.digest),
            "refused_env": list(self.refused_env),
            "changes": [OwnText(line) for line in self.changes],
        }


def review(sources: Sources, pack: Pack, plan: Plan) -> Review:
    """What this plan would install of a pack, against what is on record."""
    contents = {name: data for name, (data, _) in pack.contents.items()}
    digest = content_digest(pack.manifest, contents)
    is_agreed = _is_known(sources, pack.name, digest)
    changes: dict[str, None] = {}
    replaces = False
    for file in plan.files:
        changes.update(dict.fromkeys(_describe_commit(file, pack)))
        lines = _describe_changes(sources, file, pack.name, contents)
        changes.update(dict.fromkeys(lines))
        replaces = replaces or _is_replaced(file, pack, digest, lines)
    return Review(
        pack=pack,
        digest=digest,
        is_agreed=is_agreed,
        replaces=replaces and not is_agreed,
        refused_env=_find_refused_env(plan, pack),
        changes=tuple(changes),
    )


def require_consent(review: Review, permission: Permission, command: str) -> None:
    """Show the pack and ask; a usage error without a yes, an earlier one or --yes."""
    pack = review.pack
    if review.text and permission.show is not None:
        permission.show(OwnText("\n".join(review.text)))
    if review.refused_env:
        raise _refused(review)
    if review.is_agreed:
        return
    if review.replaces and not permission.accept_changed:
        message = _describe_replacement(pack)
        hint = "Read what changes, then add --accept-changed. Nothing was written."
        raise HookctlError("pack_changed", message, path=pack.source, hint=hint, exit_code=USAGE)
    if permission.yes:
        return
    if permission.confirm is not None and permission.confirm(f"Install {pack.name}?"):
        return
    message = f"{pack.name} is not built into hookctl: it needs your consent to what it runs"
    hint = f"Read what `{command}` shows, then add --yes. Nothing was written."
    raise HookctlError("consent_needed", message, path=pack.source, hint=hint, exit_code=USAGE)


def _describe_replacement(pack: Pack) -> str:
    return f"{pack.name} {pack.version} has other content than was installed as {pack.version}"


def require_digest(plan: Plan, pack: Pack, digest: str) -> None:
    """Refuse a plan that would install other content than was agreed to, or is there by now."""
    is_other = not pack.commit and load_file(pack.source) != pack
    for file in plan.files:
        consent = _consent_of(file.record, pack.name)
        is_other |= not file.decision.conflicts and consent.digest not in ("", digest)
    if is_other:
        message = f"{pack.name} has changed since you agreed to it"
        hint = "Run the command again. Nothing was written."
        raise HookctlError("pack_changed", message, hint=hint, exit_code=FAILED)


def _refused(review: Review) -> HookctlError:
    pack, names = review.pack, review.refused_env
    them = "it" if len(names) == 1 else "them"
    message = (
        f"{pack.name} sets {', '.join(names)}: "
        "this can change which programs run, or where the host sends your data"
    )
    options = " ".join(f"--allow-env {name}" for name in names)
    hint = f"If you want {them}, add {options}. Nothing was written."
    return HookctlError("env_refused", message, path=pack.source, hint=hint, exit_code=USAGE)


def _is_known(sources: Sources, name: str, digest: str) -> bool:
    """Whether this content is on record, at any target, as agreed to on this machine."""
    records = store.load(sources.folders).values()
    return any(_consent_of(record, name).digest == digest for record in records)


def _consent_of(record: Record | None, name: str) -> Consent:
    if record is None or name not in record.packs:
        return Consent()
    return record.packs[name].consent


def _find_refused_env(plan: Plan, pack: Pack) -> tuple[str, ...]:
    """The risky variables that were not allowed at every target."""
    refused = []
    for name in risky_env(pack):
        for file in plan.files:
            is_target = file.record is not None and pack.name in file.record.packs
            if is_target and name not in _consent_of(file.record, pack.name).env:
                refused.append(name)
                break
    return tuple(refused)


def _is_replaced(file: FilePlan, pack: Pack, digest: str, changes: list[str]) -> bool:
    """Whether the same version was installed there with another content."""
    known = file.known.packs.get(pack.name) if file.known else None
    if known is None or known.version != pack.version:
        return False
    return bool(changes) or known.consent.digest not in ("", digest)


# What was, and what is to be


def changed_commit(file: FilePlan, name: str) -> tuple[str, str] | None:
    """The commit of a pack from git that is installed, and the one to be; None if it stays."""
    if file.known is None or file.record is None:
        return None
    old, new = file.known.packs.get(name), file.record.packs.get(name)
    if old is None or new is None or not old.commit or old.commit == new.commit:
        return None
    return old.commit, new.commit


def _describe_commit(file: FilePlan, pack: Pack) -> list[str]:
    """The version and commit of a pack from git, old and new."""
    commits = changed_commit(file, pack.name)
    if commits is None or file.known is None:
        return []
    version = file.known.packs[pack.name].version
    new = f"{pack.version}, {commits[1]}" if commits[1] else f"{pack.version}, not from git"
    return ["  version and commit", f"    was {version}, {commits[0]}", f"    now {new}"]


def _describe_changes(
    sources: Sources, file: FilePlan, name: str, contents: Mapping[str, bytes]
) -> list[str]:
    """The commands, values and files of a pack that an install changes, old and new."""
    if file.known is None or name not in file.known.packs or file.record is None:
        return []
    lines = changed_claims(file.known.entries, file.record.entries, name)
    old, new = file.known.packs[name], file.record.packs[name]
    for file_name in sorted({*old.files, *new.files} - {MANIFEST}):  # its claims are there already
        before = _read_installed(sources, file.target, old, file_name)
        after = contents.get(file_name)
        if before == after:
            continue
        lines.append(f"  file {file_name}")
        lines += [f"    was {_digest_text(before)}", f"    now {_digest_text(after)}"]
        if before is not None and after is not None:
            lines += listing.file_changes(before, after)
    return lines


def _read_installed(sources: Sources, target: Target, known: PackRecord, name: str) -> bytes | None:
    """The bytes of an installed file of a pack; None where it is not there."""
    if name not in known.files:
        return None
    with contextlib.suppress(HookctlError):
        return read_own(sources, target, os.path.join(known.folder, name)).data
    return None


def changed_claims(old: Entries, new: Entries, name: str) -> list[str]:
    """The commands and values of a pack that differ between two records, old and new."""
    before, after = _claims(old, name), _claims(new, name)
    lines = []
    for key in dict.fromkeys([*before, *after]):
        if before.get(key) != after.get(key):
            lines.append(f"  {key}")
            lines.append(f"    was {before.get(key, 'not there')}")
            lines.append(f"    now {after.get(key, 'not there')}")
    return lines


def _claims(entries: Entries, name: str) -> dict[str, str]:
    """What a pack wants, as text, by the id of the hook or the name of the key."""
    claims = {}
    for entry in entries:
        if entry.kind == "container" or name not in entry.owners:
            continue
        value = entry.owners[name].value
        if entry.kind == "element":
            claims[entry.id] = _hook_text(value)
        else:
            claims[str(entry.path[-1])] = value if isinstance(value, str) else json.dumps(value)
    return claims


def _hook_text(fields: dict[str, Any]) -> str:
    """A hook's command, and its other fields where it has any."""
    others = {key: value for key, value in fields.items() if key not in ("type", "command")}
    text = str(fields["command"])
    return f"{text}  {json.dumps(others, ensure_ascii=False)}" if others else text


def _digest_text(data: bytes | None) -> str:
    return "not there" if data is None else f"sha256 {files.digest(data)}"
