"""What is printed: masked, aligned, without control characters, and never more than a stream can take."""

from __future__ import annotations

import io
import json
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookctl import hosts, masking, report
from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError
from hookctl.model import Action, Decision, Entry, Record, Result
from hookctl.output import diffs
from hookctl.output.lines import program, table, tilde
from hookctl.planner.plan import FilePlan
from hookctl.settings.targets import Target

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


def file_plan(before: str | None, after: str | None) -> FilePlan:
    document = JsonDocument.parse((before or "").encode())
    data = after.encode() if after is not None else None
    place = Target(hosts.load("claude"), "user", "/x/settings.json")
    old = document.data if before is not None else None
    return FilePlan(place, document, data, place.path, old, None, Decision())


def test_a_diff_says_where_the_file_begins_and_ends() -> None:
    assert diffs.unified(file_plan(None, "{}\n")) == "--- /dev/null\n+++ /x/settings.json\n@@ -0,0 +1 @@\n+{}\n"
    assert diffs.unified(file_plan("{}", None)) == (
        "--- /x/settings.json\n+++ /dev/null\n@@ -1 +0,0 @@\n-{}\n\\ No newline at end of file\n"
    )
    assert diffs.unified(file_plan("{}\n", "{}\n")) == ""


def own_lines(before: str | None, after: str | None, *, ours: bool = True) -> str:
    """What a machine gets of a change, where env.A, env.API_KEY and a are ours, and hooks with our head."""
    action = Action("write", ("env",))
    decision = Decision(actions=(action,) if ours else ())
    paths = [("env", "A"), ("env", "API_KEY"), ("a",)]
    record = Record("claude", "user", "json", entries=tuple(Entry(path, "leaf") for path in paths))
    return diffs.own_lines(file_plan(before, after)._replace(decision=decision, known=record))


OURS = '{"command": ": hookctl=p/stop; run"}'


def test_a_machine_gets_our_values_that_come_and_go_and_nothing_else() -> None:
    before = '{"mine": "operator", "env": {"A": "old", "API_KEY": "x"}, "hooks": {"Stop": [{"a": 1}, {"b": 2}]}}'
    after = before.replace("old", "new").replace('"x"', '"y"').replace("operator", "else").replace('{"a": 1}', OURS)
    assert own_lines(before, after) == (
        '-env.A: "old"\n+env.A: "new"\n-env.API_KEY: "***"\n+env.API_KEY: "***"\n'
        '+hooks.Stop.0.command: ": hookctl=p/stop; run"\n'
    )
    assert own_lines('{"h": [1, 2]}', f'{{"h": [1, 2, {OURS}]}}') == f"+h.2: {OURS}\n"
    assert own_lines(f'{{"h": [1, {OURS}, 2]}}', '{"h": [1, 2]}') == f"-h.1: {OURS}\n"
    assert own_lines(None, '{"a": 1}') == "+a: 1\n"
    assert own_lines('{"a": 1}', None) == "-a: 1\n"
    assert own_lines('{"a": 1}', '{"a": true}') == "-a: 1\n+a: true\n"
    assert own_lines('{"a": 1}', '{"a": 2}', ours=False) == "", "nothing of ours changes"


def test_of_a_value_that_is_ours_in_part_a_machine_gets_that_part() -> None:
    group = f'{{"matcher": "x", "hooks": [{OURS}]}}'
    assert own_lines("{}", '{"env": {"A": "1", "B": "2"}}') == '+env.A: "1"\n'
    assert own_lines("{}", f'{{"hooks": {{"Stop": [{group}], "Other": [{{"x": 1}}]}}}}') == f"+hooks.Stop: [{group}]\n"
    mixed = f'{{"hooks": [{OURS}, {{"command": "mine"}}]}}'
    assert own_lines("{}", f'{{"hooks": {{"Stop": [{mixed}]}}}}') == f"+hooks.Stop.0.hooks.0: {OURS}\n"
    old, new = (f'{{"hooks": [{OURS[:-1]}, "timeout": {n}}}]}}' for n in (5, 10))
    assert own_lines(old, new) == "-hooks.0.timeout: 5\n+hooks.0.timeout: 10\n"


def test_a_diff_of_a_long_file_names_the_lines_of_both_ends() -> None:
    lines = [f'  "key_{at}": {at},\n' for at in range(5_000)]
    old = "{\n" + "".join(lines) + '  "last": 1\n}\n'
    shown = diffs.unified(file_plan(old, old.replace('"key_1": 1', '"key_1": 0').replace('"last": 1', '"last": 2')))
    assert "@@ -1,6 +1,6 @@\n" in shown and "@@ -4999,5 +4999,5 @@\n" in shown


def test_a_byte_order_mark_is_not_shown() -> None:
    assert "\ufeff" not in diffs.unified(file_plan("\ufeff{}", '\ufeff{"a": 1}'))


def test_a_settings_file_that_would_not_be_readable_is_not_shown() -> None:
    plan = file_plan("{}", "[")
    assert "cannot be read" in diffs.unified(plan)


def test_an_element_that_only_moves_is_no_change() -> None:
    changes = diffs._changes({"a": [1, 2]}, {"a": [2, 1, 3]}, ())
    assert list(changes) == [("+", ("a", 2), 3)]


def test_tables_are_aligned_without_blanks_at_their_ends() -> None:
    assert table([]) == []
    assert table([["a", "long", ""], ["lo", "b", "c"]]) == ["a   long", "lo  b     c"]
    assert table([["a", "b"]], indent="  ") == ["  a  b"]


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


def test_an_error_names_place_cause_and_next_step() -> None:
    error = HookctlError("x", "it is torn", path="/a", line=3, column=7, hint="Mend it.")
    assert report.error_text(error.as_dict()) == "error: it is torn: /a:3:7\n  fix: Mend it."
    assert report.error_text(HookctlError("x", "gone", path="/a").as_dict()) == "error: gone: /a"
    assert report.error_text(HookctlError("x", "why?").as_dict()) == "error: why?"
    assert str(error) == "/a:3:7: it is torn. Mend it."


def test_a_result_goes_to_stdout_and_the_rest_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    error = HookctlError("x", "wrong", hint="Mend it.").as_dict()
    result = Result({"a": "é\u001b"}, ("one\x1b[2J", "two\nthree"), ("by the way",), (error,), 1)
    report.show("status", result, as_json=False)
    out, err = capsys.readouterr()
    assert out == "one<U+001B>[2J\ntwo<U+000A>three\n"
    assert err == "hookctl: by the way\nhookctl: error: wrong\n  fix: Mend it.\n"
    report.show("status", result, as_json=True)
    out, err = capsys.readouterr()
    assert json.loads(out) == report.envelope("status", result)
    assert out.isascii() and out.replace("\n", "").isprintable()
    assert err == "hookctl: by the way\n"


@pytest.mark.parametrize(
    ("errors", "code", "status"), [((), 0, "ok"), ((), 10, "ok"), ((), 1, "error"), (({"code": "x"},), 1, "error")]
)
def test_the_status_follows_from_the_errors_and_the_exit_code(
    errors: tuple[dict[str, object], ...], code: int, status: str
) -> None:
    assert report.envelope("doctor", Result({}, errors=errors, exit_code=code))["status"] == status


def stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding)


def test_a_character_that_a_stream_does_not_have_is_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    for encoding, expected in (("ascii", b"\\xe9<U+DCFF>\\u96ea\n"), ("latin-1", b"\xe9<U+DCFF>\\u96ea\n"),
                               ("utf-8", b"\xc3\xa9<U+DCFF>\xe9\x9b\xaa\n")):  # fmt: skip
        out = stream(encoding)
        monkeypatch.setattr(sys, "stdout", out)
        assert report.emit("é\udcff雪")
        assert out.buffer.getvalue() == expected  # type: ignore[attr-defined]


def test_a_closed_stream_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert not report.emit("x")
    report.say("x")
    report.show("status", Result({}, ("x",)), as_json=False)


def test_how_to_call_hookctl_next(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name where that is on PATH, else by a path that holds in every folder."""
    called = isolated / "work" / ".venv" / "bin" / "hookctl"
    called.parent.mkdir(parents=True)
    called.write_text("#!/bin/sh\n")
    called.chmod(0o755)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(sys, "argv", [str(called), "install"])
    assert program() == str(called)
    monkeypatch.chdir(called.parent)
    monkeypatch.setattr(sys, "argv", ["./hookctl", "install"])
    assert program() == str(called)
    monkeypatch.setattr(sys, "argv", ["/somewhere/hookctl/__main__.py", "install"])
    assert program() == f"{sys.executable} -m hookctl"
    monkeypatch.setattr(sys, "argv", ["/my tools/hookctl", "install"])
    assert program() == "'/my tools/hookctl'"
    monkeypatch.setattr(sys, "argv", [str(called), "install"])
    monkeypatch.setenv("PATH", str(called.parent))
    assert program() == "hookctl"
