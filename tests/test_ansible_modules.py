"""The collection's modules as Ansible starts them, each in a process of its own; the whole fleet is in tests/fleet."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookctl import hosts
from hookctl.packs.choices import PRESETS
from tests.conftest import put
from tests.fleet.ansible import HAS_ANSIBLE, WHY_NOT, write_program
from tests.trees import tree

ROOT = Path(__file__).parents[1]
COLLECTION = ROOT / "ansible"
SECRET = "sk-ant-nobody-may-read-this-4711"
pytestmark = pytest.mark.skipif(not HAS_ANSIBLE, reason=WHY_NOT)


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder from which Python imports the collection under its own name."""
    top = tmp_path_factory.mktemp("collections")
    (top / "ansible_collections" / "hookctl").mkdir(parents=True)
    (top / "ansible_collections" / "hookctl" / "hookctl").symlink_to(COLLECTION)
    return top


class Modules:
    """Runs a module with its parameters, as Ansible does on a target."""

    def __init__(self, collections: Path, isolated: Path) -> None:
        self._collections, self._top = collections, isolated
        self.program = write_program(isolated / "bin" / "hookctl")

    def run(self, name: str, *, check: bool = False, diff: bool = False, **params: Any) -> dict[str, Any]:
        params = {"executable": str(self.program), **params, "_ansible_check_mode": check, "_ansible_diff": diff}
        params["_ansible_remote_tmp"] = str(self._top / "remote")
        code = (  # what Ansible's own wrapper does before it runs a module
            "import json, runpy, sys\n"
            "from ansible.module_utils import basic\n"
            "basic._ANSIBLE_ARGS, basic._ANSIBLE_PROFILE = sys.argv.pop().encode(), 'legacy'\n"
            f"runpy.run_module('ansible_collections.hookctl.hookctl.plugins.modules.{name}', run_name='__main__')\n"
        )
        environ = {**os.environ, "PYTHONPATH": str(self._collections), "PYTHONDONTWRITEBYTECODE": "1"}
        words = json.dumps({"ANSIBLE_MODULE_ARGS": params})
        command = [sys.executable, "-W", "ignore", "-c", code, words]
        done = subprocess.run(command, capture_output=True, text=True, env=environ, timeout=60)
        assert done.stdout, done.stderr
        return dict(json.loads(done.stdout.strip().rsplit("\n", 1)[-1]))


@pytest.fixture
def modules(collections: Path, isolated: Path) -> Modules:
    return Modules(collections, isolated)


def documented(name: str) -> dict[str, Any]:
    """The options in a module's own documentation."""
    text = (COLLECTION / "plugins" / "modules" / f"{name}.py").read_text()
    (document,) = re.findall(r'DOCUMENTATION = r"""\n(.*?)"""', text, re.DOTALL)
    return dict(yaml.safe_load(document)["options"])


def argument_spec(collections: Path, name: str) -> dict[str, Any]:
    """The options as the module itself checks them."""
    module = f"ansible_collections.hookctl.hookctl.plugins.modules.{name}"
    code = f"import json\nfrom {module} import ARGUMENT_SPEC\nprint(json.dumps(ARGUMENT_SPEC))"
    environ = {**os.environ, "PYTHONPATH": str(collections), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, env=environ, check=True)
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("name", ["hook", "hook_info"])
def test_the_documents_and_the_options_are_one(collections: Path, name: str) -> None:
    spec, options = argument_spec(collections, name), documented(name)
    for option in options.values():
        for about in ("description", "version_added"):
            option.pop(about, None)
    assert spec == options


def test_the_hookctl_of_the_target_says_which_hosts_there_are(modules: Modules) -> None:
    for name, host in (("hook", "emacs"), ("hook_info", ["emacs"])):
        answer = modules.run(name, host=host)
        assert answer["failed"] and "unknown host 'emacs'" in answer["msg"]
        assert f"Name one of: {', '.join(hosts.names())}." in json.dumps(answer)


def test_the_choices_are_those_of_hookctl(collections: Path) -> None:
    spec = argument_spec(collections, "hook")
    assert set(spec["preset"]["choices"]) == {*PRESETS, "none"}
    role = yaml.safe_load((COLLECTION / "roles/guard/meta/argument_specs.yml").read_text())["argument_specs"]["main"]
    names = set(role["options"]["hookctl_guard"]["options"])
    pack_and_place = {"host", "state", "pack", "scope", "project", "executable", "agree", "allow_env", "accept_changed"}
    assert names == set(spec) - pack_and_place
    defaults = yaml.safe_load((COLLECTION / "roles/guard/defaults/main.yml").read_text())
    assert defaults == {key: option["default"] for key, option in role["options"].items() if not option.get("required")}


def test_the_collection_that_is_built_installs_and_is_what_is_tested_here(tmp_path: Path, isolated: Path) -> None:
    galaxy = [sys.executable, "-m", "ansible", "galaxy", "collection"]
    environ = {**os.environ, "ANSIBLE_HOME": str(isolated / "ansible"), "LC_ALL": "C.UTF-8"}
    environ["ANSIBLE_COLLECTIONS_PATH"] = str(tmp_path / "installed")

    def run(*words: str) -> None:
        done = subprocess.run([*galaxy, *words], capture_output=True, text=True, env=environ, cwd=tmp_path)
        assert (done.returncode, "WARNING" in done.stderr) == (0, False), done

    run("build", str(COLLECTION), "--output-path", "built")
    (built,) = (tmp_path / "built").iterdir()
    run("install", str(built), "--offline")
    installed = tmp_path / "installed" / "ansible_collections" / "hookctl" / "hookctl"
    made = {"MANIFEST.json", "FILES.json"}
    names = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()} - made
    paths = [path.relative_to(COLLECTION) for path in COLLECTION.rglob("*") if path.is_file()]
    caches, ignored = {"__pycache__", ".ruff_cache"}, {"galaxy.yml", ".ansible-lint", "ruff.toml"}
    assert names == {str(path) for path in paths if not caches & set(path.parts)} - ignored
    for name in names:
        assert (installed / name).read_bytes() == (COLLECTION / name).read_bytes(), name


def test_a_task_and_the_same_task_again(modules: Modules, settings: Path, isolated: Path) -> None:
    put(settings, json.dumps({"env": {"MY_TOKEN": SECRET}}, indent=2))
    before = tree(isolated / "home")
    check = modules.run("hook", host="claude", check=True, diff=True)
    assert (check["changed"], tree(isolated / "home"), (isolated / "state").exists()) == (True, before, False)
    done = modules.run("hook", host="claude", diff=True)
    assert (done["changed"], done["actions"], done["diff"]) == (True, check["actions"], check["diff"])
    assert "+++ " in done["diff"]["prepared"] and SECRET not in json.dumps([check, done])
    assert not modules.run("hook", host="claude")["changed"]
    gone = modules.run("hook", host="claude", state="absent")
    assert (gone["changed"], gone["kept"]) == (True, [])
    assert not modules.run("hook", host="claude", state="absent")["changed"]


def test_a_task_is_the_whole_wish(modules: Modules, isolated: Path) -> None:
    wishes = {"mode": "off", "dispatch": ["Task:4/60"], "set": {"latch": False}, "nudge": ["a", "b"]}
    first = modules.run("hook", host="claude", **wishes)
    assert first["changed"]
    path = isolated / "data/guard/claude.json"
    values = json.loads(path.read_text())
    wanted = {"mode": "off", "latch": False, "dispatch_max": 4, "required_tools": ["a", "b"]}
    assert {name: values[name] for name in wanted} == wanted
    assert modules.run("hook", host="claude")["changed"]
    values = json.loads(path.read_text())
    assert values["mode"] == "breaker" and not {"latch", "dispatch_max", "required_tools"} & set(values)


def test_errors_name_the_file_the_line_and_the_column(modules: Modules, settings: Path) -> None:
    put(settings, '{\n  "a": 1\n  "b": 2\n}')
    result = modules.run("hook", host="claude")
    assert (result["failed"], result["changed"], result["exit_code"]) == (True, False, 4)
    assert (result["code"], result["file"], result["line"], result["column"]) == ("unparsable", str(settings), 3, 3)


def test_no_shell_reads_a_word(modules: Modules, isolated: Path) -> None:
    result = modules.run("hook", host="claude", wrap=f"$(touch {isolated}/made) ~ $HOME; `id`")
    assert not (isolated / "made").exists()
    assert "$(touch" in result["msg"] and "~ $HOME; `id`" in result["msg"]


def test_info_tells_what_is_there_and_changes_nothing(modules: Modules, isolated: Path) -> None:
    modules.run("hook", host="claude")
    before = tree(isolated / "home"), tree(isolated / "state"), tree(isolated / "data")
    info = modules.run("hook_info", host=["claude"], check=True)
    assert (info["changed"], info["healthy"], len(info["status"]["files"])) == (False, True, 1)
    assert (tree(isolated / "home"), tree(isolated / "state"), tree(isolated / "data")) == before
    put(isolated / "home/.claude/settings.json", "{")
    info = modules.run("hook_info", host=["claude"])
    assert not info["healthy"] and info["findings"][0]["code"] == "unparsable"
