// Asked before a shell command. Status 2 refuses, and stderr tells the agent why.
import { readFileSync } from "node:fs";

const question = JSON.parse(readFileSync(0, "utf8"));
const command = question.tool_input.command ?? "";
if (/\brm\s+-\w*(rf|fr)/.test(command)) {
  console.error("Removing by force is not allowed here. Move the files instead.");
  process.exitCode = 2;
}
