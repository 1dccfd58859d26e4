"""What the documents say is so: codes, knobs, commands, options, exit codes and links."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from hookctl.packs import choices
from hookctl.verbs.run import ACTIONS
from tests import page_of_answers, page_of_commands, picture
from tests.conftest import Hookctl, put
from tests.manifest import hook, manifest
from tests.templates.modules import module
from tests.test_cli_contract import COMMANDS, options_of
from tests.texts import all_of

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


@all_of("name", sorted(KNOBS))
def test_schema_hook_and_hookctl_agree_on_what_is_valid(name: str) -> None:
    rule, default = choices.schema()[name], KNOBS[name]
    plain = {key: value for key, value in rule.items() if key not in ("minimum", "maximum")}
    for value in (*TEXTS, *([text] for text in TEXTS), [], ["x", " "], [1], 0, 7, -1, 99_999, 1.5, True, None, {}):
        fits = module("settings").fits(name, value, default)
        if value not in ("", " ", []):  # these stand for the default everywhere
            assert fits is jsonschema.Draft202012Validator(plain).is_valid(value), value
        if value not in ("", " ") or default:
            assert choices.is_valid(name, value, rule) is jsonschema.Draft202012Validator(rule).is_valid(value), value


def test_the_page_of_the_commands_is_that_of_the_help() -> None:
    page = page_of_commands.PAGE.read_text()
    assert page == page_of_commands.renewed(page), "run: python -m tests.page_of_commands"


def test_the_tables_of_the_page_of_packs_are_those_of_the_hosts() -> None:
    pages = [path.read_text() for path in page_of_answers.PAGES]
    for page in pages:
        assert page == page_of_answers.renewed(page), "run: python -m tests.page_of_answers"
    for name in page_of_answers.TABLES:
        assert "\n".join(page_of_answers.lines(name)) in "\n".join(pages)


def test_the_picture_is_that_of_a_real_run() -> None:
    assert picture.PICTURE.read_text() == picture.picture(), "run: python -m tests.picture"


# Recipes and samples of the pages, run as they stand there.
MANIFEST = manifest("{name}", hook("stop", "sh {{files}}/{name}.sh"), protocol="host", files=["{name}.sh"])


def blocks(page: str, language: str, heading: str = "") -> list[str]:
    """The fenced blocks of a language below a heading of a page, or of the whole page."""
    text = (ROOT / page).read_text()
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    found = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert found, (page, heading)
    return found


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True, capture_output=True, timeout=60)


@pytest.fixture
def project(isolated: Path, monkeypatch: pytest.MonkeyPatch, fixed_python: None) -> Path:
    """An empty repository with two packs in it, and its folder as the working one."""
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, "/dev/null")
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.com")
    top = isolated / "team"
    for name in ("notify", "audit"):
        put(top / "hooks" / name / "pack.toml", MANIFEST.format(name=name))
        put(top / "hooks" / name / f"{name}.sh", "cat >/dev/null\n")
    monkeypatch.chdir(top)
    git("init", "-qb", "main")
    return top


def walk(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a text with `$ ` in front, and the lines that it prints."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *printed = part.splitlines()
        yield command, printed


def test_the_first_pack_of_the_page_of_packs_goes_as_it_is_shown(isolated: Path) -> None:
    """Every line that is shown is printed, in this order; `...` stands for lines, or for the rest of one."""
    home = isolated / "home"
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HOOKCTL_")}
    environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    shown = "".join(blocks("docs/packs.md", "text", "A first pack in ten minutes"))
    assert shown.count("$ hookctl ") == 7
    for command, lines in walk(shown):
        agreed = command.replace("hookctl install", "hookctl install --yes")  # at a terminal it asks, as is shown
        asked = [line for line in lines if line.startswith("Install ")]
        lines = [line for line in lines if line not in asked]
        assert asked == (["Install no-force? [y/N] y"] if agreed != command else [])
        done = subprocess.run(agreed, shell=True, cwd=home, env=environ, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (command, done)
        printed = done.stderr.replace("hookctl: ", "") + done.stdout
        patterns = [".*".join(re.escape(part) for part in line.split("...")) for line in lines if line != "..."]
        assert re.search(".*^".join(patterns), printed, re.DOTALL | re.MULTILINE), (command, printed)
    assert not (home / ".local" / "share" / "hookctl" / "packs").exists()


def test_the_pack_that_the_page_shows_is_the_one_that_is_made(isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("pack", "new", "no-force").code == 0
    shown = blocks("docs/packs.md", "toml", "A first pack in ten minutes")
    assert shown == [Path("no-force", "pack.toml").read_text()]


def test_the_notifier_beside_the_guard_speaks_only_at_a_stop_that_is_one(isolated: Path, hookctl: Hookctl) -> None:
    (program,) = [block for block in blocks("docs/guard.md", "sh") if "--session" in block]
    assert "  sleep 2 " in program and program.endswith(") >/dev/null 2>&1 &\n")
    put(Path("notify.sh"), program.replace("  sleep 2 ", "  : ").replace(">&1 &\n", ">&1\n"))
    assert hookctl("install", "--host", "claude").code == 0
    settings = json.loads((isolated / "home" / ".claude" / "settings.json").read_text())
    (guard,) = settings["hooks"]["Stop"][0]["hooks"]
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    fields = {"hook_event_name": "Stop", "session_id": "S1", "cwd": os.getcwd(), "prompt_id": "p1"}
    payload = json.dumps({**fields, "stop_hook_active": False})
    told = []
    for remaining in ("2", "0"):
        assert hookctl("run", "remaining", remaining).code == 0
        for command in (guard["command"], "sh ./notify.sh claude"):
            subprocess.run(command, shell=True, input=payload, env=environ, text=True, check=True, timeout=60)
        log = isolated / "home" / "agents.log"
        told.append(log.read_text() if log.exists() else "")
    assert told == ["", "claude is done\n"]
