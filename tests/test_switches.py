"""Managed files and switches of every host, by the rows of tests/switches.py, in `hooks`, `doctor` and `install`."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookctl import hosts
from tests.approving import approve
from tests.conftest import Hookctl, put
from tests.switches import CASES, HOSTS, Case, text_of, texts_of

GUARDED = ("claude", "codex", "copilot", "droid", "gemini", "grok", "qwen")


@pytest.fixture
def etc(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The system's folder of settings, where this machine's has none."""
    read = hosts.read_data
    folder = isolated / "etc"
    monkeypatch.setattr(hosts, "read_data", lambda *names: read(*names).replace(b'"/etc/', f'"{folder}/'.encode()))
    hosts.load.cache_clear()
    yield folder
    hosts.load.cache_clear()


def place_of(isolated: Path, path: str) -> Path:
    top = {"~": isolated / "home", "/": isolated}.get(path[0], isolated / "work")
    return top / path.lstrip("~/")


def write(isolated: Path, path: str, text: str) -> Path:
    return put(place_of(isolated, path), text)


def arrange(isolated: Path, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, text in texts_of(case, "echo %s").items():
        write(isolated, path, text)
    for name, value in case.environ.items():
        monkeypatch.setenv(name, value)
    # Each host has the approvals that it wants, and trusts the folder.
    work = isolated / "work"
    monkeypatch.setenv("HERMES_ACCEPT_HOOKS", "1")
    if case.host == "codex":
        config = isolated / "home/.codex/config.toml"
        put(config, config.read_text() + f'[projects."{work}"]\ntrust_level = "trusted"\n')
        for path in HOSTS["codex"].files.values():
            if not path.startswith("/etc"):
                approve(place_of(isolated, path), config)
    if case.host == "gemini":
        put(isolated / "home/.gemini/trustedFolders.json", f'{{"{work}": "TRUST_FOLDER"}}')
    if case.host == "grok":
        put(isolated / "home/.grok/trusted_folders.toml", f'[folders."{work}"]\ntrusted = true\n')


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.host} {case.added} {case.environ}"[:90])
def test_what_runs_under_a_switch(
    case: Case, hookctl: Hookctl, isolated: Path, etc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrange(isolated, case, monkeypatch)
    outcome = hookctl("hooks", "--host", case.host, "--json").data
    hooks = [hook for hook in outcome["hooks"] if hook["host"] == case.host]
    assert outcome["unreadable"] == []
    assert {hook["command"].split()[1] for hook in hooks if hook["state"] == "runs"} == set(case.runs.split())
    assert {hook["state"] for hook in hooks} <= {"runs", "off"}
    places = HOSTS[case.host].files
    assert {hook["command"].split()[1] for hook in hooks} == set(places)
    managed = {name for name, path in places.items() if path.startswith("/etc")}
    assert {hook["command"].split()[1] for hook in hooks if hook["scope"] == "managed"} == managed


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.host in GUARDED], ids=lambda case: f"{case.host} {case.added}"[:80]
)
def test_doctor_and_install_say_so_of_the_guard(
    case: Case, hookctl: Hookctl, isolated: Path, etc: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guard stands in the file of the place `user`; on Copilot CLI and Grok Build in one of its own beside it."""
    arrange(isolated, case, monkeypatch)
    told = hookctl("install", "--host", case.host)
    if case.host == "codex":
        approve(place_of(isolated, HOSTS["codex"].files["user"]))
    hooks = hookctl("hooks", "--host", case.host, "--json").data["hooks"]
    (is_off,) = {hook["state"] == "off" for hook in hooks if hook["owner"] == "guard"}
    assert is_off is (case.runs == "policy" if case.host == "copilot" else "user" not in case.runs.split())
    # Of its own file install says it for other folders, too, where another file has the word.
    is_said = "no hook of guard runs here" in told.err or "no hook runs until" in told.err
    assert is_said is is_off or "user" in case.added, told.err
    found = hookctl("doctor", "--host", case.host, "--json").data["findings"]
    errors = [finding for finding in found if finding["code"] == "hooks_disabled" and finding["level"] == "error"]
    assert bool(errors) is is_off, errors
    told = hookctl("status", "--host", case.host).out
    assert ("does nothing: " in told and " is " in told) or not is_off


def test_a_managed_hook_of_hermes_hides_the_users_and_waits_for_an_agreement_like_it(
    hookctl: Hookctl, isolated: Path, etc: Path
) -> None:
    case = Case("hermes", {"/etc/hermes/config.yaml": {"hooks": {"post_llm_call": [{"command": "echo managed"}]}}}, "")
    for path, text in texts_of(case, "echo %s").items():
        write(isolated, path, text)
    hooks = hookctl("hooks", "--host", "hermes", "--json").data["hooks"]
    states = {hook["command"]: hook["state"] for hook in hooks}
    assert states == {"echo managed": "not_approved", "echo user": "hidden"}


ELSEWHERE, LOOPBACK = ["https://a.example/*"], ["http://127.0.0.1:*"]
SLOW = ["*1" * 60 + "x"]  # would keep a simple expression busy for ever


@pytest.mark.parametrize(
    ("added", "runs"),
    [
        ({}, "managed user"), ({"user": []}, "managed"), ({"user": ELSEWHERE}, "managed"),
        ({"user": LOOPBACK}, "managed user"), ({"user": ELSEWHERE, "project": LOOPBACK}, "managed user"),
        ({"managed": ELSEWHERE}, ""), ({"managed": ELSEWHERE, "user": LOOPBACK}, "managed user"),
        ({"user": SLOW}, "managed"),
    ],
)  # fmt: skip
def test_a_list_of_urls_keeps_hooks_from_being_called(
    hookctl: Hookctl, isolated: Path, etc: Path, added: dict[str, list[str]], runs: str
) -> None:
    for place in ("user", "project", "managed"):
        hook = {"type": "http", "url": f"http://127.0.0.1:1/{place}{'1' * 200}"}
        value = {"hooks": {} if place == "project" else {"Stop": [{"hooks": [hook]}]}}
        more = {"allowedHttpHookUrls": added[place]} if place in added else {}
        path = HOSTS["claude"].files[place]
        write(isolated, path, text_of(path, {**value, **more}))
    hooks = hookctl("hooks", "--json").data["hooks"]
    assert {hook["scope"] for hook in hooks if hook["state"] == "runs"} == set(runs.split())
    assert {hook["state"] for hook in hooks} <= {"runs", "off"}


@pytest.mark.parametrize("is_trusted", [True, False])
def test_a_projects_switch_counts_where_the_folder_is_trusted(
    hookctl: Hookctl, isolated: Path, is_trusted: bool
) -> None:
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}
    user = write(isolated, "~/.codex/hooks.json", text_of(".json", {"hooks": hooks}))
    write(isolated, ".codex/config.toml", "[features]\nhooks = false\n")
    level = "trusted" if is_trusted else "untrusted"
    write(isolated, "~/.codex/config.toml", f'[projects."{isolated}/work"]\ntrust_level = "{level}"\n')
    approve(user)
    (hook,) = hookctl("hooks", "--json").data["hooks"]
    assert hook["state"] == ("off" if is_trusted else "runs")


@pytest.mark.parametrize("name", hosts.names())
def test_every_switch_of_a_host_is_in_a_row(name: str) -> None:
    keys = {tuple(rule.key) for rule in hosts.load(name).switches if rule.reach in ("host", "file")}
    texts = [str(case.added) + str(case.environ) for case in CASES if case.host == name]
    for key in keys - {("features", "codex_hooks"), ()}:
        assert any(f"'{key[-1]}'" in text for text in texts), key
