"""The fields of a hook, and the keys that a settings file needs, as the host's file says."""

from __future__ import annotations

from typing import Any

from hookctl.hosts import Host, timeout
from hookctl.model import Wanted
from hookctl.settings.targets import GUARD


def fields_of(
    host: Host,
    id: str,
    command: str,
    seconds: int | None,
    *,
    matcher: str | None = None,
    env: dict[str, str] | None = None,
    cap: str = "",
) -> dict[str, Any]:
    """The fields of a hook; `seconds` is its timeout, `cap` needs a field for it on the host.

    A name tells it from others: Qwen Code runs only one of a name, event and matcher, Mistral Vibe
    only one of a name.
    """
    registration = host.registration
    fields: dict[str, Any] = {}
    whole_name = id.replace("/", "-")
    name = GUARD if id.startswith(f"{GUARD}/") else whole_name
    for key, value in registration.fields.items():
        if isinstance(value, str):
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
    return fields


def top_wants(host: Host) -> list[Wanted]:
    """The keys that the host's settings file needs at its top for any hook."""
    return [Wanted((key,), "leaf", value) for key, value in host.registration.top.items()]
