"""The program's entry: every way to end gets an exit code, and no traceback reaches a user."""

import contextlib
import errno
import gc
import os
import sys
from collections.abc import Callable

from hookctl import __version__, errors
from hookctl.model import Result
from hookctl.output import lines


def main(clean_up: Callable[[], object] | None = None) -> None:
    """Run the command line and exit; `clean_up` is called in between."""
    gc.disable()  # a call is short; collecting costs a tenth of the start
    lines.name_program()
    code = run(sys.argv[1:])
    if clean_up:
        clean_up()
    os._exit(code)  # everything is written; an orderly shutdown costs another tenth


def run(arguments: list[str]) -> int:
    """Run one command; the exit code."""
    # What follows -- belongs to another program.
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    try:
        from hookctl import cli  # late: where typer is missing, that is said below

        return cli.call(arguments)
    except KeyboardInterrupt:
        if sys.stderr:
            sys.stderr.write("\nhookctl: interrupted\n")
        return errors.INTERRUPTED
    except SystemExit as end:  # nothing can be printed any more
        return end.code if isinstance(end.code, int) else errors.FAILED
    except Exception as error:
        is_output = isinstance(error, OSError) and error.filename is None
        if is_output and error.errno in (errno.EPIPE, errno.ENOSPC):  # of typer's own text
            return errors.OK if error.errno == errno.EPIPE else errors.FAILED
        failure = error if isinstance(error, errors.HookctlError) else _explain(error)
    command = next((word for word in words if not word.startswith("-")), "")
    result = Result({}, errors=(failure.as_dict(),), exit_code=failure.exit_code)
    lines.show(command, result, as_json="--json" in words)
    return failure.exit_code


def _explain(error: Exception) -> errors.HookctlError:
    """The error of what nobody expected; where it is a bug, with the path of a log."""
    if isinstance(error, OSError) and error.errno in errors.OUT_OF_DESCRIPTORS:
        message = f"no more files can be opened ({error.strerror})"
        hint = "Raise the limit with `ulimit -n 1024` and run the command again."
        return errors.HookctlError("no_descriptors", message, hint=hint)
    missing = error.name if isinstance(error, ModuleNotFoundError) else None
    if missing and missing.partition(".")[0] != "hookctl":
        message = f"{missing} is not installed for {sys.executable}"
        hint = "Start the installed one, .venv/bin/hookctl, or install it (README.md)."
        return errors.HookctlError("not_installed", message, hint=hint, exit_code=errors.FAILED)
    message = f"unexpected: {type(error).__name__}"
    hint = "The details could not be written anywhere."
    with contextlib.suppress(Exception):  # any part of hookctl may be what fails
        import platform  # late: only after a fault
        import traceback

        from hookctl.masking import masked_text  # late, too
        from hookctl.system import files, folders, owners

        message += f": {masked_text(str(error))}"
        text = f"hookctl {__version__}, Python {platform.python_version()}, {platform.platform()}"
        text += f"\n\n{''.join(traceback.format_exception(error))}"
        place = folders.here()
        owners.require_own_home(place.home, place.state)
        log = os.path.join(place.state, "error.log")
        files.write_own(log, masked_text(text).encode("utf-8", "replace"))
        hint = f"The details are in {log}."
    return errors.HookctlError("unexpected", message, hint=hint, exit_code=errors.UNEXPECTED)


if __name__ == "__main__":
    main()
