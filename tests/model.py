"""An oracle of ownership for single values, written from the words of docs/ownership.md; it shares no code with
the package. One settings file is a dict of keys; a page of the ledger is a dict of entries."""

from __future__ import annotations

from typing import Any


class Model:
    """A file's values and who wrote what in it."""

    def __init__(self, values: dict[str, int]) -> None:
        self.values = dict(values)
        self.book: dict[str, dict[str, Any]] = {}

    def state(self, key: str) -> str:
        entry = self.book.get(key)
        if entry is None:
            return "foreign" if key in self.values else "free"
        if entry["mode"] == "adopted":
            return "adopted"
        if key not in self.values:
            return "missing"
        return "owned" if self.values[key] == entry["written"] else "overridden"

    def install(self, pack: str, want: dict[str, int], force: bool) -> bool:
        """False: two packs disagree, and nothing was changed."""
        if not force and any(self._disagree(pack, key, value) for key, value in want.items()):
            return False
        for key in [key for key, entry in self.book.items() if pack in entry["owners"] and key not in want]:
            self._drop(pack, key)
        ours = [key for key, entry in self.book.items() if entry["mode"] == "owned"]
        total = bool(ours) and all(key not in self.values for key in ours)
        for key, value in want.items():
            at, here = self.state(key), self.values.get(key)
            if at == "adopted" and key not in self.values:
                self.book[key]["owners"][pack] = value
                self._write(key, value, None)
            elif at == "foreign" and here == value:
                self.book[key] = {"mode": "adopted", "before": None, "written": value, "owners": {pack: value}}
            elif at == "free" or (at == "foreign" and force):
                self.book[key] = {"owners": {pack: value}}
                self._write(key, value, here)
            elif at != "foreign":
                entry = self.book[key]
                entry["owners"][pack] = value
                if at == "owned":
                    entry["written"] = self.values[key] = value
                elif at == "adopted" and here == value:
                    entry["written"] = value
                elif at in ("adopted", "overridden") and force:
                    self._write(key, value, here)
                elif at == "missing" and (total or force):
                    self._write(key, value, None)
        for key, entry in self.book.items():
            if total and entry["mode"] == "owned" and key not in self.values and key not in want:
                self._write(key, list(entry["owners"].values())[-1], None)
        return True

    def uninstall(self, pack: str) -> None:
        for key in [key for key, entry in self.book.items() if pack in entry["owners"]]:
            self._drop(pack, key)

    def _disagree(self, pack: str, key: str, value: int) -> bool:
        if self.state(key) != "owned" or self.values[key] == value:
            return False
        return any(wish != value for name, wish in self.book[key]["owners"].items() if name != pack)

    def _write(self, key: str, value: int, before: int | None) -> None:
        self.book[key] |= {"mode": "owned", "before": before, "written": value}
        self.values[key] = value

    def _drop(self, pack: str, key: str) -> None:
        at, entry = self.state(key), self.book[key]
        del entry["owners"][pack]
        if entry["owners"]:
            if at == "owned":
                entry["written"] = self.values[key] = list(entry["owners"].values())[-1]
            return
        del self.book[key]
        if at == "owned" and entry["before"] is None:
            del self.values[key]
        elif at == "owned":
            self.values[key] = entry["before"]
