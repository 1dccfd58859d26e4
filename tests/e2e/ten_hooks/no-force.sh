#!/bin/bash
# Stop the agent from removing folders by force.
set -euo pipefail
input=$(cat)
command=$(jq -r '.tool_input.command // empty' <<<"$input")
if [[ $command =~ rm\ +-(rf|fr) ]]; then
  echo "BLOCKED: 'rm -rf' is not allowed, move things to the trash instead" >&2
  exit 2
fi
exit 0
