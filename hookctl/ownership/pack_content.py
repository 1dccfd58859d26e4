"""What a pack that is not built in puts in one target."""

from __future__ import annotations

import os

from hookctl.model import Consent, PackRecord
from hookctl.ownership.content import Content, choose_python
from hookctl.ownership.draft import Draft
from hookctl.ownership.own_files import own_top
from hookctl.packs.abilities import describe
from hookctl.packs.choices import Choice
from hookctl.packs.listing import risky_env
from hookctl.packs.model import CLAUDE, MANIFEST, PROTOCOL, Pack
from hookctl.packs.runner import find_programs, needs_runner, wants
from hookctl.settings.targets import pack_folder
from hookctl.system.files import content_digest


def pack_content(draft: Draft, pack: Pack, choice: Choice) -> Content:
    """What the manifest of a pack wants, with its files."""
    folder = pack_folder(draft.folders, draft.target, pack.name)
    known = draft.packs.get(pack.name)
    settings, python = {}, ""
    if needs_runner(pack, draft.host):
        python = choose_python(draft, str(known.settings.get("python", "")) if known else "")
        settings = {PROTOCOL: CLAUDE, "python": python}
    programs = find_programs(draft.target, folder, own_top(draft.folders, draft.target), python)
    wanted, *notes = wants(pack, draft.host, programs)
    source = pack.source
    if draft.target.shared and not pack.commit:
        # Links are resolved, to tell whether it lies in the project.
        source = os.path.realpath(source)
    if known and known.source not in ("", source):
        text = f"{pack.name} came from {known.source} so far"
        draft.tell("source_changed", text, level="info")
    contents = {name: data for name, (data, _) in pack.contents.items()}
    # The manifest tells what the pack's hooks are to be, in a clone too.
    files = {**pack.contents, MANIFEST: (pack.manifest, None)}
    digest = content_digest(b"", {**contents, MANIFEST: pack.manifest})
    allowed = set(choice.allow_env)
    if known and not choice.reset:
        allowed.update(known.consent.env)
    consent = Consent(
        digest=content_digest(pack.manifest, contents),
        env=tuple(name for name in risky_env(pack) if name in allowed),
        source=source if pack.commit else "",
    )
    surely, perhaps = describe(pack, draft.host, *notes)
    draft.tell("not_on_host", *surely)
    if known is None or known.consent.digest != consent.digest:  # told once
        draft.tell("not_on_host", *perhaps, level="info")
    commit = pack.commit
    if known and known.commit and known.consent == consent:
        commit = known.commit  # the repository has moved on, but not the pack
    record = PackRecord(
        version=pack.version,
        settings=settings,
        folder=folder,
        files=tuple(sorted(files)),
        source=source,
        digest=digest,
        consent=consent,
        commit=commit,
    )
    return wanted, files, record
