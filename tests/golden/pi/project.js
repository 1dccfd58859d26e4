// hookctl plugin 3: Pi loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.
// In the settings a timeout (seconds) or a matcher may be changed; the code below them may not.
const settings =
{
  "hooks": {
    "agent_before_settle": [
      {
        "command": ": hookctl=guard/stop; python3 -I -S ./.hookctl/hook.py stop --host pi; exit 0",
        "timeout": 10
      }
    ],
    "tool_result": [
      {
        "command": ": hookctl=guard/post-tool; python3 -I -S ./.hookctl/hook.py post-tool --host pi; exit 0",
        "timeout": 10
      }
    ]
  }
}
