"""Without the interpreter's C parts the hook decides, answers and writes the same, byte by byte."""

import shutil

from .lab import Lab

# In front of the hook: an interpreter that has none of the private modules.
BARE = (
    "import sys\nfor name in ('_sha256', '_sha2'):\n    sys.modules[name] = None\n"
    "import builtins\nreal = builtins.__import__\n"
    "def fake(name, *rest):\n    if name == '_json' and rest and rest[0].get('__name__', '').endswith('.values'):\n"
    "        raise ImportError(name)\n    return real(name, *rest)\nbuiltins.__import__ = fake\n"
)


def make_bare(lab: Lab) -> None:
    lab.hook.write_text(BARE + lab.hook.read_text())


def day(lab: Lab) -> tuple[list[str], dict[str, str]]:
    """What it answers in a day, and what it leaves behind."""
    shutil.rmtree(lab.state, ignore_errors=True)
    answers = [lab.call("post-tool", tool_name="B", tool_input=value) for value in ({"b": 1, "a": "ü"}, {})]
    answers += [lab.call("pre-tool", tool_name="Task", tool_input={"b": [1, 2.5], "a": None}) for _ in "12"]
    for active in (False, True, True):
        answers.append(lab.call("stop", stop_hook_active=active))
    return answers, {path.name: path.read_text() for path in lab.folder.iterdir()}


def test_the_public_modules_say_and_write_the_same_bytes(lab: Lab) -> None:
    lab.config(max_stop_blocks=1, dispatch_tools=["Task"], dispatch_max=1)
    lab.task(remaining=2, heartbeat={"b": 1, "a": "é"})
    lab.environment["HOOKCTL_NOW"] = "1000"
    usual = day(lab)
    make_bare(lab)
    assert day(lab) == usual


def test_the_public_modules_do_not_count_an_absurd_number_either(lab: Lab) -> None:
    (lab.run / "task.json").write_text('{"remaining": ' + "9" * 25 + "}")
    assert lab.stop() == "A"
    make_bare(lab)
    assert lab.stop() == "A"


def test_what_json_cannot_say_is_counted_all_the_same(lab: Lab) -> None:
    """Python's own JSON knows numbers that are none; hosts in Python may send them."""
    lab.config(dispatch_tools=["Task"], dispatch_max=1)
    assert lab.attempt(float("nan")) + lab.attempt(float("nan")) == "AD"
    assert lab.attempt(float("-inf")) + lab.attempt(float("-inf")) == "AD"
