"""No secret of the operator's is ever shown: whatever it is called, wherever it stands, whichever command is run.

All secrets here are made up. A word between angle brackets in a text below is one; it must not be shown, and what
stands around it must.
"""

from __future__ import annotations

import errno
import functools
import io
import json
import os
import re
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookctl import hosts, masking
from hookctl.model import Message, Result
from hookctl.output import lines
from hookctl.ownership import consent
from hookctl.verbs import status
from tests.conftest import Hookctl, Outcome, put
from tests.documents.table import document_of
from tests.manifest import hook, manifest
from tests.texts import all_of, rows

CLAUDE = ("--host", "claude")


def texts_of(name: str) -> list[str]:
    """A table of texts."""
    return [document_of(text).decode() for (text,) in rows(name)]


LOOKS = texts_of("secrets-by-look")


@all_of("secret", LOOKS)
@all_of("around", ["{}", "run {}", "x='{}'", "({}),", "https://h/{}/x", "a_{}", "é{}é", "{}\nb"])
def test_a_secret_is_known_by_its_look(secret: str, around: str) -> None:
    around = around.replace("a_", "a ") if secret.startswith(("npm_", "pypi-")) else around
    around = around.replace("/x", "") if secret.startswith(("sntrys_", "fm2_")) else around
    assert masking.by_look(around.format(secret)) == around.format("***")


KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\ndef\n-----END RSA PRIVATE KEY-----"
TEXTS = texts_of("secrets-in-texts")


@all_of("text", TEXTS)
def test_of_a_text_only_the_secret_is_masked(text: str) -> None:
    plain = re.sub(r"<((?s:[^>]*))>", r"\1", text) if "<" in text else text
    assert masking.masked_text(plain) == re.sub(r"<(?s:[^>]*)>", "***", text)


EVIL = texts_of("secrets-hiding")


@pytest.mark.parametrize("command", EVIL)
def test_a_pack_cannot_hide_what_it_runs(command: str, hookctl: Hookctl, isolated: Path) -> None:
    text = f": hookctl=p/stop; {command}"
    assert masking.masked_text(text) == masking.by_look(text) == text
    quoted = command.replace("\\", "\\\\").replace('"', '\\"')
    head = '[pack]\nname = "p"\nversion = "1.0.0"\nprotocol = "host"\ndescription = "x"\n'
    pack = put(isolated / "p.toml", f'{head}[[hooks]]\nevent = "stop"\ncommand = "{quoted}"\n')
    for flags in ((), ("--json",)):
        out = hookctl("plan", str(pack), *CLAUDE, *flags)
        shown = out.data["files"][0]["diff"] if flags else out.out
        assert json.dumps(command)[1:-1] in shown, out


# The command line over settings full of secrets.
class Secrets:
    """Makes secrets, each another one, and finds them again in what was printed."""

    def __init__(self) -> None:
        self.made: list[str] = []

    def named(self) -> str:
        """One that only its name gives away."""
        return self._keep(f"hunter{len(self.made)}x")

    def looking(self, pattern: str = "sk-ant-{}") -> str:
        """One that its look gives away, as a part of what comes back."""
        return pattern.format(self._keep(f"Ab0{len(self.made)}defghijklmnop"))

    def number(self) -> int:
        return int(self._keep(str(7_310_000_000 + len(self.made))))

    def _keep(self, secret: str) -> str:
        self.made.append(secret)
        return secret

    def shown_in(self, outcome: Outcome) -> list[str]:
        return [secret for secret in self.made if secret in outcome.out + outcome.err]


FILE = "home/.claude/settings.json"
READING = [
    ("plan", *CLAUDE), ("status",), ("doctor",), ("hosts",), ("log",), ("run", "status"),
    ("restore", FILE, "--list"), ("restore", FILE, "--dry-run"),
]  # fmt: skip
FLAGS = pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])


def everything(hookctl: Hookctl, secrets: Secrets, flags: tuple[str, ...], *writing: tuple[str, ...]) -> list[Outcome]:
    """Run every command, the reading ones between the others, and look at all that they print."""
    outcomes = []
    for command in [*READING, *(step for write in writing for step in (write, *READING))]:
        outcome = hookctl(*(f"{os.environ['HOME']}/../{word}" if word == FILE else word for word in command), *flags)
        assert secrets.shown_in(outcome) == [], command
        assert outcome.code in (0, 1, 4), outcome
        outcomes.append(outcome)
    return outcomes


def override(hookctl: Hookctl, settings: Path, secrets: Secrets, flags: tuple[str, ...], limit: Any, cap: Any) -> None:
    """Values of ours that the operator changes are shown by most commands: as kept, as taken over, in the status."""
    page = json.loads(settings.read_text())
    page["env"] |= {"MAX_STOP_BLOCKS": limit, "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": cap}
    page["env"]["HOOKCTL_API_TOKEN"] = secrets.named()
    handler = page["hooks"]["Stop"][0]["hooks"][0]
    handler |= {"statusMessage": secrets.looking("Bearer {}"), "token": secrets.number(), "note": limit}
    put(settings, json.dumps(page, indent=2))
    outcomes = everything(hookctl, secrets, flags, ("install", *CLAUDE), ("uninstall", "--dry-run"))
    assert any("***" in outcome.out for outcome in outcomes)
    everything(hookctl, secrets, flags, ("install", *CLAUDE, "--force"))
    handler["command"] += f" # TOKEN={secrets.named()}"
    put(settings, json.dumps(page, indent=2))
    everything(hookctl, secrets, flags, ("install", *CLAUDE), ("install", *CLAUDE, "--force"))


@FLAGS
def test_values_of_ours_that_became_secrets(
    hookctl: Hookctl, settings: Path, isolated: Path, flags: tuple[str, ...]
) -> None:
    secrets = Secrets()
    assert hookctl("install", *CLAUDE).code == 0
    project = {"env": {"MAX_STOP_BLOCKS": f"TOKEN={secrets.named()}", "HOOKCTL_API_KEY": secrets.named()}}
    put(isolated / "work" / ".claude" / "settings.json", json.dumps(project))
    override(hookctl, settings, secrets, flags, secrets.looking(), secrets.looking("https://u:{}@h"))
    everything(hookctl, secrets, flags, ("uninstall",))


PACK = manifest(
    "{name}", hook("stop", "{command}", timeout=10), version="1.0.0", protocol="host", description="Sends {secret}",
    env={"NOTIFY_TOKEN": "{token}", "SERVER": "{server}"},
)  # fmt: skip


def a_pack(folder: Path, secrets: Secrets, name: str) -> str:
    """A pack whose author should have known better."""
    command = "curl h"  # what a pack runs is never masked
    server = secrets.looking("https://u:{}@h")
    text = PACK.format(name=name, secret=secrets.looking(), token=secrets.named(), server=server, command=command)
    return str(put(folder / f"{name}.toml", text))


def agree_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    real = consent.review
    monkeypatch.setattr(consent, "review", lambda *asked: real(*asked)._replace(is_agreed=True, is_changed=False))


@FLAGS
def test_secrets_of_packs(
    hookctl: Hookctl, settings: Path, isolated: Path, flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values under a name that the ledger knows: kept, taken over, in conflict, given back, to be removed by hand."""
    # What a pack brings is shown in full until somebody has agreed to it.
    agree_to_all(monkeypatch)
    secrets = Secrets()
    one, two = (a_pack(isolated, secrets, name) for name in ("one", "two"))
    page = {"env": {"NOTIFY_TOKEN": secrets.named(), "SERVER": secrets.looking("https://u:{}@h"), "NUMBER": 1}}
    put(settings, json.dumps(page, indent=2))

    def go(*steps: tuple[str, ...]) -> str:
        outcomes = everything(hookctl, secrets, flags, *steps)
        return re.sub(r'[\\"]', "", "".join(outcome.out + outcome.err for outcome in outcomes))

    assert "NOTIFY_TOKEN=***; --force sets" in go(("plan", one, *CLAUDE), ("install", one, *CLAUDE))
    assert "took over your NOTIFY_TOKEN=***" in go(("install", one, *CLAUDE, "--force"))
    assert "two wants" in go(("install", two, *CLAUDE))
    go(("install", two, *CLAUDE, "--force"), ("uninstall", two))
    put(settings, settings.read_text().replace("; curl h", f"; curl -H 'X-Api-Token: {secrets.named()}' h"))
    go(("install", one, *CLAUDE), ("install", one, *CLAUDE, "--force"))
    installed = settings.read_text()
    put(settings, installed[:-3])
    assert "remove by hand" in go(("uninstall", one))
    put(settings, re.sub('("NOTIFY_TOKEN": )"[^"]*"', rf'\1"{secrets.named()}"', installed))
    assert "your value is ***" in go(("install", one, *CLAUDE), ("uninstall", one, "--dry-run"))
    a_pack(isolated, secrets, "one")
    assert "; --force sets ***, hookctl had set ***" in go(("plan", one, *CLAUDE))
    put(settings, installed)
    assert "back to " in go(("uninstall", one))
    assert json.loads(settings.read_text())["env"] == page["env"]


def test_secrets_on_the_command_line_are_not_repeated(hookctl: Hookctl) -> None:
    secrets = Secrets()
    for arguments in (("install", "--host", secrets.looking()), ("install", secrets.looking(), *CLAUDE),
                      ("install", *CLAUDE, "--set", secrets.looking("latch=ghp_{}")), ("run", secrets.looking()),
                      ("log", "--since", secrets.looking()), (secrets.looking(),)):  # fmt: skip
        for flags in ((), ("--json",)):
            outcome = hookctl(*arguments, *flags)
            assert outcome.code == 2
            assert "***" in outcome.out + outcome.err and secrets.shown_in(outcome) == []


def test_everything_that_is_printed_is_looked_at(capsys: pytest.CaptureFixture[str]) -> None:
    """But for places in the data: a machine needs those as they are."""
    secret, place = "sk-ant-abcdefg", "/x/sk-learn-tutorial"
    error = {"code": "x", "message": secret, "path": place, "line": 1, "column": 1, "hint": secret}
    result = Result(
        {"a": [secret, {"b": (secret,)}], "file": place}, (secret,), (Message(secret, "note"),), (error,), 1
    )
    lines.emit(secret)
    lines.show("status", result, as_json=False)
    text, err = capsys.readouterr()
    assert (text.count("***"), err.count("***")) == (2, 1 + 3)
    lines.show("status", result, as_json=True)
    out, more = capsys.readouterr()
    assert (out.count("***"), more.count("***")) == (5, 1)
    assert secret not in text + err + out + more
    assert (json.loads(out)["data"]["file"], json.loads(out)["errors"][0]["path"]) == (place, place)


@pytest.mark.parametrize("host", hosts.names())
@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])
def test_our_own_command_is_never_masked(
    hookctl: Hookctl, isolated: Path, host: str, flags: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for the pack's name, which is a key on Antigravity, nor its hook's, nor for what the command itself says."""
    agree_to_all(monkeypatch)
    command = "run --token hunter2 sk-ant-abcdefg"
    head = '[pack]\nname = "token-counter"\nversion = "1"\nprotocol = "host"\n'
    head += '[[hooks]]\nevent = "stop"\nid = "api-key"\n'
    pack = str(put(isolated / "counter.toml", f'{head}command = "{command}"\n'))
    named = (pack, "--host", host)
    removal = ("uninstall", "token-counter", "--dry-run")
    for words in (("plan", *named), ("install", *named), ("status", "--verbose"), removal):
        done = hookctl(*words, *flags)
        assert done.code == 0 and masking.MASK not in done.out + done.err, words
        if words[0] == "plan" or (flags and words != removal):
            assert command in done.out, words


def test_the_log_of_an_unexpected_error_is_masked(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @functools.wraps(status.status)
    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("the text was {'apiKey': 'hunter2', 'x': 'hvs.CAESIJabcdef0123456789'}")

    monkeypatch.setattr(status, "status", fail)
    done = hookctl("status")
    assert done.code == 3
    log = (isolated / "state" / "error.log").read_text()
    for text in (log, done.err):
        assert "ValueError" in text and "hunter2" not in text and "hvs.C" not in text
    assert "Traceback" in log


def test_a_long_text_is_looked_at_in_parts() -> None:
    secret = "ghp_abcdef0123456789"
    assert masking.by_look("a word\n" * 1_000 + secret) == "a word\n" * 1_000 + "***"
    assert masking.by_look(f"x {secret}{'a' * masking.LONGEST} y") == "x ***y"
    for number in (1, 5_000):  # a key and a value go on in the next line there, too
        text = "a word\n" * number
        assert masking.masked_text(f"{text}token:\n  hunter2\n{KEY}\n{text}") == f"{text}token:\n  ***\n***\n{text}"
    ours = f": hookctl=p/stop; run {'a' * masking.LONGEST} --token {secret}"
    assert masking.masked_text(ours) == ours.replace(secret, "***"), "a pack cannot hide what it runs"


def test_values_are_masked_at_any_depth() -> None:
    value = {"tokens": {"a": [1, None, {"b": True}]}, "x": ["--token", "hunter2", "--n", "3"], "n": 2.5,
             "sk-abcdefg": 1, "list": [["--password"], "plain"]}  # fmt: skip
    assert masking.masked(value) == {
        "tokens": {"a": ["***", "***", {"b": "***"}]}, "x": ["--token", "***", "--n", "3"], "***": 1, "n": 2.5,
        "list": [["--password"], "plain"],
    }  # fmt: skip
    assert masking.masked([1, "a"], "key") == ["***", "***"]


@FLAGS
def test_secrets_in_the_configuration_of_the_hook(
    hookctl: Hookctl, settings: Path, isolated: Path, flags: tuple[str, ...]
) -> None:
    secrets = Secrets()
    assert hookctl("install", *CLAUDE).code == 0
    (path,) = (isolated / "data" / "guard").glob("*.json")
    page = json.loads(path.read_text())
    page |= {"max_stop_blocks": secrets.looking(), "latch": f"API_KEY={secrets.named()}", "api_key": secrets.named(),
             "count": secrets.looking("https://u:{}@h")}  # fmt: skip
    path.write_text(json.dumps(page))
    seen = everything(hookctl, secrets, flags, ("install", *CLAUDE), ("install", *CLAUDE, "--force"), ("uninstall",))
    assert any("api_key" in outcome.out and "***" in outcome.out for outcome in seen)


# What is printed: masked, aligned, without control characters, and never more than a stream can take.
@given(st.text(max_size=20))
def test_a_line_is_one_line_and_drives_nothing(text: str) -> None:
    shown = masking.plain(text)
    assert shown.splitlines() in ([shown], [])
    for old in set(text):
        new = masking.plain(old)
        assert new in (old, f"<U+{ord(old):04X}>")


# Letters, marks and a symbol that show nothing: Unicode's Default_Ignorable_Code_Point, and two blanks.
EMPTY = [
    *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x180E), 0x180F, 0x34F, 0x115F, 0x1160, 0x17B4,
    0x17B5, 0x3164, 0xFFA0, 0x2800, 0x1D159,
]  # fmt: skip


def test_every_character_that_nobody_sees_is_shown_as_its_number() -> None:
    categories = ("Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp")
    wrong = []
    # Each where any is assigned, and of the others some.
    dense, sparse = [range(0x33000), range(0xE0000, 0xE1000)], range(0x33000, sys.maxunicode, 61)
    codes = [code for part in (*dense, sparse) for code in part]
    for start in range(0, len(codes), 1024):
        characters = list(map(chr, codes[start : start + 1024]))
        expected = [
            f"<U+{ord(character):04X}>"
            if character != "\t" and (ord(character) in EMPTY or unicodedata.category(character) in categories)
            else character
            for character in characters
        ]
        wrong += [hex(codes[start])] if masking.plain("".join(characters)) != "".join(expected) else []
    assert not wrong


def test_a_closed_stream_takes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert not lines.emit("x")
    lines.say("x")
    lines.show("status", Result({}, ("x",)), as_json=False)


def test_where_messages_go_to_a_full_disk_the_command_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(sys, "stderr", Full())
    with pytest.raises(SystemExit):
        lines.say("x")


@all_of(("kind", "key"), [*rows("secrets-by-name"), ("plain", "")])
def test_names_of_secrets_are_known_and_others_are_not_taken_for_them(kind: str, key: str) -> None:
    assert masking.is_secret(key) == (kind == "secret")
