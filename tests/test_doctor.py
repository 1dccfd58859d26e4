"""hookctl doctor: every finding, made for real; and that it never writes, raises or starts a changed hook."""

from __future__ import annotations

import ast
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as examples
from hypothesis import strategies as st

from hookctl import folders, hosts
from hookctl.verbs.doctor import doctor

from .conftest import Hookctl, Outcome, put
from .trees import tree

ROOT = Path(__file__).parents[1]
LIMIT, CAP = "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"


class Place(NamedTuple):
    """One operator's machine."""

    root: Path
    settings: Path
    hookctl: Hookctl
    monkeypatch: pytest.MonkeyPatch

    @property
    def hook(self) -> Path:
        return self.root / "data" / "guard" / "claude-user" / "hook.py"

    @property
    def config(self) -> Path:
        return self.hook.with_name("config.json")

    @property
    def ledger(self) -> Path:
        return self.root / "state" / "ledger.json"

    def install(self, *options: str) -> Place:
        outcome = self.hookctl("install", "--host", "claude", *options)
        assert outcome.code == 0, outcome
        return self

    def edit(self, old: str, new: str, path: Path | None = None) -> None:
        """Replace a text that is there in a file, the settings unless said otherwise."""
        path = path or self.settings
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def change(self, change: Callable[[Any], None], path: Path | None = None) -> None:
        """Change a JSON file's value."""
        path = path or self.settings
        value = json.loads(path.read_text())
        change(value)
        path.write_text(json.dumps(value, indent=2))

    def script(self, name: str, text: str) -> Path:
        path = put(self.root / "bin" / name, f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def client(self, text: str) -> None:
        self.script("claude", text)
        self.monkeypatch.setenv("PATH", f"{self.root / 'bin'}:/usr/bin:/bin")

    def managed(self, value: Any) -> Path:
        """Managed settings, where this machine has none."""
        folder = self.root / "etc"
        load = hosts.load

        def loaded(name: str) -> hosts.Host:
            host = load(name)
            files = {"managed": {sys.platform: [f"{folder}/managed-settings.json", f"{folder}/d/*.json"]}}
            return host._replace(data={**host.data, "files": {**host.data["files"], **files}})

        self.monkeypatch.setattr("hookctl.hosts.load", loaded)
        return put(folder / "managed-settings.json", json.dumps(value))

    def doctor(self, *options: str) -> Outcome:
        return self.hookctl("doctor", "--json", *options)

    def findings(self) -> list[dict[str, str]]:
        return self.doctor().data["findings"]

    def codes(self) -> list[str]:
        return [finding["code"] for finding in self.findings()]


@pytest.fixture
def place(isolated: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return Place(isolated, settings, hookctl, monkeypatch)


# How each code comes about.


def with_python(place: Place, text: str) -> Path:
    """Install with an interpreter of our own, and then make it something else."""
    python = place.script("python3", f'exec {sys.executable} "$@"')
    place.monkeypatch.setattr("hookctl.interpreter.choose", lambda environ: (str(python), ""))
    place.install()
    return place.script("python3", text)


def other_hook(place: Place, text: str) -> None:
    """A hook of another version of hookctl: the ledger knows it, this version's template differs."""
    place.install()
    old = place.hook.read_bytes()
    place.hook.write_text(text)
    from hookctl.files import digest

    place.edit(digest(old), digest(text.encode()), place.ledger)


def unparsable(place: Place) -> None:
    place.install().edit('"8"', '"8')


def not_utf8(place: Place) -> None:
    put(place.settings, '{"model": "é"}'.encode("latin-1"))


def unreadable(place: Place) -> None:
    place.settings.mkdir(parents=True)


def wrong_shape(place: Place) -> None:
    place.install()
    put(place.settings, '{"hooks": []}')


def wrong_root(place: Place) -> None:
    put(place.settings, "[]")


def duplicate_key(place: Place) -> None:
    place.install().edit('"env": {', '"env": {}, "env": {')


def strict_host(place: Place) -> None:
    put(place.settings, '{\n  // mine\n  "model": "opus"\n}\n')


def trailing_comma(place: Place) -> None:
    put(place.settings, '{"model": "opus",}')


def wrong_type(place: Place) -> None:
    put(place.settings, '{"cleanupPeriodDays": "30"}')


def wrong_word(place: Place) -> None:
    put(place.settings, '{"permissions": {"defaultMode": "zzz"}}')


def not_above(place: Place) -> None:
    put(place.settings, '{"cleanupPeriodDays": 0}')


def true_is_no_number(place: Place) -> None:
    put(place.settings, '{"cleanupPeriodDays": true}')


def invalid_hook(groups: Any) -> Callable[[Place], None]:
    def arrange(place: Place) -> None:
        put(place.settings, json.dumps({"hooks": {"PreToolUse": groups}}))

    return arrange


def hooks_disabled(place: Place) -> None:
    put(place.settings, '{"disableAllHooks": true}')


def hooks_disabled_in_the_project(place: Place) -> None:
    put(place.settings, "{}")
    put(Path(".claude/settings.json"), '{"disableAllHooks": true}')


def hooks_disabled_locally(place: Place) -> None:
    put(place.settings, "{}")
    put(Path(".claude/settings.local.json"), '{"disableAllHooks": true}')


def hooks_disabled_by_the_manager(place: Place) -> None:
    put(place.settings, "{}")
    place.managed({"disableAllHooks": True})


def managed_only(place: Place) -> None:
    put(place.settings, "{}")
    place.managed({"allowManagedHooksOnly": True})


def entries_wiped(place: Place) -> None:
    place.install()
    put(place.settings, "{}")


def entry_missing(place: Place) -> None:
    place.install().change(lambda page: page["env"].pop(LIMIT))


def hook_entry_missing(place: Place) -> None:
    place.install().change(lambda page: page.pop("hooks"))


def entry_edited(place: Place) -> None:
    place.install().edit('"timeout": 10', '"timeout": 20')


def leaf_edited(place: Place) -> None:
    place.install().edit('"5"', '"6"')


def entry_doubled(place: Place) -> None:
    place.install().change(lambda page: page["hooks"]["Stop"].append(page["hooks"]["Stop"][0]))


def edited_copy(place: Place) -> None:
    place.install().edit("exit 0", "exit 1")
    place.ledger.unlink()


def ledger_missing(place: Place) -> None:
    place.install()
    place.ledger.unlink()


def ledger_unreadable(place: Place) -> None:
    put(place.ledger, '{"ledger_version": 1}')


def journal_unreadable(place: Place) -> None:
    put(place.root / "state" / "journal.json", "{")


def ledger_newer(place: Place) -> None:
    put(place.ledger, '{"ledger_version": 99, "files": {}}')


def interrupted_run(place: Place) -> None:
    """A kill between the settings file and the ledger."""

    def die(*_: object) -> None:
        raise SystemExit(9)

    place.monkeypatch.setattr("hookctl.apply._save", die)
    assert place.hookctl("install", "--host", "claude").code == 9


def hook_missing(place: Place) -> None:
    place.install().hook.unlink()


def hook_changed(place: Place) -> None:
    place.install().hook.write_text("print('mine')\n")


def hook_unreadable(place: Place) -> None:
    place.install().hook.unlink()
    place.hook.mkdir()


def hook_old(place: Place) -> None:
    other_hook(place, "# an older one\n" + (ROOT / "templates" / "guard" / "hook.py").read_text())


def self_test_failed(place: Place) -> None:
    other_hook(place, "raise SystemExit(0)\n")


def self_test_crashed(place: Place) -> None:
    other_hook(place, "raise SystemExit(1)\n")


def self_test_said_nonsense(place: Place) -> None:
    other_hook(place, "print('[1]')\n")


def interpreter_missing(place: Place) -> None:
    with_python(place, "exit 0").unlink()


def interpreter_not_executable(place: Place) -> None:
    with_python(place, "exit 0").chmod(0o644)


def interpreter_broken(place: Place) -> None:
    with_python(place, "exit 1")


def interpreter_old(place: Place) -> None:
    with_python(place, "printf '/usr/bin/python3\\n3\\n7\\n'")


def config_unreadable(text: str) -> Callable[[Place], None]:
    def arrange(place: Place) -> None:
        put(place.install().config, text)

    return arrange


def config_missing(place: Place) -> None:
    place.install().config.unlink()


def config_invalid(place: Place) -> None:
    place.install().change(lambda page: page.update(latch="perhaps"), place.config)


def config_unknown(place: Place) -> None:
    place.install().change(lambda page: page.update(latsch=True), place.config)


def masked(place: Place) -> None:
    place.install()
    put(Path(".claude/settings.json"), json.dumps({"env": {CAP: "9"}}))


def cap_is(value: Any) -> Callable[[Place], None]:
    def arrange(place: Place) -> None:
        place.install().change(lambda page: page["env"].update({CAP: value}))

    return arrange


def cap_off_in_the_project(place: Place) -> None:
    place.install()
    put(Path(".claude/settings.local.json"), json.dumps({"env": {CAP: "0"}}))


def limit_invalid(place: Place) -> None:
    place.install().change(lambda value: value["env"].update(MAX_STOP_BLOCKS="+12"))


def disabled_by_env(place: Place) -> None:
    place.install().change(lambda value: value["env"].update(HOOKCTL_DISABLE="yes"))


def knob_in_the_env_of_the_project(place: Place) -> None:
    place.install()
    put(place.root / "work" / ".claude" / "settings.json", '{"env": {"HOOKCTL_LATCH": "0"}}')


def read_only(place: Place) -> None:
    place.install().settings.chmod(0o444)


def no_limit(place: Place) -> None:
    place.install("--set", f"{LIMIT}=0")


def guard_off(place: Place) -> None:
    place.install().install("--mode", "off")


def guard_off_by_hand(place: Place) -> None:
    place.install().change(lambda page: page.update(mode="off"), place.config)


def never_ran(place: Place) -> None:
    place.install()


def last_ran(place: Place) -> None:
    place.install()
    event = {"t": 1, "host": "claude", "session": None, "event": "stop", "decision": "allow", "code": "no_work"}
    put(place.root / "state" / "guard" / ("0" * 16) / "events.jsonl", json.dumps(event) + "\n")


def client_says(text: str) -> Callable[[Place], None]:
    def arrange(place: Place) -> None:
        place.client(text)
        place.install()

    return arrange


def nothing(place: Place) -> None:
    pass


def not_ours(place: Place) -> None:
    put(place.settings, "{}")


MADE: list[tuple[str, str, Callable[[Place], None]]] = [
    ("unparsable", "error", unparsable),
    ("not_utf8", "error", not_utf8),
    ("unreadable", "error", unreadable),
    ("wrong_shape", "error", wrong_shape),
    ("wrong_shape", "error", wrong_root),
    ("duplicate_key", "error", duplicate_key),
    ("strict_host", "error", strict_host),
    ("strict_host", "error", trailing_comma),
    ("wrong_type", "error", wrong_type),
    ("wrong_type", "error", wrong_word),
    ("wrong_type", "error", not_above),
    ("wrong_type", "error", true_is_no_number),
    ("invalid_hook", "error", invalid_hook("no array")),
    ("invalid_hook", "error", invalid_hook([{"type": "command", "command": "x"}])),
    ("invalid_hook", "error", invalid_hook([{"matcher": 5, "hooks": []}])),
    ("invalid_hook", "error", invalid_hook([{"hooks": ["x"]}])),
    ("invalid_hook", "error", invalid_hook([{"hooks": [{"type": "command"}]}])),
    ("invalid_hook", "error", invalid_hook([{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}])),
    ("invalid_hook", "error", invalid_hook([{"hooks": [{"type": "command", "command": "x", "timeout": 0}]}])),
    ("hooks_disabled", "error", hooks_disabled),
    ("hooks_disabled", "error", hooks_disabled_in_the_project),
    ("hooks_disabled", "error", hooks_disabled_locally),
    ("hooks_disabled", "error", hooks_disabled_by_the_manager),
    ("managed_only", "error", managed_only),
    ("entries_wiped", "error", entries_wiped),
    ("entry_missing", "warning", entry_missing),
    ("entry_missing", "warning", hook_entry_missing),
    ("entry_edited", "warning", entry_edited),
    ("entry_edited", "warning", leaf_edited),
    ("entry_doubled", "error", entry_doubled),
    ("edited_copy", "warning", edited_copy),
    ("ledger_missing", "error", ledger_missing),
    ("ledger_unreadable", "error", ledger_unreadable),
    ("ledger_unreadable", "error", journal_unreadable),
    ("ledger_newer", "error", ledger_newer),
    ("interrupted_run", "error", interrupted_run),
    ("hook_missing", "error", hook_missing),
    ("hook_changed", "warning", hook_changed),
    ("hook_unreadable", "error", hook_unreadable),
    ("hook_old", "info", hook_old),
    ("interpreter_missing", "error", interpreter_missing),
    ("interpreter_missing", "error", interpreter_not_executable),
    ("interpreter_broken", "error", interpreter_broken),
    ("interpreter_old", "error", interpreter_old),
    ("config_unreadable", "error", config_unreadable("{")),
    ("config_unreadable", "error", config_unreadable("")),
    ("config_unreadable", "error", config_unreadable("[1]")),
    ("config_unreadable", "error", config_unreadable('{"latch": true} // yes')),
    ("config_missing", "warning", config_missing),
    ("config_invalid", "warning", config_invalid),
    ("config_invalid", "warning", config_unknown),
    ("self_test_failed", "error", self_test_failed),
    ("self_test_failed", "error", self_test_crashed),
    ("self_test_failed", "error", self_test_said_nonsense),
    ("self_test_passed", "info", never_ran),
    ("masked", "warning", masked),
    ("cap_invalid", "warning", cap_is("abc")),
    ("cap_off", "warning", cap_is("0")),
    ("cap_off", "warning", cap_off_in_the_project),
    ("cap_below_limit", "warning", cap_is("4")),
    ("no_limit", "warning", no_limit),
    ("limit_invalid", "warning", limit_invalid),
    ("hook_environment", "error", disabled_by_env),
    ("hook_environment", "warning", knob_in_the_env_of_the_project),
    ("read_only", "error", read_only),
    ("guard_off", "info", guard_off),
    ("guard_off", "info", guard_off_by_hand),
    ("never_ran", "info", never_ran),
    ("last_ran", "info", last_ran),
    ("client_old", "warning", client_says("echo 2.1.142 '(Claude Code)'")),
    ("client_newer", "info", client_says("echo 9.9.9 '(Claude Code)'")),
    ("client_missing", "info", never_ran),
    ("client_unknown", "info", client_says("exit 0")),
    ("client_unknown", "info", client_says("printf '\\377\\376'")),
    ("not_installed", "info", nothing),
    ("not_installed", "info", not_ours),
]


@pytest.mark.parametrize(("code", "level", "arrange"), MADE, ids=lambda case: getattr(case, "__name__", str(case)))
def test_every_finding(place: Place, code: str, level: str, arrange: Callable[[Place], None]) -> None:
    arrange(place)
    before = tree(place.root)
    outcome = place.doctor()
    found = [finding for finding in outcome.data["findings"] if finding["code"] == code]
    assert [finding["level"] for finding in found] == [level], outcome.data["findings"]
    assert found[0]["message"]
    assert found[0]["fix"] or level == "info"
    levels = [finding["level"] for finding in outcome.data["findings"]]
    assert levels == sorted(levels, key=["error", "warning", "info"].index)
    assert outcome.code == (1 if "error" in levels else 0)
    strict = place.hookctl("doctor", "--strict")
    assert strict.code == (1 if {"error", "warning"} & set(levels) else 0)
    assert f"[{code}]" in strict.out
    assert tree(place.root) == before, "doctor writes nothing"


def source_codes() -> set[str]:
    """Every code that a finding can have, read from the source."""
    places = {name: None for name in ("verbs/doctor.py", "ledger.py")}
    places |= {f"{folder}/{path.name}": None for folder in ("checks", "documents")
               for path in (ROOT / "hookctl" / folder).glob("*.py")}  # fmt: skip
    # Of these only what doctor calls.
    some = {"files.py": ("real", "read", "_unreadable"), "live.py": ("_wrong_shape",), "apply.py": ("pending",)}
    found = set()
    for name, functions in {**places, **some}.items():
        module = ast.parse((ROOT / "hookctl" / name).read_text())
        parts: list[ast.AST] = [module]
        if functions:
            parts = [n for n in ast.walk(module) if isinstance(n, ast.FunctionDef) and n.name in functions]
            assert len(parts) == len(functions)
        for call in (node for part in parts for node in ast.walk(part) if isinstance(node, ast.Call)):
            called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
            if called in ("Finding", "find", "HookctlError", "_error") and call.args:
                first = call.args[0]
                found |= {first.value} if isinstance(first, ast.Constant) and isinstance(first.value, str) else set()
    return found - {"unexpected"}


def test_every_code_of_the_source_is_made_by_a_test() -> None:
    assert {code for code, _, _ in MADE} == source_codes()


# One cause, and all that is said of it.


def test_doctor_is_clean_right_after_install(place: Place) -> None:
    place.client("echo 2.1.330 '(Claude Code)'")
    place.install()
    outcome = place.hookctl("doctor", "--strict")
    assert outcome.code == 0
    assert outcome.out.endswith("no errors, no warnings\n")
    assert place.codes() == ["self_test_passed", "never_ran"]


def test_doctor_is_clean_in_the_home_folder_too(place: Place) -> None:
    """Where the project's settings file is the user's own, nothing masks anything."""
    place.install()
    place.monkeypatch.chdir(place.root / "home")
    assert place.codes() == ["self_test_passed", "never_ran", "client_missing"]
    put(place.settings, '{"disableAllHooks": true}')
    assert place.codes().count("hooks_disabled") == 1


@pytest.mark.parametrize("version", ["2.1.143", "2.1.220", "2.1.330"])
def test_nothing_is_said_of_a_client_that_fits(place: Place, version: str) -> None:
    place.client(f"echo '{version} (Claude Code)'")
    assert not [code for code in place.install().codes() if code.startswith("client")]


def test_versions_are_compared_as_numbers(place: Place) -> None:
    place.client("echo '2.1.99 (Claude Code)'")
    place.install()
    (finding,) = [f for f in place.findings() if f["code"] == "client_old"]
    assert "2.1.99" in finding["message"]
    assert "no cap" in finding["message"]
    place.client("echo '10.0.0 (Claude Code)'")
    assert "client_newer" in place.codes()


# What hosts.md says that Claude Code makes of a cap, and what doctor says of it.
CAPS: list[tuple[Any, float, set[str]]] = [
    ("8", 8, set()),
    ("12", 12, set()),
    ("5000", 5000, set()),
    ("0", 0, {"cap_off"}),
    ("-1", -1, {"cap_off"}),
    ("0x3", 0, {"cap_off", "cap_invalid"}),
    ("", 8, {"cap_invalid"}),
    ("abc", 8, {"cap_invalid"}),
    (None, 8, {"cap_invalid"}),
    (True, 8, {"cap_invalid"}),
    (" 3 ", 3, {"cap_invalid", "cap_below_limit"}),
    ("3.7", 3, {"cap_invalid", "cap_below_limit"}),
    ("3abc", 3, {"cap_invalid", "cap_below_limit"}),
    ("1e1", 10, {"cap_invalid"}),
    (3, 3, {"cap_below_limit"}),
    (3.0, 3, {"cap_invalid", "cap_below_limit"}),
    ("4", 4, {"cap_below_limit"}),
    ("5", 5, set()),
    ("1e400", 8, {"cap_invalid"}),
    ("9" * 400, 8, set()),
]


@pytest.mark.parametrize(("value", "effective", "codes"), CAPS, ids=lambda case: repr(case)[:20])
def test_the_cap_as_the_client_reads_it(place: Place, value: Any, effective: float, codes: set[str]) -> None:
    text = value if isinstance(value, str) else json.dumps(value)
    assert hosts.read_cap(hosts.load("claude"), text) == effective
    cap_is(value)(place)
    found = {finding["code"]: finding for finding in place.findings() if finding["code"].startswith("cap_")}
    assert set(found) == codes
    if "cap_invalid" in found:
        assert f"reads it as {effective:g}" in found["cap_invalid"]["message"]


def test_a_cap_that_is_missing_is_the_clients_default(place: Place) -> None:
    place.install("--set", f"{LIMIT}=9").change(lambda page: page["env"].pop(CAP))
    (finding,) = [finding for finding in place.findings() if finding["code"] == "cap_below_limit"]
    assert "the cap is 8 and the limit 9" in finding["message"]
    assert f"Set {CAP} to 12." == finding["fix"]


def test_the_nearest_scope_wins(place: Place) -> None:
    """managed before local before project before user; a later file of the managed folder before an earlier one."""
    place.install()

    def winner() -> str:
        (finding,) = [f for f in place.findings() if f["code"] == "masked"]
        return finding["path"]

    def page(value: str) -> str:
        return json.dumps({"env": {CAP: value}})

    work = Path.cwd()
    project = put(work / ".claude" / "settings.json", page("9"))
    assert winner() == str(project)
    local = put(work / ".claude" / "settings.local.json", page("10"))
    assert winner() == str(local)
    managed = place.managed({"env": {CAP: "11"}})
    assert winner() == str(managed)
    put(managed.parent / "d" / "10.json", page("12"))
    last = put(managed.parent / "d" / "20.json", page("13"))
    assert winner() == str(last)


def test_a_masked_limit_is_the_one_that_the_cap_is_compared_with(place: Place) -> None:
    place.install()
    put(Path(".claude/settings.json"), json.dumps({"env": {LIMIT: "20"}}))
    assert {"masked", "cap_below_limit"} <= set(place.codes())


def test_project_settings_that_the_client_cannot_read_mask_nothing(place: Place) -> None:
    place.install()
    for text in ("{", f'{{"env": {{"{CAP}": "0"}},}}', "[]", '"x"'):
        put(Path(".claude/settings.json"), text)
        assert place.codes() == ["self_test_passed", "never_ran", "client_missing"]


def test_settings_in_a_parent_folder_are_not_read(place: Place) -> None:
    place.install()
    put(Path(".claude/settings.json"), '{"disableAllHooks": true}')
    Path("sub").mkdir()
    place.monkeypatch.chdir("sub")
    assert "hooks_disabled" not in place.codes()


def test_a_changed_hook_is_not_started(place: Place) -> None:
    marker = place.root / "started"
    place.install().hook.write_text(f"open({str(marker)!r}, 'w')\n")
    codes = place.codes()
    assert "hook_changed" in codes
    assert not {"self_test_passed", "self_test_failed"} & set(codes)
    assert not marker.exists()


def test_the_self_test_leaves_the_sessions_and_the_log_alone(place: Place) -> None:
    place.install()
    assert "self_test_passed" in place.codes()
    assert not (place.root / "state" / "guard").exists()


@pytest.mark.parametrize(
    "knobs",
    [
        {"require_arm": True}, {"honor_stop_hook_active": True}, {"owner": "somebody"}, {"count": "attempts"},
        {"task_file": "elsewhere.json"}, {"run_dir": "elsewhere"}, {"chain_reset": "fresh"}, {"lock_ms": 0},
        {"progress": ["remaining"]}, {"latch": False}, {"max_stop_blocks": 3}, {"reason": "go on"},
    ],
    ids=str,
)  # fmt: skip
def test_the_self_test_passes_whatever_the_knobs(place: Place, knobs: dict[str, Any]) -> None:
    place.install().change(lambda page: page.update(knobs), place.config)
    assert "self_test_passed" in place.codes()


def test_after_the_hook_ran_doctor_says_when(place: Place) -> None:
    place.install()
    command = json.loads(place.settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    import subprocess

    payload = json.dumps({"session_id": "S1", "cwd": str(Path.cwd()), "hook_event_name": "Stop"})
    environ = {**os.environ, "HOOKCTL_NOW": "1000000000"}
    run = subprocess.run(["sh", "-c", command], input=payload, text=True, capture_output=True, env=environ)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    place.monkeypatch.setenv("HOOKCTL_NOW", str(1000000000 + 7200))
    (finding,) = [finding for finding in place.findings() if finding["code"] == "last_ran"]
    assert "2 h ago" in finding["message"]
    assert "allow (no_work)" in finding["message"]
    assert "never_ran" not in place.codes()


def test_a_wiped_file_gives_one_finding_and_not_one_for_each_entry(place: Place) -> None:
    entries_wiped(place)
    assert [code for code in place.codes() if code.startswith("entr")] == ["entries_wiped"]


def test_findings_about_a_torn_file_name_line_and_column(place: Place) -> None:
    put(place.settings, '{\n  "a": 1\n  "b": 2\n}\n')
    (finding,) = [finding for finding in place.findings() if finding["code"] == "unparsable"]
    assert "line 2, column 9" in finding["message"] or "line 3, column 3" in finding["message"]
    assert finding["path"] == str(place.settings)
    assert "ackups" not in finding["fix"], "there are none"


def test_doctor_says_where_the_backups_of_a_torn_file_lie(place: Place) -> None:
    put(place.settings, '{"model": "opus"}')
    put(place.install().settings, '{"model":')
    (finding,) = [finding for finding in place.findings() if finding["code"] == "unparsable"]
    (folder,) = (place.root / "state" / "backups").iterdir()
    assert finding["fix"] == f"Restore what is missing, then run the command again. Backups of it lie in {folder}."
    assert any(path.read_bytes() == b'{"model": "opus"}' for path in folder.iterdir())


def test_a_settings_file_from_another_time_is_looked_at_too(place: Place) -> None:
    place.monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place.root / "other"))
    place.install()
    place.monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    other = place.root / "other" / "settings.json"
    place.edit('"8"', '"0"', other)
    (finding,) = [finding for finding in place.findings() if finding["code"] == "cap_off"]
    assert finding["path"] == str(other)
    place.install()
    codes = place.codes()
    assert (codes.count("client_missing"), codes.count("self_test_passed")) == (1, 2)


def test_a_host_is_named(place: Place) -> None:
    assert place.doctor("--host", "claude").code == 0
    assert place.doctor("--host", "all").code == 0
    assert place.doctor("--host", "emacs").code == 2


# Whatever bytes lie there.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
LINES = st.lists(
    JSON.map(json.dumps)
    | st.fixed_dictionaries(
        {"t": st.floats() | st.integers() | st.just("1"), "host": st.just("claude") | JSON},
        optional={name: JSON for name in ("event", "decision", "code", "session", "blocks", "progress")},
    ).map(json.dumps),
    max_size=3,
).map(lambda lines: "\n".join(lines).encode())


def nodes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from nodes(inner, (*path, key))


def with_node(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with something else at one place."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = with_node(copy[path[0]], path[1:], new)
    return copy


@pytest.fixture
def quick(place: Place) -> Place:
    """An installed place where doctor starts no process."""
    place.monkeypatch.setattr("hookctl.checks.hook._self_test", lambda *_: iter(()))
    place.monkeypatch.setattr("hookctl.interpreter.ask", lambda program: (program, (3, 11)))
    return place.install()


def check_that_doctor_bears(place: Place, path: Path, data: bytes) -> None:
    kept = path.read_bytes() if path.exists() else None
    put(path, data)
    before = tree(place.root)
    outcome = place.hookctl("doctor", "--json")
    assert outcome.code in (0, 1), outcome
    json.loads(outcome.out, parse_constant=pytest.fail)
    assert tree(place.root) == before
    path.unlink()
    if kept is not None:
        path.write_bytes(kept)


FILES = {
    "settings": "home/.claude/settings.json",
    "ledger": "state/ledger.json",
    "journal": "state/journal.json",
    "config": "data/guard/claude-user/config.json",
    "hook": "data/guard/claude-user/hook.py",
    "log": "state/guard/0123456789abcdef/events.jsonl",
}


@pytest.mark.parametrize("name", FILES)
@examples(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_doctor_bears_any_bytes_anywhere(quick: Place, name: str, data: st.DataObject) -> None:
    path = quick.root / FILES[name]
    kinds = st.binary(max_size=40) | JSON.map(lambda value: json.dumps(value).encode()) | LINES
    if path.exists() and name != "hook":
        value = json.loads(path.read_text())
        changed = st.tuples(st.sampled_from(list(nodes(value))), JSON)
        kinds |= changed.map(lambda change: json.dumps(with_node(value, *change)).encode())
        kinds |= st.integers(0, path.stat().st_size).map(lambda length: path.read_bytes()[:length])
    check_that_doctor_bears(quick, path, data.draw(kinds))


def test_doctor_bears_every_wrong_type_in_the_ledger(quick: Place) -> None:
    page = json.loads(quick.ledger.read_text())
    failed = []
    for path in nodes(page):
        for new in (None, True, -1, "x", [], [[]], {}, {"x": {}}):
            quick.ledger.write_text(json.dumps(with_node(page, path, new)))
            try:
                doctor(folders.here(), [hosts.load("claude")], strict=False)
            except Exception as error:
                failed.append((path[1:2] + path[2:], new, repr(error)))
    assert failed == []


@pytest.mark.parametrize("name", FILES)
def test_doctor_bears_odd_files(quick: Place, name: str) -> None:
    path = quick.root / FILES[name]
    path.parent.mkdir(parents=True, exist_ok=True)
    for make in (os.mkdir, os.mkfifo, lambda p: os.symlink(p, p), lambda p: os.symlink("/dev/zero", p)):
        if path.exists():
            path.unlink()
        make(path)
        assert quick.doctor().code in (0, 1)
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
