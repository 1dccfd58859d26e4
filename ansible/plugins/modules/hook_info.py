#!/usr/bin/python
# Copyright (c) The hookctl maintainers
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: hook_info
short_description: Tell what hookctl has installed, and whether it works
description:
  - Runs C(hookctl status) and C(hookctl doctor) on the target, as the user that the task runs as, and changes nothing.
  - A problem that doctor finds is no failure of the task. See RV(healthy) and RV(findings).
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
    description: Will return details on what has changed (or possibly needs changing in check_mode), when in diff mode.
    support: N/A
options:
  host:
    description: Only these coding agents. Without any, all that are installed or detected.
    type: list
    elements: str
    default: []
  scope:
    description: Only this scope.
    type: str
    choices: [user, project, local]
    default: user
  project:
    description: The project's folder on the target. Required for O(scope=project) and O(scope=local).
    type: path
  executable:
    description: Hookctl on the target, as a path or as a name on C(PATH).
    type: path
    default: hookctl
notes:
  - Doctor runs the installed hook in a self-test of a fraction of a second.
seealso:
  - module: hookctl.hookctl.hook
"""

EXAMPLES = r"""
- name: Look at what is installed
  hookctl.hookctl.hook_info:
    host: [claude, codex]
  register: hooks

- name: Stop where a hook does not work
  ansible.builtin.assert:
    that: hooks.healthy
    fail_msg: "{{ hooks.findings | selectattr('level', 'equalto', 'error') | map(attribute='message') | join('; ') }}"
"""

RETURN = r"""
healthy:
  description: Whether doctor found no error.
  returned: success
  type: bool
findings:
  description: What doctor found, errors first.
  returned: success
  type: list
  elements: dict
  contains:
    code:
      description: The kind of the finding.
      type: str
    level:
      description: V(error), V(warning) or V(info).
      type: str
    host:
      description: The coding agent.
      type: str
    path:
      description: The file.
      type: str
    message:
      description: The finding in words.
      type: str
    fix:
      description: What to do about it.
      type: str
status:
  description: What C(hookctl status --json) says of the settings files.
  returned: success
  type: dict
errors:
  description: What status could not read.
  returned: success
  type: list
  elements: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.hookctl.hookctl.plugins.module_utils.hookctl import (
    PLACE,
    Hookctl,
    failure,
    place_of,
)

ARGUMENT_SPEC = dict(
    PLACE,
    host={"type": "list", "elements": "str", "default": []},
)


def main():
    """Collect what status and doctor say."""
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC,
        supports_check_mode=True,
        required_if=[("scope", "project", ["project"]), ("scope", "local", ["project"])],
    )
    arguments = place_of(module.params)
    for host in module.params["host"]:
        arguments += ["--host", host]
    hookctl = Hookctl(module)
    status = hookctl.call(["status"] + arguments)
    doctor = hookctl.call(["doctor"] + arguments)
    for envelope, needed in ((status, "files"), (doctor, "findings")):
        if needed not in envelope["data"]:
            module.fail_json(**failure(envelope))
    findings = doctor["data"]["findings"]
    module.exit_json(
        changed=False,
        healthy=not any(finding["level"] == "error" for finding in findings),
        findings=findings,
        status=status["data"],
        errors=status["errors"],
    )


if __name__ == "__main__":
    main()
