"""Where several reasons hold at once, the hook names the first: they are taken away one by one."""

import fcntl

import pytest

from .lab import Lab


def test_the_gates_are_asked_in_their_order(lab: Lab) -> None:
    lab.config(mode="off", child_env=["CHILD"], owner="S9", require_arm=True).task(remaining=2)
    text = lab.hook.with_name("config.json").read_text()
    lab.environment.update(HOOKCTL_DISABLE="1", CHILD="1")
    for name in ("STOP", "CONCLUDE"):
        lab.mark(name)
    lab.payload.update(session_id="", agent_id="a", background_tasks=[1])
    lab.hook.with_name("config.json").write_text("{")
    codes = []

    def stop() -> None:
        lab.stop(True)
        codes.append(lab.codes()[-1])

    stop()
    del lab.environment["HOOKCTL_DISABLE"]
    stop()
    lab.payload["session_id"] = "S1"
    lab.environment["HOOKCTL_MODE"] = "off"
    stop()
    lab.hook.with_name("config.json").write_text(text)
    stop()
    lab.environment["HOOKCTL_MODE"] = "breaker"
    stop()
    lab.environment["CHILD"] = "0"
    stop()
    del lab.payload["agent_id"]
    stop()
    lab.config(require_arm=True, honor_stop_hook_active=True, end_foreign_chains=False)
    stop()
    lab.arm()
    stop()
    (lab.run / "STOP").unlink()
    stop()
    lab.task(remaining=0)
    (lab.run / "CONCLUDE").unlink()
    stop()
    lab.payload["background_tasks"] = []
    stop()
    lab.task(remaining=2)
    stop()
    assert codes == [
        *["off", "no_input", "config_error", "off", "child", "subagent", "not_owner", "inactive", "stop"],
        *["conclude", "background", "no_work", "honor_active"],
    ]


def test_unusable_input_is_none_although_the_host_names_the_session(lab: Lab) -> None:
    lab.task(remaining=2)
    lab.environment["CLAUDE_CODE_SESSION_ID"] = "S1"
    assert (lab.raw("stop", b"{nope"), lab.codes()) == ("", ["no_input"])


def test_the_payloads_session_comes_before_the_hosts_variable(lab: Lab) -> None:
    lab.config(owner="S1").task(remaining=2)
    lab.environment["CLAUDE_CODE_SESSION_ID"] = "S2"
    assert lab.stop() == "B"


def test_a_loop_is_ended_rather_than_the_agent_reminded(lab: Lab) -> None:
    """At the same stop: a reminder would go on with what the operator wants ended."""
    lab.config(required_tools=["finish"], max_nudges=0)
    assert lab.stops("0111") == "AAAA"
    lab.config(required_tools=["finish"], max_nudges=1)
    assert (lab.stop(True), lab.codes()[-1]) == ("H", "stop_loop")


@pytest.mark.parametrize("fields", [{"background_tasks": [1]}, {"session_id": ""}, {"agent_id": "a"}])
def test_what_is_not_counted_has_no_numbers_in_the_log(lab: Lab, fields: dict) -> None:
    lab.stop(**fields)
    (line,) = lab.log()
    assert [line[name] for name in ("blocks", "attempts", "progress")] == [None] * 3


def test_the_line_of_a_release_tells_what_led_to_it(lab: Lab) -> None:
    lab.config(max_stop_blocks=2).task(remaining=2)
    assert lab.stops("011") == "BBR"
    assert [(line["blocks"], line["attempts"]) for line in lab.log()] == [(1, 1), (2, 2), (2, 3)]
    assert lab.stops("1") == "A"
    assert (lab.log()[-1]["blocks"], lab.log()[-1]["attempts"]) == (0, 1)


def test_an_allowed_stop_tells_the_blocks_so_far(lab: Lab) -> None:
    lab.task(remaining=2)
    assert lab.stops("01") == "BB"
    lab.mark("CONCLUDE")
    assert lab.stops("1") == "A"
    assert [line["blocks"] for line in lab.log()] == [1, 2, 2]


@pytest.mark.parametrize(
    ("mode", "mark", "answer"),
    [
        ("breaker", "", "R"),
        ("breaker", "CONCLUDE", "A"),
        ("breaker", "STOP", "A"),
        ("breaker", "OWNER", "A"),
        ("keepalive", "", "R"),
        ("keepalive", "STOP", "A"),
        ("guard", "", "A"),
    ],
)
def test_a_held_lock_is_spoken_of_where_the_agent_was_to_go_on(lab: Lab, mode: str, mark: str, answer: str) -> None:
    lab.config(mode=mode, lock_ms=50).task(remaining=0 if mode == "keepalive" else 2)
    lab.arm()
    lab.stop()
    if mark:
        lab.mark(mark, "S9")
    with open(f"{lab.session_file()}.lock") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert (lab.stop(True), lab.codes()[-1]) == (answer, "lock_timeout")
