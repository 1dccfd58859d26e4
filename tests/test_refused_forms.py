"""What a settings file may have anywhere but where hookctl writes: there it is refused, with the form that works."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import Hookctl, put
from tests.hostfiles import KINDS

pytestmark = pytest.mark.usefixtures("fixed_python")


class Form(NamedTuple):
    """A form: where it is refused, at which place and with which fix; and where it is not touched."""

    kind: str
    refused: str
    place: tuple[int, int]
    fix: str
    untouched: str


LINES = "Write it in plain lines"
FORMS = [
    Form("hermes", "hooks: {pre_verify: [{command: x}]}\n", (1, 8), LINES, "a: {b: [c, {d: e}]} # mine\n"),
    Form("hermes", "hooks:\n  pre_verify: [{command: x}]\n", (2, 15), LINES, "hooks:\n  other: [{command: x}]\n"),
    Form("hermes", '{"hooks": {}}\n', (1, 1), LINES, 'a: {"b": {}}\n'),
    Form("hermes", "a: &x {}\nhooks: *x\n", (2, 8), LINES, "a: &x {b: 1}\nc: *x\n"),
    Form("hermes", "hooks: &x\n  other: []\n", (1, 8), LINES, "hooks:\n  other: &x []\nb: *x\n"),
    Form("hermes", "a: &x {b: 1}\nhooks:\n  <<: *x\n", (3, 3), LINES, "a: &x {b: 1}\nc:\n  <<: *x\n"),
    Form("kimi", "hooks = [{event = 'Stop', command = 'x'}]\n", (1, 9), "Write it as [[hooks]]", "a = {b='c'}\n"),
    Form("kimi", "a = 1\nhooks = [ # mine\n]\n", (2, 9), "Write it as [[hooks]]", "a.b = [ # mine\n]\n"),
    Form("vibe", "hooks = [\n]\n", (1, 9), "Write it as [[hooks]]", "hook.b.c = [\n]\n"),
    Form("codex-config", "hooks.Stop = [{hooks = []}]\n", (1, 14), "Write it as [[hooks.Stop]]",
         "hooks.state.x.enabled = true\n[[hooks.PreToolUse]]\nhooks = [{command = 'x', type = 'command'}]\n"),
    Form("codex-config", "[hooks]\nStop = [{hooks = []}]\n", (2, 8), "Write it as [[hooks.Stop]]",
         "[[hooks.PreToolUse]]\n[features]\na = {b=1,\n}\n"),
]  # fmt: skip
each_form = pytest.mark.parametrize("form", FORMS, ids=[f"{form.kind} {form.refused!r}" for form in FORMS])


@each_form
def test_it_is_refused_where_hookctl_would_write(form: Form, isolated: Path, hookctl: Hookctl) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == form.kind)
    path = put(kind.path(isolated, "user"), form.refused)
    done = hookctl("install", "--host", kind.host, "--json")
    (error,) = done.result["errors"]
    code = "unsupported_yaml" if form.kind == "hermes" else "unsupported_toml"
    assert (done.code, error["code"], error["path"]) == (4, code, str(path)), error
    assert ((error["line"], error["column"]), error["hint"][: len(form.fix)]) == (form.place, form.fix)
    assert path.read_text() == form.refused and not (isolated / "data").exists()


@each_form
def test_it_is_no_obstacle_elsewhere(form: Form, isolated: Path, hookctl: Hookctl) -> None:
    (kind,) = (kind for kind in KINDS if kind.name == form.kind)
    path = put(kind.path(isolated, "user"), form.untouched)
    assert hookctl("install", "--host", kind.host).code == 0
    assert "hookctl=guard" in path.read_text()
    put(path, "# later\n" + path.read_text())
    assert hookctl("uninstall", "--host", kind.host).code == 0
    assert path.read_text() == "# later\n" + form.untouched
