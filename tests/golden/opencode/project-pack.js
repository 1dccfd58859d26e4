// hookctl plugin 3: OpenCode loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.
// In the settings a timeout (seconds) or a matcher may be changed; the code below them may not.
const settings =
{
  "hooks": {
    "tool.execute.before": [
      {
        "command": ": hookctl=tidy/look; [ -f \"$OPENCODE_PROJECT_DIR\"/.hookctl/packs/tidy/tidy.sh ] && [ -r \"$OPENCODE_PROJECT_DIR\"/.hookctl/packs/tidy/tidy.sh ] || exit 0; sh \"$OPENCODE_PROJECT_DIR\"/.hookctl/packs/tidy/tidy.sh look opencode",
        "timeout": 5,
        "matcher": "Bash"
      }
    ],
    "session.idle": [
      {
        "command": ": hookctl=tidy/stop; [ -f \"$OPENCODE_PROJECT_DIR\"/.hookctl/packs/tidy/tidy.sh ] && [ -r \"$OPENCODE_PROJECT_DIR\"/.hookctl/packs/tidy/tidy.sh ] || exit 0; sh \"$OPENCODE_PROJECT_DIR\"/.hookctl/packs/tidy/tidy.sh sweep opencode",
        "timeout": 30
      }
    ]
  }
}
