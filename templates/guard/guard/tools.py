"""Tool calls: which one an event tells of, whether it is a required one, and how they are counted."""

from .values import digest, dump, first_text


def event_call(payload):
    """Name and arguments of the tool call that an event tells of; None for arguments that it does not tell."""
    if type(payload.get("toolCall")) is dict:  # Antigravity
        payload = payload["toolCall"]
    name = first_text(payload, "tool_name", "toolName", "name")
    for field in ("tool_input", "toolArgs", "tool_args", "args"):
        if field in payload:
            return name, payload[field]
    return name, None


def is_required(settings, name):
    """Is this one of the tools that the agent has to call, by itself or behind a server's name?"""
    if type(name) is not str:
        return False
    if name == "exec_command" and "Bash" in settings.required_tools:
        return True  # Codex: the name in its transcript, and the one that its hooks are told
    return any(
        name == tool or name.endswith(("__" + tool, "." + tool)) for tool in settings.required_tools
    )


def count_call(state, name, arguments, novelty):
    """Count a tool call, unless the same one is among the last."""
    call = digest(dump([name, arguments]))
    known = call in state.ring
    state.ring = [other for other in state.ring if other != call] + [call]
    if not (known and novelty and arguments is not None):
        state.acts += 1
