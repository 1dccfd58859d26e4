"""check and doctor ask hookctl's own copy of the guard: each way to neutralise it is named, and no fine one is."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from hookctl.checks.self_test import Part, find_causes
from hookctl.packs.choices import PRESETS
from tests.conftest import Hookctl, put

BLOCK = "does not block a stop while work remains"

# What one commit can put into a configuration, and how the finding begins.
SETTINGS: dict[str, tuple[dict[str, Any], str]] = {
    "a variable that the host sets": ({"child_env": ["CLAUDECODE"]}, 'child_env is ["CLAUDECODE"]'),
    "two variables": ({"child_env": ["A_CHILD", "CLAUDE_CODE_CHILD_SESSION"]}, "child_env is "),
    "an owner": ({"owner": "nobody"}, 'owner is "nobody"'),
    "a variable that every shell sets": ({"task_env": "PWD"}, 'task_env is "PWD"'),
    "a run that nobody starts": ({"require_arm": True}, "require_arm is true"),
    "two at once": ({"owner": "nobody", "child_env": ["CLAUDECODE"], "latch": False}, "owner is "),
    "one behind fine ones": ({"run_dir": ".work", "task_file": "todo.json", "owner": "nobody"}, "owner is "),
}
VARIABLES = {
    "HOOKCTL_OWNER": "nobody", "HOOKCTL_RUN_DIR": "/nowhere", "HOOKCTL_TASK_FILE": "/etc/passwd",
    "HOOKCTL_MODE": "off", "HOOKCTL_CHILD_ENV": "CLAUDECODE", "HOOKCTL_REQUIRE_ARM": "1",
    "XDG_STATE_HOME": "/dev/null", "HOME": "/nowhere", "HOOKCTL_STATE_DIR": ".state", "HOOKCTL_NOW": "9999999999",
    "HOOKCTL_DISABLE": "1", "HOOKCTL_CHILD": "yes",
}  # fmt: skip


CHOSEN = [
    ("--mode", "off", "--dispatch", "Bash"), ("--mode", "off", "--dispatch", "*:3/60"), ("--nudge", "done"),
    ("--mode", "off", "--dispatch", "Bash", "--set", "dispatch_scope=session"), ("--mode", "guard", "--nudge", "done"),
    ("--mode", "keepalive"), *(("--preset", name) for name in PRESETS if name != "rockbot"),
    ("--preset", "rockbot", "--dispatch", "*"),
]  # fmt: skip


class Clone:
    """A project with the guard, as one commit has changed it."""

    def __init__(self, hookctl: Hookctl, *options: str, host: str = "claude") -> None:
        self.hookctl = hookctl
        Path(".git").mkdir()
        assert hookctl("install", "--host", host, "--scope", "project", *options).code == 0

    def configure(self, values: dict[str, Any]) -> None:
        path = Path(".hookctl/guard/claude.json")
        path.write_text(json.dumps(json.loads(path.read_text()) | values))

    def set(self, **variables: str) -> None:
        path = Path(".claude/settings.json")
        settings = json.loads(path.read_text())
        settings.setdefault("env", {}).update(variables)
        path.write_text(json.dumps(settings))

    def findings(self, *words: str, code: int) -> list[dict[str, str]]:
        done = self.hookctl(*words, "--json")
        assert done.code == code, done.out
        return [finding for finding in done.data["findings"] if finding["level"] != "info"]


@pytest.fixture
def clone(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Clone:
    return Clone(hookctl)


@pytest.mark.parametrize("name", SETTINGS)
def test_a_configuration_that_ends_the_guard_is_named(clone: Clone, name: str) -> None:
    values, said = SETTINGS[name]
    clone.configure(values)
    found = clone.findings("check", "--require", "guard", code=1)
    found = [finding for finding in found if finding["code"] != "config_invalid"]
    assert {(finding["code"], finding["level"]) for finding in found} == {("self_test_failed", "error")}
    assert found[0]["message"].startswith(said) and found[0]["message"].endswith(BLOCK)
    assert len(found) == (2 if name == "two at once" else 1)
    assert {finding["level"] for finding in clone.findings("check", code=0)} == {"warning"}
    of_doctor = [f["message"] for f in clone.findings("doctor", code=0) if f["code"] == "self_test_failed"]
    assert of_doctor == [finding["message"] for finding in found]


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_that_ends_the_guard_is_named(clone: Clone, name: str) -> None:
    clone.set(HOOKCTL_LATCH="0", **{name: VARIABLES[name]}, HOOKCTL_LOCK_MS="100")
    for words in (("check",), ("check", "--require", "guard"), ("doctor", "--scope", "project")):
        errors = [finding for finding in clone.findings(*words, code=1) if finding["level"] == "error"]
        assert [finding["code"] for finding in errors] == ["hook_environment"], words
        assert name in errors[0]["message"] and errors[0]["path"].endswith("settings.json")


# To refuse, to end, and to block: while a run goes on, and while work remains.
OF_EACH_PROMISE = [CHOSEN[1], CHOSEN[4], ("--mode", "keepalive"), ("--preset", "bmad")]
ON_OTHER_HOSTS = itertools.product(["codex", "gemini", "openhands"], OF_EACH_PROMISE)


@pytest.mark.parametrize(("host", "options"), [*(("claude", options) for options in CHOSEN), *ON_OTHER_HOSTS], ids=str)
def test_what_install_writes_is_fine(isolated: Path, hookctl: Hookctl, options: tuple[str, ...], host: str) -> None:
    assert Clone(hookctl, *options, host=host).findings("check", "--require", "guard", code=0) == []


def test_no_variable_of_a_project_reaches_the_interpreter(clone: Clone) -> None:
    put(Path("evil.so"), "")
    clone.set(LD_PRELOAD=str(Path("evil.so").absolute()), PYTHONSTARTUP="evil.py", PYTHONHOME="/nowhere")
    told = [finding["message"].partition("=")[0] for finding in clone.findings("check", "--require", "guard", code=1)]
    assert told == ["LD_PRELOAD", "PYTHONHOME", "PYTHONSTARTUP"], "named, and none of them loaded"


def test_each_cause_is_found_that_is_one_alone() -> None:
    parts = [Part(name, name > "d") for name in "abcdef"]
    causes = find_causes(parts, lambda kept: not {"b", "e"} & {part.name for part in kept})
    assert [part.name for part in causes] == ["b", "e"]
    assert list(find_causes(parts, lambda kept: False)) == []
