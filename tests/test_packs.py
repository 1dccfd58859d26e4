"""Packs by path: what is read, what is refused and where, and what really runs."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from hookctl import hosts
from hookctl.errors import UNREADABLE, HookctlError
from hookctl.hosts import Host
from hookctl.model import Wanted
from hookctl.packs import pack as packs
from hookctl.packs.listing import is_risky
from hookctl.packs.pack import Pack, PackHook, Part, load_file
from hookctl.packs.runner import Unreadable, slots
from hookctl.packs.runner import wants as wants_of
from hookctl.system.files import content_digest
from tests.conftest import Hookctl, put
from tests.documents.table import document_of
from tests.manifest import hook as pack_hook
from tests.texts import all_of, rows

CLAUDE = hosts.load("claude")
HEAD = '[pack]\nname = "notify"\nversion = "1"\n'
FILES = '[files]\ninclude = ["run.sh"]\n'
HOOK = '[[hooks]]\nevent = "stop"\n'
ODD = 'it\'s  $HOME `x` "y" \\ é #'


@pytest.fixture
def folder(isolated: Path) -> Path:
    """The folder of a pack that has one file, run.sh."""
    put(isolated / "pack" / "run.sh", 'echo "ran $*"\n').chmod(0o755)
    return isolated / "pack"


def in_protocol(pack: Pack, protocol: str) -> Pack:
    """The same pack with its hooks in another protocol."""
    changes: dict[str, Any] = {"is_run": True} if protocol == "claude" else {"is_run": False, "timeout": None}
    part = pack.parts[""]._replace(hooks=tuple(hook._replace(**changes) for hook in pack.hooks))
    return pack._replace(protocol=protocol, parts={**pack.parts, "": part})


def wants(pack: Pack, host: Host, files_text: str) -> tuple[list[Wanted], list[str]]:
    """What a pack of the protocol `host` wants."""
    wanted, notes = wants_of(in_protocol(pack, "host"), host, str.maketrans({"\0": files_text, "\2": ""}))
    return wanted, [text for text, _ in notes]


def pack_of(folder: Path, text: str | bytes) -> Pack:
    return load_file(str(put(folder / "notify.toml", text)))


def refused(folder: Path, text: str | bytes, code: str = "bad_pack") -> HookctlError:
    """The error of a pack with this text; every one names the file, and says what to do next."""
    with pytest.raises(HookctlError) as caught:
        pack_of(folder, text)
    error = caught.value
    assert (error.code, error.exit_code, error.path) == (code, UNREADABLE, str(folder / "notify.toml"))
    assert error.hint.endswith(".") and error.message.isprintable()
    return error


def command_of(pack: Pack, files_text: str = "/data/notify") -> str:
    """The command of its first hook on Claude Code."""
    return wants(pack, CLAUDE, files_text)[0][0].value["command"]


def run(command: str, shell: str = "/bin/sh", **environ: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", **environ}
    return subprocess.run([shell, "-c", command], capture_output=True, text=True, timeout=20, env=environ)


def test_the_size_of_a_pack_file_has_a_limit(folder: Path) -> None:
    text = HEAD + "#" * (64 * 1024 - len(HEAD))
    assert pack_of(folder, text)
    error = refused(folder, text + "#")
    assert ("64 KiB" in error.message, error.line, error.column) == (True, 1, 1)


REFUSED = {what: (document_of(text).decode(), document_of(said).decode()) for what, text, said in rows("packs-refused")}


@all_of("name", REFUSED)
def test_refused(folder: Path, name: str) -> None:
    text, said = REFUSED[name]
    error = refused(folder, text)
    lines = [number for number, line in enumerate(text.split("\n"), 1) if "#!" in line]
    assert error.line == (lines[0] if lines else 1), error
    assert error.column >= 1
    assert said in error.message, error


@pytest.mark.parametrize(("line", "column", "text"), rows("packs-places"))
def test_the_place_is_exact(folder: Path, line: str, column: str, text: str) -> None:
    for ending in (b"\n", b"\r\n"):
        error = refused(folder, document_of(text).replace(b"\n", ending))
        assert (error.line, error.column) == (int(line), int(column)), error


# What is hostile
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = " + "[" * 5_000 + "]" * 5_000, "nested"),
        ("x = {" + "a." * 20_000 + "a = 1}", "too many parts"),
        (HEAD + HOOK + "command = '" + '"$(' * 15_000 + "{host}'\n", "cannot be followed"),
        (HEAD + "description = 5" + "5" * 4_000, "description"),
        (HEAD + "[[hooks]]\n" * 3_000, "event"),
    ],
)
def test_a_hostile_file_is_refused_in_no_time(folder: Path, text: str, said: str) -> None:
    start = time.process_time()
    error = refused(folder, text)
    assert re.search(said, error.message)
    assert len(str(error)) < 500 and error.line and error.column
    assert time.process_time() - start < 20  # some take minutes, and gigabytes, if nothing bounds them


def test_files_are_read_with_their_bits_and_links_inside_are_followed(folder: Path) -> None:
    put(folder / "sub" / "config.json", b"\x00\xff")
    (folder / "link").symlink_to("sub")
    (folder / "link.sh").symlink_to(folder / "run.sh")
    text = HEAD + '[files]\ninclude = ["run.sh", "sub/config.json", "link/config.json", "link.sh", ".hidden"]\n'
    put(folder / ".hidden", "")
    found = pack_of(folder, text).contents
    program = b'echo "ran $*"\n'
    assert list(found.items()) == [
        ("run.sh", (program, True)),
        ("sub/config.json", (b"\x00\xff", False)),
        ("link/config.json", (b"\x00\xff", False)),
        ("link.sh", (program, True)),
        (".hidden", (b"", False)),
    ]


def spoil(folder: Path, kind: str) -> None:
    """Make run.sh something that no pack may bring."""
    path = folder / "run.sh"
    path.unlink()
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "large":
        path.touch()
        os.truncate(path, 16 * 1024 * 1024 + 1)
    elif kind != "gone":
        put(folder.parent / "outside.sh", "")
        targets = {"outside": "../outside.sh", "absolute": folder.parent / "outside.sh", "device": "/dev/null",
                   "loop": "run.sh", "outside and gone": "../gone.sh", "inside and gone": "gone.sh"}  # fmt: skip
        path.symlink_to(targets[kind])


SPOILT = {
    "gone": "does not exist", "folder": "not a regular file", "fifo": "not a regular file", "large": "16 MiB",
    "outside": "leads out", "absolute": "leads out", "device": "leads out", "outside and gone": "leads out",
    "inside and gone": "does not exist", "loop": "symbolic link loop",
}  # fmt: skip


@pytest.mark.parametrize("kind", SPOILT)
def test_a_file_that_no_pack_may_bring(folder: Path, kind: str) -> None:
    text = HEAD + FILES
    pack = pack_of(folder, text)
    spoil(folder, kind)
    with pytest.raises(HookctlError) as caught:
        pack_of(folder, text)
    error = caught.value
    assert (error.code, error.exit_code, error.line, error.column) == ("bad_pack", UNREADABLE, 5, 11)
    assert error.path == pack.source and "'run.sh'" in error.message and SPOILT[kind] in error.message


def test_a_folder_that_is_a_link_out_is_refused(folder: Path) -> None:
    put(folder.parent / "pack-2" / "run.sh", "")  # its path begins like that of the pack's folder
    (folder / "sub").symlink_to(folder.parent / "pack-2")
    error = refused(folder, HEAD + '[files]\ninclude = ["sub/run.sh"]\n')
    assert "leads out" in error.message


def test_the_files_of_a_pack_have_a_size_together(folder: Path) -> None:
    for number in range(5):
        put(folder / f"{number}", "")
        os.truncate(folder / f"{number}", 16 * 1024 * 1024)
    names = [f'"{number}"' for number in range(5)]
    assert pack_of(folder, HEAD + f"[files]\ninclude = [{', '.join(names[:4])}]\n")
    error = refused(folder, HEAD + "[files]\ninclude = [\n" + ",\n".join(names) + "]\n")
    assert (error.line, "'4'" in error.message) == (5, True)


@pytest.mark.parametrize("kind", ["gone", "outside"])
def test_a_file_that_is_swapped_while_it_is_read_is_not_installed(
    folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = packs.files.read

    def read(path: str) -> Any:
        if path == str(folder / "run.sh"):
            spoil(folder, kind)
        return real(path)

    monkeypatch.setattr(packs.files, "read", read)
    with pytest.raises(HookctlError, match="does not exist"):
        pack_of(folder, HEAD + FILES)


def host_with(**changes: Any) -> hosts.Host:
    """A host that is like Claude Code but for this."""
    return CLAUDE.varied(changes.pop("data", {}))._replace(title="Other", **changes)


@pytest.mark.parametrize("environment", [{"channel": "none"}, {"channel": "settings", "path": []}])
def test_a_host_without_an_env_channel_is_said_and_no_error(folder: Path, environment: dict[str, Any]) -> None:
    host = host_with(data={"environment": {"in_command": ".", **environment}})
    found, messages = wants(pack_of(folder, HEAD + '[env]\nA = "1"\nB = "2"\n'), host, "/x")
    assert (found, messages) == ([], ["it has no env channel: A, B is not set"])
    assert wants(pack_of(folder, HEAD), host, "/x") == ([], [])


def test_a_hosts_own_wishes_replace_by_id_and_key_and_others_add(folder: Path) -> None:
    env = '[env]\nA = "1"\nB = { value = "2", merge = "max" }\n'
    env += '[host.claude.env]\nC = "3"\nB = "4"\n[host.opencode.env]\nD = "5"\n'
    hooks = [
        pack_hook("stop", "common", id="done", timeout=5), pack_hook("pre-tool", "tools", matcher="Bash"),
        pack_hook("prompt", "elsewhere", hosts=["codex"]), hook_of("claude", "StopFailure", "added {event}"),
        hook_of("claude", "SubagentStop", "own {host} {event}", id="done"),
        hook_of("claude", "UserPromptSubmit", "here too", id="prompt"), hook_of("opencode", "x.y", "z"),
    ]  # fmt: skip
    pack = pack_of(folder, HEAD + env + "".join(hooks))
    found, messages = wants(pack, CLAUDE, "/x")
    assert messages == []
    assert [(want.path, want.value, want.merge) for want in found] == [
        (("hooks", "SubagentStop"), element("done", "own claude SubagentStop"), ""),
        (("hooks", "PreToolUse"), {**element("pre-tool", "tools"), "matcher": "Bash"}, ""),
        (("hooks", "StopFailure"), element("StopFailure", "added StopFailure"), ""),
        (("hooks", "UserPromptSubmit"), element("prompt", "here too"), ""),
        (("env", "A"), "1", ""),
        (("env", "B"), "4", ""),
        (("env", "C"), "3", ""),
    ]
    found, _ = wants(pack, host_with(name="codex"), "/x")
    assert [want.value["command"].partition("; ")[2] for want in found[:3]] == ["common", "tools", "elsewhere"]
    assert [(want.value, want.merge) for want in found[3:]] == [("1", ""), ("2", "max")]


def hook_of(host: str, event: str, command: str, **fields: str) -> str:
    """A hook that a pack has on this host alone."""
    return pack_hook(event, command, **fields).replace("[[hooks]]", f"[[host.{host}.hooks]]")


def element(id: str, command: str) -> dict[str, Any]:
    return {"type": "command", "command": f": hookctl=notify/{id}; {command}"}


def shells() -> list[str]:
    """The shells of this machine, each once."""
    found = filter(None, ["/bin/sh", shutil.which("bash"), shutil.which("dash")])
    return list({os.path.realpath(path): path for path in found}.values())


@pytest.mark.parametrize("shell", shells())
@pytest.mark.parametrize("name", ["plain", "two  words", ODD])
def test_the_command_runs_and_a_deleted_file_never_blocks(folder: Path, name: str, shell: str) -> None:
    pack = pack_of(
        folder, HEAD + FILES + HOOK + "command = 'sh {files}/run.sh {host} {event} ${host} \"a  b\"; exit 3'\n"
    )
    data = folder.parent / name
    put(data / "run.sh", pack.contents["run.sh"][0])
    command = command_of(pack, shlex.quote(str(data)))
    done = run(command, shell, host="variable")
    assert (done.returncode, done.stdout, done.stderr) == (3, "ran claude stop variable a  b\n", "")
    (data / "run.sh").unlink()
    done = run(command, shell)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (data / "run.sh").mkdir()
    assert run(command, shell).returncode == 0


@all_of("matcher", ["*", ""])
@all_of("host", hosts.names())
def test_a_matcher_for_all_tools_is_left_out(folder: Path, host: str, matcher: str) -> None:
    """Copilot and Hermes never run a hook with `*`, and Copilot none with an empty matcher."""
    pack = pack_of(folder, HEAD + f'[[hooks]]\nevent = "pre-tool"\ncommand = "true"\nmatcher = "{matcher}"\n')
    registered = [want.value for want in wants(pack, hosts.load(host), "")[0] if want.kind == "element"]
    assert all("matcher" not in fields for fields in registered)
    assert registered or "pre-tool" not in hosts.load(host).events


# A status, with a text or without, and what is left of it where a failing hook would refuse every call.
STATUSES = [("true", 0), ("exit 2", 2), ("exit 1", 0), ("exit 3", 0), ("no-such-program", 0), ("echo text; exit 3", 0)]


@pytest.mark.parametrize("shell", shells())
@pytest.mark.parametrize(("command", "status"), STATUSES)
@pytest.mark.parametrize(
    ("host", "event"),
    [("copilot", "pre-tool"), ("droid", "pre-tool"), ("gemini", "pre-tool"), ("gemini", "prompt"), ("gemini", "stop")],
)
def test_a_failing_command_refuses_nothing_and_status_2_does(
    folder: Path, host: str, event: str, command: str, status: int, shell: str
) -> None:
    pack = pack_of(folder, HEAD + f'[[hooks]]\nevent = "{event}"\ncommand = "{command}"\n')
    (want,) = [want for want in wants(pack, hosts.load(host), "")[0] if want.kind == "element"]
    text = want.value["command"]
    assert run(text, shell).returncode == status
    assert re.fullmatch(want.forms(), text), "hookctl knows it again"


@pytest.mark.parametrize("first", ["/home/u/x", "/home/u/a b", ODD, '"$CLAUDE_PROJECT_DIR"/.hookctl/packs/notify'])
@pytest.mark.parametrize("second", ["/elsewhere", "it's"])
def test_forms_match_what_was_written_for_any_folder(folder: Path, first: str, second: str) -> None:
    text = HEAD + FILES + HOOK + "command = 'cat {files}/run.sh {files} {host}* \"(a|b)\"'\n"
    quoted = first if first.startswith('"') else shlex.quote(first)
    pack = pack_of(folder, text)
    here, there = command_of(pack, quoted), command_of(pack, shlex.quote(second))
    for want in (wants(pack, CLAUDE, quoted)[0][0], wants(pack, CLAUDE, shlex.quote(second))[0][0]):
        assert re.fullmatch(want.forms(), here) and re.fullmatch(want.forms(), there)
        assert not re.fullmatch(want.forms(), here.replace("cat ", "rm "))
        assert not re.fullmatch(want.forms(), here + "; rm x")
        assert not re.fullmatch(want.forms(), here.replace(quoted, "$(rm x)"))
        assert not re.fullmatch(want.forms(), here.replace(quoted, "/other", 1)), "one folder throughout"


# Blanks, quotes and whatever else a folder may be called; the whole must stay one word, wherever it stands.
FOLDERS = st.text("a $'\"\\`*}{#;&é", min_size=1, max_size=8)
ATOMS = st.sampled_from(
    [*"a \"'\\)`}#$({", *["{files}"] * 2, "{host}", "${host}", "$(printf %s ", '"$(printf %s ', "$(", "${x:-"]
)


def filled(command: str, path: str) -> str:
    """The command for a pack whose files lie there, without its head."""
    pack = Pack("p", "1", parts={"": Part(hooks=(PackHook("x", "stop", command),))})
    return command_of(pack, shlex.quote(path)).removeprefix(": hookctl=p/x; ")


def words(command: str, shell: str) -> str:
    """What sh makes of the words; without splitting and patterns, which are the author's own business."""
    done = run(f"set -f; IFS=; x=; y=k; printf '<%s>' {command}", shell, PATH="/nowhere")
    return done.stdout if done.returncode == 0 else ""


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.lists(ATOMS, min_size=1, max_size=14).map("".join), FOLDERS)
def test_what_is_taken_for_outside_is_outside_for_sh_too(command: str, name: str) -> None:
    try:
        found = list(slots(command))
        assume(not any(slot.inside or set(slot.name) == {"a"} for slot in found))
        assume("$$" not in command and "${$" not in command)
    except Unreadable:
        assume(False)
    plain = words(filled(command, "/p/q"), "/bin/sh")
    assume(plain)
    assert words(filled(command, f"/p/{name}"), "/bin/sh") == plain.replace("/p/q", f"/p/{name}")


# The schema and the guide
def guide() -> list[str]:
    """The packs that the guide for authors shows."""
    text = (Path(__file__).parents[1] / "docs" / "packs.md").read_text()
    return re.findall(r"^```toml\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_packs_of_the_guide_are_packs(folder: Path) -> None:
    shown = [text for text in guide() if "[[cases]]" not in text]
    assert len(shown) >= 2
    put(folder / "notify.sh", "")
    put(folder / "hook.py", "")
    for text in shown:
        pack_of(folder, text if "[pack]" in text else HEAD + '[files]\ninclude = ["notify.sh"]\n' + text)


# A value of the wrong type, at any key of a pack, is an error with its line.
# One key a line. A line of a table inside another has its dots.
PACK = (Path(__file__).parent / "rows" / "pack-of-every-key.txt").read_text()
LINES = PACK.splitlines()
KEYS = [number for number, line in enumerate(LINES) if " = " in line]
TABLES = [
    "pack", "files", "rules", "env", "env.B", "host", "host.claude", "host.claude.env", "host.claude.hooks", "hooks",
]  # fmt: skip
VALUES = [
    "7", "1.5", "inf", "99999999999999999999", "true", "1979-05-27", "07:32:00", "'?'", "''", "[]", "[7]", "[[7]]",
    "[{}]", "[true, true]", "{}", "{ a = 7 }", "{ value = 7 }",
]  # fmt: skip


def outcomes(lines: list[str], number: int, key: str) -> dict[str, tuple[int, int | None]]:
    """With each of the values at a line: the exit status, and the line of the error."""
    found: dict[str, tuple[int, int | None]] = {}
    for value in VALUES:
        path = put(Path("own.toml"), "\n".join([*lines[:number], f"{key} = {value}", *lines[number + 1 :]]) + "\n")
        try:
            load_file(str(path.absolute()))
            found[value] = 0, None
        except HookctlError as error:
            found[value] = error.exit_code, error.line
    return found


@pytest.mark.parametrize("number", KEYS, ids=lambda number: f"{number + 1} {LINES[number].split(' =')[0]}")
def test_a_value_of_a_wrong_type(number: int) -> None:
    put(Path("a.sh"), "")
    key = LINES[number].split(" = ")[0]
    found = outcomes(LINES, number, key)
    refused = [value for value, (code, _) in found.items() if code]
    assert {found[value] for value in refused} == {(4, number + 1)}
    assert len(refused) >= 14, "one type is right"


@pytest.mark.parametrize("table", TABLES)
def test_a_value_in_place_of_a_table(table: str) -> None:
    put(Path("a.sh"), "")
    head = [] if table == "pack" else ['pack = { name = "own", version = "1" }']
    found = outcomes([*head, ""], len(head), table)
    refused = [value for value, (code, _) in found.items() if code]
    assert {found[value] for value in refused} == {(4, len(head) + 1)}
    assert len(refused) >= 14, "one type is right"


# A name in a pack that stands for nothing is an error with its line.
HEAD_OF_BELL = '[pack]\nname = "bell"\nversion = "1"\n'
ITS_FILES = '[files]\ninclude = ["ring.sh", "lib/tones.py"]\n'


def load(folder: Path, text: str) -> None:
    put(folder / "ring.sh", "echo\n")
    put(folder / "lib" / "tones.py", "\n")
    load_file(str(put(folder / "pack.toml", text)))


@pytest.mark.parametrize(("text", "line", "message", "nearest"), rows("packs-with-slips"))
def test_a_name_that_stands_for_nothing(isolated: Path, text: str, line: str, message: str, nearest: str) -> None:
    with pytest.raises(HookctlError) as raised:
        load(isolated / "work", HEAD_OF_BELL + ITS_FILES + document_of(text).decode())
    assert raised.value.code == "bad_pack"
    assert message in raised.value.message
    assert raised.value.line == int(line)
    assert nearest in raised.value.hint


@pytest.mark.parametrize(
    "command",
    [
        "sh {files}/ring.sh > {files}/log >>{files}/more",
        "PYTHONPATH={files}/lib:{files} python3 {files}/lib/tones.py",
        "sh {files}/$NAME; sh {files}/*.sh",
        "git log HEAD@{upstream} '{file}' \"{name}\" ${file} %{size}",
        "find . -exec cat {} +; { true; }; echo ${A:-{b}}",
        "ls {files}/ {files}/./ring.sh",
    ],
)
def test_what_a_shell_or_another_program_means(isolated: Path, command: str) -> None:
    load(isolated / "work", f"{HEAD_OF_BELL}{ITS_FILES}{HOOK}command = '''{command}'''\n")


@pytest.mark.parametrize("host", hosts.names())
def test_variables_that_move_a_host_are_asked_for(host: str) -> None:
    named = hosts.load(host)
    places = [*named.folder_trust.switch.get("files", ()), *named.trust.unasked.get("files", ())]
    gates = [place[1:] for place in places if place.startswith("$")]
    folders = [named.config.variable, named.environment.project]
    free = [name for name in [*folders, *gates] if name and not is_risky(name)]
    assert not free


# The digest of what a pack brings: the same for the same, and another for anything else.
BROUGHT = [
    (b"", {}), (b"a", {}), (b"", {"a": b""}), (b"", {"": b"a"}), (b"a", {"b": b"c"}), (b"ab", {"": b"c"}),
    (b"a", {"bc": b""}), (b"a", {"b": b"", "c": b""}), (b"0:1:", {}), (b"", {"x\udc80": b"a"}),
]  # fmt: skip


def test_no_part_is_taken_for_another() -> None:
    assert len({content_digest(manifest, files) for manifest, files in BROUGHT}) == len(BROUGHT)


def test_the_order_of_files_does_not_count() -> None:
    assert content_digest(b"m", {"a": b"1", "b": b"2"}) == content_digest(b"m", {"b": b"2", "a": b"1"})


# What an operator can choose for the guard, and what becomes of an earlier choice.
@pytest.mark.parametrize(("first", "second", "mode", "chosen"), rows("choices"))
def test_a_choice_goes_on_top_of_the_earlier_ones(
    isolated: Path, hookctl: Hookctl, first: str, second: str, mode: str, chosen: str
) -> None:
    for options in (first, second):
        assert hookctl("install", "--host", "claude", *shlex.split(options)).code in (0, 1)
    path = isolated / "data" / "guard" / "claude.json"
    config = json.loads(path.read_text()) if path.exists() else {"mode": "off"}
    assert config["mode"] == mode
    assert {name: config.get(name) for name in json.loads(chosen)} == json.loads(chosen)
    assert hookctl("install", "--host", "claude").out == "nothing to do\n"
