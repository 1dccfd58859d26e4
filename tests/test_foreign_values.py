"""No command that writes shows a value or a comment that is not hookctl's: of a foreign one only the key.

In a text below, each @ becomes a random word and each 0 a random number; none of them may be in any output.
"""

from __future__ import annotations

import json
import random
import re
import string
from pathlib import Path

import pytest

from hookctl.output.diffs import _Own

from .conftest import Hookctl, put

FILES = {
    "claude": ".claude/settings.json", "gemini": ".gemini/settings.json", "antigravity": ".gemini/config/hooks.json",
    "cursor": ".cursor/hooks.json", "kiro": ".kiro/hooks/hookctl.json", "kimi": ".kimi-code/config.toml",
    "vibe": ".vibe/hooks.toml", "hermes": ".hermes/config.yaml", "opencode": ".config/opencode/plugin/hookctl.js",
}  # fmt: skip
HOOK = '{"type": "command", "command": "say @", "timeout": 0, "env": {"TOKEN": "@", "A": "@"}}'
JSON = {
    "lines": '{\n  "model": "@",\n  "token": "@",\n  "n": 0,\n  "env": {\n    "A": "@",\n    "B": "@"\n  }\n}\n',
    "one line": f'{{"model": "@", "env": {{"A": "@"}}, "hooks": {{"Stop": [{{"hooks": [{HOOK}]}}]}}, "n": [0, "@"]}}',
    "beside": '{\n  "model": "@", "env": {}, "n": 0,\n  "hooks": {"Stop": [{"matcher": "@", "hooks": [HOOK]}],'
    ' "AfterAgent": [{"hooks": [HOOK]}]}, "z": "@"\n}\n'.replace("HOOK", HOOK),
    "arrays": '{\n  "env": {"A": ["--token", "@", ["@"]]},\n  "args": [\n    "--token",\n    "@", {"x": "@"}]}',
    "escapes": '{"a": "@\\n\\u0041@\\u2028\\"}, {@", "env": {"B": "-----BEGIN KEY-----\\n@\\n@"}, "c": "T=\\"@\\""}',
    "our head": '{"hooks": {"Stop": [{"hooks": [{"command": ": hookctl=other/x; x", "type": "@", "note": "@"}]}]}}',
}
COMMENTS = {
    "comments": '// @\n{ // @\n  "a": "@", /* @\n @ */ "env": { // "TOKEN": "@"\n    "A": 0 // @\n  }\n} // @\n',
    "in our place": '{\n  "hooks": { // @\n    // "Stop": ["@"]\n  },\n  "env": {\n    /* @ */\n  } /* @ */\n}\n',
}
TOML = {
    "lines": '# @\nmodel = "@" # @\ntoken = "@"\nn = 0\n\n[env] # @\nA = "@"\n# B = "@"\n',
    "long strings": 'a = """\n@\ntoken = "@"\n[hooks]\n"""\nb = \'\'\'@\n@ = 0\'\'\'\n',
    "arrays": 'a = ["--token", # @\n  "@", [0, "@"],\n  # @\n]\nb = {c = "@", d.e = "@"}\n[[servers]]\nx = "@"\n',
    "hooks": '[[hooks]] # @\nevent = "@"\ntype = "@"\ncommand = "@" # @\n\n[[hooks]]\ntype = "x"\nnote = "@"\n',
}
YAML = {
    "lines": "# @\nmodel: '@' # @\ntoken: @\nn: 0\nenv:\n  A: @ # @\n  # B: @\nlist:\n- @\n- [@, @]\n- a: @\n  b: @\n",
    "long strings": "a: |\n  @\n  token: @\n  # @\nb: >-\n  @\n\n  @: @\nc: '@\n  @'\nd: @\n  @ @\n",
    "hooks": "hooks: # @\n  on_session_end:\n  # @\n  - command: @ # @\n    timeout: 0\n    note: |\n      @\n",
    "aliases": "a: &x\n  token: @\nb: *x\nc:\n  <<: *x\n  d: @\n",
}
PLAIN = '{\n  "model": "@",\n  "version": 1, "x": {"token": "@"},\n  "list": [0, "@"]\n}\n'
CASES = [
    *[("claude", name, text) for name, text in JSON.items()],
    *[("gemini", name, text) for name, text in {**JSON, **COMMENTS}.items()],
    *[(host, name, text) for host in ("kimi", "vibe") for name, text in TOML.items()],
    *[("hermes", name, text) for name, text in YAML.items()],
    *[(host, "plain", PLAIN) for host in ("antigravity", "cursor", "kiro")],
    ("kiro", "a list", '{"version": "v1", "hooks": [{"trigger": "@", "action": {"type": "command", "command": "@"}}]}'),
]  # fmt: skip


class Foreign:
    """Fills a text with random words and numbers, and finds them again."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def fill(self, text: str) -> str:
        return re.sub("[@0]", lambda match: self._make(match[0]), text)

    def _make(self, kind: str) -> str:
        signs = string.ascii_lowercase if kind == "@" else "123456789"
        self.words.append("".join(random.choices(signs, k=12)))
        return self.words[-1]

    def run(self, hookctl: Hookctl, *commands: str) -> str:
        """Run commands; returns all that they print, in which there is no foreign word."""
        seen = ""
        for command in commands:
            done = hookctl(*command.split())
            seen += done.out + done.err
            assert done.code in (0, 1, 4), done
            assert not [word for word in self.words if word in seen], f"{command}: {seen}"
        return seen


def looking(verb: str) -> list[str]:
    return [f"{verb} --dry-run {flags}" for flags in ("", "--json")]


def id_of(case: object) -> str:
    return str(case) if isinstance(case, str) and len(case) < 20 else ""


@pytest.mark.parametrize(("host", "name", "text"), CASES, ids=id_of)
def test_of_a_foreign_value_only_the_key_is_shown(
    hookctl: Hookctl, isolated: Path, host: str, name: str, text: str
) -> None:
    foreign = Foreign()
    file = put(isolated / "home" / FILES[host], foreign.fill(text))
    install = f"install --host {host}"
    planned = foreign.run(hookctl, f"plan --host {host}")
    assert f"--- {file}\n+++ {file}\n@@ " in planned
    assert re.search(r"^\+ .*: hookctl=guard/stop; ", planned, re.MULTILINE)
    foreign.run(hookctl, *looking(install), f"{install} --json", *looking(f"{install} --set max_stop_blocks=7 --force"))
    removed = foreign.run(hookctl, *looking("uninstall"), "status", f"doctor --host {host}")
    assert re.search(r"^- .*: hookctl=guard/stop; ", removed, re.MULTILINE)
    foreign.run(hookctl, *looking("upgrade"), f"restore {file} --dry-run", f"restore {file} --dry-run --json")
    installed = file.read_text()
    file.write_text(installed.replace("\n", foreign.fill("\n# @\n" if host in ("kimi", "vibe", "hermes") else "\n"), 1))
    for word in foreign.words[:3]:  # what a restore would undo
        file.write_text(file.read_text().replace(word, foreign.fill("@")))
    foreign.run(hookctl, f"restore {file} --dry-run", f"restore {file} --dry-run --json", f"restore {file}")
    foreign.run(hookctl, f"doctor --host {host} --fix", "hosts", "log --json", "run status --json", "uninstall --json")


BROKEN = {
    "claude": ['{"a": "@" "@"}', '{"a": @}', '{"@', "@", '{"a": 1 /* @ */, // @\n}', "<<<<<<< @\n{}"],
    "kimi": ["a = @", 'a = "@" @', 'a = "@', "@", "[a\n# @", 'a = 1\na = "@"', 'a = """@'],
    "hermes": ["a: *@", "a: @: @", "a: '@", "- @\nb: @", "a: !@ @", "a: [@", "%@\n", "a: &@ @\na: @"],
    "opencode": ["const x = '@'\n"],
}


@pytest.mark.parametrize(("host", "text"), [(host, text) for host, texts in BROKEN.items() for text in texts])
def test_nor_is_what_stands_where_a_file_is_broken(hookctl: Hookctl, isolated: Path, host: str, text: str) -> None:
    foreign = Foreign()
    file = isolated / "home" / FILES[host]
    put(file, foreign.fill(text))
    words = f"plan --host {host}", f"install --host {host} --json", f"doctor --host {host}", "status"
    assert str(file) in foreign.run(hookctl, *words)


def test_the_words_would_be_found(hookctl: Hookctl, settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = Foreign()
    put(settings, foreign.fill(JSON["lines"]))
    monkeypatch.setattr("hookctl.output.diffs._find_own", lambda *_: _Own({()}, set()))
    monkeypatch.setattr("hookctl.output.diffs._HIDDEN", json.dumps(foreign.words[0]))
    with pytest.raises(AssertionError):
        foreign.run(hookctl, "plan --host claude")
