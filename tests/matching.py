"""Which matchers fit which tools of a host: the real clients and hookctl are asked the same."""

from __future__ import annotations

from hookctl import hosts

SHELLS = {"kimi": "Bash", "grok": "run_terminal_command"}
# A matcher, and whether it fits the shell tool.
OF_SHELL = {
    "kimi": {
        "": True, ".*": True, "Write|Bash": True, "as": True,
        "*": False, "bash": False, "Bash,Write": False,
    },
    "grok": {
        "Bash": True, "run_terminal_command": True, "run_.*": True, "*": True, "": True, "grep|Bash": True,
        "bash": False, "run_terminal": False, "grep,Bash": False,
    },
}  # fmt: skip
VIBES = hosts.load("vibe").matchers.names  # the tools of Mistral Vibe, with their other names


def of_vibe(tool: str) -> dict[str, bool]:
    """Matchers, and whether they fit a tool of Mistral Vibe."""
    names, name = [tool, *VIBES[tool]], VIBES[tool][0]
    fit = [*names, name.upper(), f"{name[:-1]}?", "*", f"re:nothing|{name.upper()}", "re:.*"]
    miss = ["", name[:-1], f"{name}|nothing", f"{name},nothing", f"re:{name[:-1]}", "re:("]
    return {**dict.fromkeys(fit, True), **dict.fromkeys(miss, False)}
