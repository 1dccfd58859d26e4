"""Ten hooks as people write them for Claude Code, out of their settings into one pack, with every real client."""

import json
import re
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest

from . import codex
from .agent import Place, Run
from .clients import REQUIRED, Client
from .dialects import Call
from .everywhere import CASES, EVERY, Case, play, receipt_lines, told
from .product import hookctl, hookctl_json

pytestmark = pytest.mark.e2e

THEIRS = Path(__file__).parent / "ten_hooks"
REFUSED, CHANGED, TOLD, RAN, NOT_ASKED = "refused", "changed", "the model was told", "ran", "not asked"
# In the order of the settings: each hook's name here, and its id in the imported pack.
NAMES = ["no-force", "no-force-push", "rewrite", "locked", "no-sudo", "log", "lint", "notes", "branch", "notify"]
IDS = {name: f"hook-{number}" for number, name in enumerate(NAMES, 1)}
# The call that each of these is to refuse makes this file; what the model is to read instead.
FORBIDDEN = {
    "no-force": ("forced", "BLOCKED: 'rm -rf' is not allowed"),
    "no-force-push": ("pushed", "Force pushes are off limits; open a pull request"),
    "locked": ("package-lock.json", "refused by a hook"),
    "no-sudo": ("raised", "sudo needs a human: ask for it"),
}
SAID = {  # where a host cannot do what a hook wants, `plan` says so
    "rewrite": "a changed input becomes a refusal that names it",
    "lint": "context for the model is dropped",
    "notes": "context for the model is dropped",
    "branch": "context for the model is dropped",
}


@pytest.fixture
def stage(stage: tuple[Client, Place]) -> tuple[Client, Place]:
    """Where the programs are that the hooks need."""
    _, place = stage
    missing = [name for name in ("bash", "jq", "node") if not shutil.which(name, path=place.environment()["PATH"])]
    if missing:
        text = f"the hooks need {', '.join(missing)}"
        pytest.fail(text) if REQUIRED else pytest.skip(text)
    return stage


def write_settings(place: Place) -> Path:
    """Put the ten hooks where their author has them; the settings file."""
    folder = place.home / ".claude"
    shutil.copytree(THEIRS, folder / "hooks")
    settings = folder / "settings.json"
    (folder / "hooks" / settings.name).rename(settings)
    own = place.project / ".claude" / "hooks"
    own.mkdir(parents=True)
    (folder / "hooks" / "lint.py").rename(own / "lint.py")
    (place.project / "NOTES.txt").write_text("the tests need a database\n")
    return settings


def take_out(settings: Path) -> None:
    """Take the hooks out of the settings, as their author does before the pack is installed."""
    values = json.loads(settings.read_bytes())
    del values["hooks"]
    settings.write_text(json.dumps(values))


def calls_of(case: Case, place: Place) -> list[Call]:
    """What the agent does: a call for each hook before a call, and a file for the one behind."""
    return [
        case.shell("touch forced; rm -rf build"),
        case.shell("touch pushed; git push --force"),
        case.shell("touch npm"),
        case.shell("touch raised; sudo true"),
        case.writes(place, "package-lock.json"),
        case.writes(place, "made.txt", "a\tb"),
    ]


def wanted(case: Case) -> dict[str, str]:
    """What each of the ten is to do on this host."""
    changes = case.changes or case.driver is codex  # imported hooks may allow, which Codex needs for a change
    contexts = {name: TOLD if name in case.contexts else RAN for name in ("SessionStart", "UserPromptSubmit")}
    return {
        **dict.fromkeys(FORBIDDEN, REFUSED),
        "rewrite": CHANGED if changes else REFUSED,
        "log": RAN,
        "lint": TOLD if case.answers else RAN,
        "notes": contexts["SessionStart"] if case.asks_starts else NOT_ASKED,
        "branch": contexts["UserPromptSubmit"] if case.asks_prompts else NOT_ASKED,
        "notify": RAN,
    }


def happened(place: Place, run: Run) -> dict[str, str]:
    """What each of the ten did."""
    said, made = told(run), {path.name for path in place.project.iterdir()}
    ran = {line["id"].partition("/")[2] for line in receipt_lines(place) if line["outcome"] != "failed"}
    did = {name: RAN if id in ran else NOT_ASKED for name, id in IDS.items()}
    for name, (file, reason) in FORBIDDEN.items():
        if file not in made and reason in said:
            did[name] = REFUSED
    if "pnpm" in made and "npm" not in made:
        did["rewrite"] = CHANGED
    elif "npm" not in made and "this one would pass" in said and "touch pnpm" in said:
        did["rewrite"] = REFUSED
    for name, text in {
        "lint": "made.txt was reformatted, read it again",
        "notes": "Notes of the team:\\nthe tests need a database",
        "branch": f"Current branch: feature/ten-hooks, folder: {place.project}",
    }.items():
        if text in said:
            did[name] = TOLD
    return did


def logged(case: Case, place: Place) -> list[str]:
    """What the hook that logs every call is to have written."""
    forbidden = ["Bash: touch forced; rm -rf build", "Bash: touch pushed; git push --force"]
    forbidden += ["Bash: touch raised; sudo true", f"Write: {place.project}/package-lock.json"]
    passed = [f"Write: {place.project}/made.txt"]
    if not case.serial:
        return sorted([*forbidden, "Bash: touch npm", *passed])
    if not case.passes_change:
        return sorted([*passed, "Bash: touch npm"])
    # Asked after the one that changes the call, it hears of the changed one.
    return sorted([*passed, "Bash: touch pnpm"] if case.changes else passed)


def until_there(path: Path) -> str:
    """The text of a file that a hook writes when the client may have ended."""
    end = time.monotonic() + 30
    while not path.exists() or not path.read_text():
        assert time.monotonic() < end, f"{path.name} was not written"
        time.sleep(0.02)
    return path.read_text()


def import_and_install(case: Case, place: Place) -> str:
    """Make a pack of the ten, take them out of the settings, and install it; what `plan` says of the host."""
    settings = write_settings(place)
    assert "10 hooks" in hookctl(place, "pack", "import", "--host", "claude", "-o", "mine").stdout
    take_out(settings)
    plan = hookctl(place, "plan", "./mine", "--host", case.host).stderr
    hookctl(place, "install", "./mine", "--host", case.host)
    return plan


@pytest.mark.parametrize("case", EVERY)
def test_ten_hooks_of_claude_codes_settings_do_there_what_they_did(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    plan = import_and_install(case, place)
    run = play(case, client, place, *calls_of(case, place))

    expected = wanted(case)
    assert happened(place, run) == expected
    theirs = place.home / ".claude"
    assert sorted((theirs / "calls.log").read_text().splitlines()) == logged(case, place)
    assert (place.project / "made.txt").read_text().rstrip() == "a   b"
    assert until_there(theirs / "notified") == "the agent is done\n"
    counted = {hook["id"].partition("/")[2]: hook for hook in hookctl_json(place, "stats")["hooks"]}
    assert counted[IDS["log"]]["runs"] == len(logged(case, place))
    ran = Counter(line["id"].partition("/")[2] for line in receipt_lines(place))
    assert {id: hook["runs"] for id, hook in counted.items()} == ran
    if expected["notes"] == TOLD:
        assert counted[IDS["notes"]]["bytes"] >= len("the tests need a database")
    assert {line["outcome"] for line in receipt_lines(place)} <= {"none", "deny", "change", "block", "context"}

    full = {"rewrite": CHANGED, **dict.fromkeys(("lint", "notes", "branch"), TOLD)}
    for name, best in full.items():
        is_said = re.search(f"{IDS[name]}: ({re.escape(SAID[name])}|it .*: not registered)", plan) is not None
        assert is_said is (expected[name] != best), (name, plan)


@pytest.mark.full
@pytest.mark.parametrize("case", [case for case in CASES if case.driver is codex], ids=["codex"])
def test_a_patch_in_the_shell_of_codex_is_a_write_too(case: Case, stage: tuple[Client, Place]) -> None:
    client, place = stage
    import_and_install(case, place)
    patch = codex.ADDS.replace("PATH", "package-lock.json")
    forbidden, allowed = (
        f"apply_patch <<'EOF'\n{text}EOF\n" for text in (patch, patch.replace("package-lock", "made"))
    )
    run = play(case, client, place, case.shell(forbidden), case.shell(allowed))
    made = {path.name for path in place.project.iterdir()}
    assert ("package-lock.json" in made, "made.json" in made) == (False, True)
    assert FORBIDDEN["locked"][1] in told(run)
