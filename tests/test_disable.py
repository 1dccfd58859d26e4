"""disable and enable: the very bytes come back, whoever's hook it is, in every host's format and in any order."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookctl import hosts
from hookctl.documents import MISSING, Document, formats
from hookctl.errors import HookctlError
from hookctl.hosts import shapes
from hookctl.model import DropHook
from hookctl.ownership import store
from hookctl.settings.targets import active_file
from hookctl.survey.listing import take_inventory
from hookctl.survey.model import DISABLED, Hook
from hookctl.verbs.disable import disable
from hookctl.verbs.enable import enable
from tests.conftest import Hookctl, Outcome, put
from tests.hostfiles import BY_NAME, KINDS, Kind
from tests.manifest import hook as pack_hook
from tests.manifest import manifest
from tests.test_corpus_bytes import counts
from tests.test_properties import Place, place
from tests.trees import tree

pytestmark = pytest.mark.usefixtures("fixed_python")

# An edit there would change more than a hook, or the host takes no hook from that place.
REFUSED = {
    "alias-as-a-whole-event-elsewhere", "claude-shaped", "duplicate-event-inside-hooks", "flat-handler-in-stop",
    "handlers-in-the-wrong-shape",
}  # fmt: skip

PACK = manifest(
    "notify", pack_hook("Stop", "true done", id="done"), pack_hook("UserPromptSubmit", "true asked", id="asked"),
    env={"NOTIFY_LEVEL": "2"},
)  # fmt: skip

# Somebody's settings, with comments beside the hooks where the host reads them.
THEIRS = """{
  "model": "m",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          {"type": "command", "command": "one"},
          { "type": "command",   "command": "two" },
          {"type": "command", "command": "three"}
        ]
      },
      {"hooks": [{"type": "command", "command": "say --token sk-abcdefghijk"}]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "last"}]}]
  }
}
"""
BELL = {"type": "command", "command": "bell"}
GROUP = {"hooks": [BELL]}


def run(hookctl: Hookctl, *arguments: str, code: int | None = 0) -> Outcome:
    outcome = hookctl(*arguments)
    assert code in (None, outcome.code), outcome
    return outcome


def listed(hookctl: Hookctl, path: Path, host: str = "claude") -> list[dict[str, Any]]:
    """The hooks of one file, as `hooks` lists them."""
    hooks = json.loads(run(hookctl, "hooks", "--host", host, "--json").out)["data"]["hooks"]
    return [hook for hook in hooks if hook["file"] == str(path)]


def keeps(isolated: Path) -> bool:
    """Whether the ledger has anything that is disabled."""
    path = isolated / "state" / "ledger.json"
    return path.exists() and "disabled" in json.loads(path.read_text())


def cases() -> Iterator[Any]:
    """Every fifth file of each kind; with HOOKCTL_TESTS=all each."""
    for kind in KINDS:
        files = [path for path in kind.corpus() if counts(kind, path)]
        for path in files if os.environ.get("HOOKCTL_TESTS") == "all" else files[::5]:
            yield pytest.param(kind, path, id=f"{kind.name}-{path.stem}")


@pytest.mark.parametrize(("kind", "model"), list(cases()))
def test_two_hooks_leave_and_come_back_in_either_order(
    hookctl: Hookctl, isolated: Path, kind: Kind, model: Path
) -> None:
    path = put(kind.path(isolated, "user"), model.read_bytes())
    hooks = listed(hookctl, path, kind.host)
    if not hooks:
        return
    config = isolated / "home" / ".codex" / "config.toml"
    watched = {path, config} if kind.host == "codex" else {path}
    before = {file: file.read_bytes() if file.exists() else None for file in watched}
    chosen = [hooks[0]["id"], hooks[-1]["id"]] if len(hooks) > 1 else [hooks[0]["id"]]
    outcome = hookctl("disable", *chosen, "--host", kind.host, "--dry-run")
    if outcome.code == 4:
        assert model.stem in REFUSED  # and says why
        return
    if "is off already" in outcome.err:
        assert model.stem == "switched-off-by-name"
        return
    for backwards in (False, True):
        for at in (0, -1) if len(hooks) > 1 else (0,):
            present = [hook for hook in listed(hookctl, path, kind.host) if hook["state"] != "disabled"]
            run(hookctl, "disable", present[at]["id"], "--host", kind.host)
        assert {file: file.read_bytes() if file.exists() else None for file in watched} != before
        for left in range(len(chosen), 0, -1):
            away = [hook["id"] for hook in listed(hookctl, path, kind.host) if hook["state"] == "disabled"]
            assert len(away) == left and len(listed(hookctl, path, kind.host)) == len(hooks)
            run(hookctl, "enable", away[-1 if backwards else 0])
        after = {file: file.read_bytes() if file.exists() and file.read_bytes() else None for file in watched}
        assert after == {file: text or None for file, text in before.items()}
        assert not keeps(isolated)


# Packs.
def pack(isolated: Path) -> str:
    return str(put(isolated / "notify.toml", PACK))


def with_pack(hookctl: Hookctl, isolated: Path, text: str = THEIRS, *options: str) -> Path:
    path = put(isolated / ("work" if options else "home") / ".claude" / "settings.json", text)
    run(hookctl, "install", pack(isolated), "--host", "claude", "--yes", *options)
    return path


def test_a_disabled_pack_stays_so_and_is_never_gone(hookctl: Hookctl, isolated: Path) -> None:
    path = with_pack(hookctl, isolated)
    run(hookctl, "disable", "notify")
    again = ("install", pack(isolated), "--host", "claude", "--yes")
    for command, code in ((("upgrade", "--yes"), 0), (("doctor", "--fix"), 0), ((*again, "--reset"), 0), (again, 1)):
        outcome = run(hookctl, *command, code=code)
        assert path.read_text() == THEIRS, command
    assert "notify stays as it is for Claude Code: disabled" in outcome.err
    assert "`hookctl enable notify`" in outcome.err and "--force" in outcome.err
    findings = json.loads(run(hookctl, "doctor", "--strict", "--json").out)["data"]["findings"]
    assert [finding["level"] for finding in findings if finding["code"] == "disabled"] == ["info"]
    assert "notify does nothing: disabled" in run(hookctl, "status").out
    run(hookctl, *again, "--force")
    assert b"NOTIFY_LEVEL" in path.read_bytes() and not keeps(isolated)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_guard_leaves_every_host_and_comes_back(hookctl: Hookctl, isolated: Path, kind: Kind) -> None:
    path = kind.path(isolated, "user")
    if kind.seed:
        put(path, kind.seed)
    before = path.read_bytes() if path.exists() else None
    run(hookctl, "install", "--host", kind.host)
    installed = path.read_bytes()
    run(hookctl, "disable", "guard")
    guards = [hook for hook in listed(hookctl, path, kind.host) if hook["owner"] == "guard"]
    assert guards and {hook["state"] for hook in guards} == {"disabled"}
    run(hookctl, "doctor", "--host", kind.host, code=None)
    run(hookctl, "status")
    run(hookctl, "enable", "guard")
    assert path.read_bytes() == installed and not keeps(isolated)
    run(hookctl, "disable", "guard")
    run(hookctl, "uninstall", "--host", kind.host)
    assert (path.read_bytes() if path.exists() else None) == before
    assert not keeps(isolated)


def test_in_a_project_only_its_settings_change_and_check_fails(hookctl: Hookctl, isolated: Path) -> None:
    path = with_pack(hookctl, isolated, THEIRS, "--scope", "project")
    folder = path.parents[1] / ".hookctl"
    installed, own = path.read_bytes(), tree(folder)
    run(hookctl, "check", "--require", "notify")
    run(hookctl, "disable", "notify")
    assert path.read_text() == THEIRS and tree(folder) == own
    run(hookctl, "check", "--require", "notify", code=1)
    assert keeps(isolated)
    findings = json.loads(run(hookctl, "doctor", "--json").out)["data"]["findings"]
    assert [finding["level"] for finding in findings if finding["code"].startswith("entr")] == []
    run(hookctl, "install", "--host", "claude", "--scope", "project")  # the committed record keeps the pack's hooks
    assert b"notify/done" in (folder / "ledger.json").read_bytes()
    run(hookctl, "uninstall", "--scope", "project")
    run(hookctl, "enable", "notify")
    assert path.read_bytes() == installed
    run(hookctl, "check", "--require", "notify")


def disabled_here(hookctl: Hookctl, path: Path, *commands: str) -> list[str]:
    ids = [hook["id"] for hook in listed(hookctl, path) if hook["command"] in commands]
    run(hookctl, "disable", *ids)
    return ids


@pytest.mark.parametrize("text", [THEIRS, THEIRS.replace("\n", "\r\n"), "".join(map(str.strip, THEIRS.splitlines()))])
@pytest.mark.parametrize("first", [0, 1])
def test_an_edit_meanwhile_stays_and_the_hook_comes_behind_its_neighbour(
    hookctl: Hookctl, isolated: Path, text: str, first: int
) -> None:
    path = put(isolated / "home" / ".claude" / "settings.json", text.encode())
    ids = disabled_here(hookctl, path, "two", "three")
    page = json.loads(path.read_text())
    page["hooks"]["PreToolUse"][0]["hooks"].insert(0, {"type": "command", "command": "zero"})
    page["model"] = "other"
    path.write_text(json.dumps(page, indent=4))
    run(hookctl, "enable", ids[first])
    run(hookctl, "enable", ids[1 - first])
    after = json.loads(path.read_text())
    assert [hook["command"] for hook in after["hooks"]["PreToolUse"][0]["hooks"]] == ["zero", "one", "two", "three"]
    assert after["model"] == "other" and not keeps(isolated)


def test_what_is_back_in_the_file_is_not_put_there_twice(hookctl: Hookctl, isolated: Path) -> None:
    path = put(isolated / "home" / ".claude" / "settings.json", THEIRS)
    ids = disabled_here(hookctl, path, "two")
    path.write_text(THEIRS)
    assert [hook["state"] for hook in listed(hookctl, path) if hook["command"] == "two"] == ["runs"]
    assert "already" in run(hookctl, "enable", *ids).out
    assert path.read_text() == THEIRS and not keeps(isolated)


def test_where_what_is_kept_cannot_be_read_nothing_is_written(hookctl: Hookctl, isolated: Path) -> None:
    path = with_pack(hookctl, isolated)
    run(hookctl, "disable", "notify")
    former = put(isolated / "state" / "disabled.json", "{")  # 0.2.0 had it there
    for command in ("status", "uninstall", "upgrade --yes", "enable notify"):
        assert "the record of disabled hooks cannot be read" in run(hookctl, *command.split(), code=4).err
    assert path.read_text() == THEIRS and former.read_text() == "{"


@pytest.mark.parametrize("agrees", [True, False])
def test_uninstall_of_everything_asks_about_other_tools_hooks(
    hookctl: Hookctl, isolated: Path, monkeypatch: pytest.MonkeyPatch, agrees: bool
) -> None:
    path = with_pack(hookctl, isolated)
    (id,) = disabled_here(hookctl, path, "two")
    asked = []

    def confirm(question: str) -> bool:
        asked.append(question)
        if question.endswith("Put them back?") and not agrees:
            raise HookctlError("declined", "nothing was changed", exit_code=2)
        return True

    monkeypatch.setattr("hookctl.verbs.uninstall.confirm", confirm)
    monkeypatch.setattr("hookctl.verbs.uninstall.can_ask", lambda: True)
    run(hookctl, "uninstall", "--all")
    assert len(asked) == 2 and id[:8] in asked[1]
    assert (path.read_text() == THEIRS, keeps(isolated)) == (agrees, not agrees)
    if not agrees:
        run(hookctl, "enable", id)
        assert path.read_text() == THEIRS


def test_a_plugins_hook_stays_and_the_message_names_the_hosts_own_way(hookctl: Hookctl, isolated: Path) -> None:
    folder = isolated / "home" / ".claude" / "skills" / "bells"
    put(folder / ".claude-plugin" / "plugin.json", '{"name": "bells"}')
    handler = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ring"}]}]}}
    put(folder / "hooks" / "hooks.json", json.dumps(handler))
    hooks = json.loads(run(hookctl, "hooks", "--json").out)["data"]["hooks"]
    (ring,) = [hook for hook in hooks if hook["command"] == "ring"]
    assert "claude plugin disable bells" in run(hookctl, "disable", ring["id"], code=1).err


@pytest.mark.parametrize("text", [None, "", 'model = "m" # mine\n', "[hooks.state]\n# none\n"])
def test_codex_has_a_switch_for_each_hook_and_its_file_stays(
    hookctl: Hookctl, isolated: Path, text: str | None
) -> None:
    path = put(isolated / "home" / ".codex" / "hooks.json", json.dumps({"hooks": {"Stop": [GROUP, GROUP]}}))
    config = isolated / "home" / ".codex" / "config.toml"
    if text is not None:
        put(config, text)
    before = path.read_bytes()
    ids = [hook["id"] for hook in listed(hookctl, path, "codex")]
    run(hookctl, "disable", ids[1])
    assert path.read_bytes() == before and "enabled = false" in config.read_text()
    assert [hook["state"] for hook in listed(hookctl, path, "codex")].count("disabled") == 1
    if text is None:
        run(hookctl, "enable", ids[0])
        assert not config.exists()
        return
    config.write_text(config.read_text() + "[profile]\nx = 1\n")
    run(hookctl, "enable", ids[0])
    after = [line for line in config.read_text().splitlines() if line]
    assert after == f"{text}[profile]\nx = 1\n".splitlines() and not keeps(isolated)


def test_uninstall_takes_the_hosts_own_switches_of_a_pack_along(hookctl: Hookctl, isolated: Path) -> None:
    config = put(isolated / "home" / ".codex" / "config.toml", 'model = "m" # mine\n')
    run(hookctl, "install", "--host", "codex")
    run(hookctl, "disable", "guard", "--host", "codex")
    findings = json.loads(run(hookctl, "doctor", "--host", "codex", "--json", code=None).out)["data"]["findings"]
    assert "hook_disabled" not in [finding["code"] for finding in findings]
    assert "disabled" in [finding["code"] for finding in findings]
    run(hookctl, "uninstall", "--host", "codex")
    assert config.read_text() == 'model = "m" # mine\n' and not keeps(isolated)


def test_gemini_has_a_list_of_names_which_is_used_where_it_means_one_hook(hookctl: Hookctl, isolated: Path) -> None:
    text = json.dumps({"hooks": {"AfterAgent": [GROUP], "BeforeTool": [GROUP, {"hooks": [{**BELL, "command": "b"}]}]}})
    path = put(isolated / "home" / ".gemini" / "settings.json", text)
    hooks = listed(hookctl, path, "gemini")
    run(hookctl, "disable", *(hook["id"] for hook in hooks if hook["command"] == "b"))
    assert json.loads(path.read_text())["hooksConfig"] == {"disabled": ["b"]}
    bells = [hook["id"] for hook in hooks if hook["command"] == "bell"]
    run(hookctl, "disable", bells[0])  # another hook has the same name
    page = json.loads(path.read_text())
    assert page["hooksConfig"] == {"disabled": ["b"]}
    gone = [hook["id"] for hook in listed(hookctl, path, "gemini") if hook["state"] == "disabled"]
    assert len(gone) == 2
    run(hookctl, "enable", *gone)
    assert path.read_text() == text


def test_a_hook_that_its_hosts_list_of_names_has_already_stays_as_it_is(hookctl: Hookctl, isolated: Path) -> None:
    hooks = {"AfterTool": [{"hooks": [{**BELL, "name": "lint"}, {**BELL, "command": "b"}]}]}
    text = json.dumps({"hooksConfig": {"disabled": ["lint"]}, "hooks": hooks})
    path = put(isolated / "home" / ".gemini" / "settings.json", text)
    off, other = [hook["id"] for hook in listed(hookctl, path, "gemini")]
    outcome = run(hookctl, "disable", off)
    reason = "is off already: hooksConfig.disabled in ~/.gemini/settings.json names it"
    assert f"{off[:8]} {reason}" in outcome.err and "nothing to do" in outcome.out and "Disabled." not in outcome.out
    assert path.read_text() == text and not keeps(isolated)
    assert "is not disabled by hookctl, and does not run" in run(hookctl, "enable", off, code=1).err
    outcome = run(hookctl, "disable", off, other)
    assert reason in outcome.err and f"`hookctl enable {other[:8]}`" in outcome.out
    assert json.loads(path.read_text())["hooksConfig"] == {"disabled": ["lint", "b"]}
    run(hookctl, "enable", other)
    assert path.read_text() == text


# Hooks are disabled, people edit their files, and the hooks come back: not a word of anybody is lost, or made up.
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
        self.host, _ = active_file(hosts.load(kind.host), "user", here.folders.environ)
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
    assert not store.load(here.folders).disabled
