"""Every code that a finding of doctor or check can have, with its levels.

docs/doctor.md says of each what it means and what to do; `python -m tests.page_of_codes` renews
the levels there.
"""

from __future__ import annotations

from collections.abc import Iterable

from hookctl.errors import HookctlError
from hookctl.values import NamedTuple


class Finding(NamedTuple):
    """One thing that doctor found."""

    code: str
    level: str  # error | warning | info
    message: str
    host: str = ""
    path: str = ""
    fix: str = ""


# error | warning | info; the usual one first.
LEVELS: dict[str, tuple[str, ...]] = {
    "unparsable": ("error", "warning"),
    "not_utf8": ("error", "warning"),
    "unsupported_yaml": ("error",),
    "extra_missing": ("error",),
    "foreign_file": ("error", "warning"),
    "unreadable": ("error", "warning"),
    "wrong_shape": ("error",),
    "duplicate_key": ("error",),
    "strict_host": ("error", "warning"),
    "wrong_key": ("error",),
    "wrong_type": ("error", "warning"),
    "invalid_hook": ("error", "warning"),
    "lost_hook": ("warning",),
    "unknown_event": ("error", "warning"),
    "timeout_unit": ("warning", "info"),
    "lost_env": ("warning",),
    "read_only": ("error",),
    "link_chain": ("info",),
    "loose_mode": ("error",),
    "hooks_disabled": ("error", "warning"),
    "hook_disabled": ("error",),
    "not_approved": ("error", "info"),
    "not_trusted": ("warning", "info"),
    "shadowed": ("error", "warning", "info"),
    "two_forms": ("warning",),
    "managed_only": ("error",),
    "managed_only_ignored": ("info",),
    "managed_invalid": ("error",),
    "not_read": ("warning", "info"),
    "also_read": ("info",),
    "registered_twice": ("info",),
    "two_scopes": ("info",),
    "two_versions": ("warning",),
    "entries_wiped": ("error",),
    "entry_missing": ("warning", "error"),
    "entry_edited": ("warning", "info", "error"),
    "matcher_misses": ("warning",),
    "entry_disarmed": ("warning", "error"),
    "entry_doubled": ("error",),
    "rules_missing": ("warning", "error"),
    "rules_edited": ("info",),
    "rules_doubled": ("warning",),
    "rules_unreadable": ("warning",),
    "command_unknown": ("error",),
    "edited_copy": ("warning", "error"),
    "orphan_hook": ("warning", "error"),
    "ledger_missing": ("error",),
    "ledger_unreadable": ("error",),
    "ledger_newer": ("error",),
    "link_leaves_project": ("error",),
    "interrupted_run": ("error",),
    "fix_failed": ("error",),
    "project_gone": ("info",),
    "not_committed": ("warning", "error"),
    "no_repository": ("info",),
    "hook_missing": ("error",),
    "hook_changed": ("warning",),
    "hook_unreadable": ("error",),
    "hook_old": ("info",),
    "hook_newer": ("warning", "error"),
    "hook_unknown": ("error",),
    "hook_slow": ("error",),
    "pack_gone": ("info",),
    "pack_old": ("info",),
    "pack_changed": ("error",),
    "stray_file": ("error",),
    "pack_required": ("error",),
    "nested_folder": ("warning",),
    "env_file": ("warning",),
    "interpreter_missing": ("error",),
    "interpreter_unsafe": ("error",),
    "interpreter_broken": ("error",),
    "interpreter_old": ("error",),
    "config_unreadable": ("error",),
    "config_missing": ("warning", "error"),
    "config_invalid": ("warning",),
    "config_changed": ("info", "error"),
    "no_soft_limit": ("warning",),
    "state_elsewhere": ("warning",),
    "self_test_failed": ("error", "warning"),
    "self_test_passed": ("info",),
    "masked": ("warning",),
    "cap_invalid": ("warning",),
    "cap_off": ("warning",),
    "cap_below_limit": ("warning", "info"),
    "cap_tight": ("warning", "info"),
    "cap_high": ("info",),
    "no_limit": ("warning",),
    "limit_invalid": ("warning",),
    "shell_shadowed": ("info",),
    "hook_environment": ("error", "warning", "info"),
    "foreign_stop": ("error", "warning", "info"),
    "two_systems": ("warning",),
    "never_runs": ("warning",),
    "ignored_field": ("info",),
    "script_missing": ("warning", "info"),
    "agent_in_hook": ("warning",),
    "floating_hook": ("warning",),
    "run_unusable": ("warning",),
    "task_unreadable": ("warning",),
    "run_stopped": ("info",),
    "run_committed": ("error",),
    "owner_unseen": ("warning",),
    "work_waiting": ("info",),
    "work_stale": ("warning",),
    "active_unreadable": ("warning",),
    "run_ends_soon": ("info", "warning"),
    "not_armed": ("info",),
    "wrap_missing": ("warning",),
    "wrap_changed": ("warning",),
    "wrap_edited": ("warning", "error"),
    "wrap_unknown": ("warning", "error"),
    "wrap_gone": ("info", "error"),
    "guard_off": ("info", "error"),
    "never_ran": ("info",),
    "last_ran": ("info",),
    "hook_silent": ("warning",),
    "client_old": ("warning",),
    "client_newer": ("info",),
    "client_older": ("info",),
    "client_missing": ("info",),
    "client_unknown": ("info",),
    "pack_fine": ("info",),
    "not_installed": ("info",),
}


def finding(
    code: str, message: str, host: str = "", path: str = "", fix: str = "", level: str = ""
) -> Finding:
    """A finding with a code of this table, at the code's usual level unless another is given."""
    return Finding(code, level or LEVELS[code][0], message, host, path, fix)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """The findings by their level, errors first."""
    order = ("error", "warning", "info")
    return sorted(findings, key=lambda finding: order.index(finding.level))


def describe_error(error: HookctlError) -> str:
    """What is wrong with a file, after the position in it."""
    where = f"line {error.line}, column {error.column}: " if error.line else ""
    return where + error.message


def from_error(error: HookctlError, host: str = "", path: str = "") -> Finding:
    """The finding that something cannot be read."""
    path = path or error.path
    return Finding(error.code, "error", describe_error(error), host, path, error.hint)
