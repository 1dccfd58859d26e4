"""The modules of the guard's package as they lie in the templates, for tests that call a function of theirs."""

import importlib
import sys
from types import ModuleType

from .lab import TEMPLATES

_PACKAGE = "guard_under_test"


def module(name: str) -> ModuleType:
    """A module of the package."""
    if _PACKAGE not in sys.modules:
        package = sys.modules[_PACKAGE] = ModuleType(_PACKAGE)
        package.__path__ = [str(TEMPLATES / "guard")]
    return importlib.import_module(f"{_PACKAGE}.{name}")


def sources() -> str:
    """The text of launchers and package."""
    return "\n".join(path.read_text("utf-8") for path in sorted(TEMPLATES.rglob("*.py")))
