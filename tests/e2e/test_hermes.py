"""hookctl's promises, kept with the real Hermes agent: what it can do there, and what not."""

import json

import pytest

from .clients import Client
from .hermes import ACCEPT, BASE, YOLO, Place, play, write_file
from .model_server import Script
from .probe import Probe, make_probe
from .product import codes, hookctl, hookctl_json, leave_work

pytestmark = [pytest.mark.e2e, pytest.mark.full]
OWN_FOLDERS = True

# The operator's own layout: a list with odd blanks and comments, and settings behind it.
OPERATORS = """\
# by hand
hooks:
    pre_verify:   # before it is done
    -   command: COMMAND
        timeout: 5
    # - command: ./old.sh

"""


def turn(hermes: Client, place: Place, theirs: Probe, *arguments: str) -> tuple[int, int, list[str]]:
    """One turn that writes a file: the requests, the calls of the operator's hook, and the reasons of ours."""
    heard, said = len(theirs.heard()), len(codes(place))
    run = play(hermes, place, Script([write_file(place), "done"], limit=12), YOLO, *arguments, timeout=120)
    assert run.code == 0, run.errors
    assert run.out.endswith("done\n"), "the reply is lost"
    return run.requests, len(theirs.heard()) - heard, codes(place)[said:]


def test_the_guard_blocks_as_often_as_hermes_lets_it_and_leaves_nothing_behind(hermes: Client, place: Place) -> None:
    theirs, cap = make_probe(place.root, "operators"), hermes.pins["cap"]["default"]
    place.settings.write_text(OPERATORS.replace("COMMAND", json.dumps(theirs.command)) + BASE)
    before = place.settings.read_bytes()
    assert turn(hermes, place, theirs, ACCEPT) == (2, 1, [])

    hookctl(place, "install", "--host", "hermes")
    installed = place.settings.read_bytes()
    assert installed.count(b"hookctl=guard/stop") == 1
    leave_work(place)
    assert turn(hermes, place, theirs) == (2, 1, []), "a hook runs that nobody has agreed to"
    assert turn(hermes, place, theirs, ACCEPT) == (2 + cap, cap, ["blocked"] * cap)
    assert place.settings.read_bytes() == installed
    assert hookctl_json(place, "install", "--host", "hermes")["actions"] == []
    hookctl(place, "run", "start", "--project", str(place.project))  # else the work is the first session's
    assert turn(hermes, place, theirs) == (2 + cap, cap, ["blocked"] * cap), "consent was asked for again"

    hookctl(place, "uninstall")
    assert place.settings.read_bytes() == before
    assert turn(hermes, place, theirs) == (2, 1, [])
