#!/usr/bin/python
# Copyright (c) The hookctl maintainers
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hook
short_description: Put a pack's hooks and settings into a coding agent's settings file
description:
  - Runs C(hookctl install) or C(hookctl uninstall) on the target. Every other byte of the settings file stays as it is.
  - A task is the whole wish. Options of the guard that the task leaves out have their defaults,
    whatever an earlier task said.
  - What somebody on the target changed by hand stays, and is named in RV(kept), unless O(force=true).
  - The files are those of the user that the task runs as. Use C(become_user) for another user.
    A run as root in another user's home is refused.
version_added: 0.2.0
author:
  - The hookctl maintainers (!UNKNOWN)
requirements:
  - hookctl >= 0.3.0 on the target
attributes:
  check_mode:
    description: Can run in check_mode and return changed status prediction without modifying target.
    support: full
  diff_mode:
    description: >-
      Will return details on what has changed (or possibly needs changing in check_mode), when in diff mode.
      It is a unified diff of the settings file, in which secrets are masked.
    support: full
options:
  host:
    description: The coding agent, as the target's own hookctl names it; C(hookctl hosts) lists them.
    type: str
    required: true
  state:
    description: Whether the pack is installed there.
    type: str
    choices: [present, absent]
    default: present
  pack:
    description:
      - The name of a pack, or the absolute path of a pack file or of its folder on the target.
      - A pack that is not built in is somebody's program. It is installed only with O(agree=true).
    type: str
    default: guard
  scope:
    description: V(user) is this user, V(project) everybody who clones the project, V(local) this checkout.
    type: str
    choices: [user, project, local]
    default: user
  project:
    description: The project's folder on the target. Required for O(scope=project) and O(scope=local).
    type: path
  mode:
    description: The guard's mode.
    type: str
    choices: [breaker, keepalive, guard, "off"]
  preset:
    description: Settings of the guard that act like a published system.
    type: str
    choices: [bmad, nightly, openhands, rockbot, hermes, none]
  set:
    description: Further settings of the guard by name, such as C(MAX_STOP_BLOCKS).
    type: dict
    default: {}
  nudge:
    description: Remind the agent once to call one of these tools before it stops.
    type: list
    elements: str
    default: []
  nudge_env:
    description: Remind only where this variable is set.
    type: str
  dispatch:
    description: Tools of which too many identical calls are refused, as C(TOOL) or C(TOOL:MAX/SECONDS).
    type: list
    elements: str
    default: []
  wrap:
    description: Limit another tool's stop hook, whose command contains this text.
    type: str
  guidance:
    description: Tell a session at its start what work waits.
    type: bool
    default: false
  rules:
    description: Write a short block on how to report work into the file that the agent reads.
    type: bool
    default: false
  allow_run:
    description: Allow the agent C(hookctl run), so that it reports work without being asked.
    version_added: 0.3.0
    type: bool
    default: false
  force:
    description: Make it as the pack wants it, also where somebody changed, removed or already had something else.
    type: bool
    default: false
  agree:
    description:
      - Agree to a pack that is not built in, as C(--yes) does. Look at C(hookctl plan) first.
      - The alias must be quoted in YAML, which otherwise takes it for V(true).
    type: bool
    default: false
    aliases: ["yes"]
  allow_env:
    description: Risky variables, such as C(PATH), that the pack may set.
    type: list
    elements: str
    default: []
  accept_changed:
    description: Agree to another content of a pack under the same version.
    type: bool
    default: false
  executable:
    description: Hookctl on the target, as a path or as a name on C(PATH).
    type: path
    default: hookctl
notes:
  - Hookctl finds everything through C(HOME) and the agents' own variables, such as C(CLAUDE_CONFIG_DIR),
    which can be set in the task's C(environment).
  - Files that an earlier run left unfinished are completed first. That counts as a change.
seealso:
  - module: hookctl.hookctl.hook_info
"""

EXAMPLES = r"""
- name: Limit how often Claude Code's stop may be blocked
  hookctl.hookctl.hook:
    host: claude
    set:
      MAX_STOP_BLOCKS: 5

- name: The same for another user
  hookctl.hookctl.hook:
    host: claude
    executable: /opt/hookctl/bin/hookctl
  become: true
  become_user: ann

- name: Refuse a tool call that is repeated more than ten times in a minute
  hookctl.hookctl.hook:
    host: codex
    mode: "off"
    dispatch:
      - shell:10/60

- name: A pack of our own, which somebody has looked at
  hookctl.hookctl.hook:
    host: claude
    pack: /opt/packs/notify/pack.toml
    agree: true

- name: Take the guard out again
  hookctl.hookctl.hook:
    host: claude
    state: absent
"""

RETURN = r"""
actions:
  description: What was done, or would be, one entry or file each.
  returned: success
  type: list
  elements: dict
  sample:
    - action: write
      file: /home/ann/.claude/settings.json
      host: claude
      id: ''
      kind: leaf
      path: [env, MAX_STOP_BLOCKS]
      scope: user
kept:
  description: What somebody changed by hand and hookctl left alone.
  returned: success
  type: list
  elements: dict
files:
  description: The settings files that change, with their digests before and after.
  returned: success
  type: list
  elements: dict
messages:
  description: Warnings, notes and next steps of hookctl. Warnings are also warnings of the task.
  returned: always, unless hookctl gave no answer
  type: list
  elements: dict
  contains:
    code:
      description: What it is about, for programs.
      type: str
    level:
      description: V(warning) or V(info).
      type: str
    host:
      description: The coding agent; empty where it is not about one.
      type: str
    path:
      description: The settings file; empty where it is not about one.
      type: str
    message:
      description: The text.
      type: str
code:
  description: The kind of the first error, such as V(unparsable) or V(conflict).
  returned: failure
  type: str
file:
  description: The file that the first error is about.
  returned: failure
  type: str
line:
  description: The line of the first error in that file, from 1; 0 where there is none.
  returned: failure
  type: int
column:
  description: The column of the first error in that file, from 1; 0 where there is none.
  returned: failure
  type: int
conflicts:
  description: Where two packs want different values.
  returned: failure with the code V(conflict)
  type: list
  elements: dict
errors:
  description: All errors of hookctl.
  returned: failure
  type: list
  elements: dict
exit_code:
  description: The exit code of hookctl.
  returned: failure
  type: int
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.hookctl.hookctl.plugins.module_utils.hookctl import (
    PLACE,
    Hookctl,
    failure,
    place_of,
    require_absolute,
)

ARGUMENT_SPEC = dict(
    PLACE,
    host={"type": "str", "required": True},
    state={"type": "str", "choices": ["present", "absent"], "default": "present"},
    pack={"type": "str", "default": "guard"},
    mode={"type": "str", "choices": ["breaker", "keepalive", "guard", "off"]},
    preset={"type": "str", "choices": ["bmad", "nightly", "openhands", "rockbot", "hermes", "none"]},
    set={"type": "dict", "default": {}},
    nudge={"type": "list", "elements": "str", "default": []},
    nudge_env={"type": "str"},
    dispatch={"type": "list", "elements": "str", "default": []},
    wrap={"type": "str"},
    guidance={"type": "bool", "default": False},
    rules={"type": "bool", "default": False},
    allow_run={"type": "bool", "default": False},
    force={"type": "bool", "default": False},
    agree={"type": "bool", "default": False, "aliases": ["yes"]},
    allow_env={"type": "list", "elements": "str", "default": []},
    accept_changed={"type": "bool", "default": False},
)
# A parameter that is one word on the command line, and one that is only there or not.
VALUES = ("mode", "preset", "nudge_env", "wrap")
FLAGS = ("guidance", "rules", "allow_run", "force", "accept_changed")


def main():
    """Install or uninstall a pack, as the task says."""
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC,
        supports_check_mode=True,
        required_if=[("scope", "project", ["project"]), ("scope", "local", ["project"])],
    )
    require_absolute(module, "pack")
    envelope = Hookctl(module).call(arguments_for(module))
    data = envelope["data"]
    warn(module, data.get("messages", []))
    if envelope["status"] != "ok":
        fail(module, envelope)
    result = {name: data[name] for name in ("changed", "actions", "kept", "files", "messages")}
    if module._diff:
        result["diff"] = {"prepared": "".join(file["diff"] for file in data["files"])}
    module.exit_json(**result)


def arguments_for(module):
    """The command line without the program."""
    params = module.params
    is_present = params["state"] == "present"
    arguments = ["install" if is_present else "uninstall", "--host", params["host"]] + place_of(params)
    if is_present:
        arguments += ["--reset"] + wishes(params)
    if module.check_mode:
        arguments.append("--dry-run")
    return arguments + ["--", params["pack"]]


def wishes(params):
    """The options of an install that the task names."""
    arguments = []
    for name in VALUES:
        if params[name] is not None:
            arguments.append(f"{option(name)}={params[name]}")
    for name, value in sorted(params["set"].items()):
        arguments.append(f"--set={name}={text_of(value)}")
    if params["nudge"]:
        tools = ",".join(params["nudge"])
        arguments.append(f"--nudge={tools}")
    for name in ("dispatch", "allow_env"):
        arguments += [f"{option(name)}={value}" for value in params[name]]
    if params["agree"]:
        arguments.append("--yes")
    return arguments + [option(name) for name in FLAGS if params[name]]


def option(name):
    """The option of the command line for a parameter."""
    return "--" + name.replace("_", "-")


def text_of(value):
    """A value as the command line has it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def warn(module, messages):
    """Let people see hookctl's warnings as those of the task."""
    for message in messages:
        if message["level"] == "warning":
            module.warn(message["message"])


def fail(module, envelope):
    """End the task with hookctl's first error."""
    data, report = envelope["data"], failure(envelope)
    if report["code"] == "conflict":
        report["conflicts"] = [error for error in envelope["errors"] if error["code"] == "conflict"]
    module.fail_json(changed=data.get("changed", False), messages=data.get("messages", []), **report)


if __name__ == "__main__":
    main()
