#!/usr/bin/env node
// Nobody pushes by force.
let input = "";
process.stdin.on("data", (chunk) => (input += chunk));
process.stdin.on("end", () => {
  const { tool_input: toolInput = {} } = JSON.parse(input);
  if (/git\s+push\s+.*(--force|-f)\b/.test(toolInput.command || "")) {
    console.log(
      JSON.stringify({
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "deny",
          permissionDecisionReason: "Force pushes are off limits; open a pull request",
        },
      }),
    );
  }
  process.exit(0);
});
