"""Whose call it is: hosts that run each other's files are told apart, and one event that comes twice counts once."""

import itertools
import json
import posix
from typing import Any

import pytest

from hookctl import hosts
from hookctl.packs import guard

from .hosts import BORROWED, NAMES, PAYLOADS, TALKATIVE, VARIABLES, Session
from .lab import TABLE, Lab
from .modules import module
from .runner_bench import Bench

EVERY_VARIABLE = {key: value for variables in VARIABLES.values() for key, value in variables.items()}
CALLS = [(name, event) for name in BORROWED for event in PAYLOADS[name]]
OWN_CALLS = [(name, event) for name in NAMES for event in PAYLOADS[name]]


def runs_ours() -> set[tuple[str, str]]:
    """Whose file, and which other host of ours runs what is ours in it."""
    found = set()
    for owner in map(hosts.load, hosts.names()):
        found |= {(owner.name, agent.host) for agent in owner.also_read_by if agent.host and not agent.never_ours}
    return found


def caller(registered: str, payload: dict[str, Any], monkeypatch: pytest.MonkeyPatch, **variables: str) -> str:
    """Who the hook of a registration takes for its caller, with the configuration that install writes."""
    for key in EVERY_VARIABLE:
        monkeypatch.delitem(posix.environ, key.encode(), raising=False)
    for key, value in variables.items():
        monkeypatch.setitem(posix.environ, key.encode(), value.encode())
    found = module("hosts").find_host(guard.host_table(hosts.load(registered)), registered, payload)
    return str(found.name)


def test_each_that_runs_another_ones_file_is_played_here() -> None:
    assert {(name.partition("-")[0], host) for name, host in BORROWED.items()} == runs_ours()


@pytest.mark.parametrize(("name", "event"), [*CALLS, *OWN_CALLS])
def test_the_caller_is_known_at_each_event_whatever_shell_it_was_started_in(
    name: str, event: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered, host = name.partition("-")[0], BORROWED.get(name, name)
    own = VARIABLES.get(host, {}) if name in BORROWED else {}
    assert caller(registered, PAYLOADS[name][event], monkeypatch, **own) == host
    assert caller(registered, PAYLOADS[name][event], monkeypatch, **{**EVERY_VARIABLE, **own}) == host


@pytest.mark.parametrize("order", [*itertools.permutations(TABLE["claude"]["also_run_by"])])
def test_no_two_callers_are_alike(order: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the table decides nothing, nor does a field that a host may leave out."""
    table = guard.host_table(hosts.load("claude"))
    table["claude"]["also_run_by"] = {name: table["claude"]["also_run_by"][name] for name in order}
    for key, value in EVERY_VARIABLE.items():
        monkeypatch.setitem(posix.environ, key.encode(), value.encode())
    for name, event in CALLS:
        if name.startswith("claude-"):
            least = {key: value for key, value in PAYLOADS[name][event].items() if not key.startswith("permission")}
            for payload in (PAYLOADS[name][event], least):
                assert module("hosts").find_host(table, "claude", payload).name == BORROWED[name]


# The guard: a subset of the registrations, in each order
def subsets(name: str) -> list[list[str]]:
    """The other host's file alone, the caller's own alone, and both in each order; the first file perhaps twice."""
    host = BORROWED[name]
    return [[name], [host], [name, host], [host, name], [name, host, name]]


ARRANGED = [pytest.param(names, id=" and ".join(names)) for name in BORROWED for names in subsets(name)]


@pytest.mark.parametrize("names", ARRANGED)
def test_a_stop_is_counted_and_answered_once_whichever_files_have_the_guard(lab: Lab, names: list[str]) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    host = BORROWED.get(names[0], names[0])
    configs = ["", *(lab.second() for _ in names[1:])]
    sessions = [Session(lab, name, config=config) for name, config in zip(names, configs, strict=True)]
    for session in sessions:
        session.prompt()
    letters = []
    for _ in range(4):
        said = ""
        for session in sessions:
            lab.host = session.name.partition("-")[0]
            said += session.stop()
        letters.append(said)
    assert letters == [letter * len(names) for letter in ("BBRA" if host in TALKATIVE else "BBAA")]
    assert lab.codes() == ["blocked", "blocked", "tripped", "open"]
    assert {line["host"] for line in lab.log()} == {host}


@pytest.mark.parametrize("name", BORROWED)
def test_a_call_is_left_to_the_callers_own_registration_where_it_has_one(lab: Lab, name: str) -> None:
    """Its configuration lies beside ours, as install names them."""
    lab.config(max_stop_blocks=9, dispatch_tools=["*"], dispatch_max=1).task(remaining=2)
    lab.host, host = name.partition("-")[0], BORROWED[name]
    lab.environment |= VARIABLES.get(host, {})
    borrowed, own = (lab.configuration.with_stem(f"{each}-local-1") for each in (lab.host, host))
    for path in (borrowed, own):
        path.write_text(lab.configuration.read_text())
    sent = {event: {**payload, "cwd": str(lab.project)} for event, payload in PAYLOADS[name].items()}
    for event, payload in [*sent.items()] * 2:
        assert lab.call(event, borrowed.stem, **payload) == ""
    assert not lab.state.exists()
    own.unlink()
    assert "Work remains (2)" in lab.call("stop", borrowed.stem, **sent["stop"])


@pytest.mark.parametrize("name", BORROWED)
def test_the_cap_that_counts_is_the_callers(lab: Lab, name: str) -> None:
    lab.config(max_stop_blocks=30).task(remaining=2)
    lab.environment["CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"] = "3"
    session = Session(lab, name)
    session.prompt()
    cap, _ = module("hosts").read_cap(TABLE[session.host].get("cap", {}))
    assert session.stops(12).rstrip("A") == "B" * int(min(cap, 12))
    assert ("host_cap" in lab.codes()) == (cap < 12)


# The runner: its command is asked once, and answers in the caller's form

SAY_NO = """cat >> {seen}; echo >> {seen}; echo 'not so' >&2; exit 2"""


@pytest.mark.parametrize("event", ["PreToolUse", "Stop"])
@pytest.mark.parametrize("names", ARRANGED)
def test_a_packs_command_runs_once_whichever_files_have_it(bench: Bench, names: list[str], event: str) -> None:
    host = BORROWED.get(names[0], names[0])
    bench.register({host: ["other"], **{name.partition("-")[0]: ["p"] for name in names}})
    bench.environment |= VARIABLES.get(host, {})
    answers, receipts = [], []
    for name in dict.fromkeys(names):
        payload = {**PAYLOADS[name]["pre-tool" if event == "PreToolUse" else "stop"], "cwd": str(bench.project)}
        ran = bench.run(name.partition("-")[0], event, payload, SAY_NO.format(seen=bench.seen))
        answers += [ran.answer] if ran.stdout else []
        receipts += ran.receipts
    assert [receipt["host"] for receipt in receipts] == [host]
    assert len(bench.seen.read_text().splitlines()) == 1
    form = hosts.load(host).runner["answers"][event]["refuse"]
    assert answers == [json.loads(form.replace("%s", '"not so"'))]
