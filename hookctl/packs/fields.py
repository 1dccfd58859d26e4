"""The fields of a hook, and the keys that a settings file needs, as the host's file says."""

from __future__ import annotations

from typing import Any

from hookctl.hosts import Host, timeout
from hookctl.model import Wanted


def fields_of(
    host: Host,
    name: str,
    command: str,
    seconds: int | None,
    *,
    matcher: str | None = None,
    env: dict[str, str] | None = None,
    cap: str = "",
) -> dict[str, Any]:
    """The fields of a hook; `seconds` is its timeout, `cap` needs a field for it on the host.

    `name` tells it from others: Qwen Code runs only one of a name, event and matcher.
    """
    registration = host.registration
    fields: dict[str, Any] = {}
    for key, value in registration.fields.items():
        fields[key] = value.replace("{name}", name) if isinstance(value, str) else value
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
