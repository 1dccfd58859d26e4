"""Renews the levels of the codes in the table of docs/doctor.md: `python -m tests.page_of_codes` writes the page.

What a code means and what to do stand on the page alone.
"""

from __future__ import annotations

from pathlib import Path

from hookctl.checks import entries

PAGE = Path(__file__).parents[1] / "docs" / "doctor.md"
_HEAD = ("| code | level | what it means | what to do |", "| --- | --- | --- | --- |")


def rows(page: str) -> dict[str, tuple[str, str, str]]:
    """The level, the meaning and the remedy of each code, as the page has them."""
    lines = page.splitlines()
    found = {}
    for line in lines[lines.index(_HEAD[0]) + len(_HEAD) :]:
        if not line.startswith("| `"):
            break
        code, level, means, what_to_do = line.removeprefix("|").removesuffix("|").split(" | ", 3)
        found[code.strip().strip("`")] = level, means, what_to_do.strip()
    return found


def renewed(page: str) -> str:
    """The page with a row for each code, in their order, and with its levels."""
    texts = rows(page)
    table = list(_HEAD)
    for code in entries():
        _, means, what_to_do = texts.get(code, ("", "", ""))
        table.append(f"| `{code}` | {entries()[code]['level']} | {means} | {f'{what_to_do} |' if what_to_do else '|'}")
    lines = page.splitlines()
    begin = lines.index(table[0])
    end = next((n for n in range(begin, len(lines)) if not lines[n].startswith("|")), len(lines))
    return "\n".join([*lines[:begin], *table, *lines[end:]]) + "\n"


if __name__ == "__main__":
    page = renewed(PAGE.read_text())
    PAGE.write_text(page)
    for code, (_, meaning, _) in rows(page).items():
        if not meaning:
            print(f"fill in the row of {code} in {PAGE}")
