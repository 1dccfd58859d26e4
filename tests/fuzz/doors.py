"""The doors that bytes of others come in by, and what must hold for any bytes: one function a door."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hookctl.documents import MISSING
from hookctl.errors import HookctlError
from hookctl.masking import masked_text
from hookctl.ownership import committed, store
from hookctl.ownership.execute import read_journal
from hookctl.packs import pack
from hookctl.system import folders
from tests.documents.table import document_of, read_table
from tests.frozen_records import KEPT, parsed
from tests.fuzz.hook import DEFAULTS, HANDLERS, HOSTS, Hook
from tests.fuzz.world import World
from tests.hostfiles import BY_NAME
from tests.templates.modules import module

TESTS = Path(__file__).parents[1]
SECONDS, SECONDS_A_KIB = 1.5, 0.05  # of CPU time, on a busy machine and with the fuzzer's own counting
LIMIT = 5  # blocks in a row, as the guard has it by default
Seeds = Iterator[bytes]


class Door(NamedTuple):
    """What is tried with any bytes; an exception or a failed assertion is a find."""

    name: str
    check: Callable[[World, bytes], None]
    more: Callable[[], Seeds] = lambda: iter(())
    prepare: Callable[[World], None] = lambda world: None

    def seeds(self) -> Seeds:
        """What is written down of it, and what else there is."""
        rows = read_table("seeds", Path(__file__).parent / "rows")
        yield from (document_of(text) for door, text in rows if door == self.name)
        yield from self.more()


def files_of(pattern: str) -> Callable[[], Seeds]:
    return lambda: (path.read_bytes() for path in sorted(TESTS.glob(pattern))[:8])


def knock(door: Door, world: World, data: bytes) -> None:
    """Try these bytes, in bounded time."""
    start = time.process_time()
    door.check(world, data)
    spent, allowed = time.process_time() - start, SECONDS + SECONDS_A_KIB * len(data) / 1024
    assert spent < allowed, f"{spent:.1f} s for {len(data)} bytes"


def same(left: Any, right: Any) -> bool:
    """Equal, and written alike: true is not 1, a missing root is an empty one, NaN equals itself."""
    left, right = ({} if one is MISSING or one is None else one for one in (left, right))
    return repr(in_order(left)) == repr(in_order(right))


def in_order(value: Any) -> Any:
    """The value with its members sorted: TOML's tables stand behind its plain keys."""
    if isinstance(value, dict):
        return sorted(((str(key), in_order(inner)) for key, inner in value.items()), key=lambda pair: pair[0])
    return [in_order(inner) for inner in value] if isinstance(value, list) else value


# Settings files, through the command line

KINDS = ("claude", "gemini", "codex", "hermes", "opencode", "openhands")


def check_settings(world: World, data: bytes) -> None:
    """An install is refused and leaves everything, or uninstall gives the very bytes back."""
    kind = BY_NAME[KINDS[data[0] % len(KINDS)]] if data else BY_NAME["claude"]
    world.reset()
    path = kind.path(world.top, "user")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data[1:])
    before = world.now()
    assert world.hookctl("hooks", "--host", kind.host, "--json").code == 0
    said = world.hookctl("install", "--host", kind.host, "--json")
    assert said.code in (0, 1, 4), said
    if said.code:
        assert world.now() == before, "something was written all the same"
        assert json.loads(said.out)["errors"], said
    else:
        world.hookctl("status", "--json")
        assert world.hookctl("uninstall", "--host", kind.host, "--json").code == 0
        assert path.read_bytes() == data[1:], "uninstall does not give the bytes back"


def settings_seeds() -> Seeds:
    for number, kind in enumerate(KINDS):
        for path in BY_NAME[kind].corpus():
            yield bytes([number]) + path.read_bytes()


def check_ledger(world: World, data: bytes) -> None:
    """The user's own ledger is refused, or says the same once more when written; it is only read."""
    world.reset()
    try:
        records = store.parse(data, "ledger.json")
        assert same(store.parse(store.dump(records.files, disabled=records.disabled), "ledger.json"), records)
    except HookctlError as error:
        assert error.exit_code == 4 and error.code in ("ledger_unreadable", "ledger_newer")
    files_own(world, "ledger.json", data)
    assert world.hookctl("status", "--json").code in (0, 1, 4)
    assert world.hookctl("install", "--host", "claude", "--dry-run", "--json").code in (0, 1, 4)


def check_journal(world: World, data: bytes) -> None:
    """The journal of an interrupted run is refused or read; nothing is carried out here."""
    world.reset()
    files_own(world, "journal.json", data)
    try:
        read_journal(folders.here())
    except HookctlError as error:
        assert error.exit_code == 4 and error.code in ("ledger_unreadable", "ledger_newer")
    assert world.hookctl("status", "--json").code in (0, 1, 4)


def files_own(world: World, name: str, data: bytes) -> None:
    world.state.mkdir(mode=0o700, exist_ok=True)
    (world.state / name).write_bytes(data)


def prepare_project(world: World) -> None:
    for folder in (".git", ".claude"):
        (world.work / folder).mkdir(exist_ok=True)
    (world.work / ".claude" / "settings.json").write_text('{"model": "m"}\n')
    (world.home / ".bashrc").write_text("mine")
    assert world.hookctl("install", "--host", "claude", "--scope", "project").code == 0
    world.keep()


def check_committed(world: World, data: bytes) -> None:
    """A repository's ledger is refused, or leads to no file outside the repository."""
    world.reset()
    (world.work / ".hookctl" / "ledger.json").write_bytes(data)
    project = str(world.work)
    try:
        records = committed.load(folders.here(), project, data, {})
    except HookctlError as error:
        assert error.exit_code == 4, error
        return
    assert all(path.startswith(project + "/") for path in records)
    said = world.hookctl("uninstall", "--scope", "project", "--dry-run", "--json")
    assert said.code in (0, 1, 4), said
    for file in json.loads(said.out)["data"].get("files", ()):
        assert file["file"].startswith(project + "/"), file
    assert world.hookctl("status", "--json").code in (0, 1, 4)


def record_seeds(name: str) -> Callable[[], Seeds]:
    """The records of this name that released versions have left, each settings file's by itself."""

    def seeds() -> Seeds:
        for path in KEPT.glob("*.txt"):
            for file, _, text in parsed(path.read_text()):
                if file.endswith(name):
                    whole = json.loads(text)
                    kind = "records" if "records" in whole else "files"
                    for key, record in whole[kind].items():
                        yield json.dumps({**whole, kind: {key: record}}, indent=1).encode()

    return seeds


def check_pack(world: World, data: bytes) -> None:
    """A pack is refused with its position, or planned; either way nothing is written."""
    world.reset()
    path = world.top / "pack" / "pack.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    (path.parent / "notify.py").write_text("print()\n")
    before = world.now()
    try:
        pack.load_file(str(path))
    except HookctlError as error:
        assert error.exit_code == 4 and error.line > 0 and error.column > 0, error
    assert world.hookctl("plan", str(path), "--host", "claude", "--json").code in (0, 1, 2, 4)
    assert world.now() == before


def prepare_hook(world: World) -> None:
    world.hook = Hook(world)  # type: ignore[attr-defined]
    world.keep()


def hook_of(world: World) -> Hook:
    """The hook with its usual files, and no state."""
    shutil.rmtree(world.state, ignore_errors=True)
    hook: Hook = world.hook  # type: ignore[attr-defined]
    hook.task(b'{"remaining": 2}')
    hook.config(DEFAULTS)
    return hook


def require_answer(said: bytes) -> bool:
    """Nothing, or one object; whether it keeps the agent from stopping."""
    answer = json.loads(said) if said else {}
    assert isinstance(answer, dict)
    return answer.get("decision") in ("block", "deny", "continue") or "followup_message" in answer


def check_payload(world: World, data: bytes) -> None:
    """Any bytes on standard input, on any host and event."""
    hook = hook_of(world)
    event = list(HANDLERS)[data[0] % len(HANDLERS)] if data else "stop"
    host = HOSTS[data[1] % len(HOSTS)] if len(data) > 1 else "claude"
    blocks = [require_answer(hook.call(event, host, data[2:])) for _ in range(2)]
    if not is_object(data[2:]):
        assert not any(blocks), "an unreadable payload blocks"


def is_object(data: bytes) -> bool:
    try:
        return bool(module("files").parse(data, "replace")) or True
    except ValueError:
        return False


def payload_seeds() -> Seeds:
    for path in sorted((TESTS / "templates" / "payloads").glob("*.json")):
        name = path.stem.partition("-")[0]
        host = bytes([HOSTS.index(name) if name in HOSTS else 0])
        value = json.loads(path.read_text())
        for event, payload in value.items() if isinstance(value, dict) else ():
            if event in HANDLERS:
                yield bytes([list(HANDLERS).index(event)]) + host + json.dumps(payload).encode()
        yield b"\0" + host + json.dumps(value).encode()


def require_bounded(hook: Hook, **fields: Any) -> None:
    """Without progress it blocks at most as often in a row as its limit says."""
    row = longest = 0
    for number in range(LIMIT + 4):
        payload = {"session_id": "s", "cwd": str(hook.world.work), "stop_hook_active": number > 0, **fields}
        blocked = require_answer(hook.call("stop", "claude", json.dumps(payload).encode()))
        row = row + 1 if blocked else 0
        longest = max(longest, row)
    assert longest <= LIMIT, f"{longest} blocks in a row"


def check_transcript(world: World, data: bytes) -> None:
    hook = hook_of(world)
    require_bounded(hook, transcript_path=str(hook.transcript(data)))


def check_task(world: World, data: bytes) -> None:
    hook = hook_of(world)
    hook.task(data)
    require_bounded(hook)
    assert world.hookctl("run", "status", "--json").code in (0, 1, 4)
    assert world.hookctl("status", "--json").code in (0, 1, 4)


def check_config(world: World, data: bytes) -> None:
    """Whatever settings there are, each call ends with an answer; its limit is in them, so it is not counted here."""
    hook = hook_of(world)
    hook.config(data)
    for event in HANDLERS:
        payload = {
            "session_id": "s",
            "cwd": str(world.work),
            "tool_name": "Task",
            "tool_input": {"a": 1},
            "prompt": "p",
        }
        require_answer(hook.call(event, "claude", json.dumps(payload).encode()))


def check_state(world: World, data: bytes) -> None:
    """A session's file, and those of dispatch, hold anything: no credit comes of it."""
    hook = hook_of(world)
    hook.folder.mkdir(parents=True)
    for name in (module("files").digest("s") + ".json", "dispatch.json", "ACTIVE", "claim.json"):
        (hook.folder / name).write_bytes(data)
    require_bounded(hook)
    assert world.hookctl("status", "--json").code in (0, 1, 4)


def check_log(world: World, data: bytes) -> None:
    """The guard's log is shown, whatever stands in it."""
    hook = hook_of(world)
    hook.folder.mkdir(parents=True)
    (hook.folder / "events.jsonl").write_bytes(data)
    assert world.hookctl("log", "--json").code in (0, 1, 4)
    assert world.hookctl("log").code in (0, 1, 4)


def check_masking(_: World, data: bytes) -> None:
    """Masking ends, in linear time."""
    text = data.decode("utf-8", "replace")
    masked_text("\n".join([text] * 20))


DOORS = [
    Door("settings", check_settings, settings_seeds),
    Door("ledger", check_ledger, record_seeds("/hookctl/ledger.json")),
    Door("committed", check_committed, record_seeds("work/.hookctl/ledger.json"), prepare_project),
    Door("journal", check_journal, record_seeds("/hookctl/journal.json")),
    Door("pack", check_pack, files_of("packs/**/*.toml")),
    Door("payload", check_payload, payload_seeds, prepare_hook),
    Door("transcript", check_transcript, prepare=prepare_hook),
    Door("task", check_task, prepare=prepare_hook),
    Door("config", check_config, prepare=prepare_hook),
    Door("state", check_state, prepare=prepare_hook),
    Door("log", check_log, prepare=prepare_hook),
    Door("masking", check_masking, files_of("corpus/claude/*.json")),
]
BY_DOOR = {door.name: door for door in DOORS}
