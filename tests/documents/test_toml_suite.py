"""toml-test's cases, as tomlkit's source package ships them, in the clients' cache; with HOOKCTL_TESTS=all."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookctl.documents.toml import TomlDocument
from hookctl.errors import HookctlError
from tests.e2e.clients import CACHE, ENVIRONMENT, fetched

from .test_document_rows import GROUP, STATE, STOP, is_unmixed
from .test_toml_properties import paths

pytestmark = pytest.mark.skipif(os.environ.get("HOOKCTL_TESTS") != "all", reason="fetches a package: HOOKCTL_TESTS=all")

PACKAGE = "tomlkit-0.15.2"
CASES = "tests/toml-test/tests"


@pytest.fixture(scope="module")
def cases() -> Path:
    """The folder of the cases, from the cache or else from PyPI."""

    def fetch(prefix: Path) -> None:
        options = ["--no-deps", "--no-binary", ":all:", "--dest", str(prefix.parent)]
        command = [sys.executable, "-m", "pip", "download", "--quiet", *options, PACKAGE.replace("-", "==")]
        subprocess.run(command, env=ENVIRONMENT, cwd=prefix.parent, check=True, timeout=300)
        with tarfile.open(prefix.parent / f"{PACKAGE}.tar.gz") as packed:
            packed.extractall(prefix.parent, filter="data")
        (prefix.parent / PACKAGE).rename(prefix)

    return fetched(CACHE / PACKAGE, f"{CASES}/files-toml-1.1.0", PACKAGE, fetch).parent


def listed(cases: Path, version: str, kind: str) -> list[str]:
    names = (cases / f"files-toml-{version}").read_text().split()
    return [name for name in names if name.startswith(kind) and name.endswith(".toml")]


def documents(cases: Path, version: str) -> Iterator[tuple[str, bytes]]:
    """Every valid file, as it is and with CRLF."""
    for name in listed(cases, version, "valid/"):
        data = (cases / name).read_bytes()
        if version == "1.1.0" and re.search(rb"\\[ex]|[Tt 0=]\d?\d:\d\d(?![:\d])", data):
            continue  # escapes and times that are new in 1.1
        yield name, data
        yield f"{name} as CRLF", re.sub(rb"\r?\n", b"\r\n", data)


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_every_valid_file_comes_back_from_insert_and_remove(cases: Path, version: str) -> None:
    wrong, count = [], 0
    for name, data in documents(cases, version):
        before, count = TomlDocument.parse(data), count + 1
        key = before.set(("zz ours",), 1)
        group = before.append(STOP, GROUP)
        table = before.set(("zz", "ours"), True)
        state = before.set(STATE, "sha256:1")
        back = (
            before,
            key.remove(("zz ours",)),
            group.remove((*STOP, 0, "hooks", 0)).remove((*STOP, 0)).remove(STOP).remove(STOP[:1]),
            table.remove(("zz", "ours")).remove(("zz",)),
            state.remove(STATE).remove(STATE[:3]).remove(STATE[:2]).remove(STATE[:1]),
        )
        wrong += [name for document in back if document.data != data]
        wrong += [name for document in (key, group, table, state) if not is_unmixed(data, document.data)]
    assert wrong == []
    assert count >= 390


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_every_value_of_every_valid_file_can_be_replaced_and_removed(cases: Path, version: str) -> None:
    """What an edit means is checked by the document itself: one that it cannot make right it refuses."""
    for name, data in documents(cases, version):
        before = TomlDocument.parse(data)
        for path in paths(before.value or {}):
            try:
                before.remove(path)
            except HookctlError as error:
                assert error.code == "unsupported_toml"
                continue
            assert before.remove(path).get(path) != before.get(path) or isinstance(path[-1], int), (name, path)
            if not isinstance(before.get(path), dict | list):
                after = before.set(path, "x")
                assert after.get(path) == "x" and after.set_raw(path, before.raw(path)).data == data, (name, path)
            elif isinstance(before.get(path), list) and before.block((*path, 0)):
                after = before.append(path, {"x": 1})
                assert after.remove((*path, len(before.get(path)))).data == data, (name, path)


def test_every_file_that_is_invalid_in_1_1_is_refused(cases: Path) -> None:
    names = listed(cases, "1.1.0", "invalid/")
    for name in names:
        with pytest.raises(HookctlError):
            TomlDocument.parse((cases / name).read_bytes(), where=name)
    assert len(names) >= 400
