"""What tomlkit 0.15 was measured to get wrong, each fault a test: ours must have none of them."""

from hookctl.documents.toml import TomlDocument

from .test_toml import BLOCK, GROUP, STOP

SPLIT = '[[hooks.Stop]]\na = 1\n\n[m]\nx = 1\n\n[[hooks.Stop]]\na = 2\n\n[n]\n'


def parse(text: str) -> TomlDocument:
    return TomlDocument.parse(text.encode())


def text_of(document: TomlDocument) -> str:
    return document.data.decode()


def test_an_append_to_a_split_array_of_tables_is_not_silently_lost() -> None:
    assert text_of(parse(SPLIT).append(STOP, GROUP)) == SPLIT + "\n" + BLOCK


def test_a_removal_from_a_split_array_of_tables_is_not_silently_lost() -> None:
    assert text_of(parse(SPLIT).remove((*STOP, 0))) == SPLIT[SPLIT.index("[m]") :].join(["\n", ""])[1:]
    assert text_of(parse(SPLIT).remove((*STOP, 1))) == SPLIT[: SPLIT.index("[[hooks.Stop]]\na = 2")] + "[n]\n"


def test_a_table_between_the_parts_of_a_split_array_stays_where_it_is() -> None:
    text = "[[rows]]\na = 1\n[settings]\nb = 1\n[[rows]]\na = 2\n"
    assert text_of(parse(text)) == text
    assert text_of(parse(text).set(("rows", 1, "a"), 3)) == text.replace("a = 2", "a = 3")


def test_a_table_in_a_dotted_table_does_not_capture_the_keys_behind_it() -> None:
    edited = parse("a.b = 1\nz = 2\n").set(("a", "t"), {"c": 3})
    assert edited.value == {"a": {"b": 1, "t": {"c": 3}}, "z": 2}
    assert text_of(edited) == "a.b = 1\nz = 2\n\n[a.t]\nc = 3\n"


def test_a_table_that_is_extended_out_of_order_is_read() -> None:
    text = "[a.b]\nx = 1\n[c]\n[a.d]\n[a]\ny = 2\n"
    assert parse(text).value == {"a": {"b": {"x": 1}, "d": {}, "y": 2}, "c": {}}
    assert text_of(parse(text).set(("a", "z"), 3)) == text + "z = 3\n"


def test_a_comment_above_a_header_is_not_lost_with_the_table_before_it() -> None:
    assert text_of(parse("[a]\nx = 1\n\n# about b\n[b]\n").remove(("a",))) == "\n# about b\n[b]\n".removeprefix("\n")
    groups = "[[hooks.Stop]]\na = 1\n# about the second\n[[hooks.Stop]]\na = 2\n"
    assert text_of(parse(groups).remove((*STOP, 0))) == "# about the second\n[[hooks.Stop]]\na = 2\n"


def test_a_parent_does_not_go_with_its_last_key() -> None:
    for text in ("features.hooks = true\n", "[features]\nhooks = true\n", "features = { hooks = true }\n"):
        assert parse(text).remove(("features", "hooks")).value == {"features": {}}
    assert parse("[features.hooks]\na = 1\n").remove(("features", "hooks")).value == {"features": {}}


def test_a_byte_order_mark_is_read_and_kept() -> None:
    text = "\ufeffa = 1\n[t]\n"
    assert text_of(parse(text).set(("a",), 2).set(("t", "b"), 3)) == "\ufeffa = 2\n[t]\nb = 3\n"


def test_the_blank_before_an_inline_tables_end_stays() -> None:
    assert text_of(parse("a = { b = 1 }\n").set(("a", "c"), 2)) == "a = { b = 1, c = 2 }\n"


def test_an_array_keeps_the_comments_of_an_element_that_goes() -> None:
    assert text_of(parse("a = [\n  1, # one\n  2, # two\n]\n").remove(("a", 0))) == "a = [\n  # one\n  2, # two\n]\n"


def test_what_comes_and_goes_leaves_no_line_end_behind() -> None:
    for text in ("a = 1\n", "[t]\n\n\n", "", "# c"):
        assert text_of(parse(text).append(STOP, GROUP).remove(("hooks",))) == text
        assert text_of(parse(text).set(("ours",), 1).remove(("ours",))) == text


def test_inserted_lines_have_the_files_line_end() -> None:
    edited = parse("a = 1\r\n[t]\r\n").append(STOP, GROUP).set(("t", "b"), 1).set(("c",), {"d": 1}).data
    assert edited.count(b"\n") == edited.count(b"\r\n") == 12


def test_what_tomllib_does_not_read_is_not_read() -> None:
    for text in ("a = \u0661\n", "a = 'x\x7f'\n", "# \x01\n", "\u0661 = 1\n"):
        try:
            parse(text)
        except Exception as error:
            assert getattr(error, "code", "") == "unparsable"
        else:
            raise AssertionError(text)
