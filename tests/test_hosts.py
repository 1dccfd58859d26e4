"""The hosts' data files, where they lead, and what an install writes for each: its golden file."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from hookctl import hosts
from hookctl.documents import formats
from hookctl.hosts import loading
from hookctl.settings import targets

from .conftest import Hookctl

FOLDER = Path(hosts.__file__).parent


@pytest.mark.parametrize("name", hosts.names())
def test_every_host_file_keeps_to_the_schema(name: str) -> None:
    assert hosts.find_fault(name) is None
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    assert set(data.get("sure_events", {})) <= set(data["events"])
    assert len(set(data["events"].values())) == len(data["events"])
    client = data["client"]
    for since, _ in client.get("since", {}).values():
        assert hosts.parse_version("0.1") < hosts.parse_version(since) <= hosts.parse_version(client["seen"])


@pytest.mark.parametrize("name", hosts.names())
@pytest.mark.parametrize("folder", ["$USER", "${HOME}", "a $1 '$USER' b", "~", "$", "plain"])
def test_a_path_is_the_same_behind_the_host_and_the_shell(name: str, folder: str) -> None:
    """Some hosts fill in variables first; whatever is in the environment, the shell gets the path."""
    host = hosts.load(name)
    path = f"/home/{folder}/hook.py"
    text = targets.in_sh(targets.Target(host, "user", "/settings"), path)
    if host.registration.expands:
        text = re.sub(r"\$(?:(\w+)|\{([^}]+)\})", "FILLED", text)
    done = subprocess.run(["/bin/sh", "-c", f"printf %s {text}"], capture_output=True, text=True, check=True)
    assert done.stdout == path


@pytest.mark.parametrize("name", ["codex", "claude", "hermes"])
def test_a_folder_that_an_install_made_is_no_sign_of_the_host(isolated: Path, hookctl: Hookctl, name: str) -> None:
    def is_here() -> bool:
        (facts,) = hookctl("hosts", name, "--json").data["hosts"]
        return bool(facts["detected"])

    assert not is_here()
    assert hookctl("install", "--host", name).code == 0
    assert not is_here()
    assert hookctl("install", "--host", "all").code == 2
    folder = Path(hosts.config_folder(hosts.load(name), {"HOME": str(isolated / "home")}))
    (folder / "sessions").mkdir()  # the client has been here
    assert is_here()
    assert hookctl("install", "--host", "all").code == 0


# A slip in a host's file, as whoever adds a host makes one: every command names the file and the slip.


@pytest.mark.parametrize("odd", ["/* \u3000 */{}", "// \f\n{}", "{ // one\r}", "/* \ufeff */{}"])
def test_a_comment_with_an_odd_blank_keeps_gemini_and_qwen_from_reading_a_file(odd: str) -> None:
    for name in ("claude", "gemini", "qwen"):
        host = hosts.load(name)._replace(comments=hosts.load(name).comments or True)
        for text in (odd, "/* plain */{} // too\r\n"):
            is_refused = loading.refusal(host, formats.parse("json", text.encode())) is not None
            assert is_refused == (name != "claude" and text == odd), (name, text)
