"""The program's outermost edge: every way to end has its exit code here, and no traceback reaches a user."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import sys

from hookctl import errors


def main() -> None:
    """Run the command line and exit."""
    gc.disable()  # a call is over before there is any garbage; looking for it costs a tenth of the start
    code = run(sys.argv[1:])
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream:
                stream.flush()
    except (OSError, ValueError):  # nobody reads it any more
        code = code or errors.FAILED
    os._exit(
        code
    )  # everything is written and closed: taking the modules down in order costs as much as a tenth more


def run(arguments: list[str]) -> int:
    """Run one command; the exit code."""
    # Every command but these takes --json; what follows -- belongs to somebody else.
    own = arguments[: arguments.index("--")] if "--" in arguments else arguments
    as_json = "--json" in own
    command = next((word for word in own if not word.startswith("-")), "")
    try:
        from hookctl import cli

        return cli.call(arguments)
    except KeyboardInterrupt:
        if sys.stderr:
            sys.stderr.write("\nhookctl: interrupted\n")
        return errors.INTERRUPTED
    except errors.HookctlError as error:
        return _fail(command, error, as_json=as_json)
    except SystemExit as end:  # nothing can be printed any more
        return end.code if isinstance(end.code, int) else errors.FAILED
    except OSError as error:
        if (
            error.errno in (errno.EPIPE, errno.ENOSPC) and error.filename is None
        ):  # typer's own text, such as --help
            return errors.FAILED if error.errno == errno.ENOSPC else errors.OK
        return _fail(command, _unexpected(error), as_json=as_json)
    except Exception as error:  # the last net: a bug of ours, or a machine that is failing
        return _fail(command, _of_a_host() or _unexpected(error), as_json=as_json)


def _of_a_host() -> errors.HookctlError | None:
    """The fault of a host's file, which whoever writes a new one makes: it may show in any command."""
    with contextlib.suppress(Exception):
        from hookctl.hosts.check import faults

        return next(faults(), None)
    return None


def _fail(command: str, error: errors.HookctlError, *, as_json: bool) -> int:
    from hookctl import report
    from hookctl.model import Result

    report.show(
        command, Result({}, errors=(error.as_dict(),), exit_code=error.exit_code), as_json=as_json
    )
    return error.exit_code


def _unexpected(error: Exception) -> errors.HookctlError:
    """The error with the place of its traceback, ready to be put into a report."""
    import platform
    import traceback

    from hookctl import __version__

    about = f"hookctl {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n"
    text = about + "".join(traceback.format_exception(error))
    log = _log(text.encode("utf-8", "replace"))
    hint = f"The details are in {log}." if log else "The details could not be written anywhere."
    message = f"unexpected: {type(error).__name__}: {error}"
    return errors.HookctlError("unexpected", message, hint=hint, exit_code=errors.UNEXPECTED)


def _log(text: bytes) -> str:
    """Where the details lie: in the state folder, or in a temporary file if that is what is broken."""
    import tempfile

    from hookctl.system import files, folders

    try:
        log = os.path.join(folders.here().state, "error.log")
        files.write_own(log, text)
        return log
    except Exception:
        pass
    try:
        handle, log = tempfile.mkstemp(prefix="hookctl-", suffix=".log")
        with open(handle, "wb") as stream:
            stream.write(text)
        return log
    except OSError:
        return ""


if __name__ == "__main__":
    main()
