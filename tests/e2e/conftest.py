"""Fixtures of the end-to-end tests, and which of them run on every change."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .agent import Place
from .clients import REQUIRED, Client, Unavailable, client_names, find_client

MEMORY = "/dev/shm"
ALL = os.environ.get("HOOKCTL_TESTS") == "all"


def _client_fixture(name: str) -> Callable[[], Client]:
    @pytest.fixture(scope="session", name=name)
    def find() -> Client:
        """A real client at its pinned version; HOOKCTL_E2E=require turns a skip into a failure."""
        try:
            return find_client(name)
        except Unavailable as error:
            if REQUIRED:
                pytest.fail(str(error))
            pytest.skip(str(error))

    return find


# A fixture a client that has pins: claude, codex, ...
globals().update({f"{name}_client": _client_fixture(name) for name in client_names()})


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
    """A place of the kind that the test's module imports.

    With OWN_FOLDERS in the module hookctl keeps its things in the home; SETTINGS is what the operator has in the file.
    """
    kind: type[Place] = request.module.Place
    made = kind.make(tmp_path / "place", own_folders=getattr(request.module, "OWN_FOLDERS", False))
    if hasattr(request.module, "SETTINGS"):
        made.settings.write_text(request.module.SETTINGS)
    return made


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that are marked `full`, unless HOOKCTL_TESTS=all; they do not count as skipped."""
    late = [] if ALL else [item for item in items if item.get_closest_marker("full")]
    if late:
        config.hook.pytest_deselected(items=late)
        items[:] = [item for item in items if item not in late]


def pytest_runtest_call(item: pytest.Item) -> None:
    """Write down which client a test runs, for the summary at the end."""
    for client in getattr(item, "funcargs", {}).values():
        if isinstance(client, Client):
            item.user_properties.append(("client", f"{client.name} {client.version}"))
