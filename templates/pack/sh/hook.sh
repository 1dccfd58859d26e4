# Asked before a shell command. The agent's question comes as JSON on stdin; the part that
# `grep` looks at is the command. Status 2 refuses, and stderr tells the agent why.
if grep -Eq '"command" *: *"[^"]*rm +-[a-zA-Z]*(rf|fr)'; then
  echo "Removing by force is not allowed here. Move the files to a folder of your own." >&2
  exit 2
fi
