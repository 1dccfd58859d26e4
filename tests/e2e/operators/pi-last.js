import { appendFileSync } from "node:fs"
export default (pi) => pi.on("tool_result", ({ content, structuredContent }) =>
  appendFileSync(LOG, JSON.stringify([content, structuredContent]) + "\n"))
