"""Every code that a finding of doctor can have: its levels, what it means, and what to do about it.

The table of docs/doctor.md is made from this one: `python -m tests.page_of_codes` writes it anew.
"""

from __future__ import annotations

from typing import NamedTuple


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
        "the settings file is not valid JSON, TOML or YAML (torn, merge-conflict marks, "
        "a missing comma); the host ignores it as a whole, or does not start",
        "mend it at the line named; or put an earlier text back, with the `hookctl "
        "restore` that the fix names where there is one",
    ),
    Code(
        "not_utf8", ("error", "warning"),
        "the settings file is UTF-16, Latin-1 or the like",
        "save it as UTF-8",
    ),
    Code(
        "unsupported_yaml", ("error",),
        "our place in a YAML file goes through an alias, an anchor that is used "
        "elsewhere, or a merge, which an edit would change too",
        "write it out",
    ),
    Code(
        "extra_missing", ("error",),
        "the settings are YAML, and hookctl was installed without what reads that",
        "`pip install 'hookctl[yaml]'`",
    ),
    Code(
        "foreign_file", ("error", "warning"),
        "where our plugin for OpenCode would be, there is another program's, or ours "
        "with its code edited",
        "move it away, then install again",
    ),
    Code(
        "unreadable", ("error", "warning"),
        "the settings file, or a file of hookctl's own, is no regular file, or may not "
        "be read",
        "give yourself read access, or remove what lies there",
    ),
    Code(
        "wrong_shape", ("error",),
        'something that must be an object or an array is not, such as `"hooks": []`',
        "make it one",
    ),
    Code(
        "duplicate_key", ("error",),
        "a key that matters to us stands twice; the host uses only the last one",
        "remove one of the two",
    ),
    Code(
        "strict_host", ("error", "warning"),
        "the file has a comment, a trailing comma or a byte order mark, or is empty, "
        "and the host does not read it because of that",
        "remove it",
    ),
    Code(
        "wrong_key", ("error",),
        "a key at the root that the host does not bear, or one missing that it needs "
        "(`version` on Cursor), so that it loads no hook of the file",
        "remove or set that key",
    ),
    Code(
        "wrong_type", ("error", "warning"),
        "a key that the host knows has a wrong type or an unknown word; the host "
        "ignores the whole file for that (in managed settings: that key)",
        "mend or remove that key; `claude doctor` says whether it is right then",
    ),
    Code(
        "invalid_hook", ("error", "warning"),
        "an entry cannot be loaded, and the host ignores the whole file for that: under "
        "`PreToolUse` or `PermissionRequest` on Claude Code, under any event on Codex "
        "and Droid",
        "mend or remove that entry",
    ),
    Code(
        "lost_hook", ("warning",),
        "an entry, group or event cannot be loaded; the host drops it alone",
        "mend or remove it",
    ),
    Code(
        "unknown_event", ("error", "warning"),
        "hooks under an event that the host does not have never run; on OpenHands they "
        "keep it from starting",
        "mend the name; it is case-sensitive",
    ),
    Code(
        "timeout_unit", ("warning", "info"),
        "a timeout that is hardly meant as the host takes it: seconds where Gemini CLI "
        "reads milliseconds, 1000 or more on Qwen Code (info)",
        "write it in the host's unit",
    ),
    Code(
        "lost_env", ("warning",),
        "an `env` name that no variable can have; the host drops it",
        "mend the name",
    ),
    Code(
        "read_only", ("error",),
        "the settings file is read-only, so hookctl cannot change it",
        "make it writable, or change it where it is generated",
    ),
    Code(
        "link_chain", ("info",),
        "the settings file is a link to a link, which a version of the client may "
        "replace",
        "link it to the file itself",
    ),
    Code(
        "loose_mode", ("warning",),
        "others may write the settings, a hook or hookctl's folders, or they belong to "
        "another user: somebody else could run commands as you",
        "`chmod o-w`, or make it your own",
    ),
    Code(
        "hooks_disabled", ("error", "warning"),
        "a switch of the host's is off (`disableAllHooks`, `hooksConfig.enabled`, "
        "`hooks.hooksDisabled`, `features.hooks`) and no hook runs; a warning where "
        "another scope takes that back, here only",
        "remove it",
    ),
    Code(
        "hook_disabled", ("error",),
        "the host has the guard's own hook switched off, by its name or its place",
        "take it out of that list",
    ),
    Code(
        "not_approved", ("error", "info"),
        "the host runs a hook only after it was approved, and this one was not, or was "
        "changed since; or nobody can tell from here (Copilot CLI, info)",
        "approve it, as the fix says",
    ),
    Code(
        "not_trusted", ("warning", "info"),
        "the host runs hooks only in folders that it trusts, and this is none; info for "
        "a guard of the user, who may start it elsewhere",
        "start the agent there and trust the folder",
    ),
    Code(
        "shadowed", ("error", "warning", "info"),
        "the host takes the guard's events from another file instead of this one: a "
        "`hooks.json` beside Droid's settings (error), a project's own file on "
        "OpenHands (warning); info where the guard is there too",
        "install the guard there",
    ),
    Code(
        "two_forms", ("warning",),
        "hooks stand in `hooks.json` and in `config.toml`; Codex reads both, and warns "
        "at every start",
        "keep them in one",
    ),
    Code(
        "managed_only", ("error",),
        "managed settings allow only managed hooks",
        "ask whoever manages the machine",
    ),
    Code(
        "managed_only_ignored", ("info",),
        "`allowManagedHooksOnly` outside managed settings means nothing",
        "remove it",
    ),
    Code(
        "managed_invalid", ("error",),
        "a managed settings file is no JSON; the client does not start with it",
        "ask whoever manages the machine",
    ),
    Code(
        "not_read", ("warning", "info"),
        "our hook, or another Stop hook, stands in a file that the host does not read "
        "when started here: in the folder above or below, in the user's "
        "`settings.local.json`, or in another settings folder than `CLAUDE_CONFIG_DIR` "
        "names. A warning where the guard runs from nowhere else",
        "start the agent where the file is, or install at user scope",
    ),
    Code(
        "also_read", ("info",),
        "another agent on this machine reads the same file and runs the hook too",
        "do not install the guard for both",
    ),
    Code(
        "registered_twice", ("info",),
        "it does, and has the guard in a file of its own as well. Both run at every "
        "stop, and it is counted once",
        "nothing; where the other agent works only in folders whose settings it reads "
        "anyway, its own guard may go",
    ),
    Code(
        "two_scopes", ("info",),
        "the guard is registered in several scopes. All run and a stop is counted once; "
        "identical commands some hosts run once",
        "uninstall it where it is not meant",
    ),
    Code(
        "two_versions", ("warning",),
        "two of them are of different versions; the first to answer decides",
        "install both with the same hookctl",
    ),
    Code(
        "entries_wiped", ("error",),
        "everything that we wrote is gone: the file was reset, by a host or by hand; or "
        "a clone lacks the settings",
        "`--fix`; restart agents that run, since they may write old settings back",
    ),
    Code(
        "entry_missing", ("warning",),
        "one entry was removed; that is taken as your wish",
        "leave it, or `hookctl install --host claude --force`",
    ),
    Code(
        "entry_edited", ("warning",),
        "an entry was changed; it is yours now. Not said of a cap that has a finding of "
        "its own",
        "leave it, or `hookctl install --host claude --force`",
    ),
    Code(
        "entry_disarmed", ("warning",),
        "our hook was edited so that the host drops it, never runs it, or does not wait "
        "for it (`async`, `if`, `args`, `shell`, a timeout below 2 s, another event)",
        "`hookctl install --host claude --force`",
    ),
    Code(
        "entry_doubled", ("error",),
        "our hook is registered more than once in one file, and runs that often",
        "`--fix`, or remove all but one",
    ),
    Code(
        "edited_copy", ("warning",),
        "a hook with our mark and a changed command, which the ledger does not know",
        "leave it, remove it, or `--force`",
    ),
    Code(
        "orphan_hook", ("warning",),
        "the hook of a pack that the ledger does not know",
        "install the pack from its file, which takes it back; or remove it",
    ),
    Code(
        "ledger_missing", ("error",),
        "our hook is there, but the ledger does not know it; in a clone, `.hookctl/` "
        "was not committed",
        "`--fix` makes its page again",
    ),
    Code(
        "ledger_unreadable", ("error",),
        "the ledger, a project's `.hookctl/ledger.json` or the journal cannot be read, "
        "or names what it must not",
        "move it away; then `--fix` takes back the guard",
    ),
    Code(
        "ledger_newer", ("error",),
        "a newer hookctl wrote the ledger",
        "use that one",
    ),
    Code(
        "link_leaves_project", ("error",),
        "a link in the project leads out of it, where hookctl reads and writes nothing",
        "remove the link, or use `--scope user`",
    ),
    Code(
        "interrupted_run", ("error",),
        "a run was killed on its way",
        "`--fix`; the next install or uninstall completes it too",
    ),
    Code(
        "fix_failed", ("error",),
        "`--fix` could repair nothing, for the reason named",
        "mend that first",
    ),
    Code(
        "project_gone", ("info",),
        "the ledger has a page for a project that is not there any more",
        "leave it, if the disk comes back; `hookctl uninstall --all` forgets it with "
        "everything else",
    ),
    Code(
        "not_committed", ("warning",),
        "git ignores `.hookctl/` or the settings, so no clone gets both",
        "take the line out, or use `--scope local`",
    ),
    Code(
        "hook_missing", ("error",),
        "a file of ours is gone, so the hook does nothing",
        "`--fix`; for a pack that is not at hand any more, install it again",
    ),
    Code(
        "hook_changed", ("warning",),
        "a file of ours was edited; the guard's was not tried",
        "leave it, or `hookctl install --host claude --force`",
    ),
    Code(
        "hook_unreadable", ("error",),
        "a file of ours may not be read, or is no regular file",
        "give yourself read access, or remove it and `--fix`",
    ),
    Code(
        "hook_old", ("info",),
        "the hook is of another version of hookctl",
        "`hookctl install --host claude` brings this version's",
    ),
    Code(
        "hook_slow", ("error",),
        "the hook does not answer within its timeout, or within 5 seconds",
        "raise the timeout; look what slows the machine down",
    ),
    Code(
        "pack_gone", ("info",),
        "the pack's own file is not where it was, so it can be neither upgraded nor "
        "mended",
        "put it back, or install it from where it is now",
    ),
    Code(
        "pack_old", ("info",),
        "the pack's own file has another version than what is installed",
        "install it again",
    ),
    Code(
        "interpreter_missing", ("error",),
        "the Python that runs the hook is gone",
        "`--fix` chooses another; at project scope, put `python3` on `PATH`",
    ),
    Code(
        "interpreter_broken", ("error",),
        "that Python does not run",
        "mend it",
    ),
    Code(
        "interpreter_old", ("error",),
        "that Python is older than 3.8",
        "upgrade it, then install again",
    ),
    Code(
        "config_unreadable", ("error",),
        "the hook's `config.json` cannot be read, so the hook lets every stop pass",
        "mend it; or remove it, and `--fix`",
    ),
    Code(
        "config_missing", ("warning",),
        "`config.json` is gone: for Claude Code the defaults hold, for any other host every stop passes",
        "`--fix`",
    ),
    Code(
        "config_invalid", ("warning",),
        "a knob in `config.json` is unknown or has a wrong value; the hook ignores it",
        "mend it: [guard.md](guard.md) lists the knobs",
    ),
    Code(
        "no_soft_limit", ("warning",),
        "`max_soft_resets` is 0 or less: a run of ever new tool calls ends only at the "
        "ceiling",
        "set it to 1 or more",
    ),
    Code(
        "state_elsewhere", ("warning",),
        "the hook keeps its state in another folder than this hookctl looks in",
        "start hookctl with the `HOOKCTL_STATE_DIR` that it was installed with",
    ),
    Code(
        "self_test_failed", ("error",),
        "the hook did not block and let go as it must",
        "`hookctl install --host claude --force`",
    ),
    Code(
        "self_test_passed", ("info",),
        "it did",
        "",
    ),
    Code(
        "masked", ("warning",),
        "another scope's limit or cap is in effect in this folder",
        "change it there",
    ),
    Code(
        "cap_invalid", ("warning",),
        "the cap (a variable, a setting, or a field of the hook) is not a whole number; "
        "the message says what the host makes of it",
        "set it to the number named",
    ),
    Code(
        "cap_off", ("warning",),
        "a cap of 0 or less: the host ends no chain of blocks any more",
        "set it to the number named",
    ),
    Code(
        "cap_below_limit", ("warning", "info"),
        "the cap is below the limit, so the guard lets go earlier than the limit says; "
        "info where the host grants no more than that, and nobody asked for more",
        "raise the cap to the number named; where nothing lifts it, set the limit to "
        "what the host grants",
    ),
    Code(
        "cap_tight", ("warning", "info"),
        "the cap is the limit (warning), or one or two above it. The guard still lets "
        "go first, but blocks of other hooks count for the cap and not for the limit, "
        "so it may let go earlier",
        "raise the cap to the number named",
    ),
    Code(
        "cap_high", ("info",),
        "the cap is far above what the guard gives, and not ours: only the guard ends a "
        "chain",
        "set it to the number named, unless something needs it",
    ),
    Code(
        "no_limit", ("warning",),
        "the limit is 0 or less; the guard lets go only before the host's cap, or at "
        "200 blocks a prompt",
        "set a limit",
    ),
    Code(
        "limit_invalid", ("warning",),
        "`MAX_STOP_BLOCKS` is not a whole number, so the hook takes that of its "
        "configuration, else the default",
        "write it as a decimal number",
    ),
    Code(
        "shell_shadowed", ("info",),
        "the limit or the cap is set in this shell too, where it has no effect: "
        "settings files win",
        "change it in the file named",
    ),
    Code(
        "hook_environment", ("error", "warning", "info"),
        "a variable of the guard's in the `env` of some scope, or in this shell (info), "
        "reaches the hook and wins over its configuration; an error where it switches "
        "the guard off",
        "remove it there, or leave it if it is meant",
    ),
    Code(
        "foreign_stop", ("error", "warning", "info"),
        "another Stop or SubagentStop hook may block. Info: the guard ends such a "
        "chain. Warning: only the host's cap does, or nothing. Error: nothing does, and "
        "the hook is known to keep agents going",
        "`hookctl install --host claude`, and a cap that is not 0; or `--wrap` for that "
        "hook",
    ),
    Code(
        "two_systems", ("warning",),
        "two tools that keep an agent going are at work, or one and the guard; each "
        "counts for itself",
        "leave one in charge",
    ),
    Code(
        "never_runs", ("warning",),
        "a hook with `if` on an event where that keeps it from ever running",
        "remove `if`",
    ),
    Code(
        "ignored_field", ("info",),
        "a field of a hook that the host ignores there (`once`, or `onFailure` on Stop)",
        "remove it",
    ),
    Code(
        "script_missing", ("warning", "info"),
        "a hook runs a script that is not there; a warning where the host may refuse "
        "every tool call for that, or block every stop",
        "put it back, or remove the hook",
    ),
    Code(
        "agent_in_hook", ("warning",),
        "a hook starts an agent, whose own hooks run then, and so on",
        "start agents elsewhere",
    ),
    Code(
        "floating_hook", ("warning",),
        "a hook runs `npx` or the like, which may fetch and run another version each "
        "time",
        "install the program, and name it",
    ),
    Code(
        "run_unusable", ("warning",),
        "the run folder or a file in it is a link (the guard and `hookctl run status` "
        "read through it, nothing is written through it), no regular file, or may not "
        "be read",
        "remove it",
    ),
    Code(
        "task_unreadable", ("warning",),
        "`task.json` is not what the guard reads, which counts as no work",
        "`hookctl run remaining N`; if need be, remove it first",
    ),
    Code(
        "run_stopped", ("info",),
        "STOP or CONCLUDE is there although work remains, so the guard lets the agent "
        "go",
        "`hookctl run start` removes it",
    ),
    Code(
        "owner_unseen", ("warning",),
        "the work belongs to a session that never stopped here, while others did and "
        "were let go",
        "`hookctl run start` names the session anew",
    ),
    Code(
        "active_unreadable", ("warning",),
        "the project's ACTIVE does not say until when the run lasts, so it is not armed",
        "`hookctl run start`",
    ),
    Code(
        "run_ends_soon", ("info", "warning"),
        "the run ends within half an hour; a warning where the guard must be armed",
        "`hookctl run start --for 12h`",
    ),
    Code(
        "not_armed", ("info",),
        "work remains and the guard must be armed, but is not",
        "`hookctl run start`",
    ),
    Code(
        "wrap_missing", ("warning",),
        "the program through which hooks of other tools run is gone or cannot be read: "
        "they run by themselves, without a limit",
        "`--fix`; at project scope commit `.hookctl/`",
    ),
    Code(
        "wrap_changed", ("warning",),
        "that program is not as hookctl installed it",
        "`hookctl install --host claude --force`, if the change is not meant",
    ),
    Code(
        "wrap_edited", ("warning",),
        "the command around another tool's hook was edited; it is yours then, and stays "
        "at uninstall too",
        "`hookctl install --host claude --force` makes it as it was",
    ),
    Code(
        "wrap_unknown", ("warning",),
        "a hook is wrapped that the ledger does not know",
        "`hookctl install` takes it over, `hookctl uninstall` gives its command back",
    ),
    Code(
        "wrap_gone", ("info",),
        "a wrapped hook is not there any more",
        "nothing; the next install forgets it",
    ),
    Code(
        "guard_off", ("info",),
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
        "the last three or more sessions of the host since the install left no line in "
        "the guard's log. Only names and dates of its transcripts are read",
        "start the agent anew and end a turn",
    ),
    Code(
        "client_old", ("warning",),
        "the client has no cap on blocks, or lacks something else that counts",
        "upgrade it",
    ),
    Code(
        "client_newer", ("info",),
        "the client is newer than the one that hookctl was proven on",
        "",
    ),
    Code(
        "client_older", ("info",),
        "the client is older than that one",
        "",
    ),
    Code(
        "client_missing", ("info",),
        "the client is not on `PATH`",
        "",
    ),
    Code(
        "client_unknown", ("info",),
        "the client did not say its version, or has another one than what runs the "
        "hooks",
        "",
    ),
    Code(
        "not_installed", ("info",),
        "the host is not in use here, or the guard is not installed there",
        "`hookctl install --host claude`",
    ),
)
# fmt: on

CODES = {code.name: code for code in TABLE}
_HEAD = ("| code | level | what it means | what to do |", "| --- | --- | --- | --- |")


def finding(
    code: str, message: str, host: str = "", path: str = "", fix: str = "", level: str = ""
) -> Finding:
    """A finding of this table; its level is the code's usual one unless another is given."""
    return Finding(code, level or CODES[code].levels[0], message, host, path, fix)


def page_table() -> list[str]:
    """The lines of the table in docs/doctor.md."""
    lines = list(_HEAD)
    for code in TABLE:
        end = f"{code.what_to_do} |" if code.what_to_do else "|"
        lines.append(f"| `{code.name}` | {', '.join(code.levels)} | {code.means} | {end}")
    return lines
