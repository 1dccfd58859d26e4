"""The hosts' data files, where they lead, and what an install writes for each: its golden file."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from hookctl import hosts
from hookctl.errors import HookctlError
from hookctl.hosts.model import read_host
from hookctl.settings import targets
from hookctl.system.package_data import asset
from hookctl.verbs import hosts as verb

from .conftest import Hookctl

FOLDER = Path(hosts.__file__).parent
SCHEMA = json.loads(Path(asset("schemas", "host.schema.json")).read_text())


@pytest.mark.parametrize("name", hosts.names())
def test_every_host_file_keeps_to_the_schema(name: str) -> None:
    assert hosts.find_fault(name) is None
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    assert set(data.get("sure_events", {})) <= set(data["events"])
    assert len(set(data["events"].values())) == len(data["events"])
    client = data["client"]
    for since, _ in client.get("since", {}).values():
        assert hosts.parse_version("0.1") < hosts.parse_version(since) <= hosts.parse_version(client["seen"])


def test_the_files_that_come_with_hookctl_are_not_checked_at_each_call() -> None:
    assert list(hosts.SHIPPED) == hosts.names(), "SHIPPED in hookctl/hosts/__init__.py names each of them"


def test_no_host_without_the_projects_folder_in_a_command_has_project_scope() -> None:
    data = tomllib.loads((FOLDER / "claude.toml").read_text())
    for environment in ({"in_command": ""}, {}):
        with pytest.raises(ValueError, match="environment: 'in_command' is missing"):
            read_host({**data, "environment": {**environment, "channel": "none"}})


def test_the_schema_refuses_what_it_does_not_know() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    data = tomllib.loads((FOLDER / "claude.toml").read_text())
    validator = jsonschema.Draft202012Validator(SCHEMA)
    for wrong in (
        {**data, "colour": "red"}, {**data, "format": "ini"}, {**data, "events": {"lunch": "Lunch"}},
        {key: data[key] for key in data if key != "dialect"}, {**data, "cap": {**data["cap"], "default": "8"}},
        {**data, "timeout_unit": "minutes"}, {**data, "name": "../claude"},
    ):  # fmt: skip
        assert not validator.is_valid(wrong)


UNSUPPORTED = "hookctl does not support it (yet). "


def test_hosts_are_loaded_by_name() -> None:
    assert "claude" in hosts.names()
    assert hosts.load("claude").title == "Claude Code"
    assert hosts.load("claude").events["stop"] == "Stop"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("claud", "Did you mean claude? "), ("Claude", "Did you mean claude? "), ("emacs", UNSUPPORTED),
        ("goose", UNSUPPORTED), ("cline", UNSUPPORTED), ("codx", "Did you mean codex? "),
        ("codex-cli", "Did you mean codex? "), ("cluade", "Did you mean claude? "),
        ("claude-code", "Did you mean claude? "), ("GEMINI-cli", "Did you mean gemini? "),
        ("openai-codex", "Did you mean codex? "), ("mistral", "Did you mean vibe? "),
        ("Mistral-Vibe", "Did you mean vibe? "), ("factory", "Did you mean droid? "), ("tral", UNSUPPORTED),
        ("claude,codex", "Give --host once for each host. "),
    ],
)  # fmt: skip
def test_an_unknown_host_is_refused_with_the_one_that_may_be_meant(name: str, meant: str) -> None:
    with pytest.raises(HookctlError, match=f"unknown host '{name}'") as caught:
        hosts.load(name)
    assert caught.value.hint == f"{meant}Name one of: {', '.join(hosts.names())}."


@pytest.mark.parametrize("name", hosts.names())
@pytest.mark.parametrize("folder", ["$USER", "${HOME}", "a $1 '$USER' b", "~", "$", "plain"])
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


def test_a_folder_that_another_hosts_install_made_is_no_sign_either(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QWEN_HOME", str(isolated / "home" / ".claude" / "qwen"))
    assert hookctl("install", "--host", "qwen").code == 0
    for command in ("status", "doctor"):
        assert "--host claude" not in hookctl(command, "--json" if command == "doctor" else "--verbose").out
    assert not hookctl("hosts", "claude", "--json").data["hosts"][0]["detected"]


# A slip in a host's file, as whoever adds a host makes one: every command names the file and the slip.


@pytest.fixture
def spoil(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Path]:
    """Replace a text in a copy of a host's file; its path."""
    folder = isolated / "hosts"
    shutil.copytree(FOLDER, folder)
    monkeypatch.setattr(hosts, "_FOLDER", str(folder))

    def change(old: str, new: str) -> Path:
        path = folder / "copilot.toml"
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
        return path

    return change


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (f'seen = "{hosts.load("copilot").client.seen}"\n', "", "client: 'seen' is a required property: PATH\n"),
        ('title = "Copilot CLI"\n', "", "'title' is a required property: PATH\n"),
        ('format = "json"', "format = json", "not valid TOML: Invalid value: PATH:4:10\n"),
    ],
    ids=["a key is missing below", "a key is missing", "no TOML"],
)
def test_a_slip_in_a_host_s_file_is_named_with_its_file(
    hookctl: Hookctl, spoil: Callable[[str, str], Path], old: str, new: str, said: str
) -> None:
    path = spoil(old, new)
    outcome = hookctl("hosts")
    assert (outcome.code, outcome.out) == (4, "")
    assert "hookctl: error: " + said.replace("PATH", str(path)) in outcome.err
    assert "unexpected" not in outcome.err
    (error,) = hookctl("hosts", "--json").result["errors"]
    assert (error["path"], error["code"]) == (str(path), "unparsable" if ":4:" in said else "invalid_host")


def test_what_is_no_host_s_fault_is_unexpected(hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    @functools.wraps(verb.hosts)
    def fail(*_: object, **__: object) -> None:
        raise KeyError("seen")

    monkeypatch.setattr(verb, "hosts", fail)
    assert hookctl("hosts").code == 3
    monkeypatch.setattr("hookctl.hosts.find_fault", fail)
    assert hookctl("hosts").code == 3


@pytest.mark.parametrize("name", hosts.names())
def test_what_is_parsed_of_a_file_in_parts_is_what_the_whole_says(name: str) -> None:
    """Also with what no file has: the tables for the runner come last, and each table begins a line."""
    whole, host = tomllib.loads(hosts.read_table(name).decode()), hosts.load(name)
    (facts,) = hosts.load_facts(name)
    assert {**host.data, "later": "", **tomllib.loads(host.later)} == {**whole, "later": ""}
    assert (host.runner, host.plugins) == (whole.get("runner", {}), whole.get("plugins", {}))
    assert (host.sends, host.reads) == (whole.get("sends", {}), whole.get("reads", {}))
    assert set(tomllib.loads(host.later)) <= {"runner", "plugins", "sends", "reads", "as_claude"}
    assert [getattr(facts, field) for field in facts._fields] == [getattr(host, field) for field in facts._fields]
