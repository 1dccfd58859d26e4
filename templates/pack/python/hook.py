"""Asked before a shell command. Status 2 refuses, and stderr tells the agent why."""

import json
import re
import sys

question = json.load(sys.stdin)
command = question["tool_input"].get("command") or ""
if re.search(r"\brm\s+-\w*(rf|fr)", command):
    print("Removing by force is not allowed here. Move the files instead.", file=sys.stderr)
    sys.exit(2)
