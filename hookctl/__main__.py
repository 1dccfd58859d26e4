"""The program's entry: every way to end gets an exit code, and no traceback reaches a user."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import sys

from hookctl import __version__, errors


def main() -> None:
    """Run the command line and exit."""
    gc.disable()  # a call is short; collecting costs a tenth of the start
    code = run(sys.argv[1:])
    try:
        for stream in (sys.stdout, sys.stderr):
            if stream:
                stream.flush()
    except (OSError, ValueError):  # the output is closed
        code = code or errors.FAILED
    os._exit(code)  # everything is written; an orderly shutdown costs another tenth


def run(arguments: list[str]) -> int:
    """Run one command; the exit code."""
    # Every command but these takes --json; what follows -- belongs to another program.
    words = arguments
    if "--" in arguments:
        words = arguments[: arguments.index("--")]
    as_json = "--json" in words
    command = next((word for word in words if not word.startswith("-")), "")
    try:
        from hookctl import cli  # late: where typer is missing, that is said below

        return cli.call(arguments)
    except ModuleNotFoundError as error:
        return _fail(command, _missing(error), as_json=as_json)
    except KeyboardInterrupt:
        if sys.stderr:
            sys.stderr.write("\nhookctl: interrupted\n")
        return errors.INTERRUPTED
    except errors.HookctlError as error:
        return _fail(command, error, as_json=as_json)
    except SystemExit as end:  # nothing can be printed any more
        return end.code if isinstance(end.code, int) else errors.FAILED
    except OSError as error:
        # Without a file name it is the output of typer's own text, such as --help.
        if error.errno == errno.EPIPE and error.filename is None:
            return errors.OK
        if error.errno == errno.ENOSPC and error.filename is None:
            return errors.FAILED
        if error.errno in errors.OUT_OF_DESCRIPTORS:
            return _fail(command, errors.no_descriptors(error), as_json=as_json)
        return _fail(command, _unexpected(error), as_json=as_json)
    except Exception as error:  # the last resort: a bug in hookctl, or a failing machine
        return _fail(command, _find_host_fault() or _unexpected(error), as_json=as_json)


def _find_host_fault() -> errors.HookctlError | None:
    """The fault of a host's file, if there is one: a new host's file may break any command."""
    with contextlib.suppress(Exception):
        from hookctl import hosts  # late: only after a fault

        return next(filter(None, map(hosts.find_fault, hosts.names())), None)
    return None


def _fail(command: str, error: errors.HookctlError, *, as_json: bool) -> int:
    try:
        from hookctl import report  # late: the end of each command has it by then
        from hookctl.model import Result
    except OSError:  # no file can be opened, not even our own modules
        sys.stderr.write(f"hookctl: error: {error}\n")
        return error.exit_code
    result = Result({}, errors=(error.as_dict(),), exit_code=error.exit_code)
    report.show(command, result, as_json=as_json)
    return error.exit_code


def _missing(error: ModuleNotFoundError) -> errors.HookctlError:
    """The error when the Python that started hookctl lacks what hookctl needs."""
    if not error.name or error.name.partition(".")[0] == "hookctl":
        return _unexpected(error)
    message = f"{error.name} is not installed for {sys.executable}"
    hint = "Start the installed one, .venv/bin/hookctl, or install it (README.md)."
    return errors.HookctlError("not_installed", message, hint=hint, exit_code=errors.FAILED)


def _unexpected(error: Exception) -> errors.HookctlError:
    """The error, with the path of a log that has its traceback."""
    import platform  # late: only after a fault
    import traceback

    versions = (
        f"hookctl {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n"
    )
    text = versions + _masked("".join(traceback.format_exception(error)))
    log = _write_log(text.encode("utf-8", "replace"))
    hint = f"The details are in {log}." if log else "The details could not be written anywhere."
    message = f"unexpected: {type(error).__name__}: {_masked(str(error))}"
    return errors.HookctlError("unexpected", message, hint=hint, exit_code=errors.UNEXPECTED)


def _masked(text: str) -> str:
    """A text with every secret in it masked; "(not shown)" if that fails too."""
    try:
        from hookctl.masking import masked_text  # late: it may be what fails

        return masked_text(text)
    except Exception:
        return "(not shown)"


def _write_log(text: bytes) -> str:
    """The path of the new log: in the state folder, or a temporary file if that fails."""
    import tempfile  # late: only after a fault

    from hookctl.system import files, folders, owners

    try:
        place = folders.here()
        owners.require_own_home(place.home, place.state)
        log = os.path.join(place.state, "error.log")
        files.write_own(log, text)
        return log
    except Exception:
        pass
    try:  # a text of the caller's alone, which nothing runs
        handle, log = tempfile.mkstemp(prefix="hookctl-", suffix=".log")
        with open(handle, "wb") as stream:
            stream.write(text)
        return log
    except OSError:
        return ""


if __name__ == "__main__":
    main()
