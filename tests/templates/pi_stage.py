"""A stage for Pi's extension, with a host that only writes down what it is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from . import plugin_stage

START, PROMPT, BEFORE, AFTER = "session_start", "input", "tool_call", "tool_result"
STOP, COMPACT, END = "agent_before_settle", "session_before_compact", "session_shutdown"

# Loads each extension, gives the steps to their handlers one after another, and prints what each answered, and what
# the host was asked. `entries` are those of the session, the last one is its leaf.
_HOST = """
import { readFileSync, writeFileSync } from "node:fs"
const { files, steps, entries, context: about, result } = JSON.parse(readFileSync(0, "utf8"))
const asked = []
const ask = (name) => (...given) => void asked.push([name, ...given])
const linked = entries.map((entry, number) => ({ parentId: entries[number - 1]?.id ?? null, ...entry }))
const byId = new Map(linked.map((entry) => [entry.id, entry]))
const context = {
  cwd: about.cwd,
  hasUI: about.hasUI,
  ui: { notify: about.mute ? () => { throw new Error("gone") } : ask("notify") },
  abort: ask("abort"),
  hasPendingMessages: () => about.pending,
  sessionManager: {
    getSessionId: () => about.session,
    getSessionFile: () => about.file,
    getLeafId: () => entries.at(-1)?.id ?? null,
    getEntry: (id) => byId.get(id),
  },
}
const handlers = []
for (const file of files) {
  const own = {}
  ;(await import(file)).default({ on: (name, handle) => (own[name] = handle), sendMessage: ask("sendMessage") })
  handlers.push(own)
}
const answers = []
for (const [name, event] of steps) {
  let told = { type: name, ...event }
  for (const own of handlers) {
    const answer = await own[name](told, context)
    answers.push(answer ?? null)
    if (name === "agent_before_settle") told = { ...told, ...answer }
  }
}
writeFileSync(result, JSON.stringify({ answers, asked, given: steps.map((step) => step.at(-1)) }))
"""


def message(id: str, role: str, text: str) -> dict[str, Any]:
    return {"type": "message", "id": id, "message": {"role": role, "content": [{"type": "text", "text": text}]}}


def custom(id: str, kind: str) -> dict[str, Any]:
    return {"type": "custom_message", "id": id, "customType": kind, "content": "go on"}


SYSTEM, USER, REPLY = message("E", "system", "s"), message("U", "user", "begin"), message("R", "assistant", "done")
PROMPT_OF_OURS = {"type": "custom_message", "customType": "hookctl", "content": "go on", "display": True}


def settle(outcome: str = "completed", *entries: Any) -> list[Any]:
    return [STOP, {"outcome": outcome, "entries": list(entries), "continue": False}]


def before(tool: str = "bash", **input: Any) -> list[Any]:
    return [BEFORE, {"toolName": tool, "toolCallId": "C", "input": input or {"command": "ls"}}]


def after(call: str = "C", text: str = "a\n", failed: bool = False) -> list[Any]:
    content = [{"type": "text", "text": text}]
    about = {"toolName": "bash", "toolCallId": call, "input": {"command": "ls"}, "details": {"x": 1}}
    return [AFTER, {**about, "content": content, "isError": failed}]


def typed(text: str = "begin", **more: Any) -> list[Any]:
    return [PROMPT, {"text": text, "source": "interactive", **more}]


class Stage(plugin_stage.Stage):
    host, program, writes_errors = "pi", _HOST, True
    before_call, stop = BEFORE, STOP

    def __init__(self, root: Path) -> None:
        super().__init__(root, "agent/extensions", ".pi/extensions")
        self.entries: list[dict[str, Any]] = [SYSTEM, USER, REPLY]
        self.context: dict[str, Any] = {
            "cwd": str(self.project), "session": "S", "file": "/s.jsonl", "hasUI": True, "pending": False,
        }  # fmt: skip

    def given(self) -> dict[str, Any]:
        return {"entries": self.entries, "context": self.context}

    def call(self, tool: str = "bash", **input: Any) -> list[Any]:
        return before(tool, **input)

    def refusals(self, *calls: Any) -> list[str]:
        return [answer["reason"] if answer else "" for answer in self.play(*calls)["answers"]]

    def inputs(self, *calls: Any) -> list[Any]:
        return [given["input"] for given in self.play(*calls)["given"]]

    def prompts(self) -> list[str]:
        (answer,) = self.play(settle())["answers"]
        return [entry["content"] for entry in answer["entries"]] if answer else []
