"""Every code that a finding of doctor can have: its levels, what it means and what to do.

`python -m tests.page_of_codes` writes the table of docs/doctor.md from this one.
"""

from __future__ import annotations

from hookctl.values import NamedTuple


class Code(NamedTuple):
    """A code as docs/doctor.md explains it."""

    name: str
    levels: tuple[str, ...]  # error | warning | info; the usual one first
    means: str
    what_to_do: str  # empty where nothing has to be done


class Finding(NamedTuple):
    """One thing that doctor found."""

    code: str
    level: str  # error | warning | info
    message: str
    host: str = ""
    path: str = ""
    fix: str = ""


# fmt: off
TABLE = (
    Code(
        "unparsable", ("error", "warning"),
        "the settings file is not valid JSON, TOML or YAML (torn, merge-conflict marks, a "
        "missing comma); the host ignores it as a whole, or does not start",
        "fix it at the line named, or use the `hookctl restore` command that the fix names",
    ),
    Code(
        "not_utf8", ("error", "warning"),
        "the settings file is UTF-16, Latin-1 or the like",
        "save it as UTF-8",
    ),
    Code(
        "unsupported_yaml", ("error",),
        "hookctl's part of a YAML file goes through an alias, a shared anchor or a merge, "
        "so an edit would change other parts too; or its aliases make a value endless or huge",
        "write that part out",
    ),
    Code(
        "extra_missing", ("error",),
        "the settings are YAML, and hookctl was installed without its YAML reader",
        "run the command that the finding names",
    ),
    Code(
        "foreign_file", ("error", "warning"),
        "another program's file is where hookctl's OpenCode plugin belongs, or the plugin's "
        "code was edited",
        "move the file away, then install again",
    ),
    Code(
        "unreadable", ("error", "warning"),
        "the settings file or one of hookctl's own files is not readable or not a regular "
        "file",
        "give yourself read access, or remove it",
    ),
    Code(
        "wrong_shape", ("error",),
        'something that must be an object or an array is something else, such as `"hooks": '
        '[]`',
        "change it to the type named",
    ),
    Code(
        "duplicate_key", ("error",),
        "a key that hookctl needs is there twice; the host uses only the last one",
        "remove one of the two",
    ),
    Code(
        "strict_host", ("error", "warning"),
        "the file has a comment, a trailing comma or a byte order mark, or is empty, and "
        "the host does not read it because of that; or a comment has an odd blank, or ends "
        "with a lone carriage return, and Gemini CLI or Qwen Code does not start",
        "remove it",
    ),
    Code(
        "wrong_key", ("error",),
        "the file has a key at its root that the host refuses, or lacks one that it needs "
        "(`version` on Cursor), so the host loads no hook of the file",
        "remove or set that key",
    ),
    Code(
        "wrong_type", ("error", "warning"),
        "a known key has a wrong type or an unknown word, so the host ignores the whole "
        "file (in managed settings: that key)",
        "fix or remove that key; `claude doctor` checks the result",
    ),
    Code(
        "invalid_hook", ("error", "warning"),
        "an entry cannot be loaded, so the host ignores the whole file: under `PreToolUse` "
        "or `PermissionRequest` on Claude Code, under any event on Codex and Droid",
        "fix or remove that entry",
    ),
    Code(
        "lost_hook", ("warning",),
        "an entry, group or event cannot be loaded, or stands where the host does not look "
        "(below `hooks` in Droid's `hooks.json`); the host drops only that",
        "fix, move or remove it",
    ),
    Code(
        "unknown_event", ("error", "warning"),
        "the host does not have this event, so its hooks never run; OpenHands does not "
        "start with it",
        "fix the name; it is case-sensitive",
    ),
    Code(
        "timeout_unit", ("warning", "info"),
        "a timeout looks wrong in the host's unit: seconds where Gemini CLI reads "
        "milliseconds, 1000 or more on Qwen Code (info)",
        "write it in the host's unit",
    ),
    Code(
        "lost_env", ("warning",),
        "an `env` name is not a valid variable name; the host drops it",
        "fix the name",
    ),
    Code(
        "read_only", ("error",),
        "the settings file is read-only, so hookctl cannot change it",
        "make it writable, or change it where it is generated",
    ),
    Code(
        "link_chain", ("info",),
        "the settings file is a link to a link; some versions of the client replace the "
        "second link",
        "link it to the file directly",
    ),
    Code(
        "loose_mode", ("error",),
        "other users can write the settings, a hook, hookctl's folders or one above them, or "
        "own them: they could run commands as you",
        "the `chmod` or `chown` command that the fix names",
    ),
    Code(
        "hooks_disabled", ("error", "warning"),
        "a switch of the host is off (`disableAllHooks`, `hooksConfig.enabled`, "
        "`hooks.hooksDisabled`, `features.hooks`), so no hook runs; a warning where another "
        "scope switches hooks on again for this folder",
        "remove it",
    ),
    Code(
        "hook_disabled", ("error",),
        "the host has the guard's own hook disabled, by its name or its position",
        "remove it from that list",
    ),
    Code(
        "not_approved", ("error", "info"),
        "the host runs a hook only after it is approved, and this one is not approved or "
        "was changed since; info where hookctl cannot tell (Copilot CLI)",
        "approve it, as the fix says",
    ),
    Code(
        "not_trusted", ("warning", "info"),
        "the host runs hooks only in trusted folders, and this folder is not trusted; info "
        "for a guard at user scope, which may be used elsewhere",
        "start the agent there and trust the folder",
    ),
    Code(
        "shadowed", ("error", "warning", "info"),
        "the host takes the guard's events from another file: a `hooks.json` beside Droid's "
        "settings (error), a project's own file on OpenHands (warning); info where that "
        "file has the guard too",
        "install the guard there",
    ),
    Code(
        "two_forms", ("warning",),
        "hooks are registered in `hooks.json` and in `config.toml`; Codex reads both, and "
        "warns at every start",
        "keep them in one",
    ),
    Code(
        "managed_only", ("error",),
        "managed settings allow only managed hooks",
        "ask whoever manages the machine",
    ),
    Code(
        "managed_only_ignored", ("info",),
        "`allowManagedHooksOnly` has no effect outside managed settings",
        "remove it",
    ),
    Code(
        "managed_invalid", ("error",),
        "a managed settings file is not valid JSON, so the client does not start",
        "ask whoever manages the machine",
    ),
    Code(
        "not_read", ("warning", "info"),
        "a hook of hookctl, or another Stop hook, is in a file that the host does not read "
        "when it starts in this folder: in a folder above or below, in the user's "
        "`settings.local.json`, or in another settings folder than `CLAUDE_CONFIG_DIR` "
        "names. A warning where no other file runs the guard",
        "start the agent where the file is",
    ),
    Code(
        "also_read", ("info",),
        "another agent on this machine reads the same file and runs the hook too",
        "do not install the guard for both",
    ),
    Code(
        "registered_twice", ("info",),
        "another agent reads this file, and has the guard in a file of its own as well. "
        "Both run at every stop, which is counted once",
        "nothing: it does no harm",
    ),
    Code(
        "two_scopes", ("info",),
        "the guard is registered in several scopes. All of them run, and a stop is counted "
        "once; some hosts run identical commands once",
        "uninstall it from the scopes where you do not want it",
    ),
    Code(
        "two_versions", ("warning",),
        "two of them have different versions; the first answer decides",
        "install all of them with the same hookctl",
    ),
    Code(
        "entries_wiped", ("error",),
        "everything that hookctl wrote is gone: the file was reset, or a clone lacks the "
        "settings",
        "`--fix`; restart running agents, since they may write old settings back",
    ),
    Code(
        "entry_missing", ("warning", "error"),
        "one entry was removed; hookctl takes that as your decision. An error at project scope, "
        "where the committed record speaks for the team",
        "leave it, or `hookctl install --host claude --force`",
    ),
    Code(
        "entry_edited", ("warning", "info", "error"),
        "an entry was changed; the change is yours and stays; a warning where it is the command "
        "of a hook, at project scope an error. Not reported for a cap that has a finding of its "
        "own",
        "leave it, or `hookctl install --host claude --force`",
    ),
    Code(
        "matcher_misses", ("warning",),
        "a pack's hook has a matcher with names of other hosts' tools only, or misspelt ones",
        "use this host's names: in the pack, a `[[host.HOST.hooks]]` with the same id",
    ),
    Code(
        "entry_disarmed", ("warning", "error"),
        "a hook of hookctl was edited so that the host drops it, never runs it, or does not "
        "wait for it (`async`, `if`, `args`, `shell`, a timeout below 2 s, another event); an "
        "error at project scope",
        "`hookctl install --host claude --force`",
    ),
    Code(
        "entry_doubled", ("error",),
        "a hook of hookctl is registered more than once in one file, and runs that often",
        "`--fix`; remove edited copies by hand",
    ),
    Code(
        "rules_missing", ("warning", "error"),
        "a block of rules was removed from the file with instructions for the agent; an error at "
        "project scope, where the committed record speaks for the team",
        "leave it, or install with `--rules`, for a pack with `--force`",
    ),
    Code(
        "rules_edited", ("info",),
        "a block of rules was edited; the text is yours and stays",
        "nothing; `--force` puts hookctl's text in its place",
    ),
    Code(
        "rules_doubled", ("warning",),
        "a block of rules is there more than once, or one of its marker lines is missing; hookctl "
        "changes nothing in it",
        "leave one block with both marker lines, or none",
    ),
    Code(
        "rules_unreadable", ("warning",),
        "the file with a block of rules cannot be read, or is not UTF-8",
        "fix the file",
    ),
    Code(
        "command_unknown", ("error",),
        "at project scope: a hook with the guard's name has a command that no hookctl writes, "
        "whatever the committed record says of it",
        "look at it, then `hookctl install --host claude --scope project --force`",
    ),
    Code(
        "edited_copy", ("warning",),
        "a hook has hookctl's mark and a changed command, and hookctl has no record of it",
        "leave it, or `hookctl install --host claude --force`",
    ),
    Code(
        "orphan_hook", ("warning",),
        "hookctl has no record of a pack's hook",
        "install the pack from its file",
    ),
    Code(
        "ledger_missing", ("error",),
        "hookctl has no record of its own hook; in a clone, `.hookctl/` was not committed",
        "`--fix` records it again",
    ),
    Code(
        "ledger_unreadable", ("error",),
        "hookctl's record, a project's `.hookctl/ledger.json` or the journal cannot be "
        "read, or names a path that it must not",
        "move it away; then `--fix` records the guard again",
    ),
    Code(
        "ledger_newer", ("error",),
        "a newer hookctl wrote the record",
        "use that version",
    ),
    Code(
        "link_leaves_project", ("error",),
        "a link leads out of the project, or from hookctl's own folder to files that are not its "
        "own, where hookctl reads and writes nothing",
        "remove the link, or use `--scope user`",
    ),
    Code(
        "interrupted_run", ("error",),
        "a run of hookctl was killed before its end",
        "`--fix`",
    ),
    Code(
        "fix_failed", ("error",),
        "`--fix` could repair nothing, for the reason named",
        "fix that first",
    ),
    Code(
        "project_gone", ("info",),
        "hookctl's record names a project that no longer exists",
        "nothing: it does no harm, and counts again if the project comes back",
    ),
    Code(
        "not_committed", ("warning", "error"),
        "git ignores `.hookctl/` or the settings, so a clone has no hook that works; an error of "
        "`check` where it requires a pack",
        "remove the line, or install with `--scope local`",
    ),
    Code(
        "no_repository", ("info",),
        "the project is in no git repository, so no clone brings its hooks to others",
        "`git init` and a commit, unless the files reach others in another way",
    ),
    Code(
        "hook_missing", ("error",),
        "a file of hookctl or of a pack is gone, so the hook does nothing",
        "`--fix`; install a pack again if its own file is gone",
    ),
    Code(
        "hook_changed", ("warning",),
        "a file of a pack was edited",
        "leave it, or `hookctl install PACK --host claude --force`",
    ),
    Code(
        "hook_unreadable", ("error",),
        "a file of hookctl or of a pack is not readable or not a regular file",
        "give yourself read access",
    ),
    Code(
        "hook_old", ("info",),
        "the hook is from another version of hookctl, so it is not tested",
        "`hookctl install --host claude` updates it",
    ),
    Code(
        "hook_newer", ("warning", "error"),
        "the hook's record names a newer version of hookctl, whose programs this one does not know",
        "upgrade hookctl; in somebody else's repository, look at the hook first",
    ),
    Code(
        "hook_unknown", ("error",),
        "a program that the guard's hooks run is none that hookctl released; it is not tested",
        "look at it, then `hookctl install --host claude --force`",
    ),
    Code(
        "hook_slow", ("error",),
        "the hook does not answer within its timeout, or within 5 seconds",
        "find out what slows the machine down, or raise the timeout",
    ),
    Code(
        "pack_gone", ("info",),
        "the pack's own file is not where it was, so the pack can be neither upgraded nor "
        "repaired",
        "install the pack from its current path",
    ),
    Code(
        "pack_old", ("info",),
        "the pack's own file has another version than the one installed",
        "install it again",
    ),
    Code(
        "pack_changed", ("error",),
        "check: a pack's files in the project are not those that its install wrote",
        "look at them, then install the pack again",
    ),
    Code(
        "stray_file", ("error",),
        "check: a file lies in hookctl's folder of programs that no record names and no release "
        "has; perhaps a colleague's pack, whose record a merge lost",
        "look at it; install that pack again, or remove the file",
    ),
    Code(
        "pack_required", ("error",),
        "check: a pack named with `--require` is not installed in the project, or has other "
        "content than the named file",
        "install it with `--scope project` and commit what that writes",
    ),
    Code(
        "nested_folder", ("warning",),
        "below a project with a shared hook lies another user's `.hookctl` with programs; or the "
        "project lies below the top of its repository, where the host looks for the hook",
        "look at it, or remove it; install at the top of the repository",
    ),
    Code(
        "env_file", ("warning",),
        "a project's `.env` sets variables that the guard reads, and the host gives them to "
        "hooks",
        "remove those lines",
    ),
    Code(
        "interpreter_missing", ("error",),
        "the Python that runs the hook is gone",
        "`--fix` chooses another; at project scope, put `python3` on `PATH`",
    ),
    Code(
        "interpreter_unsafe", ("error",),
        "other users can change the Python that runs the hook, or a folder on the way to it; "
        "hookctl does not start it",
        "install again, which chooses another; or the command that the fix names",
    ),
    Code(
        "interpreter_broken", ("error",),
        "that Python does not run",
        "reinstall it",
    ),
    Code(
        "interpreter_old", ("error",),
        "that Python is older than 3.8",
        "upgrade it, then install again",
    ),
    Code(
        "config_unreadable", ("error",),
        "the hook's `config.json` cannot be read, so the hook allows every stop",
        "fix it, or `hookctl install --host claude --force`",
    ),
    Code(
        "config_missing", ("warning", "error"),
        "`config.json` is gone: Claude Code uses the defaults, and on any other host the "
        "hook allows every stop. An error for `hookctl check`",
        "`--fix`",
    ),
    Code(
        "config_invalid", ("warning",),
        "a setting in `config.json` is unknown or has a wrong value; the hook ignores it",
        "fix it: [guard.md](guard.md) lists the settings",
    ),
    Code(
        "config_changed", ("info", "error"),
        "check: a value in the guard's `config.json` is not the one on record; an error where "
        "hookctl's own table of hosts in it was edited",
        "leave it, or install with `--force`",
    ),
    Code(
        "no_soft_limit", ("warning",),
        "`max_soft_resets` is 0 or less: a run of ever new tool calls ends only at the "
        "ceiling",
        "set it to 1 or more",
    ),
    Code(
        "state_elsewhere", ("warning",),
        "the hook keeps its state in another folder than the one where this hookctl looks",
        "start hookctl with the `HOOKCTL_STATE_DIR` that it was installed with",
    ),
    Code(
        "self_test_failed", ("error", "warning"),
        "hookctl's own copy of the guard, asked with this configuration, does not do what its mode "
        "promises: the setting named is why, or the interpreter. A warning in a project, unless "
        "`check --require guard` asks for it",
        "remove the setting, or `hookctl install --host claude --force`",
    ),
    Code(
        "self_test_passed", ("info",),
        "hookctl's own copy of the guard, asked with this configuration, did what is promised",
        "",
    ),
    Code(
        "masked", ("warning",),
        "another scope's limit or cap is in effect in this folder",
        "change it there",
    ),
    Code(
        "cap_invalid", ("warning",),
        "the cap (a variable, a setting, or a field of the hook) is not a whole number; the "
        "message says what the host makes of it",
        "set it to the number named",
    ),
    Code(
        "cap_off", ("warning",),
        "the cap is 0 or less, so the host ends no chain of blocks",
        "set it to the number named",
    ),
    Code(
        "cap_below_limit", ("warning", "info"),
        "the cap is below the limit, so the guard lets the agent stop earlier than the "
        "limit says; info where the host allows no more and nobody asked for more",
        "raise the cap to the number named; where the host allows no more, set the limit to "
        "what it allows",
    ),
    Code(
        "cap_tight", ("warning", "info"),
        "the cap equals the limit (warning), or is one or two above it. Blocks of other "
        "hooks count for the cap and not for the limit, so the guard may let the agent stop "
        "before its limit",
        "raise the cap to the number named",
    ),
    Code(
        "cap_high", ("info",),
        "the cap is far above what the guard needs, and hookctl did not set it: only the "
        "guard ends a chain",
        "set it to the number named, unless something needs it",
    ),
    Code(
        "no_limit", ("warning",),
        "the limit is 0 or less; the guard lets the agent stop only before the host's cap, "
        "or at 200 blocks a prompt",
        "set the limit to 1 or more",
    ),
    Code(
        "limit_invalid", ("warning",),
        "`MAX_STOP_BLOCKS` is not a whole number, so the hook uses the one of its "
        "configuration, or the default",
        "set it to a whole number",
    ),
    Code(
        "shell_shadowed", ("info",),
        "the limit or the cap is also set in this shell, where it has no effect: settings "
        "files win",
        "change it in the file named",
    ),
    Code(
        "hook_environment", ("error", "warning", "info"),
        "a variable of the guard in the `env` of some scope, or in this shell (info), "
        "overrides the hook's configuration; an error where it switches the guard off",
        "remove it there, or leave it if you want it",
    ),
    Code(
        "foreign_stop", ("error", "warning", "info"),
        "another Stop or SubagentStop hook may block. Info: the guard ends such a chain, or "
        "whether the hook blocks at all is not known. Warning: the guard saw it force the agent "
        "on, or it is known to keep agents working. Error: the latter, and nothing ends it",
        "`hookctl install --host claude`, and a cap that is not 0; or `--wrap` for that "
        "hook",
    ),
    Code(
        "two_systems", ("warning",),
        "two tools that keep an agent working have a Stop hook, or one and the guard; each has a "
        "limit of its own",
        "keep one of them",
    ),
    Code(
        "never_runs", ("warning",),
        "a hook has `if` on an event where no hook with `if` runs",
        "remove `if`",
    ),
    Code(
        "ignored_field", ("info",),
        "a field of a hook that the host ignores there (`once`, or `onFailure` on Stop)",
        "remove it",
    ),
    Code(
        "script_missing", ("warning", "info"),
        "a hook runs a script or program that does not exist, is not executable or has no "
        "interpreter, as far as the text of its command and its first line say it; a warning on "
        "the stop event, where it is a pack's, or where the host may then refuse every tool call",
        "put it back, `chmod +x`, install its interpreter, or remove the hook",
    ),
    Code(
        "agent_in_hook", ("warning",),
        "a hook starts an agent, which runs hooks of its own, and so on",
        "do not start agents from a hook",
    ),
    Code(
        "floating_hook", ("warning",),
        "a hook runs `npx` or the like, which may fetch and run another version each time",
        "install the program and call it directly",
    ),
    Code(
        "run_unusable", ("warning",),
        "the run folder or a file in it is a link (the guard reads through it, `hookctl "
        "run` does not write through it), not a regular file, or not readable",
        "replace it with a plain file or folder",
    ),
    Code(
        "task_unreadable", ("warning",),
        "the guard cannot read `task.json`, so it sees no work",
        "fix or remove it, then `hookctl run remaining N`",
    ),
    Code(
        "run_stopped", ("info",),
        "STOP or CONCLUDE exists although work remains, so the guard lets the agent stop",
        "`hookctl run start` removes it",
    ),
    Code(
        "run_committed", ("error",),
        "a file of the work in hand (STOP, CONCLUDE, OWNER, task.json) is in git or would come "
        "with the next commit, or git does not ignore `.hookctl/run`: every clone would have it",
        "remove the file from git, and add the line `run/` to `.hookctl/.gitignore`",
    ),
    Code(
        "owner_unseen", ("warning",),
        "the work belongs to a session that never stopped here, while the guard lets other "
        "sessions stop",
        "`hookctl run remaining N --owner none` leaves it to the next session",
    ),
    Code(
        "work_waiting", ("info",),
        "work waits in this project: how much, for which session, and when somebody last "
        "touched it",
        "",
    ),
    Code(
        "work_stale", ("warning",),
        "nobody has touched the work that waits for as long as `work_hours` says, so the guard "
        "ignores it",
        "`hookctl run remaining N` renews it, `hookctl run remaining 0` ends it",
    ),
    Code(
        "active_unreadable", ("warning",),
        "the project's ACTIVE does not say when the run ends, so the guard sees no run",
        "`hookctl run start`",
    ),
    Code(
        "run_ends_soon", ("info", "warning"),
        "the run ends within half an hour; a warning where the guard works only during a "
        "run",
        "`hookctl run start --for 12h`",
    ),
    Code(
        "not_armed", ("info",),
        "work remains, and the guard works only during a run, but no run is active",
        "`hookctl run start`",
    ),
    Code(
        "wrap_missing", ("warning",),
        "the program that runs wrapped hooks of other tools is gone or not readable: they "
        "run directly, without a limit",
        "`--fix`; at project scope commit `.hookctl/`",
    ),
    Code(
        "wrap_changed", ("warning",),
        "that program was changed since hookctl installed it",
        "`hookctl install --host claude --force`",
    ),
    Code(
        "wrap_edited", ("warning",),
        "the command that wraps another tool's hook was edited; the change is yours and "
        "stays at uninstall too",
        "`hookctl install --host claude --force` restores it",
    ),
    Code(
        "wrap_unknown", ("warning",),
        "hookctl has no record of a hook that it wraps",
        "`hookctl install --host claude` records it",
    ),
    Code(
        "wrap_gone", ("info",),
        "a wrapped hook is no longer there",
        "`hookctl install --host claude` drops it from hookctl's record",
    ),
    Code(
        "guard_off", ("info", "error"),
        "the guard's mode is off",
        "`hookctl install --host claude --mode breaker`",
    ),
    Code(
        "never_ran", ("info",),
        "the host has not called the hook yet",
        "",
    ),
    Code(
        "last_ran", ("info",),
        "when the hook last ran, and what it decided",
        "`hookctl log`",
    ),
    Code(
        "hook_silent", ("warning",),
        "the last three or more sessions of the host since the install left no line in the "
        "guard's log. Only names and dates of its transcripts are read",
        "restart the agent and end a turn",
    ),
    Code(
        "client_old", ("warning",),
        "the client has no cap on blocks, or lacks something else that the guard needs",
        "upgrade it",
    ),
    Code(
        "client_newer", ("info",),
        "the client is newer than the version that hookctl knows",
        "",
    ),
    Code(
        "client_older", ("info",),
        "the client is older than the version that hookctl knows",
        "",
    ),
    Code(
        "client_missing", ("info",),
        "the client is not on `PATH`",
        "",
    ),
    Code(
        "client_unknown", ("info",),
        "the client did not print its version, or another program with a version of its own "
        "runs the hooks",
        "",
    ),
    Code(
        "pack_fine", ("info",),
        "a pack is in the settings as it was installed, with its files, and nothing was found "
        "that keeps its hooks from running",
        "",
    ),
    Code(
        "not_installed", ("info",),
        "the host is not in use here, or nothing of hookctl's is installed there",
        "`hookctl install --host claude`",
    ),
)
# fmt: on

CODES = {code.name: code for code in TABLE}
_HEAD = ("| code | level | what it means | what to do |", "| --- | --- | --- | --- |")


def finding(
    code: str, message: str, host: str = "", path: str = "", fix: str = "", level: str = ""
) -> Finding:
    """A finding with a code of this table, at the code's usual level unless another is given."""
    return Finding(code, level or CODES[code].levels[0], message, host, path, fix)


def page_table() -> list[str]:
    """The lines of the table in docs/doctor.md."""
    lines = list(_HEAD)
    for code in TABLE:
        end = f"{code.what_to_do} |" if code.what_to_do else "|"
        lines.append(f"| `{code.name}` | {', '.join(code.levels)} | {code.means} | {end}")
    return lines
