"""Says on stderr that the agent is done."""

import sys

print("done", *sys.argv[1:], file=sys.stderr)
