# Copyright (c) The hookctl maintainers
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs hookctl on the target, never through a shell, and reads its one JSON object."""

from __future__ import annotations

import json
import os

PLACE = {
    "scope": {"type": "str", "choices": ["user", "project", "local"], "default": "user"},
    "project": {"type": "path"},
    "executable": {"type": "path", "default": "hookctl"},
}


class Hookctl:
    """The hookctl of the target, called for one task."""

    def __init__(self, module):
        self._module = module
        executable = module.params["executable"]
        if os.sep in executable:
            self._program = executable
        else:
            self._program = module.get_bin_path(executable, required=True)

    def call(self, arguments):
        """The envelope that hookctl prints; the module fails where it prints none."""
        verb, options = arguments[0], arguments[1:]
        command = [self._program, verb, "--json"] + options
        environ = {"NO_COLOR": "1", "TERM": "dumb"}
        # Without this, Ansible would replace $NAME and ~ in the arguments, as a shell does.
        code, out, err = self._module.run_command(command, environ_update=environ, expand_user_and_vars=False)
        try:
            envelope = json.loads(out)
            if envelope["hookctl_result"] != 1:
                raise ValueError("another version of the envelope")
            return envelope
        except (KeyError, TypeError, ValueError):
            reason = err.strip().rsplit("\n", 1)[-1] or "it printed nothing on stderr"
            message = f"hookctl did not answer in JSON: {reason}"
            self._module.fail_json(msg=message, rc=code, stdout=out, stderr=err, command=command)


def place_of(params):
    """The options that say which settings file is meant."""
    arguments = ["--scope", params["scope"]]
    if params["project"] and params["scope"] != "user":  # where it means nothing
        arguments += ["--project", params["project"]]
    return arguments


def require_absolute(module, name):
    """Refuse a relative path: the working folder on a target is nobody's choice."""
    value = module.params[name]
    is_path = value and (os.sep in value or value.endswith(".toml"))
    if is_path and not os.path.isabs(os.path.expanduser(value)):
        message = f"{name} must be an absolute path on the target: {value}"
        module.fail_json(msg=message)


def failure(envelope):
    """What a module reports where hookctl failed: the first error in words, and all of them."""
    errors = envelope["errors"]
    first = errors[0] if errors else {}
    text = first.get("message") or f"hookctl ended with {envelope['exit_code']}"
    where = first.get("path", "")
    if where and first.get("line"):
        where = f"{where}:{first['line']}:{first['column']}"
    if where:
        text = f"{text}: {where}"
    if first.get("hint"):
        text = f"{text}. {first['hint']}"
    if first.get("code") == "other_user":
        text += " In a playbook that is become_user."
    return {
        "msg": text,
        "code": first.get("code", ""),
        "file": first.get("path", ""),
        "line": first.get("line", 0),
        "column": first.get("column", 0),
        "errors": errors,
        "exit_code": envelope["exit_code"],
    }
