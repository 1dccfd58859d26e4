"""How doctor is built: the facts are read once, the judges read nothing, and one table has every code."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import Any

import jsonschema
import pytest

from hookctl.checks import codes, hook, survey
from hookctl.checks.facts import HostFacts
from hookctl.packs.guard_options import schema

from .conftest import put
from .findings import Place, place
from .page_of_codes import PAGE, renewed

__all__ = ["place"]  # a fixture

# One table of codes.


def test_the_page_has_the_table_of_the_codes() -> None:
    page = PAGE.read_text()
    assert page == renewed(page), "run: python -m tests.page_of_codes"


# What the judges make of odd facts.


def judged(of_records: Any, host: HostFacts) -> list[codes.Finding]:
    return [*survey.records.judge(of_records), *survey.judge(host)]


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


# Knobs are judged by the words of their schema, without the library for schemas.


@pytest.mark.parametrize(
    "value",
    [
        {}, {"latch": "perhaps"}, {"latsch": True, "other": 1}, {"mode": 5}, {"mode": "of"}, {"max_stop_blocks": True},
        {"max_stop_blocks": 5.0}, {"max_stop_blocks": 5.5}, {"max_stop_blocks": "5"}, {"max_stop_blocks": None},
        {"progress": []}, {"progress": ["heartbeat", "x", 5]}, {"progress": "heartbeat"}, {"child_env": ["", " ", 5]},
        {"run_dir": " "}, {"run_dir": ""}, {"reason": ""}, {"reason": " "}, {"dispatch_max_keys": 0},
        {"dispatch_max_keys": 99999}, {"lock_ms": -1}, {"lock_ms": 8001}, {"lock_ms": True}, {"owner": []},
    ],
    ids=str,
)  # fmt: skip
def test_a_knob_is_wrong_where_its_schema_says_so(value: dict[str, Any]) -> None:
    whole = {"type": "object", "additionalProperties": False, "properties": schema()}
    wrong = []
    for error in jsonschema.Draft202012Validator(whole).iter_errors(value):
        wrong.append((".".join(map(str, error.absolute_path)) or "the configuration", error.message))
    assert list(hook.find_invalid_settings(value, schema())) == wrong


def test_no_library_for_schemas_is_loaded(place: Place) -> None:
    place.install()
    text = "import sys; from hookctl.__main__ import run; run(['doctor']); sys.exit('jsonschema' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", text], cwd=place.root / "work", capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "Claude Code: nothing wrong" in process.stdout
