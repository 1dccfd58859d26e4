"""An error as one text: its sentences do not run together."""

from __future__ import annotations

import pytest

from hookctl.errors import HookctlError


@pytest.mark.parametrize(("message", "hint", "text"), [
    ("not valid TOML: Unclosed inline table", "Fix it.", "/a:3:7: not valid TOML: Unclosed inline table. Fix it."),
    ("did it end?", "Try again.", "/a:3:7: did it end? Try again."),
    ("not valid", "", "/a:3:7: not valid"),
])  # fmt: skip
def test_a_sentence_ends_before_the_next(message: str, hint: str, text: str) -> None:
    assert str(HookctlError("code", message, path="/a", line=3, column=7, hint=hint)) == text


@pytest.mark.parametrize(("hint", "said"), [("", "Nothing was written."), ("Run `x`", "Run `x`. Nothing was written.")])
def test_what_was_not_written_is_a_sentence_of_its_own(hint: str, said: str) -> None:
    error = HookctlError("code", "wrong", hint=hint)
    error.say_unwritten()
    assert error.hint == said
