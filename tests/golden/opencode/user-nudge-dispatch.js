// hookctl plugin 3: OpenCode loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.
// In the settings a timeout (seconds) or a matcher may be changed; the code below them may not.
const settings =
{
  "hooks": {
    "session.idle": [
      {
        "command": ": hookctl=guard/stop; PYTHON -I -S HOOK stop --host opencode; exit 0",
        "timeout": 10
      }
    ],
    "tool.execute.before": [
      {
        "command": ": hookctl=guard/pre-tool; PYTHON -I -S HOOK pre-tool --host opencode; exit 0",
        "timeout": 10,
        "matcher": "bash"
      }
    ],
    "tool.execute.after": [
      {
        "command": ": hookctl=guard/post-tool; PYTHON -I -S HOOK post-tool --host opencode; exit 0",
        "timeout": 10
      }
    ]
  }
}
