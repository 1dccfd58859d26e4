"""An installed hook of 0.1.0, one file, gives way to launcher and package; a chain in the middle goes on as it was."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.ledger.digests import content_digest
from hookctl.packs.programs import load_programs
from hookctl.system import interpreter

from .conftest import Hookctl, put

OLD = Path(__file__).parent / "fixtures" / "0.1.0"
SETTINGS = '{\n  "model": "opus"\n}\n'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    monkeypatch.setattr(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))


class Machine:
    """Where 0.1.0 has installed the guard."""

    def __init__(self, root: Path, hookctl: Hookctl, host: str = "claude", scope: str = "user") -> None:
        self.root, self.hookctl, self.host, self.scope = root, hookctl, host, scope
        self.words = ("--host", host, "--scope", scope)
        assert hookctl("install", *self.words).code == 0
        (hook,) = [*root.glob("data/guard/*/hook.py"), *root.glob("work/.hookctl/guard/*/hook.py")]
        self.folder = hook.parent
        self.age()

    def age(self) -> None:
        """Make folder and records what 0.1.0 had made them."""
        for name in load_programs(wrapper=False).package:
            (self.folder / name).unlink()
        (self.folder / next(iter(load_programs(wrapper=False).package))).parent.rmdir()
        config = json.loads((self.folder / "config.json").read_text())
        del config["hosts"]
        put(self.folder / "config.json", json.dumps(config, indent=2, ensure_ascii=False) + "\n")
        put(self.folder / "hook.py", (OLD / "hook.py").read_bytes())
        for ledger in (self.root / "state" / "ledger.json", self.root / "work" / ".hookctl" / "ledger.json"):
            if ledger.exists():
                self.rewrite(ledger)

    def rewrite(self, ledger: Path) -> None:
        def visit(value: Any) -> None:
            if isinstance(value, dict) and isinstance(value.get("hook.py"), str):
                digits = len(value["hook.py"])
                value.clear()
                for name in ("hook.py", "config.json"):
                    value[name] = hashlib.sha256((self.folder / name).read_bytes()).hexdigest()[:digits]
            if isinstance(value, dict) and "hook.py" in value.get("files", ()):
                if isinstance(value["files"], list):
                    value["files"] = [name for name in value["files"] if not name.startswith("guard_")]
                value["digest"] = content_digest(b"", {"hook.py": (self.folder / "hook.py").read_bytes()})
            for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
                visit(part)

        page = json.loads(ledger.read_text())
        visit(page)
        ledger.write_text(json.dumps(page, indent=2))

    def install(self) -> None:
        assert self.hookctl("install", *self.words).code == 0

    def fix(self) -> None:
        outcome = self.hookctl("doctor", "--fix", "--host", self.host)
        assert outcome.code in (0, 1), outcome

    def names(self) -> set[str]:
        return {str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()}

    def is_current(self) -> bool:
        programs = {**load_programs(wrapper=False).package, **load_programs(wrapper=False).launchers}
        config = json.loads((self.folder / "config.json").read_text())
        whole = all((self.folder / name).read_bytes() == data for name, data in programs.items())
        return whole and self.host in config.get("hosts", {}) and self.names() == {*programs, "config.json"}


def stop(settings: Path, project: Path, active: bool) -> str:
    """A stop, by the command that stands in the settings: Block, Release or Allow."""
    (command,) = re.findall(r'"(: hookctl=guard/stop; (?:[^"\\]|\\.)*)"', settings.read_text())
    payload = {"session_id": "s", "cwd": str(project), "prompt_id": "p", "stop_hook_active": active}
    env = {**os.environ, "MAX_STOP_BLOCKS": "5", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "8"}
    env |= {"CLAUDE_PROJECT_DIR": str(project)}
    call = ["sh", "-c", json.loads(f'"{command}"')]
    done = subprocess.run(call, input=json.dumps(payload), capture_output=True, text=True, env=env, cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
    answer = json.loads(done.stdout or "{}")
    return "B" if "decision" in answer else "R" if answer else "A"


@pytest.mark.parametrize("way", [Machine.install, Machine.fix], ids=["install", "doctor --fix"])
def test_a_chain_in_the_middle_is_let_go_at_its_limit(
    settings: Path, isolated: Path, hookctl: Hookctl, way: Callable[[Machine], None]
) -> None:
    put(settings, SETTINGS)
    machine = Machine(isolated, hookctl)
    project = isolated / "work"
    put(project / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    before = "".join(stop(settings, project, n > 0) for n in range(3))
    way(machine)
    assert machine.is_current()
    after = "".join(stop(settings, project, True) for _ in range(4))
    assert before + after == "BBBBBRA"
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert settings.read_text() == SETTINGS
    assert not (isolated / "data").exists()


@pytest.mark.parametrize("scope", ["user", "project", "local"])
def test_install_brings_launcher_package_and_table_at_every_scope(
    scope: str, isolated: Path, hookctl: Hookctl
) -> None:
    machine = Machine(isolated, hookctl, scope=scope)
    machine.install()
    assert machine.is_current()
    assert hookctl("install", *machine.words).out == "nothing to do\n"
    assert hookctl("uninstall", *machine.words).code == 0
    assert not machine.folder.exists()


@pytest.mark.parametrize("host", hosts.names())
def test_every_host_is_upgraded(host: str, isolated: Path, hookctl: Hookctl) -> None:
    machine = Machine(isolated, hookctl, host)
    machine.install()
    assert machine.is_current()
    assert hookctl("uninstall", *machine.words).code == 0
    assert not (isolated / "data").exists()


@pytest.mark.parametrize("way", [Machine.install, Machine.fix], ids=["install", "doctor --fix"])
def test_a_setting_that_the_operator_changed_is_kept(
    isolated: Path, hookctl: Hookctl, way: Callable[[Machine], None]
) -> None:
    machine = Machine(isolated, hookctl)
    path = machine.folder / "config.json"
    put(path, json.dumps({**json.loads(path.read_text()), "latch": False}))
    way(machine)
    config = json.loads(path.read_text())
    assert config["latch"] is False
    assert set(config["hosts"]) == {"claude", "copilot", "cursor"}
    assert list(config)[-1] == "hosts"


@pytest.mark.parametrize("way", [Machine.install, Machine.fix], ids=["install", "doctor --fix"])
def test_an_edited_hook_of_010_stays_and_runs(
    settings: Path, isolated: Path, hookctl: Hookctl, way: Callable[[Machine], None]
) -> None:
    machine = Machine(isolated, hookctl)
    put(machine.folder / "hook.py", "# mine\n" + (OLD / "hook.py").read_text())
    way(machine)
    assert (machine.folder / "hook.py").read_text().startswith("# mine\n")
    put(isolated / "work" / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    assert stop(settings, isolated / "work", False) == "B"


def test_a_host_table_that_somebody_changed_is_renewed(isolated: Path, hookctl: Hookctl) -> None:
    """It is hookctl's own, unlike the settings beside it."""
    machine = Machine(isolated, hookctl)
    machine.install()
    path = machine.folder / "config.json"
    whole = path.read_text()
    put(path, whole.replace("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "ANOTHER"))
    machine.install()
    assert path.read_text() == whole


def test_a_configuration_in_another_form_is_no_edit(isolated: Path, hookctl: Hookctl) -> None:
    machine = Machine(isolated, hookctl)
    machine.install()
    path = machine.folder / "config.json"
    compact = json.dumps(dict(reversed(json.loads(path.read_text()).items())))
    put(path, compact)
    machine.install()
    assert hookctl("install", *machine.words).out == "nothing to do\n"
    assert path.read_text() == compact


# From one package to the next.


@pytest.fixture
def upgraded(isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], Path]]:
    """Make this a version with another package; the folder of the guard."""
    assert hookctl("install", "--host", "claude").code == 0

    def upgrade() -> Path:
        from hookctl.packs import programs

        known = programs._modules
        monkeypatch.setattr(programs, "_modules", lambda folder: {**known(folder), "later.py": b'"""More."""\n'})
        programs.load_programs.cache_clear()
        return isolated / "data" / "guard" / "claude-user"

    yield upgrade
    monkeypatch.undo()
    load_programs.cache_clear()


def run(folder: Path, settings: Path) -> Path:
    """Let the hook run, so that Python keeps its bytecode; the folder with it."""
    put(folder.parents[2] / "work" / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    assert stop(settings, folder.parents[2] / "work", False) == "B"
    (cache,) = folder.glob("guard_*/__pycache__")
    return cache


def test_an_upgrade_replaces_the_launcher_between_the_new_package_and_the_end_of_the_old(
    upgraded: Callable[[], Path], hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, settings: Path
) -> None:
    from hookctl.system import files

    (old,) = {name.rpartition("/")[0] for name in load_programs(wrapper=False).package}
    folder = upgraded()
    run(folder, settings)
    (new,) = {name.rpartition("/")[0] for name in load_programs(wrapper=False).package}
    steps: list[str] = []
    replace = files.replace

    def noted(there: files.Snapshot, data: bytes | None, **options: Any) -> None:
        name = os.path.relpath(there.path, folder).partition("/")[0]
        steps.append(("-" if data is None else "+") + name)
        replace(there, data, **options)

    monkeypatch.setattr(files, "replace", noted)
    assert hookctl("install", "--host", "claude").code == 0
    assert list(dict.fromkeys(steps)) == [f"+{new}", "+hook.py", f"-{old}"]
    assert [path.name for path in folder.glob("guard_*")] == [new]


def test_bytecode_goes_on_uninstall(hookctl: Hookctl, isolated: Path, settings: Path) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    cache = run(isolated / "data" / "guard" / "claude-user", settings)
    put(cache / "stop.cpython-38.pyc.140234", b"a write that was killed")
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert not (isolated / "data").exists()


def test_bytecode_that_a_call_leaves_behind_an_upgrade_goes_with_the_next(
    upgraded: Callable[[], Path], hookctl: Hookctl, settings: Path
) -> None:
    folder = upgraded()
    cache = run(folder, settings)
    assert hookctl("install", "--host", "claude").code == 0
    put(cache / "stop.cpython-311.pyc", b"from a call that began before")
    assert hookctl("install", "--host", "claude").code == 0
    assert not cache.parent.exists()
    put(cache / "stop.cpython-311.pyc", b"once more")
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert not folder.exists()


def test_an_empty_folder_for_bytecode_goes_and_what_is_linked_there_stays(
    hookctl: Hookctl, isolated: Path, settings: Path
) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    folder = isolated / "data" / "guard" / "claude-user"
    (package,) = folder.glob("guard_*")
    (package / "__pycache__").mkdir()
    mine = put(isolated / "mine" / "__pycache__" / "a.pyc", b"mine")
    linked = folder / "guard_0123456789abcdef"
    linked.symlink_to(mine.parents[1])
    (package / "__pycache__" / "b.pyc").symlink_to(mine)
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert mine.read_bytes() == b"mine"
    (package / "__pycache__" / "b.pyc").unlink()
    linked.unlink()
    assert hookctl("install", "--host", "claude").code == 0
    assert hookctl("uninstall", "--host", "claude").code == 0
    assert not folder.exists()


def test_bytecode_in_a_project_is_not_ours(hookctl: Hookctl, isolated: Path) -> None:
    """hookctl never makes it there: it is somebody else's, like any other file."""
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    (package,) = (isolated / "work" / ".hookctl" / "guard" / "claude").glob("guard_*")
    theirs = put(package / "__pycache__" / "stop.cpython-311.pyc", b"theirs")
    assert hookctl("uninstall", "--host", "claude", "--scope", "project").code == 0
    assert theirs.exists() and [path.name for path in package.iterdir()] == ["__pycache__"]


def test_an_edited_launcher_keeps_the_package_that_it_names(
    upgraded: Callable[[], Path], hookctl: Hookctl, settings: Path, isolated: Path
) -> None:
    folder = upgraded()
    hook = folder / "hook.py"
    hook.write_text(hook.read_text() + "# mine\n")
    outcome = hookctl("install", "--host", "claude")
    assert "edited by hand, so it stays" in outcome.out
    run_folder = isolated / "work"
    put(run_folder / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    assert stop(settings, run_folder, False) == "B"
    assert hookctl("install", "--host", "claude", "--force").code == 0
    assert len(list(folder.glob("guard_*/stop.py"))) == 1


def test_an_edited_module_stays_until_force(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    (module,) = isolated.glob("data/guard/claude-user/guard_*/answers.py")
    whole = module.read_bytes()
    module.write_bytes(whole + b"# mine\n")
    assert "hook_changed" in [f["code"] for f in hookctl("doctor", "--json").data["findings"]]
    assert hookctl("install", "--host", "claude").code == 0
    assert module.read_bytes() != whole
    assert hookctl("install", "--host", "claude", "--force").code == 0
    assert module.read_bytes() == whole


def test_a_module_that_is_gone_is_missed_and_put_back(hookctl: Hookctl, isolated: Path) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    (module,) = isolated.glob("data/guard/claude-user/guard_*/answers.py")
    module.unlink()
    assert "hook_missing" in [f["code"] for f in hookctl("doctor", "--json").data["findings"]]
    hookctl("doctor", "--fix")
    assert module.exists()
    assert "self_test_passed" in [f["code"] for f in hookctl("doctor", "--json").data["findings"]]
