"""The command line as its users and their scripts rely on it: exit codes, the envelope, and what goes where."""

from __future__ import annotations

import functools
import importlib
import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from hookctl import __version__, cli
from hookctl.system import asset
from hookctl.verbs import completion, status
from hookctl.verbs.options import read_options
from tests.conftest import Hookctl, Outcome, put
from tests.texts import rows
from tests.trees import tree

COMMANDS = [*cli.SUMMARIES]
SCHEMA = jsonschema.Draft202012Validator(json.loads(Path(asset("schemas", "result.schema.json")).read_text()))

Arrange = Callable[[Hookctl, Path, pytest.MonkeyPatch], object]


def check_envelope(outcome: Outcome, command: str) -> dict[str, Any]:
    """The envelope, once it is sure that it keeps the contract."""
    assert "\n" not in outcome.out.rstrip("\n") or outcome.out.startswith("{\n")
    envelope = json.loads(outcome.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    SCHEMA.validate(envelope)
    assert list(envelope) == ["hookctl_result", "command", "status", "exit_code", "data", "errors"]
    assert envelope["command"] == command
    assert envelope["exit_code"] == outcome.code
    assert (envelope["status"] == "ok") == (outcome.code in (0, 10))
    assert "Traceback" not in outcome.out + outcome.err
    return envelope


# What must be so before a command gives each of its exit codes.
def installed(hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hookctl("install", "--host", "claude").code == 0


def disabled(hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(hookctl, settings, monkeypatch)
    assert hookctl("disable", "guard").code == 0


def another_pack(hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger of a time when another pack had the limit at 7."""
    installed(hookctl, settings, monkeypatch)
    ledger = Path(os.environ["HOOKCTL_STATE_DIR"], "ledger.json")
    page = json.loads(ledger.read_text())
    (record,) = page["files"].values()
    (entry,) = [entry for entry in record["entries"] if entry["path"][-1] == "MAX_STOP_BLOCKS"]
    record["packs"] = {"other": {**record["packs"]["guard"], "settings": {}, "folder": "", "files": {}}}
    entry["owners"] = {"other": {"value": "7", "version": "1"}}
    entry["written"] = "7"
    record["entries"] = [entry]
    ledger.write_text(json.dumps(page))
    settings.write_text('{"env": {"MAX_STOP_BLOCKS": "7"}}')


def leaving(hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repository whose settings folder is a link to somewhere else."""
    Path(".claude").unlink(missing_ok=True)
    Path(".claude").symlink_to("..")


def a_bug(hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in COMMANDS:
        module = importlib.import_module(f"hookctl.verbs.{name}")

        @functools.wraps(getattr(module, name))
        def fail(*_: object, **__: object) -> None:
            raise ZeroDivisionError("a bug of ours")

        monkeypatch.setattr(module, name, fail)


CLAUDE = ("--host", "claude")
TORN, NO_LEDGER = '{\n  "env": {', "not a ledger"
BAD_PACK = '[pack]\nname = "x"\nversion = "1"\nprotocol = "host"\ncolour = "red"\n'
ARRANGEMENTS: dict[str, Arrange] = {
    "nothing": lambda *_: None, "installed": installed, "disabled": disabled, "another_pack": another_pack,
    "leaving": leaving, "a_bug": a_bug,
    "torn": lambda hookctl, settings, patch: put(settings, TORN),
    "torn_after": lambda hookctl, settings, patch: (installed(hookctl, settings, patch), put(settings, TORN)),
    "disabled_and_gone": lambda hookctl, settings, patch: (disabled(hookctl, settings, patch), settings.unlink()),
    "read_only": lambda hookctl, settings, patch: put(settings, "{}\n").chmod(0o444),
    "broken_ledger": lambda *_: put(Path(os.environ["HOOKCTL_STATE_DIR"], "ledger.json"), NO_LEDGER),
    "broken_projects_ledger": lambda *_: put(Path(".hookctl", "ledger.json"), NO_LEDGER),
    "bad_pack": lambda *_: put(Path("bad.toml"), BAD_PACK),
}  # fmt: skip
CASES = [(int(code), name, tuple(shlex.split(words))) for code, name, words in rows("commands")]


def name_of(case: object) -> str:
    return " ".join(case) if isinstance(case, tuple) else str(case)


@pytest.mark.parametrize(("code", "before", "arguments"), CASES, ids=name_of)
def test_the_exit_code_and_the_envelope(
    hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch,
    code: int, before: str, arguments: tuple[str, ...],
) -> None:  # fmt: skip
    """The same exit code with and without --json, and an envelope that says the same as the text."""
    ARRANGEMENTS[before](hookctl, settings, monkeypatch)
    as_json = hookctl(arguments[0], "--json", *arguments[1:])
    assert as_json.code == code, as_json
    envelope = check_envelope(as_json, arguments[0])

    for path in (settings.parent, Path(os.environ["HOOKCTL_STATE_DIR"]), Path(os.environ["HOOKCTL_DATA_DIR"])):
        shutil.rmtree(path, ignore_errors=True)
    ARRANGEMENTS[before](hookctl, settings, monkeypatch)
    as_text = hookctl(*arguments)
    assert as_text.code == code, as_text
    assert "Traceback" not in as_text.out + as_text.err
    for error in envelope["errors"]:
        assert error["message"] in as_text.err
        assert error["message"] not in as_text.out
    told = not envelope["errors"] or (arguments[0] == "status" and bool(envelope["data"]))
    told = told and arguments[0] != "supervise"  # there it is the agent's
    assert bool(as_text.out) == told, "stdout carries the result, and an error is none"


USAGE = [(tuple(shlex.split(words)), named) for named, words in rows("usage")]


@pytest.mark.parametrize(("arguments", "named"), USAGE, ids=name_of)
def test_wrong_use_is_exit_2_names_the_word_and_speaks_json_when_asked(
    hookctl: Hookctl, isolated: Path, arguments: tuple[str, ...], named: str
) -> None:
    before = tree(isolated)
    text = hookctl(*arguments)
    assert (text.code, text.out) == (2, "")
    assert text.err.startswith("hookctl: error: ")
    assert named in text.err
    assert len(text.err.splitlines()) >= 2, "and says what to do"
    for place in range(1, len(arguments) + 1):
        if arguments[place - 1].startswith("--") and arguments[place - 1] != "--bogus":
            continue  # there it would be the option's value
        outcome = hookctl(*arguments[:place], "--json", *arguments[place:])
        assert outcome.code == 2
        envelope = check_envelope(outcome, arguments[0])
        assert [error["code"] for error in envelope["errors"]] == ["usage"]
        assert named in envelope["errors"][0]["message"] + envelope["errors"][0]["hint"]
        assert outcome.err == ""
    assert tree(isolated) == before


# Exit 3, and ends that nobody planned.
def test_a_bug_names_its_log_and_shows_no_traceback(
    hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch, isolated: Path
) -> None:
    a_bug(hookctl, settings, monkeypatch)
    outcome = hookctl("status")
    log = isolated / "state" / "error.log"
    assert outcome.code == 3
    assert outcome.out == ""
    assert str(log) in outcome.err
    assert "a bug of ours" in outcome.err
    assert len(outcome.err.splitlines()) == 2
    assert "Traceback" in log.read_text()
    assert __version__ in log.read_text()
    assert log.stat().st_mode & 0o777 == 0o600


def test_a_bug_is_told_where_the_state_folder_is_what_is_broken(
    hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch, isolated: Path
) -> None:
    a_bug(hookctl, settings, monkeypatch)
    put(isolated / "state", "a file")
    outcome = hookctl("status", "--json")
    assert (outcome.code, outcome.err) == (3, "")
    assert check_envelope(outcome, "status")["errors"][0]["hint"] == "The details could not be written anywhere."


def test_an_interrupt_is_exit_130(hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> None:
    @functools.wraps(status.status)
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(status, "status", interrupt)
    assert hookctl("status") == (130, "", "\nhookctl: interrupted\n")


def run_with_stdout(stdout: int, *arguments: str, **environ: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "hookctl", *arguments], stdout=stdout, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **environ}, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.returncode, done.stderr


@pytest.mark.parametrize("arguments", [("hosts",), ("--help",)], ids=name_of)
def test_a_reader_that_has_gone_is_no_error(arguments: tuple[str, ...]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    code, err = run_with_stdout(writer, *arguments)
    os.close(writer)
    assert err == ""
    assert code == 0 or arguments == ("--help",)


def test_a_closed_stdout_does_not_stop_the_work(settings: Path) -> None:
    command = f"exec {sys.executable} -m hookctl install --host claude >&- 2>&-"
    assert subprocess.run(["sh", "-c", command]).returncode == 0
    assert settings.exists()


def test_a_closed_stdin_is_no_terminal(settings: Path) -> None:
    settings.parent.mkdir()
    command = f"exec {sys.executable} -m hookctl install --json <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "")
    done = subprocess.run(["sh", "-c", command.replace("--json", "")], capture_output=True, text=True)
    assert done.returncode == 2


# Nothing is written by what only looks.
@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", *CLAUDE), ("plan", *CLAUDE, "--json"), ("install", *CLAUDE, "--dry-run"),
        ("uninstall", "--dry-run"), ("uninstall", "--all", "--dry-run"), ("status",), ("hosts",), ("log",),
        ("run", "status"), ("doctor",), ("doctor", "--strict", "--json"),
    ],
    ids=name_of,
)  # fmt: skip
@pytest.mark.parametrize("before_it", ["fresh", "a file", "installed", "edited"])
def test_looking_writes_nothing_at_all(
    hookctl: Hookctl, settings: Path, isolated: Path, before_it: str, arguments: tuple[str, ...]
) -> None:
    if before_it != "fresh":
        put(settings, '{"model": "opus"}')
    if before_it in ("installed", "edited"):
        assert hookctl("install", *CLAUDE).code == 0
    if before_it == "edited":
        put(settings, settings.read_text().replace('"8"', '"9"').replace("exit 0", "exit 1"))
        (isolated / "data" / "guard" / "claude.json").unlink()
    before = tree(isolated)
    assert hookctl(*arguments).code in (0, 1)
    assert tree(isolated) == before
    assert (isolated / "state").exists() == (before_it in ("installed", "edited"))


# plan is a diff.
def bare(text: str) -> list[str]:
    """The lines of a JSON text without what an outline does not have: indentation and commas."""
    return [line.strip().removesuffix(",") for line in text.splitlines()]


def patched(old: str, diff: str) -> list[str]:
    """The lines that a unified diff makes of a text; AssertionError where it does not fit."""
    lines, result, at = bare(old), [], 0
    for line in diff.splitlines()[2:]:
        if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)", line):
            start = int(hunk[1]) - (hunk[2] != "0")
            result, at = result + lines[at:start], start
            assert int(hunk[3]) in (len(result) + 1, 0)
        elif line[0] in " -":
            (shown,) = bare(line[1:])
            assert lines[at] == shown or (shown.endswith("…") and lines[at].startswith(shown[:-1]))
            result, at = result + ([lines[at]] if line[0] == " " else []), at + 1
        elif line[0] == "+":
            result += bare(line[1:])
    return [line for line in result + lines[at:] if line]


TEXTS = {
    "no file": None,
    "empty": "",
    "an object": "{}\n",
    "an object without a final newline": "{}",
    "another hook": json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}, indent=2),
    "many lines": json.dumps({"env": {f"A{n}": "x" for n in range(40)}, "hooks": {"Stop": []}}, indent=4) + "\n",
    "hooks far apart": json.dumps({"hooks": {"Stop": []}, "x": list(range(30)), "env": {}, "y": [1]}, indent="\t"),
    "non-ASCII": '{\n  "ключ": "значение 🙂"\n}\n',
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("uninstall", [False, True], ids=["install", "uninstall"])
def test_the_diff_applied_is_what_is_written(
    hookctl: Hookctl, settings: Path, text: str | None, uninstall: bool
) -> None:
    if text is not None:
        put(settings, text)
    if uninstall:
        hookctl("install", *CLAUDE)
        put(settings, settings.read_text() + "\n")  # so that it is more than the backup put back
    before = settings.read_text() if settings.exists() else ""
    verb = ("uninstall",) if uninstall else ("install", *CLAUDE)
    plan = hookctl(*verb, "--dry-run") if uninstall else hookctl("plan", *CLAUDE)
    (file,) = hookctl(*verb, "--dry-run", "--json").data["files"]
    diff = re.split(r"^(?:    [-+~=] |\(nothing)", plan.out, maxsplit=1, flags=re.MULTILINE)[0]
    (done,) = hookctl(*verb, "--json").data["files"]
    after = settings.read_text() if settings.exists() else ""
    assert patched(before, diff) == bare(after.rstrip())
    assert done == file, "what was planned is what was done"


# Secrets, colours, control characters.

NASTY = "\x7f\x9b31m\u202e\u2066"


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])
def test_nothing_in_a_settings_file_drives_the_terminal(
    hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    folder = settings.parent.with_name(f"odd\x1b]0;title\x07{NASTY}\nname")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    handler = {"type": "command", "command": f": hookctl=guard/stop; echo \x1b[2J{NASTY}"}
    page = {"a": "\x1b[31m", f"k{NASTY}": NASTY, "model": 7, "hooks": {"Stop": [{"hooks": [handler]}]}}
    put(folder / "settings.json", json.dumps(page, ensure_ascii=False, indent=1))
    seen = [hookctl("plan", *CLAUDE, *flags), hookctl("install", *CLAUDE, *flags)]
    text = (folder / "settings.json").read_text().replace('": "5"', f'": "\\u001b[31m5\\nerror: x{NASTY}"')
    put(folder / "settings.json", text)
    seen += [hookctl(command, *flags) for command in ("status", "doctor", "hosts", "uninstall")]
    for outcome in seen:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", outcome.out + outcome.err)
        assert not re.search(r"^error: x", outcome.out, re.MULTILINE), "a value cannot look like a line of ours"


def test_names_that_are_no_utf8_are_printed(process: Hookctl, isolated: Path) -> None:
    process("install", *CLAUDE)
    folder = os.fsencode(isolated) + b"/\xff\xe9"
    os.mkdir(folder)
    project = os.fsdecode(folder)
    for flags in ((), ("--json",)):
        outcome = process("run", "status", "--project", project, *flags, PYTHONIOENCODING="utf-8:strict")
        assert (outcome.code, outcome.err) == (0, "")
        assert ("\\udcff" if flags else "<U+DCFF>") in outcome.out
    assert check_envelope(outcome, "run")["data"]["project"] == project


def options_of(command: str) -> set[str]:
    return {name for parameter in cli.command(command).params for name in parameter.opts if name.startswith("--")}


def test_every_command_has_a_case() -> None:
    assert set(COMMANDS) == {arguments[0] for _, _, arguments in CASES}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_names_every_option_and_shows_an_example(hookctl: Hookctl, command: str) -> None:
    outcome = hookctl(command, "--help")
    assert (outcome.code, outcome.err) == (0, "")
    assert f"hookctl {command}" in outcome.out.partition("Examples:")[2]
    for option in options_of(command):
        assert re.search(rf"^  (-\w, )?{option}\b", outcome.out, re.MULTILINE), option
    examples = outcome.out.partition("Examples:")[2].partition("\n\n")[0]
    for example in examples.split("hookctl ")[1:]:
        words = example.partition(" -- ")[0].split()
        assert words[0] == command
        assert {word for word in words if word.startswith("--")} <= options_of(command)
    text = importlib.import_module(f"hookctl.verbs.{command}").HELP.partition("\nEx")[0].strip()
    described = read_options(text).keys() - read_options("").keys()
    assert described <= {parameter.name for parameter in cli.command(command).params}, "a line is about no option"


def test_the_version(hookctl: Hookctl) -> None:
    assert hookctl("--version") == (0, f"hookctl {__version__}\n", "")


def at_terminal(answer: str, *arguments: str, stdout: bool = False, **environ: str) -> tuple[Outcome, str]:
    """Run hookctl with a terminal for stdin and stderr, and for stdout if asked; what it did, what was seen."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **environ}
    command = [sys.executable, "-m", "hookctl", *arguments]
    out = theirs if stdout else subprocess.PIPE
    with subprocess.Popen(command, stdin=theirs, stdout=out, stderr=theirs, env=environment) as running:
        os.close(theirs)
        os.write(ours, answer.encode())
        seen = b""
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:  # the other end was closed
            pass
        text = running.stdout.read().decode() if running.stdout else ""
        code = running.wait(30)
    os.close(ours)
    return Outcome(code, text, ""), seen.decode()


def test_at_a_terminal_install_asks_about_what_it_detected(settings: Path) -> None:
    settings.parent.mkdir()
    outcome, seen = at_terminal("y\n", "install")
    assert outcome.code == 0
    assert "Detected here: claude. Go on with claude?" in seen
    assert settings.exists()


@pytest.mark.parametrize(("answer", "code"), [("YES\n", 0), ("\n", 2), ("\x04", 2)])
def test_at_a_terminal_uninstall_everywhere_asks(hookctl: Hookctl, settings: Path, answer: str, code: int) -> None:
    hookctl("install", *CLAUDE)
    outcome, seen = at_terminal(answer, "uninstall", "--all")
    assert outcome.code == code, seen
    assert "Uninstall every pack from all of these?" in seen
    assert settings.exists() == (code != 0)


def test_colours_are_for_terminals_that_want_them(settings: Path) -> None:
    plan = ("plan", *CLAUDE)
    assert "\033[32m+" in at_terminal("", *plan, stdout=True, NO_COLOR="")[1]
    assert "\033[" not in at_terminal("", *plan, stdout=True, NO_COLOR="1")[1]
    assert "\033[" not in at_terminal("", *plan, stdout=True, NO_COLOR="", TERM="dumb")[1]
    assert "\033[" not in at_terminal("", *plan, NO_COLOR="")[0].out


# What Python has not got there; `import typer` first, as it asks for other modules there.
WINDOWS = """
import sys, typer
for name in ("fcntl", "grp", "posix", "pwd"):
    sys.modules[name] = None
sys.platform = "win32"
from hookctl.__main__ import run
sys.exit(run(sys.argv[1:]))
"""


def test_windows_is_refused_in_plain_words() -> None:
    done = subprocess.run([sys.executable, "-c", WINDOWS, "uninstall"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("hookctl: error: Windows is not supported yet"), done.stderr


def test_a_python_without_what_hookctl_needs_is_named_in_one_line() -> None:
    code = "import sys; sys.modules['typer'] = None; from hookctl.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "status"], capture_output=True, text=True, check=False)
    said = done.stderr.splitlines()
    assert said[0] == f"hookctl: error: typer is not installed for {sys.executable}"
    assert (len(said), done.stdout, done.returncode) == (2, "", 1)
    assert said[1].startswith("  fix: ") and ".venv/bin/hookctl" in said[1]


# hookctl completion: the scripts are loaded by real shells, which then complete.
SHELLS = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"there is no {name} here"))
    for name in completion.SHELLS
]


@pytest.fixture
def script(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    """The script of a shell as a file; `hookctl`, which it asks, is on PATH."""
    program = put(isolated / "bin" / "hookctl", f'#!/bin/sh\nexec {sys.executable} -m hookctl "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    def make(shell: str) -> Path:
        return put(isolated / f"hookctl.{shell}", hookctl("completion", shell).out)

    return make


def bash(script: Path, *words: str) -> list[str]:
    """What bash offers for the last of these words; readline has been taken out of the play."""
    line = " ".join(f"'{word}'" for word in ("hookctl", *words))
    call = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; "
    call += '_hookctl_completion hookctl; printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "--norc", "-c", call], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def fish(script: Path, *words: str) -> list[str]:
    call = f"source {script}; complete -C 'hookctl {' '.join(words)}'"
    done = subprocess.run(["fish", "--no-config", "-c", call], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [line.split("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.parametrize("ask", [pytest.param(bash, marks=SHELLS[0].marks), pytest.param(fish, marks=SHELLS[2].marks)])
def test_what_fits_is_offered(ask, script) -> None:  # type: ignore[no-untyped-def]
    file = script(ask.__name__)

    def offered(*words: str) -> set[str]:
        return set(ask(file, *words))

    assert offered("") == set(COMMANDS)
    assert offered("un") == {"uninstall"}
    assert offered("--v") == {"--version"}
    assert offered("install", "--") == options_of("install") | {"--help"}
    assert offered("install", "--host", "claude", "--js") == {"--json"}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_has_no_slip(shell: str, script) -> None:  # type: ignore[no-untyped-def]
    done = subprocess.run([shell, "-n", str(script(shell))], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


# What a machine gets with --json of what people read: whether anything changes, every message, the whole diff.
def said(outcome: Outcome) -> list[str]:
    """The messages on stderr, one a message."""
    return [part.rstrip("\n") for part in ("\n" + outcome.err).split("\nhookctl: ")[1:]]


def codes(outcome: Outcome) -> list[str]:
    SCHEMA.validate(outcome.result)
    return [message["code"] for message in outcome.data["messages"]]


CASES_OF_ENVELOPE: dict[str, tuple[str, Callable[[Path], object]]] = {
    "approval": ("install --host codex", lambda top: None),
    "host limits": ("install --host cursor", lambda top: None),
    "switched off": (
        "install --host claude",
        lambda top: put(top / "home/.claude/settings.json", '{"disableAllHooks": true}'),
    ),
    "project": ("install --host claude --scope project", lambda top: (top / "work/.git").mkdir()),
    "settings": ("install --host claude --nudge-env CI", lambda top: None),
}


@pytest.mark.parametrize("case", CASES_OF_ENVELOPE)
def test_nothing_stands_on_stderr_alone(isolated: Path, hookctl: Hookctl, case: str) -> None:
    arguments, prepare = CASES_OF_ENVELOPE[case]
    prepare(isolated)
    for more in (("--dry-run",), ()):
        outcome = hookctl(*arguments.split(), *more, "--json")
        assert outcome.code == 0
        codes(outcome)
        texts = [message["message"] for message in outcome.data["messages"]]
        assert said(outcome), "the case is about a message"
        assert set(said(outcome)) <= set(texts)


def test_a_message_has_a_code_a_host_and_a_file(hookctl: Hookctl, isolated: Path) -> None:
    outcome = hookctl("install", "--host", "codex", "--json")
    message = next(m for m in outcome.data["messages"] if m["code"] == "not_approved")
    assert (message["level"], message["host"]) == ("warning", "codex")
    assert message["path"].startswith(str(isolated / "home/.codex/"))


def test_changed_is_what_the_run_does(hookctl: Hookctl, isolated: Path) -> None:
    install = ("install", "--host", "claude", "--json")
    answers = []
    for arguments in (
        (*install, "--dry-run"), install, install, (*install, "--dry-run"), (*install, "--set", "latch=false"),
        ("upgrade", "--json"), ("uninstall", "--json", "--dry-run"), ("uninstall", "--json"), ("uninstall", "--json"),
    ):  # fmt: skip
        before = tree(isolated)
        changed = hookctl(*arguments).data["changed"]
        wrote = tree(isolated) != before
        assert wrote == (changed and "--dry-run" not in arguments)
        answers.append(changed)
    assert answers == [True, True, False, False, True, False, True, True, False]


# hookctl demo, whose steps tests/screens/ and the picture in docs/ show.
def test_an_interrupted_one_leaves_nothing(hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    place = isolated / "tmp"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.setattr("hookctl.verbs.demo.time", SimpleNamespace(sleep=interrupt))
    assert hookctl("demo").code == 130
    assert list(place.iterdir()) == []
