"""Whose is it: what somebody else could change is refused, and nothing of a project is executed."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hookctl.errors import HookctlError
from hookctl.hosts import load
from hookctl.packs import guard
from hookctl.settings import targets
from hookctl.system import interpreter, owners, project
from tests.conftest import Hookctl, put
from tests.manifest import hook as pack_hook
from tests.manifest import manifest
from tests.templates.lab import PYTHON, TEMPLATES
from tests.templates.modules import module
from tests.texts import rows

STRANGER = 12345
GROUP = 54321  # a group without a name: anybody may be in it
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def give() -> Callable[..., Path]:
    """Make a folder another user's."""

    def change(path: Path, uid: int = STRANGER, gid: int = -1) -> Path:
        path.mkdir(parents=True, exist_ok=True)
        os.chown(path, uid, gid)
        return path

    return change


def loose(path: Path, mode: int, gid: int = -1) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    if gid >= 0:
        os.chown(path, -1, gid)
    path.chmod(mode)
    return path


def fault_of(path: Path) -> str:
    fault = owners.find_fault(str(path))
    return f"{os.path.basename(fault.path)} {fault.reason}" if fault else ""


@needs_root
def test_a_group_with_members_is_not_and_a_sticky_folder_passes(isolated: Path) -> None:
    assert "group" in fault_of(loose(isolated / "team", 0o775, GROUP))
    assert fault_of(loose(isolated / "own", 0o775, os.getegid())) == ""
    assert fault_of(loose(isolated / "sticky", 0o1777, GROUP)) == ""
    assert fault_of(loose(isolated / "read", 0o755, GROUP)) == ""


@needs_root
def test_a_group_is_the_callers_own_where_nobody_else_is_in_it(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Group:
        gr_name, gr_mem = "team", ["root"]

    class User:
        pw_name, pw_gid = "bob", GROUP

    monkeypatch.setattr("grp.getgrgid", lambda gid: Group)
    monkeypatch.setattr("pwd.getpwall", lambda: [])
    assert fault_of(loose(isolated / "team", 0o775, GROUP)) == ""
    monkeypatch.setattr("pwd.getpwall", lambda: [User])
    assert fault_of(isolated / "team") == "team is writable by the group team"


@needs_root
def test_every_part_of_a_links_way_counts(isolated: Path, give: Callable[..., Path]) -> None:
    put(give(isolated / "bob") / "file", "")
    (isolated / "link").symlink_to("bob/file")
    (isolated / "mine" / "deep").mkdir(parents=True)
    (isolated / "mine" / "again").symlink_to(isolated / "link")
    assert fault_of(isolated / "link").startswith("bob belongs to another user")
    assert fault_of(isolated / "mine" / "deep" / ".." / "again").startswith("bob belongs")
    os.chown(isolated / "link", STRANGER, -1, follow_symlinks=False)
    assert fault_of(isolated / "mine" / "again").startswith("link belongs")


@needs_root
def test_an_access_list_for_somebody_else_counts(isolated: Path) -> None:
    entries = [(1, 7, -1), (2, 7, STRANGER), (4, 0, -1), (0x10, 7, -1), (0x20, 0, -1)]
    acl = (2).to_bytes(4, "little")
    for tag, rights, number in entries:
        acl += tag.to_bytes(2, "little") + rights.to_bytes(2, "little")
        acl += (number & 0xFFFFFFFF).to_bytes(4, "little")
    (isolated / "listed").mkdir()
    try:
        os.setxattr(isolated / "listed", "system.posix_acl_access", acl)
    except OSError:
        pytest.skip("this file system has no access lists")
    assert "ACL" in fault_of(isolated / "listed")


# S6: what runs as the caller lies where nobody else can write.
@needs_root
@pytest.mark.parametrize("what", ["data in a stranger's", "data open", "settings folder", "behind a link"])
def test_install_refuses_what_others_could_write(
    isolated: Path, hookctl: Hookctl, give: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, what: str,
    fixed_python: None,
) -> None:  # fmt: skip
    config = isolated / "home" / ".claude"
    if what == "data in a stranger's":
        monkeypatch.setenv("HOOKCTL_DATA_DIR", str(give(isolated / "bob") / "data"))
    elif what == "data open":
        loose(isolated / "data", 0o777)
    elif what == "settings folder":
        loose(config, 0o775, GROUP)
    else:
        put(loose(isolated / "open", 0o777) / "settings.json", "{}")
        config.mkdir()
        (config / "settings.json").symlink_to(isolated / "open" / "settings.json")
    done = hookctl("install", "--host", "claude")
    if what == "data in a stranger's":
        assert (done.code, "you are root" in done.err) == (1, True)
    else:
        assert (done.code, "another user could run commands" in done.err) == (1, True)
        assert "chmod" in done.err
        assert hookctl("plan", "--host", "claude").code == 1
    assert not (isolated / "data" / "guard").exists()
    assert "hookctl" not in (config / "settings.json").read_text() if (config / "settings.json").exists() else True


@needs_root
def test_an_interpreter_that_others_could_change_is_passed_over(
    isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "#!/bin/sh\ntouch {0}/ran\nprintf '{0}/python3\\n3\\n11\\n'\n"
    folders = [loose(isolated / "open", 0o777), isolated / "safe"]
    for folder in folders:
        put(folder / "python3", text.format(folder)).chmod(0o755)
    (isolated / "links").mkdir()
    (isolated / "links" / "python3").symlink_to(isolated / "open" / "python3")
    monkeypatch.setattr(interpreter, "_SYSTEM", (str(isolated / "links"),))
    monkeypatch.setenv("PATH", f"{folders[0]}:{folders[1]}")
    assert interpreter.choose(os.environ) == (f"{isolated}/safe/python3", "")
    assert not (isolated / "open" / "ran").exists()
    assert not interpreter.is_usable(f"{isolated}/open/python3")


@needs_root
def test_doctor_does_not_start_such_an_interpreter(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = put(isolated / "bin" / "python3", f"#!/bin/sh\ntouch {isolated}/ran\n")
    program.chmod(0o755)
    monkeypatch.setattr(interpreter, "choose", lambda environ: (str(program), ""))
    assert hookctl("install", "--host", "claude").code == 0
    program.parent.chmod(0o777)
    codes = [one["code"] for one in hookctl("doctor", "--host", "claude", "--json").data["findings"]]
    assert "loose_mode" in codes
    assert not (isolated / "ran").exists()


# S1: a stranger's project.

VERBS = [
    ("install", "--host", "claude", "--scope", "project"), ("install", "--host", "claude", "--scope", "local"),
    ("plan", "--host", "claude", "--scope", "project"), ("uninstall", "--host", "claude", "--scope", "project"),
    ("status",), ("doctor",), ("doctor", "--fix"), ("run", "status"), ("run", "remaining", "3"), ("run", "start"),
    ("run", "stop"), ("log", "--project", "."), ("hooks",),
]  # fmt: skip


@needs_root
@pytest.mark.parametrize("whole", [True, False], ids=["the folder", "its .hookctl"])
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_verb_refuses_a_strangers_project(
    isolated: Path, hookctl: Hookctl, give: Callable[..., Path], verb: tuple[str, ...], whole: bool
) -> None:
    (isolated / "work" / ".hookctl").mkdir()
    give(isolated / "work" if whole else isolated / "work" / ".hookctl")
    done = hookctl(*verb, "--json")
    assert (done.code, done.result["errors"][0]["code"]) == (4, "foreign_project")
    assert os.listdir(isolated / "work" / ".hookctl") == []
    assert not (isolated / "state").exists()


@needs_root
def test_a_link_to_a_strangers_hookctl_is_his(isolated: Path, give: Callable[..., Path]) -> None:
    give(isolated / "bob")
    (isolated / "work" / ".hookctl").symlink_to(isolated / "bob")
    with pytest.raises(HookctlError, match="no project of yours"):
        project.find(str(isolated / "work"), os.environ)


@needs_root
@pytest.mark.parametrize("scope", ["project", "local"])
def test_a_project_that_became_a_strangers_is_named_and_left(
    isolated: Path, hookctl: Hookctl, give: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, fixed_python: None,
    scope: str,
) -> None:  # fmt: skip
    assert hookctl("install", "--host", "claude", "--scope", scope).code == 0
    before = sorted((isolated / "work").rglob("*"))
    give(isolated / "work")
    monkeypatch.chdir(isolated / "home")
    done = hookctl("uninstall", "--all", "--yes")
    assert (done.code, "another user" in done.err) == (4, True)
    assert sorted((isolated / "work").rglob("*")) == before


# Where temporary programs lie: as a thief with another user's rights finds them, who swaps what he can.

THIEF = """#!{python} -IS
import os, sys
top = next((part for part in sys.argv if part.startswith({shared!r})), "")
if top and os.fork() == 0:
    os.setgroups([]), os.setgid({gid}), os.setuid({uid})
    folder = os.path.join({shared!r}, os.path.relpath(top, {shared!r}).split("/")[0])
    os.rename(folder, folder + ".old")
    os.makedirs(os.path.dirname(top))
    open(top, "w").write("open({marker!r}, 'w')\\n")
    os._exit(0)
if top:
    os.wait()
os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv[1:]])
"""
UNSAFE_PLACES: dict[str, Callable[[Path], object]] = {
    "not sticky": lambda place: place.chmod(0o777),
    "a group's": lambda place: (os.chown(place, -1, GROUP), place.chmod(0o770)),
    "another user's": lambda place: (os.chown(place, STRANGER, -1), place.chmod(0o1777)),
    "below one": lambda place: (place.chmod(0o777), (place / "mine").mkdir(0o700)),
}
RUN_FROM_TEMPORARY_FOLDERS = [*((("doctor", "--host", "claude"), kind) for kind in UNSAFE_PLACES)]
RUN_FROM_TEMPORARY_FOLDERS += [(("demo", "--fast"), "not sticky")]


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder for temporary files that others can reach."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        os.chmod(folder, 0o755)
        place = Path(folder, "tmp")
        place.mkdir()
        yield place


@needs_root
@pytest.mark.parametrize(("arguments", "kind"), RUN_FROM_TEMPORARY_FOLDERS, ids=str)
def test_no_program_runs_from_a_folder_that_somebody_else_can_swap(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, shared: Path, arguments: tuple[str, ...],
    kind: str,
) -> None:  # fmt: skip
    marker, python = shared.parent / "ran", isolated / "python3"
    text = THIEF.format(python="/usr/bin/python3", shared=str(shared), uid=STRANGER, gid=GROUP, marker=str(marker))
    put(python, text).chmod(0o755)
    monkeypatch.setattr("hookctl.system.interpreter.choose", lambda environ: (str(python), ""))
    assert hookctl("install", "--host", "claude").code == 0
    UNSAFE_PLACES[kind](shared)
    own_folder = shared / "mine"
    monkeypatch.setattr(tempfile, "tempdir", str(own_folder if own_folder.exists() else shared))
    before = sorted(isolated.rglob("*"))
    done = hookctl(*arguments)
    assert (done.code, done.err) == (0, "")
    assert not marker.exists()
    assert sorted(isolated.rglob("*")) == before


def test_without_any_safe_folder_nothing_runs(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(loose(isolated / "tmp", 0o777)))
    loose(isolated / "open", 0o777)
    monkeypatch.setenv("HOOKCTL_STATE_DIR", str(isolated / "open" / "state"))
    done = hookctl("demo")
    assert (done.code, str(isolated / "open") in done.err, "chmod o-w" in done.err) == (1, True, True)
    assert list((isolated / "open").iterdir()) == []
    put(isolated / "file", "")
    monkeypatch.setenv("HOOKCTL_STATE_DIR", str(isolated / "file" / "state"))
    done = hookctl("demo")
    assert (done.code, str(isolated / "file" / "state") in done.err) == (1, True)


def test_a_client_or_python_in_the_project_is_not_started(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, fixed_python: None
) -> None:
    marker, folder = isolated / "ran", isolated / "work" / "bin"
    (isolated / "work" / ".git").mkdir()
    for name in ("claude", "python3"):
        put(folder / name, f"#!/bin/sh\ntouch {marker}\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    assert hookctl("install", "--host", "claude", "--scope", "project").code == 0
    assert hookctl("doctor", "--host", "claude").code in (0, 1)
    assert not marker.exists()


def test_a_shim_that_looks_at_the_working_folder_finds_nothing_of_the_project(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As asdf's shims do: they start the program that `.tool-versions` of the working folder names."""
    marker, shims, work = isolated / "ran", isolated / "shims", isolated / "work"
    real = {"claude": f"echo {load('claude').client.seen}", "python3": 'exec /usr/bin/python3 "$@"'}
    for name, otherwise in real.items():
        put(work / "e" / name, f"#!/bin/sh\ntouch {marker}\n").chmod(0o755)
        put(shims / name, f'#!/bin/sh\n[ -x e/{name} ] && exec e/{name} "$@"\n{otherwise}\n').chmod(0o755)
    (work / ".git").mkdir()
    monkeypatch.setenv("PATH", f"{shims}:/usr/bin:/bin")
    monkeypatch.setattr("hookctl.system.interpreter._SYSTEM", ())
    for command in ("install", "doctor", "status", "check", "uninstall"):
        scope = () if command in ("doctor", "status", "check") else ("--scope", "project")
        hosts_named = () if command in ("check", "status") else ("--host", "claude")
        assert hookctl(command, *hosts_named, *scope).code in (0, 1)
        assert not marker.exists(), command
    assert hookctl("hosts").code == 0
    assert not marker.exists()


def repository(folder: Path) -> Path:
    """A repository, as far as agents look."""
    put(folder / ".git" / "HEAD", "ref: refs/heads/main\n")
    return folder


def plant(folder: Path) -> Path:
    """The launcher of a project's hook, and a program for it that prints the folder that it lies in."""
    own = folder / ".hookctl"
    put(own / "hook.py", (TEMPLATES / "hook.py").read_text())
    put(
        own / "guard" / "call.py",
        f"import posix\nprepare = lambda _: lambda: posix.write(1, {os.fsencode(folder)!r})\n",
    )
    return folder


def run_from(folder: Path, shell: str = "sh", user: int | None = None, **environ: str) -> str:
    """The folder whose program Codex's hook of project scope runs, started in this one."""
    target = targets.Target(load("codex"), "project", "/p/.codex/hooks.json", "/p")
    call = [shell, "-c", guard.command("guard/stop", target, "/p/.hookctl/guard/codex.json", "", "stop")]
    # A version manager's shim, which may be the first python3, takes ten times as long as Python.
    environ = {**os.environ, **environ, "PATH": f"{os.path.dirname(PYTHON)}:{os.environ['PATH']}"}
    done = subprocess.run(
        call, cwd=folder, capture_output=True, text=True, check=True, timeout=10, env=environ, user=user
    )
    return done.stdout


ODD = 'it\'s "my"\n$HOME `x`'


@pytest.mark.parametrize("shell", ["dash", "bash"])
@pytest.mark.parametrize(
    ("mark", "runs"),
    [
        # What makes a repository for Codex, and what does not: see test_facts.py.
        (lambda folder: folder.mkdir(parents=True), "project"),
        (lambda folder: (folder / ".git").mkdir(parents=True), "project"),
        (lambda folder: put(folder / ".git", "gitdir: /nowhere\n"), "planted"),
        (repository, "planted"),
        (lambda folder: put(folder / "HEAD", "ref: refs/heads/main\n"), "project"),
    ],
    ids=["a folder", "an empty .git", "a worktree or submodule", "a repository", "a bare one"],
)
def test_a_hook_finds_its_program_in_the_repository_that_the_client_was_started_in(
    tmp_path: Path, mark: Callable[[Path], object], runs: str, shell: str
) -> None:
    needs(shell)
    project = plant(repository(tmp_path / ODD))
    planted = project / "vendor" / ODD
    mark(planted)
    plant(planted)
    (planted / "deep").mkdir()
    (tmp_path / "link").symlink_to(planted / "deep")
    expected = {"project": str(project), "planted": str(planted)}[runs]
    assert run_from(planted, shell) == expected
    for start in (planted, planted / "deep", tmp_path / "link"):
        misleading = {"PWD": str(start), "d": "/", "CDPATH": "/", "GIT_DIR": "/x/.git", "GIT_WORK_TREE": "/x"}
        assert run_from(start, shell, **misleading) == expected
    assert run_from(project, shell) == str(project)


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")


@needs_root
@pytest.mark.parametrize(
    ("theirs", "user", "runs"),
    [
        ((), 0, True),
        ((".",), 0, False),
        ((".hookctl",), 0, False),
        ((".", ".hookctl"), STRANGER, True),
        ((".hookctl",), STRANGER, True),
        ((), STRANGER, False),  # root's: it is not the caller's own
        ((), None, False),
    ],
)
def test_a_hook_runs_no_program_in_a_folder_of_another_user(
    give: Callable[..., Path], theirs: tuple[str, ...], user: int | None, runs: bool
) -> None:
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        project = plant(repository(Path(root) / "project"))
        for name in theirs:
            give(project / name)
        if user is None:
            user = STRANGER
            give(project, STRANGER + 1)
        assert run_from(project, user=user) == (str(project) if runs else "")


@needs_root
@pytest.mark.parametrize(
    ("link", "folder", "runs"),
    [(STRANGER, STRANGER, True), (0, STRANGER, True), (STRANGER + 1, STRANGER, False), (STRANGER, STRANGER + 1, False),
     (STRANGER + 1, 0, False), (0, 0, False)],
)  # fmt: skip
def test_a_link_to_a_folder_is_looked_at_too(link: int, folder: int, runs: bool) -> None:
    with tempfile.TemporaryDirectory() as root:
        Path(root).chmod(0o755)
        project = repository(Path(root) / "project")
        plant(project)
        (project / ".hookctl").rename(project / "real")
        (project / ".hookctl").symlink_to("real")
        os.chown(project / ".hookctl", link, link, follow_symlinks=False)
        os.chown(project / "real", folder, folder)
        assert run_from(project, user=STRANGER) == (str(project) if runs else "")


@pytest.mark.parametrize(("host", "code"), [("codex", 1), ("claude", 0), ("gemini", 0)])
def test_a_project_below_the_top_of_its_repository_is_refused_where_the_host_looks_there(
    isolated: Path, hookctl: Hookctl, host: str, code: int
) -> None:
    repository(isolated / "work")
    below = isolated / "work" / "packages" / "a"
    below.mkdir(parents=True)
    done = hookctl("install", "--host", host, "--scope", "project", "--project", str(below))
    assert done.code == code
    assert (f"--project {isolated}/work" in done.err) == (code != 0)
    assert list(below.iterdir()) == [] or code == 0


# I7: root in somebody's home.
WRITING = [
    ("install", "--host", "claude"), ("uninstall",), ("uninstall", "--all", "--yes"), ("doctor", "--fix"),
    ("run", "start"), ("run", "remaining", "1"), ("run", "heartbeat"), ("restore", "x"),
]  # fmt: skip


@needs_root
@pytest.mark.parametrize("verb", WRITING, ids=" ".join)
@pytest.mark.parametrize("whose", ["home", "state", "data"])
def test_root_writes_nothing_into_another_users_home(
    isolated: Path, hookctl: Hookctl, give: Callable[..., Path], monkeypatch: pytest.MonkeyPatch,
    verb: tuple[str, ...], whose: str,
) -> None:  # fmt: skip
    if whose == "home":
        give(isolated / "home")
    else:
        monkeypatch.setenv(f"HOOKCTL_{whose.upper()}_DIR", str(give(isolated / "bob") / "deep" / "er"))
    done = hookctl(*verb)
    assert (done.code, "sudo -u" in done.err) == (1, True)
    assert os.listdir(isolated / "home") == []
    assert os.listdir(isolated / "work") == []
    assert not (isolated / "state").exists()
    assert whose == "home" or os.listdir(isolated / "bob") == []


# I12: no home, no file descriptors.
HOMELESS = [("status",), ("install", "--host", "claude"), ("doctor",), ("hosts",), ("run", "status"), ("log",)]


@pytest.mark.parametrize(
    ("home", "verb"),
    [*((None, verb) for verb in HOMELESS), *((home, ("status",)) for home in ("", "relative", "~", "~/x"))],
    ids=str,
)
def test_without_a_home_there_is_one_clear_error(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, home: str | None, verb: tuple[str, ...]
) -> None:
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    done = hookctl(*verb)
    assert (done.code, done.out) == (4, "")
    assert "HOME" in done.err
    assert os.listdir(isolated / "work") == []


# S14: modes and control characters.
def test_nobody_else_may_write_what_a_project_gets(isolated: Path, hookctl: Hookctl, fixed_python: None) -> None:
    """Agents run what stands there, for whoever starts them."""
    pack = put(isolated / "own" / "pack.toml", manifest("own", pack_hook("Stop", "{files}/own.sh"), files=["own.sh"]))
    put(isolated / "own" / "own.sh", "true\n").chmod(0o777)
    old = os.umask(0)
    try:
        assert hookctl("run", "remaining", "1").code == 0
        for name in ("guard", str(pack)):
            assert hookctl("install", name, "--host", "claude", "--host", "codex", "--scope", "project").code == 0
    finally:
        os.umask(old)
    made = [path for name in (".claude", ".codex", ".hookctl") for path in (isolated / "work" / name).rglob("*")]
    assert len(made) > 20 and not [path for path in made if path.stat().st_mode & 0o002]


# Folders of our own that a project would have: its `.env` may set where they lie.
@pytest.mark.parametrize(
    ("variable", "value", "is_refused"),
    [
        ("HOOKCTL_STATE_DIR", ".s", True), ("HOOKCTL_DATA_DIR", ".d", True),
        ("XDG_STATE_HOME", "/proc/self/cwd/x", True), ("XDG_DATA_HOME", "/proc/self/cwd", True),
        ("HOOKCTL_STATE_DIR", "sub/../.s", True),
        ("HOOKCTL_STATE_DIR", "../linked/.s", True), ("HOOKCTL_STATE_DIR", "../state", False),
        ("XDG_STATE_HOME", "HOME/.local/state", False),
    ],
)  # fmt: skip
def test_no_folder_of_ours_lies_in_a_project(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, is_refused: bool
) -> None:
    (isolated / "work" / ".git").mkdir()
    (isolated / "work" / "sub").mkdir()
    (isolated / "home" / ".git").mkdir()  # HOME in version control is no project
    (isolated / "linked").symlink_to("work")
    for name in ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):
        if variable.startswith("XDG"):
            monkeypatch.delenv(name)
    monkeypatch.setenv(variable, value.replace("HOME", str(isolated / "home")))
    before = sorted(isolated.rglob("*"))
    for command in (("install", "--host", "claude"), ("run", "remaining", "3"), ("status",), ("doctor",), ("log",)):
        done = hookctl(*command, "--json")
        codes = [error["code"] for error in done.result["errors"]]
        assert ("unsafe_path" in codes) == is_refused, command
    assert hookctl("check").code == 0
    assert (sorted(isolated.rglob("*")) == before) == is_refused


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
def test_the_mark_of_another_user_in_a_sticky_folder_is_none(tmp_path: Path) -> None:
    top = tmp_path / "T"
    (top / ".git").mkdir(parents=True)
    (top / "work").mkdir()
    top.chmod(0o1777)
    assert project.search(str(top / "work"), {"HOME": "/home/me"}) == str(top)
    shutil.chown(top / ".git", 12346, 12346)
    assert project.search(str(top / "work"), {"HOME": "/home/me"}) == str(top / "work")
    assert module("call").find_project(str(top / "work"), "/home/me") == str(top / "work")


# Which Python runs the hooks: one that is really there, and will be tomorrow.
BASE = os.path.realpath(getattr(sys, "_base_executable", "") or sys.executable)


class Machine:
    """A machine with no Python but those that a test puts there."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.monkeypatch = root, monkeypatch
        self.path("usr/bin")

    def path(self, *folders: str) -> None:
        """The first is the system's own folder, the rest is PATH."""
        system, *others = [str(self.root / folder) for folder in folders]
        self.monkeypatch.setattr(interpreter, "_SYSTEM", (system,))
        self.monkeypatch.setenv("PATH", os.pathsep.join(others))

    def script(self, name: str, text: str) -> str:
        path = put(self.root / name, f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def python(self, name: str, version: str = "3\\n11", answers: str = "") -> str:
        """A Python that says that it is itself, or another."""
        return self.script(name, f"printf '{answers or self.root / name}\\n{version}\\n'")

    def choice(self) -> str:
        """The one that is chosen, or nothing where it is the base of the running one."""
        chosen, warning = interpreter.choose(os.environ)
        assert not warning or chosen == BASE
        return "" if chosen == BASE else chosen


@pytest.fixture
def machine(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(isolated, monkeypatch)


def test_the_systems_own_is_chosen(machine: Machine) -> None:
    system, other = machine.python("usr/bin/python3"), machine.python("opt/bin/python3")
    machine.path("usr/bin", "opt/bin")
    assert machine.choice() == system
    machine.path("no/such/folder", "opt/bin")
    assert machine.choice() == other


@pytest.mark.parametrize(
    "text",
    [
        "exit 1", "exit 0", "echo /usr/bin/python3", "echo nonsense; echo 3; echo eleven", "echo; echo 3; echo 11",
        "echo relative/python3; echo 3; echo 11", "printf '/a\\n/b\\n3\\n11\\n'", "printf '\\377\\n3\\n11\\n'",
        "kill -9 $$",
    ],
)  # fmt: skip
def test_what_does_not_say_what_it_is_is_passed_over(machine: Machine, text: str) -> None:
    machine.script("usr/bin/python3", text)
    assert machine.choice() == ""
    good = machine.python("good/python3")
    machine.path("usr/bin", "good")
    assert machine.choice() == good


def test_files_that_cannot_run_are_passed_over(machine: Machine) -> None:
    put(machine.root / "usr" / "bin" / "python3", "#!/bin/sh\n").chmod(0o644)
    assert machine.choice() == ""
    (machine.root / "dir" / "python3").mkdir(parents=True)
    put(machine.root / "bad" / "python3", "#!/no/such/interpreter\n").chmod(0o755)
    put(machine.root / "binary" / "python3", b"\x7fELF\0\0").chmod(0o755)
    machine.path("usr/bin", "dir", "bad", "binary")
    assert machine.choice() == ""


def test_a_real_virtual_environment_is_passed_over(machine: Machine) -> None:
    subprocess.run([BASE, "-m", "venv", "--without-pip", str(machine.root / "venv")], check=True)
    assert interpreter.ask(str(machine.root / "venv" / "bin" / "python3")) is not None
    machine.path("usr/bin", "venv/bin")
    assert machine.choice() == ""


def test_a_shim_is_never_chosen_itself(machine: Machine) -> None:
    """What a shim calls is chosen if it will be there tomorrow, and not if it belongs to a version manager."""
    machine.python("shims/python3", answers=str(machine.root / "versions" / "3.12.1" / "bin" / "python3"))
    machine.path("usr/bin", "shims")
    assert machine.choice() == ""
    real = machine.python("real/python3")
    machine.script("shims/python3", f"exec {real}")
    assert machine.choice() == real
    machine.python("shims/python3", answers=str(machine.root / "cpython-3.11.7-linux" / "bin" / "python3"))
    assert machine.choice() == ""


def test_the_environment_does_not_change_what_an_interpreter_says(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.script("usr/bin/python3", f'[ -z "$PYTHONHOME$MARK" ] && printf "{machine.root}/x\\n3\\n11\\n"')
    monkeypatch.setenv("MARK", "x")
    assert machine.choice() == f"{machine.root}/x"


def test_install_keeps_an_interpreter_that_still_runs_and_replaces_one_that_is_gone(
    machine: Machine, hookctl: Hookctl, settings: Path
) -> None:
    first = machine.python("usr/bin/python3")
    assert hookctl("install", "--host", "claude").code == 0
    assert f"hookctl=guard/stop; {first} -I -S " in settings.read_text()
    machine.path("other/bin")
    second = machine.python("other/bin/python3")
    assert hookctl("install", "--host", "claude").out == "nothing to do\n"
    os.unlink(first)
    assert hookctl("install", "--host", "claude").code == 0
    assert f"hookctl=guard/stop; {second} -I -S " in settings.read_text()
    assert first not in settings.read_text()


# hookctl and the hook agree on which folder is the project, and on where its state lies.
digest = module("files").digest


def by_hook(start: str) -> str:
    """The project as the hook finds it: the lines of its read_call that lead there."""
    here = os.getcwd()
    try:
        home, enter = module("call").home_folder(), module("files").enter
        named = enter(start)
        return module("call").find_project(named or here, enter(home) or home)
    finally:
        os.chdir(here)


def both(start: Path | str) -> str:
    """The project, once it is sure that both find the same."""
    found = project.find(str(start), os.environ)
    assert by_hook(str(start)) == found
    return found


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize(("folders", "home", "start", "expected"), rows("projects"))
def test_the_nearest_marked_folder(
    isolated: Path, monkeypatch: pytest.MonkeyPatch, folders: str, home: str, start: str, expected: str
) -> None:
    root = isolated / "tree"
    make(root, *folders.split())
    monkeypatch.setenv("HOME", str(root / home))
    assert both(root / start) == str(root / expected)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_a_folder_of_another_user_is_passed_over(isolated: Path) -> None:
    make(isolated, "a/.git", "a/b/.git", "a/b/c")
    os.chown(isolated / "a" / "b", 12345, -1)
    assert both(isolated / "a" / "b" / "c") == str(isolated / "a")


@pytest.mark.parametrize("home", ["", "relative", "/", "//", None])
def test_an_odd_home_is_odd_to_both(isolated: Path, monkeypatch: pytest.MonkeyPatch, home: str | None) -> None:
    """Where HOME is no absolute path, both ask the user database."""
    root = isolated / "tree"
    make(root, ".git", "a/b")
    entry = list(pwd.getpwuid(os.getuid()))
    entry[5] = str(root / "a")
    monkeypatch.setattr("pwd.getpwuid", lambda uid: pwd.struct_passwd(entry))
    if home is None:
        monkeypatch.delenv("HOME")
    else:
        monkeypatch.setenv("HOME", home)
    assert both(root / "a" / "b") == str(root if home in ("/", "//") else root / "a" / "b")


def test_the_state_folder_is_that_of_the_real_path(isolated: Path) -> None:
    make(isolated, "real")
    (isolated / "link").symlink_to(isolated / "real")
    folder = project.state_folder("/state", str(isolated / "link"))
    assert folder == project.state_folder("/state", str(isolated / "real"))
    assert folder == f"/state/guard/{digest(str(isolated / 'real'))}"


# The runner's table and launcher in a project: one for several hosts, and none that is a link.
PACK = '[pack]\nname = "own"\nversion = "1"\n\n[[hooks]]\nevent = "PreToolUse"\ncommand = "true"\n'


@pytest.fixture
def own(isolated: Path, hookctl: Hookctl, fixed_python: None) -> Path:
    """A project's folder of hookctl, with a pack for two hosts."""
    top = isolated / "work"
    (top / ".git").mkdir()
    pack = put(top / "own" / "pack.toml", PACK)
    assert hookctl("install", str(pack), "--host", "claude", "--host", "codex", "--scope", "project").code == 0
    return top / ".hookctl"


def test_one_table_has_all_hosts_that_have_a_pack(own: Path, hookctl: Hookctl) -> None:
    for named in (["claude", "codex"], ["codex"]):
        table = json.loads((own / "runtime" / "hosts.json").read_text())
        assert table["packs"] == {host: ["own"] for host in named}
        assert table["hosts"].keys() >= {*named}, "and those that read their files"
        assert hookctl("check", "--require", "own").code == 0
        assert hookctl("uninstall", "own", "--host", named[0], "--scope", "project").code == 0
    assert not own.exists()


@pytest.mark.parametrize("text", [None, "[", '{"hosts": {"claude": {}}}'], ids=["gone", "broken", "refuses nothing"])
def test_a_table_of_hosts_that_is_not_ours_is_named_and_written_anew(own: Path, hookctl: Hookctl, text: str) -> None:
    table = own / "runtime" / "hosts.json"
    written = table.read_bytes()
    table.unlink() if text is None else table.write_text(text)
    code = "hook_missing" if text is None else "hook_changed"
    for command in (("check", "--require", "own"), ("doctor", "--host", "claude", "--scope", "project")):
        found = hookctl(*command, "--json").data["findings"]
        assert (code, str(table), "error") in [(one["code"], one["path"], one["level"]) for one in found], command
    place = ("--host", "claude", "--scope", "project")
    assert hookctl("install", str(own.parent / "own" / "pack.toml"), *place).code == 0
    assert table.read_bytes() == written and hookctl("check", "--require", "own").code == 0
