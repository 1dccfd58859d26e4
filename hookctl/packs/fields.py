"""A hook in a settings file, and the keys that the file needs, as the host's file says."""

from __future__ import annotations

from typing import Any

from hookctl.hosts import Host, timeout
from hookctl.model import Wanted
from hookctl.settings.targets import GUARD


def wanted_hook(
    host: Host,
    id: str,
    event: str,
    command: str,
    forms: str,
    seconds: int | None,
    *,
    matcher: str | None = None,
    env: dict[str, str] | None = None,
    cap: str = "",
) -> Wanted:
    """A hook at an event of the host's; `seconds` is its timeout, `cap` needs a field for it.

    A name tells it from others: Qwen Code runs only one of a name, event and matcher, Mistral Vibe
    only one of a name.
    """
    registration, pack = host.registration, id.partition("/")[0]
    fields: dict[str, Any] = {}
    whole_name = id.replace("/", "-")
    for key, value in registration.fields.items():
        if isinstance(value, str):
            name = GUARD if pack == GUARD else whole_name
            value = value.replace("{name}", name).replace("{id}", whole_name)
        fields[key] = value
    fields["command"] = command
    if seconds is not None and registration.timeout:
        fields[registration.timeout] = timeout(host, seconds)
    if matcher is not None and not host.matchers.none:
        fields["matcher"] = matcher
    if env and host.env_field:
        fields[host.env_field] = env
    if cap and "field" in host.cap:
        fields[host.cap["field"]] = int(cap)
    return Wanted(host.shape.event_path(event, pack), "element", fields, id, forms)


def top_wants(host: Host) -> list[Wanted]:
    """The keys that the host's settings file needs at its top for any hook."""
    return [Wanted((key,), "leaf", value) for key, value in host.registration.top.items()]
