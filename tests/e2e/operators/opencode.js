import { appendFileSync } from "node:fs"
export const Mine = async () => ({
    event: async ({ event }) => {
      if (event.type === "session.idle") appendFileSync(LOG, "idle\n")
    },
})
