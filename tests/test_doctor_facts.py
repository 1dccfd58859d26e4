"""How doctor is built: the facts are read once, the judges read nothing, and one table has every code."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from typing import Any

import jsonschema
import pytest

from hookctl.checks import codes
from hookctl.packs.choices import is_valid, schema

from .conftest import put
from .findings import ROOT, Place, place
from .page_of_codes import PAGE, renewed

__all__ = ["place"]  # a fixture

CHECKS = ROOT / "hookctl" / "checks"


# One table of codes.


def test_the_page_has_the_table_of_the_codes() -> None:
    page = PAGE.read_text()
    assert page == renewed(page), "run: python -m tests.page_of_codes"


def test_a_finding_has_the_usual_level_of_its_code_or_the_one_that_is_given() -> None:
    values = {"title": "any agent", "name": "NAME"}
    assert codes.finding("not_installed", **values).level == "info"
    assert codes.finding("not_installed", level="error", **values).level == "error"
    with pytest.raises(KeyError):
        codes.finding("nonsense")


def test_every_text_is_named_where_it_is_judged() -> None:
    constants = set()
    for path in (*CHECKS.glob("*.py"), ROOT / "hookctl" / "verbs" / "doctor.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        constants |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for code, entry in codes.entries().items():
        assert entry.keys() in ({"level"}, {"level", "message", "fix"}), f"{code}: one text and one fix"
        assert "message" not in entry or code in constants, code
    assert len(codes.entries()) <= 75


# Every file once.


def test_each_file_is_opened_once(place: Place) -> None:
    """By hookctl itself: the hook's program also by the Python that runs it in the self-test."""
    place.install()
    put(place.root / "work" / ".claude" / "settings.json", "{}")
    opened: Counter[str] = Counter()
    real = os.open

    def count(path: Any, *arguments: Any, **named: Any) -> int:
        opened[str(path)] += 1
        return real(path, *arguments, **named)

    place.monkeypatch.setattr(os, "open", count)
    assert place.doctor("--host", "claude").code == 0
    ours = [place.settings, place.config, place.hook, place.root / "work" / ".claude" / "settings.json"]
    assert [opened[str(path)] for path in ours] == [1, 1, 1, 1]
    assert opened[str(place.ledger)] <= 2


def test_a_client_is_asked_once_however_many_files_it_has(place: Place) -> None:
    place.client(f"echo asked >> {place.root}/asked; echo '9.9.9 (Claude Code)'")
    place.install().install("--scope", "local")
    (place.root / "asked").unlink()
    place.doctor()
    assert (place.root / "asked").read_text() == "asked\n"


# Knobs are judged as the hook does, which their schema says too.


@pytest.mark.parametrize(
    "value",
    [
        {"latch": "perhaps"}, {"latch": True}, {"mode": 5}, {"mode": "of"}, {"max_stop_blocks": True},
        {"max_stop_blocks": 5.5}, {"max_stop_blocks": "5"}, {"max_stop_blocks": None},
        {"progress": []}, {"progress": ["heartbeat", "x", 5]}, {"progress": "heartbeat"}, {"child_env": ["", " ", 5]},
        {"run_dir": " "}, {"run_dir": ""}, {"reason": ""}, {"reason": " "}, {"dispatch_max_keys": 0},
        {"dispatch_max_keys": 99999}, {"lock_ms": -1}, {"lock_ms": 8001}, {"lock_ms": True}, {"owner": []},
    ],
    ids=str,
)  # fmt: skip
def test_a_knob_is_wrong_where_its_schema_says_so(value: dict[str, Any]) -> None:
    ((name, given),) = value.items()
    rule = schema()[name]
    assert is_valid(name, given, rule) is jsonschema.Draft202012Validator(rule).is_valid(given)


def test_no_library_for_schemas_is_loaded(place: Place) -> None:
    place.install()
    text = "import sys; from hookctl.__main__ import run; run(['doctor']); sys.exit('jsonschema' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", text], cwd=place.root / "work", capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "Claude Code: nothing wrong" in process.stdout
