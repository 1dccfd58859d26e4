"""The invariants of ownership on real files, each with a test of its name.

Of the seventeen, 3, 5, 7, 10, 11 and 14 (once is enough, leaving commutes with the operator's edits and with other
packs, wherever a hook stands) are held by the state machine in test_machine.py, 12 (a kill at any step) by
test_crash.py, 16 (doctor bears any bytes) by test_doctor.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookctl.documents.jsonc import JsonDocument
from hookctl.hosts import load, shapes
from hookctl.model import Wanted
from hookctl.ownership import store
from hookctl.system import folders
from tests import plain
from tests.conftest import Hookctl, put
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

CLAUDE = load("claude")

HOST = ("--host", "claude")
THEIRS = {"type": "command", "command": "say done", "timeout": 5}
OWN: dict[str, Any] = {
    "model": "m",
    "env": {"COLOUR": "vim", "BIG": "12345678901234567890"},
    "hooks": {"Stop": [{"hooks": [THEIRS]}], "PreToolUse": [{"matcher": "Bash", "hooks": [THEIRS]}]},
    "ratios": [0.5, 12345678901234567890, {"é": "ü"}],
}
TEXT = json.dumps(OWN, indent=2, ensure_ascii=False) + "\n"
# What operators and hosts make of a settings file; None: there is none.
DIALECTS = {
    "two spaces": TEXT.encode(),
    "tabs": json.dumps(OWN, indent="\t").encode(),
    "one line": json.dumps(OWN).encode(),
    "minified": json.dumps(OWN, separators=(",", ":"), ensure_ascii=False).encode(),
    "carriage returns": TEXT.replace("\n", "\r\n").encode(),
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "odd": b'{ "env" :{}\n,"hooks": { "Stop" : [ ] } , "a": 1.0e3, "a": 2 }  ',
    "empty object": b"{ }",
    "empty file": b"",
    "no file": None,
}
ALL = pytest.mark.parametrize("data", list(DIALECTS.values()), ids=list(DIALECTS))
FEW = ("two spaces", "carriage returns", "odd", "no file")
SOME = pytest.mark.parametrize("data", [DIALECTS[name] for name in FEW], ids=FEW)


def begin(settings: Path, data: bytes | None) -> None:
    if data is not None:
        put(settings, data)


def pack(name: str, version: str = "1", env: dict[str, str] | None = None, hooks: str = "stop", tail: str = "") -> str:
    """The path of a pack file with these variables, and a hook for each event."""
    lines = ["[pack]", f'name = "{name}"', f'version = "{version}"', "[env]"]
    lines += [f'{key} = "{value}"' for key, value in (env or {}).items()]
    for event in hooks.split():
        lines += ["[[hooks]]", f'event = "{event}"', f'command = "echo {name} {version} {tail}"', "timeout = 10"]
    return str(put(Path(f"{name}.toml"), "\n".join(lines) + "\n").absolute())


def value(path: Path) -> Any:
    data = path.read_bytes().decode("utf-8-sig")
    return json.loads(data) if data.strip() else {}


def ours(document: Any) -> list[str]:
    """The marks of our hooks, in the order of the file."""
    return [element.id for element in plain.elements(document)]


def places(root: Path) -> dict[str, tuple[object, ...]]:
    """Everything that is the operator's: modes, links and bytes, without the times."""
    return {name: (about[0], about[2]) for name, about in tree(root / "home").items()}


# 1, 2: what install and uninstall are to each other


@ALL
def test_invariant_01_install_after_install_is_install(
    data: bytes | None, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    begin(settings, data)
    for what in (("guard",), (pack("p", env={"A": "1", "COLOUR": "vi"}, hooks="stop pre-tool"),)):
        assert hookctl("install", *what, *HOST).code == 0
        before = tree(isolated)
        for force in ((), ("--force",)) if what == ("guard",) else ((),):
            assert "nothing to do" in hookctl("install", *what, *HOST, *force).out
            assert tree(isolated) == before, "bytes, modes, times, ledger and backups"


@pytest.mark.parametrize("link", ["", "link", "dangling"])
@ALL
def test_invariant_02_uninstall_after_install_is_identity(
    data: bytes | None, link: str, settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    real = isolated / "home" / "dotfiles" / "settings.json" if link else settings
    if link:
        real.parent.mkdir()
        settings.parent.mkdir()
        settings.symlink_to(real)
    if data is not None and link != "dangling":
        put(real, data).chmod(0o640)
    before = places(isolated)
    p, q = pack("p", env={"A": "1"}), pack("q", env={"A": "1", "Q": "2"}, hooks="stop pre-tool")
    for what in ("guard", p, q):
        assert hookctl("install", what, *HOST).code == 0
    assert len(ours(value(settings))) == 4
    for name in ("q", "p", "guard"):
        assert hookctl("uninstall", name, *HOST).code == 0
    assert places(isolated) == before
    assert store.load(folders.here()) == {}


# 4, 6: what is the operator's


@SOME
def test_invariant_04_foreign_values_are_unchanged_by_any_command(
    data: bytes | None, settings: Path, hookctl: Hookctl
) -> None:
    begin(settings, data)
    before = foreign(data or b"")
    p = pack("p", env={"P": "1"}, hooks="stop pre-tool")
    for command in (
        ("install",), ("install", p), ("plan", "--set", "max_stop_blocks=9"), ("install", "--set", "max_stop_blocks=9"),
        ("install", "--force"), ("doctor",), ("install", "--mode", "off"), ("install", "--reset"), ("uninstall", "p"),
        ("install", p, "--force"), ("uninstall",), ("uninstall", "p"),
    ):  # fmt: skip
        hookctl(*command, *HOST)
        assert foreign(settings.read_bytes() if settings.exists() else b"") == before, command


def foreign(data: bytes) -> dict[str, Any]:
    """The source text of every value and of every handler that is not ours, where it stands among the others."""
    document = JsonDocument.parse(data)
    root = document.value or {}
    found = {key: document.raw((key,)) for key in root if key not in ("env", "hooks") and data.count(b'"a"') < 2}
    known = ("P", "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP")
    found |= {f"env.{key}": document.raw(("env", key)) for key in root.get("env", {}) if key not in known}
    for path, handler, group in shapes.handlers(CLAUDE.shape, root):
        if not str(handler["command"]).startswith(": hookctl="):
            texts = found.setdefault(f"hooks.{path[1]}", [])
            texts.append((document.raw(path), group.get("matcher")))
    return found


@pytest.mark.parametrize("what", ["edited", "removed", "timeout", "command", "hook removed"])
def test_invariant_06_the_operator_has_the_last_word(what: str, settings: Path, hookctl: Hookctl) -> None:
    put(settings, TEXT)
    old = pack("p", "1", {"A": "1", "B": "2"})
    for path in (old, pack("q", env={"C": "3"})):
        hookctl("install", path, *HOST)
    document = value(settings)
    handler = next(e for e in plain.elements(document) if e.id == "p/stop").path
    group = document["hooks"]["Stop"][handler[2]]
    if what == "edited":
        document["env"]["A"] = "mine"
    elif what == "removed":
        del document["env"]["A"]
    elif what == "timeout":
        group["hooks"][0]["timeout"] = 99
    elif what == "command":
        group["hooks"][0]["command"] += "; mine"
    else:
        document["hooks"]["Stop"].remove(group)

    def word() -> Any:
        here = value(settings)
        found = [e.fields for e in plain.elements(here) if e.id == "p/stop"]
        fields = {"timeout": ["timeout"], "command": ["command", "timeout"]}.get(what, [])
        said = [fields_of[name] for fields_of in found for name in fields]
        return said if what in ("timeout", "command") else found if what == "hook removed" else here["env"].get("A")

    put(settings, json.dumps(document))
    said, new = word(), pack("p", "2", {"A": "7", "B": "8", "C": "3"})
    commands = (("install", new), ("install", "q.toml"), ("install", "guard"), ("uninstall", "q"), ("install", new))
    for command in commands:
        path = str(Path(command[1]).absolute()) if command[1].endswith("q.toml") else command[1]
        outcome = hookctl(command[0], path, *HOST)
        assert outcome.code == 0, outcome
        assert word() == said, command
    hookctl("uninstall", "p", *HOST)
    if what in ("edited", "command"):
        assert word() == said


# 9: nothing else than was planned


def differences(before: Any, after: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys of env, and the events, in which two files differ."""
    for place in ("env", "hooks"):
        old, new = before.get(place, {}), after.get(place, {})
        yield from ((place, key) for key in {*old, *new} if old.get(key) != new.get(key))


@pytest.mark.parametrize("force", [(), ("--force",)])
@ALL
def test_invariant_09_the_plan_is_exact(
    data: bytes | None, force: tuple[str, ...], settings: Path, isolated: Path, hookctl: Hookctl
) -> None:
    begin(settings, data)
    path = pack("p", env={"COLOUR": "vi", "A": "1"}, hooks="stop pre-tool")
    for verb, what in (("install", (path, *force)), ("install", ("guard", *force)), ("uninstall", ("p",))):
        before, then = tree(isolated), value(settings) if settings.exists() else {}
        dry = hookctl(verb, *what, *HOST, "--dry-run", "--json").data
        if verb == "install":
            assert hookctl("plan", *what, *HOST, "--json").data == dry
        assert tree(isolated) == before, "a plan writes nothing"
        done = hookctl(verb, *what, *HOST, "--json").data
        assert {**done, "dry_run": True} == dry
        after = value(settings) if settings.exists() else {}
        planned = {tuple(a["path"]) for a in dry["actions"] if a["kind"] in ("leaf", "element")}
        assert planned == set(differences(then, after))


# 15: no ledger


@pytest.mark.parametrize("lost", range(5))
@SOME
def test_invariant_15_without_the_ledger_nothing_of_the_operators_is_lost(
    data: bytes | None, lost: int, settings: Path, hookctl: Hookctl
) -> None:
    begin(settings, data)
    before = foreign(data or b"")
    path = pack("p", env={"P": "1"}, hooks="stop pre-tool")
    commands = [("install", "guard"), ("install", path), ("install", "guard"), ("uninstall", path), ("uninstall",)]
    for number, command in enumerate(commands):
        if number == lost:
            Path(folders.here().ledger).unlink(missing_ok=True)
        assert hookctl(*command, *HOST).code == 0
        assert foreign(settings.read_bytes() if settings.exists() else b"") == before, command
    assert "guard/stop" not in ours(value(settings) if settings.exists() else {})


# 17: any dialect


def wants(name: str, keys: dict[str, str], events: str = "Stop", run: str = "a") -> list[Wanted]:
    hooks = [
        Wanted(("hooks", event), "element",
             {"type": "command", "command": f": hookctl={name}/{event}; run {run}", "timeout": 10}, f"{name}/{event}",
             rf": hookctl={name}/{event}; run \w")
        for event in events.split()
    ]  # fmt: skip
    return [*hooks, *(Wanted(("env", key), "leaf", value) for key, value in keys.items())]


Q = wants("q", {"B": "2", "S": "5"}, "Stop PreToolUse")


def test_invariant_17_comments_stop_an_install_and_not_an_uninstall(settings: Path, hookctl: Hookctl) -> None:
    """Row 21: the host ignores a file with comments as a whole; taking out is safe."""
    put(settings, TEXT)
    hookctl("install", *HOST)
    commented = settings.read_bytes().replace(b"{\n", b"{\n  // mine\n", 1)
    put(settings, commented)
    for options in ((), ("--set", "max_stop_blocks=9"), ("--force",)):
        outcome = hookctl("install", *HOST, *options, "--json")
        assert (outcome.code, outcome.result["errors"][0]["code"]) == (4, "strict_host")
        assert settings.read_bytes() == commented
    assert hookctl("uninstall", *HOST).code == 0
    assert settings.read_bytes() == TEXT.encode().replace(b"{\n", b"{\n  // mine\n", 1)
