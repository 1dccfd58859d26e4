"""hookctl report: what doctor, hooks and stats say, and the guard's decisions, as one HTML page."""

import os
import re
from collections import Counter
from collections.abc import Iterable
from html import escape
from string import Template

from hookctl import __version__, clock, masking, receipts
from hookctl.errors import FAILED, HookctlError, usage_error
from hookctl.model import Line, Result
from hookctl.output.lines import amount, table, tilde
from hookctl.survey.model import RUNS, WANTED
from hookctl.system import files, read_data
from hookctl.system.folders import Folders
from hookctl.verbs.doctor import doctor
from hookctl.verbs.hooks import hooks
from hookctl.verbs.stats import stats

HELP = """
--output -o FILE  The file to write; default: hookctl-report.html here.

Examples:
  hookctl report -o ~/hooks.html --since 7d
"""
MARK = b'<meta name="generator" content="hookctl">'  # tells a page of ours from another file


def report(folders: Folders, output: str = "", since: str = "") -> Result:
    """Write the page to a file, which may be an older page but no other file."""
    path = os.path.join(folders.cwd, os.path.expanduser(output or "hookctl-report.html"))
    if os.path.isdir(path) or not os.path.isdir(os.path.dirname(path)):
        raise usage_error("this is no file in a folder that is there", "Name one with -o.", path)
    # A link may have been put there by whoever made the folder.
    is_link, old = not output and os.path.islink(path), files.read(path)
    if is_link or (old.data and MARK not in old.data[:4096]):
        hint = "Name another file with -o, or remove this one first."
        raise _refused(path, "this file is not a hookctl report", hint)
    now = clock.now(folders.environ)
    earliest = clock.moment(since, now) if since else float("-inf")
    findings, listed, counted = doctor(folders), hooks(folders), stats(folders, since)
    days = dict[str, Counter[str]]()
    for event in receipts.read(folders.state, has_untold=True):
        if event.get("decision") in receipts.DONE and event["t"] >= earliest:
            day = days.setdefault(clock.local(event["t"])[:10], Counter())
            day[event["decision"]] += receipts.number_of(event)
    rows = [["DAY", *map(str.upper, receipts.DONE.values())]] if days else []
    rows += [[day, *(str(counts[word]) for word in receipts.DONE)] for day, counts in days.items()]
    about = f"{clock.local(now)}, by hookctl {__version__}"
    about += f"; runs and decisions of the last {since}" if since else ""
    page = Template(read_data("templates", "report", "page.html").decode()).substitute(
        title=_text(f"Hooks in {folders.cwd}"),
        about=_text(about),
        attention=_show(findings.text),
        hooks=_show(listed.text),
        counts=_show(counted.text),
        days=_show(table(rows)),
    )
    try:
        files.replace(old, page.encode("utf-8", "backslashreplace"))
    except files.Changed:
        raise _refused(path, "this file changed meanwhile", "Run the command again.") from None
    found = listed.data["hooks"]()
    numbers = {
        "hooks": len(found),
        "runs": sum(hook["runs"] for hook in counted.data["hooks"]),
        "decisions": sum(counts.total() for counts in days.values()),
    }
    said = ", ".join(amount(number, noun[:-1]) for noun, number in numbers.items())
    odd = [finding for finding in findings.data["findings"] if finding["level"] != "info"]
    odd += [hook for hook in found if hook["state"] not in (RUNS, *WANTED)]
    data = {"file": path, **numbers, "attention": len(odd) + len(listed.data["unreadable"])}
    return Result(data, (f"{tilde(path)}: {said}, {data['attention']} to look at",))


def _refused(path: str, message: str, hint: str) -> HookctlError:
    return HookctlError("conflict", message, path=path, hint=hint, exit_code=FAILED)


# As HTML. Text is escaped here, and nowhere else.


def _show(lines: Iterable[str | Line]) -> str:
    shown = []
    for line in lines:
        if isinstance(line, str):
            shown.append(f"<pre>{_text(line)}</pre>")
            continue
        text = _text(" ".join(filter(None, [line.label.strip(), line.text])))
        text = re.sub("`([^`]+)`", r"<code>\1</code>", text)
        text += f" <small>{_text(line.path)}</small>" if line.path else ""
        kind = line.mark or ("more" if line.indent else "head")
        shown.append(f'<p class="{kind}" style="margin-left: {line.indent / 2}em">{text}</p>')
    return "\n".join(shown) or "<p>There are none.</p>"


def _text(value: str) -> str:
    """A text as HTML shows it, without what looks like a secret, and with ~ for the home folder."""
    home = os.path.expanduser("~")
    text = masking.shown(value)
    return escape(text if home == "/" else text.replace(f"{home}/", "~/"))
