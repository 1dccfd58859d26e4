"""The guard's rules for an agent, in the words of its mode and settings.

They name no version, so that they seldom change.
"""

from __future__ import annotations

from collections.abc import Iterable

from hookctl.packs.choices import Settings

_TITLE = "## Long work, and the guard"
_MODES = {
    "breaker": "hookctl's guard asks you to go on while reported work remains{run},\n"
    "and lets you stop when it no longer moves.",
    "keepalive": "hookctl's guard asks you to go on in a run that a person began with "
    "`hookctl run start`,\nuntil the run ends. Outside a run you may stop.",
    "guard": "hookctl's guard never asks you to go on. It ends a turn that other hooks force on\n"
    "without progress.",
    "off": "hookctl's guard lets you stop whenever you want.",
}
_IN_A_RUN = "\nin a run that a person began with `hookctl run start`"
_REPORT = """\
- Report work of several steps with `hookctl run remaining N`: at the start, after each step, and
  0 when all is done.
  Where there is no `hookctl`, write `{"remaining": N}` into `%s` in the project."""
_THEIRS = """\
- What is left stands in a file of another system: leave it to that system, hookctl only reads it.
  It is `%s` in
%s"""
_WAIT = """\
- Wait with `hookctl run wait --stall 15m`, never by polling or by ending your turn again and again.
  It ends with 0 (done), 1 (the work stands still) or 124 (the time is up: call it again)."""
_GO_ON = """\
- When the guard says that %s, go on with the next step. It is no new task and no reproach."""
_STOP = "- When it lets you stop, stop, and say what is left."
_RELEASE = " Work that is not yours: `hookctl run release`."
_END = "- The run ends by `hookctl run conclude` or `hookctl run stop`; leave that to the person."
_REMIND = "- Before you finish%s, call %s."
_REPEAT = "- It refuses a tool call that you repeat too often. Change the call, or finish."


def write_rules(readers: Iterable[tuple[str, Settings]]) -> str:
    """The rules for those who read one file: the title of each host, and its guard's settings.

    Where their guards differ, each has its own part, which names it.
    """
    by_text: dict[str, list[str]] = {}
    for title, settings in sorted(readers, key=lambda reader: reader[0]):
        titles = by_text.setdefault(_write_part(settings), [])
        if title not in titles:
            titles.append(title)
    parts = []
    for text, titles in by_text.items():
        names = f" of {', '.join(titles)}" if len(by_text) > 1 else ""
        parts.append(f"{_TITLE}{names}\n\n{text}")
    return "\n\n".join(parts)


def _write_part(settings: Settings) -> str:
    """What one guard does, and how to work with it."""
    mode, options = settings.mode, settings.effective
    is_in_run = mode == "breaker" and options.get("require_arm") is True
    lines = [_MODES[mode].replace("{run}", _IN_A_RUN if is_in_run else "")]
    points = []
    if mode in ("breaker", "keepalive"):
        points += [_describe_report(settings), _WAIT]
        points.append(_GO_ON % ("work remains" if mode == "breaker" else "the run goes on"))
        claims = mode == "breaker" and options.get("claim") is not False
        points.append(_STOP + (_RELEASE if claims else ""))
    if mode == "keepalive" or is_in_run:
        points.append(_END)
    if mode != "off" and options.get("required_tools"):
        points.append(_describe_reminder(settings))
    if "pre-tool" in settings.events:
        points.append(_REPEAT)
    return "\n".join([*lines, *([""] if points else []), *points])


def _describe_report(settings: Settings) -> str:
    """Who says what is left, and where."""
    options = settings.effective
    file = str(options.get("task_file") or "")
    if not settings.reads_anothers_task:
        folder = str(options.get("run_dir") or ".hookctl/run")
        return _REPORT % (file or f"{folder}/task.json")
    fields = dict(pair.split("=", 1) for pair in options["task_fields"] if "=" in pair)
    places = [f"  `{path}`" for path in file.split(":") if path]
    if options.get("task_env"):
        places.append(f"  the file that `{options['task_env']}` names")
    return _THEIRS % (fields.get("remaining", "remaining"), " or\n".join(places) + ".")


def _describe_reminder(settings: Settings) -> str:
    options = settings.effective
    scope = options.get("required_scope_env")
    tools = " or ".join(f"`{tool}`" for tool in options["required_tools"])
    return _REMIND % (f" where `{scope}` is set" if scope else "", tools)
