"""The list of branches that no test takes: what it names is there, and the page shows it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import branches, traced
from tests.branches import Branch, Reasoned

SOURCE = """
def f(x):
    if x:
        return 1
    try:
        return g(x)
    except OSError:
        return 2
"""
TAKEN = Branch("m.py", "f", "if x:", "return 1")


def test_the_page_shows_the_list() -> None:
    page = branches.PAGE.read_text()
    assert branches.renewed(page, branches.table(branches.read_reasons())) == page


@pytest.mark.parametrize("row", branches.read_reasons(), ids=lambda row: f"{row.branch.file} {row.branch.function}")
def test_what_a_reason_is_for_is_in_the_code(row: Reasoned) -> None:
    lines = [line.strip() for line in (branches.ROOT / row.branch.file).read_text().splitlines()]
    assert row.branch.line in lines
    assert row.branch.to in (*lines, "end of the function")
    assert row.reason.endswith(".")


def test_a_branch_is_named_by_its_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(branches, "ROOT", tmp_path)
    (tmp_path / "m.py").write_text(SOURCE)
    report = {"missing_branches": [[3, 4], [3, -2]], "missing_lines": [4, 8]}
    assert set(branches._branches(tmp_path / "m.py", report)) == {
        TAKEN,
        Branch("m.py", "f", "if x:", "end of the function"),
        Branch("m.py", "f", "except OSError:", "return 2"),
    }


@pytest.mark.parametrize(
    ("found", "reasons", "said"),
    [
        ({TAKEN}, [Reasoned(TAKEN, "A race.")], []),
        ({TAKEN}, [], ["no reason is given"]),
        (set(), [Reasoned(TAKEN, "A race.")], ["a test takes it"]),
        ({TAKEN}, [Reasoned(TAKEN, " ")], ["an empty reason"]),
    ],
)
def test_a_branch_and_its_reason_go_together(found: set[Branch], reasons: list[Reasoned], said: list[str]) -> None:
    lines = branches.faults(found, reasons)
    assert len(lines) == len(said)
    assert all(part in line for part, line in zip(said, lines, strict=True))


def test_a_note_that_a_full_disk_cut_off_counts_as_far_as_it_is_whole(tmp_path: Path) -> None:
    traced.lay_stand_in(tmp_path / "measured")
    note = tmp_path / "measured" / "notes" / "1"
    note.write_text("hook.py 1 2\nguard_0/stop.py 3 -1\nhook.py 2")
    assert traced.steps(tmp_path / "measured") == {
        traced.GUARD / "hook.py": {(1, 2)},
        traced.GUARD / "guard" / "stop.py": {(3, -1)},
    }
