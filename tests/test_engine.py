"""The transition table of ownership: one row for every cell that concerns the engine, its number in the id."""

from __future__ import annotations

import copy
import json
from pathlib import Path as File
from typing import Any, NamedTuple

import pytest

from hookctl.model import WRAP, Claim, Decision, Entry, Path, Wanted
from hookctl.ownership import engine
from tests import plain

KEY: Path = ("env", "LIMIT")
CAP: Path = ("env", "CAP")
STOP: Path = ("hooks", "Stop")
END: Path = ("hooks", "SessionEnd")
COMMAND = ": hookctl=p/stop; run /a/hook"
OLDER = ": hookctl=p/stop; run /b/hook"
NEWER = ": hookctl=p/stop; go /a/hook"
EDITED = ": hookctl=p/stop; my-own /a/hook"
FORMS = r": hookctl=p/stop; run /\w+/hook"
THEIRS = {"type": "command", "command": "say done"}


@pytest.fixture(autouse=True)
def isolated() -> None:
    """The engine is pure: no test here needs a home of its own."""


def leaf(value: Any, path: Path = KEY, merge: str = "") -> Wanted:
    return Wanted(path, "leaf", value, merge=merge)


def hook(command: str = COMMAND, timeout: Any = 10, path: Path = STOP, **fields: Any) -> Wanted:
    handler = {"type": "command", "command": command, "timeout": timeout, **fields}
    return Wanted(path, "element", handler, "p/stop", FORMS)


def handler(command: str = COMMAND, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, "timeout": 10, **fields}


def group(*handlers: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {**fields, "hooks": list(handlers)}


def stop(*groups: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"Stop": list(groups)}}


def env(**values: Any) -> dict[str, Any]:
    return {"env": values}


def owned(written: Any, path: Path = KEY, before: str | None = None, **wishes: Any) -> Entry:
    """An entry of pack p (or of those named) that we wrote."""
    owners = {name: Claim(value) for name, value in (wishes or {"p": written}).items()}
    return Entry(path, "leaf", "owned", before, written, owners)


def adopted(value: Any, *packs: str) -> Entry:
    return Entry(KEY, "leaf", "adopted", None, value, {name: Claim(value) for name in packs or ("p",)})


def element(path: Path = STOP, **fields: Any) -> Entry:
    written = handler(**fields)
    return Entry(path, "element", "owned", None, written, {"p": Claim(written)}, "p/stop")


def container(*path: str) -> Entry:
    return Entry(path, "container")


class Row(NamedTuple):
    """One case of a cell: what there is, what is done, and what must come of it."""

    id: str  # the number of the row, and what is special about the case
    verb: str  # install | upgrade | uninstall
    here: dict[str, Any]
    entries: list[Entry]
    wants: list[Wanted]
    then: dict[str, Any]
    ledger: list[Entry]
    did: list[str] = []  # noqa: RUF012 ("action from>to")
    kept: list[tuple[str, str]] = []  # noqa: RUF012 (state, and a part of the reason)
    force: bool = False
    conflicts: list[dict[str, Any]] = []  # noqa: RUF012 (pack to value)

    @property
    def cell(self) -> tuple[str, str]:
        return self.id.partition(" ")[0], self.verb + " --force" * self.force

    @property
    def name(self) -> str:
        row, _, case = self.id.partition(" ")
        return " ".join(("row", row, self.cell[1], case)).strip()


def install(
    id: str, here: Any, entries: list[Entry], wants: list[Wanted], then: Any, ledger: list[Entry],
    did: list[str] | None = None, kept: list[tuple[str, str]] | None = None, force: bool = False,
) -> Row:  # fmt: skip
    return Row(id, "install", here, entries, wants, then, ledger, did or [], kept or [], force)


def upgrade(*cells: Any, **more: Any) -> Row:
    """An install that wants something else than last time."""
    return install(*cells, **more)._replace(verb="upgrade")


def either(row: Row) -> tuple[Row, Row]:
    """A case in which force changes nothing."""
    return row, row._replace(force=True)


def conflict(id: str, verb: str, here: Any, entries: list[Entry], wants: list[Wanted], *wishes: dict[str, Any]) -> Row:
    return Row(id, verb, here, entries, wants, here, entries, conflicts=list(wishes))


def uninstall(
    id: str, here: Any, entries: list[Entry], then: Any, ledger: list[Entry], did: list[str] | None = None,
    kept: list[tuple[str, str]] | None = None, wants: list[Wanted] | None = None,
) -> Row:  # fmt: skip
    return Row(id, "uninstall", here, entries, wants or [], then, ledger, did or [], kept or [])


CAPS = owned("8", CAP)  # a second key of ours that is still there: what is missing was removed by hand
ROWS = [
    # 1 free
    *either(install("1", {}, [], [leaf("5")], env(LIMIT="5"), [owned("5"), container("env")], ["write free>owned"])),
    install("1 element", {}, [], [hook()], stop(group(handler())),
            [element(), container("hooks"), container("hooks", "Stop")], ["write free>owned"]),
    install("1 element in an empty array of theirs", stop(), [], [hook()], stop(group(handler())), [element()],
            ["write free>owned"]),
    uninstall("1 nothing to do", {"a": 1}, [], {"a": 1}, [], wants=[leaf("5"), hook()]),
    *either(upgrade("1", env(CAP="8"), [CAPS], [leaf("5"), leaf("8", CAP)], env(CAP="8", LIMIT="5"), [owned("5"), CAPS],
                    ["write free>owned"])),
    # 2 foreign
    install("2", env(LIMIT="7"), [], [leaf("5")], env(LIMIT="7"), [],
            kept=[("foreign", 'kept your LIMIT="7"; --force sets "5"')]),
    install("2 a null is a value", env(LIMIT=None), [], [leaf("5")], env(LIMIT=None), [],
            kept=[("foreign", "kept your LIMIT=null")]),
    install("2", env(LIMIT="7"), [], [leaf("5")], env(LIMIT="5"), [owned("5", before='"7"')],
            ["replace foreign>owned"], force=True),
    uninstall("2 nothing to do", env(LIMIT="7"), [], env(LIMIT="7"), [], wants=[leaf("5")]),
    upgrade("2", env(CAP="8", LIMIT="7"), [CAPS], [leaf("5"), leaf("8", CAP)], env(CAP="8", LIMIT="7"), [CAPS],
            kept=[("foreign", 'kept your LIMIT="7"; --force sets "5"')]),
    upgrade("2", env(CAP="8", LIMIT="7"), [CAPS], [leaf("5"), leaf("8", CAP)], env(CAP="8", LIMIT="5"),
            [owned("5", before='"7"'), CAPS], ["replace foreign>owned"], force=True),
    # 3 foreign and equal
    *either(install("3", env(LIMIT="5"), [], [leaf("5")], env(LIMIT="5"), [adopted("5")], ["adopt foreign>adopted"])),
    install("3 true is not 1", env(LIMIT=True), [], [leaf(1)], env(LIMIT=True), [],
            kept=[("foreign", "kept your LIMIT=true")]),
    uninstall("3 nothing to do", env(LIMIT="5"), [], env(LIMIT="5"), [], wants=[leaf("5")]),
    *either(upgrade("3", env(CAP="8", LIMIT="5"), [CAPS], [leaf("5"), leaf("8", CAP)], env(CAP="8", LIMIT="5"),
                    [adopted("5"), CAPS], ["adopt foreign>adopted"])),
    # 4 adopted
    *either(install("4", env(LIMIT="5"), [adopted("5")], [leaf("5")], env(LIMIT="5"), [adopted("5")])),
    upgrade("4", env(LIMIT="5"), [adopted("5")], [leaf("6")], env(LIMIT="5"),
            [adopted("5")._replace(owners={"p": Claim("6")})],
            kept=[("adopted", 'kept your LIMIT="5"; --force sets "6"')]),
    upgrade("4", env(LIMIT="5"), [adopted("5")], [leaf("6")], env(LIMIT="6"),
            [owned("6", before='"5"')], ["replace adopted>owned"], force=True),
    upgrade("4 to an equal value", env(LIMIT="6"), [adopted("5")], [leaf("6")], env(LIMIT="6"),
            [adopted("6")]),
    uninstall("4", env(LIMIT="5"), [adopted("5")], env(LIMIT="5"), [], ["drop adopted>foreign"]),
    # 5 adopted and gone
    *either(install("5", {"env": {}}, [adopted("5")], [leaf("5")], env(LIMIT="5"), [owned("5")],
                    ["write adopted-gone>owned"])),
    *either(upgrade("5", {"env": {}}, [adopted("5")], [leaf("6")], env(LIMIT="6"), [owned("6")],
                    ["write adopted-gone>owned"])),
    uninstall("5", {"env": {}}, [adopted("5")], {"env": {}}, [], ["drop adopted>foreign"]),
    # 6 adopted and edited
    install("6", env(LIMIT="9"), [adopted("5")], [leaf("5")], env(LIMIT="9"), [adopted("5")],
            kept=[("adopted", 'kept your LIMIT="9"; --force sets "5"')]),
    install("6", env(LIMIT="9"), [adopted("5")], [leaf("5")], env(LIMIT="5"), [owned("5", before='"9"')],
            ["replace adopted>owned"], force=True),
    upgrade("6", env(LIMIT="9"), [adopted("5")], [leaf("6")], env(LIMIT="9"),
            [adopted("5")._replace(owners={"p": Claim("6")})], kept=[("adopted", "kept your")]),
    uninstall("6", env(LIMIT="9"), [adopted("5")], env(LIMIT="9"), [], ["drop adopted>foreign"]),
    upgrade("6", env(LIMIT="9"), [adopted("5")], [leaf("6")], env(LIMIT="6"), [owned("6", before='"9"')],
            ["replace adopted>owned"], force=True),
    # 7 owned
    *either(install("7", env(LIMIT="5"), [owned("5")], [leaf("5")], env(LIMIT="5"), [owned("5")])),
    *either(upgrade("7 keeps before", env(LIMIT="5"), [owned("5", before='"7"')], [leaf("6")], env(LIMIT="6"),
                    [owned("6", before='"7"')], ["replace owned>owned"])),
    uninstall("7", env(LIMIT="5"), [owned("5"), container("env")], {}, [], ["remove owned>free"]),
    uninstall("7 before comes back", env(LIMIT="5"), [owned("5", before="7")], env(LIMIT=7), [],
              ["replace owned>foreign"]),
    uninstall("7 a container of ours that they use stays", env(LIMIT="5", A=1), [owned("5"), container("env")],
              env(A=1), [], ["remove owned>free"]),
    *either(install("7 element", stop(group(handler())), [element()], [hook()], stop(group(handler())), [element()])),
    upgrade("7 element in place", stop(group(handler()), group(THEIRS)), [element()],
            [hook(OLDER, 15)], stop(group(handler(OLDER, timeout=15)), group(THEIRS)),
            [element(command=OLDER, timeout=15)], ["replace owned>owned"]),
    uninstall("7 element", stop(group(handler())), [element(), container("hooks"), container("hooks", "Stop")], {}, [],
              ["remove owned>free"]),
    # 8 no longer wanted
    upgrade("8", env(LIMIT="5", CAP="8"), [owned("5"), CAPS], [leaf("8", CAP)], env(CAP="8"), [CAPS],
            ["remove owned>free"]),
    upgrade("8 before comes back", env(LIMIT="5", CAP="8"), [owned("5", before='"7"'), CAPS], [leaf("8", CAP)],
            env(LIMIT="7", CAP="8"), [CAPS], ["replace owned>foreign"]),
    upgrade("8 overridden", env(LIMIT="9", CAP="8"), [owned("5"), CAPS], [leaf("8", CAP)], env(LIMIT="9", CAP="8"),
            [CAPS], kept=[("overridden", 'your value is "9"')]),
    upgrade("8 missing", env(CAP="8"), [owned("5"), CAPS], [leaf("8", CAP)], env(CAP="8"), [CAPS],
            ["drop missing>free"]),
    upgrade("8 nothing is wanted any more", {**env(LIMIT="5"), **stop(group(handler()))},
            [owned("5"), element(), container("env"), container("hooks"), container("hooks", "Stop")], [], {}, [],
            ["remove owned>free", "remove owned>free"]),
    upgrade("8 element to another event", stop(group(handler())), [element(), container("hooks", "Stop")],
            [hook(path=END)], {"hooks": {"SessionEnd": [group(handler())]}},
            [element(END), container("hooks", "SessionEnd")], ["replace owned>owned"]),
    upgrade("8 element to another event, the operator's fields with it",
            stop(group(handler(timeout=30, once=True), matcher="x")), [element(name="n")],
            [hook(OLDER, path=END, name="m")],
            {"hooks": {"Stop": [], "SessionEnd": [group(handler(OLDER, timeout=30, once=True), matcher="x")]}},
            [element(END, command=OLDER, name="n")._replace(owners={"p": Claim(handler(OLDER, name="m"))}),
             container("hooks", "SessionEnd")], ["replace owned>owned"],
            [("overridden", 'kept your timeout=30, no name, once=true, matcher="x" '
              '(ours: timeout=10, name="m", no once, no matcher)')]),
    upgrade("8 element to another event", stop(group(handler(timeout=30))), [element()], [hook(path=END)],
            {"hooks": {"Stop": [], "SessionEnd": [group(handler())]}},
            [element(END), container("hooks", "SessionEnd")], ["replace owned>owned"], force=True),
    upgrade("8 element to another event out of a group of theirs", stop(group(THEIRS, handler(), matcher="y")),
            [element(matcher="a")], [hook(path=END, matcher="b")],
            {"hooks": {"Stop": [group(THEIRS, matcher="y")], "SessionEnd": [group(handler(), matcher="b")]}},
            [element(END, matcher="b"), container("hooks", "SessionEnd")], ["replace owned>owned"]),
    upgrade("8 a removed element stays away from another event too", env(CAP="8"), [element(), CAPS],
            [hook(path=END), leaf("8", CAP)], env(CAP="8"), [element(END), CAPS], kept=[("missing", "you removed it")]),
    upgrade("8 a removed element under another event", env(CAP="8"), [element(), CAPS],
            [hook(path=END), leaf("8", CAP)], {**env(CAP="8"), "hooks": {"SessionEnd": [group(handler())]}},
            [element(END), CAPS, container("hooks"), container("hooks", "SessionEnd")], ["write missing>owned"],
            force=True),
    upgrade("8 an edited copy of another event", stop(group(handler(EDITED))), [element()], [hook(path=END)],
            {"hooks": {"Stop": [group(handler(EDITED))], "SessionEnd": [group(handler())]}},
            [element(END), container("hooks", "SessionEnd")], ["replace owned>owned"], force=True),
    uninstall("8", env(LIMIT="5", CAP="8"), [owned("5", before='"7"'), CAPS], env(LIMIT="7"), [],
              ["replace owned>foreign", "remove owned>free"], wants=[leaf("8", CAP)]),
    # 9 overridden
    install("9", env(LIMIT="9"), [owned("5")], [leaf("5")], env(LIMIT="9"), [owned("5")],
            kept=[("overridden", 'kept your LIMIT="9"; --force sets "5"')]),
    install("9 captures before again", env(LIMIT="9"), [owned("5", before='"7"')], [leaf("5")], env(LIMIT="5"),
            [owned("5", before='"9"')], ["replace overridden>owned"], force=True),
    upgrade("9", env(LIMIT="9"), [owned("5")], [leaf("6")], env(LIMIT="9"), [owned("5", p="6")],
            kept=[("overridden", 'kept your LIMIT="9"; --force sets "6", hookctl had set "5"')]),
    upgrade("9", env(LIMIT="9"), [owned("5")], [leaf("6")], env(LIMIT="6"), [owned("6", before='"9"')],
            ["replace overridden>owned"], force=True),
    uninstall("9", env(LIMIT="9"), [owned("5", before='"7"'), container("env")], env(LIMIT="9"), [],
              kept=[("overridden", 'your value is "9"')]),
    # 9a fields of an element
    install("9a", stop(group(handler(timeout=30))), [element()], [hook()], stop(group(handler(timeout=30))),
            [element()], kept=[("overridden", "kept your timeout=30 (ours: timeout=10)")]),
    install("9a a field of their own", stop(group(handler(async_=True))), [element()], [hook()],
            stop(group(handler(async_=True))), [element()],
            kept=[("overridden", "kept your async_=true (ours: no async_)")]),
    install("9a a null of their own", stop(group(handler(once=None))), [element()], [hook()],
            stop(group(handler(once=None))), [element()],
            kept=[("overridden", "kept your once=null (ours: no once)")]),
    upgrade("9a a null of their own", stop(group(handler(once=None))), [element()], [hook(OLDER)],
            stop(group(handler(OLDER, once=None))), [element(command=OLDER)], ["replace overridden>overridden"],
            [("overridden", "kept your once=null (ours: no once)")]),
    install("9a a matcher of their own", stop(group(handler(), matcher="x")), [element()], [hook()],
            stop(group(handler(), matcher="x")), [element()],
            kept=[("overridden", 'kept your matcher="x" (ours: no matcher)')]),
    install("9a 10.0 and true are other values", stop(group(handler(timeout=True))), [element(timeout=1)],
            [hook(timeout=1)], stop(group(handler(timeout=True))), [element(timeout=1)],
            kept=[("overridden", "kept your timeout=true (ours: timeout=1)")]),
    install("9a", stop(group(handler(timeout=30, async_=True), matcher="x")), [element()], [hook()],
            stop(group(handler())), [element()], ["replace overridden>owned"], force=True),
    upgrade("9a field by field", stop(group(handler(timeout=30))), [element()], [hook(OLDER, 15)],
            stop(group(handler(OLDER, timeout=30))), [element(command=OLDER, timeout=10)._replace(
                owners={"p": Claim(handler(OLDER, timeout=15))})],
            ["replace overridden>overridden"], [("overridden", "kept your timeout=30 (ours: timeout=15)")]),
    upgrade("9a", stop(group(handler(timeout=30))), [element()], [hook(OLDER, 15)],
            stop(group(handler(OLDER, timeout=15))), [element(command=OLDER, timeout=15)],
            ["replace overridden>owned"], force=True),
    uninstall("9a", stop(group(handler(timeout=30)), group(THEIRS)), [element()], stop(group(THEIRS)), [],
              ["remove overridden>free"]),
    uninstall("9a a matcher and a field of their own go too", stop(group(handler(async_=True), matcher="x")),
              [element()], stop(), [], ["remove overridden>free"]),
    # 9b the command edited
    install("9b", stop(group(handler(EDITED))), [element()], [hook()], stop(group(handler(EDITED))), [element()],
            kept=[("edited copy", "you edited its command; --force")]),
    install("9b", stop(group(handler(EDITED, timeout=3))), [element()], [hook()], stop(group(handler())),
            [element()], ["replace overridden>owned"], force=True),
    upgrade("9b", stop(group(handler(EDITED))), [element()], [hook(OLDER, 15)], stop(group(handler(EDITED))),
            [element()._replace(owners={"p": Claim(handler(OLDER, timeout=15))})],
            kept=[("edited copy", "you edited its command; the new command was not applied")]),
    upgrade("9b", stop(group(handler(EDITED))), [element()], [hook(OLDER)],
            stop(group(handler(OLDER))), [element(command=OLDER)], ["replace overridden>owned"], force=True),
    uninstall("9b", stop(group(handler(EDITED))), [element()], stop(group(handler(EDITED))), [],
              kept=[("edited copy", "its command was edited, so it stays")]),
    uninstall("9b is said once", stop(group(handler(EDITED))), [element()], stop(group(handler(EDITED))), [],
              kept=[("edited copy", "its command was edited, so it stays")], wants=[hook(), hook(path=END)]),
    # 10 overridden and by chance as wanted now
    install("10", env(LIMIT="9"), [owned("5")], [leaf("9")], env(LIMIT="9"), [owned("5", p="9")]),
    install("10", env(LIMIT="9"), [owned("5")], [leaf("9")], env(LIMIT="9"), [owned("9", before='"9"')],
            ["replace overridden>owned"], force=True),
    uninstall("10", env(LIMIT="9"), [owned("5", p="9")], env(LIMIT="9"), [],
              kept=[("overridden", "your value is")]),
    install("10 as last time", env(LIMIT="9"), [owned("5", p="9")], [leaf("9")], env(LIMIT="9"), [owned("5", p="9")]),
    upgrade("10", env(LIMIT="9"), [owned("5")], [leaf("9")], env(LIMIT="9"), [owned("5", p="9")]),
    upgrade("10", env(LIMIT="9"), [owned("5")], [leaf("9")], env(LIMIT="9"), [owned("9", before='"9"')],
            ["replace overridden>owned"], force=True),
    # 11 one of several is missing
    install("11", env(CAP="8"), [owned("5"), CAPS], [leaf("5"), leaf("8", CAP)], env(CAP="8"), [owned("5"), CAPS],
            kept=[("missing", "you removed it; --force writes it again")]),
    install("11", env(CAP="8"), [owned("5", before='"7"'), CAPS], [leaf("5"), leaf("8", CAP)],
            env(CAP="8", LIMIT="5"), [owned("5"), CAPS], ["write missing>owned"], force=True),
    upgrade("11", env(CAP="8"), [owned("5"), CAPS], [leaf("6"), leaf("8", CAP)], env(CAP="8"),
            [owned("5", p="6"), CAPS], kept=[("missing", "you removed it")]),
    upgrade("11", env(CAP="8"), [owned("5"), CAPS], [leaf("6"), leaf("8", CAP)],
            env(CAP="8", LIMIT="6"), [owned("6"), CAPS], ["write missing>owned"], force=True),
    install("11 an adopted value that is left is not ours", env(LIMIT="5"), [adopted("5"), CAPS],
            [leaf("5"), leaf("8", CAP)], env(LIMIT="5", CAP="8"), [adopted("5"), CAPS], ["write missing>owned"]),
    install("11 element", env(CAP="8"), [element(), CAPS], [hook(), leaf("8", CAP)], env(CAP="8"), [element(), CAPS],
            kept=[("missing", "you removed it")]),
    install("11 element", env(CAP="8"), [element(), CAPS], [hook(), leaf("8", CAP)],
            {**env(CAP="8"), **stop(group(handler()))},
            [element(), CAPS, container("hooks"), container("hooks", "Stop")], ["write missing>owned"], force=True),
    upgrade("11 element", env(CAP="8"), [element(), CAPS], [hook(OLDER), leaf("8", CAP)], env(CAP="8"),
            [element()._replace(owners={"p": Claim(handler(OLDER))}), CAPS],
            kept=[("missing", "you removed it")]),
    uninstall("11", env(CAP="8"), [owned("5"), CAPS, container("env")], {}, [],
              ["drop missing>free", "remove owned>free"]),
    uninstall("11 element", env(CAP="8"), [element(), CAPS, container("env")], {}, [],
              ["drop missing>free", "remove owned>free"]),
    # 12 all are missing
    *either(install("12", {}, [owned("5", before='"7"'), CAPS, container("env")], [leaf("5"), leaf("8", CAP)],
                    env(LIMIT="5", CAP="8"), [owned("5"), CAPS, container("env")], ["write missing>owned"] * 2)),
    *either(upgrade("12", {}, [owned("5"), CAPS], [leaf("6"), leaf("9", CAP)], env(LIMIT="6", CAP="9"),
                    [owned("6"), owned("9", CAP), container("env")], ["write missing>owned"] * 2)),
    install("12 element", {}, [element(), CAPS], [hook(), leaf("8", CAP)],
            {**stop(group(handler())), **env(CAP="8")},
            [element(), CAPS, container("hooks"), container("hooks", "Stop"), container("env")],
            ["write missing>owned"] * 2),
    install("12 the entries of every pack", {}, [owned("5"), owned("8", CAP, '"3"', q="8")], [leaf("5")],
            env(LIMIT="5", CAP="8"), [owned("5"), owned("8", CAP, q="8"), container("env")],
            ["write missing>owned"] * 2),
    install("12 the entries of every pack, as they want it now", {}, [owned("5"), owned("8", CAP, q="9")],
            [leaf("5")], env(LIMIT="5", CAP="9"), [owned("5"), owned("9", CAP, q="9"), container("env")],
            ["write missing>owned"] * 2),
    install("12 what is adopted is not written back", {}, [owned("5"), adopted("8", "q")._replace(path=CAP)],
            [leaf("5")], env(LIMIT="5"), [owned("5"), adopted("8", "q")._replace(path=CAP), container("env")],
            ["write missing>owned"]),
    uninstall("12", {}, [owned("5"), element(), container("env")], {}, [], ["drop missing>free"] * 2),
    # 13 conflict, and its ways out
    install("13", env(LIMIT="5"), [owned("5", before='"7"', q="5")], [leaf("6")], env(LIMIT="6"),
            [owned("6", before='"7"', q="5", p="6")], ["replace owned>owned"], force=True),
    install("13 what was forced is in the file and asks nobody again", env(LIMIT="6"), [owned("6", q="5", p="6")],
            [leaf("6")], env(LIMIT="6"), [owned("6", q="5", p="6")]),
    install("13 an overridden value is no conflict", env(LIMIT="9"), [owned("5", q="5")], [leaf("6")],
            env(LIMIT="9"), [owned("5", q="5", p="6")], kept=[("overridden", "kept your")]),
    install("13 max", env(LIMIT="5"), [owned("5")._replace(owners={"q": Claim("5", "max")})],
            [leaf("12", merge="max")], env(LIMIT="12"),
            [owned("12")._replace(owners={"q": Claim("5", "max"), "p": Claim("12", "max")})],
            ["replace owned>owned"]),
    install("13 max of numbers, not of texts", env(LIMIT="12"), [owned("12")._replace(
                owners={"q": Claim("12", "max")})], [leaf("5", merge="max")], env(LIMIT="12"),
            [owned("12")._replace(owners={"q": Claim("12", "max"), "p": Claim("5", "max")})],
            ["share owned>owned"]),
    install("13 max of whole numbers however they are written", env(LIMIT="-1"), [owned("-1")._replace(
                owners={"q": Claim("-1", "max")})], [leaf("007", merge="max")], env(LIMIT="007"),
            [owned("007")._replace(owners={"q": Claim("-1", "max"), "p": Claim("007", "max")})],
            ["replace owned>owned"]),
    install("13 min", env(LIMIT="12"), [owned("12")._replace(owners={"q": Claim("12", "min")})],
            [leaf("5", merge="min")], env(LIMIT="5"),
            [owned("5")._replace(owners={"q": Claim("12", "min"), "p": Claim("5", "min")})],
            ["replace owned>owned"]),
    install("13 first", env(LIMIT="12"), [owned("12")._replace(owners={"q": Claim("12", "first")})],
            [leaf("5", merge="first")], env(LIMIT="12"),
            [owned("12")._replace(owners={"q": Claim("12", "first"), "p": Claim("5", "first")})],
            ["share owned>owned"]),
    uninstall("13 the remaining pack's value, before stays", env(LIMIT="6"),
              [owned("6", before='"7"', q="5", p="6")], env(LIMIT="5"), [owned("5", before='"7"', q="5")],
              ["replace owned>owned"]),
    uninstall("13 the rule goes on among those who remain", env(LIMIT="9"), [owned("9")._replace(
                  owners={"p": Claim("9", "max"), "q": Claim("7", "max"), "r": Claim("3", "max")})],
              env(LIMIT="7"),
              [owned("7")._replace(owners={"q": Claim("7", "max"), "r": Claim("3", "max")})],
              ["replace owned>owned"]),
    uninstall("13 the last one's wish where several disagree", env(LIMIT="6"),
              [owned("6", p="6", q="5", r="7")], env(LIMIT="7"), [owned("7", q="5", r="7")], ["replace owned>owned"]),
    install("13 where only one of the packs has a rule", env(LIMIT="9"), [owned("9", q="9")],
            [leaf("12", merge="max")], env(LIMIT="12"),
            [owned("12")._replace(owners={"q": Claim("9"), "p": Claim("12", "max")})],
            ["replace owned>owned"], force=True),
    uninstall("13 overridden: theirs for the remaining pack too", env(LIMIT="9"), [owned("6", q="5", p="6")],
              env(LIMIT="9"), [owned("6", q="5")], ["drop overridden>overridden"]),
    conflict("13", "install", env(LIMIT="5"), [owned("5", q="5")], [leaf("6")], {"q": "5", "p": "6"}),
    conflict("13 behind another", "install", env(LIMIT="5"), [owned("5", q="5")], [leaf("8", CAP), leaf("6")],
             {"q": "5", "p": "6"}),
    conflict("13 every other owner is asked and named", "install", env(LIMIT="5"), [owned("5", q="5", r="5")],
             [leaf("6")], {"q": "5", "r": "5", "p": "6"}),
    conflict("13 several keys", "install", env(LIMIT="5", CAP="8"), [owned("5", q="5"), owned("8", CAP, q="8")],
             [leaf("6"), leaf("9", CAP)], {"q": "5", "p": "6"}, {"q": "8", "p": "9"}),
    conflict("13 also where the file was wiped, since it would be written", "install", {}, [owned("5", q="5")],
             [leaf("6")], {"q": "5", "p": "6"}),
    conflict("13 also where an adopted value is gone", "install", {"env": {}}, [adopted("5", "q")], [leaf("6")],
             {"q": "5", "p": "6"}),
    conflict("13 joining a value that was forced: one of its owners does not want it", "install", env(LIMIT="6"),
             [owned("6", q="5", r="6")], [leaf("6")], {"q": "5", "r": "6", "p": "6"}),
    conflict("13 a merged value that happens to be the wanted one", "install", env(LIMIT="9"),
             [owned("9")._replace(owners={"q": Claim("9", "max"), "r": Claim("3", "max")})], [leaf("9")],
             {"q": "9", "r": "3", "p": "9"}),
    conflict("13 another pack's wish was forced", "install", env(LIMIT="6"), [owned("6", p="5", q="6")], [leaf("5")],
             {"q": "6", "p": "5"}),
    conflict("13", "upgrade", env(LIMIT="5", CAP="1"), [owned("5", q="5", p="5"), owned("1", CAP)], [leaf("6")],
             {"q": "5", "p": "6"}),
    conflict("13 away from what was forced", "upgrade", env(LIMIT="6"), [owned("6", q="5", p="6")], [leaf("7")],
             {"q": "5", "p": "7"}),
    conflict("13 away from the rule of all", "upgrade", env(LIMIT="9"), [owned("9")._replace(
                 owners={"q": Claim("3", "max"), "p": Claim("9", "max")})], [leaf("9")],
                 {"q": "3", "p": "9"}),
    install("13 what this pack forced is written again after a wipe", {}, [owned("6", q="5", p="6")], [leaf("6")],
            env(LIMIT="6"), [owned("6", q="5", p="6"), container("env")], ["write missing>owned"]),
    install("13 a removed value is written for nobody, so nothing is asked", env(CAP="8"), [owned("5", q="5"), CAPS],
            [leaf("6"), leaf("8", CAP)], env(CAP="8"), [owned("5", q="5", p="6"), CAPS], kept=[("missing", "you")]),
    install("13 an adopted value is kept, so nothing is asked", env(LIMIT="5"), [adopted("5", "q")], [leaf("6")],
            env(LIMIT="5"), [adopted("5", "q")._replace(owners={"q": Claim("5"), "p": Claim("6")})],
            kept=[("adopted", 'kept your LIMIT="5"; --force sets "6"')]),
    upgrade("13", env(LIMIT="5"), [owned("5", before='"7"', q="5", p="5")], [leaf("6")], env(LIMIT="6"),
            [owned("6", before='"7"', q="5", p="6")], ["replace owned>owned"], force=True),
    install("13 an adopted value that outlived a wipe is kept, so nothing is asked", env(LIMIT="5"),
            [adopted("5", "q"), CAPS], [leaf("6"), leaf("8", CAP)], env(LIMIT="5", CAP="8"),
            [adopted("5", "q")._replace(owners={"q": Claim("5"), "p": Claim("6")}), CAPS],
            ["write missing>owned"], [("adopted", "kept your")]),
    conflict("13 what another one forced, one of three does not want", "upgrade", env(LIMIT="6"),
             [owned("6", q="5", p="5", r="6")], [leaf("6")], {"q": "5", "r": "6", "p": "6"}),
    install("13 without a common rule the one that is forced counts", env(LIMIT="20"), [owned("20", q="20")],
            [leaf("12", merge="max")], env(LIMIT="12"),
            [owned("12")._replace(owners={"q": Claim("20"), "p": Claim("12", "max")})],
            ["replace owned>owned"], force=True),
    uninstall("13 what a remaining pack wants and has is not touched", env(LIMIT="6"),
              [owned("6", p="6", q="6", r="5")], env(LIMIT="6"), [owned("6", q="6", r="5")], ["drop owned>owned"]),
    # 14 two owners, one wish
    *either(install("14", env(LIMIT="5"), [owned("5", q="5")], [leaf("5")], env(LIMIT="5"), [owned("5", q="5", p="5")],
                    ["share owned>owned"])),
    uninstall("14 the first one leaves", env(LIMIT="5"), [owned("5", p="5", q="5")], env(LIMIT="5"),
              [owned("5", q="5")], ["drop owned>owned"]),
    uninstall("14 the last one leaves", env(LIMIT="5"), [owned("5", before='"7"')], env(LIMIT="7"), [],
              ["replace owned>foreign"]),
    *either(upgrade("14 to what another pack has written by now", env(LIMIT="6"), [owned("6", p="5", q="6")],
                    [leaf("6")],
                    env(LIMIT="6"), [owned("6", p="6", q="6")])),
    # 15 an element that the ledger does not know
    *either(install("15", stop(group(handler())), [], [hook()], stop(group(handler())), [element()],
                    ["take-back orphan>owned"])),
    upgrade("15 then updated in place", stop(group(handler(OLDER)), group(THEIRS)), [], [hook()],
            stop(group(handler()), group(THEIRS)), [element()], ["take-back orphan>owned", "replace owned>owned"]),
    uninstall("15", stop(group(handler(OLDER)), group(THEIRS)), [], stop(group(THEIRS)), [], ["remove orphan>free"],
              wants=[hook()]),
    uninstall("15 every one of them", stop(group(handler(OLDER)), group(handler())), [], stop(), [],
              ["remove orphan>free"] * 2, wants=[hook()]),
    uninstall("15 another id is another pack's", stop(group(handler(": hookctl=q/stop; run /a/hook"))), [],
              stop(group(handler(": hookctl=q/stop; run /a/hook"))), [], wants=[hook()]),
    uninstall("15 an entry under another event is known all the same", stop(group(handler()), group(THEIRS)),
              [element()], stop(group(THEIRS)), [], ["remove owned>free"], wants=[hook(path=END)]),
    upgrade("15 with its fields", stop(group(handler(OLDER, timeout=30))), [], [hook()], stop(group(handler())),
            [element()], ["take-back orphan>owned", "replace overridden>owned"], force=True),
    install("15 without a known form", stop(group(handler())), [], [hook()._replace(forms="")],
            stop(group(handler())), [element()], ["take-back orphan>owned"]),
    # 15a an edited copy that the ledger does not know
    install("15a", stop(group(handler(EDITED))), [], [hook()], stop(group(handler(EDITED))), [],
            kept=[("edited copy", "left alone; --force replaces it")]),
    install("15a", stop(group(handler(EDITED))), [], [hook()], stop(group(handler())), [element()],
            ["replace overridden>owned"], force=True),
    uninstall("15a", stop(group(handler(EDITED))), [], stop(group(handler(EDITED))), [],
              kept=[("edited copy", "it stays")], wants=[hook()]),
    install("15a a known form with something behind it", stop(group(handler(OLDER + "; more"))), [], [hook()],
            stop(group(handler(OLDER + "; more"))), [], kept=[("edited copy", "left alone")]),
    uninstall("15a a pack without known forms", stop(group(handler(EDITED))), [], stop(group(handler(EDITED))), [],
              kept=[("edited copy", "it stays")], wants=[hook()._replace(forms="")]),
    upgrade("15a", stop(group(handler(EDITED))), [], [hook(OLDER)], stop(group(handler(EDITED))), [],
            kept=[("edited copy", "left alone; --force replaces it")]),
    upgrade("15a", stop(group(handler(EDITED))), [], [hook(OLDER)], stop(group(handler(OLDER))),
            [element(command=OLDER)], ["replace overridden>owned"], force=True),
    # 16 a key whose ledger is lost
    *either(install("16 equal", env(LIMIT="5"), [], [leaf("5")], env(LIMIT="5"), [adopted("5")],
                    ["adopt foreign>adopted"])),
    install("16 not equal", env(LIMIT="6"), [], [leaf("5")], env(LIMIT="6"), [], kept=[("foreign", "kept your")]),
    uninstall("16", {**env(LIMIT="5"), **stop(group(handler()))}, [], {**env(LIMIT="5"), **stop()}, [],
              ["remove orphan>free"], [("foreign", "cannot prove that it is p's, so it stays")],
              wants=[leaf("5"), hook()]),
    uninstall("16 nothing to say where the key is not there", stop(group(handler())), [], stop(), [],
              ["remove orphan>free"], wants=[leaf("5"), hook()]),
    uninstall("16 a key that the ledger knows is said once", {**env(LIMIT="9"), **stop(group(handler()))},
              [owned("5")], {**env(LIMIT="9"), **stop()}, [], ["remove orphan>free"],
              [("overridden", "your value is")], wants=[leaf("5"), hook()]),
    upgrade("16", env(LIMIT="5"), [], [leaf("6")], env(LIMIT="5"), [], kept=[("foreign", "kept your")]),
    upgrade("16", env(LIMIT="5"), [], [leaf("6")], env(LIMIT="6"), [owned("6", before='"5"')],
            ["replace foreign>owned"], force=True),
    # 17 twice
    *either(install("17", stop(group(handler()), group(THEIRS, handler())), [element()], [hook()],
                    stop(group(handler()), group(THEIRS)), [element()], ["remove owned>free"])),
    *either(upgrade("17 the first is updated", stop(group(handler()), group(handler())), [element()], [hook(OLDER)],
                    stop(group(handler(OLDER))), [element(command=OLDER)],
                    ["replace owned>owned", "remove owned>free"])),
    install("17 one that is ours word for word comes before one of a known form",
            stop(group(handler(OLDER)), group(handler())), [element()], [hook(NEWER)], stop(
                group(handler(OLDER)), group(handler(NEWER))), [element(command=NEWER)],
            ["replace owned>owned"], [("doubled", "an edited copy of it runs too")]),
    uninstall("17", stop(group(handler()), group(handler()), group(handler(timeout=3))), [element()], stop(), [],
              ["remove owned>free"] * 2 + ["remove overridden>free"]),
    uninstall("17 an edited copy of the two stays", stop(group(handler()), group(handler(EDITED))), [element()],
              stop(group(handler(EDITED))), [], ["remove owned>free"], [("edited copy", "so it stays")]),
    upgrade("17 without a ledger", stop(group(handler(OLDER)), group(handler())), [], [hook()],
            stop(group(handler())), [element()],
            ["take-back orphan>owned", "replace owned>owned", "remove owned>free"]),
    # 18 moved
    *either(install("18 into a group of theirs", stop(group(THEIRS, handler(), matcher="x")), [element()], [hook()],
                    stop(group(THEIRS, handler(), matcher="x")), [element()])),
    *either(upgrade("18 updated where it is", {"hooks": {"SubagentStop": [group(THEIRS, handler())]}}, [element()],
                    [hook(timeout=15)], {"hooks": {"SubagentStop": [group(THEIRS, handler(timeout=15))]}},
                    [element(timeout=15)], ["replace owned>owned"])),
    uninstall("18 removed from another event", {"hooks": {"Stop": [], "SubagentStop": [group(handler())]}},
              [element(), container("hooks", "Stop")], {"hooks": {"SubagentStop": []}}, [], ["remove owned>free"]),
]  # fmt: skip


def decide(row: Row) -> Decision:
    live = plain.live(row.here)
    if row.verb == "uninstall":
        return engine.uninstall(row.entries, live, "p", row.wants)
    return engine.install(row.entries, live, "p", row.wants, force=row.force)


def comparable(entries: Any) -> list[str]:
    """In one order; what an element has to give back is the matter of tests of its own."""
    return sorted(json.dumps(e._replace(before=None) if e.kind == "element" else e) for e in entries)


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_the_table_of_ownership(row: Row) -> None:
    here, entries = copy.deepcopy(row.here), copy.deepcopy(row.entries)
    done = decide(row)
    assert plain.carried_out(row.here, done.edits) == row.then
    assert comparable(done.entries) == comparable(row.ledger)
    did = [line for line in done.actions if line.action != "keep"]
    assert [f"{a.action} {a.from_state}>{a.to_state}" for a in did] == row.did
    kept = [line for line in done.actions if line.action == "keep"]
    assert [keep.from_state for keep in kept] == [at for at, _ in row.kept]
    for keep, (_, reason) in zip(kept, row.kept, strict=True):
        assert reason in keep.reason
        assert keep.to_state == keep.from_state
    assert [list(conflict.claims.items()) for conflict in done.conflicts] == [list(w.items()) for w in row.conflicts]
    before, after = ([entry.id or entry.path for entry in page] for page in (row.entries, done.entries))
    assert [name for name in after if name in before] == [name for name in before if name in after], "as they joined"
    assert (row.here, row.entries) == (here, entries), "the engine changed what it was given"


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
def test_doing_it_again_without_force_changes_nothing(row: Row) -> None:
    done = decide(row)
    after = plain.carried_out(row.here, done.edits)
    again = decide(row._replace(here=after, entries=list(done.entries), force=False))
    assert again.edits == ()
    assert again.entries == done.entries
    assert {line.action for line in again.actions} <= {"keep"}


# Every cell has a row.

VERBS = ("install", "install --force", "upgrade", "upgrade --force", "uninstall")
ENGINES = [str(number) for number in range(1, 19)] + ["9a", "9b", "15a"]
# What the table itself calls the same as another cell.
AS = {("8", "install"): ("8", "upgrade"), ("8", "install --force"): ("8", "upgrade --force")}


def test_every_cell_of_the_engine_has_a_row() -> None:
    mine = {row.cell for row in ROWS}
    assert mine >= set(AS.values())
    assert mine | set(AS) == {(row, verb) for row in ENGINES for verb in VERBS}


def test_the_documented_table_has_the_same_rows() -> None:
    table = (File(__file__).parents[1] / "docs" / "ownership.md").read_text().partition("\n| row |")[2]
    rows = [line.split("|")[1].strip() for line in table.partition("\n\n")[0].splitlines()[2:]]
    assert sorted(rows) == sorted([*ENGINES, *map(str, range(19, 25))])


class Settings:
    """A settings file and its record, which pack p comes to and goes from."""

    def __init__(self, value: dict[str, Any], *entries: Entry) -> None:
        self.value, self.entries = value, tuple(entries)

    def install(self, *wants: Wanted, pack: str = "p", force: bool = False) -> Decision:
        return self._carry_out(engine.install(self.entries, plain.live(self.value), pack, list(wants), force=force))

    def uninstall(self, *wants: Wanted) -> Decision:
        return self._carry_out(engine.uninstall(self.entries, plain.live(self.value), "p", list(wants)))

    def _carry_out(self, decision: Decision) -> Decision:
        self.value, self.entries = plain.carried_out(self.value, decision.edits), decision.entries
        return decision


def test_a_command_that_was_taken_over_is_given_back() -> None:
    here = stop(group(THEIRS, handler(EDITED, timeout=3)))
    file = Settings(here, element())
    file.install(hook(), force=True)
    assert file.value == stop(group(THEIRS, handler()))
    file.install(hook(OLDER))
    doubled = Settings(stop(group(THEIRS, handler(OLDER)), group(handler(OLDER))), *file.entries)
    last = file.uninstall(hook(OLDER))
    assert (file.value, file.entries) == (here, ())
    assert [action[4:7] for action in last.actions] == [("owned", "edited copy", "back to your command")]
    doubled.uninstall(hook(OLDER))
    assert doubled.value == here, "the first of them was theirs"


def test_where_a_command_was_taken_over_the_matcher_stays_theirs_and_their_later_edits_too() -> None:
    here = stop(group(handler(EDITED), matcher="x"))
    file = Settings(here, element())
    first = file.install(hook(matcher="y", timeout=15), force=True)
    assert file.value == stop(group(handler(timeout=15), matcher="x"))
    assert [line.reason for line in first.actions if line.action == "keep"] == [
        'kept your matcher="x" (ours: matcher="y")'
    ]
    file.value["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 99
    keep = file.install(hook(OLDER, matcher="y", timeout=20)).actions[0]
    assert file.value == stop(group(handler(OLDER, timeout=99), matcher="x"))
    assert keep.reason == 'kept your timeout=99, matcher="x" (ours: timeout=20, matcher="y")'
    file.install(hook(OLDER, timeout=20), force=True)
    assert file.value == stop(group(handler(OLDER, timeout=20), matcher="x"))
    file.uninstall()
    assert file.value == here


@pytest.mark.parametrize("force", [False, True])
def test_a_command_that_was_taken_over_and_then_removed_does_not_come_back(force: bool) -> None:
    file = Settings(stop(group(handler(EDITED))), element())
    file.install(hook(), force=True)
    file.value = {}
    file.install(hook(), force=force)
    file.uninstall()
    assert file.value == {}


def test_forcing_twice_gives_back_what_the_operator_set_in_between() -> None:
    file = Settings(env(LIMIT="7"))
    file.install(leaf("5"), force=True)
    file.value = env(LIMIT="9")
    file.install(leaf("5"), force=True)
    file.uninstall()
    assert file.value == env(LIMIT="9")


def test_after_a_wipe_nothing_is_written_for_packs_of_which_only_a_stranger_knows() -> None:
    entries = [owned("8", CAP, q="8"), owned("5")]
    done = engine.install(entries, plain.live({}), "p", [leaf("5")], others=False)
    assert plain.carried_out({}, done.edits) == env(LIMIT="5")
    assert comparable(done.entries) == comparable([*entries, container("env")])


def test_what_is_nobodys_business_is_not_in_the_report() -> None:
    token: Path = ("env", "API_TOKEN")
    entry, here = owned("ours-1", token, '"theirs-1"'), {"env": {"API_TOKEN": "theirs-2"}}
    done = [
        engine.install([], plain.live(here), "p", [leaf("ours-1", token)]),
        engine.install([], plain.live(here), "p", [leaf("ours-1", token)], force=True),
        engine.install([entry], plain.live(here), "p", [leaf("ours-2", token)]),
        engine.uninstall([entry], plain.live(here), "p"),
        engine.uninstall([entry], plain.live({"env": {"API_TOKEN": "ours-1"}}), "p"),
    ]
    lines = [line.reason for decision in done for line in decision.actions]
    assert len(lines) == 5
    for line in lines:
        assert "***" in line and "ours-" not in line and "theirs-" not in line, line


def test_values_are_the_same_by_what_they_mean() -> None:
    assert engine.same({"a": 1, "b": [2]}, {"b": [2], "a": 1})
    assert not engine.same([1, 2], [2, 1])
    assert not engine.same(1, True)
    assert not engine.same(1, 1.0)
    assert not engine.same(None, 0)


@pytest.mark.parametrize(("restores", "limit"), [(False, None), (True, "5")])
def test_a_pack_that_alone_was_wiped_comes_back_where_that_is_asked_for(restores: bool, limit: str | None) -> None:
    entries = [owned("5"), owned("8", CAP, q="8")]
    wants = [leaf("5"), Wanted(("env", "MODE"), "leaf", "ours")]
    live = plain.live(env(CAP="8", MODE="theirs"))
    done = engine.install(entries, live, "p", wants, restores=restores)
    assert [(edit.path, edit.value) for edit in done.edits] == ([] if limit is None else [(KEY, limit)])


# The engine and hooks of others that we are around: of those only the command is ours, and they come and go.


ID = f"{WRAP}0123abcd"
SAYS = f": hookctl={ID}; set -- say; it"
MY_OWN = f": hookctl={ID}; my own"
OWN = ": hookctl=guard/stop; run"


def around(command: str = SAYS, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": command, **fields}


def settings(*handlers: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"Stop": [{"hooks": [one]} for one in handlers]}}


def entry(id: str = ID, command: str = SAYS) -> Entry:
    written = around(command)
    return Entry(("hooks", "Stop"), "element", "owned", '"say"', written, {"guard": Claim(written)}, id)


@pytest.mark.parametrize(
    ("there", "state"),
    [
        (settings(around()), "owned"),
        (settings(around(timeout=20)), "owned"),
        (settings(around(MY_OWN)), "overridden"),
        (settings(around("say")), "missing"),
        (settings(around(MY_OWN), around(timeout=5)), "owned"),
    ],
    ids=["as written", "another timeout", "an edited command", "gone", "an edited copy and ours"],
)
def test_the_command_alone_says_whose_it_is(there: dict[str, Any], state: str) -> None:
    assert engine.state(entry(), plain.live(there), ("hooks", "Stop"), ID) == state


def test_after_a_wipe_nobody_elses_hook_is_written() -> None:
    entries = [entry(), entry("guard/stop", OWN)]
    decision = engine.install(entries, plain.live(settings()), "other", [])
    assert [edit.fields["command"] for edit in decision.edits if hasattr(edit, "fields")] == [OWN]
