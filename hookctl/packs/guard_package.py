"""Imports the guard's own package, for rules that hookctl and the hook share."""

from __future__ import annotations

import importlib
import os
import sys
from types import ModuleType

from hookctl.system.package_data import asset

_NAME = "hookctl_guard"


def guard_module(name: str) -> ModuleType:
    """A module of the guard as this version copies it out to users."""
    if _NAME not in sys.modules:
        package = ModuleType(_NAME)
        archive = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        names = ("templates", "guard", "guard")
        package.__path__ = [asset(*names), os.path.join(archive, *names)]
        sys.modules[_NAME] = package
    return importlib.import_module(f"{_NAME}.{name}")
