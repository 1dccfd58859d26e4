"""hookctl restore at a terminal, and its backups; what it puts back: tests/stories/restore-*.txt."""

from __future__ import annotations

import os
import re
import stat
import struct
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from hookctl.__main__ import run
from hookctl.system import files, folders
from tests.conftest import Hookctl, put
from tests.disk import quiet

THEIRS = '{"model": "m"}\n'
LATER = '"model": "later"'
GUARD = ("install", "--host", "claude")


@pytest.fixture
def edited(hookctl: Hookctl, settings: Path, fixed_python: None) -> str:
    """A settings file that somebody edited after hookctl's last write."""
    put(settings, THEIRS)
    assert hookctl(*GUARD).code == 0
    put(settings, settings.read_text().replace('"model": "m"', LATER))
    return str(settings)


def test_what_changes_after_the_answer_is_not_undone(
    edited: str, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    def agree(question: str) -> bool:
        put(Path(edited), Path(edited).read_text().replace(LATER, '"model": "still later"'))
        return bool(question)

    monkeypatch.setattr("hookctl.verbs.restore.confirm", agree)
    outcome = hookctl("restore", edited, agrees=False)
    assert (outcome.code, "what you agreed to has changed meanwhile" in outcome.err) == (1, True)
    assert "still later" in Path(edited).read_text()


def test_a_command_of_ours_with_an_earlier_python_is_no_edit(
    hookctl: Hookctl, settings: Path, fixed_python: None
) -> None:
    put(settings, THEIRS)
    assert hookctl(*GUARD).code == 0
    earlier = re.sub(r"\[ -x (\S+) \] && \1 ", "[ -x /earlier/python3 ] && /earlier/python3 ", settings.read_text())
    put(settings, earlier)
    assert hookctl(*GUARD, "--set", "max_stop_blocks=9").code == 0
    assert hookctl("restore", str(settings), "--to", "2").code == 0
    assert settings.read_text() == earlier
    assert "kept" not in hookctl("uninstall").out
    assert settings.read_text() == THEIRS


def pages(settings: Path) -> list[Path]:
    """What lies beside the backups of a settings file: the ledger's pages of then."""
    return sorted(Path(files.backup_folder(folders.here(), str(settings))).glob("*.page"))


def test_pages_lie_beside_their_backups_for_nobody_else(settings: Path, hookctl: Hookctl) -> None:
    put(settings, THEIRS)
    for limit in range(5, 5 + files.KEEP + 3):
        assert hookctl("install", "--host", "claude", "--set", f"max_stop_blocks={limit}").code == 0
    assert len(pages(settings)) == files.KEEP
    assert {page.stat().st_mode & 0o777 for page in pages(settings)} == {0o600}
    assert all(page.with_suffix("").exists() for page in pages(settings))


# Backups end: a month after the uninstall, with any command that writes.
pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture
def backups(isolated: Path, settings: Path, hookctl: Hookctl) -> Path:
    """The folder of backups, with those of a file in which nothing is installed any more."""
    put(settings, THEIRS)
    assert hookctl("install", "--host", "claude").code == 0
    assert hookctl("uninstall").code == 0
    return isolated / "state" / "backups"


def age(folder: Path, days: float) -> None:
    for path in folder.rglob("*"):
        moment = path.stat().st_mtime - days * 24 * 3600
        os.utime(path, (moment, moment))


def kept(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("verb", [("install", "--host", "qwen"), ("uninstall", "--host", "qwen")])
@pytest.mark.parametrize(("days", "stays"), [(29, True), (31, False)])
def test_a_writing_command_removes_them_after_a_month(
    days: float, stays: bool, verb: tuple[str, ...], backups: Path, settings: Path, hookctl: Hookctl
) -> None:
    if verb[0] == "uninstall":
        assert hookctl("install", "--host", "qwen").code == 0
    age(backups, days)
    assert hookctl(*verb).code == 0
    assert any(path.read_text() == THEIRS for path in kept(backups)) == stays


# Owner, group, mode and access list of a settings file: nobody is let in, and nobody loses access.
ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
OWNER, CALLER, SHARED, STRANGER = 41001, 41002, 42000, 44321
ACCESS, DEFAULT = "system.posix_acl_access", "system.posix_acl_default"
INSTALL = ("install", "--host", "claude")
OPUS = '{"model": "opus"}\n'


def as_user(user: int, groups: list[int], action: Callable[[], int]) -> int:
    """The exit code of an action, in a child that belongs to this user and to these groups."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            os.setgroups(groups)
            os.setgid(user)
            os.setuid(user)
            code = action()
        except BaseException:
            traceback.print_exc()
        os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def access_list(named: dict[int, int], owner: int = 7, group: int = 5, mask: int = 7) -> bytes:
    """A POSIX access list: the owner, these users, the group, the mask and the others."""
    nobody = 0xFFFFFFFF
    rows = [(1, owner, nobody), *((2, rights, user) for user, rights in named.items())]
    rows += [(4, group, nobody), (16, mask, nobody), (32, 0, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


def set_list(path: Path, name: str, data: bytes) -> None:
    try:
        os.setxattr(path, name, data)
    except OSError as error:
        pytest.skip(f"no access lists here: {error}")


def owner_and_mode(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)


@pytest.fixture
def open_to_others(tmp_path_factory: pytest.TempPathFactory, isolated: Path) -> Path:
    """The folder of the test, with every folder above it open to other users."""
    for folder in (isolated, *isolated.parents):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    return isolated


@pytest.fixture
def loaded(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every module that an install imports, since another user may not be able to read them."""
    with monkeypatch.context() as patch:
        for name in ("HOME", "HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):
            patch.setenv(name, str(tmp_path_factory.mktemp("other")))
        assert quiet(*INSTALL) == 0
        assert quiet("uninstall") == 0


@pytest.fixture
def shared_file(loaded: None, open_to_others: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A settings file of OWNER and the group SHARED, in a folder that CALLER may write too.

    Such a folder is refused at install; what was installed before that rule must still be right.
    """
    monkeypatch.setattr("hookctl.system.owners.require_safe", lambda *paths, ways=(): None)
    put(settings, OPUS)
    for path, group, mode in ((settings.parent, SHARED, 0o775), (settings, SHARED, 0o660)):
        os.chown(path, CALLER if path != settings else OWNER, group)
        path.chmod(mode)
    for folder in (open_to_others, open_to_others / "home", open_to_others / "work"):
        os.chown(folder, CALLER, CALLER)
    return settings


# Whose file it is, its mode, whether the caller is in its group; and afterwards, or who would lose or get access.
OWNERS = [
    (OWNER, 0o660, [SHARED], f"user {OWNER}"),
    (0, 0o660, [SHARED], "user 0"),
    (CALLER, 0o660, [], f"group {SHARED}"),  # the caller's own group would be let in
    (CALLER, 0o600, [], (CALLER, CALLER, 0o600)),  # a group without rights of its own may change
]


@ROOT
@pytest.mark.parametrize(("owner", "mode", "groups", "after"), OWNERS)
def test_nobody_loses_access_or_gets_it(
    shared_file: Path, capfd: pytest.CaptureFixture[str], owner: int, mode: int, groups: list[int], after: object
) -> None:
    os.chown(shared_file, owner, SHARED)
    shared_file.chmod(mode)
    before = owner_and_mode(shared_file)
    refused = isinstance(after, str)
    assert as_user(CALLER, groups, lambda: run(list(INSTALL))) == int(refused)
    said = capfd.readouterr().err
    if isinstance(after, str):
        assert after in said and str(shared_file) in said.replace("~", str(shared_file.parents[1]))
        assert [path.name for path in shared_file.parent.iterdir()] == ["settings.json"]
    assert owner_and_mode(shared_file) == (before if refused else after)
    if not refused:
        assert as_user(CALLER, groups, lambda: quiet("uninstall")) == 0
        assert owner_and_mode(shared_file) == after
    assert shared_file.read_text() == OPUS


@pytest.mark.parametrize("has_list", [False, True])
def test_a_file_keeps_its_access_list_and_gets_none_from_its_folder(
    settings: Path, hookctl: Hookctl, has_list: bool
) -> None:
    put(settings, OPUS).chmod(0o640)
    if has_list:
        set_list(settings, ACCESS, access_list({STRANGER: 4}, owner=6, group=0, mask=4))
    set_list(settings.parent, DEFAULT, access_list({STRANGER: 7}))

    def rights() -> tuple[bytes, int]:
        return os.getxattr(settings, ACCESS) if ACCESS in os.listxattr(settings) else b"", settings.stat().st_mode

    before = rights()
    assert bool(before[0]) == has_list
    for command in (INSTALL, ("uninstall",)):
        assert hookctl(*command).code == 0
        assert rights() == before


def test_a_new_file_lets_in_nobody_by_an_access_list(settings: Path, hookctl: Hookctl) -> None:
    """The rights of a list end at the mode's group bits, which a private file has none of."""
    settings.parent.mkdir()
    set_list(settings.parent, DEFAULT, access_list({STRANGER: 7}))
    assert hookctl(*INSTALL).code == 0
    assert stat.S_IMODE(settings.stat().st_mode) == 0o600


def test_an_access_list_that_cannot_be_kept_is_refused(
    settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without it, the group would have the rights of its mask."""
    put(settings, OPUS)
    set_list(settings, ACCESS, access_list({STRANGER: 6}, owner=6, group=0, mask=6))

    def fail(*arguments: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "setxattr", fail)
    outcome = hookctl(*INSTALL)
    assert (outcome.code, "Operation not supported" in outcome.err, settings.read_text()) == (1, True, OPUS)
