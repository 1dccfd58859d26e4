"""An agent of the OpenHands SDK: `openhands_agent.py URL PROMPT...`; hooks as the SDK finds them, STEPS at most a run.

It runs in the SDK's own environment, and prints the agent's status at the end. With SKILLS it reads the project's
AGENTS.md, as an agent of OpenHands' own profiles does; with EDITOR it can write files by a tool, and with TASKS it can
start agents of its own. TOOLS are modules of further tools, with their names, and MCP the servers of others, as JSON.
"""

import importlib
import json
import os
import sys

from openhands.sdk import LLM, Agent, AgentContext, Conversation
from openhands.sdk.hooks import HookConfig
from openhands.sdk.tool import Tool
from openhands.tools.file_editor import FileEditorTool
from openhands.tools.preset.default import register_builtins_agents
from openhands.tools.task import TaskToolSet
from openhands.tools.terminal import TerminalTool


def main(url: str, *prompts: str) -> None:
    folder = os.getcwd()
    llm = LLM(model="openai/mock", base_url=f"{url}/v1", api_key="made-up", num_retries=0, usage_id="agent")
    tools = [Tool(name=TerminalTool.name, params={"terminal_type": "subprocess"})]
    if os.environ.get("EDITOR"):
        tools.append(Tool(name=FileEditorTool.name))
    if os.environ.get("TASKS"):
        register_builtins_agents(enable_browser=False)
        tools.append(Tool(name=TaskToolSet.name))
    for module, names in json.loads(os.environ.get("TOOLS", "{}")).items():
        importlib.import_module(f"openhands.tools.{module}")
        tools += [Tool(name=name) for name in names]
    servers = json.loads(os.environ.get("MCP", "{}"))
    context = AgentContext(load_project_skills=True) if os.environ.get("SKILLS") else None
    conversation = Conversation(
        agent=Agent(llm=llm, tools=tools, agent_context=context, mcp_config=servers),
        workspace=folder,
        max_iteration_per_run=int(os.environ.get("STEPS", "60")),
        hook_config=HookConfig.load(working_dir=folder),
        visualizer=None,
    )
    for prompt in prompts:
        conversation.send_message(prompt)
        conversation.run()
    print(conversation.state.execution_status.value)
    conversation.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
