"""A plugin file: its settings are edited as JSON is, and its code is ours word for word or the file is refused."""

import hashlib

import pytest

from hookctl.documents import jsonc
from hookctl.documents.jsonc import PluginDocument
from hookctl.errors import HookctlError

TEMPLATES = {host: "{}\n".join(jsonc.current_code(host)) for host in ("opencode", "pi")}
TEMPLATE = TEMPLATES["opencode"]
EMPTY = PluginDocument.parse(b"", where="f.js")
ONE = EMPTY.append(("hooks", "session.idle"), {"command": "true", "timeout": 10})


def parse(text: str) -> PluginDocument:
    return PluginDocument.parse(text.encode(), where="f.js")


def refused(text: str | bytes) -> HookctlError:
    with pytest.raises(HookctlError) as caught:
        PluginDocument.parse(text if isinstance(text, bytes) else text.encode(), where="f.js")
    return caught.value


def around(text: str) -> str:
    """A file's text without its settings."""
    before, start, rest = text.partition("const settings =\n")
    return before + start + rest[rest.index("// From here on") :]


SETTINGS = """\
{
  "hooks": {
    "session.idle": [
      {
        "command": "true",
        "timeout": 10
      }
    ]
  }
}
"""


def test_the_first_setting_brings_the_whole_file() -> None:
    assert ONE.data.decode() == TEMPLATE.replace("{}\n", SETTINGS, 1)
    again = PluginDocument.parse(ONE.data)
    assert again.value == {"hooks": {"session.idle": [{"command": "true", "timeout": 10}]}}
    assert again.data == ONE.data


@pytest.mark.parametrize(
    "settings",
    ["{}", '\n\n  {"hooks": {"a": [1]}}\n\n', '{"a": "const settings ="}\n'],
    ids=["one line", "blank lines", "our words"],
)
def test_an_edit_changes_nothing_but_the_settings(settings: str) -> None:
    text = TEMPLATE.replace("{}\n", settings + "\n", 1)
    document = parse(text)
    edited = document.set(("mine",), 5)
    assert edited.value == {**document.value, "mine": 5}
    assert around(edited.data.decode()) == around(TEMPLATE)
    assert (edited.remove(("mine",)).value or {}) == document.value


FOREIGN = {
    "another program's": ("export const Mine = async () => ({})\n", (1, 1)),
    "code before ours": ("import x from 'y'\n" + ONE.data.decode(), (1, 1)),
    "code behind ours": (ONE.data.decode() + "export const more = 1\n", (ONE.data.count(b"\n") + 1, 1)),
    "an edited first line": (ONE.data.decode().replace("hookctl plugin 3", "hookctl plugin 0"), (1, 19)),
    "edited code": (ONE.data.decode().replace("1 << 24", "1 << 25"), (19, 28)),
    "torn in the settings": (ONE.data.decode()[:300], None),
    "torn in the code": (ONE.data.decode()[:-5], None),
    "without settings": (TEMPLATE.replace("\nconst settings =\n{}\n", "\n"), None),
    "other line ends": (ONE.data.decode().replace("\n", "\r\n"), None),
    "a byte order mark": ("\ufeff" + ONE.data.decode(), (1, 1)),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_a_file_that_is_not_as_we_write_it_is_refused_with_its_place(name: str) -> None:
    text, where = FOREIGN[name]
    error = refused(text)
    assert (error.code, error.path, error.exit_code) == ("foreign_file", "f.js", 4)
    assert error.line > 0 and error.column > 0
    assert where is None or (error.line, error.column) == where
    assert "move it away" in error.hint


def test_settings_that_are_missing_or_bare_javascript_are_refused() -> None:
    for settings in ("{ hooks: {} }", '{ "hooks": {} // x\u2028, evil: 1\n }', '{ "hooks": {"a": [1,],} }'):
        assert refused(TEMPLATE.replace("{}\n", settings + "\n", 1)).code == "unparsable"
    assert refused(b"\xff\xfe").code == "not_utf8"


def test_a_file_of_an_earlier_version_is_brought_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier = ONE.data.decode().replace("hookctl plugin 3", "hookctl plugin 0").replace("1 << 24", "1 << 25")
    earlier = "// It began with one line more.\n" + earlier
    assert refused(earlier).code == "foreign_file"
    monkeypatch.setattr(jsonc, "_EARLIER", (hashlib.sha256(around(earlier).encode()).hexdigest(),))
    document, where = parse(earlier), ("hooks", "session.idle", 0, "timeout")
    assert document.position(where)[0] == 10, "a line further down in the file"
    assert document.data.decode() == earlier
    assert document.set(where, 20).data.decode() == earlier.replace('"timeout": 10', '"timeout": 20')
    assert not document.remove(("hooks",)).has_settings
    assert document.renewed().data == ONE.data
    assert document.renewed().position(where)[0] == 9


def test_a_file_that_the_record_knows_is_brought_up_to_its_own_host_s_code() -> None:
    old = TEMPLATES["pi"].replace("plugin 2", "plugin 1").replace("{}\n", '{"a": 1}\n', 1)
    document = PluginDocument.parse(old.encode(), host="pi", is_ours=True)
    assert document.renewed().data.decode() == TEMPLATES["pi"].replace("{}\n", '{"a": 1}\n', 1)


@pytest.mark.parametrize(
    ("host", "first", "digest"),
    [
        (
            "opencode",
            "// hookctl plugin 3: OpenCode loads",
            "097a47be52e6333570bd3694a4486e0c826bcca8688543ef9eccf17bc810e5c3",
        ),
        ("pi", "// hookctl plugin 3: Pi loads", "3e63e88bf1b2a9109b0d144c7938cba334f9c25a49f03414c772a6900b4f0f9d"),
    ],
)
def test_code_that_users_may_have_is_known(host: str, first: str, digest: str) -> None:
    """Before its release, a version's new digest goes here. After it, the code is a new version's: count up its first
    line, and put the digest of the one before into _EARLIER, or that one's files are refused."""
    code = around(TEMPLATES[host])
    assert code.startswith(first)
    assert hashlib.sha256(code.encode()).hexdigest() == digest
    assert digest not in jsonc._EARLIER
