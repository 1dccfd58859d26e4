// hookctl plugin 3: OpenCode loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.
// In the settings a timeout (seconds) or a matcher may be changed; the code below them may not.
const settings =
{
  "hooks": {
    "session.idle": [
      {
        "command": ": hookctl=guard/stop; python3 -I -S \"$OPENCODE_PROJECT_DIR\"/.hookctl/hook.py stop --host opencode; exit 0",
        "timeout": 10
      }
    ],
    "tool.execute.after": [
      {
        "command": ": hookctl=guard/post-tool; python3 -I -S \"$OPENCODE_PROJECT_DIR\"/.hookctl/hook.py post-tool --host opencode; exit 0",
        "timeout": 10
      }
    ]
  }
}
