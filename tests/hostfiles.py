"""Every settings file that hookctl writes, as the hosts' documents have it: where it lies and what stands in it.

Written down here and not taken from the hosts' data files, so that the tests have a second word on them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

CORPUS = Path(__file__).parent / "corpus"


class Kind(NamedTuple):
    """A kind of settings file: that of one host in one of the ways in which it may stand."""

    name: str  # of its corpus and of its documented shape
    host: str
    files: dict[str, str]  # by scope, below the folder of a test
    stop: tuple[str, ...]  # where the list of the guard's stop hooks is; with `event`, the list of all, and the event
    format: str = "json"
    comments: bool = False
    byte_order_mark: bool = True  # whether the host reads a file that begins with one
    seed: str = ""  # what makes the host's settings stand this way; empty: they do without any file
    flat: bool = False  # the list holds handlers, and no groups of them
    event: str = ""  # the field of a hook with its event, where one list has all of them; `flat` then, too

    @property
    def suffix(self) -> str:
        return next(iter(self.files.values())).rpartition(".")[2]

    def path(self, top: Path, scope: str) -> Path:
        return top / self.files[scope]

    def document(self, hooks: list[Any]) -> Any:
        """A document with these stop hooks, or groups of them."""
        if self.event:
            hooks = [{self.event: self.stop[-1], **hook} for hook in hooks]
        value: Any = hooks
        for key in reversed(self.stop[:-1] if self.event else self.stop):
            value = {key: value}
        return value

    def corpus(self) -> list[Path]:
        """The look-alikes of this kind that can be edited."""
        return sorted((CORPUS / self.name).glob(f"*.{self.suffix}"))


def _files(folder: str, name: str, *, user: str = "", project: str = "") -> dict[str, str]:
    return {"user": f"home/{user or folder}/{name}", "project": f"work/{project or folder}/{name}"}


_CLAUDE = {**_files(".claude", "settings.json"), "local": "work/.claude/settings.local.json"}
_STOP = ("hooks", "Stop")
KINDS = [
    Kind("antigravity", "antigravity", _files("", "hooks.json", user=".gemini/config", project=".agents"),
         ("hookctl-guard", "Stop"), flat=True),
    Kind("claude", "claude", _CLAUDE, _STOP),
    Kind("codex", "codex", _files(".codex", "hooks.json"), _STOP, byte_order_mark=False),
    Kind("codex-config", "codex", _files(".codex", "config.toml"), _STOP, "toml", True,
         seed='[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "bell"\n'),
    Kind("copilot", "copilot", _files("", "hookctl.json", user=".copilot/hooks", project=".github/hooks"),
         ("hooks", "agentStop"), flat=True, byte_order_mark=False),
    Kind("cursor", "cursor", _files(".cursor", "hooks.json"), ("hooks", "stop"), flat=True),
    Kind("droid", "droid", _files(".factory", "settings.json"), _STOP, comments=True, byte_order_mark=False),
    Kind("droid-hooks", "droid", _files(".factory", "hooks.json"), ("Stop",), comments=True, byte_order_mark=False,
         seed="{}"),
    Kind("gemini", "gemini", _files(".gemini", "settings.json"), ("hooks", "AfterAgent"), comments=True,
         byte_order_mark=False),
    Kind("grok", "grok", _files(".grok/hooks", "hookctl.json"), _STOP, byte_order_mark=False),
    Kind("hermes", "hermes", {"user": "home/.hermes/config.yaml"}, ("hooks", "pre_verify"), "yaml", True, flat=True),
    Kind("kimi", "kimi", {"user": "home/.kimi-code/config.toml"}, _STOP, "toml", True, flat=True, event="event"),
    Kind("opencode", "opencode", _files("", "hookctl.js", user=".config/opencode/plugin", project=".opencode/plugin"),
         ("hooks", "session.idle"), "plugin", flat=True),
    Kind("kiro", "kiro", _files(".kiro/hooks", "hookctl.json"), _STOP, flat=True, event="trigger"),
    Kind("openhands", "openhands", _files(".openhands", "hooks.json"), ("stop",), byte_order_mark=False),
    Kind("openhands-wrapped", "openhands", _files(".openhands", "hooks.json"), _STOP, byte_order_mark=False,
         seed='{"hooks": {}}'),
    Kind("pi", "pi", _files("", "hookctl.js", user=".pi/agent/extensions", project=".pi/extensions"),
         ("hooks", "agent_before_settle"), "extension", flat=True),
    Kind("vscode", "vscode", _files("", "hookctl-vscode.json", user=".copilot/hooks", project=".github/hooks"), _STOP,
         flat=True),
    Kind("windsurf", "windsurf", _files("", "hooks.json", user=".codeium/windsurf", project=".windsurf"),
         ("hooks", "post_cascade_response"), flat=True),
    Kind("qwen", "qwen", _files(".qwen", "settings.json"), _STOP, comments=True),
    Kind("vibe", "vibe", _files(".vibe", "hooks.toml"), ("hooks", "post_agent"), "toml", True, flat=True, event="type"),
]  # fmt: skip
JSON = [kind for kind in KINDS if kind.format == "json"]
BY_NAME = {kind.name: kind for kind in KINDS}
