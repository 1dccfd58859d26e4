"""A plugin that another version of hookctl wrote is known by the record; and one refusal stops no other host."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookctl.ledger import store
from hookctl.system import files, folders
from tests.conftest import Hookctl, put

HOST = ("--host", "opencode")

pytestmark = pytest.mark.usefixtures("fixed_python")


@pytest.fixture
def plugin(isolated: Path, hookctl: Hookctl) -> Path:
    """Our plugin, as some other version would have written it: the record says so."""
    path = isolated / "home" / ".config" / "opencode" / "plugin" / "hookctl.js"
    assert hookctl("install", *HOST).code == 0
    path.write_bytes(
        path.read_bytes().replace(b"1 << 20", b"1 << 21").replace(b"hookctl plugin 2", b"hookctl plugin 9")
    )
    ledger = Path(folders.here().ledger)
    content = json.loads(ledger.read_text())
    content["files"][str(path)]["sha256_after"] = files.digest(path.read_bytes())
    ledger.write_text(json.dumps(content))
    return path


def test_uninstall_removes_it(plugin: Path, isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("uninstall").code == 0
    assert not plugin.exists() and not (isolated / "data").exists()


def test_install_renews_it_and_status_and_doctor_read_it(plugin: Path, hookctl: Hookctl) -> None:
    assert hookctl("status").code == 0
    assert "foreign_file" not in hookctl("doctor", *HOST).out
    assert hookctl("install", *HOST).code == 0
    assert b"hookctl plugin 9" not in plugin.read_bytes()
    assert hookctl("uninstall").code == 0 and not plugin.exists()


def test_one_that_was_edited_since_is_refused(plugin: Path, hookctl: Hookctl) -> None:
    plugin.write_bytes(plugin.read_bytes().replace(b"1 << 21", b"1 << 22"))
    assert hookctl("uninstall", *HOST).code == 4 and plugin.exists()


@pytest.mark.parametrize(
    "verb", [("uninstall",), ("uninstall", "--all", "--yes"), ("uninstall", "guard", "--all", "--yes")]
)
def test_one_refusal_does_not_stop_the_others(
    verb: tuple[str, ...], plugin: Path, settings: Path, hookctl: Hookctl
) -> None:
    crlf = plugin.read_bytes().replace(b"\n", b"\r\n")
    plugin.write_bytes(crlf)
    assert hookctl("install", "--host", "claude").code == 0
    done = hookctl(*verb)
    assert (done.code, settings.exists(), plugin.read_bytes()) == (1, False, crlf), done
    assert str(plugin) in done.err or "hookctl.js" in done.err
    assert list(store.load(folders.here())) == [str(plugin)]
    assert hookctl(*verb).code == 4  # now there is nothing that can be done


def test_named_hosts_go_together_or_not_at_all(plugin: Path, settings: Path, hookctl: Hookctl) -> None:
    plugin.write_bytes(b"export const Mine = 1\n")
    assert hookctl("install", "--host", "claude").code == 0
    assert hookctl("uninstall", "--host", "claude", *HOST).code == 4
    assert settings.exists()


def test_the_dry_run_says_the_same(plugin: Path, settings: Path, hookctl: Hookctl) -> None:
    put(plugin, "export const Mine = 1\n")
    assert hookctl("install", "--host", "claude").code == 0
    done = hookctl("uninstall", "--dry-run", "--json")
    assert (done.code, [error["code"] for error in done.result["errors"]]) == (1, ["foreign_file"])
    assert [file["file"] for file in done.data["files"]] == [str(settings)]
