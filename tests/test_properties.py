"""What must hold on real files, whatever an operator has in them; for histories see test_machine.py."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import hosts, packs
from hookctl.errors import HookctlError
from hookctl.ownership import sources, store
from hookctl.packs.choices import Choice, Permission, Request
from hookctl.settings import targets
from hookctl.system import interpreter
from hookctl.system.folders import Folders
from hookctl.verbs.install import install_at
from hookctl.verbs.uninstall import Request as Removal
from hookctl.verbs.uninstall import take_out
from tests.conftest import put
from tests.hostfiles import BY_NAME, Kind

THEIRS = {"type": "command", "command": "say done"}


class Place:
    """A home with one settings file, and hookctl's own folders."""

    def __init__(self, top: Path, kind: Kind) -> None:
        self.settings = kind.path(top, "user")
        self.kind = kind
        environ = {"HOME": str(top / "home"), "PATH": "/usr/bin:/bin"}
        self.folders = Folders(str(top / "state"), str(top / "data"), environ, str(top))
        self.pack = packs.load("guard")

    @property
    def places(self) -> list[targets.Target]:
        """Where the host's settings stand now."""
        return [targets.find(hosts.load(self.kind.host), "user", self.folders)]

    def install(self, **choice: Any) -> None:
        result = install_at(self.folders, self.pack, self.places, Choice(**choice), Permission(), dry_run=False)
        assert {error["code"] for error in result.errors} <= {"no_effect"}  # what a person changed or disabled

    def uninstall(self) -> None:
        take_out(self.folders, Removal("guard"), self.places, dry_run=False)

    def document(self) -> Any:
        return json.loads(self.settings.read_bytes().decode("utf-8-sig"))


@contextmanager
def place(base: Path, kind: Kind = BY_NAME["claude"]) -> Iterator[Place]:
    """A fresh one, on a disk that one need not wait for."""
    top = base / "place"
    shutil.rmtree(top, ignore_errors=True)
    top.mkdir()
    quick = mock.patch.object(os, "fsync", lambda handle: None)
    python = mock.patch.object(interpreter, "choose", lambda environ: ("/usr/bin/python3", ""))
    with quick, python:
        yield Place(top, kind)


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
SCALARS = st.one_of(TEXT, st.integers(-9, 10**25), st.booleans(), st.none(), st.just(0.1))
HANDLERS = st.builds(lambda name, extra: {**THEIRS, "command": f"x{name}", **extra}, TEXT,
                     st.dictionaries(st.sampled_from(["timeout", "async", "ü"]), st.integers(1, 9)))  # fmt: skip
GROUPS = st.builds(lambda hooks, matcher: {**({"matcher": matcher} if matcher else {}), "hooks": hooks},
                   st.lists(HANDLERS, max_size=2), TEXT)  # fmt: skip
ENV = st.dictionaries(st.sampled_from(["A", "B", "MAX_STOP_BLOCKS", "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "Ä"]),
                      st.sampled_from(["5", "8", "12", "", 5, None, "x y"]), max_size=4)  # fmt: skip
DOCUMENTS = st.fixed_dictionaries({}, optional={
    "model": SCALARS,
    "env": ENV,
    "hooks": st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "SubagentStop"]), st.lists(GROUPS, max_size=3)),
    "permissions": st.dictionaries(TEXT, st.lists(SCALARS, max_size=3), max_size=2),
    "é\n": st.dictionaries(TEXT, SCALARS, max_size=3),
}).flatmap(lambda document: st.permutations(list(document.items())).map(dict))  # fmt: skip


@st.composite
def texts(draw: Any, documents: Any = DOCUMENTS) -> bytes:
    """A settings file as some tool or person formats it."""
    document = draw(documents)
    if not document and draw(st.booleans()):
        return draw(st.sampled_from([b"", b"\n", b"{ }", b"{\n}\n", b"\xef\xbb\xbf{}"]))
    indent = draw(st.sampled_from([None, 1, 2, 4, "\t"]))
    colon = draw(st.sampled_from([":", ": ", " : "]))
    comma = draw(st.sampled_from([",", ", "])) if indent is None else ","
    text = json.dumps(document, indent=indent, separators=(comma, colon), ensure_ascii=draw(st.booleans()))
    text += draw(st.sampled_from(["", "\n", "\n\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"])) + text.encode()


ON_DISK = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
CHOICES = st.fixed_dictionaries({}, optional={
    "force": st.booleans(),
    "settings": st.sampled_from([
        Request(),
        Request(assignments=("max_stop_blocks=12",)),
        Request(assignments=("max_stop_blocks=0", "latch=false")),
        Request(preset="bmad", nudge="done,stuck"),
        Request(dispatch=("Task:9/60", "mcp__a.b")),
        Request(dispatch=("",)),
    ]),
})  # fmt: skip


@ON_DISK
@given(data=texts(), first=CHOICES, second=CHOICES)
def test_uninstall_gives_back_the_very_bytes(
    tmp_path_factory: Any, data: bytes, first: dict[str, Any], second: dict[str, Any]
) -> None:
    with place(tmp_path_factory.getbasetemp()) as here:
        put(here.settings, data)
        here.install(**first)
        assert "hookctl=guard/stop" in here.settings.read_text("utf-8-sig")
        here.install(**second)
        here.uninstall()
        assert here.settings.read_bytes() == data
        assert store.load(here.folders) == {}
        assert not os.path.exists(here.folders.data)


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(data=st.one_of(st.binary(max_size=30), texts().flatmap(
    lambda text: st.integers(0, len(text)).map(lambda cut: text[:cut] + text[cut + 1:]))))  # fmt: skip
def test_whatever_a_file_has_it_is_edited_or_refused_and_never_harmed(tmp_path_factory: Any, data: bytes) -> None:
    with place(tmp_path_factory.getbasetemp()) as here, mock.patch.object(sources, "READ_PAUSE", 0):
        put(here.settings, data)
        try:
            here.install()
        except HookctlError as error:
            assert error.exit_code == 4
        else:
            here.uninstall()
        assert here.settings.read_bytes() == data
