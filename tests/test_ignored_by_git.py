"""Files that a team needs and git ignores: install and check say so, and start nothing but git itself."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.manifest import hook, manifest

pytestmark = pytest.mark.usefixtures("fixed_python")

INSTALL = ("install", "--host", "claude", "--scope", "project")
SETTINGS = ".claude/settings.json"


def git(*arguments: str, folder: Path | None = None) -> str:
    """What git says, in a repository with a user of its own."""
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    done = subprocess.run(["git", *named, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def ignore(path: str, *lines: str) -> Callable[[Path], None]:
    def arrange(root: Path) -> None:
        put(root / path, "\n".join(("# mine", *lines, "")))

    return arrange


def of_the_user(root: Path) -> None:
    ignore("home/.config/git/ignore", ".claude/")(root)


NOTHING: tuple[str, ...] = ()
# What is arranged, what install then names, and whether check names it too
RULES = {
    "nothing ignored": (ignore("work/.gitignore", "node_modules/", ".hookctl/run/"), NOTHING, True),
    "the settings' folder": (ignore("work/.gitignore", ".claude/"), (".claude/settings.json (.gitignore:2)",), True),
    "the settings": (ignore("work/.claude/.gitignore", "*.json"), ("settings.json (.claude/.gitignore:2)",), True),
    "our folder": (ignore("work/.gitignore", "", "/.hookctl"), ("git ignores .hookctl (.gitignore:3)",), True),
    "only programs": (ignore("work/.gitignore", "*.py"), ("git ignores .hookctl (.gitignore:2)",), True),
    "taken back in": (ignore("work/.gitignore", ".claude/*", "!.claude/settings.json"), NOTHING, True),
    "this checkout": (ignore("work/.git/info/exclude", ".claude"), ("(.git/info/exclude:2)",), True),
    "of the user": (of_the_user, ("home/.config/git/ignore:2)",), False),
}


@pytest.mark.parametrize("name", RULES)
def test_what_git_ignores_is_named(isolated: Path, hookctl: Hookctl, name: str) -> None:
    arrange, named, for_check = RULES[name]
    git("init")
    arrange(isolated)
    done = hookctl(*INSTALL)
    told = [line for line in done.out.splitlines() if "git ignores" in line]
    said = " ".join(done.out.split())
    assert done.code == 0
    assert len(told) == len(named)
    assert all(part in said for part in named), said
    assert "commit .claude/settings.json and .hookctl" in said
    levels = ["warning", "error"] if named and for_check else [None, None]
    for level, required in zip(levels, ((), ("--require", "guard")), strict=True):
        result = hookctl("check", *required, "--json")
        found = [(finding["code"], finding["level"]) for finding in result.data["findings"]]
        assert found == ([("not_committed", level)] if level else [])
        assert result.code == (1 if level == "error" else 0)


PACK = manifest(
    "notify",
    hook("stop", "sh {files}/notify.sh"),
    protocol="host",
    description="Tells you",
    files=["notify.sh", "lib/texts"],
)


def test_a_clone_of_what_install_names_can_be_upgraded(isolated: Path, hookctl: Hookctl) -> None:
    """The pack's own files too; and they are asked about as the settings are."""
    work = isolated / "work"
    git("init")
    for name, text in {"pack.toml": PACK, "notify.sh": "echo\n", "lib/texts": "a\n"}.items():
        put(work / "tools" / name, text)
    put(work / ".gitignore", "texts\n")
    pack = ("install", "tools/pack.toml", *INSTALL[1:], "--yes")
    assert "git ignores .hookctl/packs/notify/lib/texts and tools/lib/texts" in " ".join(hookctl(*pack).out.split())
    assert hookctl("uninstall", "notify", "--scope", "project").code == 0
    (work / ".gitignore").unlink()
    said = " ".join(hookctl(*pack).out.split())
    paths = said.partition(" commit ")[2].partition(", so that")[0].replace(" and ", " ").split()
    git("add", *paths)
    git("commit", "-m", "a")
    git("clone", str(work), str(isolated / "clone"))
    assert hookctl("upgrade", "--project", str(isolated / "clone"), "--yes").code == 0


@pytest.mark.parametrize("path", ["", "bin", "{work}/bin"])
def test_without_git_nothing_is_said(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """A git that the project brings is none."""
    git("init")
    ignore("work/.gitignore", ".claude/")(isolated)
    put(isolated / "work/bin/git", f"#!/bin/sh\ntouch {isolated}/ran\n").chmod(0o755)
    monkeypatch.setenv("PATH", path.format(work=isolated / "work"))
    done = hookctl(*INSTALL)
    assert (done.code, "git ignores" in done.out) == (0, False)
    assert hookctl("check", "--require", "guard").code == 0
    assert not (isolated / "ran").exists()


def test_no_program_that_the_repository_names_is_run(
    isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, ran = isolated / "work", isolated / "ran"
    git("init")
    assert hookctl(*INSTALL).code == 0
    git("add", ".")
    git("commit", "-m", "a")
    ignore("work/.gitignore", ".claude/")(isolated)
    git("rm", "--cached", SETTINGS)
    evil = put(work / "evil", f"#!/bin/sh\necho $0 $* >> {ran}\n")
    evil.chmod(0o755)
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(evil, put(work / "hooks" / name, ""))
    git("config", "core.fsmonitor", str(evil))
    git("update-index", "--fsmonitor")
    git("status")
    assert ran.exists(), "what is planted works"
    for name, value in {
        "core.hooksPath": work / "hooks", "core.pager": evil, "pager.check-ignore": evil,
        "alias.check-ignore": f"!{evil}", "core.sshCommand": evil, "core.editor": evil, "core.gitProxy": evil,
        "filter.x.clean": evil, "filter.x.process": evil, "diff.external": evil, "credential.helper": f"!{evil}",
        "remote.origin.url": isolated, "remote.origin.uploadpack": evil, "remote.origin.promisor": "true",
        "extensions.partialClone": "origin", "protocol.allow": "always", "core.alternateRefsCommand": evil,
    }.items():  # fmt: skip
        git("config", name, str(value))
    put(work / ".gitattributes", "* filter=x\n")
    for index in ("", str(work / ".git" / "index")):
        monkeypatch.setenv("GIT_INDEX_FILE", index) if index else None
        monkeypatch.setenv("GIT_DIR", str(work / ".git")) if index else None
        ran.unlink(missing_ok=True)
        before = (work / ".git" / "index").read_bytes()
        assert hookctl("check", "--require", "guard").code == 1
        hookctl("doctor")
        assert "git ignores" in hookctl(*INSTALL, "--set", f"max_stop_blocks={7 + len(index[:1])}").out
        assert not ran.exists(), ran.read_text()
        assert (work / ".git" / "index").read_bytes() == before
