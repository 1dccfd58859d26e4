#!/bin/sh
# A notification takes its time; the agent need not wait for it.
cat > /dev/null
(
  sleep 1
  echo "the agent is done" >> ~/.claude/notified
) &
