"""hookctl's promises, kept with the real Gemini CLI: prompts, tool calls, trust and the policies on tools."""

import json

import pytest

from .clients import Client
from .gemini import SKIP, TRUST, Place, play
from .product import KEPT, LIMIT, codes, hookctl, leave_work, leave_work_by_hand

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True

UNTRUSTED = dict.fromkeys(TRUST, "")


def install(place: Place, *options: str) -> None:
    hookctl(place, "install", "--host", "gemini", *options)


def test_the_user_is_told_why_the_agent_was_let_go(gemini: Client, place: Place) -> None:
    install(place)
    leave_work(place)
    run = play(gemini, place, ["done"])
    assert (run.requests, codes(place)) == (LIMIT + 1, KEPT)
    assert "Hook system message: hookctl guard: stopped blocking after 5 blocks without progress" in run.errors


def test_project_hooks_wait_until_the_folder_is_trusted(gemini: Client, place: Place) -> None:
    install(place, "--scope", "project")
    leave_work_by_hand(place)
    assert play(gemini, place, ["done"], SKIP, environment=UNTRUSTED).requests == 1
    assert codes(place) == []
    (place.home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(place.project): "TRUST_FOLDER"}))
    assert play(gemini, place, ["done"], environment=UNTRUSTED).requests == LIMIT + 1
