"""A state that cannot be saved: a person is told at each stop, and the log has path and error where it takes a line."""

import json
from pathlib import Path

import pytest

from .lab import TABLE, Lab, letter, name_of, spoil
from .wraps import DENIAL, Wrapped

CAUSES = {
    "a file in the folder's place": ("guard/P", "nul", "Not a directory"),
    "a file in the place of all": ("", "nul", "Not a directory"),
    "the folder is gone": ("/proc/hookctl", "", "No such file or directory"),  # /proc takes no folder from anybody
    "a folder in the session's place": ("guard/P/S.json", "folder", "Is a directory"),
    "a folder in the claim's place": ("guard/P/taken.tmp", "folder", "Is a directory"),
}


def file_for_the_project(lab: Lab) -> Path:
    spoil(lab.folder, "nul")
    return lab.folder


@pytest.mark.parametrize("cause", CAUSES)
def test_each_stop_says_which_path_and_why_and_so_does_the_log(lab: Lab, cause: str) -> None:
    where, how, error = CAUSES[cause]
    path = lab.place(where)
    if how:
        spoil(path, how)
    else:
        lab.environment["HOOKCTL_STATE_DIR"] = where
    lab.task(remaining=2)
    for _ in range(2):
        said = lab.call("stop")
        assert letter(said) == "R"
        text = json.loads(said)["systemMessage"]
        assert "its state cannot be saved" in text and "work remains (2)" in text
        assert str(path.with_suffix("")) in text and f": {error})" in text
    lines = lab.log()
    assert [line["code"] for line in lines] == ["state_error"] * 2 * ("P" in where)
    for line in lines:
        assert (line["decision"], line["error"]) == ("release", error)
        assert line["path"].startswith(str(path.with_suffix("")))


def test_it_is_said_too_where_nothing_is_to_be_blocked(lab: Lab) -> None:
    path = file_for_the_project(lab)
    for _ in range(2):
        text = json.loads(lab.call("stop"))["systemMessage"]
        assert text.startswith("hookctl guard: its state cannot be saved, so it counts and blocks nothing: ")
        assert text.endswith(f"{path}/{name_of('S1')}.json.lock: Not a directory")
    assert [(line["decision"], line["code"]) for line in lab.log()] == [("allow", "state_error")] * 2


@pytest.mark.parametrize("host", sorted(TABLE))
def test_it_is_said_in_the_hosts_words_if_it_has_any(lab: Lab, host: str) -> None:
    lab.host = host
    path = file_for_the_project(lab)
    fields = {"sessionId": "S1", "conversationId": "S1", "workspacePaths": [str(lab.project)]}
    said = lab.call("stop", stop_hook_active=False, **fields)
    if TABLE[host].get("release"):
        form = json.loads(TABLE[host]["release"].replace("%s", '"TEXT"'))
        answer = json.loads(said)
        assert set(answer) == set(form) and str(path) in said
    else:
        assert said == ""
    (line,) = lab.log()
    assert (line["code"], line["error"]) == ("state_error", "Not a directory")


def test_a_full_disk_is_named(lab: Lab) -> None:
    """Where no file grows: the state cannot be saved, nor a line of the log be written."""
    lab.task(remaining=2)
    lab.stop()
    done = lab.on_a_full_disk("stop", 100)
    text = json.loads(done.stdout)["systemMessage"]
    assert f"({lab.session_file()}: File too large)" in text


@pytest.mark.parametrize("where", ["guard/P", "guard/P/COUNT.tmp"])
def test_a_denial_that_cannot_be_counted_names_path_and_error_and_is_not_passed_on(lab: Lab, where: str) -> None:
    path = lab.place(where.replace("COUNT", f"{name_of('S1')}.{name_of(DENIAL)}.json"))
    spoil(path, "folder" if path.suffix else "nul")
    error = "Is a directory" if path.suffix else "Not a directory"
    for _ in range(2):
        done = Wrapped(lab).run()
        assert (done.returncode, done.stderr) == (0, b"")
        text = json.loads(done.stdout)["systemMessage"]
        assert "the count cannot be saved" in text and str(path).removesuffix(".tmp") in text and error in text
    assert [(line["event"], line["error"]) for line in lab.log()] == [("wrap", error)] * 2
