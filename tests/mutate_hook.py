"""Do the hook's tests bite? Break it in one place at a time, and see whether a fast test notices.

Run by hand: `python tests/mutate_hook.py [WORD ...]` tries all mutations, or those of which the function or the text
has one of the words. It prints the survivors and the score, with -v what noticed each. The random sequences against the
published systems (test_seeds.py) are left out: they are slow, and another seed may miss what this one finds.
"""

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
HOOK = ROOT / "templates" / "guard" / "hook.py"
NOTICED = ROOT / ".cache" / "hook-mutations.json"  # by which test, the last time: it runs first
AT_ONCE = 2  # some tests look at the clock
SECONDS = 300


class Part(NamedTuple):
    """A function or a table of the hook, and what is broken there."""

    files: str  # the test files that could notice
    first: str  # words of the tests that look at it: these run first
    mutations: list[tuple[str, str]]  # old text, which stands there exactly once, and new text


def swapped(first: str, second: str) -> tuple[str, str]:
    """The mutation that turns two steps round."""
    return first + second, second + first


MUTATIONS = {
    "INPUT_LIMIT": Part(
        "hook_rules",
        "just_below",
        [
            ("16 *", "17 *"),
        ],
    ),
    "FILE_LIMIT": Part(
        "hook_rules",
        "64_kib",
        [
            ("64 *", "65 *"),
        ],
    ),
    "TAIL_LIMIT": Part(
        "hook_rules",
        "256_kib",
        [
            ("256 *", "512 *"),
            ("256 *", "200 *"),
        ],
    ),
    "LOG_LIMIT": Part(
        "hook_rules",
        "256_kib",
        [
            ("256 *", "255 *"),
            ("256 *", "257 *"),
        ],
    ),
    "RING_LIMIT": Part(
        "hook_rules",
        "ring",
        [
            ("32", "33"),
            ("32", "31"),
        ],
    ),
    "CEILING": Part(
        "hook_rules keepalive",
        "ceiling_holds",
        [
            ("200", "201"),
            ("200", "199"),
        ],
    ),
    "ARMED_CEILING": Part(
        "keepalive",
        "five_thousand",
        [
            ("5000", "5001"),
            ("5000", "4999"),
        ],
    ),
    "DISPATCH_KEYS": Part(
        "hook_limits",
        "bound",
        [
            ("16 *", "17 *"),
            ("16 *", "15 *"),
        ],
    ),
    "DISPATCH_LIMIT": Part(
        "hook_limits",
        "file",
        [
            ("64 *", "65 *"),
            ("64 *", "63 *"),
        ],
    ),
    "WAITS": Part(
        "hook_rules",
        "moment",
        [
            ("0.01, 0.02, 0.03, 0", "0"),
            ("0.03, 0", "0.3, 0"),
        ],
    ),
    "SWEEP_AFTER": Part(
        "hook_rules",
        "month",
        [
            ("30 *", "31 *"),
            ("30 *", "29 *"),
        ],
    ),
    "LONGEST_LOCK_MS": Part(
        "hook_limits",
        "longest timer",
        [
            ("8_000", "9_000"),
        ],
    ),
    # a default more or less is seen in one place: what the schema says
    "KNOBS": Part(
        "guard_config",
        "",
        [
            ('"max_soft_resets": 20', '"max_soft_resets": 19'),
            ('"dispatch_window_s": 300', '"dispatch_window_s": 301'),
            ("call {tools}", "call it"),
        ],
    ),
    "WORDS": Part(
        "guard_config",
        "",
        [
            ('"guard", "off"', '"guard"'),
            ('("project", "session")', '("project",)'),
        ],
    ),
    "BLOCK": Part(
        "hook_rules",
        "dialect",
        [
            ('"decision":"block"', '"decision":"deny"'),
        ],
    ),
    "DENY": Part(
        "hook_rules",
        "dialect",
        [
            ('"deny"', '"block"'),
        ],
    ),
    "SAY": Part(
        "hook_rules",
        "message",
        [
            ("systemMessage", "message"),
        ],
    ),
    "END": Part(
        "hook_texts mode_guard",
        "words",
        [
            ("false", "true"),
        ],
    ),
    "REFUSE": Part(
        "dispatch",
        "refusal",
        [
            ("permissionDecisionReason", "reason"),
        ],
    ),
    "NESTED": Part(
        "dispatch",
        "refusal",
        [
            ("PreToolUse", "PostToolUse"),
        ],
    ),
    "FOLLOW": Part(
        "hook_rules",
        "dialect",
        [
            ("followup_message", "reason"),
        ],
    ),
    "GO_ON": Part(
        "hook_rules",
        "dialect",
        [
            ('"continue"', '"deny"'),
        ],
    ),
    "FORBID": Part(
        "dispatch",
        "refusal",
        [
            (',"agent_message":%s', ""),
        ],
    ),
    "HOSTS": Part(
        "dispatch mode_guard hook_rules every_host",
        "variable_names_the_project hosts_words cannot_end dialect only_logged variable_names may_come_from",
        [
            ('"claude": (BLOCK, SAY, END', '"claude": (BLOCK, SAY, ""'),
            ('"codex": (BLOCK, SAY, END, ""', '"codex": (BLOCK, SAY, END, NESTED'),
            ('"gemini": (DENY', '"gemini": (BLOCK'),
            ("SAY, END, DENY", "SAY, END, NESTED"),
            ('"qwen": (BLOCK, SAY, "", ""', '"qwen": (BLOCK, SAY, END, ""'),
            ('"copilot": (BLOCK, ""', '"copilot": (BLOCK, SAY'),
            ('"openhands": (DENY, "", ""', '"openhands": (DENY, "", END'),
            ("FORBID", "REFUSE"),
            ('"droid": (BLOCK, "", "", NESTED', '"droid": (BLOCK, SAY, "", NESTED'),
            ('"hermes": (BLOCK, "", "", BLOCK', '"hermes": (BLOCK, "", "", DENY'),
            ('"opencode": (BLOCK, SAY', '"opencode": (BLOCK, ""'),
            ('"antigravity": (GO_ON', '"antigravity": (DENY'),
            ('"antigravity": (GO_ON, "", "", DENY', '"antigravity": (GO_ON, "", "", BLOCK'),
            ("CURSOR_PROJECT_DIR", "PROJECT_DIR"),
            ("CLAUDE_PROJECT_DIR", "PROJECT_DIR"),
            ("CLAUDE_CODE_SESSION_ID", "CLAUDE_SESSION_ID"),
            ("OPENHANDS_SESSION_ID", "OPENHANDS_ID"),
        ],
    ),
    "CAPS": Part(
        "hook_limits private_and_bounded hook_rules",
        "own_cap None-8 [3-3] identical_tool qwens",
        [
            ("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "STOP_HOOK_BLOCK_CAP"),
            ('BLOCK_CAP", 8, True', 'BLOCK_CAP", 9, True'),
            ("8, True", "8, False"),
            ('BLOCK_CAP", 8, False', 'BLOCK_CAP", 9, False'),
            ('BLOCK_CAP", 8, False', 'BLOCK_CAP", 8, True'),
            ('("", 8, False)', '("", 9, False)'),
            ('("", 8, False)', '("", 8, True)'),
        ],
    ),
    "TAILS": Part(
        "every_host hook_rules hook_transcript",
        "identity codex of_another_form progress",
        [
            ('"claude", ', ""),
            ('"codex", ', ""),
            (', "droid"', ""),
            ('"droid")', '"droid", "gemini", "qwen", "copilot", "openhands", "cursor")'),
        ],
    ),
    "FLAGLESS": Part(
        "every_host",
        "without_flag counts_anew followed_by_none",
        [
            ('"antigravity", ', ""),
            ('"cursor", ', ""),
            ('"gemini", ', ""),
            ('"hermes", ', ""),
            (', "openhands"', ""),
        ],
    ),
    "TEXTS": Part(
        "hook_texts hook_rules keepalive",
        "keepalives release_is",
        [
            ('"conclude", "the work"', '"stop", "the work"'),
            ('"stop", "it"', '"conclude", "it"'),
            ("(WORK_REMAINS", "(RUN_GOES_ON"),
        ],
    ),
    "WHY": Part(
        "hook_rules",
        "release_is_a_message heartbeats_do ceiling_holds held_lock cannot_be_replaced",
        [
            ("after %s without", "after %s with"),
            ("after %s in a row", "after %s"),
            ("after %s since", "since"),
            ("another process holds its state", "its state cannot be saved"),
            ('"because its state cannot', '"because another process'),
        ],
    ),
    "UNCOUNTED": Part(
        "hook_order hook_rules",
        "not_counted",
        [
            ('"blocks": None', '"blocks": 0'),
            ('"progress": None', '"progress": "hard"'),
        ],
    ),
    # rem, hb, tx, acts: the first stop sets them before they are looked at
    "SESSION": Part(
        "hook_scenarios mode_guard nudge hook_rules keepalive",
        "C1 C6 C4 C2 F2 F4 G2 D1 D11 trips several limit_is_said prompt_event_of tells",
        [
            ('"open": False', '"open": True'),
            ('"asked": False', '"asked": True'),
            ('"soft": 0', '"soft": 1'),
            ('"streak": 0', '"streak": 1'),
            ('"host": 0', '"host": 1'),
            ('"acts_seen": -1', '"acts_seen": 0'),
            ('"said": []', '"said": ["block"]'),
            ('"trips": 0', '"trips": 1'),
        ],
    ),
    # Expired as an Exception: nothing catches Exception without catching Expired, today
    "expire": Part(
        "hook_rules",
        "never_ends",
        [
            ("raise Expired", "pass"),
        ],
    ),
    # 19 itself: any bound of that order does
    "number": Part(
        "hook_scenarios hook_fallbacks hook_rules",
        "absurd A6 digits",
        [
            ("len(digits) < 19", "True"),
        ],
    ),
    "parse": Part(
        "hook_rules nudge dispatch",
        "unusable byte_order broken cut looks_like behind_broken 64_kib",
        [
            ('.lstrip("\\ufeff")', ""),
            ('.strip(" \\t\\r\\n")', ""),
            ("StopIteration, ", ""),
            ("RecursionError, ", ""),
            (", SystemError", ""),
            ("end < len(text) or ", ""),
            (" or type(value) is not dict", ""),
        ],
    ),
    "digest": Part(
        "hook_rules",
        "hostile every_hosts_name",
        [
            ('"surrogatepass"', '"strict"'),
            ("[:16]", "[:15]"),
        ],
    ),
    "env": Part(
        "hook_rules",
        "bytes folder",
        [
            ('"surrogateescape"', '"replace"'),
        ],
    ),
    "true": Part(
        "hook_rules hook_scenarios",
        "switches flag_counts A11",
        [
            (".strip()", ""),
            (".lower()", ""),
            (', "on")', ")"),
            (
                'value.strip().lower() in ("1", "true", "yes", "on") if type(value) is str else bool(value)',
                "bool(value)",
            ),
        ],
    ),
    "first_text": Part(
        "hook_rules",
        "dialect session_may odd_folders hosts_variable",
        [
            (" and values[name]", ""),
            ("type(values.get(name)) is str and ", "values.get(name) and "),
        ],
    ),
    # O_CLOEXEC: the hook starts nothing
    "open_file": Part(
        "hook_rules keepalive private_and_bounded",
        "fifo zero private stays loop spoilt",
        [
            (" | posix.O_NONBLOCK", ""),
            ("0o600", "0o644"),
            ("if posix.fstat(fd).st_mode & 0o170000 != 0o100000:", "if False:"),
        ],
    ),
    "read_object": Part(
        "hook_rules",
        "64_kib",
        [
            ("limit + 1", "limit"),
            ("> limit", ">= limit"),
        ],
    ),
    "read_line": Part(
        "hook_rules hook_scenarios keepalive",
        "owner",
        [
            ("256", "255"),
            (".strip()", ""),
            ("(OSError, ValueError)", "FileNotFoundError"),
        ],
    ),
    "save": Part(
        "hook_rules dispatch",
        "full_disk device killed C1",
        [
            (" | posix.O_TRUNC", ""),
            (
                "        if posix.write(fd, data) < len(data):\n            return False\n",
                "        posix.write(fd, data)\n",
            ),
            ("    except OSError:\n        return False", "    except OSError:\n        return True"),
            ('        posix.rename(path + ".tmp", path)\n', ""),
        ],
    ),
    "make_folder": Part(
        "hook_rules private_and_bounded",
        "state_is_private folder_lets_go nearest",
        [
            ("0o700", "0o755"),
            ('        make_folder(path.rpartition("/")[0])\n        make_folder(path)\n', "        pass\n"),
        ],
    ),
    "from_text": Part(
        "hook_rules hook_scenarios knobs",
        "unreadable_number decimal switches lists A6 blanks cannot_be_read",
        [
            ("text = text.strip()", "pass"),
            ('text[text.startswith("-") :]', "text"),
            ("digits.isdigit() and ", ""),
            (" and digits.isascii()", ""),
            (" and len(digits) < 19", ""),
            ('"no", "off")', '"no")'),
            ("text.lower() in", "text in"),
            (" else None\n    return", " else False\n    return"),
            ("word.strip() for word", "word for word"),
        ],
    ),
    "knob": Part(
        "guard_config hook_rules knobs",
        "environment_comes lists empty another_type next_source default_counts refuses unknown",
        [
            ('"MAX_STOP_BLOCKS" if name == "max_stop_blocks" else ', ""),
            (
                "(from_text(kind, env(variable)), config.get(name))",
                "(config.get(name), from_text(kind, env(variable)))",
            ),
            ("type(value) is kind and filled and", "filled and"),
            (" and filled and", " and"),
            ("type(word) is not str or ", "type(word) is str and "),
            (" or word.strip() for", " or word for"),
            ("all(word in WORDS.get(name, words) for word in words)", "True"),
            ("filled = words and", "filled ="),
        ],
    ),
    # 32 and 1e300 themselves: any bounds of that order do
    "leading_number": Part(
        "hook_limits hook_rules",
        "cap_is_read",
        [
            ("[:32]", "[:1]"),
            ('not head.strip("0123456789+-.eE") and ', ""),
            (' and head.lstrip("+-")[:1] != "."', ""),
            ("abs(float(head)) < 1e300", "True"),
            ("range(len(text), 0, -1)", "range(1, len(text) + 1)"),
            ("text.strip()", "text"),
        ],
    ),
    "blocks_in_a_row": Part(
        "hook_limits hook_rules private_and_bounded",
        "qwens own_cap cap_is_read",
        [
            ('("", 0, True)', '("", 8, True)'),
            ("cap or default", "cap"),
            ("max(1, ", "max(2, "),
            (", 100)", ", 101)"),
            ("100)) - 1", "100))"),
            ("cap if cap > 0 else NO_CAP", "cap"),
            ("cap > 0", "cap > 1"),
        ],
    ),
    "clock": Part(
        "dispatch",
        "H2",
        [
            ('env("HOOKCTL_NOW")', '""'),
        ],
    ),
    "read_input": Part(
        "hook_rules",
        "unusable just_below never_ends byte_order",
        [
            ("<= INPUT_LIMIT", "< INPUT_LIMIT"),
            ("INPUT_LIMIT + 1 -", "INPUT_LIMIT -"),
            ('(data, "replace")', "(data)"),
            (", Expired", ""),
            (", ValueError", ""),
        ],
    ),
    "running_host": Part(
        "every_host hook_rules",
        "spoken_to cap_of claude_code_in shell field dialect session",
        [
            ('host != "claude"', "False"),
            ('"conversation_id" in payload and ', ""),
            ('"cursor_version", "generation_id", "loop_count"', '"cursor_version", "generation_id"'),
            ('"conversation_id" in payload and not {', '"conversation_id" in payload or not {'),
            ('true(env("COPILOT_CLI")) and ', ""),
            (' and {"prompt_id", "permission_mode"}.isdisjoint(payload)', ""),
        ],
    ),
    "event_key": Part(
        "every_host hook_rules dispatch_registrations",
        "two_spellings without_a_time registered missed",
        [
            ('"copilot": "timestamp", ', ""),
            (', "cursor": "generation_id"', ""),
            ("if type(when) is int:", "if False:"),
            (':03}Z"', '}Z"'),
            (" and when:", ":"),
            ("type(when) is str and ", ""),
            ("[session, when, event_call(payload)[1]]", "[session, event_call(payload)[1]]"),
            ("[session, when, event_call(payload)[1]]", "[when, payload]"),
        ],
    ),
    "enter": Part(
        "hook_rules",
        "odd_folders gone links hosts_variable",
        [
            ("posix.getcwd()", "path"),
            ("(OSError, ValueError)", "ValueError"),
            (", ValueError", ""),
        ],
    ),
    # a slash at the end of HOME: to enter it takes it away
    "home_folder": Part(
        "hook_limits hook_rules",
        "home",
        [
            ('if env("HOME").startswith("/"):', 'if env("HOME"):'),
        ],
    ),
    "default_state_dir": Part(
        "hook_rules",
        "default_state",
        [
            ('if not state.startswith("/"):', "if not state:"),
            ("/.local/state", "/.local/share"),
            ('env("XDG_STATE_HOME")', '""'),
        ],
    ),
    "find_project": Part(
        "hook_rules",
        "another_user home_counts begins_like nearest comes_before hosts_variable",
        [
            ('exists(folder + "/.hookctl") or ', ""),
            (' or exists(folder + "/.git")', ""),
            (" and posix.stat(folder).st_uid == posix.geteuid()", ""),
            ('not (home + "/").startswith(folder + "/")', "True"),
            ('(home + "/").startswith(folder + "/")', "home.startswith(folder)"),
            ("    return start", "    return folder"),
        ],
    ),
    # a __file__ that is not absolute: only before 3.9
    "read_call": Part(
        "dead_man hook_limits hook_order hook_rules keepalive dispatch every_host",
        "hermes_own every_event spoken_to variable_names_the_project after_a_prompt of_another_form odd_extra "
        "timer flag_counts loop_count every_hosts_name session_may payloads_session subagents "
        "odd_folders broken_configuration unusable_input configured relative elsewhere working "
        "hosts_variable five_thousand ceiling_holds link home_counts held_lock E1",
        [
            (
                "    except FileNotFoundError:\n        config = {}",
                "    except FileNotFoundError:\n        config = None",
            ),
            ("        config = None\n", "        config = {}\n"),
            ("max(knobs.lock_ms, 0)", "knobs.lock_ms"),
            ("min(max(knobs.lock_ms, 0), LONGEST_LOCK_MS)", "max(knobs.lock_ms, 0)"),
            ("lock_s + 0.9", "lock_s + 9"),
            ("    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, [_signal.SIGALRM])\n", ""),
            ('"conversation_id", "session_id"', '"session_id"'),
            (', "sessionId"', ""),
            (', "conversationId"', ""),
            (', "taskId"', ""),
            ("session = session or env(session_variable)", "session = env(session_variable) or session"),
            ("    session = session or env(session_variable)\n", ""),
            ('"stopHookActive"', '"x"'),
            ("running_host(host, payload)", "host"),
            ('extra.get("attempt") if host == "hermes" and type(extra) is dict else ', ""),
            (" and type(extra) is dict", " and extra"),
            ('host == "hermes" and ', ""),
            (' if host in TAILS else ""', ""),
            ('payload.get("workspace_roots", payload.get("workspacePaths"))', 'payload.get("workspacePaths")'),
            (', payload.get("workspacePaths")', ""),
            ("type(roots) is list and roots and type(roots[0]) is str", "roots"),
            ("type(roots) is list and roots and type(roots[0]) is str", "type(roots) is list and roots"),
            ('event == "subagent-stop" or ', ""),
            ('payload.get("hook_event_name") == "SubagentStop" or ', ""),
            (' or payload.get("agent_id")', ""),
            ("knobs.state_dir or default_state_dir(home)", "default_state_dir(home)"),
            ('guard if guard[0] == "/" else here + "/" + guard', "guard"),
            ("enter(env(project_variable)) or enter(first_text(", "enter(first_text("),
            (', "working_dir"', ""),
            (', "working_dir") or root', ', "working_dir")'),
            ("named or here", "named"),
            ("enter(home) or home", "home"),
            ("ARMED_CEILING if keepalive else CEILING", "ARMED_CEILING"),
            ("    enter(project)  # relative paths of knobs start here\n", ""),
        ],
    ),
    "read_task": Part(
        "hook_scenarios hook_rules",
        "A3 A4 A6 C12 vanishes elsewhere spoilt_task",
        [
            ("call.knobs.task_file or ", ""),
            ("    if type(remaining) is str:\n        remaining = from_text(int, remaining)\n", ""),
            ("if heartbeat is None", "if not heartbeat"),
            ("type(remaining) is int", "isinstance(remaining, int)"),
            ("else -1", "else 0"),
        ],
    ),
    "open_state": Part(
        "hook_limits hook_rules dispatch",
        "held_lock comes_free month mebibyte larger lock_in_use spoilt_session forty",
        [
            (" | posix.O_TRUNC)  #", ")  #"),
            (">= end", ">= end + 1"),
            ("if time.monotonic() >= end:", "if True:"),
            ("LOCK_EX", "LOCK_SH"),
            (" | fcntl.LOCK_NB", ""),
            ("read_object(path, limit)", "read_object(path)"),
            ("        sweep(call)\n", "        pass\n"),
            ("    except (OSError, ValueError):\n        pass\n    return path, {}", "    return path, {}"),
        ],
    ),
    "open_session": Part(
        "dead_man hook_rules hook_scenarios",
        "credit another_type B4",
        [
            ("get(name, 0) < 0", "get(name, 0) < -1"),
            ("        usable = {}  #", "        pass  #"),
            ("if type(value) is type(SESSION.get(name))", "if name in SESSION"),
            ("digest(call.session)", 'digest("")'),
        ],
    ),
    "save_session": Part(
        "hook_rules",
        "ring",
        [
            ("    del state.ring[:-RING_LIMIT]\n", ""),
        ],
    ),
    # the real clock alone: the other one is behind it in tests only
    "sweep": Part(
        "dead_man hook_rules private_and_bounded",
        "month clock",
        [
            ('name[16:17] == "." and ', ""),
            ("posix.unlink(path)", "pass"),
            ("min(call.now, time.time())", "call.now"),
        ],
    ),
    "last_words": Part(
        "hook_transcript",
        "last_words",
        [
            ("[-24:]", "[:24]"),
            ("words.isascii() and ", ""),
            ("words.isprintable() and ", ""),
            (" and not set(words) & set('\"\\\\')", ""),
        ],
    ),
    # the look at a line's last byte only saves a parse that fails
    "read_tail": Part(
        "hook_transcript hook_rules hook_scenarios nudge every_host",
        "own_kind "
        "transcript window shorter still_to_come moment late right_behind wake codex behind odd_transcript D1 human",
        [
            ("    except (OSError, ValueError):\n        return []", "    except KeyError:\n        return []"),
            ("max(0, size - TAIL_LIMIT)", "size - TAIL_LIMIT"),
            ("words in data[max(0, state.tx - offset) :]", "words in data"),
            ("if words in data[max(0, state.tx - offset) :]:", "if True:"),
            ("if size < state.tx:", "if False:"),
            ("state.tx, state.ring = 0, []", "state.tx = 0"),
            (", b'\"function_call\"'", ""),
            (", b'\"custom_tool_call\"'", ""),
            (", b'\"user\"'", ""),
            ("b'\"tool_use\"', ", ""),
            ("                entry = {}  #", "                break  #"),
            (' and not entry.get("isSidechain")', ""),
            ("offset >= state.tx", "offset > state.tx"),
            ("offset >= state.tx", "True"),
            ("len(line) + 1", "len(line)"),
            ("state.tx = size - len(lines[-1])", "state.tx = size"),
            ("        state.tx = size - len(lines[-1])\n", "        pass\n"),
        ],
    ),
    "tool_calls": Part(
        "hook_rules nudge hook_scenarios every_host",
        "is_progress own_kind codex looks_like garbage G3 D1 broken",
        [
            ('entry["payload"] if type(entry.get("payload")) is dict else entry', "entry"),
            ('type(entry.get("payload")) is dict', '"payload" in entry'),
            ('("function_call", "custom_tool_call")', '("custom_tool_call",)'),
            (', "custom_tool_call"', ""),
            (', entry.get("input")', ""),
            ('kind in ("assistant", "message") and ', ""),
            ('("assistant", "message")', '("assistant",)'),
            (" and type(message) is dict and type(message.get", " and type(message.get"),
            (' and type(message.get("content")) is list', ""),
            ("type(item) is dict and ", ""),
            (' and item.get("type") == "tool_use"', ""),
        ],
    ),
    "is_prompt": Part(
        "hook_rules nudge every_host",
        "after_a_prompt wake results identity earlier",
        [
            ('entry.get("type") == "user" or ', ""),
            (" or b'\"interactionMode\"' in line", ""),
            ("user and not", "not"),
            (' and not entry.get("isMeta")', ""),
            (" and b'\"tool_result\"' not in line", ""),
        ],
    ),
    "last_prompt": Part(
        "dead_man hook_rules nudge",
        "wake identity readable prompt late",
        [
            ("prompts[-1]", "prompts[0]"),
            ("named[0] if named", "named[-1] if named"),
            ("named[0] if named else ", ""),
            (" if is_prompt(line, entry)", ""),
            ('"replace"', '"strict"'),
        ],
    ),
    "is_wake_up": Part(
        "hook_rules nudge keepalive every_host",
        "background_task wake",
        [
            ("b'\"task-notification\"', ", ""),
            ("b'\"task_notification\"', ", ""),
            ("b':\"<task-notification>', ", ""),
            (", b': \"<task-notification>'", ""),
            (", b':\"<task-notification>', b': \"<task-notification>'", ", b'<task-notification>'"),
            ("    marks += [b':\"<system_notification>']  # Copilot, in its prompt event\n", ""),
            ("b':\"<system_notification>'", "b'<system_notification>'"),
        ],
    ),
    "event_call": Part(
        "dispatch hook_rules every_host",
        "odd_tool come_as_events refused every_hosts_names without_arguments same_arguments",
        [
            ('"tool_input", ', ""),
            ('"toolArgs", ', ""),
            ('"tool_args", ', ""),
            (', "args"', ""),
            (', "toolName"', ""),
            (', "name"', ""),
            ('payload["toolCall"] if type(payload.get("toolCall")) is dict else payload', "payload"),
            ('type(payload.get("toolCall")) is dict', '"toolCall" in payload'),
            ("given[0] if given else None", 'given[0] if given else ""'),
        ],
    ),
    "required": Part(
        "nudge",
        "required_tool garbage readable_name",
        [
            ('"__" + tool, "." + tool', '"__" + tool, "__" + tool'),
            ('"__" + tool, "." + tool', '"." + tool, "." + tool'),
            ('"__" + tool, "." + tool', '"_" + tool, tool'),
            ("name in ends[::3] or ", ""),
            ("type(name) is str and ", ""),
        ],
    ),
    "required_since_prompt": Part(
        "nudge",
        "G3 before_the_last_prompt G7 earlier among",
        [
            (" and not is_wake_up(line)", ""),
            ("            called = False\n", "            pass\n"),
            ("called or any", "any"),
        ],
    ),
    "count_call": Part(
        "hook_rules hook_scenarios",
        "ring same_arguments without_arguments D6 D1",
        [
            ("dump([name, arguments])", "dump(arguments)"),
            (
                "[other for other in state.ring if other != call] + [call]",
                "state.ring if known else [*state.ring, call]",
            ),
            (" and novelty", ""),
            (" and arguments is not None", ""),
            ("known and novelty and ", "novelty and "),
        ],
    ),
    "begin_turn": Part(
        "hook_rules nudge hook_scenarios keepalive mode_guard every_host",
        "broke_in same_bytes "
        "amid refills gives_everything wake G7 another_turn ceiling_holds earlier_turn starts_the_streak refill p;",
        [
            ('turn, 0, "", []', 'turn, state.streak, "", []'),
            ('turn, 0, "", []', 'state.turn, 0, "", []'),
            ('turn, 0, "", []', 'turn, 0, "", state.said'),
            ('turn, 0, "", []', "turn, 0, state.stop, []"),
            ("if human:", "if True:"),
            ("state.blocks = state.attempts", "state.attempts"),
            (" = state.attempts", ""),
            (" = state.total", ""),
            (" = state.soft", ""),
            (" = state.nudges", ""),
            ("state.open = state.terminal", "state.terminal"),
            (" = state.terminal", ""),
        ],
    ),
    "observe": Part(
        "hook_transcript hook_scenarios hook_rules mode_guard nudge keepalive private_and_bounded every_host",
        "after_a_prompt not_asked_for followed_by_none counts_anew "
        "transcript late waited ledger wake_up identity asks G7 D1 D2 D5 D6 D7 D9 D11 D12 C12 C19 C14 "
        "C16 prompt_events count_anew own_cap",
        [
            ("knobs.required_tools or (call.active and state.attempts)", "(call.active and state.attempts)"),
            ("knobs.required_tools or (call.active and state.attempts)", "knobs.required_tools"),
            ("call.active and state.attempts", "call.active"),
            ("call.active and state.attempts", "state.attempts"),
            ("call.loops > state.loops, call.loops", "call.loops > 0, call.loops"),
            ("call.loops > state.loops, call.loops", "call.loops > state.loops, 0"),
            ("forced and call.loops is None and ", "call.loops is None and "),
            ("call.loops is None and ", ""),
            (" and call.host in FLAGLESS", ""),
            ("call.active or (forced", "(forced"),
            ("state.terminal or state.called or", "state.terminal or"),
            ("    state.called = False\n", ""),
            ("if new for made", "for made"),
            ("        state.ran = True\n", ""),
            ("        if not state.ledger:\n", "        if True:\n"),
            ("knobs.action_novelty", "True"),
            ('"prompt_id", "turn_id", "prompt"', '"turn_id", "prompt"'),
            ('"turn_id", "prompt")', '"turn_id")'),
            ("turn or call.active or state.asked", "call.active or state.asked"),
            ("turn or call.active or state.asked", "turn or state.asked"),
            ("call.active or state.asked", "call.active"),
            (' or (forced and call.host == "droid")', ""),
            ("0 if call.flag is not None else state.streak", "0"),
            ("0 if call.flag is not None else state.streak", "state.streak"),
            ("state.terminal or state.called", "state.called"),
            ('"heartbeat" in knobs.progress and ', ""),
            ('"remaining" in knobs.progress and ', ""),
            ('"action" in knobs.progress and ', ""),
            ("0 <= remaining < state.rem", "0 <= remaining != state.rem"),
            ("0 <= remaining < state.rem", "remaining < state.rem"),
            ("0 <= remaining", "0 < remaining"),
            ("if seen < 0:", "if False:"),
            ('"hard", 0', '"hard", state.soft'),
            ("state.acts > seen:\n        state.streak = 0", "state.acts > seen:\n        pass"),
            ("state.acts > seen", "state.acts >= seen"),
            ('knobs.mode != "breaker" or ', ""),
            ("0 < knobs.max_soft_resets <= state.soft", "0 < knobs.max_soft_resets < state.soft"),
            ("0 < knobs.max_soft_resets", "knobs.max_soft_resets"),
            ("        state.streak, state.open = 0, False\n", "        state.streak = 0\n"),
            ("        state.streak, state.open = 0, False\n", "        state.open = False\n"),
            ('knobs.chain_reset == "fresh" and not call.active', "not call.active"),
            ('knobs.chain_reset == "fresh" and not call.active', 'knobs.chain_reset == "fresh"'),
            ("state.blocks = state.attempts = 0", "state.blocks = 0"),
            ("state.blocks = state.attempts = 0", "state.attempts = 0"),
            ("if call.active and not", "if not"),
            (" and not (state.ran and call.anew_by_call)", ""),
            ("state.ran and call.anew_by_call", "state.ran"),
            ("    state.attempts += 1\n", ""),
            ("state.streak += not forced", "state.streak += 1"),
            ("heartbeat, remaining, state.acts, False", "state.hb, remaining, state.acts, False"),
            ("heartbeat, remaining, state.acts, False", "heartbeat, max(remaining, state.rem), state.acts, False"),
            ("state.acts, False", "state.acts, state.ran"),
        ],
    ),
    "see_turn": Part(
        "every_host hook_rules nudge hook_transcript",
        "after_a_prompt asks_for_ever changes_with breaks_in same_words another_hook without_one background_task "
        "wake identity spelling",
        [
            ('state.said[:1] == ["block"]', "False"),
            (
                'forced, prompt, state.prompt = state.said[:1] == ["block"], state.prompt, ""',
                'forced, prompt = state.said[:1] == ["block"], state.prompt',
            ),
            ("prompt[:16] == turn if turn else not call.active", "not call.active"),
            ("prompt[:16] == turn if turn else", "not turn and"),
            ("if turn else not call.active", "if turn else True"),
            ("if turn and turn != state.turn:", "if turn != state.turn:"),
            ("if forced and call.active:", "if False:"),
            ("if forced and call.active:", "if forced:"),
            ("            state.turn = turn\n", "            pass\n"),
            ("not is_wake_up(line)", "True"),
            ('prompt[16:] == ""', "True"),
            ("type(call.loops) is int and not", "not"),
            ("turn or call.active or forced", "turn or forced"),
            (" or forced or state.asked", " or state.asked"),
            (" or state.asked", ""),
        ],
    ),
    "silent_gate": Part(
        "hook_order hook_scenarios hook_rules nudge",
        "order A14 A11 delegated unusable names_the_session gates",
        [
            ('if true(env("HOOKCTL_DISABLE")):', 'if env("HOOKCTL_DISABLE"):'),
            ('if true(env("HOOKCTL_DISABLE")):', "if False:"),
            ("not call.readable or ", ""),
            (" or not call.session", ""),
            ("if any(true(env(name)) for", "if any(env(name) for"),
            ("if any(true", "if all(true"),
            ("if call.subagent:", "if False:"),
            swapped(
                '    if call.config is None:\n        return "config_error"\n',
                '    if call.knobs.mode == "off":\n        return "off"\n',
            ),
            swapped(
                ('    if any(true(env(name)) for name in call.knobs.child_env):\n        return "child"\n'),
                '    if call.subagent:\n        return "subagent"\n',
            ),
        ],
    ),
    "armed": Part(
        "dead_man keepalive hook_scenarios",
        "arm E11",
        [
            ("call.now < float", "call.now <= float"),
            (" < LATEST", ""),
            (" and text.isascii()", ""),
            (' and "_" not in text', ""),
            ("except ValueError", "except KeyError"),
        ],
    ),
    "gate": Part(
        "hook_order hook_scenarios keepalive",
        "order B1 E1 E3 E9 bystander",
        [
            ('read_line(call.knobs.run_dir + "/OWNER") or ', ""),
            (" or call.knobs.owner.strip()", ""),
            ("call.knobs.owner.strip()", "call.knobs.owner"),
            ("owner and owner !=", "owner !="),
            ("if owner and owner != call.session:", "if False:"),
            ("call.keepalive or ", ""),
            ("(call.keepalive or call.knobs.require_arm) and not armed(call)", "not armed(call)"),
            (" or call.knobs.require_arm", ""),
            ('if exists(call.knobs.run_dir + "/STOP"):', "if False:"),
            swapped(
                ('    if (call.keepalive or call.knobs.require_arm) and not armed(call):\n        return "inactive"\n'),
                '    if exists(call.knobs.run_dir + "/STOP"):\n        return "stop"\n',
            ),
        ],
    ),
    "verdict": Part(
        "hook_scenarios hook_rules keepalive mode_guard nudge",
        "E12 F1 A1 A5 C1 C3 C4 C6 C21 C2 E8 E2 ceiling_holds limit_is_said honor five_thousand tells",
        [
            ('if exists(knobs.run_dir + "/CONCLUDE"):', "if False:"),
            ('if knobs.mode == "guard":', "if False:"),
            ("remaining <= 0", "remaining < 0"),
            (" and not call.keepalive", ""),
            ("knobs.honor_stop_hook_active and call.active", "knobs.honor_stop_hook_active"),
            ("knobs.honor_stop_hook_active and call.active", "call.active"),
            ("if state.open:", "if False:"),
            ("if state.total > call.ceiling:", "if False:"),
            (") <= getattr", ") < getattr"),
            ("if 0 < (knobs", "if (knobs"),
            ("knobs.keepalive_cap if call.keepalive else knobs.max_stop_blocks", "knobs.max_stop_blocks"),
            ("getattr(state, knobs.count)", "state.blocks"),
            ("call.cap <= state.host", "call.cap < state.host"),
            ("state.total >= call.ceiling", "state.total > call.ceiling"),
            ("state.blocks + 1", "state.blocks"),
            ("if 0 < (knobs", "if call.cap > state.host and 0 < (knobs"),
            ("if call.cap <= state.host:", "if state.total < call.ceiling and call.cap <= state.host:"),
            ('"tripped", state.blocks', '"tripped", state.attempts'),
            ('"host_cap", state.host', '"host_cap", state.blocks'),
        ],
    ),
    "forced_loop": Part(
        "mode_guard hook_scenarios keepalive hook_rules nudge dead_man",
        "F F2 F4 knob own_cap foreign limit",
        [
            ("watched = knobs.end_foreign_chains and", "watched ="),
            (" and not (call.keepalive and armed(call))", ""),
            ("call.keepalive and armed(call)", "call.keepalive"),
            ("call.keepalive and armed(call)", "armed(call)"),
            ("0 < knobs.max_stop_blocks", "knobs.max_stop_blocks"),
            ("<= state.streak", "< state.streak"),
            (" and (call.active or state.streak > 1)", ""),
            ("(call.active or state.streak > 1)", "call.active"),
            ("(call.active or state.streak > 1)", "state.streak > 1"),
            ("state.streak > 1", "state.streak > 2"),
            ("at_the_cap = call.active and", "at_the_cap ="),
            (' and state.said[:1] != ["block"]', ""),
            ("call.cap == state.host", "call.cap + 1 == state.host"),
            ("(idle or at_the_cap)", "idle"),
            ('(watched or knobs.mode == "guard")', "watched"),
        ],
    ),
    "nudge": Part(
        "nudge hook_rules",
        "G1 G2 G9 G10 latch honoured G_mode never_becomes keeps_to up_to_the cap",
        [
            (" and not state.terminal", ""),
            ("state.nudges < knobs.max_nudges", "state.nudges <= knobs.max_nudges"),
            ("not knobs.required_scope_env or ", ""),
            (".strip()", ""),
            ("state.open or ", ""),
            (" or (knobs.honor_stop_hook_active and call.active)", ""),
            ("knobs.honor_stop_hook_active and call.active", "call.active"),
            ("call.cap <= state.host or ", ""),
            ("call.cap <= state.host", "call.cap < state.host"),
            (" or state.total >= call.ceiling", ""),
            ("state.total >= call.ceiling", "state.total > call.ceiling"),
            ('"no_work", ', ""),
            ('"conclude", ', ""),
            (', "allowed")', ")"),
        ],
    ),
    "settle": Part(
        "hook_scenarios mode_guard keepalive nudge hook_rules dead_man private_and_bounded",
        "C1 C2 C4 C6 C17 C19 F2 F_counts G2 limit_is_said heartbeats ceiling_holds heartbeat trips "
        "registrations forced_it",
        [
            ('        state.nudges += code == "nudged"\n', ""),
            ('state.nudges += code == "nudged"', "state.nudges += 1"),
            ('state.blocks += code != "nudged"', "state.blocks += 1"),
            ('elif decision != "allow":', "else:"),
            ("        state.streak = 0\n", ""),
            ("        state.trips += 1\n", ""),
            ('if decision == "end" and call.end:', "if False:"),
            ('decision == "end" and call.end', 'decision == "end"'),
            ("state.blocks = state.attempts = 0", "state.blocks = 0"),
            ("state.blocks = state.attempts = 0", "state.attempts = 0"),
            ('call.knobs.latch and code != "ceiling"', "call.knobs.latch"),
            ('call.knobs.latch and code != "ceiling"', 'code != "ceiling"'),
            ("call.ceiling + 1 if", "call.ceiling if"),
        ],
    ),
    # a nudge is only looked for where a code says that the agent may go: that the decision is allow follows
    "on_stop": Part(
        "hook_order hook_scenarios hook_rules keepalive mode_guard nudge every_host",
        "aborted order order A15 host_that_waits conclude_and background held_lock registration folder_that "
        "several another_payload cannot_be counted not_given guard wake",
        [
            ('"session_crons", "crons"', '"crons"'),
            ("call.knobs.yield_on_background and not concluded", "not concluded"),
            ("call.knobs.yield_on_background and not concluded", "call.knobs.yield_on_background"),
            ("any(type(wait) is list and wait for wait in waits)", "any(waits)"),
            (' or call.payload.get("fullyIdle") is False', ""),
            ('call.payload.get("fullyIdle") is False', 'not call.payload.get("fullyIdle")'),
            ('("aborted", "error")', '("error",)'),
            ('("aborted", "error")', '("aborted",)'),
            ('call.host == "cursor" and ', ""),
            ('code or "background"', '"background"'),
            (
                'call.keepalive or (call.knobs.mode == "breaker" and remaining > 0)',
                'call.knobs.mode == "breaker" and remaining > 0',
            ),
            ('call.knobs.mode == "breaker" and remaining > 0', "remaining > 0"),
            ("wished and not code and not concluded", "wished and not concluded"),
            ("wished and not code and not concluded", "wished and not code"),
            ("except BlockingIOError", "except InterruptedError"),
            (" or digest(call.beside) in state.by:", ":"),
            ("state.stop != call.key or digest", "digest"),
            ('("allow", code, 0) if code else ', ""),
            ('if decision == "allow" and forced_loop', "if forced_loop"),
            swapped(
                '        line = {"blocks": blocks or state.blocks, "attempts": state.attempts, "progress": progress}\n',
                "        settle(call, state, decision, code)\n",
            ),
            ("blocks or state.blocks", "blocks"),
            ("state.stop, state.by, state.said = call.key, [],", "state.stop, state.said = call.key,"),
            ("    state.by.append(digest(call.beside))\n", ""),
            ("not save_session(path, state, call.now) and", "save_session(path, state, call.now) and False and"),
            (' and decision == "block":', ":"),
            ('"allow" if code == "nudged" else "release"', '"release"'),
            ('decision, code = "allow" if code == "nudged" else "release", "state_error"', 'code = "state_error"'),
            swapped(
                (
                    '        if decision == "allow" and forced_loop(call, state):\n'
                    '            decision, code = "end", "stop_loop"\n'
                ),
                (
                    '        if decision == "allow" and nudge(call, state, code):\n'
                    '            decision, code = "block", "nudged"\n'
                ),
            ),
        ],
    ),
    "leave_breadcrumb": Part(
        "keepalive private_and_bounded",
        "E3 E4 E5 breadcrumb child subagent",
        [
            ('"child", ', ""),
            ('"subagent", ', ""),
            ('"not_owner", ', ""),
            (', "inactive")', ")"),
            ('"off", ', ""),
            ('code == "blocked" and call.active', 'code == "blocked"'),
            ('code == "blocked" and call.active', "call.active"),
            ('("stop", "conclude", "nudged")', '("conclude", "nudged")'),
            ('("stop", "conclude", "nudged")', '("stop", "nudged")'),
            ('("stop", "conclude", "nudged")', '("stop", "conclude")'),
            (" or not call.active", ""),
            (" | posix.O_TRUNC", ""),
            ("except OSError", "except FileNotFoundError"),
        ],
    ),
    "on_prompt": Part(
        "nudge hook_rules mode_guard every_host",
        "tells_of_a_prompt as_one asks_for_ever breaks_in same_words background_task tells_nothing "
        "without_one tells_none prompt_event gates G7 identity",
        [
            ("silent_gate(call) or ", ""),
            (" or not (text or turn)", ""),
            ('"prompt_id", "turn_id"', '"turn_id"'),
            ('"prompt", "message"', '"message"'),
            (', "message"', ""),
            ('state.said[:1] == ["block"] and wording(call, *state.said) in text', "False"),
            ("not is_wake_up", "is_wake_up"),
            ('" " * (not human)', '""'),
            ('elif call.host != "qwen" or digest(turn) != state.turn:', "else:"),
            (" or digest(turn) != state.turn", ""),
            ("digest(turn), human)", "digest(turn), True)"),
            ("    state.asked = True\n", ""),
        ],
    ),
    # the copy of the state that the transcript is read with: the next stop counts by the ledger anyway
    "on_tool": Part(
        "nudge hook_rules hook_scenarios dead_man every_host",
        "not_asked_for G6 G7 gates D5 D6 ring ledger host readable count_anew",
        [
            ("if not silent_gate(call):", "if True:"),
            ("if turn and digest(turn) != state.turn:", "if turn:"),
            ("if turn and digest(turn) != state.turn:", "if False:"),
            ("not is_wake_up(last_prompt(entries, turn))", "True"),
            ("last_prompt(entries, turn)", "last_prompt(entries)"),
            ("call.knobs.action_novelty", "True"),
            ("if required(call, name):", "if True:"),
            ("state.terminal = state.called = True", "state.terminal = True"),
            ("state.terminal = state.called = True", "state.called = True"),
            ("state.ran = state.ledger = True", "state.ledger = True"),
            ("state.ran = state.ledger = True", "state.ran = True"),
            ('"prompt_id", "turn_id"', '"turn_id"'),
            ('"prompt_id", "turn_id"', '"prompt_id"'),
        ],
    ),
    "is_open": Part(
        "dispatch",
        "H2",
        [
            ("0 <= call.now", "call.now"),
            ("< call.knobs", "<= call.knobs"),
        ],
    ),
    "windows_of": Part(
        "dispatch",
        "kind",
        [
            ('if type(stored.get("w")) is dict else {}', ""),
            ("type(one) is list and ", ""),
            (" and tuple(map(type, one)) in kinds", " and len(one) == 2"),
            (", (float, int)", ""),
        ],
    ),
    "make_room": Part(
        "hook_limits dispatch",
        "keys bound kept",
        [
            ("max(call.knobs.dispatch_max_keys, 1)", "call.knobs.dispatch_max_keys"),
            ("min(max(call.knobs.dispatch_max_keys, 1), DISPATCH_KEYS)", "max(call.knobs.dispatch_max_keys, 1)"),
            ("DISPATCH_KEYS) - 1", "DISPATCH_KEYS)"),
            (" if name != key", ""),
            ("(is_open(windows[name], call), windows[name][0], name)", "(windows[name][0], windows[name][0], name)"),
            ("(is_open(windows[name], call), windows[name][0], name)", "(is_open(windows[name], call), 0, name)"),
            ("[len(others) - room :]", "[:room]"),
            (" if is_open(windows[name], call)]", "]"),
        ],
    ),
    "admit": Part(
        "dispatch_registrations hook_limits dispatch",
        "H1 H2 registration asks kind waited answers trips full_disk H6 larger mebibyte",
        [
            ('"dispatch.json", DISPATCH_LIMIT', '"dispatch.json"'),
            ("    call.now = clock()  # whoever", "    pass  # whoever"),
            ("(start, count) if is_open((start,), call) else (call.now, 0)", "(start, count)"),
            ("is_open((start,), call) else (call.now, 0)", "is_open((start,), call) else (call.now, count)"),
            ("is_open((start,), call) else (call.now, 0)", "is_open((start,), call) else (start, 0)"),
            ('if type(stored.get("asked")) is list else []', ""),
            ("if type(one) is str", ""),
            ("mine in asked or ", ""),
            (" or others == asked", ""),
            ("call.key + digest(call.beside)", "call.key"),
            ("one[:16] != call.key", "True"),
            ("asked = count + 1, others", "asked = count + 1, asked"),
            ("count > call.knobs.dispatch_max", "count >= call.knobs.dispatch_max"),
            ('stored["trips"] if type(stored.get("trips")) is int else 0', 'stored.get("trips", 0)'),
            ("[-RING_LIMIT:]", ""),
            ("save(path, state) and refused", "refused"),
        ],
    ),
    "on_dispatch": Part(
        "dispatch",
        "named every_tool H8 unusable session without disabled broken codex readable_name gated nothing_is_written h7",
        [
            ("name in knobs.dispatch_tools or ", ""),
            (' or "*" in knobs.dispatch_tools', ""),
            ("listed = name and", "listed ="),
            (" and arguments is not None", ""),
            (" and knobs.dispatch_max > 0", ""),
            (" and knobs.dispatch_window_s > 0", ""),
            ("call.readable and ", ""),
            ("call.config is not None and ", ""),
            ('(call.session or knobs.dispatch_scope == "project")', "call.session"),
            ('(call.session or knobs.dispatch_scope == "project")', "True"),
            ("known and call.refuse and", "known and"),
            (' and not true(env("HOOKCTL_DISABLE"))', ""),
        ],
    ),
    "wording": Part(
        "hook_texts hook_rules nudge mode_guard",
        "words number unknown operators message text grammatical said",
        [
            ("knobs.nudge_reason if", "reason if"),
            ("knobs.release_reason or release", "release"),
            ('"1 block" if blocks == 1 else ', ""),
            ('str(remaining) if remaining >= 0 else "unknown"', "str(remaining)"),
            ("remaining >= 0", "remaining > 0"),
            ('text.replace("{tools}", ", ".join(knobs.required_tools))', "text"),
            ('TEXTS.get(call.knobs.mode, TEXTS["breaker"])', 'TEXTS["breaker"]'),
            ('replace("{remaining}", ', "format(remaining="),
        ],
    ),
    "answer": Part(
        "hook_texts hook_rules mode_guard every_host",
        "words dialect message after_a_prompt",
        [
            ('"end": call.end', '"end": ""'),
            ('"end": call.end', '"allow": call.end'),
            ('"release": call.release', '"release": call.block'),
        ],
    ),
    "log": Part(
        "hook_order hook_rules dispatch private_and_bounded",
        "one_line unusable turned_over turn_the_log counted project_that",
        [
            ("digest(call.session) if call.session else None", "digest(call.session)"),
            ("digest(call.session) if call.session else None", "call.session or None"),
            ("call.folder if call.named else call.guard", "call.folder"),
            ("> LOG_LIMIT", ">= LOG_LIMIT"),
            (" + len(data)", ""),
            ('posix.rename(path, path + ".1")', "posix.unlink(path)"),
            ("posix.O_APPEND", "posix.O_TRUNC"),
        ],
    ),
    "main": Part(
        "hook_rules keepalive private_and_bounded",
        "unknown_events never_ends subagents spoilt counted registrations events_without E5 E3",
        [
            ('flag != "--host" or ', ""),
            (" or host not in HOSTS", ""),
            ('"subagent-stop", ', ""),
            (
                '"stop", "subagent-stop", "prompt", "pre-tool", "post-tool"):',
                '"stop", "subagent-stop", "prompt", "pre-tool", "post-tool", event):',
            ),
            (", Expired", ""),
            ("(Exception, Expired)", "Expired"),
            ("        if line:\n            log", "        if True:\n            log"),
            ("        if line:\n            leave_breadcrumb(call, code)\n", ""),
        ],
    ),
    "": Part(
        "dead_man hook_fallbacks hook_rules dispatch",
        "debug bytes absurd cannot_say closed unknown_events same_arguments state_folder",
        [
            ("except BaseException as error:", "except ValueError as error:"),
            ('if env("HOOKCTL_DEBUG") == "1":', "if True:"),
            ("posix._exit(0)", "posix._exit(1)"),
            ('":", ",", True, False, True)', '":", ",", False, False, True)'),
            ('":", ",", True, False, True)', '":", ",", True, False, False)'),
            ('":", ",", True, False, True)', '": ", ",", True, False, True)'),
            ("json.JSONDecoder(parse_int=number).scan_once", "json.JSONDecoder().scan_once"),
            (", sort_keys=True)", ")"),
            (', separators=(",", ":")', ""),
            ("    parse_int = number", "    parse_int = int"),
            ("parse_float = parse_constant = float", "parse_float = float"),
        ],
    ),
    "COUNTERS": Part(
        "dead_man",
        "credit",
        [
            ('"blocks", ', ""),
            ('"attempts", ', ""),
            ('"total", ', ""),
            ('"nudges", ', ""),
            ('"soft", ', ""),
            ('"streak", ', ""),
            ('"host", ', ""),
            (', "acts"', ""),
        ],
    ),
    "LATEST": Part(
        "keepalive hook_limits",
        "arm",
        [
            ("2.5e11", "3e11"),
            ("2.5e11", "1e9"),
        ],
    ),
}


class Mutation(NamedTuple):
    name: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.name}: {self.old!r} -> {self.new!r}"


def region(text: str, name: str) -> tuple[int, int]:
    """Where a function or a table stands in the hook's text; the empty name is all of it."""
    if not name:
        return 0, len(text)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if getattr(node, "name", "") == name or any(isinstance(one, ast.Name) and one.id == name for one in targets):
            assert node.end_lineno
            return starts[node.lineno - 1], starts[node.end_lineno]
    raise AssertionError(f"not in the hook: {name}")


def mutant(mutation: Mutation) -> str:
    """The hook's text with one place broken."""
    text = HOOK.read_text("utf-8")
    start, end = region(text, mutation.name)
    assert text.count(mutation.old, start, end) == 1, f"{text.count(mutation.old, start, end)} times there: {mutation}"
    broken = text[:start] + text[start:end].replace(mutation.old, mutation.new) + text[end:]
    ast.parse(broken)
    return broken


def pytest_collection_modifyitems(items: list) -> None:
    """As a plugin of the runs below: what noticed it last time comes first, then the tests that look there."""
    last, *words = os.environ["HOOKCTL_FIRST_TESTS"].split("\n")
    items.sort(
        key=lambda item: (item.nodeid != last, not any(word in item.nodeid.partition("::")[2] for word in words))
    )


def first_failure(text: str, part: Part, last: str) -> str:
    """The first test that fails with this hook, or nothing."""
    files = [f"tests/templates/test_{name}.py" for name in part.files.split()]
    with tempfile.TemporaryDirectory() as folder:
        hook = Path(folder) / "hook.py"
        hook.write_text(text, "utf-8")
        first = "\n".join([last, *part.first.split()])
        environment = {**os.environ, "HOOKCTL_HOOK_UNDER_TEST": str(hook), "HOOKCTL_FIRST_TESTS": first}
        command = [sys.executable, "-m", "pytest", "-xq", "-rfE", "--tb=no", "-p", "tests.mutate_hook"]
        command += ["--basetemp", str(Path(folder) / "tests")]
        command += ["-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:hypothesispytest", *files]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return "the clock"
    output = done.stdout.decode()
    found = re.search(r"^(?:FAILED|ERROR) (.*?)(?: - .*)?$", output, re.MULTILINE)
    assert done.returncode == (1 if found else 0), output + done.stderr.decode()
    return found[1] if found else ""


def main(words: list[str]) -> None:
    verbose, words = "-v" in words, [word for word in words if word != "-v"]
    every = [Mutation(name, *pair) for name, part in MUTATIONS.items() for pair in part.mutations]
    chosen = [one for one in every if not words or any(word in str(one) for word in words)]
    texts = [mutant(one) for one in chosen]
    files = dict.fromkeys(file for one in chosen for file in MUTATIONS[one.name].files.split())
    broken = first_failure(HOOK.read_text("utf-8"), Part(" ".join(files), "", []), "")
    assert not broken, f"with the hook as it is: {broken}"
    known = json.loads(NOTICED.read_text("utf-8")) if NOTICED.exists() else {}
    caught = 0
    with ThreadPoolExecutor(AT_ONCE) as pool:
        parts, last = [MUTATIONS[one.name] for one in chosen], [known.get(str(one), "") for one in chosen]
        failures = pool.map(first_failure, texts, parts, last)
        for mutation, failure in zip(chosen, failures, strict=True):
            caught += bool(failure)
            known[str(mutation)] = failure
            if verbose or not failure:
                print(f"noticed by {failure}" if failure else "SURVIVED", mutation, sep="  ", flush=True)
    NOTICED.parent.mkdir(exist_ok=True)
    NOTICED.write_text(json.dumps(known, indent=0), "utf-8")
    print(f"{caught} of {len(chosen)} mutations are noticed")


if __name__ == "__main__":
    main(sys.argv[1:])
