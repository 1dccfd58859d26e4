"""Fixtures of the end-to-end tests, and which of them run on every change."""

import importlib
import os
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .agent import Place
from .clients import CLIENTS, REQUIRED, WANTED, Client, Unavailable, find_client

MEMORY = "/dev/shm"
ALL = os.environ.get("HOOKCTL_TESTS") == "all"
DEFAULT = {"claude", "codex"}


def _client_fixture(name: str) -> Callable[[], Client]:
    @pytest.fixture(scope="session", name=name)
    def find() -> Client:
        """A real client; HOOKCTL_E2E=require turns a skip into a failure."""
        try:
            return find_client(name)
        except Unavailable as error:
            if REQUIRED:
                pytest.fail(str(error))
            pytest.skip(str(error))

    return find


# A fixture a client: claude, codex, ...
globals().update({f"{name}_client": _client_fixture(name) for name in CLIENTS})


def driver_of(host: str) -> ModuleType:
    return importlib.import_module(f".{host}", __package__)


@pytest.fixture
def client(host: str, request: pytest.FixtureRequest) -> Client:
    """The client of a test's parameter."""
    return request.getfixturevalue(host)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A folder on the disk, as people have it: in memory our hook can be faster than the client's transcript."""
    disk = os.environ.get("TMPDIR", MEMORY)
    if disk == MEMORY:  # where all other tests have theirs
        disk = "/tmp"
    with tempfile.TemporaryDirectory(prefix="client-", dir=disk, ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A place of the kind that the test's module imports, or else of its host.

    With OWN_FOLDERS in the module hookctl keeps its things in the home; SETTINGS is what the operator has in the file.
    """
    kind: type[Place] = getattr(request.module, "Place", None) or driver_of(request.getfixturevalue("host")).Place
    made = kind.make(tmp_path / "place", own_folders=getattr(request.module, "OWN_FOLDERS", False))
    if hasattr(request.module, "SETTINGS"):
        made.settings.write_text(request.module.SETTINGS)
    return made


@pytest.fixture
def stage(case: Any, request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Client, Place]:
    """The client of a test's case, and a place of its own."""
    return request.getfixturevalue(case.host), case.driver.Place.make(tmp_path / "place", own_folders=True)


def clients_of(item: pytest.Item) -> set[str]:
    """The clients that a test runs: it has them as fixtures, or their names among its parameters."""
    parameters = getattr(getattr(item, "callspec", None), "id", "")
    return {*CLIENTS} & {*getattr(item, "fixturenames", ()), *re.split(r"[^a-z]+", parameters)}


def is_wanted(item: pytest.Item) -> bool:
    """Unless HOOKCTL_TESTS=all none marked `full`, and of a client that is no DEFAULT the acceptance alone."""
    clients = clients_of(item)
    is_default = clients <= DEFAULT or item.path.name == "test_acceptance.py"
    is_quick = is_default and not item.get_closest_marker("full")
    return (ALL or is_quick) and (not WANTED or bool(WANTED.keys() & clients))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is not wanted; it does not count as skipped."""
    wanted = {item: is_wanted(item) for item in items}
    config.hook.pytest_deselected(items=[item for item in items if not wanted[item]])
    items[:] = [item for item in items if wanted[item]]


def pytest_runtest_call(item: pytest.Item) -> None:
    """Write down which client a test runs, for the summary at the end."""
    for value in getattr(item, "funcargs", {}).values():
        for client in (value, getattr(value, "client", None), *(value if isinstance(value, tuple) else ())):
            if isinstance(client, Client):
                item.user_properties.append(("client", f"{client.name} {client.version}"))
