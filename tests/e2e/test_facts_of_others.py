"""What the real clients do that hookctl relies on: those with lists of hooks, those with modules. See test_facts.py."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import matching

from . import facts, hermes, kimi, opencode, openhands, pi, tables, vibe
from .clients import Client, pins_of
from .dialects import Call
from .facts import Came, Entries, Fact
from .hooks import group, say, verdict
from .model_server import Script
from .plugins import by_own_means
from .probe import BLOCK, make_probe

pytestmark = [pytest.mark.e2e, pytest.mark.full]

PINS = {name: pins_of(name) for name in ("hermes", "kimi", "openhands", "opencode", "pi", "vibe")}


def write_for_hermes(path: Path, events: Entries, more: Mapping[str, Any]) -> str:
    """Commands of a probe or of several lines go through a shell."""
    hooks = {event: [{"command": command, **fields} for command, fields in events[event]] for event in events}
    return hermes.BASE + yaml.safe_dump({**more, "hooks": hooks}, width=10_000, sort_keys=False)


def turn(place: Any) -> Script:
    """A turn that writes a file, and whose model is done every time it is asked again."""
    return Script([hermes.write_file(place), "done"], limit=12)


def attempts(came: Came, name: str = "it") -> list[int]:
    return [payload["extra"]["attempt"] for payload in came.payloads(name)]


def is_asked_to_the_cap(came: Came) -> None:
    heard, names = came.probes["first"].heard()[0], HERMES["variables"]
    assert attempts(came, "first") == attempts(came, "second") == list(range(HERMES["cap"]["default"]))
    assert came.run.told("user") == ["begin", *["first"] * HERMES["cap"]["default"]]
    assert came.run.out.endswith("\ndone\n") and "unknown hook event 'Stop'" in came.place.log()
    assert HERMES["consent"]["entry"] == sorted(came.place.approvals()[0])
    assert heard.payload["cwd"] == heard.environment[names["project"]] == str(came.place.project)
    assert heard.payload["session_id"] == heard.environment[names["session"]] != ""
    assert heard.payload["extra"]["changed_paths"] == [str(came.place.project / "made.py")]


def agree(place: Any) -> None:
    """What counts is the event and the command, word for word, and not when the script was written."""
    hooks = yaml.safe_load(place.settings.read_text())["hooks"]["pre_verify"]
    agreed, changed, other = (hook["command"] for hook in hooks)
    old = {"event": "pre_verify", "script_mtime_at_approval": "2001-01-01T00:00:00Z"}
    rows = [{**old, "command": agreed}, {**old, "command": f"{changed} "}, {**old, "command": other, "event": "x"}]
    place.consent.write_text(json.dumps({"approvals": rows}))


def is_not_allowed(came: Came) -> bool:
    assert came.place.log().count("not allowlisted") == 2 and len(came.place.approvals()) == 3
    return "not allowlisted" in by_own_means(hermes, came.client, came.place, "hooks", "list").stdout


def are_refused(came: Came) -> bool:
    payload = came.payloads("refuses")[0]
    assert came.run.told("tool")[:2] == ['{"error": "no"}'] * 2
    assert payload["tool_input"] == dict(hermes.write_file(came.place, "0.py").arguments)
    return came.made() == ["shell.txt"]


def manage_the_hooks_alone(place: Any) -> None:
    managed = place.root / "managed/config.yaml"
    managed.write_text(managed.read_text().removeprefix(hermes.BASE))


HERMES = PINS["hermes"]


@pytest.mark.parametrize("host", ["hermes"])
def test_a_new_prompt_of_the_same_session_starts_the_count_again(client: Client, place: Any) -> None:
    """Nothing but the attempt says so: the payload has no identity of the turn."""
    stop = make_probe(place.root, answers=(BLOCK, ""))
    place.settings.write_text(write_for_hermes(place.settings, {"pre_verify": [(stop.command, {})]}, {}))
    for options in ((), ("--continue",)):
        hermes.play(client, place, turn(place), hermes.YOLO, hermes.ACCEPT, *options, timeout=120)
    payloads = [heard.payload for heard in stop.heard()]
    assert [payload["extra"]["attempt"] for payload in payloads] == [0, 1, 0]
    assert len({payload["session_id"] for payload in payloads}) == 1
    assert not any("turn" in name for payload in payloads for name in payload["extra"])


def in_list(**fields: Any) -> str:
    """A hook in a list of TOML tables, as the file has it."""
    return "[[hooks]]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())


def entry(event: str, command: str, **more: Any) -> str:
    return in_list(event=event, command=command, **more)


def write_for_kimi(path: Path, events: Entries, more: Mapping[str, Any]) -> str:
    return "".join(entry(event, hook, **fields) for event in events for hook, fields in events[event])


def refused_by_kimi(run: Any) -> list[str]:
    return [told.splitlines()[-1] for told in run.told("tool")[:3]]


KIMI, refusal = PINS["kimi"], kimi.refusal
MATCHERS_OF_KIMI = [
    Fact(f"the matcher {matcher!r} {'fits' if fits else 'does not fit'}",
         {"PreToolUse": [{"errors": "on", "code": 2, "matcher": matcher}]},
         replies=[kimi.shell("touch ran"), "done"], made=[] if fits else ["ran"])
    for matcher, fits in matching.OF_SHELL["kimi"].items()
]  # fmt: skip


@pytest.mark.parametrize("host", ["kimi"])
def test_one_block_in_a_turn_is_honoured_then_no_hook_is_asked(client: Client, place: Any) -> None:
    cap = KIMI["cap"]["default"]
    stop = make_probe(place.root, answers=(refusal("Stop", "on"),))
    place.settings.write_text(entry("Stop", stop.command))
    before = place.settings.read_bytes()
    run = kimi.play(client, place, ["one", kimi.shell("true 1"), "two", kimi.shell("true 2"), "three"])
    assert (run.requests, stop.flags(), run.code) == (2 + cap, "F" * cap, 0)
    assert "on" in run.told("user")
    assert "• one\n" in run.out and "• two\n" in run.out
    session = stop.heard()[0].payload["session_id"]
    assert kimi.play(client, place, ["four"], "--session", session).requests == 1 + cap
    assert stop.flags() == "F" * 2 * cap, "a new turn has a block of its own, and its stop is no forced one"
    assert place.settings.read_bytes() == before


@pytest.mark.parametrize("host", ["kimi"])
def test_nobody_waits_for_a_hook_on_a_call_that_has_run_and_a_turn_s_end_cuts_it_off(
    client: Client, place: Any
) -> None:
    slow, refused, failed = (make_probe(place.root, name) for name in ("slow", "refused", "failed"))
    hooks = [
        entry("PreToolUse", say(code=2, errors="no"), matcher="Write"),
        entry("PostToolUse", f"sleep 2; {slow.command}"),
        entry("PostToolUse", refused.command, matcher="Write"),
        entry("PostToolUseFailure", failed.command),
    ]
    place.settings.write_text("".join(hooks))
    write = Call("Write", {"path": str(place.project / "file"), "content": ""})
    run = kimi.DRIVER.play(client, place, [write, kimi.shell("false"), kimi.shell("true"), "done"])
    assert (run.requests, slow.heard(), refused.heard()) == (4, [], [])
    told = [heard.payload for heard in failed.heard()]
    assert [payload["tool_name"] for payload in told] == ["Write", "Bash"], "a refused call is a failed one"
    assert told[0]["error"]["message"] == "no"


def hook(event: str, command: str, **fields: Any) -> str:
    """A hook in the client's own form; its name is the event unless the fields have one."""
    return in_list(**{"name": event, "type": event, "command": command, **fields})


def write_for_vibe(path: Path, events: Entries, more: Mapping[str, Any]) -> str:
    """Hooks, each under a name of its own."""
    texts: list[str] = []
    for event in events:
        for command, fields in events[event]:
            texts.append(hook(event, command, **{"name": f"hook {len(texts)}", **fields}))
    return "".join(texts)


def sees_the_change(came: Came) -> bool:
    """Claude Code's names are read, and the next hook is told of a changed input."""
    told = came.payloads()[0]["tool_input"]
    return told == {"file_path": "other.txt", "content": "other"} and came.made() == ["other.txt"]


def is_added(came: Came) -> None:
    """What is added to a failed call's result stands in its place."""
    first, failed, last = came.run.told("tool")
    assert "stdout: one" in first and first.endswith("\nADDED") and (failed, last) == ("ADDED", "REPLACED")
    assert [payload["tool_status"] for payload in came.payloads()] == ["success", "failure", "success"]
    assert came.payloads()[0]["tool_output"]["returncode"] == 0


def has_no_variable(came: Came) -> bool:
    (heard,) = came.probes["it"].heard()
    told = [value for name, value in heard.environment.items() if name != "PWD"]
    return heard.payload["session_id"] not in told and not any(str(came.place.project) in value for value in told)


def link_the_project(place: Any) -> None:
    (place.root / "link").symlink_to(place.project)


def link_the_config(place: Any) -> None:
    (place.root / "elsewhere/config.toml").symlink_to(place.config / "config.toml")


VIBES_CAP = PINS["vibe"]["cap"]["default"]
DENY = verdict("deny", "go on")
VIBES_CALLS = tables.read(vibe, "calls")
# Older clients have one more tool; a hook on it is told the same fields.
MATCHERS_OF_VIBE = [
    Fact(f"a matcher is held against every name of {tool}", texts={"project/a": "one\n"},
         hooks={"pre_tool": [{"probe": f"p{number}", "match": text}
                             for number, text in enumerate(matching.of_vibe(tool))]},
         replies=[VIBES_CALLS[tool], "done"], limit=9, sub_marker="MARKER", options=(vibe.YOLO,),
         sees={"[bool(probe.heard()) for probe in probes.values()]": [*matching.of_vibe(tool).values()]})
    for tool in matching.VIBES if tool != "file_system.search_replace"
]  # fmt: skip


@pytest.mark.parametrize("host", ["vibe"])
def test_three_retries_a_turn_are_heeded_of_all_hooks_together(client: Client, place: Any) -> None:
    """The one that denies next is asked, but not heeded; a tool call between them changes nothing, a prompt does."""
    first, second = make_probe(place.root, "first", (DENY, "", DENY, "")), make_probe(place.root, "second", (DENY,))
    hooks = {"post_agent": [(first.command, {}), (second.command, {})]}
    place.settings.write_text(write_for_vibe(place.settings, hooks, {}))
    before = place.settings.read_bytes()
    texts = [reply for name in ("one", "two", "three") for reply in (name, vibe.shell(f"true {name}"))]
    run = vibe.play(client, place, Script([*texts, "done"], limit=12), vibe.YOLO)
    assert (run.requests, run.code, run.out) == (4 + VIBES_CAP, 0, "done\n")
    assert run.told("user") == ["begin", *["go on"] * VIBES_CAP]
    assert (len(first.heard()), len(second.heard())) == (4, 2)
    assert vibe.play(client, place, ["done"], vibe.YOLO, "--continue").requests == 1 + VIBES_CAP
    assert len({heard.payload["session_id"] for heard in second.heard()}) == 1
    assert place.settings.read_bytes() == before


def write_for_openhands(path: Path, events: Entries, more: Mapping[str, Any]) -> str:
    hooks = {event: [group(hook, **fields)] for event, given in events.items() for hook, fields in given}
    return json.dumps({**more, **hooks})


HOSTS = {
    "hermes": facts.read(hermes, globals(), write=write_for_hermes),
    "kimi": facts.read(kimi, globals(), *MATCHERS_OF_KIMI, write=write_for_kimi, refusals=refused_by_kimi),
    "openhands": facts.read(openhands, globals(), write=write_for_openhands),
    "vibe": facts.read(vibe, globals(), *MATCHERS_OF_VIBE, write=write_for_vibe),
}


@facts.table(HOSTS)
def test_fact(client: Client, place: Any, host: str, fact: Fact) -> None:
    facts.play(HOSTS[host], client, place, fact)


@pytest.mark.parametrize("host", ["openhands"])
def test_the_sdk_and_its_tools_are_of_the_pinned_version(client: Client) -> None:
    code = "from importlib.metadata import version; print(version('openhands-sdk'), version('openhands-tools'))"
    done = subprocess.run([*client.command, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == [client.version] * 2


LOAD = """\
import json, sys
from openhands.sdk.hooks import HookConfig
said = {}
for path in sys.argv[1:]:
    try:
        said[path] = len(HookConfig.load(path).stop)
    except Exception as error:
        said[path] = type(error).__name__
print(json.dumps(said))
"""
STRICT = tables.read(openhands, "strict")


@pytest.mark.parametrize("host", ["openhands"])
def test_how_strict_it_is_with_its_file(client: Client, place: Any) -> None:
    paths = {str(place.root / f"{number}.json"): name for number, name in enumerate(STRICT)}
    for path, name in paths.items():
        Path(path).write_text(STRICT[name][0])
    words = [*client.command, "-I", "-c", LOAD, *paths]
    environment = {**place.environment(), **openhands.QUIET}
    done = subprocess.run(words, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = {paths[path]: found for path, found in json.loads(done.stdout).items()}
    assert said == {name: wanted for name, (_, wanted) in STRICT.items()}


# OpenCode and Pi: which modules are loaded; each writes down its name.

CODE = {
    "opencode": "export const Probe = async () => (appendFileSync(LOG, NAME), {})",
    "pi": "export default (pi) => { appendFileSync(LOG, NAME); MORE }",
}
BROKEN = ["export default (pi) => {", "export default 5", "export default () => { throw new Error('no') }", ""]


class Modules:
    """Modules of one of the two in a place of its own."""

    def __init__(self, host: str, client: Client, place: Any) -> None:
        self.driver, self.client = (opencode, pi)[host == "pi"], client
        self.place, self.log, self.code = place, place.root / "loaded", CODE[host]

    def write(self, more: str = "", **files: Path) -> None:
        for name, file in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            code = self.code.replace("MORE", more).replace("NAME", json.dumps(f"{name}\n"))
            code = code.replace("LOG", json.dumps(str(self.log)))
            file.write_text(f'import {{ appendFileSync }} from "node:fs"\n{code}\n')

    def play(self, *options: str, **more: Any) -> Any:
        play = opencode.play_one_turn if self.driver is opencode else self.driver.play
        return play(self.client, self.place, ["done"], *options, **more)

    def loaded(self) -> list[str]:
        return sorted(self.log.read_text().split())


@pytest.fixture
def modules(host: str, client: Client, place: Any) -> Modules:
    return Modules(host, client, place)


on_opencode = pytest.mark.parametrize("host", ["opencode"])
on_pi = pytest.mark.parametrize("host", ["pi"])


@on_opencode
def test_every_folder_of_plugins_is_read_also_above_the_start_folder(modules: Modules) -> None:
    place = modules.place
    below, config = place.project / "below", place.settings.parents[1]
    below.mkdir()
    (place.project / ".git").mkdir()
    folders = [config, place.home / ".opencode", place.project / ".opencode", below / ".opencode"]
    files = {f"in{number}": folder / "plugin" / "a.js" for number, folder in enumerate(folders)}
    files |= {f"s{number}": folder / "plugins" / "a.js" for number, folder in enumerate((config, folders[2]))}
    modules.write(**files)
    assert modules.play(cwd=below).code == 0
    assert modules.loaded() == sorted(files)


@on_opencode
def test_a_plugin_that_breaks_takes_no_other_with_it(modules: Modules) -> None:
    modules.write(probe=modules.place.settings)
    broken = ["export const A = async () => {", "export const B = async () => { throw new Error('no') }",
              "export const C = 42", ""]  # fmt: skip
    for number, text in enumerate(broken):
        (modules.place.settings.parent / f"{number}.js").write_text(text)
    run = modules.play()
    assert (run.requests, run.code, modules.loaded()) == (1, 0, ["probe"])


@pytest.mark.parametrize(
    ("host", "variable", "file"),
    [
        ("opencode", "XDG_CONFIG_HOME", "opencode/plugin/a.js"),
        ("pi", PINS["pi"]["variables"]["config_folder"], "extensions/a.js"),
    ],
)
def test_the_operator_s_own_variable_replaces_the_folder_of_settings(
    modules: Modules, variable: str, file: str
) -> None:
    elsewhere = modules.place.root / "elsewhere"
    modules.write(usual=modules.place.settings, elsewhere=elsewhere / file)
    # Pi's model of the tests is not there: only what is loaded counts.
    modules.play(environment={variable: str(elsewhere)})
    assert set(modules.loaded()) == {"elsewhere"}


@on_pi
def test_without_anything_new_for_the_model_it_does_not_go_on(modules: Modules) -> None:
    more = 'pi.on("agent_before_settle", async () => ({ continue: true }))'
    modules.write(more, probe=modules.place.settings)
    run = modules.play()
    assert run.requests == 1
    assert "requested continuation without runnable model context" in run.errors


@on_pi
def test_which_extensions_are_loaded(modules: Modules) -> None:
    below, folder = modules.place.project / "below", modules.place.settings.parent
    below.mkdir()
    files = {"user": folder / "a.js", "typescript": folder / "b.ts", "folder": folder / "c" / "index.js",
             "project": below / ".pi" / "extensions" / "a.js"}  # fmt: skip
    others = {"deep": folder / "d" / "e" / "index.js", "suffix": folder / "f.mjs",
              "above": modules.place.project / ".pi" / "extensions" / "a.js"}  # fmt: skip
    modules.write(**files, **others)
    assert modules.play(pi.TRUST, cwd=below).code == 0
    assert modules.loaded() == sorted(files)


@on_pi
@pytest.mark.parametrize("text", BROKEN, ids=["syntax", "a number", "an error", "empty"])
def test_it_does_not_start_with_an_extension_that_it_cannot_load(modules: Modules, text: str) -> None:
    (modules.place.settings.parent / "broken.js").write_text(text)
    run = modules.play()
    assert (run.requests, run.code) == (0, PINS["pi"]["exit"]["broken_extension"])
    assert "Failed to load extension" in run.errors
