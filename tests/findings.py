"""How every finding of doctor comes about: one operator's machine, and what happens on it."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookctl import __version__, hosts
from hookctl.checks import self_test
from hookctl.packs.programs import load_programs
from hookctl.system.files import digest
from hookctl.system.project import state_folder
from tests.manifest import hook as pack_hook
from tests.manifest import manifest

from .conftest import Hookctl, Outcome, put

LIMIT, CAP = "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"
OFF, MANAGED_ONLY = '{"disableAllHooks": true}', '{"allowManagedHooksOnly": true}'


class Place(NamedTuple):
    """One operator's machine."""

    root: Path
    settings: Path
    hookctl: Hookctl
    monkeypatch: pytest.MonkeyPatch

    @property
    def hook(self) -> Path:
        return self.root / "data" / "hook.py"

    @property
    def config(self) -> Path:
        return self.root / "data" / "guard" / "claude.json"

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
            patterns = [f"{folder}/managed-settings.json", f"{folder}/d/*.json"]
            return host._replace(managed_files={sys.platform: patterns})

        self.monkeypatch.setattr("hookctl.hosts.load", loaded)
        return put(folder / "managed-settings.json", json.dumps(value))

    def doctor(self, *options: str) -> Outcome:
        return self.hookctl("doctor", "--json", *options)

    def trials(self) -> list[bool]:
        """Whether the guard did what it promises, for each time that doctor asked it."""
        says, kept = self_test.says, list[bool]()

        def ask(*arguments: Any) -> bool:
            kept.append(says(*arguments))
            return kept[-1]

        with self.monkeypatch.context() as patch:
            patch.setattr(self_test, "says", ask)
            assert "self_test_failed" not in self.codes()
        return kept

    def findings(self, *options: str) -> list[dict[str, str]]:
        return self.doctor(*options).data["findings"]

    def codes(self) -> list[str]:
        return [finding["code"] for finding in self.findings()]


@pytest.fixture
def place(isolated: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A machine without clients."""
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return Place(isolated, settings, hookctl, monkeypatch)


# How each code comes about.
def with_python(place: Place, text: str) -> Path:
    """Install with an interpreter of our own, and then make it something else."""
    python = place.script("python3", f'exec {sys.executable} "$@"')
    with place.monkeypatch.context() as patch:
        patch.setattr("hookctl.system.interpreter.choose", lambda environ: (str(python), ""))
        place.install()
    return place.script("python3", text)


def hook_old(place: Place) -> None:
    """A launcher that an earlier hookctl released."""
    launcher = OUR_HOOK.replace(f'VERSION = "{__version__}"', 'VERSION = "0.1.9"')
    released = json.dumps({"0.2.0": {}, "0.1.9": {"hook.py": digest(launcher.encode())}}).encode()
    place.monkeypatch.setattr("hookctl.packs.programs.released_versions", lambda: released)
    place.install().hook.write_text(launcher)


def settings_are(text: str | bytes) -> Callable[[Place], None]:
    """A settings file in which hookctl has written nothing."""
    return lambda place: put(place.settings, text)


def tools_are(groups: Any) -> Callable[[Place], None]:
    return settings_are(json.dumps({"hooks": {"PreToolUse": groups}}))


def in_the_project(text: str | bytes, name: str = "settings.json") -> Callable[[Place], None]:
    """A project's settings that have nothing of ours."""

    return lambda place: (put(place.settings, "{}"), put(Path(".claude", name), text))


def env_is(**env: Any) -> Callable[[Place], None]:
    """Values that the operator changed in the env of the settings."""
    return lambda place: place.install().change(lambda page: page["env"].update(env))


def changed(change: Callable[[Any], Any]) -> Callable[[Place], None]:
    """The guard's settings file, with something changed by the operator."""

    return lambda place: place.install().change(change)


def ours_with(**fields: Any) -> Callable[[Place], None]:
    return changed(lambda page: page["hooks"]["Stop"][0]["hooks"][0].update(fields))


def cap_is(value: Any) -> Callable[[Place], None]:
    return env_is(**{CAP: value})


def entries_wiped(place: Place) -> None:
    place.install()
    put(place.settings, "{}")


def rules_are(change: Callable[[str], str | bytes | None]) -> Callable[[Place], None]:
    """The file with the guard's rules, changed by somebody."""

    def make(place: Place) -> None:
        place.install("--rules")
        path = place.settings.with_name("CLAUDE.md")
        changed_text = change(path.read_text())
        path.unlink()
        if changed_text is not None:
            put(path, changed_text)

    return make


def disabled(place: Place) -> None:
    assert place.install().hookctl("disable", "guard").code == 0


def hook_alone_disabled(place: Place) -> None:
    place.settings.parent.mkdir(parents=True, exist_ok=True)
    place.settings.write_text('{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bell"}]}]}}')
    hooks = json.loads(place.install().hookctl("hooks", "--json").out)["data"]["hooks"]
    (bell,) = [hook for hook in hooks if hook["command"] == "bell"]
    assert place.hookctl("disable", bell["id"]).code == 0


def entry_doubled(place: Place) -> None:
    place.install().change(lambda page: page["hooks"]["Stop"].append(page["hooks"]["Stop"][0]))


def state_has(name: str, text: str) -> Callable[[Place], None]:
    return lambda place: put(place.root / "state" / name, text)


def ledger_unreadable(place: Place) -> None:
    put(place.ledger, '{"ledger_version": 1}')


def interrupted_run(place: Place) -> None:
    """A kill between the settings file and the ledger."""

    def die(*_: object) -> None:
        raise SystemExit(9)

    with place.monkeypatch.context() as patch:
        patch.setattr("hookctl.ownership.execute.save_records", die)
        assert place.hookctl("install", "--host", "claude").code == 9


def installed(place: Place) -> None:
    place.install()


def config_unreadable(text: str) -> Callable[[Place], None]:
    return lambda place: put(place.install().config, text)


_REFUSES = ("--mode", "off", "--dispatch", "*", "--set", "dispatch_end=0")  # and ends no turn


def client_says(text: str, *options: str) -> Callable[[Place], None]:
    return lambda place: (place.client(text), place.install(*options))


def nothing(place: Place) -> None:
    pass


# Hook entries, ours and others'.
def handler(command: str = "true", **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **fields}


def hooks_of(**events: list[dict[str, Any]]) -> str:
    """A settings file with these handlers, each in a group of its own."""
    return json.dumps({"hooks": {event: [{"hooks": [one]} for one in some] for event, some in events.items()}})


def theirs(path: str = "", **events: list[dict[str, Any]]) -> Callable[[Place], None]:
    """Hooks of others in a settings file, the user's unless it is named; nothing of ours anywhere."""

    return lambda place: (put(place.settings, "{}"), put(Path(path) if path else place.settings, hooks_of(**events)))


def wrapping_one(change: Callable[[Place], Any]) -> Callable[[Place], None]:
    """A hook of another tool that the guard wraps, and what happens to it then."""

    def arrange(place: Place) -> None:
        put(place.settings, hooks_of(Stop=[handler("say done")]))
        place.install("--wrap", "say")
        change(place)

    return arrange


def forgotten(place: Place) -> None:
    """Of everything the ledger has, only the wrapped hook is gone from it."""

    def forget(ledger: Any) -> None:
        for page in ledger["files"].values():
            page["entries"] = [one for one in page["entries"] if not one.get("id", "").startswith("guard/wrap-")]

    place.change(forget, place.ledger)


# Several settings files.
def managed_text(text: str) -> Callable[[Place], None]:
    return lambda place: (put(place.settings, "{}"), place.managed({}).write_text(text))


def not_in_the_home_folder(place: Place) -> None:
    place.install()
    place.monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(place.root / "other"))
    put(place.root / "other" / "settings.json", "{}")


def below_the_project(place: Place) -> None:
    Path(".git").mkdir()
    place.install("--scope", "project")
    Path("inner").mkdir()
    place.monkeypatch.chdir("inner")


# The environment, the limit and the cap.
def in_the_shell(name: str, value: str) -> Callable[[Place], None]:
    return lambda place: (place.install(), place.monkeypatch.setenv(name, value))


def knob(**knobs: Any) -> Callable[[Place], None]:
    return lambda place: place.install().change(lambda page: page.update(knobs), place.config)


def state_elsewhere(place: Place) -> None:
    """Installed from a shell with another state folder than this one has, and the ledger brought along."""
    place.install()
    place.monkeypatch.delenv("HOOKCTL_STATE_DIR")
    (place.root / "home" / ".local" / "state").mkdir(parents=True)
    place.ledger.parent.rename(place.root / "home" / ".local" / "state" / "hookctl")
    place.ledger.parent.mkdir()


# Runtime files, and who may write them.
OUR_HOOK = load_programs().launcher.decode()


def pack(place: Place, version: str = "1.0") -> Path:
    """A pack by path with one file, installed."""
    file = put(place.root / "notify" / "pack.toml", PACK.replace("VERSION", version))
    put(file.with_name("notify.py"), "print()\n")
    assert place.hookctl("install", str(file), "--host", "claude").code == 0
    return file


PACK = manifest(
    "notify",
    pack_hook("stop", "python3 {files}/notify.py", id="done"),
    version="VERSION",
    protocol="host",
    description="Says when it is done",
    files=["notify.py"],
)


RUN_PACK = manifest(
    "notes",
    pack_hook("SessionStart", "true", id="start"),
    pack_hook("SessionStart", "true", id="other"),
    description="Notes",
)


def receipts(*runs: dict[str, Any], id: str = "notes/start", event: str = "SessionStart") -> Callable[[Place], None]:
    """A pack of Claude Code's protocol, installed, and receipts of its hooks."""

    def arrange(place: Place) -> None:
        file = put(place.root / "notes" / "pack.toml", RUN_PACK)
        assert place.hookctl("install", str(file), "--host", "claude", "--yes").code == 0
        usual = {"bytes": 0, "event": event, "host": "claude", "id": id, "kind": "run", "ms": 3, "outcome": "none",
                 "session": None, "status": 0, "t": 4_000_000_000}  # fmt: skip
        lines = (json.dumps({**usual, **run}, sort_keys=True, separators=(",", ":")) for run in runs)
        put(place.root / "state" / "guard" / ("0" * 16) / "runs.jsonl", "".join(f"{line}\n" for line in lines))

    return arrange


def pack_file(place: Place) -> Path:
    return place.root / "data" / "packs" / "notify" / "notify.py"


def pack_file_missing(place: Place) -> None:
    pack(place)
    pack_file(place).unlink()


def loose(path: Callable[[Place], Path], mode: int) -> Callable[[Place], None]:
    return lambda place: (place.install(), path(place).chmod(mode))


# The project.
def clone_without(folder: str) -> Callable[[Place], None]:
    """A project with the guard on another machine, without one of its folders."""
    return lambda place: (
        place.install("--scope", "project"), shutil.rmtree(folder), shutil.rmtree(place.root / "state"))  # fmt: skip


def settings_leave_the_project(place: Place) -> None:
    place.install("--scope", "local")
    Path(".claude").rename(place.root / "out")
    Path(".claude").symlink_to(place.root / "out")


# The work in hand, and what the log says.
def work(name: str, data: str | bytes = "") -> Callable[[Place], None]:
    """A file in the run folder, and the guard installed."""

    return lambda place: (place.install(), put(Path(".hookctl/run") / name, data))


def run_stopped(name: str) -> Callable[[Place], None]:
    return lambda place: (work("task.json", '{"remaining": "3"}')(place), Path(".hookctl/run", name).touch())


def untouched_work(place: Place) -> None:
    work("task.json", '{"remaining": 2}')(place)
    os.utime(".hookctl/run/task.json", (1000, 1000))


def logged(place: Place, *lines: dict[str, Any]) -> None:
    """Lines in the guard's log of the working folder's project."""
    folder = Path(state_folder(str(place.root / "state"), os.getcwd()))
    base = {"host": "claude", "event": "stop", "decision": "allow", "code": "no_work"}
    put(folder / "events.jsonl", "".join(json.dumps({**base, **line}) + "\n" for line in lines))


def active(text: str, **knobs: Any) -> Callable[[Place], None]:
    """ACTIVE with this text, at the second 1,000,000."""

    def arrange(place: Place) -> None:
        place.install().change(lambda page: page.update(knobs), place.config)
        place.monkeypatch.setenv("HOOKCTL_NOW", "1000000")
        put(Path(state_folder(str(place.root / "state"), os.getcwd())) / "ACTIVE", text)
        put(Path(".hookctl/run/task.json"), '{"remaining": 1}')

    return arrange


def sessions(place: Place, count: int) -> list[str]:
    """Sessions of the host, written an hour after the install and a minute apart; and now is two hours later."""
    names = [f"00000000-0000-4000-8000-{number:012}" for number in range(count)]
    begin = place.hook.stat().st_mtime + 3600
    for number, name in enumerate(names):
        path = put(place.settings.parent / "projects" / "-work" / f"{name}.jsonl", "{")
        os.utime(path, (begin + 60 * number,) * 2)
    place.monkeypatch.setenv("HOOKCTL_NOW", str(begin + 7200))
    return names


STAYING: list[tuple[str, str, Callable[[Place], None]]] = [
    ("unparsable", "error", lambda place: place.install().edit('"8"', '"8')),
    ("not_utf8", "error", settings_are(b'{"model": "\xe9"}')),
    ("unreadable", "error", lambda place: place.settings.mkdir(parents=True)),
    ("wrong_shape", "error", lambda place: (place.install(), put(place.settings, '{"hooks": []}'))),
    ("duplicate_key", "error", lambda place: place.install().edit('"env": {', '"env": {}, "env": {')),
    ("strict_host", "error", lambda place: put(place.settings, '{\n  // mine\n  "model": "opus"\n}\n')),
    ("strict_host", "error", settings_are('{"model": "opus",}')),
    ("wrong_type", "error", settings_are('{"cleanupPeriodDays": "30"}')),
    ("wrong_type", "error", settings_are('{"permissions": {"defaultMode": "zzz"}}')),
    ("invalid_hook", "error", tools_are("no array")),
    ("invalid_hook", "error", tools_are([{"hooks": [{"type": "command"}]}])),
    ("invalid_hook", "error", tools_are([{"hooks": [{"type": "command", "command": "x", "timeout": "5"}]}])),
    ("hooks_disabled", "error",
     lambda place: (place.install(), place.change(lambda settings: settings.update(json.loads(OFF))))),
    ("entry_missing", "warning", rules_are(lambda text: "# Mine\n")),
    ("entry_edited", "info", rules_are(lambda text: text.replace("## Long", "## Longer"))),
    ("rules_doubled", "warning", rules_are(lambda text: text * 2)),
    ("rules_doubled", "warning", rules_are(lambda text: text.replace("guard end", "end"))),
    ("not_utf8", "warning", rules_are(lambda text: b"\xe9" + text.encode())),
    ("entry_missing", "warning", lambda place: place.install().change(lambda page: page["env"].pop(LIMIT))),
    ("entry_missing", "warning", changed(lambda page: page.pop("hooks"))),
    ("disabled", "info", disabled),
    ("disabled", "info", hook_alone_disabled),
    ("entry_edited", "info", lambda place: place.install().edit('"timeout": 10', '"timeout": 20')),
    ("entry_edited", "info", lambda place: place.install().edit('"5"', '"6"')),
    ("entry_edited", "warning", lambda place: place.install().edit("exit 0", "exit 0 # mine")),
    ("ledger_missing", "warning", lambda place: (place.install().edit("exit 0", "exit 1"), place.ledger.unlink())),
    ("ledger_missing", "error", lambda place: (place.install(), place.ledger.unlink())),
    ("ledger_missing", "warning", lambda p: put(p.settings.with_name("CLAUDE.md"), "<!-- hookctl=a begin -->\n")),
    ("ledger_unreadable", "error", ledger_unreadable),
    ("ledger_unreadable", "error", state_has("journal.json", "{")),
    ("ledger_newer", "error", state_has("ledger.json", '{"ledger_version": 99, "files": {}}')),
    ("unreadable", "error", lambda place: (place.install().hook.unlink(), place.hook.mkdir())),
    ("hook_newer", "warning",
     lambda place: place.install().edit(f'VERSION = "{__version__}"', 'VERSION = "99.0"', place.hook)),
    ("interpreter_broken", "error", lambda place: with_python(place, "exit 1")),
    ("interpreter_broken", "error", lambda place: with_python(place, "printf '/usr/bin/python3\\n3\\n7\\n'")),
    ("config_unreadable", "error", config_unreadable("{")),
    ("config_unreadable", "error", config_unreadable("")),
    ("config_unreadable", "error", config_unreadable('{"latch": true} // yes')),
    ("config_invalid", "warning", knob(latch="perhaps")),
    ("config_invalid", "warning", knob(latsch=True)),
    ("self_test_failed", "warning",
     lambda place: place.install("--scope", "project").change(
         lambda page: page.update(owner="nobody"), Path(".hookctl/guard/claude.json"))),
    ("cap_below_limit", "warning", cap_is("4")),
    ("config_invalid", "warning", env_is(MAX_STOP_BLOCKS="+12")),
    ("hook_environment", "error", env_is(HOOKCTL_DISABLE="yes")),
    ("hook_environment", "warning",
     lambda place: (place.install(),
                    put(place.root / "work" / ".claude" / "settings.json", '{"env": {"HOOKCTL_LATCH": "0"}}'))),
    ("read_only", "error", lambda place: place.install().settings.chmod(0o444)),
    ("guard_off", "info", lambda place: place.install().install("--mode", "off")),
    ("config_changed", "warning", knob(mode="off")),
    ("client_old", "error", client_says("echo 2.1.142 '(Claude Code)'", *_REFUSES)),
    ("client_old", "error",
     lambda place: (put(place.settings, json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}})),
                    client_says("echo 2.1.256 '(Claude Code)'")(place))),
    ("client_old", "warning", client_says("echo 2.1.209 '(Claude Code)'", "--mode", "off", "--dispatch", "*")),
    ("client_old", "info", client_says("echo 2.1.226 '(Claude Code)'")),
    ("not_installed", "info", nothing),
    ("not_installed", "info", lambda place: put(place.settings, "{}")),
    # Hook entries.
    ("entry_disarmed", "warning", ours_with(**{"async": True})),
    ("entry_disarmed", "warning", ours_with(**{"if": "Bash(*)"})),
    ("entry_disarmed", "warning", ours_with(args=[])),
    ("entry_disarmed", "warning", ours_with(shell="powershell")),
    ("entry_disarmed", "warning", ours_with(timeout=1)),
    ("entry_disarmed", "warning", ours_with(type="prompt")),
    ("entry_disarmed", "warning", changed(lambda page: page["hooks"].update(SubagentStop=page["hooks"].pop("Stop")))),
    ("entry_disarmed", "warning", changed(lambda page: page["hooks"]["Stop"][0].update(matcher=5))),
    ("ledger_missing", "warning", settings_are(hooks_of(Stop=[handler(": hookctl=notify/done; notify-send done")]))),
    ("invalid_hook", "error", tools_are([{"hooks": [{"type": "zzz"}]}])),
    ("script_missing", "error", theirs(PreToolUse=[handler("python3 /gone/check.py --all")])),
    # Hooks of others that the guard wraps.
    ("entry_edited", "warning", wrapping_one(lambda place: place.edit("say done", "say more"))),
    # Several settings files.
    ("unparsable", "warning", in_the_project("{")),
    ("unreadable", "warning",
     lambda place: (put(place.settings, "{}"), Path(".claude/settings.json").mkdir(parents=True))),
    ("strict_host", "warning", in_the_project('{"a": 1,}')),
    ("invalid_hook", "warning", in_the_project('{"hooks": {"PreToolUse": {}}}')),
    ("strict_host", "error", managed_text('{"a": 1,}')),
    ("not_read", "warning", not_in_the_home_folder),
    ("not_read", "warning", below_the_project),
    # The environment, the limit and the cap.
    ("hook_environment", "error", in_the_shell("HOOKCTL_DISABLE", "1")),
    ("config_changed", "warning", knob(mode="keepalive")),
    # Runtime files.
    ("hook_fails", "warning", receipts(*[{"outcome": "failed", "status": 127}] * 3)),
    ("unreadable", "error", lambda place: (pack_file_missing(place), pack_file(place).mkdir())),
    ("loose_mode", "error", loose(lambda place: place.settings, 0o666)),
    ("loose_mode", "error", loose(lambda place: place.root / "state", 0o777)),
    # The project and its ledger.
    ("link_leaves_project", "error", lambda place: Path(".hookctl").symlink_to(place.root)),
    ("link_leaves_project", "error", settings_leave_the_project),
    ("ledger_missing", "error", clone_without(".hookctl")),
    # The work in hand.
    ("run_unusable", "warning", work("task.json", "{")),
    ("run_unusable", "warning", work("task.json", '{"remaining": true}')),
    ("work_waiting", "info", run_stopped("STOP")),
    ("work_waiting", "info", run_stopped("CONCLUDE")),
    ("work_waiting", "info", work("task.json", '{"remaining": 2}')),
    ("must_ask", "warning", work("task.json", '{"remaining": 2}')),
    ("work_waiting", "warning", untouched_work),
    ("run_unusable", "warning", active("soon")),
    ("work_waiting", "info", active("999999", require_arm=True)),
    ("hook_silent", "warning", lambda place: sessions(place.install(), 3)),
    ("fix_failed", "error", ledger_unreadable),
]  # fmt: skip
# What an install again mends. Every other finding stays, and with it every byte.
MENDED: list[tuple[str, str, Callable[[Place], None]]] = [
    ("entries_wiped", "error", entries_wiped),
    ("entry_missing", "warning", rules_are(lambda text: None)),
    ("entry_missing", "error",
     lambda place: (place.install("--rules", "--scope", "project"), (place.root / "work" / "CLAUDE.md").unlink())),
    ("entry_doubled", "error", entry_doubled),
    ("interrupted_run", "error", interrupted_run),
    ("hook_missing", "error", lambda place: place.install().hook.unlink()),
    ("hook_changed", "error", lambda place: place.install().hook.write_text("print('mine')\n")),
    ("hook_old", "info", hook_old),
    ("interpreter_broken", "error", lambda place: with_python(place, "exit 0").unlink()),
    ("loose_mode", "error", lambda place: with_python(place, "exit 0").chmod(0o777)),
    ("config_unreadable", "error", lambda place: place.install().config.unlink()),
    ("ledger_missing", "warning", wrapping_one(forgotten)),
    ("entry_missing", "info", wrapping_one(lambda place: place.change(lambda page: page["hooks"]["Stop"].pop(0)))),
    ("state_elsewhere", "warning", state_elsewhere),
    ("hook_missing", "error", pack_file_missing),
    ("hook_missing", "error",
     wrapping_one(lambda place: place.install("--mode", "off").hook.unlink())),  # which alone needs the program too
    ("hook_changed", "warning", lambda place: (pack(place), pack_file(place).write_text("mine"))),
    ("entries_wiped", "error", clone_without(".claude")),
    ("hook_missing", "error", lambda place: (place.install("--scope", "project"), shutil.rmtree(".hookctl/runtime"))),
]  # fmt: skip
MADE = [*STAYING, *MENDED]
