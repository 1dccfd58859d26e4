"""A state that cannot be saved: a person is told at each stop, and the log has path and error where it takes a line."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .lab import TABLE, Lab, letter, name_of
from .wraps import Wrapped

Hinder = Callable[[Lab], Path]


def file_for_the_project(lab: Lab) -> Path:
    lab.folder.parent.mkdir(parents=True)
    lab.folder.write_text("a file")
    return lab.folder


def file_for_the_state(lab: Lab) -> Path:
    lab.state.write_text("a file")
    return lab.state


def gone(lab: Lab) -> Path:
    """The folder cannot be made again: what it lay in is gone, as /proc takes no folder from anybody."""
    lab.environment["HOOKCTL_STATE_DIR"] = "/proc/hookctl"
    return Path("/proc/hookctl")


def folder_for_the_session(lab: Lab) -> Path:
    path = lab.folder / (name_of("S1") + ".json")
    path.mkdir(parents=True)
    return path


def folder_for_the_claim(lab: Lab) -> Path:
    path = lab.folder / "taken.tmp"
    path.mkdir(parents=True)
    return lab.folder / "taken"


CAUSES: dict[str, tuple[Hinder, str, bool]] = {
    "a file in the folder's place": (file_for_the_project, "Not a directory", True),
    "a file in the place of all": (file_for_the_state, "Not a directory", False),
    "the folder is gone": (gone, "No such file or directory", False),
    "a folder in the session's place": (folder_for_the_session, "Is a directory", True),
    "a folder in the claim's place": (folder_for_the_claim, "Is a directory", True),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_each_stop_says_which_path_and_why_and_so_does_the_log(lab: Lab, cause: str) -> None:
    hinder, error, is_logged = CAUSES[cause]
    path = hinder(lab.task(remaining=2))
    for _ in range(2):
        said = lab.call("stop")
        assert letter(said) == "R"
        text = json.loads(said)["systemMessage"]
        assert "its state cannot be saved" in text and "work remains (2)" in text
        assert f"{path}" in text and f": {error})" in text
    lines = lab.log()
    assert [line["code"] for line in lines] == ["state_error"] * 2 * is_logged
    for line in lines:
        assert (line["decision"], line["error"]) == ("release", error)
        assert line["path"].startswith(str(path))


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


@pytest.fixture
def mounts() -> None:
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("no file system can be mounted here")


def stop_on(lab: Lab, preparation: str) -> str:
    """What a stop says whose state folder is a file system of its own, made so by a shell."""
    lab.state.mkdir()
    script = f'cd "$1" && {preparation} && cd / && shift && exec "$@"'
    command = ["unshare", "-rm", "sh", "-c", script, "sh", str(lab.state), *lab.command("stop")]
    done = lab.run_command(command)
    assert (done.returncode, done.stderr) == (0, b""), done
    return str(json.loads(done.stdout)["systemMessage"])


@pytest.mark.usefixtures("mounts")
def test_a_file_system_without_room_is_named(lab: Lab) -> None:
    lab.task(remaining=2)
    fill = 'mount -t tmpfs -o size=16k none . && cd "$PWD" && { head -c 99999 /dev/zero > full 2>/dev/null || :; }'
    path = lab.folder / f"{name_of('S1')}.json"
    assert f"its state cannot be saved ({path}: No space left on device)" in stop_on(lab, fill)


def test_a_denial_that_cannot_be_counted_names_path_and_error(lab: Lab) -> None:
    path = file_for_the_project(lab)
    wrapped = Wrapped(lab)
    for _ in range(2):
        text = json.loads(wrapped.run().stdout)["systemMessage"]
        assert "the count cannot be saved" in text and str(path) in text and "Not a directory" in text
    assert [(line["event"], line["error"]) for line in lab.log()] == [("wrap", "Not a directory")] * 2
