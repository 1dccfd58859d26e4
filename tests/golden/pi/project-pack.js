// hookctl plugin 3: Pi loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.
// In the settings a timeout (seconds) or a matcher may be changed; the code below them may not.
const settings =
{
  "hooks": {
    "tool_call": [
      {
        "command": ": hookctl=tidy/look; [ -f ./.hookctl/packs/tidy/tidy.sh ] && [ -r ./.hookctl/packs/tidy/tidy.sh ] || exit 0; sh ./.hookctl/packs/tidy/tidy.sh look pi",
        "timeout": 5,
        "matcher": "Bash"
      }
    ],
    "agent_before_settle": [
      {
        "command": ": hookctl=tidy/stop; [ -f ./.hookctl/packs/tidy/tidy.sh ] && [ -r ./.hookctl/packs/tidy/tidy.sh ] || exit 0; sh ./.hookctl/packs/tidy/tidy.sh sweep pi",
        "timeout": 30
      }
    ]
  }
}
