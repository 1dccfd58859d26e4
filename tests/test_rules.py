"""Blocks of rules in the files that agents read: put there, kept, and taken out without a trace."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import hosts
from hookctl.model import Change
from hookctl.packs.choices import Settings
from hookctl.packs.guard_rules import write_rules
from hookctl.planner import rules
from hookctl.run import execute
from tests.conftest import Hookctl, put
from tests.documents.test_rules import texts as rule_texts

TEXT = write_rules([("", Settings())])
BEGIN, END = "<!-- hookctl=guard begin", "<!-- hookctl=guard end -->"
SECRET = "hunter2-of-the-operator"
NOTES = '[pack]\nname = "notes"\nversion = "1.0"\n\n[rules]\ntext = """\n# House\n\n- Say `please`.\n"""\n'
HOOK = '\n[[hooks]]\nevent = "stop"\nid = "x"\ncommand = "true"\nhosts = ["claude"]\n'
PROJECT = ("--scope", "project")

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture
def notes(isolated: Path) -> Path:
    """The user's file with instructions for Claude Code; it does not exist yet."""
    return isolated / "home" / ".claude" / "CLAUDE.md"


@pytest.fixture
def install(hookctl: Hookctl) -> Callable[..., str]:
    """Install for Claude Code, and what that says."""

    def call(*options: str) -> str:
        outcome = hookctl("install", "--host", "claude", *options)
        assert outcome.code == 0, outcome
        return outcome.out + outcome.err

    return call


@pytest.fixture
def uninstall(hookctl: Hookctl) -> Callable[..., str]:
    def call(*options: str) -> str:
        outcome = hookctl("uninstall", *options)
        assert outcome.code == 0, outcome
        return outcome.out + outcome.err

    return call


def blocks_in(path: Path, pack: str = "guard") -> int:
    return path.read_bytes().count(f"<!-- hookctl={pack} begin".encode()) if path.exists() else 0


@settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))
@given(text=st.none() | rule_texts(), added=rule_texts(), again=st.booleans())
def test_the_very_bytes_come_back(
    isolated: Path, notes: Path, hookctl: Hookctl, text: str | None, added: str, again: bool
) -> None:
    for folder in ("home", "state", "data"):
        shutil.rmtree(isolated / folder, ignore_errors=True)
    (isolated / "home").mkdir()
    if text is not None:
        put(notes, text.encode())
    assert hookctl("install", "--host", "claude", "--rules").code == 0
    written = notes.read_bytes()
    assert written.startswith((text or "").encode())
    assert written.count(TEXT.splitlines()[0].encode()) == 1
    if again:
        assert hookctl("install", "--host", "claude").out == "nothing to do\n"
        assert notes.read_bytes() == written
    # Whatever somebody writes below it stays, too.
    mine = added.removeprefix("\ufeff").encode()
    notes.write_bytes(written + mine)
    assert hookctl("uninstall").code == 0
    if text is None and not mine.strip():  # blank lines alone keep no file of ours
        assert not (isolated / "home" / ".claude").exists()
        return
    expected = (text or "").encode() + mine
    if mine and text and not text.endswith(("\n", "\r", "\ufeff")):
        # The line break that ended their last line stays: they wrote on in a new one.
        assert notes.read_bytes() in [(text + end).encode() + mine for end in ("\n", "\r\n", "\r")]
    else:
        assert (notes.read_bytes() if notes.exists() else b"") == expected


def test_only_who_asks_gets_them_and_reset_takes_them_out(notes: Path, install: Callable[..., str]) -> None:
    install()
    assert not notes.exists()
    assert "+ rules (guard)" in install("--rules")
    assert notes.read_text() == f"{BEGIN} (top) -->\n{TEXT}\n{END}\n"
    install("--set", "max_stop_blocks=9")
    assert blocks_in(notes) == 1
    assert "- rules (guard)" in install("--reset")
    assert not notes.exists()
    install()
    assert not notes.exists()


def test_an_edited_block_is_theirs(notes: Path, install: Callable[..., str], uninstall: Callable[..., str]) -> None:
    put(notes, "# Mine\n")
    install("--rules")
    edited = notes.read_text().replace("## Long", "## Very long")
    notes.write_text(edited)
    assert "= rules (guard) kept: you edited it; --force writes hookctl's" in install("--rules")
    assert notes.read_text() == edited
    install("--force")
    assert "## Very long" not in notes.read_text()
    uninstall()
    assert notes.read_text() == edited  # --force remembers what was there
    assert "kept: a block with another text, which hookctl has not written" in install("--rules")
    uninstall()
    assert notes.read_text() == edited


def test_an_uninstall_leaves_an_edited_block_and_says_so(
    notes: Path, install: Callable[..., str], uninstall: Callable[..., str]
) -> None:
    install("--rules")
    edited = notes.read_text().replace("## Long", "## Very long")
    notes.write_text(edited)
    assert "= rules (guard) kept: you edited it\n" in uninstall()
    assert notes.read_text() == edited


def test_a_block_that_somebody_took_out_stays_out(notes: Path, install: Callable[..., str]) -> None:
    put(notes, "# Mine\n")
    install("--rules")
    notes.write_text("# Mine\n")
    assert "rules (guard) kept: you removed it" in install()
    assert notes.read_text() == "# Mine\n"
    install("--rules")
    assert blocks_in(notes) == 1
    notes.unlink()  # the file went, so nobody decided on the block
    install()
    assert blocks_in(notes) == 1


def test_marker_lines_that_make_no_block_are_left_alone(
    notes: Path, install: Callable[..., str], uninstall: Callable[..., str]
) -> None:
    install("--rules")
    torn = notes.read_text().replace(END, "")
    notes.write_text(torn)
    for options in ((), ("--rules",), ("--force",)):
        assert "kept: its marker lines do not make one block" in install(*options)
    uninstall()
    assert notes.read_text() == torn


def test_a_new_text_takes_the_place_of_the_old_one(
    notes: Path, install: Callable[..., str], monkeypatch: pytest.MonkeyPatch, hookctl: Hookctl
) -> None:
    put(notes, "# Mine\r\n")
    install("--rules")
    monkeypatch.setattr(rules, "write_rules", lambda readers: "Newer\nwords")
    assert hookctl("upgrade").code == 0
    assert notes.read_bytes() == f"# Mine\r\n\r\n{BEGIN} -->\r\nNewer\r\nwords\r\n{END}\r\n".encode()


# What the block says with each configuration, and what it must not say there.
WORDED: list[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = [
    ((), ("while reported work remains,", "`.hookctl/run/task.json`", "run release"), ("run conclude", "repeat")),
    (
        ("--preset", "bmad"),
        ("`storiesRemaining` in `.claude/.story-automator-active` or", "`STORY_AUTOMATOR_ACTIVE_MARKER`", "run wait"),
        ("run remaining", "task.json", "run release"),
    ),
    (
        ("--preset", "nightly"),
        ("a run that a person began", "the run goes on", "run conclude"),
        ("no longer moves", "work remains", "run release"),
    ),
    (("--preset", "openhands"), ("never asks you to go on",), ("run remaining", "run wait", "no longer moves")),
    (
        ("--preset", "hermes"),
        ("call `kanban_complete` or `kanban_block`", "where `HERMES_KANBAN_TASK` is set"),
        ("run release",),
    ),
    (("--mode", "off", "--dispatch", "Bash"), ("whenever you want", "repeat too often"), ("run remaining", "run wait")),
    (("--set", "run_dir=work"), ("`work/task.json`",), (".hookctl/run",)),
    (("--set", "task_file=todo.json"), ("`todo.json`", "run remaining"), ("task.json`",)),
    (("--set", "require_arm=true"), ("remains in a run that a person began", "run conclude"), ()),
]


@pytest.mark.parametrize(("options", "said", "unsaid"), WORDED, ids=str)
def test_the_block_is_of_the_settings_in_force(
    notes: Path, install: Callable[..., str], uninstall: Callable[..., str], hookctl: Hookctl,
    options: tuple[str, ...], said: tuple[str, ...], unsaid: tuple[str, ...],
) -> None:  # fmt: skip
    install("--rules", "--mode", "guard")
    install("--reset", "--rules", *options)  # the block is renewed with the settings
    text = " ".join(notes.read_text().replace("todo.json`", "todo.json` ").split())
    assert [words for words in said if words not in text] == []
    assert [words for words in unsaid if words in text.replace("todo.json`", "")] == []
    assert max(map(len, notes.read_text().splitlines())) <= 105
    assert install() == "nothing to do\n"
    assert "nothing to do" in hookctl("upgrade").out
    uninstall()
    assert not notes.exists()


def test_hosts_that_share_a_file_are_told_apart(isolated: Path, hookctl: Hookctl) -> None:
    shared = isolated / "work" / "AGENTS.md"
    (isolated / "work" / ".git").mkdir()
    assert hookctl("install", "--host", "codex", *PROJECT, "--rules", "--mode", "keepalive").code == 0
    assert "Codex" not in shared.read_text()
    assert hookctl("install", "--host", "droid", *PROJECT, "--rules").code == 0
    titles = [f"guard of {hosts.load(name).title}\n" for name in ("codex", "droid")]
    text = shared.read_text()
    assert text.index(titles[0]) < text.index("a run that a person") < text.index(titles[1])
    for host in ("codex", "droid"):
        assert hookctl("install", "--host", host, *PROJECT).out == "nothing to do\n"
    assert "nothing to do" in hookctl("upgrade", "--yes").out
    assert hookctl("install", "--host", "codex", *PROJECT, "--mode", "breaker").code == 0
    assert shared.read_text().count("## Long work") == 1
    assert hookctl("uninstall", *PROJECT).code == 0
    assert not shared.exists()


def test_a_lost_record_is_made_again_from_the_block(
    isolated: Path, notes: Path, install: Callable[..., str], uninstall: Callable[..., str]
) -> None:
    put(notes, "# Mine\n")
    install("--rules")
    (isolated / "state" / "ledger.json").unlink()
    assert "hookctl's record of it is missing" in install("--rules")
    (isolated / "state" / "ledger.json").unlink()
    uninstall()
    assert notes.read_text() == "# Mine\n"


def test_the_block_goes_with_the_folder_that_it_was_written_for(
    isolated: Path, install: Callable[..., str], hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(isolated / "elsewhere"))
    install("--rules")
    moved = isolated / "elsewhere" / "CLAUDE.md"
    assert blocks_in(moved) == 1
    monkeypatch.delenv("CLAUDE_CONFIG_DIR")
    install("--rules")
    assert hookctl("uninstall").code == 0
    assert blocks_in(moved) == 1  # that install stands
    assert hookctl("uninstall", "--all", "--json").code == 0
    assert not moved.exists()


def test_what_is_not_utf_8_is_refused_and_nothing_is_written(
    notes: Path, settings: Path, hookctl: Hookctl, install: Callable[..., str]
) -> None:
    put(notes, b"caf\xe9\n")
    outcome = hookctl("install", "--host", "claude", "--rules")
    assert (outcome.code, "not UTF-8" in outcome.err, settings.exists()) == (4, True, False)
    notes.write_bytes(b"")
    install("--rules")
    put(notes, b"caf\xe9\n" + notes.read_bytes())
    outcome = hookctl("uninstall")
    assert (outcome.code, "the rules of guard stay in it" in outcome.err) == (1, True)
    assert not settings.exists()


def test_links_are_followed_for_the_user_and_stay_in_the_project(
    isolated: Path, notes: Path, install: Callable[..., str], uninstall: Callable[..., str], hookctl: Hookctl
) -> None:
    real = put(isolated / "dotfiles" / "agents.md", "# Mine\n")
    notes.parent.mkdir(parents=True)
    notes.symlink_to(real)
    install("--rules")
    assert (notes.is_symlink(), blocks_in(real)) == (True, 1)
    uninstall()
    assert (notes.is_symlink(), real.read_text()) == (True, "# Mine\n")
    (isolated / "work" / "CLAUDE.md").symlink_to(real)
    outcome = hookctl("install", "--host", "claude", *PROJECT, "--rules")
    assert (outcome.code, "a link leads out of the project" in outcome.err) == (4, True)
    assert (real.read_text(), (isolated / "work" / ".hookctl").exists()) == ("# Mine\n", False)


def test_hosts_that_read_one_file_share_its_block(
    isolated: Path, hookctl: Hookctl, uninstall: Callable[..., str]
) -> None:
    agents = put(isolated / "work" / "AGENTS.md", "# Ours")
    (isolated / "work" / "CLAUDE.md").symlink_to("AGENTS.md")
    for host in ("codex", "claude", "opencode"):
        assert hookctl("install", "--host", host, *PROJECT, "--rules").code == 0
    assert blocks_in(agents) == 1
    uninstall("--host", "codex", *PROJECT)
    assert hookctl("install", "--host", "opencode", *PROJECT, "--reset").code == 0
    assert blocks_in(agents) == 1
    uninstall("--host", "claude", *PROJECT)
    assert agents.read_text() == "# Ours"
    assert hookctl("install", "--host", "codex", "--host", "opencode", *PROJECT, "--rules").code == 0
    uninstall(*PROJECT)
    assert agents.read_text() == "# Ours"
    assert not (isolated / "work" / ".hookctl").exists()


def test_a_host_without_such_a_file_says_so(hookctl: Hookctl) -> None:
    outcome = hookctl("install", "--host", "openhands", "--rules")
    assert outcome.code == 0
    assert "OpenHands: hookctl knows no file with instructions of user scope" in outcome.err


def test_a_clone_takes_it_out_and_check_knows_it(
    isolated: Path, install: Callable[..., str], uninstall: Callable[..., str], hookctl: Hookctl,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    instructions = put(isolated / "work" / "CLAUDE.md", "# Ours\n")
    assert "commit .claude/settings.json CLAUDE.md and .hookctl" in install(*PROJECT, "--rules")
    monkeypatch.setenv("HOOKCTL_STATE_DIR", str(isolated / "another"))
    assert hookctl("check").code == 0
    written = instructions.read_text()
    instructions.write_text(written.replace("## Long", "## Very long"))
    assert (hookctl("check").code, "were edited" in hookctl("check").out) == (0, True)
    instructions.write_text("# Ours\n")
    assert (hookctl("check").code, "were removed" in hookctl("check").out) == (1, True)
    instructions.write_text(written.replace("guard", "other"))
    assert "the project's record has none" in hookctl("check").out
    instructions.write_text(written)
    uninstall(*PROJECT)
    assert instructions.read_text() == "# Ours\n"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("written", f"x\n{END}\n"), ("before", f"x\n{BEGIN} -->\n"), ("written", 5), ("path", ["guard", "x"]),
        ("path", ["other"]), ("path", ["../x"]), ("kind", "container"),
    ],
)  # fmt: skip
def test_a_stranger_s_record_of_rules_is_refused(
    isolated: Path, install: Callable[..., str], hookctl: Hookctl, name: str, value: object
) -> None:
    install(*PROJECT, "--rules")
    ledger = isolated / "work" / ".hookctl" / "ledger.json"
    page = json.loads(ledger.read_text())
    page["files"]["CLAUDE.md"]["entries"][0][name] = value
    ledger.write_text(json.dumps(page))
    before = (isolated / "work" / "CLAUDE.md").read_bytes()
    outcome = hookctl("uninstall", *PROJECT)
    assert (outcome.code, "cannot be read" in outcome.err) == (4, True)
    assert (isolated / "work" / "CLAUDE.md").read_bytes() == before


class Killed(BaseException):
    """Ends a run at once, as a kill does."""


@pytest.mark.parametrize("command", [("install", "--host", "claude", *PROJECT, "--rules"), ("uninstall", *PROJECT)])
@pytest.mark.parametrize("at", ["settings.json", "CLAUDE.md", "ledger.json"])
def test_a_killed_run_is_carried_to_its_end(
    isolated: Path, install: Callable[..., str], hookctl: Hookctl, monkeypatch: pytest.MonkeyPatch, at: str,
    command: tuple[str, ...],
) -> None:  # fmt: skip
    work = isolated / "work"
    instructions = put(work / "CLAUDE.md", "# Ours")
    put(work / ".claude" / "settings.json", "{}")
    if command[0] == "uninstall":
        install(*PROJECT, "--rules")
    apply_change = execute.apply_change

    def until(change: Change) -> Change:
        if change.path.endswith(at):
            raise Killed
        return apply_change(change)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(execute, "apply_change", until)
        hookctl(*command)
    assert hookctl(*command).code == 0
    assert blocks_in(instructions) == (command[0] == "install")
    assert hookctl("uninstall", *PROJECT).code == 0
    assert (instructions.read_text(), (work / ".claude" / "settings.json").read_text()) == ("# Ours", "{}")
    assert not (work / ".hookctl").exists()


def test_the_record_fits_its_schema(isolated: Path, install: Callable[..., str]) -> None:
    install("--rules")
    schema = json.loads((Path(__file__).parents[1] / "schemas" / "ledger.schema.json").read_text())
    jsonschema.validate(json.loads((isolated / "state" / "ledger.json").read_text()), schema)


def test_secrets_beside_the_block_are_not_shown(notes: Path, hookctl: Hookctl) -> None:
    put(notes, f"# Mine\napi_key: {SECRET}\nexport GITHUB_TOKEN={SECRET}\nPASSWORD={SECRET}\n")
    for command in ("plan", "install"):
        outcome = hookctl(command, "--host", "claude", "--rules")
        assert SECRET not in outcome.out + outcome.err
    notes.write_text(notes.read_text().replace("## Long", f"token: {SECRET}"))
    for arguments in (
        ("plan", "--host", "claude", "--force"),
        ("status", "--verbose"),
        ("doctor", "--verbose"),
        ("uninstall",),
    ):
        outcome = hookctl(*arguments)
        assert SECRET not in outcome.out + outcome.err


def test_an_earlier_text_is_put_back_with_its_record(
    notes: Path, install: Callable[..., str], hookctl: Hookctl
) -> None:
    put(notes, "# Mine\n")
    install("--rules")
    assert hookctl("restore", str(notes), "--to", "1").code == 0
    assert notes.read_text() == "# Mine\n"
    install("--rules")
    assert blocks_in(notes) == 1


def test_a_pack_brings_rules_of_its_own(isolated: Path, hookctl: Hookctl, uninstall: Callable[..., str]) -> None:
    pack = put(isolated / "notes.toml", NOTES)
    agents = isolated / "work" / "AGENTS.md"
    plan = hookctl("plan", str(pack), "--host", "codex", *PROJECT)
    assert "  rules    for the agent" in plan.out
    assert "  | - Say `please`." in plan.out
    assert hookctl("install", str(pack), "--host", "codex", *PROJECT, agrees=False).code == 2
    assert hookctl("install", str(pack), "--host", "codex", *PROJECT).code == 0
    assert agents.read_text() == (
        "<!-- hookctl=notes begin (top) -->\n# House\n\n- Say `please`.\n<!-- hookctl=notes end -->\n"
    )
    assert "rules (notes)" in hookctl("status").out
    assert hookctl("check").code == 0
    put(pack, NOTES.replace("please", "thanks").replace("1.0", "1.1"))
    assert hookctl("install", str(pack), "--host", "codex", *PROJECT).code == 0
    assert (blocks_in(agents, "notes"), "thanks" in agents.read_text()) == (1, True)
    uninstall("notes", *PROJECT)
    assert [path.name for path in (isolated / "work").iterdir()] == []


def test_a_required_pack_has_the_very_rules_of_its_file(isolated: Path, hookctl: Hookctl) -> None:
    pack = put(isolated / "notes.toml", NOTES)
    agents = isolated / "work" / "AGENTS.md"
    assert hookctl("install", str(pack), "--host", "codex", *PROJECT).code == 0
    require = ("check", "--require", str(pack))
    assert hookctl(*require).code == 0
    written = agents.read_text()
    agents.write_text(written.replace("please", "nothing"))
    said = hookctl(*require)
    assert (said.code, "the rules for the agent differ" in said.out) == (1, True)
    ledger = isolated / "work" / ".hookctl" / "ledger.json"
    ledger.write_text(ledger.read_text().replace("please", "nothing"))
    said = hookctl(*require)
    assert (said.code, "the rules for the agent differ" in said.out) == (1, True), "forged in record and file together"
    agents.unlink()
    assert hookctl(*require).code == 1


def test_hosts_shows_the_file_with_instructions(hookctl: Hookctl) -> None:
    assert "rules     <project>/AGENTS.md (project scope)" in hookctl("hosts", "codex").out
    [host] = hookctl("hosts", "codex", "--json").data["hosts"]
    assert host["rules"].keys() == {"user", "project"}


def test_rules_stay_away_from_a_host_that_the_pack_has_no_hook_for(isolated: Path, hookctl: Hookctl) -> None:
    pack = put(isolated / "notes.toml", NOTES + HOOK)
    assert hookctl("install", str(pack), "--host", "codex", *PROJECT).code == 0
    assert not (isolated / "work" / "AGENTS.md").exists()


@pytest.mark.parametrize("text", ["", "  ", f"a\\n{END}", "a\\u200bb", "a\\u0007", "x" * 4001])
def test_a_text_that_cannot_be_rules_is_refused(isolated: Path, hookctl: Hookctl, text: str) -> None:
    pack = put(isolated / "notes.toml", f'[pack]\nname = "notes"\nversion = "1.0"\n[rules]\ntext = "{text}"\n')
    outcome = hookctl("plan", str(pack), "--host", "codex")
    assert (outcome.code, "rules.text" in outcome.err) == (4, True), outcome


def test_rules_are_the_guard_s_option(isolated: Path, hookctl: Hookctl) -> None:
    pack = put(isolated / "notes.toml", NOTES)
    outcome = hookctl("install", str(pack), "--host", "codex", "--rules")
    assert (outcome.code, "--rules is for the guard" in outcome.err) == (2, True)


def test_the_guard_s_text_is_short() -> None:
    assert len(TEXT.splitlines()) <= 12
    assert len(TEXT) <= 1200


@pytest.mark.parametrize("name", hosts.names())
def test_a_host_has_no_file_of_a_scope_that_it_has_no_settings_for(name: str) -> None:
    host = hosts.load(name)
    assert host.rules.keys() <= set(host.scopes)


@pytest.mark.parametrize("name", hosts.names())
def test_the_page_names_each_host_s_files(name: str) -> None:
    page = (Path(__file__).parents[1] / "docs" / "rules.md").read_text()
    row = next((line for line in page.splitlines() if line.startswith(f"| {name} |")), f"| {name} | | | |")
    cells = [cell.strip() for cell in row.strip("|").split("|")][1:]
    host = hosts.load(name)
    for scope, cell in zip(hosts.SCOPES, cells, strict=True):
        pattern = host.rules.get(scope, "")
        folder = f" in `~/{host.config.home}`" if scope == "user" and pattern else ""
        file_name = pattern.rpartition("/")[2]
        assert cell == (f"`{file_name}`{folder}" if pattern else "")
