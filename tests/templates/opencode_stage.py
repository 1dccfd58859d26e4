"""A stage for OpenCode's plugin, with a client that only writes down what it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import plugin_stage

STOP, PROMPT, BEFORE, AFTER = "session.idle", "chat.message", "tool.execute.before", "tool.execute.after"

# Loads each plugin, plays the steps one after another, and prints how each ended and what the client was asked.
_HOST = """
import { existsSync, readFileSync, writeFileSync } from "node:fs"
const { files, directory, steps, children, client: mood, result } = JSON.parse(readFileSync(0, "utf8"))
setInterval(() => {}, 1000) // a host has always something to do
const asked = []
const ask = (name) => (options) => {
  asked.push([name, options])
  if (mood === "throws") throw new Error(name)
  if (mood === "rejects") return Promise.reject(new Error(name))
  if (mood === "hangs") return new Promise(() => {})
  return Promise.resolve({ data: name === "get" ? { id: options.path.id, parentID: children[options.path.id] } : true })
}
const client = {
  session: { get: ask("get"), promptAsync: ask("promptAsync") },
  tui: { showToast: ask("showToast") },
  app: { log: ask("log") },
}
const plugins = []
for (const file of files) {
  const all = Object.values(await import(file))
  plugins.push(await all[0]({ client, directory, worktree: "/" }))
}
const ended = []
const pending = []
for (const [name, ...given] of steps) {
  try {
    if (name === "exists") ended.push(existsSync(given[0]))
    else if (name === "later") pending.push(...plugins.map((plugin) => plugin[given[0]](...given.slice(1))))
    else ended.push((await Promise.all(plugins.map((plugin) => plugin[name](...given))), ""))
  } catch (error) {
    ended.push(error.message)
  }
}
await Promise.all(pending)
writeFileSync(result, JSON.stringify({ ended, asked, given: steps.map((step) => step.at(-1)) }))
process.exit(0)
"""

IDLE = ["event", {"event": {"type": STOP, "properties": {"sessionID": "S"}}}]
CALL = {"tool": "bash", "sessionID": "S", "callID": "C", "args": {"command": "ls"}}
DONE = {"agent": "plan", "variant": "high", "providerID": "P", "modelID": "M", "finish": "stop"}


def event(kind: str, **info: Any) -> list[Any]:
    return ["event", {"event": {"type": kind, "properties": {"sessionID": info.get("sessionID", "S"), "info": info}}}]


def reply(id: str = "R", **more: Any) -> list[Any]:
    """The host's word about a reply of the model."""
    return event(
        "message.updated", **{"id": id, "role": "assistant", "sessionID": "S", "parentID": "U", **DONE, **more}
    )


def prompt(id: str = "U1", text: str = "begin", *, session: str = "S", ours: bool = False) -> list[Any]:
    part = {"type": "text", "text": text, **({"metadata": {"hookctl": True}} if ours else {})}
    return [PROMPT, {"sessionID": session}, {"message": {"id": id}, "parts": [part]}]


def before(session: str = "S") -> list[Any]:
    return [BEFORE, {**CALL, "sessionID": session}, {"args": {"command": "ls"}}]


def after() -> list[Any]:
    return [AFTER, CALL, {"title": "ls", "output": "a\n", "metadata": {"exit": 0}}]


def prompts(result: dict[str, Any]) -> list[Any]:
    return [options for name, options in result["asked"] if name == "promptAsync"]


class Stage(plugin_stage.Stage):
    host, project_variable = "opencode", "OPENCODE_PROJECT_DIR"
    program = _HOST
    before_call, stop = BEFORE, STOP

    def __init__(self, root: Path) -> None:
        super().__init__(root, "config/opencode/plugin", ".opencode/plugin")
        self.directory = self.project
        self.children: dict[str, str] = {}
        self.client = ""

    def given(self) -> dict[str, Any]:
        return {"directory": str(self.directory), "children": self.children, "client": self.client}

    def call(self, tool: str = "bash", **input: Any) -> list[Any]:
        return [BEFORE, {**CALL, "tool": tool}, {"args": input or {"command": "ls"}}]

    def refusals(self, *calls: Any) -> list[str]:
        return self.play(*calls)["ended"]

    def inputs(self, *calls: Any) -> list[Any]:
        return [given["args"] for given in self.play(*calls)["given"]]

    def prompts(self) -> list[str]:
        return [asked["body"]["parts"][0]["text"] for asked in prompts(self.play(prompt(), reply(), IDLE))]

    def projects(self) -> list[str]:
        return [line.partition("\t")[0] for line in self.lines()]
