"""The documentation site: every page is in it, its build is strict, and it needs nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
OUTSIDE = {"index.md": "README.md", "changelog.md": "CHANGELOG.md", "security-policy.md": "SECURITY.md"}
REQUIRED = os.environ.get("HOOKCTL_DOCS") == "require"


def pages_of_nav(entries: list) -> list[str]:
    """The pages below these entries of mkdocs.yml's nav."""
    pages = []
    for entry in entries:
        for value in entry.values():
            pages += pages_of_nav(value) if isinstance(value, list) else [value]
    return pages


PAGES = pages_of_nav(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])


def test_every_page_is_in_the_navigation_once() -> None:
    documents = [path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")]
    assert sorted(PAGES) == sorted([*documents, *OUTSIDE]), "add the page to nav in mkdocs.yml"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site as mkdocs builds it, without a warning."""
    if not REQUIRED and not all(importlib.util.find_spec(name) for name in ("mkdocs", "material")):
        pytest.skip("mkdocs is not here: pip install '.[docs]', or HOOKCTL_DOCS=require")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_fetches_nothing_from_elsewhere(site: Path) -> None:
    for path in site.rglob("*.html"):
        html = path.read_text()
        fetched = re.findall(r"<(?:script|img|link|iframe|source)\b[^>]*?\b(?:src|href)=\"([^\"]*)", html)
        assert fetched, path
        assert not [url for url in fetched if "//" in url], path
        assert "fonts.g" not in html, path
