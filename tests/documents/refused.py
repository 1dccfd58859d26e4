"""What every refusal of a document has, whatever its format."""

from collections.abc import Callable

import pytest

from hookctl.errors import HookctlError

WHERE = "/home/u/settings"


def refused(action: Callable[[], object]) -> tuple[str, int, int]:
    """Do what must be refused; give the code and the place."""
    with pytest.raises(HookctlError) as caught:
        action()
    error = caught.value
    assert error.path == WHERE
    assert error.exit_code == (3 if error.code == "unexpected" else 4)
    assert error.message and error.hint
    return error.code, error.line, error.column
