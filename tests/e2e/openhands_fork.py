"""Two conversations of one project, the second forked from the first: `openhands_fork.py URL HOOKS`.

HOOKS is `with` where the program gives the fork the hooks again, since `fork()` carries none along. It prints the
status of each, and what the hooks of a stop answered.
"""

import json
import os
import sys
from typing import Any

from openhands.sdk import LLM, Agent, Conversation
from openhands.sdk.event import HookExecutionEvent
from openhands.sdk.hooks import HookConfig


def run(conversation: Any, prompt: str) -> dict[str, Any]:
    before = len(conversation.state.events)
    conversation.send_message(prompt)
    conversation.run()
    stops = []
    for event in list(conversation.state.events)[before:]:
        if isinstance(event, HookExecutionEvent) and event.hook_event_type == "Stop":
            stops.append([event.blocked, event.reason])
    return {"status": conversation.state.execution_status.value, "stops": stops}


def main(url: str, hooks: str) -> None:
    folder = os.getcwd()
    llm = LLM(model="openai/mock", base_url=f"{url}/v1", api_key="made-up", num_retries=0, usage_id="agent")
    config = HookConfig.load(working_dir=folder)
    kept = os.path.join(os.environ["HOME"], "conversations")
    options = {"workspace": folder, "max_iteration_per_run": 60, "visualizer": None, "persistence_dir": kept}
    first = Conversation(agent=Agent(llm=llm, tools=[]), hook_config=config, **options)
    said = [run(first, "begin")]
    fork = first.fork()
    if hooks == "with":  # as a program does it that wants them: opened again, by its id
        id, agent = fork.id, Agent(llm=llm, tools=[])
        fork.close()
        fork = Conversation(agent=agent, conversation_id=id, hook_config=config, **options)
    said.append(run(fork, "go on"))
    print(json.dumps(said))
    first.close()
    fork.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
