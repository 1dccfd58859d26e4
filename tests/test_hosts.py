"""The hosts' data files, where they lead, and what an install writes for each: its golden file."""

from __future__ import annotations

import json
import posix
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hookctl import hosts
from hookctl.hosts.codex import state_path, trusted_hash
from hookctl.packs import guard
from hookctl.settings import targets
from hookctl.settings.switches import is_untrusted
from hookctl.settings.targets import active_file
from tests.conftest import Hookctl, put
from tests.documents.table import document_of
from tests.hostfiles import KINDS
from tests.templates.modules import module
from tests.texts import all_of, rows
from tests.trees import tree

FOLDER = Path(hosts.__file__).parent
GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", hosts.names())
def test_every_host_file_keeps_to_the_schema(name: str) -> None:
    assert hosts.find_fault(name) is None
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    assert set(data.get("sure_events", {})) <= set(data["events"])
    assert len(set(data["events"].values())) == len(data["events"])
    client = data["client"]
    for since, _ in client.get("since", {}).values():
        assert hosts.parse_version("0.1") < hosts.parse_version(since) <= hosts.parse_version(client["seen"])


def test_every_host_stands_wherever_a_new_one_belongs() -> None:
    assert set(hosts.SHIPPED) == {kind.host for kind in KINDS} == set(hosts.names())
    for kind in KINDS:
        assert (GOLDEN / kind.name).is_dir()
        assert (GOLDEN / "shapes" / f"{kind.name}.json").is_file()


@all_of("name", hosts.names())
@all_of("folder", ["$USER", "${HOME}", "a $1 '$USER' b", "~", "$", "plain"])
def test_a_path_is_the_same_behind_the_host_and_the_shell(name: str, folder: str) -> None:
    """Some hosts fill in variables first; whatever is in the environment, the shell gets the path."""
    host = hosts.load(name)
    path = f"/home/{folder}/hook.py"
    text = targets.in_sh(targets.Target(host, "user", "/settings"), path)
    if host.registration.expands:
        text = re.sub(r"\$(?:(\w+)|\{([^}]+)\})", "FILLED", text)
    done = subprocess.run(["/bin/sh", "-c", f"printf %s {text}"], capture_output=True, text=True, check=True)
    assert done.stdout == path


@pytest.mark.parametrize("name", ["codex", "claude", "hermes"])
def test_a_folder_that_an_install_made_is_no_sign_of_the_host(isolated: Path, hookctl: Hookctl, name: str) -> None:
    def is_here() -> bool:
        (facts,) = hookctl("hosts", name, "--json").data["hosts"]
        return bool(facts["detected"])

    assert not is_here()
    assert hookctl("install", "--host", name).code == 0
    assert not is_here()
    assert hookctl("install", "--host", "all").code == 2
    folder = Path(hosts.config_folder(hosts.load(name), {"HOME": str(isolated / "home")}))
    (folder / "sessions").mkdir()  # the client has been here
    assert is_here()
    assert hookctl("install", "--host", "all").code == 0


# OpenHands, which reads one hooks.json only: the project's, else the user's.
HOST = ("--host", "openhands")
THEIRS = json.dumps({"stop": [{"hooks": [{"type": "command", "command": "notify-send done"}]}]})


@pytest.fixture
def users(isolated: Path) -> Path:
    """A user's file with a hook of the operator's, and a project."""
    (isolated / "work" / ".git").mkdir()
    return put(isolated / "home" / ".openhands" / "hooks.json", THEIRS)


def test_a_new_project_file_that_hides_the_users_is_told(hookctl: Hookctl, users: Path) -> None:
    outcome = hookctl("install", *HOST, "--scope", "project")
    assert f"OpenHands then reads no hook of {users} in this project" in outcome.err
    assert "reads no hook of" not in hookctl("install", *HOST, "--scope", "project").err
    assert users.read_text() == THEIRS


# Which of Droid's two files a hook goes into: one hides the other, event by event.
@pytest.mark.parametrize(("settings", "hooks", "file"), rows("files-of-droid"))
def test_a_hook_goes_where_it_runs_and_hides_none_of_the_operator_s(
    tmp_path: Path, settings: str, hooks: str, file: str
) -> None:
    folder = tmp_path / ".factory"
    folder.mkdir()
    for name, value in (("settings.json", settings), ("hooks.json", hooks)):
        if value != "null":
            (folder / name).write_text(value)
    host, path = active_file(hosts.load("droid"), "user", {"HOME": str(tmp_path)})
    assert path == str(folder / file)
    assert host.stands == ("hooks.json" if file == "hooks.json" else "")


# What a first install of the guard says: a warning is for what a person should do, a fact is a note.
@pytest.mark.parametrize(("name", "cap"), [("kimi", 1), ("vibe", 3), ("hermes", 3)])
def test_a_cap_below_the_limit_is_a_note_until_a_limit_is_asked_for(hookctl: Hookctl, name: str, cap: int) -> None:
    for wish, level in (("5", "info"), ("7", "warning")):
        done = hookctl("install", "--host", name, "--set", f"MAX_STOP_BLOCKS={wish}", "--json")
        said = [one for one in done.data["messages"] if f"stops blocking after {cap} and not {wish}" in one["message"]]
        assert [message["level"] for message in said] == [level]


# Who reads whose files: one table, in the files of their hosts, which everything that tells of it follows.
def test_copilot_and_vs_code_each_have_a_file_of_their_own_in_one_folder(isolated: Path, hookctl: Hookctl) -> None:
    """Copilot CLI reads every other file there, each once."""
    for host in ("copilot", "vscode"):
        assert hookctl("install", "--host", host).code == 0
    hooks = hookctl("hooks", "--json").data["hooks"]
    assert {(hook["host"], Path(hook["file"]).name) for hook in hooks} == {
        ("copilot", "hookctl.json"),
        ("vscode", "hookctl-vscode.json"),
    }
    assert len({(hook["host"], hook["id"]) for hook in hooks}) == len(hooks)
    assert {hook["state"] for hook in hooks} == {"runs"}


# The guard answers as its hosts' data files say: what a file says reaches the hook through config.json.
def host(name: str) -> Any:
    """A host as the hook has it from its configuration."""
    return module("hosts").find_host(guard.host_table(hosts.load(name)), name, {})


@pytest.mark.parametrize("name", hosts.names())
def test_the_hook_counts_the_cap_that_the_hosts_file_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cap = hosts.load(name).cap
    if not cap or "field" in cap or cap.get("asks"):  # nothing that the hook could count
        assert host(name).cap == float("inf")
        return
    for text in ("", "0", "3", "-1", "1000", "x"):
        if "key" in cap:
            monkeypatch.setenv(cap["key"], text)
            monkeypatch.setitem(posix.environ, cap["key"].encode(), text.encode())
        wanted = hosts.read_cap(hosts.load(name), text if "key" in cap else "")
        bounded = wanted > 0 or cap.get("overrides_last")
        assert host(name).cap == (wanted if bounded else float("inf")), text


def test_without_a_table_the_hook_knows_the_usual_host_as_its_file_has_it() -> None:
    table = guard.host_table(hosts.load("claude"))
    known = {name: value for name, value in table["claude"].items() if name != "also_run_by"}
    assert {"claude": known} == module("hosts").USUAL


# Which folders the new hosts trust, by the lists that they keep.
FILES = {"vibe": ".vibe/trusted_folders.toml", "grok": ".grok/trusted_folders.toml", "pi": ".pi/agent/trust.json"}


@pytest.fixture
def project(isolated: Path) -> Path:
    folder = (isolated / "above" / "project").resolve()
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize(
    ("host", "is_trusted", "text"), [*rows("trusted-folders"), *((host, "no", "") for host in FILES)]
)
def test_which_folder_is_trusted(host: str, is_trusted: str, text: str, project: Path, isolated: Path) -> None:
    text = document_of(text).decode().replace("PROJECT", str(project)).replace("ABOVE", str(project.parent))
    put(isolated / "home" / FILES[host], text)
    environ = {"HOME": str(isolated / "home")}
    assert is_untrusted(hosts.load(host), "project", str(project), environ) is (is_trusted == "no")
    assert is_untrusted(hosts.load(host), "user", str(project), environ) is False


# The hash that Codex trusts a hook by: as `codex app-server` gave them (tests/e2e/test_codex.py asks it again).
@pytest.mark.parametrize(("event", "group", "fields", "expected"), rows("hashes-of-codex"))
def test_the_hash_is_the_client_s_own(event: str, group: str, fields: str, expected: str) -> None:
    handler = {"type": "command", "command": 'say "é"', **json.loads(fields)}
    assert trusted_hash(event, json.loads(group), handler) == f"sha256:{expected}"


@pytest.mark.parametrize("event", ["Stop", "UserPromptSubmit", "Interrupt", "PreModelRequest", "PostModelRequest"])
def test_some_events_have_no_matcher(event: str) -> None:
    handler = {"command": "true"}
    assert trusted_hash(event, {"matcher": "x"}, handler) == trusted_hash(event, {}, handler)
    assert trusted_hash("PreToolUse", {"matcher": "x"}, handler) != trusted_hash("PreToolUse", {}, handler)


def test_a_field_that_says_nothing_is_as_good_as_none() -> None:
    bare, null = {"command": "true"}, {"command": "true", "timeout": None, "statusMessage": None, "name": "mine"}
    assert trusted_hash("Stop", {}, bare) == trusted_hash("Stop", {"matcher": None}, null)


def test_the_key_has_the_event_s_name_in_small_words() -> None:
    path = ("hooks", "UserPromptSubmit", 2, "hooks", 1)
    assert state_path("/h/hooks.json", path) == ("hooks", "state", "/h/hooks.json:user_prompt_submit:2:1")


# A host is one data file: the example in docs/adding-a-host.md works as it is put beside the others.
ROOT = Path(__file__).parents[1]
MINE = '{\n\t"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "true"}]}]}\n}\n'


@pytest.fixture
def robin(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings file of a host that nobody knew before, with a hook in it."""
    (text,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "adding-a-host.md").read_text(), re.S)
    folder = shutil.copytree(hosts.asset("hosts"), isolated / "hosts")
    text = text.replace('block = \'{"decision":"block","reason":%s}\'', 'block = \'{"verdict":"go on","because":%s}\'')
    text = text.replace('# project = "ROBIN_PROJECT"', 'project = "ROBIN_PROJECT"')
    put(folder / "robin.toml", text + '\n[cap]\nkey = "ROBIN_CAP"\ndefault = 6\noff = "0"\n')
    monkeypatch.setattr(hosts, "_FOLDER", str(folder))
    hosts.load.cache_clear()
    return put(isolated / "home" / ".robin" / "hooks.json", MINE)


@pytest.mark.parametrize(("old", "new", "said"), rows("slips"))
@pytest.mark.parametrize(
    "command",
    [("hosts",), ("plan", "--host", "robin"), ("install", "--host", "robin", "--scope", "project"), ("doctor",)],
    ids=lambda command: command[0],
)
def test_a_slip_in_a_new_host_s_file_is_named_with_its_file_and_key(
    robin: Path, isolated: Path, hookctl: Hookctl, old: str, new: str, said: str, command: tuple[str, ...]
) -> None:
    file = isolated / "hosts" / "robin.toml"
    assert old in file.read_text()
    put(file, file.read_text().replace(old, new, 1))
    before = tree(isolated)
    outcome = hookctl(*command)
    assert (outcome.code, outcome.out) == (4, "")
    assert said in outcome.err and str(file) in outcome.err and "docs/adding-a-host.md" in outcome.err
    assert tree(isolated) == before


def stop(settings: Path, isolated: Path) -> str:
    """What the guard's hook says to a stop of the new host, by the command that stands in its file."""
    (command,) = re.findall(r'"(: hookctl=guard/stop; (?:[^"\\]|\\.)*)"', settings.read_text())
    payload = json.dumps({"session_id": "s", "cwd": str(isolated / "work")})
    done = subprocess.run(json.loads(f'"{command}"'), shell=True, input=payload, capture_output=True, text=True)
    return done.stdout


def test_the_guard_speaks_the_words_of_a_new_host(robin: Path, isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", "--host", "robin").code == 0
    assert hookctl("run", "remaining", "3").code == 0
    said = [stop(robin, isolated) for _ in range(6)]
    assert [json.loads(text)["verdict"] for text in said[:5]] == ["go on"] * 5
    assert "Work remains (3)" in json.loads(said[0])["because"]
    assert list(json.loads(said[5])) == ["systemMessage"]


def test_all_verbs_know_a_new_host(robin: Path, isolated: Path, hookctl: Hookctl) -> None:
    assert "Robin" in hookctl("hosts", "robin").out
    assert hookctl("install", "--host", "robin").code == 0
    assert "Robin" in hookctl("status").out
    assert [one["code"] for one in hookctl("doctor", "--host", "robin", "--json").data["findings"]
            if one["level"] != "info"] == []  # fmt: skip
    assert hookctl("install", "--host", "robin").out == "nothing to do\n"
    assert hookctl("uninstall", "--host", "robin").code == 0
    assert robin.read_text() == MINE
