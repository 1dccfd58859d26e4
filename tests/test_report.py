"""What is printed: masked, aligned, without control characters, and never more than a stream can take."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookctl import hosts, masking, report
from hookctl.documents.jsonc import JsonDocument
from hookctl.model import Entry, Record, Result
from hookctl.output import diffs
from hookctl.output.lines import tilde
from hookctl.settings.targets import Target


def file_plan(before: str | None, after: str | None) -> Any:
    document = JsonDocument.parse((before or "").encode())
    data = after.encode() if after is not None else None
    place = Target(hosts.load("claude"), "user", "/x/settings.json")
    old = document.data if before is not None else None
    return SimpleNamespace(target=place, before=document, after=data, path=place.path, old=old, known=None, record=None)


def diff(before: str | None, after: str | None) -> str:
    """What a person gets of a change, where env.A, env.API_KEY and a are ours, and hooks with our head."""
    return "".join(f"{line}\n" for line in diffs.unified(changed(before, after)))


def changed(before: str | None, after: str | None) -> Any:
    entries = [Entry(path, "leaf") for path in (("env", "A"), ("env", "API_KEY"), ("a",), ("texts", "x"))]
    written = {"type": "command", "command": ": hookctl=p/stop; run", "timeout": 5, "matcher": "x"}
    entries.append(Entry(("hooks", "Stop"), "element", written=written, id="p/stop"))
    file = file_plan(before, after)
    file.known = Record("claude", "user", "json", entries=tuple(entries))
    return file


HOOK = '{"type": "command", "command": ": hookctl=p/stop; run", "timeout": 5, "note": "command"}'
GROUP = f'{{"matcher": "x", "hooks": [{HOOK}]}}'


def test_a_diff_has_our_values_and_the_keys_around() -> None:
    before = '{\n  "mine": "operator",\n  "env": {\n    "A": "old",\n    "B": [1]\n  }\n}\n'
    assert diff(before, before.replace("old", "new").replace("operator", "else")) == (
        "--- /x/settings.json\n+++ /x/settings.json\n@@ -1,7 +1,7 @@\n {\n"
        '-  "mine": …\n+  "mine": …\n   "env": {\n-    "A": "old"\n+    "A": "new"\n     "B": [\n       …\n     ]\n'
    )
    added = diff(before, before[:-3] + f', "hooks": {{"Stop": [{GROUP}]}}}}')
    assert "@@ -6,4 +6,19 @@" in added and '+      {\n+        "matcher": "x"\n+        "hooks": [\n' in added
    assert '+            "timeout": 5\n+            "note": …\n' in added
    assert diff('{"env": {"A": "x", "API_KEY": "x"}}', '{"env": {"A": "x", "API_KEY": "y"}}').endswith(
        ' {\n   "env": {\n     "A": …\n-    "API_KEY": "***"\n+    "API_KEY": "***"\n   }\n }\n'
    ), "nor has it those of ours that stay"


def test_a_matcher_is_shown_where_its_group_is_ours_alone() -> None:
    before = '{"hooks": {"Stop": [GROUP]}}'
    alone, shared = (
        before.replace("GROUP", group) for group in (GROUP, GROUP.replace("[{", '[{"command": "mine"}, {'))
    )
    assert '-        "matcher": "x"\n' in diff(alone, "{}") and '-        "matcher": …\n' in diff(shared, "{}")
    assert '-  "a": 1\n+  "a": true\n' in diff('{"a": 1}', '{"a": true}')


def test_paths_are_written_as_people_do(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = str(isolated / "home")
    assert tilde(f"{home}/.claude/settings.json") == "~/.claude/settings.json"
    assert tilde(f"{home}ly/x") == f"{home}ly/x"
    assert tilde(home) == home
    assert tilde("/etc/x") == "/etc/x"
    monkeypatch.setenv("HOME", "/")
    assert tilde("/etc/x") == "/etc/x"


@given(st.text(max_size=20))
def test_a_line_is_one_line_and_drives_nothing(text: str) -> None:
    shown = report.plain(text)
    assert shown.splitlines() in ([shown], [])
    for old in set(text):
        new = report.plain(old)
        assert new in (old, f"<U+{ord(old):04X}>")


# Letters, marks and a symbol that show nothing: Unicode's Default_Ignorable_Code_Point, and two blanks.
EMPTY = [
    *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x180E), 0x180F, 0x34F, 0x115F, 0x1160, 0x17B4,
    0x17B5, 0x3164, 0xFFA0, 0x2800, 0x1D159,
]  # fmt: skip


def test_every_character_that_nobody_sees_is_shown_as_its_number() -> None:
    categories = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
    wrong = []
    for start in range(0, sys.maxunicode, 16):
        characters = [chr(code) for code in range(start, start + 16)]
        expected = [
            f"<U+{ord(character):04X}>"
            if character != "\t" and (ord(character) in EMPTY or unicodedata.category(character) in categories)
            else character
            for character in characters
        ]
        wrong += [hex(start)] if report.plain("".join(characters)) != "".join(expected) else []
    assert not wrong


def test_a_closed_stream_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert not report.emit("x")
    report.say("x")
    report.show("status", Result({}, ("x",)), as_json=False)


SECRET = [
    "ANTHROPIC_API_KEY", "apiKey", "api-key", "APIKEY", "OPENAI_TOKEN", "token", "authToken", "CLIENT_SECRET", "passwd",
    "DB_PASSWORD", "passphrase_PASSWORD", "Authorization", "proxy-authorization", "private_key", "PRIVATE-KEY",
    "accessKey", "AWS_ACCESS_KEY_ID", "Cookie", "Set-Cookie", "bearer", "credentials", "signingKey", "STRIPE_KEY",
    "key", "KEY", "auth", "BASIC_AUTH", "pwd", "DB_PASS", "SSH_PASSPHRASE", "GITHUB_PAT", "SENTRY_DSN", "webhookUrl",
    "SESSION_JWT", "ANTHROPIC_CUSTOM_HEADERS", "sig", "connectionString", "server.key",
]  # fmt: skip


PLAIN = [
    "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "command", "hooks", "model", "keyboard", "monkey", "hotkeys",
    "author", "bypass", "compass", "PATH", "keys", "passive", "timeout", "donkey", "pattern", "path",
    "",
]  # fmt: skip


@pytest.mark.parametrize("key", SECRET)
def test_names_of_secrets_are_known(key: str) -> None:
    assert masking.is_secret(key)


@pytest.mark.parametrize("key", PLAIN)
def test_other_names_are_not_taken_for_secrets(key: str) -> None:
    assert not masking.is_secret(key)
