"""A repository from a stranger: whatever it brings, nothing outside it is written, removed or shown.

Inside it, hookctl gives it no power over its own settings that a commit would not have.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.errors import HookctlError
from hookctl.ownership import committed
from hookctl.system import folders
from hookctl.system.files import content_digest
from tests.conftest import Hookctl, Outcome, put
from tests.texts import rows
from tests.trees import tree

INSTALL = ("install", "--host", "claude", "--scope", "project")
LOCAL = ("install", "--host", "claude", "--scope", "local")
UNINSTALL = ("uninstall", "--scope", "project")
WRITING = (INSTALL, (*INSTALL, "--force"), (*INSTALL, "--set", "max_stop_blocks=9"), UNINSTALL)
READING = (("plan", "--host", "claude", "--scope", "project"), ("status",), ("doctor",))
LOOKING = (*READING, ("uninstall", "--all", "--dry-run"))
PAGE = ".claude/settings.json"
SECRET = "hunter2-of-the-operator"
HEAD = b"ref: refs/heads/main\n"
Page = dict[str, Any]


@pytest.fixture(autouse=True)
def end_what_hangs(fixed_python: None) -> Iterator[None]:
    """An end for whatever would hang."""
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.fixture
def project(isolated: Path, hookctl: Hookctl) -> Path:
    """A repository in which the guard is installed, and around it what is dear to its operator."""
    put(isolated / "work" / ".git" / "HEAD", HEAD)
    (isolated / "work" / ".git" / "refs").mkdir()
    put(isolated / "work" / PAGE, '{\n  "model": "m"\n}\n')
    assert hookctl(*INSTALL).code == 0
    put(isolated / "home" / ".bashrc", "export A=1\n")
    put(isolated / "home" / ".ssh" / "x", "key\n").chmod(0o600)
    put(isolated / "home" / ".config" / "secret.json", json.dumps({"mode": SECRET, "reason": SECRET}))
    put(isolated / "other" / ".claude" / "settings.json", "{}")
    (isolated / "home" / "empty").mkdir()
    return isolated / "work"


def around(isolated: Path) -> dict[str, object]:
    """Everything but the repository and hookctl's own state."""
    return {name: about for name, about in tree(isolated).items() if not name.startswith(("work", "state"))}


def ledger_of(project: Path) -> Path:
    return project / ".hookctl" / "ledger.json"


def page_of(project: Path) -> Page:
    page = json.loads(ledger_of(project).read_text())["files"][PAGE]
    page["entries"] = [entry for entry in page["entries"] if entry != "end"]
    page["packs"].pop("", None)
    return page


def craft(project: Path, page: Page, name: str = PAGE) -> None:
    """A ledger with this one page, written as no hookctl would."""
    ledger = {"ledger_version": 2, "needs": "0.2.0", "files": {name: page}}
    ledger_of(project).write_text(json.dumps(ledger))


def code(outcome: Outcome) -> str:
    return outcome.result["errors"][0]["code"]


def refused(isolated: Path, hookctl: Hookctl, *codes: str, verbs: Any = WRITING, reading: Any = LOOKING) -> None:
    """Every command that writes there says no, with the file, and nothing at all has changed; the others end well."""
    before = tree(isolated)
    for verb in verbs:
        outcome = hookctl(*verb, "--json")
        assert (outcome.code, code(outcome) in codes) == (4, True), outcome
        assert outcome.result["errors"][0]["path"].startswith(str(isolated / "work"))
        assert outcome.result["errors"][0]["hint"]
    for verb in reading:
        outcome = hookctl(*verb, "--json")
        assert outcome.code in (0, 1, 4) and SECRET not in outcome.out + outcome.err
    assert tree(isolated) == before


NAMES = [
    "../../home/.bashrc", "../other/.claude/settings.json", "/etc/passwd", ".git/config", "..", ".", "",
    "./.claude/settings.json", ".claude/../.claude/settings.json", ".claude//settings.json",
    ".claude/settings.local.json", ".claude/settings.json/",
    "~/.claude/settings.json", ".claude/settings.json\n", "home/.claude/settings.json",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_a_page_may_name_nothing_but_a_hosts_settings_in_the_project(
    isolated: Path, project: Path, hookctl: Hookctl, name: str
) -> None:
    craft(project, page_of(project), name)
    refused(isolated, hookctl, "ledger_unreadable")


def test_a_page_may_not_name_the_users_settings_by_their_whole_path(
    isolated: Path, project: Path, hookctl: Hookctl
) -> None:
    theirs = put(isolated / "home" / ".claude" / "settings.json", (project / PAGE).read_bytes())
    craft(project, page_of(project), str(theirs))
    refused(isolated, hookctl, "ledger_unreadable")


PACK = {"version": "1", "settings": {}, "files": [], "digest": ""}


def pack(name: str, **changes: Any) -> Callable[[Page], None]:
    return lambda page: page["packs"].update({name: {**PACK, **changes}})


def file(name: str) -> Callable[[Page], None]:
    return pack("bell", files=[name], digest=content_digest(b"", {name: b"export A=1\n"}))


@pytest.mark.parametrize("link", [".hookctl/packs/bell", ".hookctl/packs"])
def test_git_is_not_the_repositorys_to_have_removed(isolated: Path, project: Path, hookctl: Hookctl, link: str) -> None:
    """Its digest is well known, and an uninstall removes what has the digest of a pack's file."""
    (project / ".git" / "bell").mkdir()
    put(project / ".git" / "bell" / "HEAD", HEAD)
    put(project / ".hookctl" / "packs", "").unlink()
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(os.path.relpath(project / ".git", (project / link).parent))
    page = page_of(project)
    pack("bell", files=["HEAD"], digest=content_digest(b"", {"HEAD": HEAD}))(page)
    craft(project, page)
    refused(isolated, hookctl, "link_leaves_project")


def leaf(*path: Any, **changes: Any) -> Callable[[Page], None]:
    entry = {"path": list(path), "kind": "leaf", "mode": "owned", "written": "1",
             "owners": {"guard": {"value": "1", "version": "1"}}, **changes}  # fmt: skip
    return lambda page: page["entries"].append(entry)


def element(command: str, id: str = "bell/stop", **changes: Any) -> Callable[[Page], None]:
    def change(page: Page) -> None:
        pack("bell")(page)
        fields = {"type": "command", "command": command}
        entry = {"path": ["hooks", "Stop"], "kind": "element", "mode": "owned",
                 "written": fields, "owners": {"bell": {"value": fields, "version": "1"}}, "id": id}  # fmt: skip
        page["entries"].append({**entry, **changes})

    return change


OURS = ": hookctl=bell/stop; "


# What no row can say.
NO_ROWS: list[tuple[str, Callable[[Page], Any]]] = [
    ("either", lambda page: page.pop("entries")),
    ("record", lambda page: page["entries"].extend(
        [{**page["entries"][0], "path": ["env", f"A{n}"]} for n in range(600)])),
    ("record", leaf("env", "A", before="[" * 100_000)),
]  # fmt: skip
MAKERS: dict[str, Callable[[Any], Callable[[Page], Any]]] = {
    "page": lambda value: lambda page: page.update(value),
    "pack": lambda value: pack("bell", **value) if value else lambda page: page["packs"].update(bell=value),
    "pack named": pack, "file": file,
    "entry": lambda value: lambda page: page["entries"].append(value),
    "leaf": lambda value: leaf(*value.pop("path"), **value),
    "element": lambda value: element(value.pop("command", OURS), **value),
}  # fmt: skip
REFUSED = [(codes, MAKERS[kind](json.loads(value))) for codes, kind, value in rows("hostile-records")] + NO_ROWS


@pytest.mark.parametrize(("number", "codes", "change"), [(number, *row) for number, row in enumerate(REFUSED)])
def test_a_page_names_what_an_install_makes_and_an_entry_is_one_of_a_pack_with_one_value_to_put_back(
    isolated: Path, project: Path, hookctl: Hookctl, number: int, codes: str, change: Callable[[Page], None]
) -> None:
    """Each with a command that writes and one that reads, in turn."""
    page = page_of(project)
    change(page)
    craft(project, page)
    names = ("ledger_unreadable", *["link_leaves_project"] * (codes == "either"))
    refused(isolated, hookctl, *names, verbs=[WRITING[number % 4]], reading=[LOOKING[number // 4 % 4]])


@pytest.mark.parametrize("before", ["1\ny = 2", " 1", "1 "])
def test_a_text_of_toml_to_put_back_is_one_value(isolated: Path, project: Path, hookctl: Hookctl, before: str) -> None:
    (entry,) = [entry for entry in page_of(project)["entries"] if entry["kind"] == "element"]
    put(project / ".codex" / "config.toml", "[hooks]\n")
    page = {**page_of(project), "format": "toml", "created_dirs": []}
    for text in ("[1, 2]", before):
        craft(project, {**page, "entries": [{**entry, "before": text}]}, ".codex/config.toml")
        done = hookctl("status", "--json")
        assert ("not just a value" in done.out) == (text == before)


def deep_value(project: Path) -> None:
    text = ledger_of(project).read_text()
    ledger_of(project).write_text(text.replace('"timeout": 10', '"timeout": ' + "[" * 50_000 + "]" * 50_000, 1))


def a_socket(project: Path) -> None:
    ledger_of(project).unlink()
    here = os.getcwd()
    os.chdir(project / ".hookctl")  # a socket's path is short
    socket.socket(socket.AF_UNIX).bind("ledger.json")
    os.chdir(here)


def gits_own(project: Path) -> None:
    ledger_of(project).unlink()
    ledger_of(project).symlink_to("../.git/HEAD")


def folder_is_a_file(project: Path) -> None:
    shutil.rmtree(project / ".hookctl")
    put(project / ".hookctl", "")


# Pipes, devices, folders and loops: tests/test_odd_inputs.py.
SPOILT: list[Callable[[Path], None]] = [deep_value, a_socket, gits_own, folder_is_a_file]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("spoil", SPOILT, ids=lambda spoil: spoil.__name__)
def test_a_ledger_that_is_none_is_said_to_be_so(
    isolated: Path, project: Path, hookctl: Hookctl, spoil: Callable[[Path], None]
) -> None:
    spoil(project)
    codes = ("ledger_unreadable", "ledger_newer", "unparsable", "unreadable", "link_leaves_project")
    refused(isolated, hookctl, *codes)


def test_the_last_of_doubled_keys_counts_and_is_checked(isolated: Path, project: Path, hookctl: Hookctl) -> None:
    good = json.dumps(page_of(project))
    bad = good.replace('"created_dirs": [', '"created_dirs": [], "created_dirs": ["..", ')
    assert bad != good
    ledger_of(project).write_text(
        f'{{"ledger_version": 2, "needs": "0.2.0", "files": {{}}, "files": {{"{PAGE}": {bad}}}}}'
    )
    refused(isolated, hookctl, "ledger_unreadable", "link_leaves_project")


# What a well-formed ledger may lead to
def test_a_file_is_not_removed_because_the_ledger_claims_to_have_made_it(
    isolated: Path, project: Path, hookctl: Hookctl
) -> None:
    page = page_of(project)
    page.update(created_file=True, created_dirs=[".claude"])
    craft(project, page)
    put(project / ".claude" / "notes", "mine")
    before = around(isolated)
    assert hookctl(*UNINSTALL).code == 0
    assert json.loads((project / PAGE).read_text()) == {"model": "m"}
    assert (project / ".claude" / "notes").read_text() == "mine" and around(isolated) == before


def test_doctor_brings_back_the_guards_own_entries_alone(isolated: Path, project: Path, hookctl: Hookctl) -> None:
    """After a wipe, whatever else the ledger has; in whatever order it names them."""
    page = page_of(project)
    container = {"path": ["env"], "kind": "container"}
    page["entries"] = [container, *(entry for entry in page["entries"] if entry["kind"] != "container")]
    for is_ours in (True, False):
        if not is_ours:
            leaf("env", "EVIL")(page)
        craft(project, page)
        put(project / PAGE, "{}")
        assert "cannot be read" not in hookctl("doctor", "--fix", "--host", "claude").out
        assert "hookctl=guard/stop" in (project / PAGE).read_text()
        assert "EVIL" not in (project / PAGE).read_text()


@pytest.mark.parametrize("known", ["nothing", "a ledger", "a ledger and no settings"])
def test_a_program_of_the_repositorys_is_not_registered_as_ours(
    isolated: Path, project: Path, hookctl: Hookctl, known: str
) -> None:
    hook = project / ".hookctl" / "hook.py"
    program = hook.read_bytes()
    put(hook, "evil")
    if known == "nothing":
        ledger_of(project).unlink()
    if known != "a ledger and no settings":
        put(project / PAGE, '{"model": "m"}')
    else:
        (project / PAGE).unlink()
    assert hookctl(*INSTALL).code == 0
    assert hook.read_bytes() == program and "hookctl=guard/stop" in (project / PAGE).read_text()


def test_settings_that_name_the_users_own_hook_do_not_have_it_removed(
    isolated: Path, project: Path, hookctl: Hookctl
) -> None:
    """Its path is easily guessed; without a page of its own, a registration is known by its command."""
    assert hookctl("install", "--host", "claude").code == 0
    hook = isolated / "data" / "hook.py"
    users = isolated / "home" / ".claude" / "settings.json"
    for name in ("settings.json", "settings.local.json"):
        put(project / ".claude" / name, users.read_bytes())
    ledger_of(project).unlink()
    before = around(isolated)
    assert hookctl("uninstall", "--scope", "local").code == 0
    assert hookctl(*UNINSTALL).code == 0
    assert hook.exists() and around(isolated) == before
    assert "hookctl=guard" not in (project / PAGE).read_text()


def test_a_hostile_ledger_is_no_reason_not_to_install_for_the_user_or_this_checkout(
    isolated: Path, project: Path, hookctl: Hookctl
) -> None:
    put(ledger_of(project), "{")
    for scope in ("user", "local"):
        assert hookctl("install", "--host", "claude", "--scope", scope).code == 0
        assert hookctl("uninstall", "--scope", scope).code == 0


# What is no ignore file, and links to other files
@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_an_ignore_file_that_is_none_is_left_alone(isolated: Path, project: Path, hookctl: Hookctl, kind: str) -> None:
    path = project / ".hookctl" / ".gitignore"
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(isolated / "home" / ".bashrc")
    before = tree(isolated)
    outcome = hookctl(*UNINSTALL, "--json")
    assert (outcome.code, outcome.result["errors"][0]["path"]) == (4, str(path))
    assert tree(isolated) == before


@pytest.fixture(params=["guard", "runtime"])
def lured(request: pytest.FixtureRequest, hookctl: Hookctl, isolated: Path) -> Path:
    """A repository whose link leads a folder of ours into its own sources; that folder."""
    assert hookctl("install", *INSTALL[1:]).code == 0
    programs, sources = Path(".hookctl", request.param), Path("src")
    programs.rename(sources)
    programs.symlink_to("../src")
    put(sources / "main.py", "precious\n")
    return sources


@pytest.mark.parametrize("command", [("upgrade",), ("install", *INSTALL[1:]), ("uninstall", "--scope", "project")])
def test_nothing_is_removed_or_written_through_it(hookctl: Hookctl, lured: Path, command: tuple[str, ...]) -> None:
    ledger = Path(".hookctl/ledger.json")
    text = ledger.read_text().replace('"files": ["claude.json"', '"files": ["main.py", "claude.json"')
    ledger.write_text(text)
    before = {path.name: path.read_bytes() for path in lured.iterdir() if path.is_file()}
    assert hookctl(*command).code != 0
    assert {path.name: path.read_bytes() for path in lured.iterdir() if path.is_file()} == before
    assert "ledger_unreadable" in hookctl("doctor", "--json").out


@pytest.mark.parametrize("action", ["stop", "conclude", "remaining 3", "heartbeat"])
def test_a_file_with_a_second_name_is_not_written(hookctl: Hookctl, isolated: Path, action: str) -> None:
    name = {"stop": "STOP", "conclude": "CONCLUDE"}.get(action, "task.json")
    notes = put(isolated / "notes", '{"precious": 1}')
    Path(".hookctl/run").mkdir(parents=True)
    os.link(notes, Path(".hookctl/run") / name)
    outcome = hookctl("run", *action.split())
    assert outcome.code != 0
    assert notes.read_text() == '{"precious": 1}'


def test_the_page_of_the_tests_is_a_good_one(isolated: Path, project: Path, hookctl: Hookctl) -> None:
    """Else every refusal above might have another reason."""
    page = copy.deepcopy(page_of(project))
    leaf("env", "A", before='{"a": [1, 2]}')(page)
    element(OURS + "true")(page)
    pack("other", files=["a/b.sh"], digest="0" * 64, source="tools/other/pack.toml")(page)
    page["entries"].append({"path": ["hooks"], "kind": "container"})
    page.update(created_dirs=[".claude"], gaps=[["hooks", "Stop"]])
    craft(project, page)
    for verb in (*READING, INSTALL, LOCAL, UNINSTALL):
        outcome = hookctl(*verb)
        assert outcome.code in (0, 1) and "cannot be read" not in outcome.out + outcome.err
    assert hookctl("uninstall", "--all", "--json").code == 0


def test_settings_that_a_link_makes_those_of_another_scope_are_refused(project: Path) -> None:
    (project / PAGE).rename(project / ".claude" / "settings.local.json")
    (project / PAGE).symlink_to("settings.local.json")
    with pytest.raises(HookctlError, match="local settings"):
        committed.load(folders.here(), str(project), ledger_of(project).read_bytes(), {})
