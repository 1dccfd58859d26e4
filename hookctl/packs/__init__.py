"""Packs: the built-in ones, packs by path, and the guard's settings, commands and files.

It may import `settings`, `hosts`, `documents`, `system` and the values at the root.
"""

from collections.abc import Mapping
from typing import NamedTuple

from hookctl.model import Claim, Record, Release

MANIFEST = "pack.toml"  # the file of a pack in a folder
CLAUDE = "claude"  # Claude Code's hook protocol; the other, "host", is each host's own
DEFAULT_TIMEOUT = 10  # seconds, of what the runner runs
PROTOCOL, REPLACES = "protocol", "replaces"  # the keys of a pack's settings on record


class PackHook(NamedTuple):
    """A command that runs on an event."""

    id: str
    event: str  # its short form, or the host's own name where native
    command: str  # as in the pack, placeholders not yet replaced
    timeout: int | None = None  # seconds; None: the host decides
    matcher: str | None = None
    hosts: tuple[str, ...] = ()  # empty: every host
    native: bool = False  # a host's own hook, in that host's protocol
    is_run: bool = False  # by the runner: it speaks Claude Code's protocol
    on_failure: str = "allow"  # allow | deny
    may_allow: bool = False  # its `allow` may lift the person's own permission


class Part(NamedTuple):
    """What a pack has for every host, or for one of them."""

    env: dict[str, Claim] = {}  # noqa: RUF012 (never changed in place)
    hooks: tuple[PackHook, ...] = ()


class Pack(NamedTuple):
    """A checked pack file."""

    name: str
    version: str
    description: str = ""
    # Absolute path of the pack's file, or its git address; empty for a built-in one.
    source: str = ""
    files: tuple[str, ...] = ()  # relative to the pack's folder, in the pack's order
    parts: dict[str, Part] = {"": Part()}  # noqa: RUF012  # by host; "" is for every one
    rules: str = ""  # for the file with instructions for the agent
    manifest: bytes = b""  # of the pack's file, as they were read; none of a built-in one
    protocol: str = "host"  # host | claude
    commit: str = ""  # of a pack from git, whose source is its address
    release: Release | None = None  # which tag that is, where the address has `@latest`
    contents: Mapping[str, tuple[bytes, bool]] = {}  # bytes, and if executable
    replaces: tuple[str, ...] = ()  # parts of the commands of the hooks in whose place it stands

    @property
    def hooks(self) -> tuple[PackHook, ...]:
        """The hooks for every host."""
        return self.parts[""].hooks

    @property
    def all_hooks(self) -> list[tuple[str, PackHook]]:
        """Every hook, behind the host that it is for alone; '' for the common ones."""
        return [(host, hook) for host, part in self.parts.items() for hook in part.hooks]

    @property
    def all_env(self) -> list[tuple[str, str, Claim]]:
        """Every variable's name and value, behind its host as hooks are."""
        return [(host, *named) for host, part in self.parts.items() for named in part.env.items()]


def run_packs(record: Record) -> list[str]:
    """The packs of a settings file whose commands the runner runs."""
    return [name for name, known in record.packs.items() if known.settings.get(PROTOCOL) == CLAUDE]
