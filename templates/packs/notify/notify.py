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
session = hashlib.sha256(id).hexdigest()[:16]  # as the guard's log has it
text, kind = str(asked.get("message") or "waits for an answer"), asked.get("notification_type")
os.umask(0o077)
path = state / "notify" / session[:3]  # a bounded number
path.parent.mkdir(parents=True, exist_ok=True)
before = read(path)
is_idle = before[:4] == "Stop" and ("idle" in str(kind) or "waiting for your input" in text)
mine = f"{'Stop' if is_idle else event} {now} {os.getpid()}"
expected = before if is_idle else mine  # which was said when it stopped
path.write_text(expected)
if os.fork():
    sys.exit()  # the agent does not wait
for number in range(3):
    os.dup2(os.open(os.devnull, os.O_RDWR), number)
time.sleep(PAUSE_S)
since = float(before.split()[1]) + PAUSE_S if is_idle else now - PAUSE_S
logs = [log for log in state.glob("guard/*/events.jsonl") if log.stat().st_mtime >= since]
lines = [json.loads(line) for log in logs for line in read(log).splitlines() if session in line]
decision = ([line["decision"] for line in lines if line["t"] >= since] or [""])[-1]
if event == "Stop":
    text = "" if decision in ("block", "counted") else TEXTS.get(decision, "has stopped")
elif is_idle:  # only dispatch may have ended another turn since
    text = TEXTS["end"] if decision == "end" else ""
if text and read(path) == expected:  # else the agent goes on, or a later hook says it
    path.write_text(mine)
    title = f"{os.environ.get('HOOKCTL_HOST', 'agent')} in {Path(asked.get('cwd') or '').name}"
    safe = [[c if c.isprintable() and c not in "<>&" else " " for c in s] for s in (title, text)]
    title, text = ("".join(letters[:100]) for letters in safe)
    for words in ["notify-send", "--"], ["osascript", "-e", SCRIPT]:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run([*words, title, text], timeout=20)
    with suppress(OSError):  # a hook may have no terminal
        terminal = os.open("/dev/tty", os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        os.write(terminal, f"\a\r\n{title}: {text}\r\n".encode())
