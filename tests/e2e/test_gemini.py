"""hookctl's promises, kept with the real Gemini CLI beyond the story that all clients share."""

import pytest

from .clients import Client
from .gemini import Place, play
from .product import KEPT, LIMIT, codes, hookctl, leave_work

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True


def test_the_user_is_told_why_the_agent_was_let_go(gemini: Client, place: Place) -> None:
    hookctl(place, "install", "--host", "gemini")
    leave_work(place)
    run = play(gemini, place, ["done"])
    assert (run.requests, codes(place)) == (LIMIT + 1, KEPT)
    assert "Hook system message: hookctl guard: stopped blocking after 5 blocks without progress" in run.errors
