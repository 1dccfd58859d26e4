"""Makes the table of docs/doctor.md from doctor's table of codes: `python -m tests.page_of_codes` writes the page."""

from __future__ import annotations

from pathlib import Path

from hookctl.checks import codes

PAGE = Path(__file__).parents[1] / "docs" / "doctor.md"


def renewed(page: str) -> str:
    """The page with the table as the codes have it."""
    table = codes.page_table()
    lines = page.splitlines()
    begin = lines.index(table[0])
    end = next((n for n in range(begin, len(lines)) if not lines[n].startswith("|")), len(lines))
    return "\n".join([*lines[:begin], *table, *lines[end:]]) + "\n"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text()))
