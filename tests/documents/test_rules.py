"""Blocks of rules in a text: what is somebody else's stays, byte for byte, whatever they do."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookctl.documents import MISSING
from hookctl.documents.rules import RulesDocument
from hookctl.errors import HookctlError

BOM = "\ufeff"
LINES = st.sampled_from(
    ["", "", "# Notes", "text", "  - item", "@AGENTS.md", "<!-- a comment -->", "é \u2028 x", "```", "\x0c", " ",
     "<!-- hookctl=other begin -->", "x <!-- hookctl=guard begin -->", "<!-- hookctl=guard begin"]
)  # fmt: skip
BREAKS = st.sampled_from(["\n", "\r\n", "\r"])
RULES = st.lists(st.sampled_from(["## Work", "- a rule", "say `x`", "ü"]), min_size=1, max_size=4).map("\n".join)


@st.composite
def texts(draw: st.DrawFn) -> str:
    line_break = draw(BREAKS)
    text = line_break.join(draw(st.lists(LINES, max_size=6)))
    return draw(st.sampled_from(["", BOM])) + text + draw(st.sampled_from(["", line_break, line_break * 2]))


def parsed(text: str) -> RulesDocument:
    return RulesDocument.parse(text.encode(), where="CLAUDE.md")


def block_in(text: str, pack: str = "guard") -> str:
    """An independent look at the one block of a text: its lines, marker lines included."""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text.removeprefix(BOM))
    first = [at for at, line in enumerate(lines) if line.startswith(f"<!-- hookctl={pack} begin")]
    last = [at for at, line in enumerate(lines) if line.startswith(f"<!-- hookctl={pack} end -->")]
    own = [at for at in first if lines[at].rstrip("\r\n").endswith("-->")]
    assert len(own) == len(last) == 1
    return "".join(lines[own[0] : last[0] + 1])


@given(texts(), RULES, RULES)
def test_a_block_comes_and_goes_without_a_trace(text: str, rules: str, later: str) -> None:
    before = parsed(text)
    document = before.set(("guard",), rules)
    assert document.get(("guard",)) == rules
    added = document.data.decode()
    assert added.startswith(text)
    assert document.set(("guard",), later).set(("guard",), rules).data == document.data
    assert document.remove(("guard",)).data == text.encode()
    assert document.set(("guard",), later).remove(("guard",)).data == text.encode()
    assert document.set_raw(("guard",), document.raw(("guard",))).data == document.data


@given(texts(), RULES, texts(), texts())
@example("\r", "## Work", "", "\n")  # seen: \r of ours and \n of theirs looked like one line break
@example("\r# Notes", "## Work", "", "\n")
def test_what_others_write_around_it_stays(text: str, rules: str, above: str, below: str) -> None:
    above, below = above.removeprefix(BOM), below.removeprefix(BOM)
    bom = BOM * text.startswith(BOM)
    plain = text.removeprefix(BOM)
    written = parsed(text).set(("guard",), rules).data.decode()
    block = block_in(written)
    between = written.removeprefix(text).removesuffix(block)
    if above and not above.endswith(("\n", "\r")):
        above += "\n"
    edited = bom + above + plain + between + block + below
    # What is left is what they have without our block. Of what we added, a line break that ends their last line stays
    # where they wrote on below it.
    expected = bom + above + plain + below
    if plain and not plain.endswith(("\n", "\r")) and below:
        expected = bom + above + plain + between[: len(between) // 2] + below
    assert parsed(edited).remove(("guard",)).data == expected.encode()


@given(texts(), RULES, RULES)
def test_two_packs_do_not_touch_each_other(text: str, first: str, second: str) -> None:
    both = parsed(text).set(("guard",), first).set(("notify",), second)
    assert both.remove(("notify",)).data == parsed(text).set(("guard",), first).data
    alone = both.remove(("guard",))
    assert (alone.get(("guard",)), alone.get(("notify",))) == (MISSING, second)
    assert block_in(alone.data.decode(), "notify") == block_in(both.data.decode(), "notify")
    # Whatever was there before ends in the same characters as far as they are no line breaks.
    assert alone.remove(("notify",)).data.decode().rstrip("\r\n") == text.rstrip("\r\n")


@given(texts(), RULES, st.sampled_from(["mine", "## Work", "- a rule"]))
def test_an_edited_block_reads_differently(text: str, rules: str, line: str) -> None:
    written = parsed(text).set(("guard",), rules).data.decode()
    block = block_in(written)
    line_break = re.search("\r\n|\r|\n", block)[0]  # type: ignore[index]
    begin, rest = block.split(line_break, 1)
    edited = written.replace(block, line_break.join([begin, line, rest]))
    assert parsed(edited).get(("guard",)) == f"{line}\n{rules}"


@given(texts(), RULES, st.sampled_from(["\n", "\r\n", "\r"]))
def test_other_line_ends_and_empty_lines_inside_are_no_edit(text: str, rules: str, line_break: str) -> None:
    written = parsed(text).set(("guard",), rules).data.decode()
    block = block_in(written)
    spread = block.replace(" -->", f" -->{line_break}", 1)
    edited = re.sub("\r\n|\r|\n", lambda _: line_break, written.replace(block, spread))
    assert parsed(edited).get(("guard",)) == rules


def test_marker_lines_that_make_no_block_are_left_alone() -> None:
    begin, end = "<!-- hookctl=guard begin -->\n", "<!-- hookctl=guard end -->\n"
    for text in (
        f"{begin}a\n",
        f"a\n{end}",
        f"{end}{begin}",
        f"{begin}a\n{begin}{end}",
        f"{begin}a\n{end}{begin}b\n{end}",
        f"{begin}a\n{end}" * 2,
    ):
        document = parsed(text)
        assert not document.is_clear("guard")
        assert "<!-- hookctl=guard" in document.get(("guard",))
        for change in (lambda d: d.set(("guard",), "x"), lambda d: d.remove(("guard",))):
            with pytest.raises(HookctlError) as caught:
                change(document)
            assert (caught.value.code, caught.value.line) == ("rules_doubled", 1 + text.startswith("a"))


def test_a_text_that_is_not_utf_8_is_refused() -> None:
    with pytest.raises(HookctlError) as caught:
        RulesDocument.parse("é".encode("latin-1"), where="CLAUDE.md")
    assert caught.value.code == "not_utf8"
