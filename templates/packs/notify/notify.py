"""Says on the desktop and at the terminal that an agent has stopped, waits, or was ended."""

import hashlib
import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

PAUSE_S = 2  # hosts run hooks side by side: by then the guard has decided, and a twin has come
TEXTS = {"end": "was ended by the guard", "release": "was let go by the guard; work remains"}
SCRIPT = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run"


def read(path):
    return path.read_text(errors="replace") if path.is_file() else ""


asked, now = json.loads(sys.stdin.buffer.read().decode("utf-8", "replace")), time.time()
config = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "hookctl/notify")
first, last = map(int, (read(config).strip() or "0-0").split("-"))  # quiet hours, such as 22-7
is_quiet = (time.localtime(now).tm_hour - first) % 24 < (last - first) % 24
if is_quiet or os.environ.get("HOOKCTL_FIRED"):
    sys.exit()  # a person sleeps, or only tries the hook
table = json.loads(read(Path(__file__).absolute().parents[2] / "runtime/hosts.json") or "{}")
usual = "Library/Application Support" if sys.platform == "darwin" else ".local/state"
usual = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / usual, "hookctl")
state = Path(os.environ.get("HOOKCTL_STATE_DIR") or table.get("state_dir") or usual)  # the guard's
event, id = asked["hook_event_name"], str(asked.get("session_id")).encode("utf-8", "replace")
session, terminal = hashlib.sha256(id).hexdigest()[:16], -1  # as the guard's log has it
path, mine = state / "notify" / session[:3], f"{event} {now} {os.getpid()}"  # a bounded number
os.umask(0o077)
path.parent.mkdir(parents=True, exist_ok=True)
said = read(path).split()
path.write_text(mine)
with suppress(OSError):  # a hook may have no terminal
    terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
if os.fork():
    sys.exit()
os.setsid()  # the agent neither waits for it nor ends it
for number in range(3):
    os.dup2(os.open(os.devnull, os.O_RDWR), number)
time.sleep(PAUSE_S)
text, kind = str(asked.get("message") or "waits for an answer"), asked.get("notification_type")
is_idle = said[:1] == ["Stop"] and ("idle" in str(kind) or "waiting for your input" in text)
since = float(said[1]) + PAUSE_S if is_idle else now - PAUSE_S
logs = [log for log in state.glob("guard/*/events.jsonl") if log.stat().st_mtime >= since]
lines = [json.loads(line) for log in logs for line in read(log).splitlines() if session in line]
decision = ([line["decision"] for line in lines if line["t"] >= since] or [""])[-1]
if event == "Stop":
    text = "" if decision in ("block", "counted") else TEXTS.get(decision, "has stopped")
elif is_idle:  # the stop was said; but dispatch may have ended a turn since
    text = TEXTS["end"] if decision == "end" else ""
if text and read(path) == mine:  # else the agent goes on, or a later hook says it
    title = f"{os.environ.get('HOOKCTL_HOST')} in {os.path.basename(asked.get('cwd') or '')}"
    # Nothing that a terminal or a desktop takes for more than text, and no more than a line.
    safe = [[c if c.isprintable() and c not in "<>&" else " " for c in s] for s in (title, text)]
    title, text = ("".join(letters[:100]) for letters in safe)
    with suppress(OSError):
        os.write(terminal, f"\a\r\n{title}: {text}\r\n".encode())
    for words in ["notify-send", "--"], ["osascript", "-e", SCRIPT]:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run([*words, title, text], timeout=20)
