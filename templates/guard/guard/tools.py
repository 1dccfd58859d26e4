"""Tool calls: the one in an event, which are required, and how they are counted."""

from .files import env
from .values import digest, dump, first_text


def event_call(payload):
    """Name and arguments of the tool call in an event; None if it has no arguments."""
    if type(payload.get("toolCall")) is dict:  # Antigravity
        payload = payload["toolCall"]
    name = first_text(payload, "tool_name", "toolName", "name")
    for field in ("tool_input", "toolArgs", "tool_args", "args"):
        if field in payload:
            return name, payload[field]
    return name, None


def is_required(settings, name):
    """Is this a required tool, by its name alone or behind a server's name?"""
    if type(name) is not str:
        return False
    if name == "exec_command" and "Bash" in settings.required_tools:
        return True  # Codex: one name in its transcript, another for hooks
    return any(
        name == tool or name.endswith(("__" + tool, "." + tool)) for tool in settings.required_tools
    )


def name_task(settings):
    """The task that a required tool is called for, as a hash; empty if no variable names one."""
    scope = settings.required_scope_env
    task = env(scope).strip() if scope else ""
    return digest(task) if task else ""


def count_call(state, name, arguments, novelty):
    """Count a tool call; with `novelty`, not if it is among the last ones."""
    call = digest(dump([name, arguments]))
    known = call in state.ring
    state.ring = [other for other in state.ring if other != call] + [call]
    if not (known and novelty and arguments is not None):
        state.acts += 1
