import { execSync } from "node:child_process"
export default (pi) => {
    pi.on("agent_before_settle", () => { execSync(COMMAND, { input: "{}" }) })
}