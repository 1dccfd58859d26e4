"""The page of `hookctl report` in a real Chromium: on a phone and a desk, by day and in the dark.

A copy of the page, without its policy, gets axe-core and a script that measures; the page itself has neither.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import pytest

from tests.conftest import Hookctl
from tests.e2e.clients import Unavailable, npm_file
from tests.test_every_hook import Machine, machine  # noqa: F401 (a fixture)
from tests.test_report_page import told  # noqa: F401 (a fixture)

pytestmark = pytest.mark.full

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
MEASURE = """
axe.run(document).then(found => {
  const wide = [...document.querySelectorAll("body *")].filter(
    each => each.getBoundingClientRect().right > innerWidth + 1);
  const result = {
    violations: found.violations.map(one => [one.id, one.nodes[0].html]),
    checked: found.passes.length,
    page: document.documentElement.scrollWidth,
    screen: innerWidth,
    wide: wide.map(each => each.outerHTML.slice(0, 80)),
    dark: getComputedStyle(document.body).backgroundColor,
  };
  document.body.replaceChildren(Object.assign(document.createElement("pre"),
    {id: "result", textContent: JSON.stringify(result)}));
});
"""


def looked_at(page: str, width: int, *, dark: bool, folder: Path) -> dict[str, object]:
    """What the script found in the page on a screen of this width."""
    try:
        axe = npm_file("axe-core", "4.14.1", "axe.min.js").read_text("utf-8")
    except Unavailable as error:
        pytest.skip(str(error))
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    if dark:
        page = page.replace("(prefers-color-scheme: dark)", "all")
    # A window may not be as narrow as a phone, but a frame may.
    inner, outer = folder / "inner.html", folder / "outer.html"
    inner.write_text(page.replace("</body>", f"<script>{axe}</script><script>{MEASURE}</script></body>"))
    outer.write_text(f'<!DOCTYPE html><iframe id="frame" src="inner.html" width="{width}" height="900"></iframe>')
    options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,1000"]
    copied = ["--allow-file-access-from-files", "--virtual-time-budget=60000", f"--user-data-dir={folder / 'profile'}"]
    script = "<script>const wait = setInterval(() => { const found = frame.contentDocument.getElementById('result');"
    script += "if (found) { clearInterval(wait); document.body.append(found); } }, 50);</script>"
    outer.write_text(outer.read_text() + script)
    command = [CHROMIUM or "", *options, *copied, "--dump-dom", outer.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    result = re.search(r'<pre id="result">(.*?)</pre>', done.stdout, re.DOTALL)
    assert result, done.stderr[-2000:]
    return json.loads(unescape(result[1]))


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_fits_and_everybody_can_read_it(
    hookctl: Hookctl,
    machine: Machine,  # noqa: F811
    told: Path,  # noqa: F811
    tmp_path: Path,
    width: int,
    dark: bool,
) -> None:
    page = Path(hookctl("report", "--json").data["file"]).read_text()
    found = looked_at(page, width, dark=dark, folder=tmp_path)
    assert (found["violations"], found["wide"], found["screen"]) == ([], [], width)
    assert found["page"] == width
    assert found["dark"] == ("rgb(18, 23, 29)" if dark else "rgb(255, 255, 255)")
    assert int(str(found["checked"])) > 10
