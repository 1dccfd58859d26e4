"""A project's folder that is away, renamed or on a disk that is not there: its record stays, and nothing goes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hookctl.ledger import store
from hookctl.system import folders
from tests.conftest import Hookctl, put
from tests.disk import tree

THEIRS = '{\n   "model": "m"\n}\n'
PACK = '[pack]\nname = "pk"\nversion = "1"\n\n[env]\nPK = "1"\n'
NAMES = {"local": ".claude/settings.local.json", "project": ".claude/settings.json"}

pytestmark = pytest.mark.usefixtures("fixed_python")


def rename(project: Path) -> Callable[[], None]:
    """The project's folder under another name; what is returned puts it back."""
    elsewhere = project.with_name("elsewhere")
    project.rename(elsewhere)
    return lambda: elsewhere.rename(project) and None


def unmount(project: Path) -> Callable[[], None]:
    """An empty folder where the project was, as a disk that is not mounted leaves it."""
    back = rename(project)
    project.mkdir()

    def mount() -> None:
        project.rmdir()
        back()

    return mount


@pytest.fixture(params=["local", "project"])
def scope(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def project(scope: str, isolated: Path, hookctl: Hookctl) -> Path:
    """A project with a settings file of its own, and the guard in it."""
    project = isolated / "project"
    (project / ".git").mkdir(parents=True)
    put(project / NAMES[scope], THEIRS)
    done = hookctl("install", "--host", "claude", "--scope", scope, "--project", str(project))
    assert done.code == 0, done
    return project


@pytest.mark.parametrize("away", [rename, unmount])
@pytest.mark.parametrize("verb", [("--all",), ("guard", "--all"), ("--all", "--host", "claude")])
def test_uninstall_all_names_it_and_leaves_it(
    verb: tuple[str, ...], away: Callable[[Path], Callable[[], None]],
    scope: str, project: Path, isolated: Path, hookctl: Hookctl,
) -> None:  # fmt: skip
    before = tree(isolated / "data")
    back = away(project)
    done = hookctl("uninstall", *verb, "--yes")
    assert done.code == 0 and str(project) in done.err, done
    assert (tree(isolated / "data"), len(store.load(folders.here()))) == (before, 1)
    assert "only in projects that are not there" in done.out
    back()
    assert hookctl("uninstall", "--scope", scope, "--project", str(project)).code == 0
    assert (project / NAMES[scope]).read_text() == THEIRS
    assert not list((isolated / "data").rglob("*"))


def test_the_others_are_uninstalled(settings: Path, project: Path, hookctl: Hookctl) -> None:
    assert hookctl("install", "--host", "claude").code == 0
    rename(project)
    done = hookctl("uninstall", "--all", "--yes", "--json")
    assert (done.code, settings.exists(), str(project) in done.err) == (0, False, True)


def test_the_dry_run_says_the_same(project: Path, hookctl: Hookctl) -> None:
    rename(project)
    done = hookctl("uninstall", "--all", "--dry-run")
    assert (done.code, str(project) in done.err, "nothing to do" in done.out) == (0, True, True), done


def test_a_pack_of_a_project_that_is_away_is_known(scope: str, project: Path, isolated: Path, hookctl: Hookctl) -> None:
    pack = str(put(isolated / "pk.toml", PACK))
    assert hookctl("install", pack, "--host", "claude", "--scope", scope, "--project", str(project)).code == 0
    rename(project)
    done = hookctl("uninstall", "pk", "--all", "--yes")
    assert (done.code, str(project) in done.err) == (0, True), done


def test_a_renamed_project_is_uninstalled_under_its_new_name(
    scope: str, project: Path, isolated: Path, hookctl: Hookctl
) -> None:
    rename(project)
    assert hookctl("uninstall", "--all", "--yes").code == 0
    new = project.with_name("elsewhere")
    done = hookctl("uninstall", "--scope", scope, "--project", str(new))
    assert (done.code, (new / NAMES[scope]).read_text()) == (0, THEIRS), done
    assert not list((isolated / "data").rglob("*"))


@pytest.mark.parametrize("scope", ["local"], indirect=True)
def test_a_project_that_is_gone_for_good_can_be_named(project: Path, isolated: Path, hookctl: Hookctl) -> None:
    rename(project)
    assert "--scope local --project" in hookctl("uninstall", "--all", "--yes").err
    done = hookctl("uninstall", "--scope", "local", "--project", str(project))
    assert (done.code, store.load(folders.here())) == (0, {}), done
    assert not project.exists() and not list((isolated / "data").rglob("*"))


def test_an_unknown_folder_is_still_a_mistake(isolated: Path, hookctl: Hookctl) -> None:
    assert hookctl("uninstall", "--scope", "local", "--project", str(isolated / "none")).code == 2


@pytest.mark.parametrize("verb", ["restore", "doctor --fix", "install"])
def test_no_verb_makes_it_again(verb: str, scope: str, project: Path, isolated: Path, hookctl: Hookctl) -> None:
    name = str(project / NAMES[scope])
    rename(project)
    before = tree(isolated / "data"), store.load(folders.here())
    done = hookctl(*verb.split(), *{"restore": [name], "install": ["--host", "qwen"]}.get(verb, []))
    assert not project.exists()
    known = store.load(folders.here())
    assert {key: known[key] for key in before[1]} == before[1]
    assert before[0].data.items() <= tree(isolated / "data").data.items()
    if verb == "restore":
        assert (done.code, "not there" in done.err) == (1, True), done


def test_status_and_doctor_name_it(project: Path, hookctl: Hookctl) -> None:
    rename(project)
    assert "1 other project, 1 of them not there: `hookctl status --all` shows it" in hookctl("status").out
    assert str(project) in hookctl("status", "--all").out
    findings = hookctl("doctor", "--all", "--json").data["findings"]
    assert "project_gone" in [finding["code"] for finding in findings]
