"""What the documents say is so: codes, knobs, commands, options, exit codes and links."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from hookctl import hosts
from hookctl.packs import choices
from hookctl.system.package_data import guard_module
from hookctl.verbs.run import ACTIONS

from . import page_of_answers, page_of_commands, picture
from .templates.modules import module
from .test_cli_contract import COMMANDS, options_of

KNOBS = module("settings").DEFAULTS
ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("*.md"))]


def rows(path: Path, heading: str) -> list[list[str]]:
    """The rows of the table whose first column has this heading."""
    text = path.read_text().partition(f"\n| {heading} |")[2].partition("\n\n")[0]
    lines = text.splitlines()[2:]
    assert lines, heading
    return [re.split(r"\s*\|\s*", line)[1:-1] for line in lines]


def test_every_knob_is_explained_with_its_default() -> None:
    schema = json.loads((ROOT / "schemas" / "guard-config.schema.json").read_text())["properties"]
    table = {row[0].strip("`"): row[1] for row in rows(ROOT / "docs" / "guard.md", "setting")}
    assert set(table) == set(KNOBS) - {"state_dir"}
    assert set(table) == set(schema) - {"state_dir", "hosts", "wraps", "$schema"}
    assert set(table) == {*choices.settable_options(), "mode"}
    for name, shown in table.items():
        value = KNOBS[name]
        assert schema[name].get("default", value) == value
        plain = ", ".join(value) if isinstance(value, list) else str(value)
        plain = plain.lower() if isinstance(value, bool) else plain
        assert shown.strip("`") == plain or name == "task_file", name


def commands(path: Path) -> list[str]:
    """Every call of hookctl in code, a line or a span each."""
    text = path.read_text()
    fenced = "\n".join(re.findall(r"^```.*?\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    found = []
    for code in [*fenced.splitlines(), *spans]:
        for call in re.finditer(r"(?:^|[ /])hookctl ([a-z-].*?)(?:#|&&|$)", code):
            found.append(call[1].strip())
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_that_is_shown_exists_with_its_options(path: Path) -> None:
    for command in commands(path):
        words = command.partition(" -- ")[0].split()
        if words[0] == "help":  # `hookctl help install` is `hookctl install --help`
            words = [*words[1:], "--help"]
        if words[0].startswith("--"):
            assert words[0] in ("--help", "--version"), command
            continue
        assert words[0] in COMMANDS, command
        assert {w for w in words if w.startswith("--")} <= {*options_of(words[0]), "--help"}, command
        if words[0] == "run":
            assert words[1:2] == [] or words[1] in ACTIONS, command
        for key in re.findall(r"--set (\w+)=", command):
            assert key in {"KEY", choices.LIMIT_KEY, *choices.settable_options()}, command


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", path.read_text()):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", sorted((ROOT / "schemas").glob("*.json")), ids=lambda path: path.name)
def test_schemas_are_schemas(path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text()))


def test_every_promise_and_every_group_of_the_museum_names_tests_that_there_are() -> None:
    pages = "".join((ROOT / "docs" / name).read_text() for name in ("promises.md", "museum.md"))
    named = re.findall(r"`(tests/[\w/-]+\.(?:py|txt))(?:::(\w+))?`", pages)
    assert len(named) > 65
    for path, function in named:
        text = (ROOT / path).read_text()
        assert not function or f"\ndef {function}(" in text, f"{path}::{function}"


TEXTS = ("", " ", "x", "22:00-06:00", "a\nb", "0", "breaker", "project", "heartbeat")


@pytest.mark.parametrize("name", sorted(KNOBS))
def test_schema_hook_and_hookctl_agree_on_what_is_valid(name: str) -> None:
    rule, default = choices.schema()[name], KNOBS[name]
    plain = {key: value for key, value in rule.items() if key not in ("minimum", "maximum")}
    for value in (*TEXTS, *([text] for text in TEXTS), [], ["x", " "], [1], 0, 7, -1, 1.5, True, None, {}):
        fits = module("settings").fits(name, value, default)
        if value not in ("", " ", []):  # these stand for the default everywhere
            assert fits is jsonschema.Draft202012Validator(plain).is_valid(value), value


def test_the_page_of_the_commands_is_that_of_the_help() -> None:
    page = page_of_commands.PAGE.read_text()
    assert page == page_of_commands.renewed(page), "run: python -m tests.page_of_commands"


def test_the_tables_of_the_page_of_packs_are_those_of_the_hosts() -> None:
    pages = [path.read_text() for path in page_of_answers.PAGES]
    for page in pages:
        assert page == page_of_answers.renewed(page), "run: python -m tests.page_of_answers"
    for name in page_of_answers.TABLES:
        assert "\n".join(page_of_answers.lines(name)) in "\n".join(pages)


def answer_of(name: str) -> Any:
    """An answer of a pack's command, by the name of the hosts' form for it."""
    decision = {"refuse": "deny"}.get(name, name if name in ("ask", "allow") else "")
    answer = guard_module("answer").Answer(decision, "why")
    values = {"change": ("change", {"a": 1}), "context": ("context", "c"), "replace": ("replace", "r")}
    values |= {"end": ("ends", True), "message": ("message", "m")}
    if name in values:
        setattr(answer, *values[name])
    return answer


@pytest.mark.parametrize("name", page_of_answers.HOSTS)
def test_what_the_page_says_of_answers_is_what_the_runner_makes_of_them(name: str) -> None:
    host = hosts.load(name)

    def rendered(may_allow: bool = False) -> tuple[str, bool]:
        made = guard_module("answer").render(forms, event, answer_of(answer), may_allow, lambda input: input)
        return made.outcome, answer in made.dropped

    for event, answers in page_of_answers.ANSWERS.items():
        forms = host.runner.get("answers", {}).get(event, {})
        no = "deny" if event == "PreToolUse" else "block"
        if page_of_answers.of_answer(host, event, "message") == page_of_answers.NO:
            continue
        for answer in answers:
            done = {"refuse": no, "message": "none", "replace": "change"}.get(answer, answer)
            expected = {"yes": (done, False), "refused": (no, False), "as context": (no, False),
                        "with `may_allow`, else refused": (no, False)}  # fmt: skip
            said = page_of_answers.of_answer(host, event, answer)
            assert rendered(answer == "allow") == expected.get(said, ("none", True)), (event, answer, said)
            if "may_allow" in said:
                assert rendered(True) == ("change", False)


def test_the_picture_is_that_of_a_real_run() -> None:
    assert picture.PICTURE.read_text() == picture.picture(), "run: python -m tests.picture"
