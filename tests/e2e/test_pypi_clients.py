"""How clients from PyPI are had: from the cache, from pip, or not at all."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from . import clients, pypi_clients

ENVIRONMENT = {"PATH": os.defpath}


def make_wheel(folder: Path, name: str, version: str, requires: str = "") -> None:
    """A package whose program prints where it runs; beside the program lies a folder, as with one of PyPI's."""
    about = f"{name}-{version}.dist-info"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{name}.py", "import sys\n\ndef main():\n    print(sys.prefix, *sys.argv[1:])\n")
        file.writestr(f"{name}-{version}.data/data/bin/more/made", "")
        file.writestr(f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/entry_points.txt", f"[console_scripts]\n{name} = {name}:main\n")
        file.writestr(f"{about}/RECORD", "")


@pytest.fixture
def wheels(tmp_path: Path) -> dict[str, str]:
    """An environment in which pip finds two packages, made here, and no network."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    make_wheel(folder, "made_up", "1.0")
    make_wheel(folder, "needy", "1.0", "made-up==0.9")
    return {**ENVIRONMENT, "HOME": str(tmp_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder)}


def test_another_release_stands_in_for_a_requirement_that_was_withdrawn(tmp_path: Path, wheels: dict[str, str]) -> None:
    wanted = (tmp_path / "cache", "needy", "1.0", "needy", "")
    with pytest.raises(pypi_clients.Failed, match=r"made-up==0\.9"):
        pypi_clients.fetch(*wanted, environment=wheels)
    program = pypi_clients.fetch(*wanted, {"made-up==0.9": "made-up==1.0"}, wheels)
    assert (program.parent / "bin" / "made_up").is_file()


def test_a_package_is_installed_into_an_environment_of_its_own_that_can_be_moved(
    tmp_path: Path, wheels: dict[str, str]
) -> None:
    program = pypi_clients.fetch(tmp_path / "cache", "made-up", "1.0", "made_up", environment=wheels)
    assert program == tmp_path / "cache" / "made-up-1.0" / "made_up"
    done = subprocess.run([program, "a b", "c"], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout == f"{program.parent} a b c\n", done.stderr
    done = subprocess.run([program.parent / "bin" / "made_up"], env=ENVIRONMENT, capture_output=True, text=True)
    assert done.stdout == f"{program.parent}\n", "a script that another one starts does not find its Python"
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["made-up-1.0"]
    again = pypi_clients.fetch(tmp_path / "cache", "made-up", "1.0", "made_up", environment={})
    assert again == program, "it was fetched again"


@pytest.mark.parametrize(
    ("version", "program", "said"),
    [("2.0", "made_up", "did not fetch made-up==2.0"), ("1.0", "other", "no program other")],
)
def test_a_fetch_that_fails_says_why_and_leaves_nothing(
    tmp_path: Path, wheels: dict[str, str], version: str, program: str, said: str
) -> None:
    with pytest.raises(pypi_clients.Failed, match=said):
        pypi_clients.fetch(tmp_path / "cache", "made-up", version, program, environment=wheels)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_client_that_cannot_be_had_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> Path:
        raise pypi_clients.Failed("there is no such thing")

    monkeypatch.setattr(pypi_clients, "fetch", fail)
    with pytest.raises(clients.Unavailable, match="no such thing"):
        clients.find_client("hermes")


def test_a_package_gets_a_python_that_is_new_enough(tmp_path: Path) -> None:
    def script(path: Path, version: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{version}\n")
        path.chmod(0o755)

    versions = tmp_path / ".pyenv" / "versions"
    script(tmp_path / "bin" / "python3.99", "echo pyenv: python3.99: command not found >&2; exit 127")
    script(versions / "3.98.0" / "bin" / "python3", "echo 3 98")
    script(versions / "3.100.0" / "bin" / "python3", "echo 3 100")
    environment = {"PATH": f"{tmp_path}/bin:{os.defpath}", "HOME": str(tmp_path)}
    assert pypi_clients._interpreter("", environment) == sys.executable
    assert pypi_clients._interpreter("3.11", environment) == sys.executable
    assert pypi_clients._interpreter("3.99", environment) == str(versions / "3.100.0" / "bin" / "python3")
    with pytest.raises(pypi_clients.Failed, match=r"no Python 3\.101 or later"):
        pypi_clients._interpreter("3.101", environment)
