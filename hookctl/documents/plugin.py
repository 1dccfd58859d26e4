"""A plugin of ours in a host: JSON settings inside fixed code, edited like a settings file.

The settings are a JSON document of their own, and the code around them comes from templates/. A
file whose code differs is refused: it is another program's, or it was edited.
"""

from __future__ import annotations

from functools import cache
from itertools import takewhile
from typing import Any

from hookctl.documents import MISSING, New, Path, decode, error_at
from hookctl.documents.jsonc import JsonDocument
from hookctl.system import read_data
from hookctl.system.files import digest

# The settings stand between these two lines, in every version.
_START = "\nconst settings =\n"
_END = (
    "// From here on every file of this version is the same;"
    " hookctl does not touch one that differs.\n"
)

_HINT = (
    "If it is another program's, move it away. If its code was edited, undo that edit; or keep what"
    " is yours in it elsewhere, and remove it. Then run the command again."
)

# The SHA-256 of the code (before and after the settings) of earlier versions, which the next
# install replaces.
_EARLIER = (
    "6d9193e075b5be7e4bccc7cdcc1a23465fab4e889ca83dda43cacb7d274999e4",  # plugin 2
    "e2e3815055610cd3db59a5e6c43e4442e25510e38c9659b904bab55542d65228",  # plugin 2
)


class PluginDocument(JsonDocument):
    """An immutable plugin file; each edit gives a new one. Without settings it has no bytes.

    Its JSON text has an empty line for each line of code above, so that errors name the file's.
    """

    def __init__(self, settings: str, where: str, host: str, code: tuple[str, str]) -> None:
        self._host, self._code = host, code
        super().__init__("\n" * code[0].count("\n") + settings, where, strict=True)

    @classmethod
    def parse(  # type: ignore[override]
        cls, data: bytes, *, where: str = "", host: str = "opencode", is_ours: bool = False
    ) -> PluginDocument:
        """Parse the bytes of a host's plugin; errors name the position.

        They are not_utf8, unparsable and foreign_file. With `is_ours` the code is that of some
        version of hookctl, and stays as it is.
        """
        text = decode(data, where)
        if not text.strip():
            return cls(text, where, host, current_code(host))
        (before, settings, after), ours = _split(text), current_code(host)
        is_known = digest((before + after).encode()) in _EARLIER or (is_ours and bool(settings))
        if (before, after) != ours and not is_known:
            pairs = zip(ours[0] + settings + ours[1], text, strict=False)
            offset = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
            message = "this file is not as hookctl writes it"
            raise error_at("foreign_file", text, where, offset, message, _HINT)
        return cls(settings, where, host, (before, after))

    def _reread(self, text: str, path: Path, new: New) -> PluginDocument:
        settings = text[self._code[0].count("\n") :]
        return PluginDocument(settings, self.where, self._host, self._code)

    @property
    def data(self) -> bytes:
        """The bytes of the file; none if there are no settings left."""
        before, after = self._code
        text = self._settings
        return (before + text + after if text.strip() else text).encode()

    @property
    def has_settings(self) -> bool:
        """Whether there is anything in it but empty containers."""
        return self.value is not MISSING and not _is_empty(self.value)

    def renewed(self) -> PluginDocument:
        code = current_code(self._host)
        if self._code == code:
            return self
        return PluginDocument(self._settings, self.where, self._host, code)

    @property
    def _settings(self) -> str:
        """The settings as they are in the file, without the empty lines for the code above."""
        return self._text[self._code[0].count("\n") :]


def _split(text: str) -> tuple[str, str, str]:
    """The code before the settings, the settings, and the code after them; "" for missing parts."""
    before, start, rest = text.partition(_START)
    settings, end, after = rest.rpartition(_END)
    return before + start, settings, end + after


@cache
def current_code(host: str) -> tuple[str, str]:
    """This version's code of a host's plugin, before and after the settings.

    The first line is the host's own; what all plugins have in common stands between it and the
    rest of the host's.
    """
    first, _, own = read_data("templates", host, "plugin.js").decode().partition("\n")
    common = read_data("templates", "plugin", "common.js").decode()
    before, _, after = _split(f"{first}\n{common}")
    return before, after + own


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_empty, value.values()))
    return value == []
