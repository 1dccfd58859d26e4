"""Tell the agent where it is."""

import json
import sys

data = json.load(sys.stdin)
if "begin" in data.get("prompt", ""):
    print("Current branch: feature/ten-hooks, folder:", data["cwd"])
