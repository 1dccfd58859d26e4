"""What a host tells its hooks, told as Claude Code does.

The table of the host says how it names tools, inputs and fields; see `[runner]` in the hosts' data
files. What a host does not tell is null.
"""

from .exact import parse_exactly
from .files import env
from .patch import patches_in_command, read_patch

# Claude Code's tools by class.
TOOLS = {
    "shell": "Bash",
    "write": "Write",
    "edit": "Edit",
    "read": "Read",
    "search": "Grep",
    "list": "Glob",
    "fetch": "WebFetch",
    "web-search": "WebSearch",
    "agent": "Agent",
}
UNCLASSED = ("web-search", "todo")  # packs are not told these as classes
WRITING = ("write", "edit")
FILE_TOOLS = (*WRITING, "read")
FAILURE_EVENT = "PostToolUseFailure"
TOOL_EVENTS = ("PreToolUse", "PostToolUse", FAILURE_EVENT)
# What else Claude Code tells at each event.
FIELDS = {
    "UserPromptSubmit": ("prompt",),
    "Stop": ("stop_hook_active", "last_assistant_message"),
    "SubagentStop": ("stop_hook_active", "last_assistant_message", "agent_type"),
    "SessionStart": ("source",),
    "PreCompact": ("trigger", "custom_instructions"),
    "Notification": ("message", "notification_type"),
    "SessionEnd": ("reason",),
}
COMMON = ("session_id", "transcript_path", "cwd", "permission_mode")
FLAG = "stop_hook_active"
# What only `portable` tells: Claude Code has no field of this name.
OURS = (
    "turn", "agent", "output", "exit_status", "failed", "refused",
    "mcp_server", "mcp_tool", "mcp_input",
)  # fmt: skip
# What Claude Code's tools always have; some hosts leave it out where it is empty.
ALWAYS = {"write": {"content": ""}, "edit": {"old_string": "", "new_string": ""}}
TEXTS = {"command": " ", "content": "\n", "old_string": "\n", "new_string": "\n"}


class Tool:
    """A tool call by Claude Code's name, its class, and its input by Claude Code's names."""

    def __init__(self, name, kind, input, input_names=None, is_part=False):
        self.name, self.kind, self.input = name, kind, input
        self.other_names = ()  # that a matcher may have
        self.input_names = input_names  # the host's by Claude Code's; None: of no use for a change
        self.is_part = is_part  # of another call, about which there is a question too

    def about(self, key, value, input_names):
        """The same call with another input."""
        input = {**self.input, key: value}
        tool = Tool(self.name, self.kind, input, input_names, self.is_part)
        tool.other_names = self.other_names
        return tool

    def names_for(self, values):
        """The names for a change: none where the call is about several of them."""
        return self.input_names if len(values) == 1 else None


class Asked:
    """One question to the command: a payload of Claude Code, and how the host asked it."""

    def __init__(self, payload, portable, tool=None, sent=None):
        self.payload, self.portable, self.sent = payload, portable, sent or {}
        self.tools = (tool.name, *tool.other_names) if tool else ()
        self.input_names = tool.input_names if tool else {}
        self.is_part = bool(tool and tool.is_part)
        self.is_unnamed = False  # nobody can tell which file it changes, or what it runs

    @property
    def can_change(self):
        """Does a changed input of this question fit into the host's call?"""
        return self.input_names is not None


def questions(table, event, native, host_name):
    """What the command is asked about this event: one question, of a patch one for each file."""
    base = {name: find_text(table, native, name) for name in COMMON}
    base["hook_event_name"] = event
    for name in FIELDS.get(event, ()):
        base[name] = find_text(table, native, name)
    if FLAG in base:
        flag = find(table, native, FLAG)
        base[FLAG] = None if flag is None else bool(flag)
    portable = portable_part(table, event, native, host_name)
    agent = {"agent_id": portable["agent"], "agent_type": find_text(table, native, "agent_type")}
    base.update({key: value for key, value in agent.items() if value})  # in a sub-agent alone
    if event not in TOOL_EVENTS:
        return [Asked(base, portable)]
    base["tool_use_id"] = find_text(table, native, "tool_use_id")
    name, sent = call_in(table, native)
    asked = []
    for tool in tools_in(table, name, sent, native):
        is_changed = tool.kind in FILE_TOOLS and not table.get("own_protocol")
        for each in files_meant(table, tool, base["cwd"]) if is_changed else [tool]:
            asked.append(question_about(table, base, portable, native, each, sent))
    return asked


def files_meant(table, tool, folder):
    """The same call for each file that its path may mean: Claude Code's paths are absolute.

    Where there is a step back, some hosts follow the links on the way, and others do not.
    """
    path = text_or_none(tool.input.get("file_path")) or ""
    path = without_prefix(path, table.get("path_prefixes", ()))
    if path and path[0] != "/" and folder:
        path = folder.rstrip("/") + "/" + path
    if path[:1] != "/":
        return [tool.about("file_path", path or None, tool.input_names)]
    paths = [without_steps(path)]
    if ".." in path.split("/"):
        paths.append(followed(path) or paths[0])
    paths = list(dict.fromkeys(paths))
    return [tool.about("file_path", each, tool.names_for(paths)) for each in paths]


def without_prefix(path, prefixes):
    """A path as the host means it, where it does not take one word for word; empty if unclear."""
    if "@" in prefixes and path.startswith("@"):
        path = path[1:]
    if "~/" in prefixes and path.startswith("~"):
        return env("HOME") + path[1:] if path.startswith("~/") else ""
    scheme, colon, rest = path.partition(":")
    if "file:" in prefixes and colon and scheme.isalpha():
        from urllib.parse import unquote

        is_here = scheme.lower() == "file" and rest.startswith("///")
        return unquote(rest[2:]) if is_here else ""
    return path


def without_steps(path):
    """An absolute path without `.`, `..` and empty parts, whatever lies there."""
    parts = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)


def followed(path):
    """A path with the links on its way followed; None where that cannot be."""
    from posixpath import realpath

    try:
        return realpath(path)
    except (OSError, ValueError):
        return None


def question_about(table, base, portable, native, tool, sent):
    """The question about one tool call."""
    input, kind = tool.input, tool.kind
    path = text_or_none(input.get("file_path")) or text_or_none(input.get("notebook_path"))
    payload = {**base, "tool_name": tool.name, "tool_input": input}
    portable = {
        **portable,
        "tool": "other" if kind in UNCLASSED else kind,
        "command": text_or_none(input.get("command")) if kind == "shell" else None,
        "paths": [path] if path else None,
        "url": text_or_none(input.get("url")),
    }
    asked = Asked(payload, portable, tool, sent)
    if payload["hook_event_name"] != "PreToolUse":
        tell_outcome(table, native, payload, portable, kind)
    elif not table.get("own_protocol"):
        is_unnamed_command = kind == "shell" and type(input.get("command")) is not str
        asked.is_unnamed = is_unnamed_command or (kind in WRITING and not path)
    return asked


def tell_outcome(table, native, payload, portable, kind):
    """Add what came of the call: the response, and whether it failed, where the host tells."""
    event, output = payload["hook_event_name"], find(table, native, "output")
    text = output if type(output) is str else None
    status = find(table, native, "exit_status")
    failed = find(table, native, "failed")
    portable["exit_status"] = status if type(status) is int else None
    if FAILURE_EVENT in table.get("events", {}):
        is_unheard = event != FAILURE_EVENT and kind in table.get("unheard_failures", ())
        portable["ok"] = None if is_unheard else event != FAILURE_EVENT
    elif portable["exit_status"]:
        portable["ok"] = False
    elif type(failed) is bool:
        portable["ok"] = not failed
    elif failed is not None:  # the error itself
        portable["ok"] = False
    elif portable["exit_status"] == 0:
        portable["ok"] = True
    if event == FAILURE_EVENT:
        payload["error"] = find_text(table, native, "error") or text or ""
    elif kind == "shell" and text is not None:
        payload["tool_response"] = {"stdout": text, "stderr": "", "interrupted": False}
    elif portable["paths"]:
        payload["tool_response"] = {"filePath": portable["paths"][0], "content": text}
    else:
        payload["tool_response"] = output


def portable_part(table, event, native, host_name):
    """The fields that are the same on every host, without those of a tool call."""
    empty = ("tool", "command", "paths", "url", "ok", "exit_status")
    return {
        **dict.fromkeys(empty),
        "host": host_name,
        "event": event,
        "turn": text_or_none(find(table, native, "turn")),
        "agent": text_or_none(find(table, native, "agent")),
        "native": None,
        "can": [name for name in CAN if name in table.get("answers", {}).get(event, {})],
    }


CAN = ("refuse", "ask", "change", "context", "replace")


def text_or_none(value):
    return value if type(value) is str and value else None


def find(table, native, name):
    """A field by Claude Code's name, and its value in Claude Code's words.

    The table has the host's path, with dots for what lies inside, and the host's words.
    """
    usual = () if name in OURS else (name,)
    found = None
    for path in table.get("fields", {}).get(name, usual):
        value = value_at(native, path.split("."))
        if value not in (None, ""):
            return in_claudes_words(table, name, value)
        found = found if value is None else value
    return found


def value_at(value, path):
    """What lies at a path, or None; at `*` the texts of all elements, in lines."""
    for at, part in enumerate(path):
        if part == "*" and type(value) is list:
            texts = [value_at(element, path[at + 1 :]) for element in value]
            return "\n".join(text for text in texts if text_or_none(text)) or None
        value = look_into(value, part)
    return value


def in_claudes_words(table, name, value):
    words = table.get("values", {}).get(name)
    return words.get(value, value) if words and type(value) is str else value


def was_refused(table, native):
    """Was this call refused? Some hosts tell the end of a call that never began."""
    return find(table, native, "refused") is True


def look_into(value, part):
    """A part of a value, which may be an object, a list, or an object as a text; or None."""
    if type(value) is str and value[:1] == "{":
        value = object_in_text(value)
    if type(value) is dict:
        return value.get(part)
    if type(value) is list and part.isdigit() and int(part) < len(value):
        return value[int(part)]
    return None


def object_in_text(text):
    """The object of JSON in a text, or None."""
    if text[:1] != "{":
        return None
    try:
        return parse_exactly(text.encode("utf-8", "surrogatepass"), "surrogatepass")
    except ValueError:
        return None


def find_text(table, native, name):
    """A field with a text, or None."""
    value = find(table, native, name)
    return value if type(value) is str else None


def call_in(table, native):
    """Name and input of the tool call, as the host has them."""
    sent = find(table, native, "tool_input")
    if type(sent) is str:
        sent = object_in_text(sent) or {"input": sent}
    if type(sent) is dict:
        sent = {key: value for key, value in sent.items() if value is not None}
    else:
        sent = {}
    return find_text(table, native, "tool_name") or "", sent


def tools_in(table, name, sent, native):
    """The calls of Claude Code that a call of the host stands for: one for each file it changes."""
    if table.get("own_protocol"):
        kind = "mcp" if name.startswith("mcp__") else class_of(table, name, sent)
        return [Tool(name, kind, sent, {})]
    kind, part = class_of(table, name, sent), table.get("parts", {}).get(name, {})
    if any(sent.get(key) != value for key, value in part.get("only", {}).items()):
        part = {}
    patches = [value_at(sent, path.split(".")) for path in alternatives(part.get("patch", ()))]
    patches = [patch for patch in patches if text_or_none(patch) and not object_in_text(patch)]
    if patches:
        return [edit for patch in patches for edit in edits_in(patch)]
    changes = sent.get(part.get("list"))
    if type(changes) is list and changes:
        del sent[part["list"]]
        return changed_files(table, name, kind, sent, changes)
    tool = tool_call(table, name, kind, sent)
    if kind == "shell" and table.get("patches_in_shell"):
        patches = patches_in_command(text_or_none(tool.input.get("command")) or "")
        edits = [edits_in(patch, folder, is_part=True) for folder, patch in patches]
        return [tool, *(edit for some in edits for edit in some)]
    mcp = mcp_name(table, name, native) if kind == "other" else ""
    if mcp:
        return [mcp_call(table, mcp, tool, native)]
    return spread(tool)


def tool_call(table, name, kind, sent):
    """The call of Claude Code's tool of this class, with its input by Claude Code's names."""
    names, by = table.get("input", {}).get(kind, {}), table.get("by", {})
    claudes = {theirs: claude for claude in names for theirs in alternatives(names[claude])}
    input, own = dict(ALWAYS.get(kind, {})), {}
    for key, value in sent.items():
        if key in claudes:
            own.setdefault(claudes[key], []).append(value)
        elif key != by.get("field") or name not in by["tools"]:
            input[key] = value
    for key, values in own.items():  # a key that the host does not read hides none
        input[key] = flat(values) if len(values) > 1 else values[0]
    for key in TEXTS:
        if key in input:
            input[key] = text_of(input[key], TEXTS[key])
    tool, tools = Tool(TOOLS.get(kind, name), kind, input, names), table.get("tools", {})
    if kind == "fetch" and "url" not in input:
        input["url"] = addresses_in(text_or_none(input.get("prompt")) or "")
        tool.input_names = None  # another address does not fit into a prompt
    if kind in WRITING:  # some hosts have one tool for both
        tool.other_names = [TOOLS[other] for other in WRITING if name in tools.get(other, ())]
    return tool


def alternatives(names):
    """One name, or several, of which a call has one."""
    return (names,) if type(names) is str else names


def addresses_in(prompt):
    """The addresses in the prompt of a tool that has no field for them, or None."""
    words = [word.strip("<>()[]{}\"'`,;.!?\ufeff") for word in prompt.split()]
    found = [word.partition("://") for word in words if "://" in word]
    return [scheme.lower() + between + rest for scheme, between, rest in found] or None


def text_of(value, between):
    """A text that some send in parts: words, lines, or a program beside its words."""
    if type(value) is dict and type(value.get("command")) is str:
        words = value.get("args")
        value = [value["command"], *(words if type(words) is list else ())]
    return between.join(map(str, value)) if type(value) is list else value


def flat(values):
    """A list of values, some of which are lists."""
    lists = [value if type(value) is list else [value] for value in values]
    return [each for values in lists for each in values]


def changed_files(table, name, kind, sent, changes):
    """The calls that a list of changes stands for, one for each file.

    What is the same in all stands beside it; where both have a file, either may be meant.
    """
    files = {}
    for change in changes:
        change = change if type(change) is dict else {}
        for values in ({**sent, **change}, {**change, **sent}):
            tool = tool_call(table, name, kind, values)
            path = tool.input.get("file_path")
            tools = files.setdefault(path if type(path) is str else None, [])
            if not tools or tools[-1].input != tool.input:
                tools.append(tool)
    return [joined(tools) for tools in files.values()]


def joined(tools):
    """One call that changes all that these change in a file."""
    tool = tools[0]
    tool.input_names = None  # a changed input fits none of them
    for key in ("old_string", "new_string"):
        if key in tool.input:
            tool.input[key] = "\n".join(str(each.input[key]) for each in tools)
    return tool


def edits_in(patch, folder="", is_part=False):
    """The calls that a patch stands for; at least one, which names no file where nobody can."""
    changes = read_patch(patch) if folder is not None else ()
    edits = [Tool(TOOLS[kind], kind, input, None, is_part) for kind, input in changes]
    for edit in edits:
        if folder and edit.input["file_path"][:1] != "/":
            edit.input["file_path"] = folder + edit.input["file_path"]
    if edits:
        return edits
    unnamed = Tool(TOOLS["edit"], "edit", {**ALWAYS["edit"], "new_string": patch}, None, is_part)
    unnamed.other_names = (TOOLS["write"],)
    return [unnamed]


def mcp_call(table, name, tool, native):
    """The call of an MCP server's tool, with the input of that tool alone."""
    tool.name, tool.kind = name, "mcp"
    input = find(table, native, "mcp_input")
    if type(input) is dict:
        tool.input, tool.input_names = input, None
    return tool


def spread(tool):
    """One call for each value, where the call has several of what Claude Code has one of."""
    for key in ("url", *(tool.input_names or ())):
        values = tool.input.get(key)
        if type(values) is list and values:
            return [tool.about(key, value, tool.names_for(values)) for value in values]
    return [tool]


def class_of(table, name, sent):
    """The class of a tool: by its name, or by a field where one tool does several things."""
    by = table.get("by", {})
    if name in by.get("tools", ()):
        return by["classes"].get(text_or_none(sent.get(by["field"])), "other")
    for kind, names in table.get("tools", {}).items():
        if kind != "mcp" and (name in names or name == TOOLS.get(kind)):
            return kind
    return "other"


def mcp_name(table, name, native):
    """Claude Code's name of a tool of an MCP server; empty if it is none."""
    if name.startswith("mcp__"):
        return name
    server, tool = find_text(table, native, "mcp_server"), find_text(table, native, "mcp_tool")
    if server and tool:
        return "mcp__" + server + "__" + tool
    forms = table.get("tools", {}).get("mcp") or [""]
    prefix, _, rest = forms[0].partition("{server}")
    between = rest.partition("{tool}")[0]
    if not between or not name.startswith(prefix):
        return ""
    server, found, tool = name[len(prefix) :].partition(between)
    return "mcp__" + server + "__" + tool if found and server and tool else ""


def to_native(asked, updated):
    """A changed input by the host's names, on top of the one that it sent."""
    changed = dict(asked.sent)
    for key, value in updated.items():
        names = alternatives(asked.input_names.get(key, key))
        theirs = next((name for name in names if name in changed), names[0])
        is_list = theirs != key and type(changed.get(theirs)) is list
        changed[theirs] = [value] if is_list and type(value) is not list else value
    return changed
