#!/usr/bin/env python3
"""No tabs in texts; the agent is told of what changed."""

import json
import sys
from pathlib import Path

path = Path(json.load(sys.stdin)["tool_input"]["file_path"])
text = path.read_text()
if path.suffix == ".txt" and "\t" in text:
    path.write_text(text.expandtabs(4))
    print(f"{path.name} was reformatted, read it again before you edit it", file=sys.stderr)
    sys.exit(2)
