// hookctl plugin 2: OpenCode loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.
// In the settings a timeout (seconds) or a matcher may be changed; the code below them may not.
const settings =
{}
// From here on every file of this version is the same; hookctl does not touch one that differs.

import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"

const OUTPUT_LIMIT = 1 << 20
const PATIENCE_MS = 5000

/** The JSON that a command has written on stdout, or undefined. */
function read(text) {
  try {
    return JSON.parse(text)
  } catch {}
}

/** What one hook's command answers; undefined where it fails, says nothing or takes too long. */
function call(hook, payload, env) {
  return new Promise((resolve) => {
    const options = { cwd: payload.cwd, env, detached: true, stdio: ["pipe", "pipe", "ignore"] }
    const child = spawn("/bin/sh", ["-c", hook.command], options)
    let text = ""
    const end = () => {
      clearTimeout(timer)
      resolve(read(text))
    }
    const timer = setTimeout(() => {
      text = ""
      end()
      try {
        process.kill(-child.pid, "SIGKILL") // its whole process group
      } catch {}
    }, (hook.timeout ?? 60) * 1000)
    child.on("error", end).on("close", end)
    child.stdout.setEncoding("utf8").on("data", (piece) => {
      if (text.length < OUTPUT_LIMIT) text += piece
    })
    child.stdin.on("error", () => {}).end(JSON.stringify(payload)) // a command need not read it
  }).catch(() => {})
}

/** Is this hook for this tool? Names are lower case here, and matchers are often written for other hosts. */
function matches(hook, tool) {
  try {
    const { matcher } = hook
    return !matcher || matcher === "*" || new RegExp(`^(?:${matcher})$`, "i").test(tool)
  } catch {
    return false
  }
}

/** What OpenCode answers, but no longer than that: a plugin that waits for ever holds its process. */
async function soon(ask) {
  try {
    return await Promise.race([ask(), new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref())])
  } catch {}
}

/** The project whose `.opencode` folder has this file; else where the agent works. */
function projectFolder(directory) {
  return /^(.+)\/\.opencode\/plugins?\/[^/]+$/.exec(fileURLToPath(import.meta.url))?.[1] ?? directory
}

const isText = (value) => typeof value === "string" && value !== ""

// Session and reply that one of our files has answered with a prompt: a user's and a project's file see the same stop.
const prompted = (globalThis[Symbol.for("hookctl.prompted")] ??= new Map())

export const Hookctl = async ({ client, directory }) => {
  const OPENCODE_PROJECT_DIR = projectFolder(directory)
  const sessions = new Map()
  const running = new Set()
  let leaving = false

  const session = (id) => {
    if (!sessions.has(id)) sessions.set(id, {})
    return sessions.get(id)
  }

  /** The session that a subagent works for; empty for a session of its own. */
  const parentOf = (id) =>
    (session(id).parent ??= soon(() => client.session.get({ path: { id } })).then((found) => found?.data?.parentID ?? ""))

  const say = async (message) => {
    if (leaving) return // there is nobody left to ask, and asking would start everything anew
    await soon(() => client.tui.showToast({ body: { message, variant: "warning", duration: 15000 } }))
    await soon(() => client.app.log({ body: { service: "hookctl", level: "warn", message } }))
  }

  /** Run the hooks of an event, all at once; their answers. */
  const run = async (event, id, fields) => {
    const hooks = (settings.hooks?.[event] ?? []).filter((hook) => matches(hook, fields.tool_name))
    if (!hooks.length) return []
    const parent = await parentOf(id)
    const who = parent ? { session_id: parent, agent_id: id } : { session_id: id }
    const payload = { ...who, cwd: directory, hook_event_name: event, ...fields }
    const answers = await Promise.all(hooks.map((hook) => call(hook, payload, { ...process.env, OPENCODE_PROJECT_DIR })))
    const given = answers.filter(Boolean)
    for (const { systemMessage } of given) if (isText(systemMessage)) await say(systemMessage)
    return given
  }

  /** Whatever goes wrong, the agent goes on; the end of the process waits for what is running. */
  const safely = (work) => {
    const task = work().catch(() => [])
    running.add(task)
    return task.finally(() => running.delete(task))
  }

  const onIdle = async (id) => {
    const { reply, prompt, last, forced } = session(id)
    session(id).reply = undefined
    // An abort, an error, a refused permission, a shell command and a compaction end in idle too, and are no stops.
    if (!reply?.finish || reply.finish === "tool-calls" || reply.error || reply.summary) return
    if (await parentOf(id)) return
    const fields = { stop_hook_active: Boolean(forced), prompt_id: prompt ?? reply.parentID, message_id: reply.id }
    const answers = await run("session.idle", id, fields)
    const reason = answers.find((answer) => answer.decision === "block" && isText(answer.reason))?.reason
    const late = leaving || session(id).last !== last // `opencode run` ends at idle; or somebody was faster
    if (!reason || late || prompted.get(id) === reply.id) return
    prompted.set(id, reply.id)
    const { agent, variant, providerID, modelID } = reply // without them the session goes back to its defaults
    const parts = [{ type: "text", text: reason, metadata: { hookctl: true } }]
    const body = { agent, variant, model: { providerID, modelID }, parts }
    await soon(() => client.session.promptAsync({ path: { id }, body }))
  }

  const onPrompt = async (id, message, parts) => {
    const known = session(id)
    known.last = message.id
    known.forced = parts.some((part) => part.metadata?.hookctl)
    if (known.forced || (await parentOf(id))) return
    known.prompt = message.id
    const prompt = parts.filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text)
    await run("chat.message", id, { prompt: prompt.join("\n"), prompt_id: message.id })
  }

  /** End what a session does: the call that is refused does not run, and the model is asked nothing more. */
  const endTurn = async (id, reason) => {
    if (isText(reason)) await say(reason)
    await soon(() => client.session.abort({ path: { id } }))
  }

  const onEvent = async ({ type, properties }) => {
    if (type === "message.updated" && properties.info.role === "assistant") {
      session(properties.info.sessionID).reply = properties.info
    } else if (type === "session.idle") {
      await onIdle(properties.sessionID)
    } else if (type === "session.created") {
      const { id, parentID } = properties.info
      session(id).parent = parentID ?? ""
      if (!parentID) await run("session.created", id, {})
    } else if (type === "session.deleted") {
      sessions.delete(properties.info.id)
    }
  }

  return {
    event: ({ event }) => safely(() => onEvent(event)),
    "chat.message": ({ sessionID }, { message, parts }) => safely(() => onPrompt(sessionID, message, parts)),
    "tool.execute.before": async ({ tool, sessionID }, { args }) => {
      const fields = { tool_name: tool, tool_input: args, prompt_id: session(sessionID).prompt }
      const answers = await safely(() => run("tool.execute.before", sessionID, fields))
      const refusals = answers.filter(({ decision }) => decision === "deny" || decision === "block")
      if (!refusals.length) return
      const last = refusals.find((refusal) => refusal.continue === false)
      const { reason } = last ?? refusals[0]
      if (last) await safely(() => endTurn(sessionID, reason))
      throw new Error(isText(reason) ? reason : "A hook refused this call.")
    },
    "tool.execute.after": ({ tool, sessionID, args }, { title, output, metadata }) => {
      const fields = { tool_name: tool, tool_input: args, tool_response: { title, output, metadata } }
      return safely(() => run("tool.execute.after", sessionID, fields))
    },
    "experimental.session.compacting": ({ sessionID }) =>
      safely(() => run("experimental.session.compacting", sessionID, {})),
    "shell.env": ({ sessionID }, { env }) =>
      safely(async () => {
        env.OPENCODE_PROJECT_DIR = OPENCODE_PROJECT_DIR
        if (sessionID) env.OPENCODE_SESSION_ID = (await parentOf(sessionID)) || sessionID
      }),
    dispose: async () => {
      leaving = true
      await Promise.all(running)
    },
  }
}
