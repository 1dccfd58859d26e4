"""What hookctl's own copy of the guard did with a configuration, when it was asked."""

from __future__ import annotations

from hookctl.values import NamedTuple


class Answer(NamedTuple):
    """What the guard said."""

    text: str
    seconds: float


class Trial(NamedTuple):
    """Whether the guard did what its configuration promises, and what is why it did not."""

    promised: str  # block | end | refuse
    answer: Answer
    is_kept: bool
    settings: tuple[str, ...] = ()  # those that keep it from that
    variables: tuple[str, ...] = ()  # the same
