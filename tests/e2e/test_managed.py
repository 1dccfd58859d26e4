"""Rendered managed settings in front of the real clients, with nothing in any user's or project's own settings.

They read fixed files below /etc: each client gets a copy of /etc in a mount namespace of its own.
"""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from . import claude, codex, copilot, droid, gemini, qwen
from . import grok as drive
from .agent import Place, Run
from .clients import REQUIRED, Client
from .model_server import Script
from .product import KEPT, LIMIT, codes, hookctl_json, leave_work

pytestmark = [pytest.mark.e2e, pytest.mark.full]

BIND = 'mount --bind "$0" /etc && exec "$@"'
REPLIES = [f"reply {number}" for number in range(1, 12)]
# Driver, options and environment; the drivers name a file that is not there, so that no machine's own disturbs.
HOSTS: dict[str, tuple[Any, tuple[str, ...], dict[str, str]]] = {
    "claude": (claude, (), {}),
    "codex": (codex, (), {}),
    "copilot": (copilot, (), {}),
    "droid": (droid, (), {}),
    "gemini": (gemini, (), {**gemini.TRUST, "GEMINI_CLI_SYSTEM_SETTINGS_PATH": "/etc/gemini-cli/settings.json"}),
    "grok": (drive, (), {}),
    "qwen": (qwen, (qwen.YOLO,), {"QWEN_CODE_SYSTEM_SETTINGS_PATH": "/etc/qwen-code/settings.json"}),
}


def require_namespaces() -> None:
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True, text=True)
    if done.returncode and REQUIRED:
        pytest.fail(f"no mount namespace: {done.stderr}")
    if done.returncode:
        pytest.skip("this user cannot have a mount namespace")


def render(place: Place, host: str) -> dict[str, Any]:
    """Render, and put the hook where the rendered command looks for it."""
    folder = place.root / "managed"
    where = ("--hook-dir", str(folder), "--platform", "linux")
    page = hookctl_json(place, "render", "--host", host, "--scope", "managed", *where)
    for file in page["files"]:
        path = Path(file["to"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file["text"])
        path.chmod(int(file["mode"], 8))
    return page


def with_files(client: Client, place: Place, texts: dict[str, str]) -> Client:
    """The client in a namespace of its own, where /etc has these files."""
    require_namespaces()
    etc = place.root / "etc"
    shutil.copytree("/etc", etc, symlinks=True, dirs_exist_ok=True)
    for name, text in texts.items():
        path = etc / Path(name).relative_to("/etc")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return client._replace(runtime=("unshare", "-m", "sh", "-c", BIND, str(etc), *client.runtime))


def play(
    name: str, request: pytest.FixtureRequest, root: Path, *, cut: bool = False, work: bool = False
) -> tuple[Run, Place, str]:
    """Run the client with what is rendered for it, or without its end; and where that stands."""
    driver, options, environment = HOSTS[name]
    place = driver.Place.make(root / "place", own_folders=True)
    page = render(place, name)
    text = page["text"].rstrip()[:-3] + " [[" if cut else page["text"]
    client = with_files(request.getfixturevalue(name), place, {page["path"]: text})
    if work:
        leave_work(place)
    return driver.play(client, place, Script(REPLIES), *options, environment=environment), place, page["path"]


@pytest.mark.parametrize("name", HOSTS)
def test_the_guard_of_a_managed_file_ends_at_its_limit(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    run, place, path = play(name, request, tmp_path, work=True)
    assert run.requests == LIMIT + 1, run.errors
    assert codes(place) == KEPT
    assert not place.settings.exists() or "hookctl" not in place.settings.read_text()
    assert not os.path.exists(path)


@pytest.mark.parametrize("name", [name for name in HOSTS if name not in ("copilot", "droid")])  # they go on without it
def test_no_client_starts_with_a_broken_managed_file(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    run, _, path = play(name, request, tmp_path, cut=True)
    assert run.code != 0 and run.requests == 0
    assert path in run.errors or name == "grok"  # it says what is wrong, and not where
