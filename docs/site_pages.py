"""Hooks of mkdocs: bring the pages outside docs/ into the site, and point links to them."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.structure.files import File
from pymdownx import slugs

ROOT = Path(__file__).parents[1]
# Security and SECURITY would be one folder where names ignore case.
OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security-policy.md",
}
COPIED = [
    "LICENSE",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "schemas").glob("*.json")),
]

FENCE = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?P<text>\[[^\]]*\])\((?P<path>[^)#\s:]+)(?P<rest>[^)]*)\)")
ATTRIBUTE = re.compile(r'(?P<name>\b(?:src|href|srcset)=")(?P<path>[^"#:\s]+)')


def on_config(config):
    """Gives headings the anchors that code hosting sites give them."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slugs.slugify(case="lower")
    return config


def on_files(files, config):
    """Adds the pages and files outside docs/ to the site."""
    for source, name in OUTSIDE.items():
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    for source in COPIED:
        name = site_path(source)
        files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown, page, config, files):
    """Points each link of the page to where its target is in the site."""
    name = page.file.src_uri
    source = next((path for path, target in OUTSIDE.items() if target == name), f"docs/{name}")
    parts = FENCE.split(markdown)
    for number in range(0, len(parts), 2):  # every second part is a fence, which stays
        text = LINK.sub(lambda link: moved_link(link, source), parts[number])
        parts[number] = ATTRIBUTE.sub(lambda link: link["name"] + moved(link["path"], source), text)
    return "".join(parts)


def moved_link(link: re.Match[str], source: str) -> str:
    """The link as the site has it; its text alone where the target is not part of the site."""
    target = repository_path(link["path"], source)
    if target in OUTSIDE or target in COPIED or target.startswith("docs/"):
        return f"{link['text']}({moved(link['path'], source)}{link['rest']})"
    return link["text"][1:-1]


def moved(path: str, source: str) -> str:
    """The path as it reads in the site, for a page that lies at `source` in the repository."""
    start = posixpath.dirname(site_path(source))
    return posixpath.relpath(site_path(repository_path(path, source)), start or ".")


def repository_path(path: str, source: str) -> str:
    """Where a link of the page at `source` leads in the repository."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path))


def site_path(path: str) -> str:
    """Where a file of the repository lies among the site's sources."""
    if path in OUTSIDE:
        return OUTSIDE[path]
    if path in COPIED:
        return f"files/{path}" if "." in path else f"files/{path}.txt"
    return path.removeprefix("docs/")
