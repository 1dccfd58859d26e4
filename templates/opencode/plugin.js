// hookctl plugin 3: OpenCode loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.
import { fileURLToPath } from "node:url"

const PATIENCE_MS = 5000

/** Put a text in place of what a tool has said. An MCP tool has a list of contents, other tools have a text. */
function replace(result, text) {
  if (!isText(text)) return
  if (typeof result.output === "string") result.output = text
  else if (Array.isArray(result.content)) result.content = [{ type: "text", text }]
}

/** Put texts behind what a tool has said. */
function append(result, texts) {
  if (!texts.length) return
  const text = texts.join("\n\n")
  if (typeof result.output === "string") result.output += `\n\n${text}`
  else if (Array.isArray(result.content)) result.content.push({ type: "text", text })
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
    const hooks = hooksFor(event, fields.tool_name)
    if (!hooks.length) return []
    const parent = await parentOf(id)
    const who = parent ? { session_id: parent, agent_id: id } : { session_id: id }
    const payload = { ...who, cwd: directory, hook_event_name: event, ...fields }
    const answers = await callAll(hooks, payload, { ...process.env, OPENCODE_PROJECT_DIR })
    for (const { systemMessage } of answers) if (isText(systemMessage)) await say(systemMessage)
    return answers
  }

  /** Whatever goes wrong, the agent goes on; the end of the process waits for what is running. */
  const safely = (work) => {
    const task = work().catch(() => {})
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
    const reason = blockIn(answers)
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
    const answers = await run("chat.message", id, { prompt: prompt.join("\n"), prompt_id: message.id })
    const texts = [...((await known.begun) ?? []), ...answers].flatMap(contextOf)
    known.begun = undefined
    if (!texts.length) return
    // Parts are in the order of their ids, so this one comes behind the last.
    const partID = `${parts.at(-1)?.id ?? `prt_${message.id}`}0`
    const about = { id: partID, sessionID: id, messageID: message.id }
    parts.push({ ...about, type: "text", text: texts.join("\n\n"), synthetic: true })
  }

  const onCall = async (id, callID, tool, args) => {
    const fields = { tool_name: tool, tool_input: args, prompt_id: session(id).prompt }
    const answers = await run("tool.execute.before", id, fields)
    const refused = refusalIn(answers)
    if (refused) return refused
    for (const answer of answers) Object.assign(args, inputOf(answer))
    const texts = answers.flatMap(contextOf)
    if (texts.length) (session(id).waiting ??= new Map()).set(callID, texts) // the call's result brings them
  }

  const onResult = async (id, callID, tool, args, result) => {
    const { title, output, metadata } = result
    const fields = { tool_name: tool, tool_input: args, tool_response: { title, output, metadata } }
    const answers = await run("tool.execute.after", id, fields)
    replace(result, resultIn(answers))
    append(result, [...(session(id).waiting?.get(callID) ?? []), ...answers.flatMap(feedbackOf)])
    session(id).waiting?.delete(callID)
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
      if (parentID) return
      session(id).begun = run("session.created", id, {})
      await session(id).begun
    } else if (type === "session.deleted") {
      sessions.delete(properties.info.id)
    }
  }

  return {
    event: ({ event }) => safely(() => onEvent(event)),
    "chat.message": ({ sessionID }, { message, parts }) => safely(() => onPrompt(sessionID, message, parts)),
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const refused = await safely(() => onCall(sessionID, callID, tool, args))
      if (!refused) return
      if (refused.ends) await safely(() => endTurn(sessionID, refused.reason))
      throw new Error(refused.reason || NO_REASON)
    },
    "tool.execute.after": ({ tool, sessionID, callID, args }, result) =>
      safely(() => onResult(sessionID, callID, tool, args, result)),
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
