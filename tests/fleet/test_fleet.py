"""Fifty machines: check, apply, again, upgrade, take out; three have broken files, one dies in the middle."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from hookctl import __version__
from tests.fleet.ansible import HAS_ANSIBLE, ROOT, WHY_NOT, Ansible, Ran, write_program
from tests.fleet.starts import BROKEN, COUNT, KILLED, OVERRIDDEN, SECRET, Machine, contents, lay_out
from tests.trees import tree

pytestmark = [
    pytest.mark.skipif(os.environ.get("HOOKCTL_TESTS") != "all", reason="takes a minute: HOOKCTL_TESTS=all"),
    pytest.mark.skipif(not HAS_ANSIBLE, reason=WHY_NOT),
]
NEWER = "99.0.0"
WELL = {f"n{number:02}" for number in range(COUNT)} - set(BROKEN)
PLAY = """
- hosts: all
  gather_facts: false
  environment: "{{ variables }}"
  tasks:
    - name: The guard
      hookctl.hookctl.hook:
        host: "{{ agent }}"
        state: "{{ state | default('present') }}"
        executable: "{{ program }}"
        set:
          MAX_STOP_BLOCKS: "{{ limit | default(5) }}"
"""
# Dies before the record is saved, the first time that it writes.
DIE_ONCE = """
import os
from hookctl.ownership import execute
def die(*arguments):
    if os.path.exists({mark!r}):
        return save(*arguments)
    open({mark!r}, "w").close()
    os.kill(os.getpid(), 9)
save, execute.save_records = execute.save_records, die
"""


class Rig:
    """Fifty machines below one folder, with Ansible to reach them."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.machines = lay_out(top / "machines")
        self.ansible = Ansible(top)
        self.program = write_program(top / "bin" / "hookctl")
        self.newer = write_program(top / "newer" / "hookctl", _newer_release(top / "newer-source"))
        self.start = {machine.name: contents(machine) for machine in self.machines}
        (top / "play.yml").write_text(PLAY)

    def __getitem__(self, name: str) -> Machine:
        return next(machine for machine in self.machines if machine.name == name)

    def write_inventory(self, program: Path, killed: Path | None = None) -> None:
        hosts = {}
        for machine in self.machines:
            own = killed if killed and machine.name == KILLED else program
            variables = {"agent": machine.agent, "variables": machine.environ, "program": str(own)}
            hosts[machine.name] = {"ansible_connection": "local", **variables}
        everywhere = {"ansible_python_interpreter": os.path.realpath("/proc/self/exe")}
        (self.top / "fleet.json").write_text(json.dumps({"all": {"hosts": hosts, "vars": everywhere}}))

    def play(self, *arguments: str) -> Ran:
        """Run the play on all machines."""
        ran = self.ansible.run("playbook", "-i", "fleet.json", "play.yml", *arguments)
        assert set(ran.results) == {machine.name for machine in self.machines}, ran.output
        assert SECRET not in ran.output
        return ran


def _newer_release(folder: Path) -> Path:
    """A copy of hookctl with another version and another hook."""
    folder.mkdir()
    for name in ("hookctl", "schemas", "templates"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    hook = folder / "templates" / "guard" / "guard" / "stop.py"
    hook.write_text(hook.read_text() + "\n# Of the next release.\n")
    pack = folder / "hookctl" / "packs" / "guard.toml"
    text = pack.read_text()
    assert f'version = "{__version__}"' in text
    pack.write_text(text.replace(f'version = "{__version__}"', f'version = "{NEWER}"'))
    return folder


def test_fifty_machines(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    folders = rig.top / "machines"
    killed = write_program(rig.top / "killed" / "hookctl", first=DIE_ONCE.format(mark=str(rig.top / "dead")))
    rig.write_inventory(rig.program, killed)

    before = tree(folders)
    check = rig.play("--check", "--diff")
    assert tree(folders) == before, "check mode writes nothing"
    assert (check.named("changed"), check.named("failed")) == (WELL, set(BROKEN))
    for name, (line, column) in BROKEN.items():
        result = check.results[name]
        told = (result["code"], result["file"], result["line"], result["column"])
        assert told == ("unparsable", str(rig[name].settings), line, column)
        assert result["msg"].count(f"{result['file']}:{line}:{column}") == 1
    assert f"+++ {rig['n01'].settings}" in check.output and "MAX_STOP_BLOCKS" in check.output

    first = rig.play()
    assert (first.named("changed"), first.named("failed")) == (WELL - {KILLED}, {*BROKEN, KILLED})
    for name in WELL - {KILLED}:
        assert first.results[name]["actions"] == check.results[name]["actions"]
    for name in BROKEN:
        assert contents(rig[name]) == rig.start[name]

    path = rig[OVERRIDDEN].settings
    path.write_text(path.read_text().replace('"MAX_STOP_BLOCKS": "5"', '"MAX_STOP_BLOCKS": "3"'))
    again = rig.play()
    assert again.named("changed") == {KILLED}, "the killed one is put right, and nothing else is done"
    assert again.named("failed") == set(BROKEN)
    assert "interrupted_run" in [message["code"] for message in again.results[KILLED]["messages"]]
    kept = {name for name in WELL if any(entry["from"] == "overridden" for entry in again.results[name]["kept"])}
    assert kept == {OVERRIDDEN}
    settled = tree(folders)
    assert rig.play("--check").named("changed") == set()
    assert tree(folders) == settled

    rig.write_inventory(rig.newer)
    upgrade = rig.play("-e", "limit=8")
    assert (upgrade.named("changed"), upgrade.named("failed")) == (WELL, set(BROKEN))
    assert '"MAX_STOP_BLOCKS": "3"' in path.read_text()
    for name in WELL:
        assert NEWER in (rig[name].folder / "state" / "ledger.json").read_text()

    absent = rig.play("-e", "state=absent", "--diff")
    assert (absent.named("changed"), absent.named("failed")) == (WELL, set(BROKEN))
    back = {machine.name for machine in rig.machines if contents(machine) == rig.start[machine.name]}
    assert {machine.name for machine in rig.machines} - back == {OVERRIDDEN}
    assert '"MAX_STOP_BLOCKS": "3"' in path.read_text(), "the operator's value stays"
