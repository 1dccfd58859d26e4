"""hookctl doctor on every host: what only some have, and that nothing is said where all is well."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookctl import hosts
from hookctl.documents.yaml import YamlDocument
from tests.approving import approve
from tests.conftest import put
from tests.documents.table import document_of
from tests.findings import Place, place, receipts
from tests.findings_of_hosts import AGREED, CODEX, HERMES, MADE_OF_HOSTS, Arrange, at, installed
from tests.texts import rows
from tests.trees import tree

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


@pytest.mark.parametrize(("host", "name", "text"), rows("borne"))
def test_what_a_host_bears_is_no_finding(place: Place, host: str, name: str, text: str) -> None:
    put(at(place, name), document_of(text))
    assert [one for one in found(place, host) if one["level"] != "info"] == []


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


@pytest.mark.parametrize(("nudges", "blocks"), [("10", 5), ("4", 4), ("3", 3)])
def test_the_operators_own_setting_is_the_cap_where_no_variable_is(place: Place, nudges: str, blocks: int) -> None:
    put(place.root / "home" / HERMES, f"hooks_auto_accept: true\nagent:\n  max_verify_nudges: {nudges}\n")
    said = place.hookctl("install", "--host", "hermes").err
    assert ("grants no more than" in said, f"grants no more than {blocks} " in said) == (blocks < 5,) * 2
    assert "cap_below_limit" not in [one["code"] for one in found(place, "hermes")], "nobody asked for more"


# What doctor makes of the receipts of packs' hooks, and where it says nothing.
FAILED = {"outcome": "failed", "status": 1}


@pytest.mark.parametrize(
    ("runs", "count"),
    [
        ([FAILED] * 2, 0),
        ([FAILED] * 3, 3),
        ([FAILED, {}, FAILED, FAILED], 0),
        ([{}] * 20 + [FAILED] * 9, 0),
        ([{}] * 20 + [FAILED] * 10, 10),
        ([FAILED] * 30 + [{}], 0),
        ([FAILED] * 3 + [{"fired": True}], 3),
        ([FAILED] * 2 + [{"outcome": "timeout", "status": None}], 3),
        ([{"outcome": "deny", "status": 2}] * 5, 0),
        ([{**FAILED, "host": "qwen"}] * 3, 0),
        ([{**FAILED, "id": "other/one"}] * 3, 0),
    ],
)
def test_a_hook_that_fails_each_time(place: Place, runs: list[dict[str, Any]], count: int) -> None:
    receipts(*runs)(place)
    found = [found["message"] for found in place.findings() if found["code"] == "hook_fails"]
    assert found == ([f"notes/start (SessionStart) failed in each of its last {count} runs"] if count else [])
