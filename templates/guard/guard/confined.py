"""What a project's own configuration may name: nothing outside the project.

A config.json in a project's .hookctl comes with the repository, so a stranger may have written it.
hookctl reads such a file with this module, too.
"""

MARK = "/.hookctl/guard/"
PERSONAL = ("-user", "-local")  # behind the host in a folder's name, if a data folder is so called
# Not the project's content: git's hooks and credentials, and what hookctl keeps for itself.
GIT = "/.git/"
OWN = ("/.hookctl/guard/", "/.hookctl/packs/", "/.hookctl/runtime/", "/.hookctl/ledger.json/")
# The presets' own variables; all others stay unseen, whatever a repository asks for.
SHOWABLE = ("HERMES_KANBAN_TASK",)


def project_of(folder):
    """The project that brought a launcher's folder; empty if it was installed for a person."""
    project, mark, name = folder.rpartition(MARK)
    is_personal = any(scope in name for scope in PERSONAL)
    return (project or "/") if mark and not is_personal else ""


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
    """No such setting: hookctl itself decides it."""
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
