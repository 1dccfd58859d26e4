"""Writes the table of docs/museum.md from the museum's groups: `python -m tests.museum`."""

from tests.museum.page import PAGE, renewed

PAGE.write_text(renewed(PAGE.read_text()))
