"""hookctl doctor on every host: what only some have, and that nothing is said where all is well."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookctl import hosts
from hookctl.documents.yaml import YamlDocument

from .approving import approve
from .conftest import put
from .findings import Place, place
from .findings_of_hosts import (
    AGREED,
    CODEX,
    CONFIG,
    DROID,
    DROID_OWN,
    GEMINI,
    HANDS,
    HERMES,
    HOOK,
    MADE_OF_HOSTS,
    Arrange,
    at,
    both,
    groups,
    installed,
    there,
)
from .trees import tree

__all__ = ["place"]  # a fixture

DETECTED = {"antigravity": ".gemini/config", "opencode": ".config/opencode", "droid": ".factory"}


def found(place: Place, host: str) -> list[dict[str, Any]]:
    return place.doctor("--host", host).data["findings"]


def names(cases: list[tuple[str, str, str, Arrange]]) -> list[str]:
    return [f"{host}-{code}-{level}-{n}" for n, (code, level, host, _) in enumerate(cases)]


@pytest.mark.parametrize(("code", "level", "host", "arrange"), MADE_OF_HOSTS, ids=names(MADE_OF_HOSTS))
def test_every_finding_of_a_host(place: Place, code: str, level: str, host: str, arrange: Arrange) -> None:
    put(place.root / "home" / DETECTED.get(host, f".{host}") / "here", "")
    arrange(place)
    before = tree(place.root)
    findings = found(place, host)
    (finding, *others) = [one for one in findings if one["code"] == code] or [None]
    assert finding and not others, findings
    assert finding["level"] == level
    assert finding["fix"] or level == "info"
    assert tree(place.root) == before, "doctor writes nothing"


@pytest.mark.parametrize("host", hosts.names())
def test_doctor_is_clean_right_after_install(place: Place, host: str) -> None:
    installed(host)(place)
    if host == "codex":
        approve(at(place, CODEX))
    if host == "hermes":
        place.monkeypatch.setenv("HERMES_ACCEPT_HOOKS", "1")
    assert {one["code"] for one in found(place, host)} <= {"not_trusted"}


@pytest.mark.parametrize(
    ("host", "name", "text"),
    [
        ("gemini", GEMINI, '{"model": {}, // mine\n "hooks": {}}'),
        ("gemini", GEMINI, json.dumps({"hooks": {"enabled": True, "AfterTool": groups({**HOOK, "timeout": "9000"})}})),
        ("codex", CODEX, json.dumps({"description": "x", "hooks": {"Stop": [{"matcher": None, "hooks": []}]}})),
        ("codex", CODEX, json.dumps({"hooks": {"SessionEnd": groups({**HOOK, "timeout": None})}})),
        ("codex", CONFIG, '[hooks.state."x"]\nenabled = false\n'),
        ("openhands", HANDS, json.dumps({"hooks": {"Stop": []}, "other": 1})),
        ("openhands", HANDS, json.dumps({"pre_tool_use": [{}, {"hooks": [{"command": "x", "timeout": "10"}]}]})),
        ("hermes", HERMES, "hooks:\n  output_spill: {}\n  pre_llm_call:\n    - {command: x, matcher: null}\n"),
        ("droid", DROID, json.dumps({"enableHooks": False, "hooks": {"importedClaudeHooks": ["x"]}})),
        ("copilot", ".copilot/hooks/hookctl.json", json.dumps({"hooks": {"agentStop": [{"hooks": []}]}})),
        ("cursor", ".cursor/hooks.json", "{}"),
        ("qwen", ".qwen/settings.json", b"\xef\xbb\xbf{}".decode()),
    ],
    ids=["comment", "switch", "null", "no time", "state", "wrapper", "plain", "yaml", "strings", "nested", "{}", "bom"],
)
def test_what_a_host_bears_is_no_finding(place: Place, host: str, name: str, text: str) -> None:
    put(at(place, name), text)
    assert [one for one in found(place, host) if one["level"] != "info"] == []


GROKS = ".grok/config.toml"
TRUSTS_ALL = "[folder_trust]\nenabled = false\n"
NOT_CLAUDES, CLAUDES = "[compat.claude]\nhooks = false\n", "[compat.claude]\nhooks = true\n"


@pytest.mark.parametrize(
    ("text", "variable", "is_read"),
    [
        (CLAUDES, "", True), (NOT_CLAUDES, "", False), (NOT_CLAUDES, "x", False), (NOT_CLAUDES, "On", True),
        (CLAUDES, " OFF ", False), ("x", "", True), ("x", "0", False),
    ],
)  # fmt: skip
def test_it_is_told_whether_grok_reads_the_file(place: Place, text: str, variable: str, is_read: bool) -> None:
    """Its folder shows that it is in use, whatever is on PATH."""
    installed("claude")(place)
    put(at(place, GROKS), text)
    place.monkeypatch.setenv("GROK_CLAUDE_HOOKS_ENABLED", variable)
    listed = place.hookctl("hooks", "--host", "claude", "--json").data["hooks"]
    assert any("Grok Build" in str(hook["also_read_by"]) for hook in listed) == is_read


@pytest.mark.parametrize(
    ("text", "variable", "asks"),
    [
        ("", "", True), ("", "0", False), ("", "No", False), ("", "x", True), (TRUSTS_ALL, "", False),
        (TRUSTS_ALL, "1", True), (TRUSTS_ALL.replace("false", "true"), "0", False),
    ],
)  # fmt: skip
def test_groks_trust_in_folders_can_be_switched_off(place: Place, text: str, variable: str, asks: bool) -> None:
    installed("grok", "--scope", "project")(place)
    put(at(place, GROKS), text)
    place.monkeypatch.setenv("GROK_FOLDER_TRUST", variable)
    assert ("not_trusted" in [one["code"] for one in found(place, "grok")]) == asks


def test_an_event_hides_only_the_same_one_beside_it(place: Place) -> None:
    """Droid, and the guard in settings.json, beside a hooks.json with another event."""
    installed("droid")(place)
    put(at(place, DROID_OWN), json.dumps({"SessionStart": groups(HOOK)}))
    codes = [one["code"] for one in found(place, "droid")]
    assert "not_read" not in codes


def test_a_hidden_hook_of_another_tool_is_not_looked_at(place: Place) -> None:
    hooks = {"Stop": groups({**HOOK, "command": "ralph-stop hidden"}),
             "PreToolUse": groups({**HOOK, "command": "python3 /gone/x.py"})}  # fmt: skip
    put(at(place, DROID), json.dumps({"hooks": hooks}))
    put(at(place, DROID_OWN), json.dumps({"Stop": groups({**HOOK, "command": "/opt/ralph-loop/go-on"})}))
    installed("droid")(place)
    findings = {one["code"]: one for one in found(place, "droid")}
    assert findings["foreign_stop"]["message"].startswith("go-on (line 1) may block"), findings
    assert "script_missing" in findings, "the other event still runs from there"


def test_what_was_agreed_to_is_no_finding(place: Place) -> None:
    installed("hermes")(place)
    hooks = YamlDocument.parse(at(place, HERMES).read_bytes()).value["hooks"]
    agreed = [{"event": event, "command": one["command"]} for event in hooks for one in hooks[event]]
    put(at(place, AGREED), json.dumps({"approvals": agreed}))
    assert "not_approved" not in [one["code"] for one in found(place, "hermes")]
    put(at(place, AGREED), "{")
    assert "not_approved" in [one["code"] for one in found(place, "hermes")]
    place.edit("hooks:", "hooks_auto_accept: true\nhooks:", at(place, HERMES))
    assert "not_approved" not in [one["code"] for one in found(place, "hermes")]


def test_nothing_odd_makes_doctor_fail(place: Place) -> None:
    installed("codex")(place)
    installed("gemini", "--scope", "project")(place)
    put(at(place, ".gemini/trustedFolders.json"), json.dumps({"\0": "TRUST_FOLDER", "relative": 5}))
    assert "not_trusted" in [one["code"] for one in found(place, "gemini")]
    for odd in ("10", [], 1.5):
        place.change(lambda page, odd=odd: page["hooks"]["Stop"][0]["hooks"][0].update(timeout=odd), at(place, CODEX))
        assert "invalid_hook" in [one["code"] for one in found(place, "codex")]
        assert place.hookctl("install", "--host", "codex").code == 0


@pytest.mark.parametrize(
    ("host", "options", "said"),
    [
        ("copilot", ["--set", "MAX_STOP_BLOCKS=20"], "breaker, blocks at most 8"),
        ("copilot", ["--set", "MAX_STOP_BLOCKS=3"], "breaker, blocks at most 3"),
        ("claude", ["--set", "count=attempts"], "breaker, blocks at most 4"),
        ("claude", ["--set", "MAX_STOP_BLOCKS=1", "--set", "count=attempts"], "breaker, blocks at most 0"),
        ("codex", [], "does nothing: nobody has approved it"),
        ("gemini", ["--scope", "project"], "does nothing: Gemini CLI does not trust this folder"),
        ("cursor", ["--set", "MAX_STOP_BLOCKS=9"], "breaker, blocks at most 9"),
        ("claude", ["--mode", "keepalive"], "keepalive, blocks at most 5000"),
        ("claude", ["--mode", "keepalive", "--set", "keepalive_cap=9"], "keepalive, blocks at most 9"),
        ("qwen", ["--mode", "keepalive"], "keepalive, blocks at most 99"),
        ("openhands", ["--mode", "guard"], "mode guard"),
        ("claude", ["--mode", "off"], "does nothing: its mode is off"),
    ],
)
def test_status_says_what_the_host_lets_the_guard_do(place: Place, host: str, options: list[str], said: str) -> None:
    installed(host, *options)(place)
    (page,) = place.hookctl("status", "--json").data["files"]
    assert page["guard"] == said


def test_a_comment_does_not_hide_the_settings_of_a_host_that_reads_it(place: Place) -> None:
    both(there(".qwen/settings.json", '{"stopHookBlockingCap": 4} // mine\n'), installed("qwen"))(place)
    assert "cap_below_limit" in [one["code"] for one in found(place, "qwen")]


@pytest.mark.parametrize(("nudges", "blocks"), [("10", 5), ("4", 4), ("3", 3)])
def test_the_operators_own_setting_is_the_cap_where_no_variable_is(place: Place, nudges: str, blocks: int) -> None:
    put(place.root / "home" / HERMES, f"hooks_auto_accept: true\nagent:\n  max_verify_nudges: {nudges}\n")
    said = place.hookctl("install", "--host", "hermes").err
    guard = place.hookctl("status", "--json").data["files"][0]["guard"]
    assert guard == f"breaker, blocks at most {blocks}"
    assert ("grants no more than" in said, f"grants no more than {blocks} " in said) == (blocks < 5,) * 2
    assert "cap_below_limit" not in [one["code"] for one in found(place, "hermes")], "nobody asked for more"


@pytest.mark.parametrize("odd", ["5", '{"approvals": 5}', '{"approvals": [5]}', '{"approvals": {"event": 1}}'])
def test_an_odd_list_of_agreements_is_as_good_as_none(place: Place, odd: str) -> None:
    installed("hermes")(place)
    put(place.root / "home" / AGREED, odd)
    assert "not_approved" in [one["code"] for one in found(place, "hermes")]


def test_a_committed_file_that_is_mended_gets_no_approval(place: Place) -> None:
    put(place.root / "work" / ".git" / "HEAD", "ref: refs/heads/main\n")
    installed("codex", "--scope", "project")(place)
    (place.root / "work" / ".hookctl" / "hook.py").unlink()
    assert place.doctor("--host", "codex", "--fix").data["fixed"]
    assert not at(place, CONFIG).exists()
