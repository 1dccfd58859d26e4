"""Do the hook's tests bite? Break one rule at a time in a copy of the hook, and see whether a test notices.

Run by hand: python tests/mutate_hook.py [WORD ...] tries all mutations, or those whose text has one of the words.
"""

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
HOOK = ROOT / "templates" / "guard" / "hook.py"

# (old text, new text); the old text stands in the hook exactly once
MUTATIONS = [
    ("if words in data[max(0, state.tx - offset) :]:", "if words in data:"),
    ("if words in data[max(0, state.tx - offset) :]:", "if True:"),
    ("state.tx = size - len(lines[-1])", "state.tx = size"),
    # limits
    ("INPUT_LIMIT = 16 *", "INPUT_LIMIT = 17 *"),
    ("FILE_LIMIT = 64 *", "FILE_LIMIT = 65 *"),
    ("TAIL_LIMIT = 256 *", "TAIL_LIMIT = 512 *"),
    ("TAIL_LIMIT = 256 *", "TAIL_LIMIT = 200 *"),
    ("LOG_LIMIT = 256 *", "LOG_LIMIT = 255 *"),
    ("RING_LIMIT = 32", "RING_LIMIT = 33"),
    ("RING_LIMIT = 32", "RING_LIMIT = 31"),
    ("CEILING = 200 ", "CEILING = 201 "),
    ("SWEEP_AFTER = 30 *", "SWEEP_AFTER = 31 *"),
    (".strip()[:32]", ".strip()[:1]"),
    ("posix.O_RDONLY), 256)", "posix.O_RDONLY), 255)"),
    ("len(data) <= INPUT_LIMIT", "len(data) < INPUT_LIMIT"),
    ("len(data) > FILE_LIMIT", "len(data) >= FILE_LIMIT"),
    ("+ len(data) > LOG_LIMIT", "+ len(data) >= LOG_LIMIT"),
    ("lock_s + 0.9", "lock_s + 9"),
    ("len(digits) < 19 else digits", "True else digits"),
    # input, session, flag
    ("if end < len(text) or type(value) is not dict", "if type(value) is not dict"),
    ("if end < len(text) or type(value) is not dict", "if end < len(text)"),
    ('.lstrip("\\ufeff")', ""),
    ('parse(data, "replace")\n    except (OSError', 'parse(data)\n    except (OSError'),
    ("except (OSError, ValueError, Expired):", "except (OSError, ValueError):"),
    ("session = session or env(session_variable)", "pass"),
    ('payload.get("stopHookActive")', "None"),
    ('payload["loop_count"] > 0', 'payload["loop_count"] > 1'),
    (' or payload.get("agent_id")', ""),
    (' or payload.get("hook_event_name") == "SubagentStop"', ""),
    ('subagent = event == "subagent-stop" or', "subagent ="),
    # knobs
    ("(from_text(kind, env(variable)), config.get(name))", "(config.get(name), from_text(kind, env(variable)))"),
    ('"MAX_STOP_BLOCKS" if name == "max_stop_blocks" else ', ""),
    ("if type(value) is kind and filled", "if filled"),
    ("type(value) is kind and filled and all(", "type(value) is kind and all("),
    ("all(word in WORDS.get(name, words) for word in words)", "True"),
    ("digits.isdigit() and digits.isascii()", "digits.isdigit()"),
    ('"false", "no", "off")', '"false", "no")'),
    ("word.strip() for word in text.split", "word for word in text.split"),
    ('in ("1", "true", "yes", "on")', 'in ("1", "true", "yes")'),
    ("abs(float(head)) < 1e300", "True"),
    (' and head.lstrip("+-")[:1] != "."', ""),
    ("    except FileNotFoundError:\n        config = {}", "    except FileNotFoundError:\n        config = None"),
    ("        config = None\n", "        config = {}\n"),
    # folders
    ("enter(env(project_variable)) or enter(first_text(", "enter(first_text("),
    ('enter(first_text(payload, "cwd", "working_dir"))', "here"),
    ("call.folder if call.named else call.guard", "call.folder"),
    ('exists(folder + "/.hookctl") or ', ""),
    (' or exists(folder + "/.git")', ""),
    (" and posix.stat(folder).st_uid == posix.geteuid()", ""),
    ('(home + "/").startswith(folder + "/")', "home.startswith(folder)"),
    ('while folder and not (home + "/").startswith(folder + "/"):', "while folder:"),
    ("enter(home) or home)", "home)"),
    ('if not state.startswith("/"):', "if not state:"),
    ("posix.mkdir(path, 0o700)", "posix.mkdir(path, 0o755)"),
    ("posix.O_CLOEXEC, 0o600)", "posix.O_CLOEXEC, 0o644)"),
    ("    enter(project)  # relative paths of knobs start here\n", ""),
    # files
    (" | posix.O_NONBLOCK", ""),
    ("if posix.fstat(fd).st_mode & 0o170000 != 0o100000:", "if False:"),
    ("| posix.O_TRUNC)  # the truncation dates it", ")"),
    ("if time.monotonic() >= end:", "if time.monotonic() >= end + 1:"),
    ("if time.monotonic() >= end:", "if True:"),
    ("fcntl.LOCK_EX | fcntl.LOCK_NB", "fcntl.LOCK_SH | fcntl.LOCK_NB"),
    ("        sweep(call)\n", "        pass\n"),
    ('name[16:21] == ".json" and ', ""),
    ("if type(value) is type(SESSION.get(name))", "if name in SESSION"),
    ("        if posix.write(fd, data) < len(data):\n            return False\n", "        posix.write(fd, data)\n"),
    ("    except OSError:\n        return False\n", "    except OSError:\n        return True\n"),
    ('posix.rename(path, path + ".1")', "posix.unlink(path)"),
    # transcript
    ("if size < state.tx:", "if False:"),
    ("state.tx, state.ring = 0, []", "state.tx = 0"),
    ("    state.tx = size\n", ""),
    (' and not entry.get("isSidechain")', ""),
    ('entry.get("type", "assistant") == "assistant" and ', ""),
    ('entry["payload"] if type(entry.get("payload")) is dict else entry', "entry"),
    ('if entry.get("type") == "function_call":', "if False:"),
    (' and item.get("type") == "tool_use"', ""),
    (' and not entry.get("isMeta")', ""),
    (" and b'\"tool_result\"' not in line", ""),
    ("reversed(entries)", "entries"),
    ("b'\"task-notification\"', b", "b"),
    ("b'\"task_notification\"', b", "b"),
    ("b':\"<task-notification>', b': \"<task-notification>'", "b'\"x'"),
    # progress
    ("[other for other in state.ring if other != call] + [call]", "state.ring if known else [*state.ring, call]"),
    ("known and novelty and arguments is not None", "known and arguments is not None"),
    ("known and novelty and arguments is not None", "known and novelty"),
    ("state.turn, state.streak = turn, 0", "state.turn = turn"),
    ("state.blocks = state.attempts = state.total = state.soft = 0", "state.blocks = state.attempts = state.soft = 0"),
    ("state.blocks = state.attempts = state.total = state.soft = 0", "state.attempts = state.total = state.soft = 0"),
    ("state.blocks = state.attempts = state.total = state.soft = 0", "state.blocks = state.total = state.soft = 0"),
    ("state.blocks = state.attempts = state.total = state.soft = 0", "state.blocks = state.attempts = state.total = 0"),
    ("= state.soft = 0\n        state.open = False", "= state.soft = 0"),
    ("        state.ran = True\n        if not state.ledger:", "        if not state.ledger:"),
    ("        if not state.ledger:\n", "        if True:\n"),
    ("if not turn and not call.active:", "if not turn:"),
    ('state.streak, turn = 0, line.decode("utf-8", "replace")', 'turn = line.decode("utf-8", "replace")'),
    ("begin_turn(state, digest(turn), not is_wake_up(line))", "begin_turn(state, digest(turn), True)"),
    ('"heartbeat" in knobs.progress and ', ""),
    ('"remaining" in knobs.progress and ', ""),
    ('"action" in knobs.progress and ', ""),
    ("0 <= remaining < state.rem", "0 <= remaining != state.rem"),
    ("0 <= remaining < state.rem", "remaining < state.rem"),
    ("if seen < 0:", "if False:"),
    ('progress, state.soft = "hard", 0', 'progress = "hard"'),
    ("state.acts > seen:\n        state.streak = 0", "state.acts > seen:\n        pass"),
    ("if not 0 < knobs.max_soft_resets <= state.soft", "if not 0 < knobs.max_soft_resets < state.soft"),
    ("if not 0 < knobs.max_soft_resets <= state.soft", "if not knobs.max_soft_resets <= state.soft"),
    ("        state.streak, state.open = 0, False\n", "        state.streak = 0\n"),
    ("        state.streak, state.open = 0, False\n", "        state.open = False\n"),
    ('knobs.chain_reset == "fresh" and not call.active', "not call.active"),
    ('knobs.chain_reset == "fresh" and not call.active', 'knobs.chain_reset == "fresh"'),
    ("if call.active and not state.ran else 0", "if call.active else 0"),
    ("if call.active and not state.ran else 0", "if not state.ran else 0"),
    ("heartbeat, remaining, state.acts, False\n", "heartbeat, remaining, state.acts, state.ran\n"),
    ("heartbeat, remaining, state.acts, False\n", "state.hb, remaining, state.acts, False\n"),
    # gates and decisions
    ('if true(env("HOOKCTL_DISABLE")):', "if False:"),
    ("if any(true(env(name)) for name", "if any(env(name) for name"),
    ("if owner and owner != call.session:", "if False:"),
    ('read_line(call.knobs.run_dir + "/OWNER") or ', ""),
    (" or call.knobs.owner.strip()", ""),
    ("return call.now < float", "return call.now <= float"),
    ("if call.knobs.require_arm and not armed(call):", "if not armed(call):"),
    ('if exists(call.knobs.run_dir + "/STOP"):', "if False:"),
    ("        return \"allow\", \"conclude\", 0\n    if", "        pass\n    if"),
    ("if remaining <= 0:", "if remaining < 0:"),
    ("if call.knobs.honor_stop_hook_active and call.active:", "if call.knobs.honor_stop_hook_active:"),
    ("    if state.open:\n", "    if False:\n"),
    ("if state.total > CEILING:", "if False:"),
    ("if 0 < call.knobs.max_stop_blocks <= getattr", "if 0 < call.knobs.max_stop_blocks < getattr"),
    ("if 0 < call.knobs.max_stop_blocks <= getattr", "if call.knobs.max_stop_blocks <= getattr"),
    ("getattr(state, call.knobs.count)", "state.blocks"),
    ("if 0 < call.cap <= state.host:", "if 0 < call.cap < state.host:"),
    ("if 0 < call.cap <= state.host:", "if call.cap <= state.host:"),
    ("if state.total >= CEILING:", "if False:"),
    ("0 < call.knobs.max_stop_blocks <= state.streak", "0 < call.knobs.max_stop_blocks < state.streak"),
    ("0 < call.knobs.max_stop_blocks <= state.streak", "call.knobs.max_stop_blocks <= state.streak"),
    (" and (call.active or state.streak > 1)", ""),
    ("(call.active or state.streak > 1)", "call.active"),
    ("call.active and 0 < call.cap == state.host", "False"),
    ("return call.knobs.end_foreign_chains and", "return"),
    ("        state.blocks += 1\n        state.total += 1", "        state.total += 1"),
    ("        state.streak = 0\n        state.trips += 1", "        state.trips += 1"),
    ("        state.streak = 0\n        state.trips += 1", "        state.streak = 0"),
    ("        state.blocks = state.attempts = 0\n        state.open", "        state.open"),
    ('state.open = latch and code != "ceiling"', "state.open = latch"),
    ('state.open = latch and code != "ceiling"', 'state.open = code != "ceiling"'),
    ("CEILING + 1 if", "CEILING if"),
    ("call.knobs.yield_on_background and not concluded", "not concluded"),
    ("call.knobs.yield_on_background and not concluded", "call.knobs.yield_on_background"),
    ("any(type(wait) is list and wait for wait in waits)", "any(waits)"),
    ('return "allow", code or "background"', 'return "allow", "background"'),
    ('"allow" if code or concluded or remaining <= 0 else "release"', '"release"'),
    ("if state.stop != call.key or", "if True or"),
    (" or digest(call.beside) in state.by:", ":"),
    ("state.stop != call.key or digest", "digest"),
    ('call.now) and decision == "block":', "call.now):"),
    ("if not save_session(path, state, call.now) and", "save_session(path, state, call.now)\n    if False and"),
    ("digest(turn) if turn else \"\", not woken)", 'digest(turn) if turn else "", True)'),
    ("        state.ran = state.ledger = True\n", "        state.ledger = True\n"),
    ("        state.ran = state.ledger = True\n", "        state.ran = True\n"),
    ('replace("{remaining}", str(remaining))', "format(remaining=remaining)"),
    ('"1 block" if blocks == 1 else ', ""),
    ("    except BaseException as error:", "    except ValueError as error:"),
]  # fmt: skip


def survives(pair: tuple[str, str]) -> bool:
    """Do all tests pass although the hook is broken?"""
    old, new = pair
    text = HOOK.read_text("utf-8")
    assert text.count(old) == 1, f"{text.count(old)} times in the hook: {old!r}"
    with tempfile.TemporaryDirectory() as folder:
        mutant = Path(folder) / "hook.py"
        mutant.write_text(text.replace(old, new), "utf-8")
        environment = {**os.environ, "HOOKCTL_HOOK_UNDER_TEST": str(mutant), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-xqq", "-p", "no:cacheprovider", "--no-header", "tests/templates"]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            return False
    assert done.returncode in (0, 1), done.stdout.decode()
    return done.returncode == 0


def main(words: list[str]) -> None:
    chosen = [pair for pair in MUTATIONS if not words or any(word in part for word in words for part in pair)]
    caught = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for (old, new), survived in zip(chosen, pool.map(survives, chosen), strict=True):
            caught += not survived
            if survived:
                print(f"survived: {old!r} -> {new!r}", flush=True)
    print(f"{caught} of {len(chosen)} mutations are caught")


if __name__ == "__main__":
    main(sys.argv[1:])
