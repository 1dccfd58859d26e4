// Asked before a shell command. Status 2 refuses, and stderr tells the agent why.
// An example: what a script, a variable or another program hides, it does not see.
import { readFileSync } from "node:fs";

function removesByForce(command) {
  for (const [, words] of command.matchAll(/\brm\s([^;&|\n]*)/g)) {
    const options = words.split(/\s+/).filter((word) => word.startsWith("-"));
    const has = (pattern) => options.some((option) => pattern.test(option));
    if (has(/^(-\w*[rR]|--recursive)/) && has(/^(-\w*f|--force)/)) return true;
  }
  return false;
}

const question = JSON.parse(readFileSync(0, "utf8"));
if (removesByForce(question.tool_input.command ?? "")) {
  console.error("Removing by force is not allowed here. Move the files instead.");
  process.exitCode = 2;
}
