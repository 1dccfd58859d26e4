import { appendFileSync } from "node:fs"
const put = (event, told) => appendFileSync(LOG, JSON.stringify({ name: NAME, event, told }) + "\n")
export default (pi) => {
  put("loaded", { environment: process.env })
  let calls = 0
  for (const name of EVENTS) {
    pi.on(name, async (event, context) => {
      const { context: preview, ...told } = event
      const { hasUI, cwd, sessionManager } = context
      const session = { id: sessionManager.getSessionId(), hasUI, cwd }
      put(name, { ...told, session, leaf: sessionManager.getEntry(sessionManager.getLeafId()) })
      ACTION
    })
  }
}
