"""Variables that several packs want, on a host where each hook has an environment of its own.

Elsewhere packs share one value in the settings file. Here each pack has a copy in its hooks, and
what every pack claims is on record with it, so that the same rules give the same values.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hookctl import engine
from hookctl.hosts import Host
from hookctl.model import Claim, Conflict, Entry, PackRecord, Wanted
from hookctl.packs.model import CLAUDE, PROTOCOL, EnvClaim, Pack
from hookctl.packs.runner import needs_runner
from hookctl.packs.wants import env_claims
from hookctl.planner.draft import Draft
from hookctl.settings.targets import GUARD, Target

_ON_RECORD = "env"  # the key of a pack's settings

Claims = dict[str, Claim]  # of a variable, by pack


def recorded_settings(pack: Pack, host: Host, python: str = "") -> dict[str, object]:
    """What is recorded of a pack: its variables where its hooks have their own, and its runner."""
    settings: dict[str, object] = {}
    claims = env_claims(pack, host) if host.env_field else {}
    if claims:
        settings[_ON_RECORD] = {key: [claim.value, claim.merge] for key, claim in claims.items()}
    if needs_runner(pack, host):
        settings |= {PROTOCOL: CLAUDE, "python": python}
    return settings


def pack_env(pack: Pack, target: Target, packs: Mapping[str, PackRecord]) -> dict[str, EnvClaim]:
    """A pack's variables with the values that they have beside the packs that are there."""
    own = env_claims(pack, target.host)
    if not target.host.env_field:
        return own
    claims = _claims_by_variable(target, packs, {pack.name: own})
    merged = {}
    for key, claim in own.items():
        merged[key] = claim._replace(value=engine.claimed_value(claims[key], pack.name))
    return merged


def find_conflicts(draft: Draft, pack: Pack) -> Iterator[Conflict]:
    """The variables for which another pack wants another value, with no rule in common."""
    if not draft.host.env_field:
        return
    own = env_claims(pack, draft.host)
    known = draft.packs.get(pack.name)
    before = _parse_claims(known) if known else {}
    for key, claims in _claims_by_variable(draft.target, draft.packs, {pack.name: own}).items():
        is_new = key in own and before.get(key) != own[key]
        values = {name: claim.value for name, claim in claims.items()}
        if is_new and len(set(values.values())) > 1 and not engine.common_rule(claims):
            yield Conflict((draft.host.env_field, key), "", values)


def update_other_packs(draft: Draft, pack: str = "") -> None:
    """Bring the variables in the hooks of the other packs up to date."""
    if not draft.host.env_field:
        return
    claims = _claims_by_variable(draft.target, draft.packs, {})
    for name, pack_record in draft.packs.items():
        if name not in (pack, GUARD):
            env = {}
            for key in _parse_claims(pack_record):
                env[key] = engine.claimed_value(claims[key], name)
            _update_pack(draft, name, pack_record.version, env)


def _update_pack(draft: Draft, name: str, version: str, env: dict[str, str]) -> None:
    field, is_changed = draft.host.env_field, False
    wants = []
    for entry in draft.pack_entries():
        claim = entry.owners.get(name)
        if claim is None:
            continue
        value = claim.value
        if entry.kind == "element" and env and value.get(field) != env:
            value, is_changed = {**value, field: env}, True
        wants.append(Wanted(entry.path, entry.kind, value, entry.id, merge=claim.merge))
    if not is_changed:
        return
    visible: tuple[Entry, ...] = draft.pack_entries()
    current = draft.read_current(wants, visible)
    decision = engine.install(visible, current, name, version, wants, others=False)
    draft.apply_decision(decision, visible)


def _claims_by_variable(
    target: Target, packs: Mapping[str, PackRecord], new: Mapping[str, Mapping[str, EnvClaim]]
) -> dict[str, Claims]:
    """What each pack claims of each variable; `new` claims stand for those on record.

    A committed record is sorted, so that the same pack is the first one in every clone.
    """
    claims: dict[str, Claims] = {}
    recorded = {name: _parse_claims(record) for name, record in packs.items() if name != GUARD}
    every = {**recorded, **new}
    for name in sorted(every) if target.shared else every:
        for key, claim in every[name].items():
            claims.setdefault(key, {})[name] = Claim(claim.value, "", claim.merge)
    return claims


def _parse_claims(record: PackRecord) -> dict[str, EnvClaim]:
    """The claims on record; a committed record is a stranger's, so what is odd is none."""
    recorded = record.settings.get(_ON_RECORD)
    claims = {}
    for key, value in recorded.items() if isinstance(recorded, dict) else ():
        is_claim = isinstance(value, list) and len(value) == 2
        if is_claim and all(isinstance(part, str) for part in value):
            claim = EnvClaim(*value)
            if claim.is_valid:
                claims[key] = claim
    return claims
