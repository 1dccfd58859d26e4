"""Broken and hostile settings files of every host: refused with their place, and nothing is written anywhere."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents.jsonc import current_code
from hookctl.masking import MASK
from hookctl.packs import choices
from hookctl.packs.choices import PRESETS, schema
from hookctl.system import guard_module
from tests.conftest import Hookctl, Outcome, put
from tests.documents.table import document_of
from tests.hostfiles import BY_NAME, KINDS, Kind
from tests.texts import rows
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

GOOD = json.dumps({"model": "m"})
SEED = '[[hooks]]\n{event} = "{name}"\nname = "mine"\ncommand = "bell"\n'


def nested(path: tuple[str, ...], value: Any) -> Any:
    """A document with the value at this path."""
    for key in reversed(path):
        value = {key: value}
    return value


def handler(kind: Kind) -> Any:
    one = {"type": "command", "command": "bell"}
    return one if kind.flat else {"hooks": [one]}


Broken = Iterator[tuple[str, bytes, tuple[int, int]]]


def json_files(kind: Kind) -> Broken:
    """What is wrong, the file, and the line and column of it; the rest is in tests/documents and in the corpus."""
    good = json.dumps(kind.document([handler(kind)]), indent=2) + "\n"
    stop, depth = kind.stop, len(kind.stop)
    yield "torn", good[: good.index("bell")].encode(), (good[: good.index("bell")].count("\n") + 1, 0)
    yield "array at the root", b"[]\n", (1, 1)
    yield "UTF-16", good.encode("utf-16"), (1, 1)
    if kind.event:
        for what, value in (("a map", {stop[-1]: []}), ("null", None)):
            yield f"the list is {what}", json.dumps(nested(stop[:-1], value), indent=2).encode(), (depth, 0)
    else:
        for what, value in (("an object", {"hooks": []}), ("null", None)):
            yield f"event is {what}", json.dumps(nested(stop, value), indent=2).encode(), (depth + 1, 0)
        row = good.splitlines()[depth]
        yield "the event twice", good.replace(row, f'"{stop[-1]}": [], {row.strip()}').encode(), (depth + 1, 0)
    if depth > 1 and not kind.event:
        yield "events are a list", json.dumps(nested(stop[:-1], []), indent=2).encode(), (2, 0)
    if not kind.comments:
        yield "a comment", good.replace("\n", " // mine\n", 1).encode(), (1, 3)
    if not kind.byte_order_mark:
        yield "a byte order mark", b"\xef\xbb\xbf" + good.encode(), (1, 1)


def toml_files(kind: Kind) -> Broken:
    good = (kind.seed or SEED.format(event=kind.event, name=kind.stop[-1])) + '\n[features]\nweb_search = "yes"\n'
    table = kind.stop[0] if kind.event else ".".join(kind.stop)
    yield "torn", good[: good.index("ell")].encode(), (4, 0)
    yield "the list is a table too", (good + f"[{table}]\nx = 1\n").encode(), (good.count("\n") + 1, 0)


def plugin_files(kind: Kind) -> Broken:
    """Programs at the place of ours that are not ours, or not ours any more."""
    good = "{}\n".join(current_code(kind.host))
    head, mark, code = good.partition("const settings =\n")
    _, end, code = code.partition("// From here on")
    text = '{\n  "hooks": {\n    "EVENT": {}\n  }\n}\n'.replace("EVENT", kind.stop[-1])
    yield "another's", b"export const Mine = async () => ({})\n", (1, 1)
    yield "changed", good.replace("SIGKILL", "SIGTERM").encode(), (0, 0)
    yield "event is an object", (head + mark + text + end + code).encode(), (head.count("\n") + 4, 0)


def yaml_files(kind: Kind) -> Broken:
    good = 'model: m\nhooks:\n  pre_verify:\n    - command: "bell"\n'
    yield "torn", good[: good.index("ell")].encode(), (0, 0)
    yield "event is an object", good.replace("- command", "command").encode(), (4, 0)
    yield "events are a list", b"model: m\nhooks:\n  - pre_verify\n", (3, 0)
    yield "the events twice", (good + "hooks: {}\n").encode(), (5, 1)


FILES: dict[str, Callable[[Kind], Broken]] = {
    "json": json_files,
    "toml": toml_files,
    "plugin": plugin_files,
    "extension": plugin_files,
    "yaml": yaml_files,
}


def broken() -> Iterator[Any]:
    for kind in KINDS:
        for what, data, place in FILES[kind.format](kind):
            yield pytest.param(kind, data, place, id=f"{kind.name}-{what}")


BROKEN = list(broken())
EACH = pytest.mark.parametrize(("kind", "data", "place"), BROKEN)


def require_refused(done: Outcome, path: Path, place: tuple[int, int]) -> None:
    assert done.code == 4, done
    (error,) = done.result["errors"]
    assert error["path"] == str(path) and error["hint"] and error["message"]
    line, column = place
    assert error["line"] == line if line else error["line"] > 0
    assert error["column"] == column if column else error["column"] > 0


@EACH
def test_a_broken_file_is_refused_with_its_place_and_nothing_is_written(
    kind: Kind, data: bytes, place: tuple[int, int], isolated: Path, hookctl: Hookctl
) -> None:
    path = put(kind.path(isolated, "user"), data)
    before = tree(isolated)
    require_refused(hookctl("install", "--host", kind.host, "--json"), path, place)
    said = hookctl("install", "--host", kind.host, "--force")
    assert said.code == 4 and str(path) in said.err and "Traceback" not in said.err
    assert tree(isolated) == before


INSIDE = [kind for kind in KINDS if "project" in kind.files]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_file_that_is_torn_after_the_install_is_left_alone_by_uninstall(
    kind: Kind, isolated: Path, hookctl: Hookctl
) -> None:
    path = kind.path(isolated, "user")
    if kind.seed:
        put(path, kind.seed)
    assert hookctl("install", "--host", kind.host).code == 0
    data = path.read_bytes()
    put(path, data[: data.index(b": hookctl=")])
    before = tree(isolated)
    for verb in ("uninstall", "install"):
        done = hookctl(verb, "--host", kind.host, "--json")
        assert (done.code, done.result["errors"][0]["path"]) == (4, str(path)), done
        assert done.result["errors"][0]["line"] > 0
    assert tree(isolated) == before
    put(path, data)
    assert hookctl("uninstall", "--host", kind.host).code == 0


# Things that are no file
Make = Callable[[Path, Path], None]


def a_file_elsewhere(path: Path, outside: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(put(outside / path.name, "{}"))


def a_folder_elsewhere(path: Path, outside: Path) -> None:
    put(outside / path.name, "{}")
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.symlink_to(outside)


def nothing_elsewhere(path: Path, outside: Path) -> None:
    outside.mkdir()
    path.parent.mkdir(parents=True)
    path.symlink_to(outside / "new.json")


def a_file_in_git(path: Path, outside: Path) -> None:
    path.parent.mkdir(parents=True)
    path.symlink_to(os.path.relpath(path.parents[1] / ".git" / "config", path.parent))


LEAVING = [a_file_elsewhere, a_folder_elsewhere, nothing_elsewhere, a_file_in_git]


IN_TURN = [*zip([kind for kind in INSIDE if kind.name != "codex-config"], itertools.cycle(LEAVING), strict=False)]


@pytest.mark.parametrize(("kind", "make"), IN_TURN, ids=[f"{kind.name}-{make.__name__}" for kind, make in IN_TURN])
def test_a_link_out_of_the_project_is_refused(kind: Kind, make: Make, isolated: Path, hookctl: Hookctl) -> None:
    (isolated / "work" / ".git").mkdir()
    path = kind.path(isolated, "project")
    make(path, isolated / "outside")
    other = put(BY_NAME["claude"].path(isolated, "project"), GOOD) if kind.host != "claude" else None
    before = tree(isolated)
    hosts = (*(("--host", "claude") if other else ()), "--host", kind.host)
    for force in ((), ("--force",)):
        done = hookctl("install", *hosts, "--scope", "project", "--json", *force)
        assert (done.code, done.result["errors"][0]["code"]) == (4, "link_leaves_project"), done
        assert done.result["errors"][0]["path"] == str(path)
    assert tree(isolated) == before


# A project's own configuration names nothing outside the project: to the hook, and to every command that reads it.
SECRET = "hunter2-of-the-person"
FOREIGN = {"remaining": 7, "heartbeat": SECRET, "password": SECRET, "owner": SECRET}
CONFIG = Path(".hookctl/guard/claude.json")
# Settings of the schema that hold texts or names of tools, and so lead nowhere.
TEXTS = {"reason", "release_reason", "nudge_reason", "dispatch_reason", "guidance_text"}
TEXTS |= {"required_tools", "dispatch_tools"}

ATTACKS: dict[str, dict[str, Any]] = {name: json.loads(document_of(text)) for name, text in rows("attacks")}
UNREADABLE = ("odd types", "no path at all", "a host's variables")  # of which other findings tell


@pytest.fixture
def victim(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with its own guard, and a person's file beside it that a variable names."""
    (isolated / "work" / ".git").mkdir()
    path = put(isolated / "out" / "victim.json", json.dumps(FOREIGN))
    put(isolated / "work/.git/victim.json", json.dumps(FOREIGN))
    (isolated / "work" / "linked").symlink_to(isolated / "out")
    (isolated / "work" / "victim-link").symlink_to(path)
    monkeypatch.setenv("CREDENTIALS", str(path))
    monkeypatch.setenv("SECRET", SECRET)
    monkeypatch.setenv("ELSEWHERE", str(isolated / "out"))
    return path


def commit(config: dict[str, Any], isolated: Path) -> None:
    """Change the committed configuration."""
    text = json.dumps({**json.loads(CONFIG.read_text()), **config})
    CONFIG.write_text(text.replace("OUT", str(isolated / "out")))


def stop(isolated: Path, **fields: Any) -> str:
    payload = {"session_id": "S1", "cwd": os.getcwd(), "hook_event_name": "Stop", "stop_hook_active": False, **fields}
    environ = {**os.environ, "CLAUDE_PROJECT_DIR": os.getcwd()}
    call = [sys.executable, "-I", "-S", str(Path(".hookctl/hook.py").resolve()), "stop", "--host", "claude"]
    done = subprocess.run(call, input=json.dumps(payload), capture_output=True, text=True, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


COMMANDS = (
    ("run", "status"), ("run", "status", "--json"), ("run", "remaining", "3"), ("run", "heartbeat"), ("run", "start"),
    ("run", "conclude"), ("run", "stop"), ("run", "release"), ("run", "wait", "--timeout", "0s"), ("status",),
    ("doctor",), ("check",), ("check", "--require", "guard"), ("supervise", "--", "true"), ("upgrade", "--dry-run"),
)  # fmt: skip


@pytest.mark.parametrize("ledger", ["committed", "gone"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_is_read_or_written_outside(
    victim: Path, hookctl: Hookctl, isolated: Path, attack: str, ledger: str
) -> None:
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    commit(ATTACKS[attack], isolated)
    commands = COMMANDS
    if ledger == "gone":
        Path(".hookctl/ledger.json").unlink()
        commands = (("run", "status"), ("run", "remaining", "3"), ("status",), ("doctor",))
    before = files_below(isolated / "out") | files_below(isolated / "work" / ".git")
    for command in commands:
        outcome = hookctl(*command)
        assert SECRET not in outcome.out + outcome.err, command
        assert outcome.code != 3
    assert hookctl("run", "start", "--remaining", "3").code == 0
    said = stop(isolated)
    assert SECRET not in said
    assert '"block"' in said, "the project's own task counts"
    assert files_below(isolated / "out") | files_below(isolated / "work" / ".git") == before
    assert sorted(os.listdir(isolated / "out")) == ["victim.json"]


@pytest.mark.parametrize("attack", [name for name in ATTACKS if name not in UNREADABLE])
def test_doctor_and_check_name_the_setting(victim: Path, hookctl: Hookctl, isolated: Path, attack: str) -> None:
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    commit(ATTACKS[attack], isolated)
    named = [name for name in ATTACKS[attack] if name not in ("task_fields", "reason", "release_reason")]
    for command in ("doctor", "check"):
        found = hookctl(command, "--json").data["findings"]
        said = [finding["message"] for finding in found if "not the project's" in finding["message"]]
        assert sorted(message.split()[0] for message in said) == sorted(named)


# Where a project's configuration, or a variable that its settings set, wants hookctl to write.
PRIVATE = (
    ".claude/settings.local.json", ".claude/settings.json", ".hookctl/ledger.json", ".hookctl/guard/claude.json",
    "notes.json",
)  # fmt: skip
WAYS: dict[str, dict[str, Any]] = {
    "a task file": {"task_file": "FILE"},
    "one of a list": {"task_file": "gone.json:FILE"},
    "in a run folder around it": {"run_dir": "FOLDER", "task_file": "FILE"},
    "the run folder itself": {"run_dir": "FOLDER"},
    "another name of it": {"task_file": "./FILE"},
}


@pytest.mark.parametrize(
    ("name", "way", "through"),
    [
        (name, way, ("configuration", "variables")[(i + j) % 2])
        for i, name in enumerate(PRIVATE) for j, way in enumerate(WAYS)
    ],
)  # fmt: skip
def test_hookctl_writes_nothing_but_a_runs_own_files(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: str, through: str
) -> None:
    (isolated / "work" / ".git").mkdir()
    put(Path(".claude/settings.local.json"), "{}")
    put(Path("notes.json"), "{}")
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    text = json.dumps(WAYS[way]).replace("FILE", name).replace("FOLDER", os.path.dirname(name) or ".")
    if through == "configuration":
        commit(json.loads(text), isolated)
    else:
        for setting, value in json.loads(text).items():
            monkeypatch.setenv(f"HOOKCTL_{setting.upper()}", value)
    before = files_below(Path())
    for command in (("remaining", "2"), ("heartbeat",), ("start", "--remaining", "2"), ("stop",), ("conclude",)):
        assert hookctl("run", *command).code in (0, 1)
    after = files_below(Path())
    assert {path: after.get(path) for path in before} == before
    new = set(after) - set(before)
    assert {os.path.basename(path) for path in new} <= {"task.json", "STOP", "CONCLUDE", "OWNER", ".gitignore"}
    if through == "configuration":
        assert not [path for path in new if path.startswith(".hookctl/guard")]


@pytest.mark.parametrize("layer", ["person", "project"])
def test_a_projects_variables_name_no_variable_that_leads_out(
    victim: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, layer: str
) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    env = {"HOOKCTL_TASK_ENV": "CREDENTIALS", "HOOKCTL_TASK_FIELDS": "remaining=remaining"}
    put(Path(".claude/settings.json"), json.dumps({"env": env}))
    if layer == "project":
        monkeypatch.delenv("CREDENTIALS")
        put(Path(".claude/settings.local.json"), json.dumps({"env": {"CREDENTIALS": str(victim)}}))
    outcome = hookctl("doctor", "--json")
    assert "victim.json" not in json.dumps(outcome.data["findings"])
    assert "work waits" not in outcome.out


def test_every_setting_that_names_something_is_in_the_list() -> None:
    rules = guard_module("settings").RULES
    for name, rule in schema().items():
        is_free = rule.get("type") in ("string", "array") and "enum" not in rule.get("items", rule)
        ask = f"is {name} confined? RULES in templates/guard/guard/settings.py, or TEXTS here, say so"
        assert (name in rules) == (is_free and name not in TEXTS), ask


@pytest.mark.parametrize(
    "kept",
    [
        {"run_dir": "work"}, {"run_dir": "."}, {"task_file": "todo.json"}, {"task_file": "~/todo.json"},
        {"task_file": "a/../todo.json:.claude/x"}, {"task_file": "inner/todo.json"}, {"task_env": "UNSET"},
        {"task_env": "INSIDE"}, {"show_env": ["HERMES_KANBAN_TASK"]}, PRESETS["bmad"], PRESETS["hermes"],
    ],
    ids=str,
)  # fmt: skip
def test_what_lies_in_the_project_goes_on_working(isolated: Path, kept: dict[str, Any]) -> None:
    (isolated / "work" / "sub").mkdir()
    (isolated / "work" / "inner").symlink_to("sub")
    environ = {"INSIDE": str(isolated / "work" / "todo.json")}
    assert choices.confine(kept, str(isolated / "work"), environ) == kept


@pytest.mark.parametrize("named_by", ["configuration", "variable"])
def test_of_a_file_that_the_project_chose_counts_and_times_are_shown_alone(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch, named_by: str
) -> None:
    (isolated / "work" / ".git").mkdir()
    put(Path("keys.json"), json.dumps(FOREIGN))
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    if named_by == "configuration":
        commit({"task_file": "keys.json", "task_fields": ["heartbeat=password", "owner=owner"]}, isolated)
    else:
        monkeypatch.setenv("HOOKCTL_TASK_FILE", "keys.json")
        monkeypatch.setenv("HOOKCTL_TASK_FIELDS", "heartbeat=password,owner=owner")
    data = hookctl("run", "status", "--json").data
    assert (data["remaining"], data["heartbeat"], data["owner"]) == (7, MASK, MASK)
    for command in (("run", "status"), ("run", "status", "--json"), ("status",), ("status", "--json"), ("doctor",)):
        outcome = hookctl(*command)
        assert SECRET not in outcome.out + outcome.err, command


@pytest.mark.parametrize("option", ["task_file=a:/x", "task_file=a:../x", "run_dir=/x", "show_env=HOME"])
def test_such_a_setting_is_refused_at_project_scope(hookctl: Hookctl, option: str) -> None:
    outcome = hookctl("install", "--host", "claude", "--scope", "project", "--set", option)
    assert outcome.code == 2
    assert not Path(".hookctl").exists()


def test_a_list_of_paths_is_never_taken_for_one_path(victim: Path, hookctl: Hookctl, isolated: Path) -> None:
    """As one path this leads out of the project, though each of its parts is inside."""
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    Path("q:deep").mkdir()
    Path("a/b").mkdir(parents=True)
    Path("deep").symlink_to("a/b")
    commit({"task_file": "q:deep/../../out/victim.json"}, isolated)
    before = files_below(isolated / "out")
    for action in (["remaining", "3"], ["heartbeat"], ["status"]):
        outcome = hookctl("run", *action)
        assert str(isolated / "out") not in outcome.out + outcome.err
    assert '"block"' not in stop(isolated)  # the foreign file says that 7 remain
    assert files_below(isolated / "out") == before


@pytest.mark.parametrize("path", [".GIT/x", "a/.Git/x", "/.hookctl/../etc/x"])
def test_gits_folder_in_another_case_is_not_the_projects(isolated: Path, path: str) -> None:
    assert choices.confine({"task_file": path}, str(isolated / "work"), {}) == {}
