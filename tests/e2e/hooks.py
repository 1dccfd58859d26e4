"""How hooks are registered and what they say, in the words that most hosts share with Claude Code."""

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .probe import BLOCK, Probe

_DENY = {"permissionDecision": "deny", "permissionDecisionReason": "no"}
NESTED = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", **_DENY}})
FLAT = json.dumps(_DENY)
SPEAK = json.dumps({"systemMessage": "let go"})
END = json.dumps({"continue": False, "stopReason": "enough"})

# The form that hookctl writes, around a program that is not there.
GUARDED = ": hookctl=guard/stop; [ -f {0} ] && [ -r {0} ] && [ -x /bin/sh ] && /bin/sh {0}; exit 0"

GONE, GONE_GUARDED = "python3 /nowhere/hook.py", GUARDED.format("/nowhere/hook.py")


def say(out: str = "", code: int = 0, errors: str = "") -> str:
    """A hook that says this, without a probe's log."""
    out, errors = shlex.quote(out), shlex.quote(errors)
    return f"cat > /dev/null; printf %s {out}; printf %s {errors} >&2; exit {code}"


# What decides nothing, to every client that runs hooks as commands: silence, a message, an answer behind other words.
UNDECIDED = [say(), say("{}"), say(SPEAK), say("noise\n" + BLOCK), GONE_GUARDED]


def in_turn(folder: Path, *hooks: str) -> str:
    """A hook that is another one at each call, in this order, and says nothing after the last."""
    folder.mkdir(exist_ok=True)
    program, count = folder / "in_turn.sh", shlex.quote(str(folder / "in_turn.count"))
    cases = "\n".join(f"{number}) {hook} ;;" for number, hook in enumerate(hooks))
    program.write_text(
        f"n=$(cat {count} 2>/dev/null || echo 0)\necho $((n + 1)) > {count}\ncase $n in\n{cases}\nesac\n"
    )
    return shlex.join(["/bin/sh", str(program)])


def verdict(decision: str, reason: str = "on", **more: Any) -> str:
    """An answer with a decision and a reason."""
    return json.dumps({"decision": decision, "reason": reason, **more})


BOTH = verdict("block", **json.loads(SPEAK), **json.loads(END), more=1)
NESTED_STOP = json.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "decision": "block", "reason": "on"}})


def handler(hook: Probe | str, **more: Any) -> dict[str, Any]:
    """A hook element."""
    return {"type": "command", "command": hook if isinstance(hook, str) else hook.command, **more}


def group(*hooks: Probe | str, **more: Any) -> dict[str, Any]:
    """A group of hook elements."""
    return {"hooks": [handler(hook, **more) for hook in hooks]}


def lost_fields(pinned: Mapping[str, Sequence[str]], probes: Mapping[str, Probe]) -> dict[str, list[str]]:
    """The pinned fields that an event's first payload lacks; new ones do no harm."""
    found = {event: set(fields) - set(probes[event].heard()[0].payload) for event, fields in pinned.items()}
    return {event: sorted(fields) for event, fields in found.items() if fields}
