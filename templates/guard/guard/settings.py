"""The guard's settings: a variable wins over config.json, and that over the default.

Where the guard is locked, no variable counts. A config.json in a project's .hookctl comes with the
repository, so a stranger may have written it: it may name nothing outside the project. Unreadable
values are ignored. A new setting also needs an entry in guard-config.schema.json, and
docs/development.md lists the other steps.
"""

from .files import env, is_true, whole_number

DEFAULTS = {
    "mode": "breaker",
    "max_stop_blocks": 5,
    "limit_env": "",  # the variable with a limit above 0 that wins over max_stop_blocks
    "keepalive_cap": 5000,
    "ceiling": 200,  # blocks of all hooks since the last human prompt, whatever progress there is
    "count": "blocks",
    "chain_reset": "progress",
    "latch": True,
    "honor_stop_hook_active": False,
    "progress": ["heartbeat", "remaining", "action"],
    "action_novelty": True,
    "max_soft_resets": 20,
    "end_foreign_chains": True,
    "owner": "",
    "claim": True,
    "work_hours": 12,
    "require_arm": False,
    "child_env": ["HOOKCTL_CHILD"],
    "yield_on_background": True,
    "run_dir": ".hookctl/run",
    "task_file": "",  # several, split by ":": the first that is there
    "task_env": "",  # the variable that names the task file, if it is set
    "task_fields": [],  # "our name=name in the task file"
    "required_tools": [],
    "required_scope_env": "",
    "max_nudges": 1,
    "dispatch_tools": [],
    "dispatch_max": 30,
    "dispatch_window_s": 300,
    "dispatch_scope": "project",
    "dispatch_max_keys": 1024,
    "dispatch_end": 0,
    "reason": "",  # of a block; empty: the mode's own words
    "release_reason": "",
    "nudge_reason": "Before you finish{scope}, call {tools}. Then stop.",
    "dispatch_reason": "This exact call was already made too many times in a short period. "
    "It was not run. Change the request or finish.",
    "guidance": False,
    "guidance_text": "",  # empty: the mode's own words
    "show_env": [],  # the variables that texts may show; only config.json says so
    "lock_ms": 500,
    "state_dir": "",
    "locked": False,  # counts only in a config.json that the caller may not change
}
# Settings that hold one, or some, of a few words.
WORDS = {
    "mode": ("breaker", "keepalive", "guard", "off"),
    "count": ("blocks", "attempts"),
    "chain_reset": ("progress", "fresh"),
    "progress": ("heartbeat", "remaining", "action"),
    "dispatch_scope": ("project", "session"),
}
OF_THE_FILE = ("show_env",)  # settings that no variable gives: a project's .env reaches some hooks
HIGHEST_CEILING = 5000  # also that of an armed keepalive run
VARIABLES = {"max_stop_blocks": "MAX_STOP_BLOCKS"}  # all others: HOOKCTL_ and the name in capitals

OWN_FOLDER = "/.hookctl"  # in a project; it has the launcher there
# Not the project's content: git's hooks and credentials, and hookctl's own files.
GIT = "/.git/"
OWN = (
    "/.hookctl/hook.py/",
    "/.hookctl/guard/",
    "/.hookctl/packs/",
    "/.hookctl/runtime/",
    "/.hookctl/ledger.json/",
)
# The presets' own variables; all others stay unseen, whatever a repository asks for.
SHOWABLE = ("HERMES_KANBAN_TASK",)


class Settings:
    """Every setting under its name; `env` gives the value of a variable, empty if it is not set."""

    def __init__(self, config, locked=False, env=env):
        for name, default in DEFAULTS.items():
            setattr(self, name, read_setting(name, default, config, None if locked else env))
        self.locked = locked
        self.ceiling = min(max(self.ceiling, 1), HIGHEST_CEILING)
        limit = whole_number(env(self.limit_env)) if self.limit_env and not locked else None
        if limit is not None and limit > 0:
            self.max_stop_blocks = limit


def read_setting(name, default, config, env=env):
    """The value of a setting, else its default."""
    value = find_setting(name, default, config, env)
    return default if value is None else value


def find_setting(name, default, config, env=env):
    """The first valid value of a setting's variable and of config.json; None if there is none."""
    text = ""
    if env and name not in OF_THE_FILE:
        text = env(VARIABLES.get(name) or "HOOKCTL_" + name.upper())
    for value in (parse_text(type(default), text), config.get(name)):
        if fits(name, value, default):
            return value
    return None


def parse_text(kind, text):
    """The value of a variable's text, in the type of its setting; None if it is not valid."""
    if kind is int:
        return whole_number(text)
    if kind is list:
        return [word.strip() for word in text.split(",")]
    if kind is bool and is_true(text):
        return True
    if kind is bool:
        return False if text.strip().lower() in ("0", "false", "no", "off") else None
    return text.strip()


def fits(name, value, default):
    """Has a value its setting's type, is it not blank, and one of the allowed words, if any?"""
    if type(value) is not type(default):
        return False
    parts = value if type(value) is list else [value]
    for part in parts:
        if type(value) is list and type(part) is not str:
            return False
        if type(part) is str and not part.strip():
            return False
        if name in WORDS and part not in WORDS[name]:
            return False
    return bool(parts)


def project_of(folder):
    """The project that brought a launcher's folder; empty if it was installed for a person."""
    return folder[: -len(OWN_FOLDER)] or "/" if folder.endswith(OWN_FOLDER) else ""


def confine(config, project, env):
    """The project's configuration without what leads out of the project.

    `env` gives the value of a variable, empty if it is not set.
    """
    kept = {}
    for name in config:
        keep = RULES.get(name)
        value = keep(config[name], project, env) if keep else config[name]
        if value is not None:
            kept[name] = value
    return kept


def leave_out(value, project, env):
    """Drop the setting: hookctl itself decides it."""
    return None


def keep_path(value, project, env):
    """A path inside the project."""
    path = value.strip() if type(value) is str else ""
    return path if is_inside(project, path) else None


def keep_paths(value, project, env):
    """Those paths of a list with colons that are inside the project."""
    paths = value.split(":") if type(value) is str else []
    inside = []
    for path in paths:
        if is_inside(project, path.strip()):
            inside.append(path.strip())
    return ":".join(inside) or None


def keep_variable_of_path(value, project, env):
    """A variable, unless the path in it leads out of the project."""
    path = env(value).strip() if type(value) is str else ""
    return value if path == "" or is_inside(project, path) else None


def keep_showable(value, project, env):
    """Those variables that every project may show."""
    names = value if type(value) is list else []
    return [name for name in names if name in SHOWABLE] or None


def keep(value, project, env):
    """The setting as it is: nothing that it names is shown or written."""
    return value


# Every setting that names a path, a variable, a field or a session, and how it is confined.
RULES = {
    "run_dir": keep_path,
    "task_file": keep_paths,
    "task_env": keep_variable_of_path,
    "show_env": keep_showable,
    "state_dir": leave_out,
    "task_fields": keep,  # the hook shows a number at most, and so does hookctl
    "limit_env": keep,  # read as a number
    "child_env": keep,  # true or not
    "required_scope_env": keep,  # blank or not; shown only as `show_env` allows
    "owner": keep,  # compared
}

PATHS = ("run_dir", "task_file")  # their variables name a path too


def is_inside(project, path):
    """Does a path, its links resolved, lead to the project's content, not to git's or ours?"""
    from posixpath import join, realpath  # late: only a project that names a path needs it

    try:
        root, real = realpath(project).rstrip("/"), realpath(join(project, path)) + "/"
    except (OSError, ValueError):
        return False
    start = root + "/" if root else "/.hookctl/"  # everything lies below /
    if not path or not real.startswith(start):
        return False
    below = real[len(root) :].lower()
    return GIT not in below and not below.startswith(OWN)
