"""Two packs, other settings, a disable, a moved HOME, in each kind of settings file: nothing stays behind."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.conftest import Hookctl, put
from tests.hostfiles import KINDS, Kind
from tests.manifest import hook, manifest
from tests.test_corpus_every_host import counts
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

PACK = manifest(
    "notify",
    hook("Stop", "true done", id="done"),
    hook("PreToolUse", "true asked", matcher="Bash", id="asked", timeout=7),
)
CASES = [(kind, scope) for kind in KINDS for scope in kind.files]


def first_file(kind: Kind) -> bytes | None:
    """A look-alike with a hook of another tool in it, if there is one; none for a plugin."""
    found = [path for path in kind.corpus() if counts(kind, path)]
    with_hooks = [path for path in found if b"bell" in path.read_bytes() and b"hookctl=" not in path.read_bytes()]
    return (with_hooks or found)[0].read_bytes() if found else None


def kept(top: Path) -> dict[str, tuple[object, ...]]:
    """The mode of each file and folder, and the bytes of each file; hookctl's own backups apart."""
    found = {name: (about[0], *about[2:]) for name, about in tree(top).items()}
    return {name: about for name, about in found.items() if not re.match(r"home/\.local(/state.*)?$", name)}


@pytest.mark.parametrize(("kind", "scope"), CASES, ids=[f"{kind.name}-{scope}" for kind, scope in CASES])
def test_nothing_stays_behind(
    kind: Kind, scope: str, isolated: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, pack = ("--host", kind.host, "--scope", scope), str(put(isolated / "notify.toml", PACK))
    (isolated / "work" / ".git").mkdir()
    for name in ("HOOKCTL_STATE_DIR", "HOOKCTL_DATA_DIR"):  # they lie in HOME, and go with it
        monkeypatch.delenv(name)
    path, before = kind.path(isolated, scope), first_file(kind)
    if before is not None:
        put(path, before)
    start = kept(isolated)

    def run(*arguments: str) -> bytes:
        done = hookctl(*arguments)
        assert done.code == 0, (arguments, done)
        return path.read_bytes() if path.exists() else b""

    one = run("install", *place)
    both = run("install", pack, *place)
    assert one != both and b": hookctl=notify/" in both
    run("install", "--set", "max_stop_blocks=3", *place)
    assert run("install", "--reset", *place) == both
    assert run("upgrade", "--yes") == both
    for command in (("status",), ("hooks",), ("doctor", "--host", kind.host)):
        assert hookctl(*command).code in (0, 1)
        assert path.read_bytes() == both, command
    run("disable", "guard", "notify")
    assert run("enable", "notify", "guard") == both
    if scope == "user":
        os.rename(isolated / "home", isolated / "elsewhere")
        monkeypatch.setenv("HOME", str(isolated / "elsewhere"))
        path = isolated / "elsewhere" / path.relative_to(isolated / "home")
        assert kind.host in str(hookctl("status", "--json").data["files"])
    assert b"".join(run("uninstall", "notify", *place).split()) == b"".join(one.split())
    run("uninstall", "--all", "--yes")
    if scope == "user":
        os.rename(isolated / "elsewhere", isolated / "home")
    assert kept(isolated) == start
