"""A reminder that comes to nothing is told of at the next stop: in the log, in stats and in `run status --check`."""

from typing import Any

import pytest

from hookctl import events

from .lab import Lab
from .play import play, rows
from .test_every_host import session_of

REMIND: dict[str, Any] = {"required_tools": ["close_task"]}
TWICE = {**REMIND, "max_nudges": 2}
ROWS: list[tuple[str, dict[str, Any], str, list[bool]]] = [
    ("the next stop", REMIND, "0=B[nudged]; 1=A[no_work]", [False, True]),
    ("only the next one", REMIND, "0=B; 1=A; 1=A", [False, True, False]),
    ("the tool was called", REMIND, "0=B; uses close_task; 1=A", [False, False]),
    ("a person wrote in between", REMIND, "0=B; prompt leave it; 0=B", [False, False]),
    ("each of two reminders", TWICE, "0=B; 1=B; 1=A", [False, True, True]),
    ("the second one helped", TWICE, "0=B; 1=B; uses close_task; 1=A", [False, True, False]),
    ("a person stopped it", REMIND, "0=B; mark STOP; 1=A[stop]", [False, False]),
    ("other work came up", REMIND, "0=B; work 2; 1=B[blocked]", [False, True]),
    ("nobody was reminded", {}, "0=A; 1=A", [False, False]),
]


@rows([(name, config, script) for name, config, script, _ in ROWS])
def test_a_stop_in_spite_of_a_reminder(lab: Lab, config: dict[str, Any], script: str) -> None:
    expected = next(row[3] for row in ROWS if row[1:3] == (config, script))
    play(lab, config, script)
    assert [line.get("ignored", False) for line in lab.log()] == expected
    counts = events.count_all(str(lab.state))
    assert sum(number for (_, kind), number in counts.items() if kind.code == "ignored") == sum(expected)


REMINDED = [("HERMES_KANBAN_TASK", "A"), ("MINE", "B"), ("", "B")]


@pytest.mark.parametrize(("scope", "answer"), REMINDED, ids=["its own workers", "others", "everybody"])
def test_on_hermes_its_own_workers_are_left_to_its_own_reminder(lab: Lab, scope: str, answer: str) -> None:
    lab.config(required_tools=["kanban_complete"], required_scope_env=scope)
    lab.environment.update({scope: "T7"} if scope else {})
    session = session_of(lab, "hermes")
    session.prompt()
    assert session.stop() == answer
