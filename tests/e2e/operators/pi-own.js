export default (pi) => {
  const theirs = { type: "custom_message", customType: "theirs", content: "theirs", display: true }
  let calls = 0
  pi.on("agent_before_settle", ({ entries }) => calls++ ? undefined : { entries: [...entries, theirs] })
  pi.registerCommand("again", { description: "x", handler: async (_, context) => { await context.reload() } })
  const parameters = { type: "object", properties: {} }
  const execute = async () => ({ content: [{ type: "text", text: "key" }], structuredContent: { key: 1 }, details: {} })
  const about = { name: "own", label: "own", description: "x", outputSchema: { type: "object" } }
  pi.registerTool({ ...about, parameters, execute })
}
