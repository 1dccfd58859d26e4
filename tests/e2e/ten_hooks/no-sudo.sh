# There is no jq on the servers, so sed has to do; and the answer is in its older form.
command=$(sed -n 's/.*"command":"\([^"]*\)".*/\1/p')
case $command in
  *sudo*) echo '{"decision": "block", "reason": "sudo needs a human: ask for it"}' ;;
esac
