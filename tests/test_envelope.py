"""What a machine gets with --json of what people read: whether anything changes, every message, the whole diff."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

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


def test_a_client_that_is_not_there_is_said_where_its_settings_are_made(hookctl: Hookctl, isolated: Path) -> None:
    """Once, for information, and not of a project's file, which is for everybody who clones it."""
    line = "Codex CLI was not found here; its settings are written all the same"
    assert codes(hookctl("install", "--host", "codex", "--scope", "project", "--json")).count("client_missing") == 0
    outcome = hookctl("install", "--host", "codex", "--json")
    found = [(m["level"], m["message"]) for m in outcome.data["messages"] if m["code"] == "client_missing"]
    assert found == [("info", line)]
    assert codes(hookctl("install", "--host", "codex", "--mode", "off", "--json")).count("client_missing") == 0
    (isolated / "home" / ".qwen").mkdir()
    assert codes(hookctl("install", "--host", "qwen", "--json")).count("client_missing") == 0


def test_what_stands_below_a_plan_are_messages_too(hookctl: Hookctl) -> None:
    for more in (("--dry-run",), ()):
        outcome = hookctl("install", "--host", "claude", *more, "--json")
        assert codes(outcome)[-8:] == ["outcome", *["next_step"] * 7]
    assert codes(hookctl("install", "--host", "claude", "--json")) == []
    assert "outcome" in codes(hookctl("uninstall", "--json"))


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


def test_only_the_record_changes_where_everything_is_there_already(hookctl: Hookctl, isolated: Path) -> None:
    hookctl("install", "--host", "claude")
    (isolated / "state" / "ledger.json").unlink()
    text = (isolated / "home/.claude/settings.json").read_bytes()
    outcome = hookctl("install", "--host", "claude", "--json")
    assert (isolated / "home/.claude/settings.json").read_bytes() == text
    assert (outcome.data["changed"], outcome.data["files"]) == (True, [])
    assert not hookctl("install", "--host", "claude", "--json").data["changed"]


def test_a_new_version_on_record_alone_is_a_change(hookctl: Hookctl, isolated: Path) -> None:
    hookctl("install", "--host", "claude")
    ledger = isolated / "state" / "ledger.json"
    ledger.write_text(ledger.read_text().replace('"version": "0.3.0"', '"version": "0.1.9"'))
    outcome = hookctl("install", "--host", "claude", "--json")
    assert (outcome.data["changed"], outcome.data["actions"]) == (True, [])
    assert '"0.1.9"' not in ledger.read_text()


def test_completing_an_interrupted_run_is_a_change(hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*arguments: object) -> None:
        raise SystemExit(9)

    install = ("install", "--host", "claude", "--json")
    with monkeypatch.context() as patch:
        patch.setattr("hookctl.run.execute.save_records", die)
        assert hookctl(*install).code == 9
    assert [error["code"] for error in hookctl(*install, "--dry-run").result["errors"]] == ["interrupted_run"]
    outcome = hookctl(*install)
    assert (outcome.data["changed"], outcome.data["actions"]) == (True, [])
    assert codes(outcome)[0] == "interrupted_run"
    assert not hookctl(*install).data["changed"]


def test_a_message_before_an_error_stays(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*arguments: object) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as patch:
        patch.setattr("hookctl.run.execute.save_records", die)
        hookctl("install", "--host", "claude")
    put(isolated / "home/.codex/hooks.json", "{")
    outcome = hookctl("install", "--host", "codex", "--json")
    assert (outcome.code, outcome.data["changed"], codes(outcome)) == (4, True, ["interrupted_run"])


def test_the_diff_has_hookctls_own_files_and_no_secret(hookctl: Hookctl, isolated: Path) -> None:
    put(isolated / "home/.claude/settings.json", json.dumps({"env": {"MY_TOKEN": SECRET, "MODEL": "x"}}, indent=2))
    install = ("install", "--host", "claude")
    assert "diff" not in hookctl(*install, "--dry-run", "--json").data
    dry = hookctl(*install, "--dry-run", "--diff", "--json")
    SCHEMA.validate(dry.result)
    diff = dry.data["diff"]
    assert '     "MY_TOKEN": …\n     "MODEL": …\n+    "MAX_STOP_BLOCKS": "5"\n' in diff
    config = isolated / "data/guard/claude.json"
    assert f"--- /dev/null\n+++ {config}\n" in diff
    assert "program files of hookctl written (sha256 " in diff
    assert "import" not in diff, "the programs of the guard are not printed"
    assert hookctl(*install, "--diff", "--json").data["diff"] == diff
    again = hookctl(*install, "--diff", "--json")
    assert again.data["diff"] == ""
    changed = hookctl(*install, "--set", "latch=false", "--diff", "--json").data["diff"]
    assert f"--- {config}\n+++ {config}\n" in changed and "latch" in changed
    gone = hookctl("uninstall", "--diff", "--json").data["diff"]
    assert f"--- {config}\n+++ /dev/null\n" in gone and "of hookctl removed" in gone
    assert SECRET not in diff + changed + gone


def test_people_get_the_same_diff(hookctl: Hookctl) -> None:
    install = ("install", "--host", "claude", "--diff")
    diff = hookctl(*install, "--dry-run", "--json").data["diff"]
    for arguments in (("plan", *install[1:]), install):
        assert hookctl(*arguments).out.startswith(diff)


def test_upgrade_has_all_of_it(hookctl: Hookctl, isolated: Path) -> None:
    hookctl("install", "--host", "claude")
    (isolated / "data/hook.py").unlink()
    dry = hookctl("upgrade", "--dry-run", "--diff", "--json")
    done = hookctl("upgrade", "--diff", "--json")
    SCHEMA.validate(done.result)
    assert done.data == {**dry.data, "dry_run": False}
    assert done.data["changed"] and "1 program file of hookctl written" in done.data["diff"]


def test_a_pack_file_is_in_the_diff(hookctl: Hookctl, isolated: Path) -> None:
    pack = '[pack]\nname = "bell"\nversion = "1"\nprotocol = "host"\n[files]\ninclude = ["ring.sh"]\n'
    pack += '[[hooks]]\nevent = "stop"\n'
    put(isolated / "work/bell/pack.toml", pack + 'command = "sh {files}/ring.sh"\n')
    put(isolated / "work/bell/ring.sh", f"echo ring\nAPI_TOKEN={SECRET}\n")
    diff = hookctl("install", "./bell", "--host", "claude", "--diff", "--json").data["diff"]
    assert "+echo ring\n" in diff and "+API_TOKEN=***\n" in diff


def test_a_conflict_changes_nothing(hookctl: Hookctl, isolated: Path) -> None:
    for name, value in (("one", "1"), ("two", "2")):
        pack = f'[pack]\nname = "{name}"\nversion = "1"\nprotocol = "host"\n[env]\nSHARED = "{value}"\n'
        put(isolated / f"work/{name}.toml", pack)
    hookctl("install", "./one.toml", "--host", "claude")
    outcome = hookctl("install", "./two.toml", "--host", "claude", "--json")
    assert (outcome.code, outcome.data["changed"]) == (1, False)
    codes(outcome)
