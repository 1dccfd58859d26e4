"""The page of `hookctl report`: what it tells, that it loads nothing, and which files it never writes over."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Hookctl, put
from tests.test_every_hook import Machine, machine  # noqa: F401 (a fixture)

NOW = 1_790_000_000
VOID = ("meta",)


class Parsed(HTMLParser):
    """The page by its elements: sure that each is closed, and in its order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.attributes.append((tag, {name: value or "" for name, value in attributes}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if data.strip() and self.open[-1] != "style":
            self.texts.append(" ".join(data.split()))

    def select(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        return [
            each
            for name, each in self.attributes
            if name == tag and all(each.get(key.rstrip("_")) == value for key, value in wanted.items())
        ]


def squeezed(words: str, home: str) -> str:
    """Words without blanks, marks of code and the home folder, which the page shows in its own way."""
    return re.sub(r"[\s`]", "", words.replace(home, "~"))


def receipt(id: str, ms: int, size: int = 0, *, host: str = "claude", at: int = NOW - 60, **more: Any) -> str:
    line = {"t": at, "host": host, "event": "PreToolUse", "kind": "run", "id": id, "ms": ms, "bytes": size}
    return json.dumps({**line, "outcome": "ok", "session": None, **more}, sort_keys=True, separators=(",", ":"))


def decision(number: int, word: str, code: str, **more: Any) -> str:
    line = {"t": NOW - 3600 * number, "host": "claude", "session": "s", "event": "stop", "decision": word}
    return json.dumps({**line, "code": code, "blocks": 1, **more})


@pytest.fixture
def told(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A log and receipts; the folder that has them."""
    monkeypatch.setenv("HOOKCTL_NOW", str(NOW))
    folder = isolated / "state" / "guard" / "work-0123456789"
    runs = [receipt("lint/check", 40 + number, 100) for number in range(30)]
    runs += [receipt("lint/check", 900, outcome="failed", status=1)]
    runs += [receipt("memory/tell", 2500, 12_000, host="gemini", event="SessionStart")] * 4
    put(folder / "runs.jsonl", "\n".join(runs) + "\n")
    lines = [decision(number, "block", "blocked") for number in range(1, 40)]
    lines += [decision(number, "allow", "no_work") for number in range(1, 80, 3)]
    lines += [decision(5, "refuse", "dispatch_refused", refusals=12), decision(4, "release", "tripped")]
    put(folder / "events.jsonl", "\n".join(lines) + "\n")
    return folder


def page(hookctl: Hookctl, *options: str) -> tuple[str, Parsed, dict[str, Any]]:
    outcome = hookctl("report", *options, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    path = Path(outcome.data["file"])
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    return text, Parsed(text), outcome.data


def test_the_page_of_a_machine_with_nine_hosts_has_every_hook_with_its_state_and_place(
    hookctl: Hookctl,
    machine: Machine,  # noqa: F811
    told: Path,
) -> None:
    listed = hookctl("hooks", "--json").data
    text, parsed, data = page(hookctl)
    assert data["hooks"] == len(listed["hooks"]) >= 60
    home = str(machine.home)
    shown = squeezed(" ".join(parsed.texts), home)
    assert home not in text
    for hook in listed["hooks"]:
        place = f"{hook['file']}:{hook['line']}"
        for words in (place, *hook["reason"].split("; also: "), hook["fix"], hook["matcher"][:59]):
            assert squeezed(words, home) in shown, words
    assert squeezed(f"its hooks are not known: {listed['unreadable'][0]['message']}", home) in shown
    meant = ("runs", "off", "hidden", "disabled", "twice")
    broken = [hook for hook in listed["hooks"] if hook["state"] not in meant]
    findings = hookctl("doctor", "--json").data["findings"]
    odd = [finding for finding in findings if finding["level"] != "info"]
    assert data["attention"] == len(broken) + len(odd) + len(listed["unreadable"]) > len(broken) > 10
    for finding in odd:
        assert squeezed(finding["message"], home) in shown
    running = sum(hook["state"] == "runs" for hook in listed["hooks"])
    assert squeezed(f"{running} of {len(listed['hooks'])} hooks will run", home) in shown
    assert "memory/tell gemini SessionStart 4 0 2.5 s 2.5 s 48000" in parsed.texts


def test_it_loads_nothing_and_runs_nothing(hookctl: Hookctl, machine: Machine, told: Path) -> None:  # noqa: F811
    text, parsed, _ = page(hookctl)
    names = {name for name, _ in parsed.attributes}
    assert not names & {"script", "link", "img", "iframe", "object", "embed", "form", "base", "audio", "video"}
    for _, attributes in parsed.attributes:
        assert not {"src", "srcset", "action", "background", "poster"} & attributes.keys()
        assert not [name for name in attributes if name.startswith("on")]
        assert attributes.get("href", "#").startswith("#")
    assert "url(" not in text and "@import" not in text
    policy = parsed.select("meta", **{"http-equiv": "Content-Security-Policy"})
    assert [each["content"] for each in policy] == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_a_text_from_elsewhere_is_a_text_and_no_secret_is_shown(
    hookctl: Hookctl, isolated: Path, settings: Path, told: Path
) -> None:
    secret = "sk-ant-api03-" + "A1b2C3d4" * 5
    hostile = "</style></code><script>alert(1)</script> &lt; \u202e\x1b[31m"
    hooks = [{"type": "command", "command": text} for text in (hostile, f"curl -H 'x-api-key: {secret}' example.org")]
    put(settings, json.dumps({"hooks": {"PreToolUse": [{"matcher": f'"><svg onload=x>{secret}', "hooks": hooks}]}}))
    text, parsed, _ = page(hookctl)
    assert "<script" not in text and not parsed.select("script")
    assert secret not in text and "A1b2C3d4" not in text
    assert "</style></code><script>alert(1)</script>" in " ".join(parsed.texts)
    assert not parsed.select("svg", onload="x")
    assert "\u202e" not in text and "\x1b" not in text


def test_an_older_page_is_replaced_and_no_other_file(hookctl: Hookctl, isolated: Path) -> None:
    outcome = hookctl("report")
    path = isolated / "work" / "hookctl-report.html"
    assert (outcome.code, outcome.out.split(":")[0]) == (0, str(path))
    assert hookctl("report", "-o", str(path)).code == 0
    path.write_text("<p>mine")
    refused = hookctl("report")
    assert (refused.code, path.read_text()) == (1, "<p>mine")
    assert "this file is not a hookctl report" in refused.err
    assert hookctl("report", "-o", "there/is/none.html").code == 2
    assert hookctl("report", "-o", str(isolated)).code == 2
    link = isolated / "work" / "linked.html"
    link.symlink_to(isolated / "elsewhere.html")
    assert hookctl("report", "-o", "linked.html").code == 0
    assert link.is_symlink() and (isolated / "elsewhere.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("target", ["gone", "empty"])
def test_a_link_that_somebody_left_here_is_not_written_through(hookctl: Hookctl, isolated: Path, target: str) -> None:
    put(isolated / "home/empty", "")
    Path("hookctl-report.html").symlink_to(isolated / "home" / target)
    refused = hookctl("report")
    assert (refused.code, "this is a link" in refused.err) == (1, True)
    assert not (isolated / "home/gone").exists() and (isolated / "home/empty").read_text() == ""
