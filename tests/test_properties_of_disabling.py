"""Hooks are disabled, people edit their files, and the hooks come back: not a word of anybody is lost, or made up."""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl.documents import MISSING, Document, formats
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.model import DropHook
from hookctl.survey.listing import take_inventory
from hookctl.survey.model import DISABLED, Hook
from hookctl.verbs.disable import disable
from hookctl.verbs.enable import enable
from tests.conftest import put
from tests.hostfiles import BY_NAME, KINDS, Kind
from tests.test_corpus_bytes import counts
from tests.test_properties import Place, place

FILES = {kind.name: [path for path in kind.corpus() if counts(kind, path)] for kind in KINDS}
EACH = pytest.mark.parametrize("name", [name for name, files in FILES.items() if files])
EXAMPLES = int(os.environ.get("HOOKCTL_TEST_EXAMPLES") or 10)
FEW = settings(deadline=None, derandomize=True, max_examples=EXAMPLES, suppress_health_check=list(HealthCheck))
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|#[^\n]*|[\[\]{}]|[^\s,"\[\]{}]+')

# What a person writes into a file; % is a number.
COMMENT, KEY, HOOK = "comment", "key", "hook"
WRITTEN = {
    "toml": {COMMENT: "# op%", KEY: "op% = 1", "table": "\n[op%]\nx = 1 # op%"},
    "yaml": {COMMENT: "# op%", KEY: "op%: 1"},
    "json": {COMMENT: "// op%", KEY: '"op%": 1,', HOOK: '{"type": "command", "command": "op%"},'},
}
LISTED = {
    "toml": '[[hooks]]\nname = "op%"\n{event} = "{stop}" # op%\n# op% inside\ncommand = "op%"',
    "json": '{{"name": "op%", "{event}": "{stop}", "action": {{"type": "command", "command": "op%"}}}},',
}


def words_of(kind: Kind, data: bytes) -> Counter[str]:
    """What a text says, comments too; between the words are blanks, commas and line ends."""
    text = re.sub(r"\r\n?", "\n", data.decode("utf-8-sig"))
    if kind.format == "yaml":  # which has several ways to write a list and a text
        text = re.sub(r"[\[\]{}\"':-]", " ", text)
    return Counter(TOKEN.findall(text))


class Life:
    """A settings file on its way through commands and edits."""

    def __init__(self, here: Place, kind: Kind) -> None:
        self.here, self.kind = here, kind
        self.host = here.places[0].host
        self.texts: list[str] = []  # what people have written, and not taken out again

    @property
    def data(self) -> bytes:
        return self.here.settings.read_bytes() if self.here.settings.exists() else b""

    def parse(self, data: bytes) -> Document:
        return formats.parse(self.host.format, data, where="x")

    def hooks(self, *, disabled: bool) -> list[Hook]:
        hooks = take_inventory(self.here.folders, [self.host]).hooks
        hooks = tuple(hook for hook in hooks if hook.host == self.kind.host and hook.file == str(self.here.settings))
        return [hook for hook in hooks if (hook.state == DISABLED) is disabled]

    def disable(self, at: float) -> None:
        hooks = self.hooks(disabled=False)
        if not hooks:
            return
        before = self.data
        try:
            disable(self.here.folders, [hooks[int(at * len(hooks))].id], [self.host.name])
        except HookctlError as error:
            assert (error.exit_code, self.data) == (4, before)

    def enable(self, at: float) -> None:
        if hooks := self.hooks(disabled=True):
            enable(self.here.folders, [hooks[int(at * len(hooks))].id])

    def edit(self, form: str, at: float) -> None:
        """Write a line into the file, at the first place from there on where it changes nothing else."""
        syntax = "json" if self.kind.format in ("json", "plugin", "extension") else self.kind.format
        if syntax == "json" and form == COMMENT and not self.kind.comments:
            return
        text = WRITTEN[syntax].get(form, "")
        if form == HOOK and self.kind.event:
            text = LISTED[syntax].format(event=self.kind.event, stop=self.kind.stop[-1])
        mark = f"op{at}".replace(".", "")
        text = text.replace("op%", mark)
        before = self.data
        end = "\r\n" if b"\r\n" in before else "\n"
        lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", before.decode())
        first = int(at * len(lines))
        for number in [*range(first, len(lines) + 1), *range(first)] if text else ():
            above, below = "".join(lines[:number]), "".join(lines[number:])
            if form in ("table", HOOK) and syntax == "toml" and not re.match(r"(\s|#[^\n]*\n)*(\[|$)", below):
                continue  # the lines below would belong to the new table
            if number and not lines[number - 1].endswith(("\n", "\r")):
                above += end
            data = f"{above}{text}\n".replace("\n", end).replace("\r\r", "\r").encode() + below.encode()
            if self.is_fine(before, data, mark):
                put(self.here.settings, data)
                self.texts.append(text.replace("\n", end))
                return

    def take_back(self, at: float) -> None:
        """Take something out again that people have written, where it is still so."""
        before = self.data.decode()
        for text in self.texts[int(at * len(self.texts)) :]:
            mark = re.search(r"op\d+", text)
            after = re.sub(re.escape(text) + r"(\r?\n|$)", "", before).encode()
            if mark and before.count(text) == 1 and self.is_fine(before.encode(), after, mark[0], is_new=False):
                put(self.here.settings, after)
                self.texts.remove(text)
                return

    @property
    def added(self) -> Counter[str]:
        return sum((words_of(self.kind, text.encode()) for text in self.texts), Counter())

    def is_fine(self, before: bytes, after: bytes, mark: str, *, is_new: bool = True) -> bool:
        try:
            document = self.parse(after)
            flags = {"comments": self.host.comments, "trailing_commas": self.host.trailing_commas}
            document.require_strict(**flags)
        except HookctlError:
            return False
        value = document.value
        ours = tuple(DropHook(hook) for hook in shapes.elements(self.host.shape, value))
        if is_new and mark not in shapes.apply(self.host.shape, document, ours).data.decode():
            return False  # within a hook of ours, with which it goes
        return without(value, mark) == without(self.parse(before).value, mark) and "\ufeff" not in after.decode()[1:]


def without(value: Any, mark: str) -> Any:
    """A value without what people have written there, and without the containers that this leaves empty."""
    if isinstance(value, dict):
        pairs = {key: without(inner, mark) for key, inner in value.items() if mark not in str(key)}
        return {key: inner for key, inner in pairs.items() if inner not in ([], {}, None)} or None
    if isinstance(value, list):
        items = [without(item, mark) for item in value if not is_marked(item, mark)]
        return [item for item in items if item] or None
    return None if value is MISSING else repr(value)


def is_marked(item: Any, mark: str) -> bool:
    return isinstance(item, dict) and any(isinstance(text, str) and mark in text for text in item.values())


def plain(value: Any, *, is_ordered: bool) -> str:
    """A value as text, so that it can be compared; if not ordered, whatever the order of its lists."""
    if isinstance(value, dict):
        value = sorted((str(key), plain(inner, is_ordered=is_ordered)) for key, inner in value.items())
    elif isinstance(value, list):
        value = [plain(item, is_ordered=is_ordered) for item in value]
        value = value if is_ordered else sorted(value)
    return repr(value)


def has_one_layer(steps: Any) -> bool:
    """Whether nobody has written between two disables; otherwise the order of two neighbours is not known."""
    return not re.search("disable.*(edit|install|take).*disable", " ".join(verb for verb, _, _ in steps))


STEPS = st.one_of(
    st.tuples(st.just("disable"), st.none(), st.floats(0, 0.99)),
    st.tuples(st.just("disable"), st.none(), st.floats(0, 0.99)),
    st.tuples(st.just("enable"), st.none(), st.floats(0, 0.99)),
    st.tuples(st.just("edit"), st.sampled_from([COMMENT, KEY, "table", HOOK, HOOK]), st.floats(0, 1)),
    st.tuples(st.just("edit"), st.sampled_from([COMMENT, KEY, "table", HOOK, HOOK]), st.floats(0, 1)),
    st.tuples(st.sampled_from(["install", "take back"]), st.none(), st.floats(0, 0.99)),
)


@EACH
@FEW
@given(data=st.data(), steps=st.lists(STEPS, min_size=1, max_size=8), order=st.floats(0, 0.99))
def test_every_word_of_anybody_comes_back_and_no_other(
    tmp_path_factory: Any, name: str, data: Any, steps: Any, order: float
) -> None:
    kind = BY_NAME[name]
    model = data.draw(st.sampled_from(FILES[name]))
    with place(tmp_path_factory.getbasetemp(), kind) as here:
        live_through(here, model.read_bytes(), steps, order)


def live_through(here: Place, data: bytes, steps: Any, order: float) -> None:
    """Take all steps; then everything comes back, and what is ours goes."""
    put(here.settings, data)
    life = Life(here, here.kind)
    for verb, form, at in steps:
        if verb == "edit":
            life.edit(form, at)
        elif verb == "install":
            here.install()
        else:
            {"disable": life.disable, "enable": life.enable, "take back": life.take_back}[verb](at)
    for left in range(len(life.hooks(disabled=True)), 0, -1):
        assert len(life.hooks(disabled=True)) == left
        life.enable(order)
    here.uninstall()
    verbs = {verb for verb, _, _ in steps}
    if verbs <= {"disable", "enable"}:
        assert life.data == data
    words, wanted = words_of(here.kind, life.data), words_of(here.kind, data) + life.added
    assert wanted - words == Counter()
    # A container of ours stays where people have written into it.
    assert words - wanted == Counter() or "edit" in verbs or not has_one_layer(steps)
    before, after = (without(life.parse(text).value, "op") or {} for text in (data, life.data))
    if "install" in verbs:  # and so does what a file with hooks must have
        after = {key: value for key, value in after.items() if key in before or key not in life.host.registration.top}
    assert plain(after, is_ordered=has_one_layer(steps)) == plain(before, is_ordered=has_one_layer(steps))
    assert not os.path.exists(here.folders.disabled)
