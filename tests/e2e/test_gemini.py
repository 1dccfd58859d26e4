"""hookctl's promises, kept with the real Gemini CLI: prompts, tool calls, trust and the policies on tools."""

import json

import pytest

from .clients import Client
from .gemini import SKIP, TRUST, Place, play
from .model_server import Script
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


def test_a_limit_in_the_environment_loses_to_the_installed_one(gemini: Client, place: Place) -> None:
    install(place)
    leave_work(place)
    run = play(gemini, place, ["done"], environment={"MAX_STOP_BLOCKS": "2"})
    assert run.requests == LIMIT + 1


def test_a_project_of_any_name_is_found(gemini: Client, place: Place) -> None:
    project = place.root / "it's my $HOME"
    project.mkdir()
    hookctl(place, "install", "--host", "gemini", "--scope", "project", "--project", str(project))
    hookctl(place, "run", "remaining", "2", "--project", str(project))
    assert play(gemini, place, ["done"], cwd=project).requests == LIMIT + 1
    assert codes(place) == KEPT


def test_project_hooks_wait_until_the_folder_is_trusted(gemini: Client, place: Place) -> None:
    install(place, "--scope", "project")
    leave_work_by_hand(place)
    assert play(gemini, place, ["done"], SKIP, environment=UNTRUSTED).requests == 1
    assert codes(place) == []
    (place.home / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(place.project): "TRUST_FOLDER"}))
    assert play(gemini, place, ["done"], environment=UNTRUSTED).requests == LIMIT + 1


def test_installed_at_both_scopes_a_stop_counts_once(gemini: Client, place: Place) -> None:
    install(place)
    install(place, "--scope", "project")
    leave_work(place)
    run = play(gemini, place, ["done"])
    assert (run.requests, codes(place)) == (LIMIT + 1, KEPT)


def test_armed_keepalive_rides_on_far_beyond_the_breaker_s_limit(gemini: Client, place: Place) -> None:
    install(place, "--mode", "keepalive")
    hookctl(place, "run", "start", "--project", str(place.project))

    def conclude(number: int) -> None:
        if number == 15:
            hookctl(place, "run", "conclude", "--project", str(place.project))

    run = play(gemini, place, Script(["done"], before=conclude, limit=30))
    assert (run.requests, codes(place)) == (15, ["blocked"] * 14 + ["conclude"])
