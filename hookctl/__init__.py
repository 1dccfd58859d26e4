"""hookctl: lifecycle hooks and environment settings in coding agents' own settings files."""

import sys

__version__ = "0.3.0"

# Only this file runs on every Python version, so it refuses the old ones.
if sys.version_info < (3, 11):  # noqa: UP036
    sys.exit(
        "hookctl: error: Python %d.%d is too old, hookctl needs 3.11 or newer: %s"  # noqa: UP031
        % (sys.version_info[0], sys.version_info[1], sys.executable)
    )
