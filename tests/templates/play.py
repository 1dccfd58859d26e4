"""A small language for what a host, an agent and an operator do around the hook, and what it must answer.

Steps are separated by `; `. `01=BR` is two stops, the first fresh, the second active (`-`: the host sends no flag),
answered by a block and a release (A allow, H end of the turn); `[code]` behind it is the last reason in the log;
`S2:` in front is another session. `try a=AAD` asks three times for a call with the argument a (D: refused,
E: and the turn ends). The other words are in `WORDS`, with what they do.

The scenarios lie in scenarios/NAME.txt, a line each: `name | settings | steps`, or `name | steps`. A line in brackets
has settings of all lines below it; a line that is indented goes on with the one above; `#` begins a remark.
"""

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hookctl import receipts
from hookctl.packs.choices import PRESETS

from .lab import WAKE_TEXT, Lab, letter, name_of, spoil
from .wraps import Wrapped

FOLDER = Path(__file__).parent / "scenarios"
SETTING = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\S+)')

Row = tuple[str, dict[str, Any], str]
Words = dict[str, Callable[[Lab, str], object]]


def rows(scenarios: list[Row]) -> pytest.MarkDecorator:
    """Run a test once a row (name, configuration, script)."""
    return pytest.mark.parametrize(
        ("config", "script"), [row[1:] for row in scenarios], ids=[row[0] for row in scenarios]
    )


def scenarios(name: str) -> list[Row]:
    """The rows of a file, each named after it."""
    found: list[Row] = []
    common: dict[str, Any] = {}
    text = (FOLDER / f"{name}.txt").read_text("utf-8")
    for line in re.sub(r"\n\s+(?=\S)", " ", re.sub(r"^#.*\n|^\n", "", text, flags=re.MULTILINE)).splitlines():
        if line.startswith("["):
            common = read_settings(line[1:-1])
        else:
            title, *settings, script = line.split(" | ")
            found.append((f"{name}: {title}", {**common, **read_settings("".join(settings))}, script))
    return found


def read_settings(text: str) -> dict[str, Any]:
    """Settings as `name=value`, where a word needs no quotes; `preset=NAME` has all of a preset's."""
    values: dict[str, Any] = {}
    for name, value in SETTING.findall(text):
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return {**PRESETS.get(values.pop("preset", ""), {}), **values}


def play(lab: Lab, config: dict[str, Any], script: str, more: Words | None = None) -> None:
    """Play a script; AssertionError has all steps up to the first that was answered differently."""
    if config:
        lab.config(**config)
    words = {**WORDS, **(more or {})}
    done = []
    for step in script.split("; "):
        word, _, rest = step.partition(" ")
        done.append(step)
        try:
            words[word](lab, rest) if word in words else demand(lab, step)
        except AssertionError as error:
            raise AssertionError("; ".join(done)) from error


def demand(lab: Lab, step: str) -> None:
    who, _, rest = step.removeprefix("try ").rpartition(":")
    what, expected, code = parts_of(rest)
    session = {"session_id": who} if who else {}
    if step.startswith("try "):
        assert lab.attempts(what, len(expected), **session) == expected
    else:
        assert lab.stops(what, **session) == expected
    if code:
        assert lab.codes()[-1] == code


def parts_of(text: str) -> tuple[str, str, str]:
    """What is done, the letters that answer it, and the last code."""
    what, _, expected = text.partition("=")
    letters, _, code = expected.partition("[")
    return what, letters, code.rstrip("]")


def work(lab: Lab, rest: str) -> None:
    number, _, heartbeat = rest.partition(" ") if '"' not in rest else (rest, "", "")
    beat = f', "heartbeat": "{heartbeat}"' if heartbeat else ""
    (lab.run / "task.json").write_text(f'{{"remaining": {number}{beat}}}')


def make_old(lab: Lab, hours: str) -> None:
    then = float(lab.environment.get("HOOKCTL_NOW", time.time())) - float(hours) * 3600
    os.utime(lab.run / "task.json", (then, then))


def write_file(lab: Lab, rest: str) -> None:
    name, _, text = rest.partition(" ")
    path = lab.project / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def has_file(lab: Lab, rest: str) -> None:
    name, _, text = rest.partition(" ")
    assert (lab.project / name).read_text() == text


def remove(lab: Lab, what: str) -> None:
    if what == "transcript":
        lab.payload["transcript_path"] = str(lab.root / "gone.jsonl")
    elif what == "waits":
        lab.payload["background_tasks"] = []
    elif what == "ACTIVE":
        (lab.folder / "ACTIVE").unlink()
    elif what in lab.environment:
        del lab.environment[what]
    elif what in lab.payload:
        del lab.payload[what]
    else:
        (lab.run / what).unlink()


def spoil_file(lab: Lab, rest: str) -> None:
    name, _, how = rest.partition(" ")
    if name == "transcript":
        lab.payload["transcript_path"] = str(lab.transcript)
    places = {"session": lab.folder / f"{name_of('S1')}.json", "transcript": lab.transcript}
    places |= {"configuration": lab.configuration, "task.json": lab.run / name, "OWNER": lab.run / name}
    path = places.get(name, lab.folder / name)
    path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
    spoil(path, how)


def set_variable(lab: Lab, rest: str) -> None:
    name, _, value = rest.partition("=")
    lab.environment[name] = value


def call(lab: Lab, rest: str) -> None:
    """An event that is answered with nothing."""
    event, _, fields = rest.partition(" ")
    assert lab.call(event, **json.loads(fields)) == ""


def tell_each(lab: Lab, rest: str) -> None:
    """Stops that three registrations are told of, in another order at each: all say the same."""
    flags, letters, code = parts_of(rest)
    others = sorted(path.stem for path in lab.configuration.parent.glob("claude-*"))
    configs = ["", *(others or [lab.second(), lab.second()])]
    for flag, expected in zip(flags, letters, strict=True):
        active = {"0": {"stop_hook_active": False}, "1": {"stop_hook_active": True}}[flag]
        (answer,) = {lab.call("stop", config, **active) for config in configs}
        assert letter(answer) == expected
        configs.reverse()
    assert not code or lab.codes()[-1] == code


def wrapped(lab: Lab, rest: str) -> None:
    """Stops of another tool's hook that always denies, run by `hook.py wrap`."""
    who, _, rest = rest.rpartition(":")
    hook = lab.wrapped = lab.wrapped or Wrapped(lab)
    times, letters, code = parts_of(rest)
    assert hook.stops(int(times), **({"session_id": who} if who else {})) == letters
    assert not code or lab.codes()[-1] == code


# What it leaves behind, and what it says
def has_state(lab: Lab, rest: str) -> None:
    name, _, value = rest.partition(" ")
    assert lab.session()[name] == json.loads(value)


def has_log(lab: Lab, rest: str) -> None:
    """The whole log, a word each line: its code, or decision/code."""
    words = rest.split()
    lines = [f"{line['decision']}/{line['code']}" if "/" in rest else line["code"] for line in lab.log()]
    assert lines == words


def has_counts(lab: Lab, rest: str) -> None:
    """Blocks, attempts and progress of each line of the log; `-` where there is none."""
    names = ("blocks", "attempts", "progress")
    lines = ["/".join("-" if line[name] is None else str(line[name]) for name in names) for line in lab.log()]
    assert lines == rest.split()


def has_ignored(lab: Lab, rest: str) -> None:
    """Which lines of the log tell of a reminder that came to nothing (1), and that all of them are counted."""
    assert [line.get("ignored", False) for line in lab.log()] == [digit == "1" for digit in rest]
    counts = receipts.count(str(lab.state))
    assert sum(number for (_, kind), number in counts.items() if kind.code == "ignored") == rest.count("1")


def hears(lab: Lab, rest: str) -> None:
    assert rest in " ".join(str(value) for value in json.loads(lab.said).values())


def has_crumb(lab: Lab, rest: str) -> None:
    assert lab.breadcrumb.exists() == (rest == "yes")


def says_at_length(lab: Lab, lines: str) -> None:
    for _ in range(int(lines)):
        lab.says("x" * 10_000)


WORDS: Words = {
    # the operator
    "settings": lambda lab, rest: lab.config(**read_settings(rest)),
    "broken": lambda lab, rest: lab.configuration.write_text(rest),
    "armed": lambda lab, rest: lab.arm(),
    "ends": lambda lab, rest: lab.arm(rest),
    "mark": lambda lab, rest: lab.mark(rest),
    "owner": lambda lab, rest: lab.mark("OWNER", rest),
    # the agent's files
    "work": work,
    "text": lambda lab, rest: (lab.run / "task.json").write_text(rest),
    "bytes": lambda lab, rest: (lab.run / "task.json").write_bytes(bytes.fromhex(rest)),
    "old": make_old,
    "file": write_file,
    "holds": has_file,
    "no": remove,
    "spoil": spoil_file,
    "edit": lambda lab, rest: lab.edit(**json.loads(rest)),
    # the host
    "host": lambda lab, rest: setattr(lab, "host", rest),
    "env": set_variable,
    "cap": lambda lab, rest: set_variable(lab, f"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP={rest}"),
    "at": lambda lab, rest: set_variable(lab, f"HOOKCTL_NOW={rest}"),
    "turn": lambda lab, rest: lab.payload.update(prompt_id=rest),
    "with": lambda lab, rest: lab.payload.update(json.loads(rest)),
    "waits": lambda lab, rest: lab.payload.update(background_tasks=[{"id": "b1"}]),
    "call": call,
    "prompt": lambda lab, rest: call(lab, "prompt " + json.dumps({"prompt": rest})),
    "notified": lambda lab, rest: call(lab, "prompt " + json.dumps({"prompt": WAKE_TEXT})),
    "tool": lambda lab, rest: call(
        lab, "post-tool " + json.dumps({"tool_name": "Bash", "tool_input": {"command": rest}})
    ),
    "done": lambda lab, rest: call(lab, "post-tool " + json.dumps({"tool_name": rest, "tool_input": {"id": 1}})),
    "each": tell_each,
    "wrapped": wrapped,
    # the transcript
    "asks": lambda lab, rest: lab.asks(rest),
    "woken": lambda lab, rest: lab.asks(WAKE_TEXT),
    "says": lambda lab, rest: lab.says(rest),
    "fills": says_at_length,
    "calls": lambda lab, rest: lab.calls(rest),
    "uses": lambda lab, rest: lab.calls("x", name=rest),
    "append": lambda lab, rest: lab.append(rest),
    "empties": lambda lab, rest: lab.transcript.write_text(""),
    # what is left and said
    "state": has_state,
    "crumb": has_crumb,
    "log": has_log,
    "counts": has_counts,
    "ignored": has_ignored,
    "hears": hears,
    "nothing": lambda lab, rest: pytest.fail("it wrote something") if lab.state.exists() else None,
}
