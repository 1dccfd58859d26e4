"""The three scopes: what a link may do there, odd names, and a project that moves or may not be written."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hookctl.ownership import execute, run, store
from hookctl.packs.programs import load_programs
from hookctl.system import files, folders
from tests.conftest import Hookctl, Outcome, put
from tests.manifest import manifest
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")
INSTALL = ("install", "--host", "claude")
SCOPES = ("user", "project", "local")
THEIRS = '{\n  "permissions": {"deny": ["Read(.env)"]}\n}\n'


@pytest.fixture
def project(isolated: Path) -> Path:
    """The folder that the commands run in, as a project."""
    (isolated / "work" / ".git").mkdir()
    return isolated / "work"


def file_of(isolated: Path, scope: str, project: Path | None = None) -> Path:
    folder = isolated / "home" if scope == "user" else project or isolated / "work"
    return folder / ".claude" / ("settings.local.json" if scope == "local" else "settings.json")


def command_in(path: Path) -> str:
    return json.loads(path.read_bytes())["hooks"]["Stop"][-1]["hooks"][0]["command"]


def codes(outcome: Outcome) -> list[str]:
    return [error["code"] for error in outcome.result["errors"]]


def outside(isolated: Path) -> Path:
    return isolated / "outside"


PACKAGE = f".hookctl/runtime/{next(iter(load_programs().guard))}"
SETTINGS = {"project": ".claude/settings.json", "local": ".claude/settings.local.json"}
OURS = [
    ".hookctl", ".hookctl/ledger.json", ".hookctl/.gitignore", ".hookctl/guard", ".hookctl/hook.py",
    ".hookctl/guard/claude.json", ".hookctl/runtime", PACKAGE,
]  # fmt: skip
PLACES = [("project", name) for name in (".claude", SETTINGS["project"], *OURS)]
PLACES += [("local", name) for name in (".claude", SETTINGS["local"])]


def each_way(places: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """The places, each with two of the ways in which a link can lead."""
    ways = ("absolute", "relative", "chain", "dangling")
    return [(*place, ways[(number + more) % 4]) for number, place in enumerate(places) for more in (0, 2 + number % 2)]


def lead(link: Path, target: Path, how: str) -> None:
    """Put a link there that leads to the target: straight, relative, in two steps, or to nothing."""
    link.parent.mkdir(parents=True, exist_ok=True)
    if how == "relative":
        link.symlink_to(os.path.relpath(target, link.parent))
    elif how == "chain":
        step = link.parent / "step"
        step.symlink_to(target)
        link.symlink_to("step")
    else:
        link.symlink_to(target)


@pytest.mark.parametrize(("scope", "name", "how"), each_way(PLACES))
def test_a_link_that_leads_out_of_the_project_is_refused(
    isolated: Path, project: Path, hookctl: Hookctl, scope: str, name: str, how: str
) -> None:
    target = outside(isolated) / "there"
    if how != "dangling" and name.endswith((".json", ".py", ".gitignore")):
        put(target, "{}" if name.endswith(".json") else "theirs")
    elif how != "dangling":
        put(target / "settings.json", "{}")
    target.parent.mkdir(exist_ok=True)
    lead(project / name, target, how)
    before = tree(isolated)
    for verb in (INSTALL, ("plan", "--host", "claude"), (*INSTALL, "--force"), ("uninstall",)):
        outcome = hookctl(*verb, "--scope", scope, "--json")
        if verb == ("uninstall",) and name in OURS and name != ".hookctl" and name != ".hookctl/ledger.json":
            assert outcome.code == 0  # nothing is installed, so nobody looks there
            continue
        assert (outcome.code, codes(outcome)) == (4, ["link_leaves_project"])
        assert outcome.result["errors"][0]["path"].startswith(str(project))
    assert tree(isolated) == before


@pytest.mark.parametrize(("scope", "name"), PLACES)
def test_a_link_that_came_after_the_install_is_refused_too(
    isolated: Path, project: Path, hookctl: Hookctl, scope: str, name: str
) -> None:
    hookctl(*INSTALL, "--scope", scope)
    target = outside(isolated) / "moved"
    target.parent.mkdir()
    (project / name).rename(target)
    (project / name).symlink_to(target)
    before = tree(isolated)
    verbs = (("uninstall", "--scope", scope), ("uninstall", "--all"), (*INSTALL, "--scope", scope, "--set", "latch=no"))
    for verb in verbs:
        outcome = hookctl(*verb, "--json")
        if name == ".hookctl/.gitignore" and verb[0] == "install":
            continue  # it is not read any more
        assert (outcome.code, codes(outcome)) == (4, ["link_leaves_project"])
    assert {k: v for k, v in tree(isolated).items() if k.startswith("outside")} == {
        k: v for k, v in before.items() if k.startswith("outside")
    }


PROGRAMS = (".hookctl/hook.py", ".hookctl/guard", ".hookctl/runtime")
FOLLOWED = [place for place in PLACES if not place[1].startswith((*PROGRAMS, ".hookctl/.git"))]


@pytest.mark.parametrize(("scope", "name", "how"), each_way(FOLLOWED))
def test_a_link_inside_the_project_is_followed_and_kept(
    isolated: Path, project: Path, hookctl: Hookctl, scope: str, name: str, how: str
) -> None:
    target = project / "shared" / ("file.json" if name.endswith(".json") else "folder")
    target.parent.mkdir()
    if how != "dangling" and name == SETTINGS[scope]:
        put(target, THEIRS)
    elif how != "dangling" and not name.endswith(".json"):
        put(target / "keep", "theirs")
    lead(project / name, target, how)
    kept = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    assert hookctl(*INSTALL, "--scope", scope).code == 0
    assert (project / name).is_symlink() and target.exists()
    there = tree(isolated)
    assert hookctl(*INSTALL, "--scope", scope).out == "nothing to do\n"
    assert tree(isolated) == there
    assert hookctl("uninstall", "--scope", scope).code == 0
    assert (project / name).is_symlink()
    assert {path: path.read_bytes() for path in project.rglob("*") if path.is_file()} == kept


def contents(top: Path) -> dict[str, object]:
    return {name: (about[0], about[2]) for name, about in tree(top).items()}


def swap(project: Path, target: Path, name: str) -> None:
    """Let a link take the place of whatever is there, leading to a copy of it outside."""
    place = project / name
    target.parent.mkdir(exist_ok=True)
    if place.exists():
        place.rename(target)
    elif not name.endswith((".json", ".py")):
        target.mkdir()
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(target)


SWAPPED = [place for place in PLACES if place[1] != ".hookctl/.gitignore"]


@pytest.mark.parametrize("installed", [False, True], ids=["install", "upgrade"])
@pytest.mark.parametrize("moment", ["before the lock", "before the writing"])
@pytest.mark.parametrize(("scope", "name"), SWAPPED)
def test_a_link_that_comes_between_plan_and_write_is_not_followed(
    isolated: Path, project: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch,
    scope: str, name: str, moment: str, installed: bool,
) -> None:  # fmt: skip
    if installed:
        put(project / SETTINGS[scope], THEIRS)
        hookctl(*INSTALL, "--scope", scope)
    target, lock, write_all = outside(isolated) / "there", run._open_lock, execute.execute
    after: list[dict[str, object]] = []

    def once() -> None:
        if not after:
            swap(project, target, name)
            after.append(contents(outside(isolated)))

    def locked(*arguments: Any) -> Any:
        if moment == "before the lock":
            once()
        return lock(*arguments)

    def write(*arguments: Any) -> None:
        once()
        write_all(*arguments)

    def mkdir(path: str, mode: int = 0o777) -> None:
        assert not after or not os.path.realpath(path).startswith(f"{outside(isolated)}/"), path
        make(path, mode)

    make = os.mkdir
    monkeypatch.setattr(os, "mkdir", mkdir)
    monkeypatch.setattr(run, "_open_lock", locked)
    monkeypatch.setattr(execute, "execute", write)
    outcome = hookctl(*INSTALL, "--scope", scope, "--set", "max_stop_blocks=9", "--set", "latch=no", "--json")
    program = name.endswith("hook.py") or "/runtime" in name
    if (program, moment, installed) == (True, "before the writing", True):
        assert outcome.code == 0  # it is up to date, so nothing is to be written there
    else:
        assert (outcome.code, codes(outcome)) == (4, ["link_leaves_project"])
    assert [contents(outside(isolated))] == after


@pytest.mark.parametrize(("scope", "name"), SWAPPED)
def test_a_link_that_comes_after_a_kill_is_not_followed_by_the_run_that_mends_it(
    isolated: Path, project: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, scope: str, name: str
) -> None:
    def killed(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "replace", killed)
        assert hookctl(*INSTALL, "--scope", scope).code == 130
    assert (isolated / "state" / "journal.json").exists()
    swap(project, outside(isolated) / "there", name)
    before = contents(outside(isolated))
    assert hookctl(*INSTALL, "--scope", scope).code == 4
    assert contents(outside(isolated)) == before


ODD = [
    "with blanks", "it's", 'say "hi"', "$HOME", "`id`", "a\nb", "*", "dür 雪", "{project}", "-n", "a;b", "#x", "\\n",
    "\udcff",
]  # fmt: skip


def play(command: str, project: Path, *, active: bool = False, **environ: str) -> str:
    """Run a registered command as the host does, at a stop; its answer, once it is sure that the host sees 0."""
    payload = {"session_id": "S1", "cwd": str(project), "stop_hook_active": active, "prompt_id": "p"}
    base = {name: os.environ[name] for name in ("PATH", "HOME", "HOOKCTL_STATE_DIR") if name in os.environ}
    done = subprocess.run(
        ["sh", "-c", command], input=json.dumps(payload), capture_output=True, text=True, cwd=project, timeout=30,
        env={**base, "CLAUDE_PROJECT_DIR": str(project), **environ},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_a_project_may_have_any_name(isolated: Path, hookctl: Hookctl, name: str) -> None:
    project = isolated / "odd" / name
    put(project / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    before = set(project.rglob("*"))
    for scope in ("project", *["local"] * (ODD.index(name) % 3 == 0)):  # whose command has the project's name nowhere
        options = ("--scope", scope, f"--project={project}")
        assert hookctl(*INSTALL, *options).code == 0
        assert hookctl(*INSTALL, *options).out == "nothing to do\n"
        answer = json.loads(play(command_in(file_of(isolated, scope, project)), project))
        assert answer["decision"] == "block"
        assert hookctl("status", "--json").code == 0
        assert hookctl("uninstall", *options).code == 0
        assert set(project.rglob("*")) == before


@pytest.mark.parametrize("name", ODD, ids=ascii)
def test_hookctls_own_folders_may_have_any_name_that_a_command_can_have(
    isolated: Path, project: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("HOOKCTL_DATA_DIR", str(isolated / name / "data"))
    monkeypatch.setenv("HOOKCTL_STATE_DIR", str(isolated / name / "state"))
    put(project / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    if name in ("a\nb", "\udcff"):
        before = tree(isolated)
        outcome = hookctl(*INSTALL, "--scope", "local", "--json")
        assert (outcome.code, codes(outcome)) == (2, ["usage"])
        assert "HOOKCTL_DATA_DIR" in outcome.result["errors"][0]["hint"] and tree(isolated) == before
        monkeypatch.setenv("HOOKCTL_DATA_DIR", str(isolated / "data"))
    assert hookctl(*INSTALL, "--scope", "local").code == 0
    assert hookctl(*INSTALL, "--scope", "local").out == "nothing to do\n"
    assert "block" in play(command_in(file_of(isolated, "local")), project)
    assert hookctl("uninstall", "--scope", "local").code == 0
    assert not (isolated / name / "data").exists() and not (isolated / "data").exists()


@pytest.mark.parametrize("linked", [False, True], ids=["moved", "moved behind a link"])
@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_project_that_moves_takes_its_installation_along(
    isolated: Path, hookctl: Hookctl, scope: str, linked: bool
) -> None:
    old, new = isolated / "old", isolated / "new"
    put(old / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    put(file_of(isolated, scope, old), '{"env": { }}')
    before = set(old.rglob("*"))
    assert hookctl(*INSTALL, "--scope", scope, "--project", str(old)).code == 0
    old.rename(new)
    if linked:
        old.symlink_to(new)
    assert "block" in play(command_in(file_of(isolated, scope, new)), new)
    assert hookctl("status").code == 0
    assert hookctl("uninstall", "other").code == 2  # which asks every ledger that is known
    written = file_of(isolated, scope, new).read_bytes()
    assert hookctl(*INSTALL, "--scope", scope, "--project", str(new)).code == 0
    assert hookctl(*INSTALL, "--scope", scope, "--project", str(new)).out == "nothing to do\n"
    assert file_of(isolated, scope, new).read_bytes() == written
    assert hookctl("uninstall", "--scope", scope, "--project", str(new)).code == 0
    assert {new / path.relative_to(old) for path in before} == set(new.rglob("*"))
    assert not (isolated / "data").exists()
    lost = scope == "project" and not linked  # nothing tells that this is the project of the first backup
    assert file_of(isolated, scope, new).read_text() == ('{"env": {}}' if lost else '{"env": { }}')


# What the guard does where it is installed more than once
def test_the_guard_in_every_scope_counts_a_stop_once(
    isolated: Path, project: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on anybody's machine: the hook of project scope has to find the state folder by itself.
    for name in ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):
        monkeypatch.delenv(name)
    put(project / ".hookctl" / "run" / "task.json", '{"remaining": 2}')
    for scope in SCOPES:
        assert hookctl(*INSTALL, "--scope", scope, "--set", "max_stop_blocks=2").code == 0
    commands = [command_in(file_of(isolated, scope)) for scope in SCOPES]
    assert len(set(commands)) == 3
    said = []
    for order in (commands, commands[::-1], commands[1:] + commands[:1], commands):
        answers = {play(command, project, active=bool(said), MAX_STOP_BLOCKS="2") for command in order}
        said.append([json.loads(answer).get("decision", "release") if answer else "" for answer in answers])
    assert said == [["block"], ["block"], ["release"], [""]]
    (folder,) = (isolated / "home" / ".local" / "state" / "hookctl" / "guard").iterdir()
    lines = (folder / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["code"] for line in lines] == ["blocked", "blocked", "tripped", "open"]


@pytest.mark.parametrize("name", [name for name in OURS if name.startswith(PROGRAMS)])
def test_no_link_to_a_program_is_followed_inside_the_project_either(project: Path, hookctl: Hookctl, name: str) -> None:
    """A repository could bring one that leads from our folders to its own sources."""
    target = put(project / "theirs" / "there" / "stop.py", "theirs").parent
    lead(project / name, target / "stop.py" if name.endswith((".py", ".json")) else target, "relative")
    outcome = hookctl(*INSTALL, "--scope", "project", "--json")
    assert (outcome.code, codes(outcome)) == (4, ["link_leaves_project"])
    assert [path.name for path in target.iterdir()] == ["stop.py"]


# The settings file moves, or links to it come and go: what the ledger knows of it goes along.
def install(hookctl: Hookctl, *options: str) -> None:
    outcome = hookctl("install", "--host", "claude", *options)
    assert outcome.code == 0, outcome


def uninstall(hookctl: Hookctl, *options: str) -> None:
    outcome = hookctl("uninstall", *options)
    assert outcome.code == 0, outcome


# A project at local scope, with a pack of somebody's
BELL = manifest("bell", protocol="host", files=["ring.sh"], env={"BELL": "1"})
HOOK = '[[hooks]]\nevent = "stop"\ncommand = "{command}"\n'
COMMANDS = {"its own file": "{files}/ring.sh", "any": "true", "none": ""}


@pytest.fixture(params=COMMANDS)
def pack(request: pytest.FixtureRequest, isolated: Path) -> str:
    """A pack whose hook runs its file, any command, or that has no hook at all."""
    put(isolated / "bell" / "ring.sh", "")
    command = COMMANDS[request.param]
    return str(put(isolated / "bell" / "pack.toml", BELL + (HOOK.replace("{command}", command) if command else "")))


def local(project: Path) -> Path:
    return project / ".claude" / "settings.local.json"


def in_project(project: Path) -> tuple[str, ...]:
    return ("--scope", "local", "--project", str(project))


@pytest.mark.parametrize("first", ["install", "uninstall", "all"])
def test_a_pack_is_found_after_its_project_moved(isolated: Path, hookctl: Hookctl, pack: str, first: str) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": { }}')
    install(hookctl, pack, *in_project(old))
    old.rename(new)
    if first != "uninstall":
        assert hookctl("install", pack, "--host", "claude", *in_project(new), "--json").data["actions"] == []
        assert list(json.loads((isolated / "state" / "ledger.json").read_text())["files"]) == [str(local(new))]
        assert len(list((isolated / "data").rglob("ring.sh"))) == 1
    uninstall(hookctl, *(("--all", "--json") if first == "all" else ("bell", *in_project(new))))
    assert local(new).read_text() == '{"env": { }}'
    assert not (isolated / "data").exists()
    assert json.loads((isolated / "state" / "ledger.json").read_text())["files"] == {}


def test_a_pack_in_a_file_that_was_edited_after_the_move_is_found_by_its_hook(
    isolated: Path, hookctl: Hookctl, pack: str
) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, pack, *in_project(old))
    old.rename(new)
    put(local(new), local(new).read_text().replace('"A": "1"', '"A": "2"'))
    uninstall(hookctl, pack, *in_project(new))
    hookless = "hooks" not in Path(pack).read_text()  # then nothing shows whose the value is
    assert json.loads(local(new).read_text()) == {"env": {"A": "2", **({"BELL": "1"} if hookless else {})}}


def test_a_copy_of_a_project_does_not_take_the_page_of_one_that_is_there(isolated: Path, hookctl: Hookctl) -> None:
    pack = str(put(isolated / "bell.toml", BELL.replace('[files]\ninclude = ["ring.sh"]\n', "")))
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, pack, *in_project(old))
    put(local(new), local(old).read_bytes())
    local(old).unlink()  # the next install puts it back, and that is in the ledger
    install(hookctl, pack, *in_project(new))
    assert str(local(old)) in json.loads((isolated / "state" / "ledger.json").read_text())["files"]


def test_a_copy_of_a_projects_settings_gets_a_configuration_of_its_own(isolated: Path, hookctl: Hookctl) -> None:
    old, new = isolated / "old", isolated / "new"
    put(local(old), '{"env": {"A": "1"}}')
    install(hookctl, *in_project(old))
    put(local(new), local(old).read_bytes())
    install(hookctl, *in_project(new))
    assert len(list((isolated / "data" / "guard").iterdir())) == 2
    for project in (old, new):
        (name,) = re.findall(r"--config (claude-local-[0-9a-f]+)", local(project).read_text())
        assert (isolated / "data" / "guard" / f"{name}.json").exists()
    uninstall(hookctl, *in_project(old))
    assert [path.stem for path in (isolated / "data" / "guard").iterdir()] == [name]


def test_of_two_projects_that_are_gone_neither_is_taken_for_one_with_the_same_hook(
    isolated: Path, hookctl: Hookctl
) -> None:
    plain = BELL.replace('[files]\ninclude = ["ring.sh"]\n', "") + HOOK.replace("{command}", "true")
    pack = str(put(isolated / "bell.toml", plain))
    for name in ("one", "two"):
        put(local(isolated / name), f'{{"env": {{"NAME": "{name}"}}}}')
        install(hookctl, pack, *in_project(isolated / name))
    (isolated / "one").rename(isolated / "new")
    (isolated / "two").rename(isolated / "gone")
    put(local(isolated / "new"), local(isolated / "new").read_text().replace("one", "neither"))
    install(hookctl, pack, *in_project(isolated / "new"))
    assert len(json.loads((isolated / "state" / "ledger.json").read_text())["files"]) == 3


def test_a_page_of_another_scope_is_not_taken(isolated: Path, settings: Path, hookctl: Hookctl) -> None:
    pack = str(put(isolated / "bell.toml", BELL.replace('[files]\ninclude = ["ring.sh"]\n', "")))
    install(hookctl, pack)
    put(local(isolated / "new"), settings.read_bytes())
    settings.unlink()
    install(hookctl, pack, *in_project(isolated / "new"))
    pages = json.loads((isolated / "state" / "ledger.json").read_text())["files"]
    assert {path: page["scope"] for path, page in pages.items()} == {
        str(settings): "user", str(local(isolated / "new")): "local"
    }  # fmt: skip


# A program puts a file in place of a settings file that was a link: both have our entries, and both are known.
MODEL = '{"model": "m"}\n'
HOSTS = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json"}


@pytest.fixture(params=HOSTS)
def replaced(request: pytest.FixtureRequest, isolated: Path, hookctl: Hookctl) -> tuple[str, Path, Path]:
    """A host, its settings file as a program wrote it anew, and the file that the link led to."""
    host = request.param
    path, target = isolated / "home" / HOSTS[host], put(isolated / "dotfiles" / "settings.json", MODEL)
    path.parent.mkdir()
    path.symlink_to(target)
    assert hookctl("install", "--host", host).code == 0
    text = path.read_text()
    path.unlink()
    path.write_text(text + "\n")  # by a program that knows of no links
    return host, path, target


def test_uninstall_names_the_other_one_and_takes_it_out_with_all(
    replaced: tuple[str, Path, Path], isolated: Path, hookctl: Hookctl
) -> None:
    _, path, target = replaced
    done = hookctl("uninstall")
    assert (done.code, "hookctl=" in path.read_text()) == (0, False)
    assert "still installed: guard" in done.err and "--all" in done.err
    assert hookctl("uninstall", "--all", "--yes").code == 0
    assert target.read_text() == MODEL
    assert store.load(folders.here()).files == {} and not (isolated / "data").exists()


def test_uninstall_everywhere_passes_over_files_in_which_nothing_is_ours(isolated: Path, hookctl: Hookctl) -> None:
    put(isolated / "home" / ".cursor" / "hooks.json", "[]")
    assert hookctl("install", "--host", "claude").code == 0
    done = hookctl("uninstall", "--all", "--yes")
    assert (done.code, "everything is uninstalled" in done.out) == (0, True)


def test_what_is_disabled_of_a_host_from_the_future_stops_no_other(isolated: Path, hookctl: Hookctl) -> None:
    for host in ("claude", "gemini"):
        assert hookctl("install", "--host", host).code == 0
    assert hookctl("disable", "guard/stop", "--host", "gemini").code == 0
    book = isolated / "state" / "ledger.json"
    files, disabled = book.read_text().split('"disabled": {')
    book.write_text(f'{files}"disabled": {{' + disabled.replace('"host": "gemini"', '"host": "zed9"'))
    assert hookctl("install", "--host", "claude", "--set", "max_stop_blocks=7").code == 0


@pytest.mark.parametrize("between", [["install"], ["install", "--force"], ["doctor", "--fix"]])
def test_both_go_at_once_whatever_comes_between(
    between: list[str], replaced: tuple[str, Path, Path], isolated: Path, hookctl: Hookctl
) -> None:
    host, path, target = replaced
    assert hookctl(*between, "--host", host).code in (0, 1)
    assert hookctl("uninstall", "--all", "--yes").code == 0
    assert "hookctl=" not in path.read_text() + target.read_text()
    assert store.load(folders.here()).files == {} and not (isolated / "data").exists()


# Links that make two settings files one.
FILES_OF = {"project": ".claude/settings.json", "local": ".claude/settings.local.json"}


def link(path: Path, target: Path, *, hard: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if hard:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
        path.hardlink_to(target)
    else:
        path.symlink_to(os.path.relpath(target, path.parent))


@pytest.mark.parametrize("scope", FILES_OF)
@pytest.mark.parametrize("linked", FILES_OF)
@pytest.mark.parametrize("hard", [False, True], ids=["symbolic", "hard"])
def test_two_scopes_in_one_file_are_refused_and_the_fix_works(
    isolated: Path, hookctl: Hookctl, scope: str, linked: str, hard: bool
) -> None:
    work = isolated / "work"
    put(work / ".git" / "HEAD", "")
    path = work / FILES_OF[linked]
    (other,) = [work / name for name in FILES_OF.values() if work / name != path]
    link(path, other, hard=hard)
    install = ("install", "--host", "claude", "--scope", scope)
    done = hookctl(*install)
    assert done.code == 2
    assert str(work / ".claude") in done.err and "a file of its own" in done.err
    assert not (work / ".hookctl").exists()
    path.unlink()
    for verb in (install, ("status",), ("upgrade",), ("check",), ("uninstall", "--scope", scope)):
        assert hookctl(*verb).code == 0, verb
