"""Asked before a shell command. Status 2 refuses, and stderr tells the agent why.

An example: what a script, a variable or another program hides, it does not see.
"""

import json
import re
import sys


def removes_by_force(command):
    for words in re.findall(r"\brm\s([^;&|\n]*)", command):
        options = [word for word in words.split() if word.startswith("-")]
        is_recursive = any(re.match(r"-\w*[rR]|--recursive", option) for option in options)
        if is_recursive and any(re.match(r"-\w*f|--force", option) for option in options):
            return True
    return False


question = json.load(sys.stdin)
if removes_by_force(question["tool_input"].get("command") or ""):
    print("Removing by force is not allowed here. Move the files instead.", file=sys.stderr)
    sys.exit(2)
