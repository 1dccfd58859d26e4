"""`hookctl hosts` at a glance: what is here, what has hooks of hookctl's, what each can do, in one screen."""

from __future__ import annotations

import pytest

from hookctl import hosts
from hookctl.packs.abilities import list_abilities

from .conftest import Hookctl

HEADS = ["HOST", "HERE", "PACKS", "BLOCK", "REFUSE", "ASK", "CHANGE", "END", "CAP", "SURE", "SETTINGS"]


def rows_of(text: str) -> dict[str, dict[str, str]]:
    """The cells of each host by the heads of their columns."""
    head, *lines = text.splitlines()
    starts = [head.index(name) for name in head.split()]
    rows = {}
    for line in lines[: len(hosts.names())]:
        cells = [line[start:end].strip() for start, end in zip(starts, [*starts[1:], None], strict=True)]
        rows[cells[0]] = dict(zip(head.split(), cells, strict=True))
    return rows


@pytest.mark.parametrize("name", hosts.names())
def test_what_a_host_can_do_is_what_it_reads_of_an_answer(name: str, hookctl: Hookctl) -> None:
    """The runner's forms of an answer, beside what `hookctl fire` knows of the host."""
    host = hosts.load(name)
    can = list_abilities(host)
    abilities = [ability for ability in ("block", "refuse", "ask", "change", "end") if can[ability]]
    row = rows_of(hookctl("hosts").out)[name]
    assert [head.lower() for head in HEADS[3:8] if row[head] != "-"] == abilities
    ends = {"both": (True, True), "stop": (True, False), "call": (False, True), "-": (False, False)}
    assert (can["end_at_stop"], can["end_at_call"]) == ends[row["END"]]
    assert bool(host.dialect.refuse_end) is (row["END"] in ("both", "call")), "what --dispatch can do"
    assert bool(host.dialect.end) is (row["END"] in ("both", "stop")), "what mode guard can do"
    tool, stop = (host.reads.get(event, {}) for event in ("PreToolUse", "Stop"))
    read = {answer for answer in ("refuse", "ask", "change", "end") if tool.get(answer)}
    read |= {word for answer, word in (("refuse", "block"), ("end", "end")) if stop.get(answer)}
    if "refuse" in tool.get("status", {}).values():
        read.add("refuse")
    if tool.get("end_of_refusal"):
        read.add("end")
    assert set(abilities) <= read
