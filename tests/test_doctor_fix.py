"""hookctl doctor --fix: what is ours is put right, and nothing else changes by a byte."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from . import findings
from .conftest import Hookctl, put
from .findings import CAP, LIMIT, MENDED, STAYING, Place, pack
from .test_doctor import named
from .trees import tree


@pytest.fixture
def place(isolated: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("hookctl.checks.self_test.run", lambda *_: None)
    return Place(isolated, settings, hookctl, monkeypatch)


def content(place: Place) -> dict[str, tuple[object, ...]]:
    """All bytes below the place, hookctl's own bookkeeping apart."""
    state = r"(state|home/\.local/state/hookctl)(/lock|/backups.*|/ledger\.json|/journal\.json)?"
    own = re.compile(state + r"|work/\.hookctl/ledger\.json")
    return {name: (about[0], about[2]) for name, about in tree(place.root).items() if not own.fullmatch(name)}


def without_ours(text: str) -> Any:
    """What a settings file says apart from the guard's and the packs' entries and empty containers."""
    page = json.loads(text or "{}")
    for groups in page.get("hooks", {}).values():
        for group in groups:
            group["hooks"] = [one for one in group["hooks"] if not one["command"].startswith(": hookctl=")]
        groups[:] = [group for group in groups if group["hooks"]]
    env = {name: value for name, value in page.pop("env", {}).items() if name not in (LIMIT, CAP)}
    hooks = {event: groups for event, groups in page.pop("hooks", {}).items() if groups}
    return {**page, **({"env": env} if env else {}), **({"hooks": hooks} if hooks else {})}


def fix(place: Place, *options: str) -> tuple[list[dict[str, Any]], list[str]]:
    """What was fixed, and the codes of what is left."""
    data = place.doctor("--fix", *options).data
    return data["fixed"], [finding["code"] for finding in data["findings"]]


ONE_OF_EACH = list({case[0]: case for case in STAYING}.values())


@pytest.mark.parametrize(("code", "level", "arrange"), ONE_OF_EACH, ids=named)
def test_what_is_not_mended_stays_byte_for_byte(
    place: Place, code: str, level: str, arrange: Callable[[Place], None]
) -> None:
    arrange(place)
    before = content(place)
    fixed, left = fix(place)
    assert (fixed, content(place)) == ([], before)
    if code != "self_test_failed":  # not played here
        assert code in left


@pytest.mark.parametrize(("code", "level", "arrange"), MENDED, ids=named)
def test_what_is_mended_is_gone_and_only_ours_has_changed(
    place: Place, code: str, level: str, arrange: Callable[[Place], None]
) -> None:
    put(place.settings, '{\n\t"model" : "opus"\n}')
    arrange(place)
    before = content(place)
    fixed, left = fix(place)
    assert code not in left
    assert fixed or code == "interrupted_run"  # which a message tells
    after = content(place)
    ours = re.compile(
        r"home/\.claude/settings\.json|work(/\.claude.*|/\.hookctl.*|/CLAUDE\.md)?|data(/.*)?|home|home/\.claude(/CLAUDE\.md)?"
    )
    for name in {**before, **after}:
        assert ours.fullmatch(name) or before.get(name) == after.get(name), name
    for name in ("home/.claude/settings.json", "work/.claude/settings.json"):
        old, new = ((tree_[name][1] if name in tree_ else b"") for tree_ in (before, after))
        assert without_ours(new.decode()) == without_ours(old.decode())
    once = tree(place.root)
    fixed, _ = fix(place)
    assert fixed == []
    assert tree(place.root) == once, "twice is once"
    assert place.hookctl("uninstall", "--all", "--json").code == 0


# Each repair, looked at closely.
@pytest.mark.parametrize("text", ["{", '{"a": 1,}', '{"env": []}', '{"hooks": 5}'])
def test_a_file_that_cannot_be_read_does_not_keep_the_others_from_being_mended(place: Place, text: str) -> None:
    place.install().install("--scope", "project").install("--scope", "local")
    for path in (Path(".claude/settings.json"), Path(".claude/settings.local.json")):
        put(path, "{}")
    put(place.settings, text)
    fix(place)
    assert place.settings.read_text() == text
    for path in (Path(".claude/settings.json"), Path(".claude/settings.local.json")):
        assert "guard/stop" in path.read_text()


def copy_of_the_settings(place: Place) -> None:
    """Which does not get the folder of the first."""
    place.install()
    other = put(place.root / "other" / "settings.json", place.settings.read_bytes())
    place.monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(other.parent))


def link_that_leaves_the_project(place: Place) -> None:
    place.install("--scope", "project")
    shutil.rmtree(".hookctl/guard")
    (place.root / "outside").mkdir()
    Path(".hookctl/guard").symlink_to(place.root / "outside")


def committed(craft: Callable[[Any], Any]) -> Callable[[Place], None]:
    """A project without our entries, and a record that wants something else written."""

    def arrange(place: Place) -> None:
        place.install("--scope", "project")
        put(Path(".claude/settings.json"), "{}")
        place.change(lambda page: craft(page["files"][".claude/settings.json"]), Path(".hookctl/ledger.json"))

    return arrange


def without_a_packs_file(change: Callable[[Path], object]) -> Callable[[Place], None]:
    """A file of a pack is gone, and the pack in its folder has become another one."""

    def arrange(place: Place) -> None:
        findings.pack_file_missing(place)
        change(place.root / "notify")

    return arrange


def edited(old: str, new: str) -> Callable[[Path], object]:
    return lambda folder: put(folder / "pack.toml", (folder / "pack.toml").read_text().replace(old, new))


# What nobody can mend with certainty: nothing is written at all.
UNCERTAIN: list[tuple[str, Callable[[Place], None]]] = [
    # With another data folder, or the settings of somebody else's machine.
    ("ledger_missing",
     lambda place: (place.install().ledger.unlink(),
                    place.monkeypatch.setenv("HOOKCTL_DATA_DIR", str(place.root / "other")))),
    ("ledger_missing", copy_of_the_settings),
    ("entry_edited",
     lambda place: (findings.with_python(place, "exit 0").unlink(), place.edit("exit 0", "exit 1"))),
    ("link_leaves_project", link_that_leaves_the_project),
    ("hook_missing", without_a_packs_file(edited('"1.0"', '"1.1"'))),
    ("hook_missing", without_a_packs_file(edited('"notify"', '"other"'))),
    ("hook_missing", without_a_packs_file(lambda folder: put(folder / "notify.py", "other bytes"))),
    ("hook_missing", without_a_packs_file(lambda folder: (folder / "notify.py").unlink())),
    ("hook_missing", without_a_packs_file(lambda folder: (folder / "pack.toml").unlink())),
    ("hook_missing", without_a_packs_file(lambda folder: put(folder / "pack.toml", "["))),
]  # fmt: skip


@pytest.mark.parametrize(("code", "arrange"), UNCERTAIN, ids=named)
def test_what_is_uncertain_stays_as_it_is(place: Place, code: str, arrange: Callable[[Place], None]) -> None:
    arrange(place)
    before = content(place)
    fixed, left = fix(place)
    assert (fixed, content(place)) == ([], before)
    assert code in left


# What a stranger's record says. Of it only the guard's own entries and programs are written, as this hookctl has them.
STRANGERS = {
    "program": lambda place: (committed(lambda page: page)(place), put(Path(".hookctl/hook.py"), "evil")),
    "command": committed(lambda page: page["entries"][0]["written"].update(command=": hookctl=guard/stop; evil")),
    "value": committed(lambda page: page["entries"][1]["owners"]["guard"].update(value="9999")),
    "key": committed(lambda page: page["entries"].insert(0, {**page["entries"][1], "path": ["env", "LD_PRELOAD"]})),
    "pack": committed(lambda page: page["packs"].update(evil={**page["packs"]["guard"], "files": []})),
}


@pytest.mark.parametrize("arrange", STRANGERS.values(), ids=STRANGERS)
def test_of_a_strangers_record_only_what_this_guard_wants_is_written(
    place: Place, arrange: Callable[[Place], None]
) -> None:
    put(Path(".claude/settings.json"), "{}")
    wanted = content(place.install("--scope", "project"))
    arrange(place)
    fixed, left = fix(place)
    assert fixed and "entries_wiped" not in left
    assert content(place) == wanted


def test_a_projects_pack_is_put_back_from_where_it_was_agreed_to_and_not_from_where_the_record_says(
    place: Place,
) -> None:
    file = pack(place)
    assert place.hookctl("install", str(file), "--host", "claude", "--scope", "project").code == 0
    wanted = content(place)
    other, script = place.root / "other", Path(".hookctl/packs/notify/notify.py")
    shutil.copytree(file.parent, other)
    put(other / "notify.py", "secret")
    for field in ("settings", "source"):
        source = str(other / file.name)
        change = {"settings": {"source": source}} if field == "settings" else {"source": source}
        script.unlink(missing_ok=True)
        place.change(lambda page, change=change: page["files"][".claude/settings.json"]["packs"]["notify"].update(
            change), Path(".hookctl/ledger.json"))  # fmt: skip
        fix(place)
        assert script.exists() == (field == "settings"), "nobody agreed to the other one"
        left = {name: about for name, about in content(place).items() if not name.startswith("other")}
        wanted.pop("" if script.exists() else "work/.hookctl/packs/notify/notify.py", None)
        assert left == wanted
