"""The start of a call: `hook.py EVENT --host HOST`, JSON on stdin, at most one object on stdout.

Any failure lets the agent stop; the exit status is always 0.
"""

import posix

from .files import env


def prepare(words):
    """The function that answers a call; all its modules are loaded before anything is read."""
    handler = find_handler(*words)

    def run():
        try:
            if handler:
                handler(words[0], words[2])
        except BaseException as error:
            report_error(error)
        posix._exit(0)

    return run


def find_handler(event, flag, host):
    """The function for an event; None for an unknown event."""
    if flag != "--host":
        return None
    if event in ("stop", "subagent-stop"):
        from .stop import on_stop

        return on_stop
    if event == "pre-tool":
        from .dispatch import on_dispatch

        return on_dispatch
    if event == "prompt":
        from .events import on_prompt

        return on_prompt
    if event == "session-start":
        from .guidance import on_session_start

        return on_session_start
    if event == "post-tool":
        from .events import on_tool

        return on_tool
    return None


def report_error(error):
    """Write an error to stderr if HOOKCTL_DEBUG is set."""
    if env("HOOKCTL_DEBUG") == "1":
        posix.write(2, ("hookctl guard: " + repr(error) + "\n").encode("utf-8", "replace"))
