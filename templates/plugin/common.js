// In the settings a timeout (seconds) or a matcher may be changed; the code below them may not.
const settings =
{}
// From here on every file of this version is the same; hookctl does not touch one that differs.

import { spawn } from "node:child_process"
import { existsSync } from "node:fs"

const OUTPUT_LIMIT = 1 << 24 // as the runner has it, whose answers are ASCII
const REFUSED = 2 // the status of a command that refuses, with the reason on stderr
const GRACE_MS = 500

const NO_REASON = "A hook refused this call."

const isText = (value) => typeof value === "string" && value !== ""

/** Everything that a stream says, up to a limit, and whether it said more. */
function gather(stream) {
  const said = { text: "", isCut: false }
  stream.setEncoding("utf8").on("data", (piece) => {
    said.isCut ||= said.text.length + piece.length > OUTPUT_LIMIT
    if (!said.isCut) said.text += piece
  })
  said.ended = new Promise((resolve) => stream.on("close", resolve).on("error", resolve))
  return said
}

/** Wait for the end of streams. What a command left running may hold them for long; its own words are there soon. */
async function finish(streams) {
  const late = new Promise((resolve) => setTimeout(() => setImmediate(resolve), GRACE_MS).unref())
  await Promise.race([Promise.all(streams.map(({ ended }) => ended)), late])
}

/** Status, stdout and stderr of a hook's command, or `failed`: why there is none of these. */
function start(hook, payload, env) {
  return new Promise((resolve) => {
    const input = JSON.stringify(payload)
    const cwd = existsSync(payload.cwd) ? payload.cwd : "/" // a folder that is gone stops no hook
    const child = spawn("/bin/sh", ["-c", hook.command], { cwd, env, detached: true })
    const timer = setTimeout(() => {
      resolve({ failed: "it took too long" })
      try {
        process.kill(-child.pid, "SIGKILL") // its whole process group
      } catch {}
    }, Math.min((hook.timeout ?? 60) * 1000, 2 ** 31 - 1)) // a longer one would end at once
    const end = (ended) => {
      clearTimeout(timer)
      resolve(ended)
    }
    child.on("error", ({ message }) => end({ failed: message }))
    const [out, errors] = [gather(child.stdout), gather(child.stderr)]
    child.on("exit", async (status) => {
      await finish(status === REFUSED ? [out, errors] : [out]) // of stderr only a reason is worth waiting for
      for (const stream of [child.stdout, child.stderr]) stream.unref?.()
      const failed = out.isCut && "it said more than 16 MiB"
      end({ status, out: out.isCut ? "" : out.text, errors: errors.text, failed })
    })
    child.stdin.on("error", () => {}).end(input) // a command need not read it
  }).catch(({ message }) => ({ failed: message }))
}

/** What a hook's command answers: the object on its stdout, and `told`, what it says with its status. */
async function call(hook, payload, env) {
  const { status, out, errors, failed } = await start(hook, payload, env)
  const told = status === REFUSED ? errors.trim() : undefined
  if (failed) return { told, systemMessage: `hookctl: a hook failed: ${failed}` }
  try {
    return { ...JSON.parse(out), told }
  } catch {
    return { told }
  }
}

const nested = (answer) => answer.hookSpecificOutput ?? {}

/** Why an answer refuses a tool call; undefined if it does not. Nobody can be asked, so `ask` refuses too. */
function refusal(answer) {
  const { permissionDecision, permissionDecisionReason } = nested(answer)
  if (permissionDecision === "deny" || permissionDecision === "ask") return permissionDecisionReason ?? answer.told ?? ""
  if (answer.decision === "deny" || answer.decision === "block") return answer.reason ?? answer.told ?? ""
  return answer.told
}

/** The parts of a tool's input that an answer changes. */
function inputOf(answer) {
  const { updatedInput } = nested(answer)
  return updatedInput?.constructor === Object ? updatedInput : {}
}

/** What stands for a tool's own result; undefined where every answer leaves it as it is. */
const resultIn = (answers) => answers.map((answer) => nested(answer).updatedToolOutput).findLast(isText)

/** What an answer adds for the model. */
const contextOf = (answer) => [nested(answer).additionalContext].filter(isText)

/** What an answer says about a call that has run: a reason why it was wrong, and context. */
const feedbackOf = (answer) =>
  [answer.decision === "block" ? answer.reason : undefined, answer.told, ...contextOf(answer)].filter(isText)

/** Is this hook for this tool? Names are lower case here, and matchers are often written for other hosts. */
function matches(hook, tool) {
  try {
    const { matcher } = hook
    return !matcher || matcher === "*" || new RegExp(`^(?:${matcher})$`, "i").test(tool)
  } catch {
    return false
  }
}

/** The hooks of an event that are for this tool; all of them where there is none. */
const hooksFor = (event, tool) => (settings.hooks?.[event] ?? []).filter((hook) => matches(hook, tool))

/** What hooks answer; all are called at once. */
const callAll = (hooks, payload, env) => Promise.all(hooks.map((hook) => call(hook, payload, env)))

/** Why a stop is blocked; undefined if it is not, or without a reason. */
const blockIn = (answers) => answers.find(({ decision, reason }) => decision === "block" && isText(reason))?.reason

/** Why a call is refused, and whether the turn ends with it; undefined if no answer refuses it. */
function refusalIn(answers) {
  const refusals = answers.filter((answer) => refusal(answer) !== undefined)
  if (!refusals.length) return
  const last = refusals.find((answer) => answer.continue === false)
  const reason = refusal(last ?? refusals[0])
  return { reason: isText(reason) ? reason : "", ends: Boolean(last) }
}
