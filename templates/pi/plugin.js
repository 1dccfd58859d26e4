// hookctl plugin 3: Pi loads this file. `hookctl install` writes it and `hookctl uninstall` takes it away.

// What the session has of ours: a prompt that keeps the agent at work, and what hooks add for the model.
const PROMPT = "hookctl"
const CONTEXT = "hookctl-context"

/** The text of a message. */
const textOf = (content) =>
  typeof content === "string" ? content : content.filter(({ type }) => type === "text").map(({ text }) => text).join("")

/** The turn as the session has it: the entries of its prompt and its last reply, and whether a prompt of ours is in it. */
function turnOf(session) {
  const turn = { forced: false }
  for (let entry = session.getEntry(session.getLeafId()); entry; entry = session.getEntry(entry.parentId)) {
    const role = entry.message?.role
    if (entry.customType === PROMPT) turn.forced = true
    if (role === "assistant") turn.reply ??= entry
    if (role === "user") return { ...turn, prompt: entry }
  }
  return turn
}

/** Tell the person; in print mode there is only stderr. A refusal holds where nobody can be told of it. */
function say({ hasUI, ui }, message) {
  try {
    if (hasUI) ui.notify(message, "warning")
    else console.error(message)
  } catch {}
}

export default (pi) => {
  const waiting = new Map() // what was added for the model before a call, by the call
  let begun = "" // the session that has begun

  /** Handle an event; whatever goes wrong, the agent goes on. */
  const on = (name, handle) =>
    pi.on(name, async (event, context) => {
      try {
        return await handle(event, context, (fields) => run(name, context, fields))
      } catch {}
    })

  /** Run the hooks of an event, all at once; their answers. */
  const run = async (name, context, fields) => {
    const hooks = hooksFor(name, fields.tool_name)
    if (!hooks.length) return []
    const session = context.sessionManager
    const who = { session_id: session.getSessionId(), transcript_path: session.getSessionFile(), cwd: context.cwd }
    const answers = await callAll(hooks, { ...who, hook_event_name: name, ...fields }, process.env)
    for (const { systemMessage } of answers) if (isText(systemMessage)) say(context, systemMessage)
    return answers
  }

  /** Put texts behind the next prompt. */
  const tellNext = (texts) => {
    const message = { customType: CONTEXT, content: texts.join("\n\n"), display: false }
    if (texts.length) pi.sendMessage(message, { deliverAs: "nextTurn" })
  }

  on("session_start", async ({ reason }, context, ask) => {
    const id = context.sessionManager.getSessionId()
    if (reason === "reload" || id === begun) return // RPC mode tells of a new session twice
    begun = id
    tellNext((await ask({ source: reason })).flatMap(contextOf))
  })

  on("input", async ({ text, streamingBehavior }, context, ask) => {
    const answers = await ask({ prompt: text })
    const refused = refusalIn(answers)
    if (refused) {
      say(context, refused.reason || "A hook refused this prompt.")
      return { action: "handled" }
    }
    const texts = answers.flatMap(contextOf)
    // While the agent is at work, a message of its own could come before or behind this one.
    if (streamingBehavior && texts.length) return { action: "transform", text: [text, ...texts].join("\n\n") }
    tellNext(texts)
  })

  on("tool_call", async ({ toolName, toolCallId, input }, context, ask) => {
    const prompt_id = turnOf(context.sessionManager).prompt?.id
    const answers = await ask({ tool_name: toolName, tool_input: input, tool_use_id: toolCallId, prompt_id })
    const refused = refusalIn(answers)
    if (refused?.ends) {
      say(context, refused.reason || NO_REASON)
      context.abort()
    }
    if (refused) return { block: true, reason: refused.reason || NO_REASON }
    for (const answer of answers) Object.assign(input, inputOf(answer))
    const texts = answers.flatMap(contextOf)
    if (texts.length) waiting.set(toolCallId, texts) // the call's result brings them
  })

  on("tool_result", async (event, context, ask) => {
    const { toolName, toolCallId, input, content, structuredContent, details, isError } = event
    const prompt_id = turnOf(context.sessionManager).prompt?.id
    const tool_response = { output: textOf(content), details, is_error: isError }
    const answers = await ask({ tool_name: toolName, tool_input: input, tool_use_id: toolCallId, prompt_id, tool_response })
    const texts = [...(waiting.get(toolCallId) ?? []), ...answers.flatMap(feedbackOf)]
    waiting.delete(toolCallId)
    const replaced = resultIn(answers)
    if (!texts.length && !replaced) return
    const parts = replaced ? [{ type: "text", text: replaced }] : [...content]
    if (texts.length) parts.push({ type: "text", text: texts.join("\n\n") })
    // Newer versions drop structured content that does not come with the new content; one that was replaced is to go.
    return { content: parts, structuredContent: replaced ? undefined : structuredContent }
  })

  on("agent_before_settle", async ({ outcome, entries }, context, ask) => {
    if (outcome !== "completed") return // an error of the model is no stop; after an abort Pi does not ask
    const { prompt, reply, forced } = turnOf(context.sessionManager)
    const answers = await ask({
      stop_hook_active: forced,
      prompt_id: prompt?.id,
      message_id: reply?.id,
      last_assistant_message: reply && textOf(reply.message.content),
    })
    const reason = blockIn(answers)
    // A message of a person comes first. And a user's and a project's file see the same stop: one prompt is enough.
    if (!reason || context.hasPendingMessages() || entries.some(({ customType }) => customType === PROMPT)) return
    const message = { type: "custom_message", customType: PROMPT, content: reason, display: true }
    return { entries: [...entries, message], continue: true }
  })

  on("session_before_compact", async ({ reason, customInstructions }, context, ask) => {
    await ask({ trigger: reason, custom_instructions: customInstructions })
  })

  on("session_shutdown", async ({ reason }, context, ask) => {
    if (reason !== "reload") await ask({ reason })
  })
}
