"""The whole page: the template with its sections."""

from __future__ import annotations

from string import Template

from hookctl import clock
from hookctl.page import attention, decisions, hooks, runs
from hookctl.page.html import element, lines, prose, text
from hookctl.page.model import Content
from hookctl.survey.model import RUNS
from hookctl.system.package_data import read_data

MARK = b'<meta name="generator" content="hookctl">'  # tells a page of ours from another file


def make_page(content: Content) -> bytes:
    """The page as it is written."""
    template = Template(read_data("templates", "report", "page.html").decode())
    since = f"; runs and decisions of the last {content.since}" if content.since else ""
    numbers, failed = count(content), sum(found.failures for found in content.runs.values())
    running = sum(hook.state == RUNS for hook, _ in content.hooks)
    needs = "thing needs attention" if numbers["attention"] == 1 else "things need attention"
    figures = [
        (f"{numbers['attention']}", needs),
        (f"{running} of {numbers['hooks']}", "hooks run here"),
        (f"{numbers['runs']}", f"runs with a receipt, {failed} failed"),
        (f"{numbers['decisions']}", "decisions of the guard"),
    ]
    page = template.substitute(
        title=text(f"hookctl report, {content.folder}"),
        heading=text(f"Hooks in {content.folder}"),
        about=text(f"{clock.local(content.at)}, by hookctl {content.version}{since}"),
        figures=lines(element("li", element("b", number), said) for number, said in figures),
        attention=attention.attention(content),
        hooks=hooks.hooks(content),
        runs=runs.runs(content),
        decisions=decisions.decisions(content),
        foot=prose(
            "What hookctl knows for a secret is masked; look before you hand this page on. "
            "`hookctl report` makes it anew."
        ),
    )
    return page.encode("utf-8", "backslashreplace")


def count(content: Content) -> dict[str, int]:
    """How much the page tells of."""
    return {
        "hooks": len(content.hooks),
        "runs": sum(found.runs for found in content.runs.values()),
        "decisions": decisions.count(content),
        "attention": len(attention.list_things(content)) + hooks.count_broken(content),
    }
