"""Who reads whose files: each host's own file names the other agents that read what it reads."""

from __future__ import annotations

from hookctl import hosts
from hookctl.hosts.model import Table


def title_of(agent: Table) -> str:
    """The other agent as people call it."""
    return agent.name or hosts.load(agent.host).title


def condition(agent: Table) -> str:
    """When or how it reads the files, in words; empty if always and as their host does."""
    heeds_none = agent.host and hosts.load(agent.host).matchers.none
    return agent.only or ("without the matchers" if heeds_none else "")


def describe(agent: Table) -> str:
    """The other agent, and the condition if it does not always read the files."""
    when = condition(agent)
    return f"{title_of(agent)} ({when})" if when else title_of(agent)
