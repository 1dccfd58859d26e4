// hookctl plugin 3: Pi loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.
// In the settings a timeout (seconds) or a matcher may be changed; the code below them may not.
const settings =
{
  "hooks": {
    "agent_before_settle": [
      {
        "command": ": hookctl=guard/stop; PYTHON -I -S HOOK stop --host pi; exit 0",
        "timeout": 10
      }
    ],
    "tool_result": [
      {
        "command": ": hookctl=guard/post-tool; PYTHON -I -S HOOK post-tool --host pi; exit 0",
        "timeout": 10
      }
    ]
  }
}
