"""What install writes for every host, word for word; that it has the documented shape, and that uninstall undoes it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest

from hookctl import hosts
from hookctl.documents.formats import PROGRAMS
from hookctl.documents.jsonc import current_code
from hookctl.packs import guard
from hookctl.settings.targets import Target
from tests import screens
from tests.conftest import Hookctl, put
from tests.documents import judge
from tests.hostfiles import KINDS, Kind
from tests.made_by_0_2_0 import CASES, TOP, Hook, registered, said
from tests.manifest import hook as pack_hook
from tests.manifest import manifest
from tests.texts import all_of
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

GOLDEN = Path(__file__).parent / "golden"
WRITE = os.environ.get("HOOKCTL_TEST_GOLDEN") == "write"
PYTHON = "/usr/bin/python3"
PACK = str(GOLDEN / "pack")
USUAL_MODE = ("keepalive", ("--mode", "keepalive"))
MODES = {  # where it is another
    "antigravity": ("nudge-dispatch", ("--nudge", "report", "--dispatch", "run_command:3/60")),
    "claude": ("nudge-dispatch", ("--nudge", "report", "--dispatch", "Task:3/60", "--dispatch", "mcp__a.b")),
    "copilot": ("nudge-dispatch", ("--nudge", "report", "--dispatch", "bash:3/60")),
    "droid": ("guard", ("--mode", "guard")),
    "gemini": ("nudge-dispatch", ("--nudge", "report", "--dispatch", "run_shell_command:3/60")),
    "opencode": ("nudge-dispatch", ("--nudge", "report", "--dispatch", "bash:3/60")),
    "openhands": ("nudge-dispatch", ("--nudge", "report", "--dispatch", "terminal:3/60")),
    "pi": ("nudge-dispatch", ("--nudge", "report", "--dispatch", "bash:3/60")),
    "openhands-wrapped": ("guard", ("--mode", "guard")),
}


class Case(NamedTuple):
    """An install, and the golden file with what it writes."""

    kind: Kind
    scope: str
    name: str
    options: tuple[str, ...] = ()
    theirs: bool = False

    @property
    def golden(self) -> Path:
        return GOLDEN / self.kind.name / f"{self.scope}{self.name}.{self.kind.suffix}"


def theirs(kind: Kind) -> Path:
    return GOLDEN / kind.name / f"theirs.{kind.suffix}"


def cases() -> Iterator[Case]:
    for kind in KINDS:
        mode, options = MODES.get(kind.name, USUAL_MODE)
        for scope in kind.files:
            if theirs(kind).exists():
                yield Case(kind, scope, "-theirs", theirs=True)
            if not kind.seed:
                yield Case(kind, scope, "")
            yield Case(kind, scope, "-pack", (PACK,), theirs=bool(kind.seed))
        yield Case(kind, "user", f"-{mode}", options, theirs=bool(kind.seed))


WRITTEN = list(cases())
EACH = pytest.mark.parametrize("case", WRITTEN, ids=lambda case: f"{case.kind.name}-{case.scope}{case.name}")


CODE = "// From here on every file"  # of a plugin: what stands behind is the same in all
SETTINGS = "const settings =\n"


def readable(text: str, isolated: Path) -> str:
    """The text with words for the paths of this run, and without a plugin's code."""
    text, _, code = text.partition(CODE)
    if code:
        host = next(host for host in PROGRAMS.values() if f" {hosts.load(host).title} loads this file" in text)
        assert current_code(host)[1] == CODE + code
    data = re.escape(str(isolated / "data"))
    text = re.sub(rf"{data}/hook\.py", "HOOK", text)
    text = re.sub(rf"{data}/packs/tidy", "FILES", text)
    text = re.sub("-local-[0-9a-f]{16}", "-local-HASH", text)
    return text.replace(PYTHON, "PYTHON").replace(str(isolated / "state"), "STATE")


def compare(golden: Path, text: str) -> None:
    if WRITE:
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(text.encode())
    assert text == golden.read_bytes().decode(), f"{golden} says something else"


def seen(isolated: Path) -> dict[str, tuple[object, ...]]:
    """Everything of the operator's: modes and bytes, without the times."""
    everything = {name: (about[0], about[2]) for name, about in tree(isolated).items()}
    return {name: about for name, about in everything.items() if not name.startswith("state")}


@EACH
def test_install_writes_the_golden_file_and_uninstall_undoes_it(case: Case, isolated: Path, hookctl: Hookctl) -> None:
    path = case.kind.path(isolated, case.scope)
    (isolated / "work" / ".git").mkdir()
    if case.theirs:
        put(path, theirs(case.kind).read_bytes()).chmod(0o644)
    before = seen(isolated)
    place = ("--host", case.kind.host, "--scope", case.scope)
    done = hookctl("install", *case.options, *place)
    assert done.code == 0, done
    compare(case.golden, readable(path.read_text(), isolated))
    for config in isolated.glob("*/**/guard/*.json"):  # the hook's own, beside the hook
        compare(case.golden.with_suffix(".config"), readable(config.read_text(), isolated))
    assert path.stat().st_mode & 0o777 == (0o644 if case.theirs or case.scope == "project" else 0o600)
    assert "nothing to do" in hookctl("install", *case.options, *place).out
    pack = ("tidy",) if PACK in case.options else ()
    assert hookctl("uninstall", *pack, *place).code == 0
    assert seen(isolated) == before


def value(kind: Kind, data: bytes) -> Any:
    """The parsed file, by something that is not hookctl wherever that is possible."""
    if kind.format == "json":
        return judge.value_of(judge.read("json", data.decode()))
    if kind.format == "toml":
        return tomllib.loads(data.decode())
    if kind.format in PROGRAMS:
        return judge.value_of(judge.read("json", data.decode().partition(SETTINGS)[2]))
    from hookctl.documents import formats

    return formats.parse(kind.format, data).value


def documented(kind: Kind) -> Any:
    schema = json.loads((GOLDEN / "shapes" / f"{kind.name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@EACH
def test_what_is_written_has_the_documented_shape(case: Case) -> None:
    schema = documented(case.kind)
    schema.validate(value(case.kind, case.golden.read_bytes()))
    if case.theirs:
        schema.validate(value(case.kind, theirs(case.kind).read_bytes()))


@EACH
def test_no_command_of_ours_has_a_variable_but_the_hosts_own(case: Case) -> None:
    """Some hosts expand those of any settings string; Codex has none of its own, and expands nothing.

    `$?` is the shell's, and no host takes it for one.
    """
    project = hosts.load(case.kind.host).data.get("environment").get("project", "")
    own = {"$", "$d", "$p"} if case.kind.host == "codex" else {f"${project}"} if project else set()
    text = case.golden.read_text()
    commands = re.findall(r": hookctl=(?:guard|tidy)/[^\n]*", text)
    assert commands
    for command in commands:
        assert set(re.findall(r"\$(?!\?)\w*", command)) <= (own if case.scope == "project" else set()), command


# The commands that install registers, on every host and scope: short, and harmless whatever becomes of their files.
PLACES = [
    (host, scope) for host in hosts.names() for scope in ("user", "project", "local") if scope in hosts.load(host).files
]
QUIET = ("gemini", "qwen")  # they take what a hook says on stderr for an answer
BELL = manifest("bell", pack_hook("PreToolUse", "echo '{}'", matcher="Bash", id="look", on_failure="deny"))


@pytest.fixture(params=PLACES, ids="-".join)
def place(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param


@pytest.fixture
def commands(place: tuple[str, str], isolated: Path, hookctl: Hookctl) -> list[Hook]:
    """The commands of the guard, with all its events, and of a pack."""
    host, scope = place
    put(isolated / "bell" / "pack.toml", BELL)
    put(isolated / "work" / ".git" / "HEAD", "ref: refs/heads/main\n")
    for pack in ([], [str(isolated / "bell")]):
        more = [] if pack else ["--nudge", "report", "--dispatch", "*"]
        done = hookctl("install", *pack, "--host", host, "--scope", scope, *more)
        assert done.code in (0, 1), done.err
    found = registered(hookctl("status", "--all", "--json").out)
    assert {hook.name.split()[1] for hook in found} == {scope}
    assert any("guard/" in hook.name for hook in found)
    return found


def lay_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


FATES: dict[str, Callable[[Path], object]] = {
    "deleted": Path.unlink,
    "a folder": lay_folder,
    "unreadable": lambda path: path.chmod(0),
    "broken": lambda path: path.write_text("raise SystemExit(2)"),
    "without Python": lambda path: None,
}


def test_whatever_becomes_of_its_files_the_host_sees_nothing(
    place: tuple[str, str], commands: list[Hook], isolated: Path
) -> None:
    shell = ("dash", "bash")[PLACES.index(place) % 2]
    program, work = shutil.which(shell), isolated / "work"
    if program is None:
        pytest.skip(f"there is no {shell}")
    names = {hosts.load(host).environment.project for host, _ in PLACES} - {""}
    environ = {**os.environ, **dict.fromkeys(names, str(work)), "PATH": "/usr/bin:/bin"}
    payload = json.dumps({"session_id": "s", "cwd": str(work), "tool_name": "Bash", "tool_input": {"command": "true"}})
    launchers = [path for root in (isolated / "data", work / ".hookctl") for path in root.rglob("hook.py")]
    assert launchers
    for fate, befall in FATES.items():
        if fate == "unreadable" and os.geteuid() == 0:
            continue
        texts = {path: path.read_bytes() for path in launchers}
        for path in launchers:
            befall(path)
        for name, _, command in commands:
            if fate == "without Python":
                environ["PATH"], command = f"{isolated}/no", command.replace("/usr/bin/python3", "/no/python3")
            done = subprocess.run(
                [program, "-c", command], input=payload, cwd=work, env=environ, capture_output=True, text=True,
                timeout=20,
            )  # fmt: skip
            assert (done.returncode, done.stdout) == (0, ""), (name, fate)
            assert done.stderr == "" if name.split()[0] in QUIET else fate == "broken" or done.stderr, (name, fate)
        for path, text in texts.items():
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            path.write_bytes(text)


OLD = [(case, hook) for case in CASES for hook in said(case)[0] if " guard/" in hook.name]


@all_of(("case", "hook"), OLD)
def test_a_command_of_0_2_0_is_known_word_for_word_and_an_edit_of_it_is_none(case: str, hook: Hook) -> None:
    name, scope, id = hook.name.split()
    project = "" if scope == "user" else str(TOP / case / "project")
    target = Target(hosts.load(name), scope, "/settings", project)
    edits = [hook.command + " ", hook.command.replace(" -S ", " ", 1), hook.command.replace(" -S ", " -S /tmp", 1)]
    for command, is_ours in [(hook.command, True), *((edit, False) for edit in edits)]:
        if "wrap-" in id:
            assert (guard.original_of(command) is not None) == is_ours
            continue
        assert bool(guard.config_path(command, id, id.partition("/")[2], target)) == is_ours
        assert scope != "project" or guard.is_shared_command(command, id, target) == is_ours


# Every command at a real terminal, in tests/screens/: nothing is wider than it, and the files are fresh.
# What people look at whole, or copy: commands, diffs, and text for another file.
_WHOLE = ("$ ", "+", "-", "@", "  in hooks.")


@pytest.mark.parametrize("kind", screens.KINDS)
def test_the_first_hour_looks_as_in_its_file(kind: str) -> None:
    """`python -m tests.screens --write` takes it anew; look at the difference."""
    assert screens.play(kind) == (screens.FOLDER / f"{kind}.txt").read_text()


@pytest.mark.parametrize("kind", screens.KINDS)
def test_every_line_fits(kind: str) -> None:
    columns = int(kind.partition("-")[0])
    lines = (screens.FOLDER / f"{kind}.txt").read_text().splitlines()
    shown = [screens.visible(line) for line in lines]
    assert [line for line in shown if len(line) > columns and not line.startswith(_WHOLE)] == []


def test_colours_say_nothing_that_words_do_not() -> None:
    coloured, plain = ((screens.FOLDER / f"{kind}.txt").read_text() for kind in ("80", "80-plain"))
    assert "<green>" in coloured and "<" not in plain.replace("<project>", "").replace("<(", "")
    symbols = {"✓ ": "ok    ", "! ": "warn  ", "✗ ": "error ", "- ": "skip  "}
    marks = [line[:2] for line in map(screens.visible, coloured.splitlines()) if line[:2] in symbols]
    words = [line[:6] for line in plain.splitlines() if line[:6] in symbols.values()]
    assert [symbols[mark] for mark in marks][: len(words)] == words and len(words) > 5
