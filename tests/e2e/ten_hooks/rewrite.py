#!/usr/bin/env python3
"""Use pnpm where the agent says npm."""

import json
import re
import sys

data = json.load(sys.stdin)
command = data["tool_input"].get("command", "")
if data["tool_name"] != "Bash" or not re.search(r"\bnpm\b", command):
    sys.exit(0)
print(
    json.dumps(
        {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "allow",
                "permissionDecisionReason": "We use pnpm here",
                "updatedInput": {**data["tool_input"], "command": re.sub(r"\bnpm\b", "pnpm", command)},
            }
        }
    )
)
