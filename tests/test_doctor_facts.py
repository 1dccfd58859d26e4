"""How doctor is built: the facts are read once, the judges read nothing, and one table has every code."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookctl import hosts
from hookctl.checks import codes, hook, survey
from hookctl.checks.facts import HostFacts
from hookctl.checks.gather_host import host_facts
from hookctl.checks.gather_record import record_facts
from hookctl.checks.machine import Machine
from hookctl.packs.guard_options import schema
from hookctl.system import folders

from . import findings
from .conftest import Hookctl, put
from .findings import NIGHTLY, ROOT, Place, everything, handler
from .page_of_codes import PAGE, renewed, rows

CHECKS = ROOT / "hookctl" / "checks"
# The rim; every other module judges, or holds values.
READING = ("gather_file", "gather_guard", "gather_hooks", "gather_host", "gather_project", "gather_record", "machine",
           "survey", "self_test")  # fmt: skip
JUDGES = sorted(path.stem for path in CHECKS.glob("*.py") if path.stem not in (*READING, "codes"))


@pytest.fixture
def place(isolated: Path, settings: Path, hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return Place(isolated, settings, hookctl, monkeypatch)


# One table of codes.


def test_the_page_has_the_table_of_the_codes() -> None:
    page = PAGE.read_text()
    assert page == renewed(page), "run: python -m tests.page_of_codes"


def test_a_page_that_differs_is_written_anew() -> None:
    page = PAGE.read_text()
    assert renewed(page.replace("| `cap_off` | warning |", "| `cap_off` | info |")) == page
    lines = page.splitlines(keepends=True)
    row = next(line for line in lines if line.startswith("| `cap_off` |"))
    assert "| `cap_off` | warning |  | |" in renewed(page.replace(row, "")), "a row to be filled"


def test_the_page_says_of_every_code_what_it_means_and_what_to_do() -> None:
    texts = rows(PAGE.read_text())
    assert list(texts) == list(codes.entries())
    for code in texts:
        levels = codes.levels(code)
        _, means, what_to_do = texts[code]
        assert levels and set(levels) <= {"error", "warning", "info"}, code
        assert means and (what_to_do.strip("|") or set(levels) == {"info"}), code


def test_a_finding_has_the_usual_level_of_its_code_or_the_one_that_is_given() -> None:
    assert codes.finding("no_repository").level == "info"
    assert codes.finding("no_repository", level="error").level == "error"
    with pytest.raises(KeyError):
        codes.finding("nonsense")


def test_every_text_is_named_where_it_is_judged() -> None:
    constants = set()
    for path in (*CHECKS.glob("*.py"), ROOT / "hookctl" / "verbs" / "doctor.py"):
        nodes = ast.walk(ast.parse(path.read_text()))
        constants |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    for code, entry in codes.entries().items():
        further = {f"{code}.{name}" for name, value in entry.items() if isinstance(value, dict)}
        assert further == {text for text in constants if text.startswith(f"{code}.")}
        assert "message" not in entry or code in constants, code


# Judges are pure.

_MODULES = {
    "__future__", "collections", "collections.abc", "contextlib", "hookctl",
    "hookctl.documents", "hookctl.documents.jsonc",
    "hookctl.documents.rules", "hookctl.errors", "hookctl.events", "hookctl.hosts",
    "hookctl.hosts.loading",
    "hookctl.hosts.matchers", "hookctl.hosts.shapes",
    "hookctl.masking", "hookctl.model",
    "hookctl.packs", "hookctl.packs.abilities", "hookctl.packs.choices", "hookctl.packs.guard",
    "hookctl.packs.guard_options", "hookctl.packs.model", "hookctl.packs.reports",
    "hookctl.packs.sentence", "hookctl.packs.wrapping",
    "hookctl.settings", "hookctl.system", "hookctl.system.packages",
    "hookctl.settings.approval", "hookctl.settings.effective",
    "hookctl.settings.targets", "hookctl.values", "json",
    "os", "re", "shlex", "stat", "typing",
}  # fmt: skip
# What judges take of modules that read, too: functions of values, and constants.
_TAKEN = {
    "os": {"path"},
    "os.path": {"basename", "dirname", "isabs", "join", "normpath", "relpath"},
    "clock": {"age", "local", "timestamp"},
    "effective": {"STOP", "blocks", "cap", "describe_switch", "disabling", "disabling_ours", "stronger", "switches",
                  "text", "variables"},
    "approval": {"OFF", "UNKNOWN"},
    "guard": {"ARMED_CEILING", "CEILING", "HOSTS", "UNLIMITED_CAP", "can_refuse", "cap_for",
              "configuration", "leaves_reminders",
              "events", "hook_path", "is_shared_command", "limit_of"},
    "hosts": {"commands"},
    "interpreter": {"MINIMUM"},
    "project": {"MARKS", "session_hash"},
    "hookctl.system.files": {"content_digest", "digest", "with_unix_endings"},
}  # fmt: skip


def faults_of(tree: ast.Module) -> list[str]:
    """What a module uses that could read a file, the clock, the environment, or start a process."""
    faults = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            faults += [alias.name for alias in node.names if alias.name not in _MODULES]
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if module.startswith("hookctl.checks"):
                names = {alias.name for alias in node.names} | {module.rpartition(".")[2]}
                faults += sorted(names & set(READING))
            elif module in _TAKEN:
                faults += [alias.name for alias in node.names if alias.name not in _TAKEN[module]]
            elif module not in _MODULES:
                faults.append(module)
            elif module in ("hookctl", "hookctl.settings", "hookctl.system"):
                known = {*_TAKEN, "engine", "__version__"}
                faults += [alias.name for alias in node.names if alias.name not in known]
        elif isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            if owner in _TAKEN and node.attr not in _TAKEN[owner]:
                faults.append(f"{owner}.{node.attr}")
        elif isinstance(node, ast.Name) and node.id in ("open", "print", "input", "exec", "eval", "__import__"):
            faults.append(node.id)
    return faults


@pytest.mark.parametrize("name", JUDGES)
def test_a_judge_can_read_nothing(name: str) -> None:
    assert faults_of(ast.parse((CHECKS / f"{name}.py").read_text())) == []


def test_nor_can_the_rules_of_hosts() -> None:
    assert faults_of(ast.parse((CHECKS.parent / "hosts" / "loading.py").read_text())) == []


@pytest.mark.parametrize(
    "text",
    ["import subprocess", "from hookctl.system import files", "from hookctl.checks import machine",
     "import os\nos.stat(p)",
     "import os\nos.path.exists(p)", "import os\nos.environ", "from hookctl import clock\nclock.now({})", "open(p)",
     "from hookctl.checks.gather_guard import configuration"],
)  # fmt: skip
def test_what_reads_is_a_fault(text: str) -> None:
    assert faults_of(ast.parse(text))


ARRANGED: list[Callable[[Place], Any]] = [
    everything, findings.nothing, findings.unparsable, findings.entries_wiped, findings.hook_edited,
    findings.wrap_missing, findings.two_versions, findings.owner_unseen, findings.link_chain, findings.hook_silent,
    findings.pack_gone, findings.ledger_unreadable, findings.interrupted_run, findings.above_the_project,
    findings.in_the_home_folder_too, findings.also_read, findings.in_the_project("{"), findings.managed_text("{"),
    findings.not_committed(".gitignore", ".hookctl/"), findings.beside_ours(Stop=[NIGHTLY, handler("npx x")]),
    findings.beside_ours(PreToolUse=[handler("python3 /gone/check.py")]),
]  # fmt: skip


def gathered() -> tuple[Any, HostFacts]:
    here = folders.here()
    of_records = record_facts(here, everywhere=False)
    host = host_facts(Machine(here, of_records.records), hosts.load("claude"))
    return of_records, survey.with_self_tests(host, here.state)


def judged(of_records: Any, host: HostFacts) -> list[codes.Finding]:
    return [*survey.records.judge(of_records), *survey.judge(host)]


@pytest.mark.parametrize("arrange", ARRANGED, ids=lambda case: case.__qualname__.partition(".")[0])
def test_the_judges_need_nothing_but_the_facts(place: Place, arrange: Callable[[Place], Any]) -> None:
    """Without disk, clock, environment and processes they say the same of them."""
    place.monkeypatch.setattr("hookctl.checks.self_test.run", lambda *_: None)
    arrange(place)
    facts = gathered()
    before = judged(*facts)
    assert before

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a judge reads")

    with place.monkeypatch.context() as patch:
        names = ("open", "stat", "lstat", "listdir", "scandir", "access", "readlink", "getcwd", "getenv", "geteuid")
        for name in names:
            patch.setattr(os, name, refuse)
        patch.setattr("builtins.open", refuse)
        patch.setattr("time.time", refuse)
        patch.setattr("subprocess.Popen", refuse)
        patch.setattr(os, "environ", {})
        after = judged(*facts)
    assert after == before


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
    codes_of_it = [code for code in place.codes() if code == "client_newer"]
    assert codes_of_it == ["client_newer"]
    assert (place.root / "asked").read_text() == "asked\n"


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


def test_every_word_of_the_knobs_schema_is_looked_at() -> None:
    known = {"description", "default", "type", "enum", "minimum", "maximum", "pattern", "items", "minItems"}
    for about in schema().values():
        assert about.keys() <= known and about.get("items", {}).keys() <= known
        assert about.get("minItems", 1) == 1, "the words for it say so"


def test_no_library_for_schemas_is_loaded(place: Place) -> None:
    place.install()
    text = "import sys; from hookctl.__main__ import run; run(['doctor']); sys.exit('jsonschema' in sys.modules)"
    process = subprocess.run([sys.executable, "-c", text], cwd=place.root / "work", capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "works in a self-test" in process.stdout


@pytest.mark.parametrize("seconds", [-(2**61), 2**61, 1_000_000])
def test_a_time_that_no_date_can_say_is_left_out(place: Place, seconds: int) -> None:
    findings.entries_wiped(place)
    of_records, facts = gathered()
    (file,) = facts.files
    facts = facts._replace(files=(file._replace(written_at=float(seconds)),))
    (wiped,) = [finding for finding in judged(of_records, facts) if finding.code == "entries_wiped"]
    assert ("and the file was written at" in wiped.message) == (seconds == 1_000_000)


def test_a_guard_of_an_unknown_form_is_not_looked_for_in_the_working_folder(place: Place) -> None:
    put(Path(".claude/settings.json"), findings.hooks_of(Stop=[handler(": hookctl=guard/stop; true")]))
    put(Path("hook.py"), "")
    _, facts = gathered()
    (registration,) = facts.registrations
    assert (registration.folder, registration.since, registration.digest) == ("", None, "")
    assert facts.run is None
