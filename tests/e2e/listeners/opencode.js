import { appendFileSync } from "node:fs"
const put = (event, ...told) => appendFileSync(LOG, JSON.stringify({ name: NAME, event, told }) + "\n")
export const Probe = async (input) => {
  const { client } = input
  put("loaded", { directory: input.directory, worktree: input.worktree })
  let calls = 0
  const told = (event) => async (...given) => {
    put(event, ...given)
    const [input, output] = given
    ACTION
  }
  const names = ["chat.message", "tool.execute.before", "tool.execute.after", "shell.env", "dispose"]
  const hooks = Object.fromEntries(names.map((name) => [name, told(name)]))
  return { ...hooks, event: ({ event }) => told(event.type)(event.properties) }
}
