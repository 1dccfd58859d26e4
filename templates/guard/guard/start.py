"""The start of a call: `hook.py EVENT --host HOST`, the host's JSON on stdin, at most one JSON object on stdout.

Whatever goes wrong, it lets the agent go; its exit status is always 0.
"""

import posix

from .files import env


def prepare(words):
    """What answers a call, loaded with all that it needs before anything is read."""
    handler = handler_of(*words)

    def run():
        try:
            if handler:
                handler(words[0], words[2])
        except BaseException as error:
            tell(error)
        posix._exit(0)

    return run


def handler_of(event, flag, host):
    """The function for an event; None where it is none of ours."""
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
    if event == "post-tool":
        from .events import on_tool

        return on_tool
    return None


def tell(error):
    """Name an error, for those who look for it."""
    if env("HOOKCTL_DEBUG") == "1":
        posix.write(2, ("hookctl guard: " + repr(error) + "\n").encode("utf-8", "replace"))
