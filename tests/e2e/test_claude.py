"""hookctl's promises, kept with the real Claude Code: settings, packs, modes and presets, tools, and its own goal.

A goal is a Stop hook of type prompt: another model judges after each turn whether it is met. Here it says no, or yes at
last.
"""

import itertools
import json
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.documents.table import read_table
from tests.manifest import hook as pack_hook
from tests.manifest import manifest

from .acceptance import operators_file
from .agent import Driver, Start
from .claude import DRIVER, Place, Run, play, shell, subagent
from .clients import Client
from .dialects import Answer, Call, Reply, Request, anthropic
from .model_server import Script
from .probe import Probe, make_probe
from .product import (
    KEPT,
    LIMIT,
    codes,
    data_folder,
    decisions,
    git,
    hookctl,
    hookctl_json,
    leave_work,
    leave_work_by_hand,
    state_folder,
    until_logged,
)

pytestmark = pytest.mark.e2e
OWN_FOLDERS = True  # so every scope keeps its state in the same folder

CORPUS = Path(__file__).parent.parent / "corpus" / "claude"
SETTINGS = '{ "permissions": {"allow": ["Bash", "Read", "Task", "Agent"]},\n\n  "env" : {"PAGER":"less"} }'


def install(place: Place, *options: str) -> None:
    hookctl(place, "install", "--host", "claude", *options)


def all_went_well(run: Run, event: str = "Stop") -> bool:
    """Whether every hook on this event ran without a word of trouble."""
    return {(hook["exit_code"], hook["outcome"], hook["stderr"]) for hook in run.hooks(event)} == {(0, "success", "")}


def write_operators_file(path: Path, probe: Probe) -> bytes:
    """Write the operator's settings around a Stop hook and return their bytes."""
    path.write_text(operators_file("claude.json", probe.command))
    return path.read_bytes()


@pytest.fixture
def operators_hook(place: Place) -> Probe:
    """A Stop hook that the operator has beside ours; it only listens."""
    return make_probe(place.root, "operators")


@pytest.fixture
def installed(place: Place, operators_hook: Probe) -> Place:
    """A place where hookctl was installed into an operator's settings, and two things are still to do."""
    write_operators_file(place.settings, operators_hook)
    install(place)
    leave_work(place)
    return place


@pytest.mark.full
def test_endless_progress_is_let_go_before_the_host_overrides_it(claude: Client, installed: Place) -> None:
    def beat(number: int) -> None:
        hookctl(installed, "run", "heartbeat", "--project", str(installed.project))

    run = play(claude, installed, Script([f"reply {number}" for number in range(1, 16)], before=beat))
    cap = claude.pins["cap"]["default"]
    assert codes(installed) == ["blocked"] * cap + ["host_cap"]
    assert (run.requests, run.result) == (cap + 1, f"reply {cap + 1}")
    assert not run.was_overridden


def test_a_cap_of_the_operator_s_own_is_kept_and_respected(claude: Client, place: Place, operators_hook: Probe) -> None:
    write_operators_file(place.settings, operators_hook)
    text = place.settings.read_text()
    place.settings.write_text(text.replace('"PAGER"', f'"{claude.pins["cap"]["key"]}": "3", "PAGER"'))
    install(place)
    leave_work(place)
    run = play(claude, place, ["done"])
    assert codes(place) == ["blocked"] * 3 + ["host_cap"]
    assert (run.requests, run.result, run.was_overridden) == (4, "done", False)


def test_the_host_reads_our_entries_behind_a_byte_order_mark(claude: Client, place: Place) -> None:
    before = (CORPUS / "bom.json").read_bytes()
    place.settings.write_bytes(before)
    install(place)
    leave_work(place)
    assert play(claude, place, ["done"]).requests == LIMIT + 1
    hookctl(place, "uninstall")
    assert place.settings.read_bytes() == before


def test_an_agent_that_waits_for_a_background_task_is_not_kept(claude: Client, installed: Place) -> None:
    run = play(claude, installed, [shell("sleep 1.5", run_in_background=True), "waiting", "woken"])
    assert codes(installed) == ["background"] + ["blocked"] * LIMIT + ["tripped"]
    assert (run.requests, run.result) == (2 + LIMIT + 1, "woken")


def test_nothing_is_written_elsewhere(claude: Client, tmp_path: Path) -> None:
    installed = Place.make(tmp_path / "place")
    write_operators_file(installed.settings, make_probe(installed.root, "operators"))
    install(installed)
    leave_work(installed)
    shared = [Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), Path(tempfile.gettempdir())]
    before = {entry for folder in shared if folder.is_dir() for entry in folder.iterdir()}
    run = play(claude, installed, [shell("true 1"), "done"])
    assert run.requests == 1 + LIMIT + 1

    expected = {"home", "project", "tmp", "state", "data", "runs"}
    probes = {entry.name for entry in installed.root.iterdir() if entry.name.startswith(("probe", "operators"))}
    assert {entry.name for entry in installed.root.iterdir()} - probes == expected
    in_project = {str(path.relative_to(installed.project)) for path in installed.project.rglob("*") if path.is_file()}
    assert in_project == {".hookctl/.gitignore", ".hookctl/run/task.json"}
    in_home = {path.relative_to(installed.home).parts[0] for path in installed.home.rglob("*") if path.is_file()}
    assert in_home <= {".claude", ".claude.json", ".cache"}
    assert [path for path in installed.home.rglob("*hookctl*")] == []

    new = {entry for folder in shared if folder.is_dir() for entry in folder.iterdir()} - before
    ours = ("claude", "hookctl", run.session)
    # Other tests run the command line meanwhile, which has folders of its own there.
    written = [entry for entry in new if not entry.name.startswith(("hookctl-", ".fire.", ".doctor."))]
    assert [entry for entry in written if any(word in entry.name for word in ours)] == []


# Packs by path

NOTIFY = manifest(
    "notify",
    pack_hook("stop", "sh {files}/notify.sh {event} {host}", id="done", timeout=10),
    version="1.0",
    protocol="host",
    description="Writes down every stop",
    files=["notify.sh"],
    env={"NOTIFY_FILE": ".hookctl/run/notified"},
)
# What a team has in its project before hookctl comes, formatted by hand.
TEAMS_FILE = """\
{
    "permissions": { "allow": [ "Bash(true:*)" ] },
    "env": { "TEAM": "ours" }
}
"""


def write_pack(place: Place) -> str:
    """Write the pack that notes down event and host; its folder."""
    folder = place.root / "packs" / "notify"
    folder.mkdir(parents=True)
    (folder / "notify.sh").write_text('echo "$*" >> "$NOTIFY_FILE"\n')
    (folder / "pack.toml").write_text(NOTIFY)
    return str(folder)


def notified_of(path: Path) -> list[str]:
    """What the pack noted down since the last look."""
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    return lines


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything below a folder: the bytes of its files, None for its folders."""
    paths = (path for path in folder.rglob("*") if ".git" not in path.relative_to(folder).parts)
    return {str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes() for path in paths}


def test_at_several_scopes_at_once_a_stop_is_counted_once(claude: Client, place: Place) -> None:
    for scope in ("user", "project", "local"):
        install(place, "--scope", scope)
    leave_work_by_hand(place)
    run = play(claude, place, [f"reply {number}" for number in range(1, 12)])
    assert (run.requests, run.result, codes(place)) == (LIMIT + 1, f"reply {LIMIT + 1}", KEPT)
    assert [entry["blocks"] for entry in decisions(place)] == [*range(1, LIMIT + 1), LIMIT]
    assert not run.was_overridden
    findings = hookctl_json(place, "doctor")["findings"]
    assert [finding for finding in findings if finding["level"] == "error"] == []


def test_two_committed_packs_work_in_a_clone_and_leave_it_as_it_was(
    claude: Client, place: Place, tmp_path: Path
) -> None:
    settings = place.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(TEAMS_FILE)
    git(place.project, "init", "--quiet")
    git(place.project, "add", "--all")
    git(place.project, "commit", "--quiet", "--message", "begin")
    pack = write_pack(place)
    for name in (pack, "guard"):
        hookctl(place, "install", name, "--host", "claude", "--scope", "project")
    git(place.project, "add", "--all")
    git(place.project, "commit", "--quiet", "--message", "install two packs")
    names = git(place.project, "ls-files").splitlines()
    assert [name for name in names if str(place.root).encode() in (place.project / name).read_bytes()] == []

    teammate = Place.make(tmp_path / "team mate's $HOME", own_folders=True)
    git(teammate.root, "clone", "--quiet", str(place.project), str(teammate.project))
    shutil.rmtree(place.root)
    folder = leave_work_by_hand(teammate)
    programs = teammate.root / "bin"
    programs.mkdir()
    (programs / "sh").symlink_to("/bin/sh")
    run = play(claude, teammate, ["done"], environment={"PATH": str(programs)})
    assert (run.requests, run.result, decisions(teammate)) == (1, "done", []), "without Python nobody is kept"
    assert {(hook["exit_code"], hook["stdout"]) for hook in run.hooks("Stop")} == {(0, "")}
    assert notified_of(folder / "notified") == ["stop claude"]
    run = play(claude, teammate, ["done"])
    assert (run.requests, run.result, all_went_well(run)) == (LIMIT + 1, "done", True)
    assert (codes(teammate), notified_of(folder / "notified")) == (KEPT, ["stop claude"] * (LIMIT + 1))
    assert git(teammate.project, "status", "--porcelain") == ""

    hookctl(teammate, "uninstall", "notify", "--scope", "project")
    assert play(claude, teammate, ["done"]).requests == LIMIT + 1
    assert notified_of(folder / "notified") == []
    shutil.rmtree(folder)
    hookctl(teammate, "uninstall", "--scope", "project")
    assert contents(teammate.project) == {".claude": None, ".claude/settings.json": TEAMS_FILE.encode()}


@pytest.mark.full
def test_without_hookctl_s_own_words_a_deleted_program_refuses_every_tool(claude: Client, place: Place) -> None:
    """Python's status for a missing file is a refusal to this host; test_other_hosts.py has it with them."""
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"python3 {place.root}/gone.py"}]}]}
    place.settings.write_text(json.dumps({"permissions": {"allow": ["Bash(true:*)"]}, "hooks": hooks}))
    run = play(claude, place, [shell("true 1"), "done"])
    assert [hook["exit_code"] for hook in run.hooks("PreToolUse")] == [2]
    blocks = [block for line in run.lines if line["type"] == "user" for block in line["message"]["content"]]
    assert [block["is_error"] for block in blocks if block["type"] == "tool_result"] == [True]


# The modes and presets of the guard
def run_verb(place: Place, *arguments: str) -> None:
    """Call `hookctl run` from outside."""
    hookctl(place, "run", *arguments, "--project", str(place.project))


def env_of(place: Place) -> dict[str, str]:
    """The variables in the settings beside the operator's own."""
    env = json.loads(place.settings.read_bytes())["env"]
    assert env.pop("PAGER") == "less"
    return env


def breadcrumbs(place: Place) -> list[Path]:
    return list(state_folder(place).glob("guard/*/RESPAWN_REQUESTED"))


def test_an_armed_run_goes_on_far_beyond_the_host_s_own_cap_until_it_is_concluded(claude: Client, place: Place) -> None:
    kept = 12
    install(place, "--preset", "nightly")
    assert env_of(place) == {claude.pins["cap"]["key"]: "5000"}
    run_verb(place, "start", "--for", "1h")

    def conclude(number: int) -> None:
        if number == kept + 1:
            assert len(breadcrumbs(place)) == 1
            run_verb(place, "conclude")
            assert breadcrumbs(place) == []

    replies = [f"reply {number}" for number in range(1, kept + 5)]
    played = play(claude, place, Script(replies, limit=kept + 5, before=conclude))
    assert codes(place) == ["blocked"] * kept + ["conclude"]
    assert (played.requests, played.code, played.result) == (kept + 1, 0, f"reply {kept + 1}")
    assert not played.was_overridden
    assert breadcrumbs(place) == []
    told = [json.dumps(entry.request.body["messages"]) for entry in played.log]
    assert ["This run goes on" in text for text in told] == [False] + [True] * kept


def test_a_run_that_the_agent_begins_itself_keeps_this_session_and_no_other(claude: Client, place: Place) -> None:
    others = []

    def conclude(number: int) -> None:
        if number == 3:
            others.append(play(claude, place, ["done"]))
        if number == 4:
            run_verb(place, "conclude")

    install(place, "--mode", "keepalive")
    folders = {"HOOKCTL_STATE_DIR": str(state_folder(place)), "HOOKCTL_DATA_DIR": str(data_folder(place))}
    folders["PYTHONPATH"] = str(Path(__file__).parents[2])
    begin = shell(f"{sys.executable} -m hookctl run start --for 1h")
    own = play(claude, place, Script([begin, "done"], before=conclude), environment=folders)
    assert codes(place) == ["blocked", "not_owner", "blocked", "conclude"]
    assert (own.requests, own.result) == (4, "done")
    assert (place.project / ".hookctl" / "run" / "OWNER").read_text().strip() == own.session
    assert others[0].requests == 1


# Wake-ups: the preset bmad and the guard's own way differ in them
@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "after"),
    [(("--set", "yield_on_background=false"), ["open"]), (("--preset", "bmad"), KEPT)],
    ids=["breaker", "preset bmad"],
)
def test_a_wake_up_after_the_guard_has_let_go_buys_new_blocks_only_with_bmad(
    claude: Client, place: Place, options: tuple[str, ...], after: list[str]
) -> None:
    install(place, *options)
    leave_work(place)
    wait = shell(until_logged(place, "tripped"), run_in_background=True)
    played = play(claude, place, [wait, "on and on"])
    told = codes(place)
    assert told in (KEPT + after, ["blocked", *KEPT, *after])  # the transcript may tell of the call a stop later
    assert (played.requests, played.result) == (1 + len(told), "on and on")


# Its policies on tools

REFUSAL = "This exact call was already made too many times in a short period. It was not run."
NOTE = shell("echo once >> notes")
OTHER = shell("echo other >> notes")
LOOK = Call("Read", {"file_path": "/etc/hostname"})


def told(run: Run) -> list[str]:
    """What stood in each request of the main agent."""
    return [json.dumps(entry.request.body["messages"]) for entry in run.log if entry.kind == "main"]


def results(run: Run) -> list[tuple[bool, str]]:
    """What the model was told about each tool call: whether it failed, and the text."""
    return [(block.get("is_error", False), block["content"]) for block in run.tool_results]


def notes(place: Place) -> list[str]:
    """What the agent's tool calls wrote down: those that ran."""
    path = place.project / "notes"
    return path.read_text().split() if path.exists() else []


def windows(place: Place) -> list[dict[str, list[float]]]:
    """What dispatch has counted, a state file each."""
    paths = [*state_folder(place).glob("guard/*/dispatch.json"), *state_folder(place).glob("guard/*/*.calls")]
    return [json.loads(path.read_bytes())["w"] for path in paths]


@pytest.mark.full
def test_a_call_of_an_earlier_prompt_does_not_count(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Bash")
    first = play(claude, place, [NOTE, "one"])
    for _ in range(3):  # on a busy machine the hook is sometimes faster than the transcript
        before = len(codes(place))
        second = play(claude, place, ["two"], "--resume", first.session, prompt="go on")
        if second.requests == 2:
            break
    assert (first.requests, second.requests, codes(place)[before:]) == (2, 2, ["nudged", "no_work"])


def test_a_subagent_s_call_is_not_the_agent_s_own(claude: Client, place: Place) -> None:
    install(place, "--nudge", "Bash")
    script = Script([subagent("MARKER"), "done"], sub_marker="MARKER", sub_replies=[NOTE, "looked"])
    run = play(claude, place, script)
    assert (run.count("sub"), notes(place)) == (2, ["once"])
    assert (run.requests, codes(place)) == (3, ["nudged", "no_work"])


def test_the_sixth_identical_call_in_five_minutes_is_refused(claude: Client, place: Place) -> None:
    install(place, "--mode", "off", "--dispatch", "Bash:5/300")
    run = play(claude, place, Script([*[NOTE] * 8, OTHER, LOOK, "done"], limit=40))
    assert (run.requests, run.result) == (11, "done")
    found = results(run)
    assert [failed for failed, _ in found] == [False] * 5 + [True] * 3 + [False] * 2
    assert {text for failed, text in found if failed} == {
        f"PreToolUse:Bash hook error: {REFUSAL} Change the request or finish."
    }
    assert notes(place) == ["once"] * 5 + ["other"]
    assert [(entry["decision"], entry["refusals"]) for entry in decisions(place)] == [("refuse", 1)]
    assert hookctl_json(place, "stats")["trips"] == 3
    # The client starts the hook for this tool only, and it never says more than it has to.
    assert {hook["hook_name"] for hook in run.hooks("PreToolUse")} == {"PreToolUse:Bash"}
    assert [bool(hook["stdout"]) for hook in run.hooks("PreToolUse")] == [False] * 5 + [True] * 3 + [False]
    assert [sorted(count for _, count in window.values()) for window in windows(place)] == [[1, 8]]


def test_calls_that_come_at_once_are_counted_one_by_one(claude: Client, place: Place) -> None:
    """The client starts the hooks of one reply's calls side by side."""
    install(place, "--mode", "off", "--dispatch", "Read:3/300", "--set", "lock_ms=8000")
    run = play(claude, place, [(LOOK,) * 8, "done"])
    assert run.requests == 2
    assert sorted(failed for failed, _ in results(run)) == [False] * 3 + [True] * 5
    assert [list(count for _, count in window.values()) for window in windows(place)] == [[8]]


def test_breaker_nudge_and_dispatch_in_one_installation(claude: Client, place: Place) -> None:
    def finish(number: int) -> None:
        if number == 6:
            leave_work(place, 0)

    install(place, "--nudge", "Read", "--dispatch", "Bash:2/300")
    assert list(json.loads(place.settings.read_bytes())["hooks"]) == ["Stop", "PreToolUse"]
    leave_work(place)
    run = play(claude, place, Script([NOTE, NOTE, NOTE, "one", "two", "three", LOOK, "four"], before=finish))
    assert codes(place) == ["dispatch_refused", "blocked", "blocked", "nudged", "no_work"]
    assert (run.requests, run.result, notes(place)) == (8, "four", ["once"] * 2)

    # It is reminded once more before it is let go without progress.
    leave_work(place)
    run = play(claude, place, ["on and on"])
    assert codes(place)[5:] == ["blocked"] * LIMIT + ["nudged", "tripped"]
    assert (run.requests, run.result) == (LIMIT + 2, "on and on")

    hookctl(place, "uninstall")
    assert place.settings.read_text() == SETTINGS
    assert list(data_folder(place).rglob("hook.py")) == []
    run = play(claude, place, [NOTE, NOTE, NOTE, "done"])
    assert (run.requests, run.result, len(notes(place))) == (4, "done", 5)
    assert run.hooks("PreToolUse") == run.hooks("Stop") == []
    assert len(codes(place)) == 5 + LIMIT + 2


# Its own goal

GOAL = "/goal the file done.txt exists"
SAID = "Stop says: hookctl guard: ended a turn that another hook or a goal forces on {}. Send a prompt to go on. " + (
    "A goal is not cleared: your next prompt goes on with it, and `/goal clear` ends it."
)
WORDS = tuple(f"reply {number}" for number in range(1, 100))
SAME = tuple(reply for words in WORDS for reply in (shell("echo same"), words))
NEW = tuple(reply for words in WORDS for reply in (shell(f"echo {words}"), words))
NO_END = 40  # where the script ends an agent that nothing else ends


def play_goal(
    client: Client,
    place: Place,
    replies: tuple[Reply, ...],
    *arguments: str,
    met_at: int = 0,
    text: bool = False,
    prompt: str = GOAL,
) -> Run:
    """Play a goal; `met_at` is the number of the judgement that says yes."""
    judgements = itertools.count(1)

    def play_beside(request: Request) -> Answer:
        if request.path != "/v1/messages":
            return anthropic.play_beside(request)
        verdict = {"ok": next(judgements) == met_at, "reason": "so it is"}
        return anthropic.play(request, json.dumps(verdict), 0)

    def call(client: Client, place: Place, url: str, prompt: str) -> Start:
        start = DRIVER.call(client, place, url, prompt)
        return Start([*client.command, "-p", prompt], start.environment) if text else start

    dialect = SimpleNamespace(**{**vars(anthropic), "play_beside": play_beside})
    script = Script(replies, limit=NO_END)
    return Driver(dialect, call, Run).play(client, place, script, *arguments, prompt=prompt)


def messages(run: Run) -> list[str]:
    return [line["content"] for line in run.system_lines("informational") if line["level"] == "notice"]


ENDED = ["no_work"] * (LIMIT - 1) + ["stop_loop"]
REPLIES = {"talks": WORDS, "same": SAME, "new": NEW}
GOALS = [
    pytest.param(*row[1:], id=row[0], marks=[] if "quick" in row[-1] else pytest.mark.full)
    for row in read_table("goals", Path(__file__).parent)
]


@pytest.mark.parametrize(("replies", "options", "requests", "reasons", "why", "more"), GOALS)
def test_a_goal(
    claude: Client, place: Place, replies: str, options: str, requests: str, reasons: str, why: str, more: str
) -> None:
    if options != "-":
        install(place, *options.split())
    if "work" in more:
        leave_work(place)
    if "armed" in more:
        hookctl(place, "run", "start", "--project", str(place.project))
    met_at = int(more.partition("met=")[2] or 0)
    run = play_goal(claude, place, REPLIES[replies], met_at=met_at)
    each = [word.partition("*") for word in reasons.split()]
    assert (run.requests, codes(place)) == (int(requests), [code for code, _, n in each for _ in range(int(n or 1))])
    if why:
        assert messages(run)[-1] == SAID.format(why)
        assert (run.result, run.ending["terminal_reason"]) == ("", claude.pins["stop"]["ended_by_hook"])
    if met_at and "armed" not in more:
        assert (run.result, messages(run)) == ("reply 3", [])


@pytest.mark.full
def test_a_goal_that_was_ended_goes_on_at_the_next_prompt_until_it_is_cleared(claude: Client, place: Place) -> None:
    install(place)
    first = play_goal(claude, place, WORDS)
    again = ("--resume", first.session)
    judged = [
        play_goal(claude, place, WORDS, *again, prompt=prompt).count("side")
        for prompt in ("go on", "/goal clear", "go on")
    ]
    assert judged == [LIMIT, 0, 0]
    assert codes(place) == [*ENDED, *ENDED, "no_work"]


@pytest.mark.full
def test_print_mode_shows_no_message_in_plain_text(claude: Client, place: Place) -> None:
    """Its text is the reply alone, and that is lost where a hook blocks beside the end, whatever the end says."""
    install(place)
    run = play_goal(claude, place, WORDS, text=True)
    assert (run.requests, run.code, run.out, run.errors) == (LIMIT, 0, "\n", "")
