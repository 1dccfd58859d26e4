# Asked before a shell command. The agent's question comes as JSON on stdin; the text of "command"
# in it is looked at. Status 2 refuses, and stderr tells the agent why.
# An example: what a script, a variable or another program hides, it does not see.
removal=$(sed 's/\\"//g; s/\\n/;/g' | grep -Eo '"command" *: *"[^"]*' |
  grep -Eo '(^|[^a-zA-Z0-9_-])rm +[^;&|]*')
if printf '%s\n' "$removal" | grep -Eq ' (-[a-zA-Z]*[rR]|--recursive)' &&
  printf '%s\n' "$removal" | grep -Eq ' (-[a-zA-Z]*f|--force)'; then
  echo "Removing by force is not allowed here. Move the files to a folder of your own." >&2
  exit 2
fi
