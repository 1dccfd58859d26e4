"""What a machine gets with --json of what people read: whether anything changes, every message, the whole diff."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import jsonschema
import pytest

from hookctl.system.package_data import asset
from tests.conftest import Hookctl, Outcome, put
from tests.trees import tree

SCHEMA = jsonschema.Draft202012Validator(json.loads(Path(asset("schemas", "result.schema.json")).read_text()))
SECRET = "zq-4711-nobody-sees-this"


def said(outcome: Outcome) -> list[str]:
    """The messages on stderr, one a message."""
    return [part.rstrip("\n") for part in ("\n" + outcome.err).split("\nhookctl: ")[1:]]


def codes(outcome: Outcome) -> list[str]:
    SCHEMA.validate(outcome.result)
    return [message["code"] for message in outcome.data["messages"]]


CASES: dict[str, tuple[str, Callable[[Path], object]]] = {
    "approval": ("install --host codex", lambda top: None),
    "host limits": ("install --host cursor", lambda top: None),
    "switched off": (
        "install --host claude",
        lambda top: put(top / "home/.claude/settings.json", '{"disableAllHooks": true}'),
    ),
    "a link": (
        "install --host claude",
        lambda top: put(top / "home/.claude/x", "").with_name("settings.json").symlink_to(top / "gone.json"),
    ),
    "project": ("install --host claude --scope project", lambda top: (top / "work/.git").mkdir()),
    "settings": ("install --host claude --nudge-env CI", lambda top: None),
}


@pytest.mark.parametrize("case", CASES)
def test_nothing_stands_on_stderr_alone(isolated: Path, hookctl: Hookctl, case: str) -> None:
    arguments, prepare = CASES[case]
    prepare(isolated)
    for more in (("--dry-run",), ()):
        outcome = hookctl(*arguments.split(), *more, "--json")
        assert outcome.code == 0
        codes(outcome)
        texts = [message["message"] for message in outcome.data["messages"]]
        assert said(outcome), "the case is about a message"
        assert set(said(outcome)) <= set(texts)


def test_a_message_has_a_code_a_host_and_a_file(hookctl: Hookctl, isolated: Path) -> None:
    outcome = hookctl("install", "--host", "codex", "--json")
    message = next(m for m in outcome.data["messages"] if m["code"] == "not_approved")
    assert (message["level"], message["host"]) == ("warning", "codex")
    assert message["path"].startswith(str(isolated / "home/.codex/"))


def test_changed_is_what_the_run_does(hookctl: Hookctl, isolated: Path) -> None:
    install = ("install", "--host", "claude", "--json")
    answers = []
    for arguments in (
        (*install, "--dry-run"), install, install, (*install, "--dry-run"), (*install, "--set", "latch=false"),
        ("upgrade", "--json"), ("uninstall", "--json", "--dry-run"), ("uninstall", "--json"), ("uninstall", "--json"),
    ):  # fmt: skip
        before = tree(isolated)
        changed = hookctl(*arguments).data["changed"]
        wrote = tree(isolated) != before
        assert wrote == (changed and "--dry-run" not in arguments)
        answers.append(changed)
    assert answers == [True, True, False, False, True, False, True, True, False]


def test_people_and_machines_get_the_same_diff_without_a_secret(hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "home/.claude/settings.json", json.dumps({"env": {"MY_TOKEN": SECRET, "MODEL": "x"}}, indent=2))
    install = ("install", "--host", "claude")
    dry = hookctl(*install, "--dry-run", "--json")
    SCHEMA.validate(dry.result)
    diff = dry.data["files"][0]["diff"]
    assert '     "MY_TOKEN": …\n     "MODEL": …\n+    "MAX_STOP_BLOCKS": "5"\n' in diff
    assert hookctl("plan", *install[1:]).out.startswith(diff) and SECRET not in diff
    assert hookctl(*install, "--json").data["files"][0]["diff"] == diff
    assert hookctl(*install, "--json").data["files"] == []


# hookctl demo: the real hook decides, a person can follow, and nothing is left of it.


DECISIONS = [None, "block", "block", "block", "release", None, "allow"]


def test_the_story_goes_through_block_progress_release_and_end(hookctl: Hookctl, isolated: Path) -> None:
    before = tree(isolated)
    done = hookctl("demo", "--json")
    steps = done.data["steps"]
    assert done.code == 0 and [step["decision"] for step in steps] == DECISIONS
    assert steps[2]["code"] == "blocked" and steps[4]["code"] == "tripped" and steps[6]["code"] == "no_work"
    assert "without progress" in steps[4]["said"]
    assert tree(isolated) == before


def test_an_interrupted_one_leaves_nothing(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    place = isolated / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr("hookctl.verbs.demo.time", SimpleNamespace(sleep=interrupt))
    assert hookctl("demo").code == 130
    assert list(place.iterdir()) == []
