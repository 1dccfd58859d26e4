"""The work in hand: what the task file says, who holds it, and whether it is stale.

It belongs to the session that OWNER names, or to the first one that would be blocked. That claim is
the file `taken` in the project's state folder; `hookctl run` writes it too. Its fields: `session`
(a hash) holds the work since `t`, in `process`, which has other sessions too if it is `shared`;
`owner` is the hash of the OWNER at that time ("": none); `fixed`: a person named the owner, so no
other session gets the work; `declined`: sessions that gave the work back.
"""

import posix

from .files import (
    digest,
    dump,
    env,
    exists,
    first_text,
    read_file,
    read_line,
    read_object,
    save_object,
    whole_number,
)
from .state import lock_claim, read_session

DAY_S = 86400
LONELY_S = 1800  # a session without a known process counts as gone so long after its last event
CLAIM = "/taken"
CRUMB = "/RESPAWN_REQUESTED"  # lies there while the guard keeps an agent going
STAT_LIMIT = 1024
LATEST = 2.5e11  # seconds; no time is later


def list_tasks(settings, env=env):
    """Where another system may keep its task file, and the names of the fields in it.

    A variable names the file, or it is one of `task_file`. Without both there is none.
    """
    named = "" if settings.locked or not settings.task_env else env(settings.task_env).strip()
    if not named and not settings.task_file:
        return [], {}
    names = dict(pair.split("=", 1) for pair in settings.task_fields if "=" in pair)
    return [named] if named else settings.task_file.split(":"), names


def find_task(settings, env=env, exists=exists):
    """The path of the task file, and the names of its fields where another system writes it.

    Where the other system has none, ours in the run folder counts.
    """
    paths, names = list_tasks(settings, env)
    for path in paths:
        if exists(path):
            return path, names
    own = settings.run_dir + "/task.json"
    return (own, {}) if names or not paths else (paths[-1], names)


def read_task(call):
    """The heartbeat as a hash ("": none), and how much work remains (-1: unknown).

    Sets `call.task_owner` too: the task may name its owner, where a setting says in which field.
    """
    try:
        task = read_object(call.task_path)
    except (OSError, ValueError):
        task = {}
    names = call.task_names
    call.task_owner = first_text(task, names.get("owner", ""))
    heartbeat = task.get(names.get("heartbeat", "heartbeat"))
    remaining = task.get(names.get("remaining", "remaining"))
    if type(remaining) is str:
        remaining = whole_number(remaining)
    if type(remaining) is not int:
        remaining = -1
    return "" if heartbeat is None else digest(dump(heartbeat)), remaining


def reason_to_allow(call, remaining):
    """Why the agent may stop whatever remains, or None."""
    wants_block = call.keepalive or (call.settings.mode == "breaker" and remaining > 0)
    call.holder = Holder(call) if wants_block else None
    is_of_another = call.holder.is_other(call) if call.holder else is_bystander(call)
    if is_of_another:
        return "not_owner"
    if (call.keepalive or call.settings.require_arm) and not is_armed(call):
        return "inactive"
    if exists(call.settings.run_dir + "/STOP"):
        return "stop"
    if wants_block and not call.keepalive and is_stale(call) and not is_armed(call):
        return "stale"
    return None


def read_end(call):
    """When the run of this project ends (`hookctl run start`); None if nothing says so."""
    text = read_line(call.project_folder + "/ACTIVE")
    try:
        end = float(text)
    except ValueError:
        return None
    return end if 0 <= end < LATEST and text.isascii() and "_" not in text else None


def is_armed(call):
    """Is a run of this project active, and its time not over?"""
    end = read_end(call)
    return end is not None and call.now < end


def is_concluded(call):
    """Has a person asked to conclude the work?"""
    return exists(call.settings.run_dir + "/CONCLUDE")


class Holder:
    """Who holds the work: this session, another one or none; and the claim as it was read."""

    def __init__(self, call):
        owner = read_owner(call)
        self.owner, self.me = owner and digest(owner), digest(call.session)
        self.claim = read_claim(call)
        self.declined = self.claim.get("declined")
        if type(self.declined) is not list:
            self.declined = []
        is_claim_off = not (owner or call.settings.claim)
        # The claim may have been for another OWNER.
        if is_claim_off or first_text(self.claim, "owner") != self.owner:
            self.claim = {"session": self.owner, "fixed": True} if owner else {}
        self.session = first_text(self.claim, "session")
        self.process = first_text(self.claim, "process")
        self.fixed = self.claim.get("fixed") is True

    def is_self(self, call):
        """Does this session hold the work, or one before it in the same process?"""
        if self.session == self.me:
            return True
        if self.fixed or not self.process:
            return False
        return self.process == find_process(call)

    def is_other(self, call):
        """Does another session hold the work, or has this one declined it?"""
        if self.is_self(call):
            return False
        return not self.is_free(call) or self.me in self.declined

    def is_free(self, call):
        """Is the work held by no session, or by one that is gone?"""
        if not self.session or self.fixed:
            return not self.session
        return has_left(call, self.process, self.last_event(call, "t"))

    def claimed_at(self):
        """Since when the session holds the work; 0 where nothing says so."""
        return self.claim["t"] if type(self.claim.get("t")) is int else 0

    def last_event(self, call, name):
        """When the holder was last seen: at any event (`t`), or at its work (`work`)."""
        state = read_session(call.folder, self.session)
        return max(getattr(state, name), self.claimed_at())


def has_left(call, process, seen):
    """Is a session gone: its process, or where that does not tell, its events?"""
    gone = is_gone(process)
    if gone is None:
        idle = call.now - seen
        return idle > LONELY_S or idle < -DAY_S  # a time far ahead is no event that has been
    return gone


def word_crumb(call):
    """What the breadcrumb says: when the guard blocked which session, and in which process."""
    return " ".join((str(int(call.now)), digest(call.session), find_process(call))) + "\n"


def was_cut_off(call):
    """Has the agent that left the breadcrumb ended: another session's, or this one's?"""
    if not exists(call.project_folder + CRUMB):
        return False
    words = read_line(call.project_folder + CRUMB).split(" ")
    session = "".join(words[1:2])
    if session == digest(call.session):
        return True
    seen = read_session(call.folder, session).t
    return has_left(call, " ".join(words[2:5]), seen)


def read_owner(call):
    """The session that OWNER or the setting names; empty if there is none."""
    named = read_line(call.settings.run_dir + "/OWNER") or call.task_owner
    return named or call.settings.owner.strip()


def is_bystander(call):
    """Is another session named as the owner?"""
    return read_owner(call) not in ("", call.session)


def read_claim(call):
    """The claim of the project; empty if there is none."""
    try:
        return read_object(call.project_folder + CLAIM)
    except (OSError, ValueError):
        return {}


def is_stale(call):
    """Is the work untouched for `work_hours`? A time in the future counts as now."""
    span = call.settings.work_hours * 3600
    if span <= 0:
        return False
    try:
        if call.now - posix.stat(call.task_path).st_mtime < span:
            return False
    except OSError:
        return False
    return not call.holder.session or call.now - call.holder.last_event(call, "work") >= span


def touch_work(call, state):
    """Note that the owner is at its work; work that has grown old stays so."""
    if state.work and call.now - state.work < call.settings.work_hours * 3600:
        state.work = int(call.now)


def take_work(call):
    """Make sure that this session holds the work: "" if so, else the code of the decision."""
    if not call.settings.claim:
        return ""
    holder = call.holder
    if holder.fixed or (holder.session == holder.me and not has_moved(call, holder)):
        return ""
    lock_claim(call)
    holder = Holder(call)  # another session may have been faster
    if holder.is_other(call):
        return "not_owner"
    claim = {
        "session": holder.me,
        "owner": holder.owner,
        "process": find_process(call) or (holder.process if holder.session == holder.me else ""),
        "host": call.host_name,
        "t": int(call.now),
        "declined": holder.declined,
    }
    try:
        save_object(call.project_folder + CLAIM, claim)
    except OSError as error:
        call.failure = error
        return "state_error"
    return ""


def has_moved(call, holder):
    """Does the session that holds the work run in another process now?"""
    process = find_process(call)
    return bool(process) and process != holder.process


def find_process(call):
    """The agent's process, as "pid start machine"; empty where none is known."""
    if call.process is None:
        told_by = call.host.process
        pid = env(told_by) if told_by else ""
        call.process = describe_process(pid) if pid.isdigit() else ""
    return call.process


def read_status(pid):
    """The fields of /proc/PID/stat behind the name: state, parent, ...; [] if it is gone."""
    try:
        data = read_file("/proc/" + pid + "/stat", STAT_LIMIT)
    except (OSError, ValueError):
        return []
    return data.rpartition(b")")[2].decode("ascii", "replace").split()


def describe_process(pid):
    """A process as "pid start machine"; empty if it cannot be looked at."""
    fields, machine = read_status(pid) if pid else [], name_machine()
    return " ".join((pid, fields[19], machine)) if len(fields) > 19 and machine else ""


def name_machine():
    """The boot and the space of process ids that we are in; empty without /proc."""
    try:
        space = posix.readlink("/proc/self/ns/pid").strip("pid:[]")
    except OSError:
        return ""
    return read_line("/proc/sys/kernel/random/boot_id")[:8] + ":" + space


def is_gone(process):
    """Has a process ended? None where that cannot be seen."""
    pid, _, rest = process.partition(" ")
    start, _, machine = rest.partition(" ")
    if not machine or machine != name_machine():
        return None
    fields = read_status(pid)
    return len(fields) < 20 or fields[19] != start or fields[0] in ("Z", "X")
