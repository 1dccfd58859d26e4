"""What a host's own switch says about a plugin: nothing against it, or why it is off."""

from __future__ import annotations

import json
import re
from typing import Any

from hookctl.documents import value_at
from hookctl.survey.plugin_reader import PluginReader, printable
from hookctl.survey.plugin_tables import Switch

_MOST_STARS = 8  # in a rule: the host itself writes one


class Switches:
    """The switches of one host, for an agent that is started in a folder."""

    def __init__(self, reader: PluginReader, start: str) -> None:
        self._reader = reader
        self._start = start

    def names(self, switch: Switch) -> list[str]:
        """The plugins that a switch has a word on."""
        return [name for path in self._files(switch) for name in self._map(path, switch)]

    def place_of_word(self, switch: Switch, id: str) -> str:
        """The file with the word on a plugin that counts; '' where there is none."""
        for path in self._files(switch):
            if id in self._map(path, switch):
                return path
        return ""

    def explain(self, switch: Switch, id: str, entry: Any) -> str:
        """Why a plugin is off; empty where it is on.

        `entry` is the word where it was installed, which holds without one of the switch.
        """
        path = self.place_of_word(switch, id)
        if path:
            word = self._map(path, switch)[id]
            if switch.rules:
                return self._explain_rules(word, switch, path)
            if switch.field:
                word = word.get(switch.field, True) if isinstance(word, dict) else True
            return f"{self._name(switch, id)} is false in {path}" if word is False else ""
        if entry is False:
            return "it was switched off where it was installed"
        if entry is None and not switch.default:
            return f"{self._name(switch, id)} is in no settings file that counts here"
        return ""

    def _name(self, switch: Switch, id: str) -> str:
        keys = [*switch.path, json.dumps(printable(id), ensure_ascii=False)]
        return ".".join([*keys, switch.field] if switch.field else keys)

    def _files(self, switch: Switch) -> list[str]:
        return self._reader.expand_all(switch.files)

    def _map(self, path: str, switch: Switch) -> dict[str, Any]:
        found = value_at(self._reader.values(path), tuple(switch.path))
        return found if isinstance(found, dict) else {}

    def _explain_rules(self, word: Any, switch: Switch, path: str) -> str:
        """The last rule for this folder counts; one that begins with `!` switches off."""
        rules = word.get(switch.field) if isinstance(word, dict) else None
        off = ""
        for rule in rules if isinstance(rules, list) else ():
            if isinstance(rule, str) and _covers(rule.removeprefix("!"), self._start):
                is_off = rule.startswith("!")
                text = f"the rule {json.dumps(printable(rule))} switches it off here, in {path}"
                off = text if is_off else ""
        return off


def _covers(rule: str, folder: str) -> bool:
    """Whether a rule is about a folder: `/a/` that one alone, `/a/*` those in it too."""
    if rule.count("*") > _MOST_STARS:
        return False
    pattern = re.sub(r"(/?)\\\*", r"(\1.*)?", re.escape(rule))
    return bool(re.fullmatch(pattern, f"{folder.rstrip('/')}/", re.DOTALL))
