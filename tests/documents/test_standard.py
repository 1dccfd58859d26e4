# ruff: noqa: E501  # tables
"""What JSON is: texts that every reader must take, and texts that it must not."""

import json

import pytest

from hookctl.documents.jsonc import JsonDocument
from hookctl.errors import HookctlError

VALID = [
    # Arrays and objects.
    "[]", "[[]   ]", '[""]', "[1,null,null,null,2]", "[null]", " [1]", "[2] ", "[1\n]", "[ 4]", '[{"a":[]},[[{}]]]',
    "{}", '{"":0}', '{"a":[]}', '{"a":"b","a":"c"}', '{"a":"b","a":"b"}', '{"a\\u0000b":1}', '{"a":1,"b":{"c":[{}]}}',
    '{\n"a": "b"\n}', '{"x":[{"id":"x"}],"id":"y"}', '{"title":"\\u041f\\u043e"}', "[\t]", "{\r\n}", "[\r]",
    # Numbers.
    "[123e65]", "[0e+1]", "[0e1]", "[-0]", "[-123]", "[-1]", "[1E22]", "[1E-2]", "[1E+2]", "[123e45]", "[123.456e78]",
    "[1e-2]", "[1e+2]", "[0.0]", "[-0.0]", "[-0.1e-07]", "[20e1]", "[123.456789]", "[1e400]", "[-1e400]", "[1e-400]", "0", "-0",
    "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]", "[100000000000000000000000]",
    # Strings.
    '["\\u0060\\u012a\\u12AB"]', '["\\uD801\\udc37"]', '["\\"\\\\\\/\\b\\f\\n\\r\\t"]', '["\\\\u0000"]', '["\\""]', '["a/*b*/c/*d//e"]',
    '["\\\\a"]', '["\\\\n"]', '["\\u0012"]', '["\\uFFFF"]', '["asd"]', '["\U0010ffff"]', '["\uffff"]', '["new\\u00A0line"]', '["\\u0000"]',
    '["\u2028 \u2029"]', '["\u20ac\U0001d11e"]', '["\\u2064"]', '["\x7f"]', '["\\uD834"]', '["\\uDd1e\\uD834"]', '["\\uDBFF\\uDFFE"]',
    '"\\u0022"', '["\\u005C"]', '["\ufeff"]', '" "', '[" \\u0061 "]', '["://", "/*"]', '"//"', '"\\\\"', '"\\"\\\\\\""', "[\"',\"]",
    # Alone.
    "true", "false", "null", "42", "-0.1", '"asd"', '""', "[true]\n", '["a"]\r\n', " \t\r\n 1 \r\n\t ",
]  # fmt: skip

INVALID = [
    # Arrays.
    "[", "]", "[1", "[1 true]", '["a": 1]', '[""],', "[,1]", "[1,,2]", '["x",,]', '["x"]]', "[3[4]]", "[x", "[,", "[-]", "[ , \"\"]",
    "[*]", '["a",\n4\n,1,', '["\va"\\f]', "[1,\n1\n,1", "[{}", "[][]", "[1}", "[)", '[a', "[\u2060]", '["a"', "[\\n]", "[,,]", "[ ,]",
    # Objects.
    "{", "}", "{]", "{}}", '{"x", null}', '{"x"::"b"}', '{"a":"a" 123}', "{key: 'value'}", "{a: 1}", '{"a" b}', '{:"b"}', '{"a" "b"}',
    '{"a":', '{"a"', "{1:1}", "{9999E9999:1}", "{null:null,null:null}", "{'a':0}", '{"a":"b",,"c":"d"}', '{"a":"b"}#', '{"a": true} "x"',
    '{"a":0,,}', '{"a":"b"}/', '{"a"}', '{"a":1 "b":2}', '{,}', '{ ,"a":1}', '{"a":1;"b":2}', '{"a"=1}', '{"a":}', '{"a":,}', "{[]:1}",
    # Numbers.
    "[++1234]", "[+1]", "[+Inf]", "[-01]", "[-1.0.]", "[-2.]", "[-NaN]", "[.-1]", "[.2e-3]", "[0.1.2]", "[0.3e+]", "[0.3e]", "[0.e1]",
    "[0E+]", "[0E]", "[1.0e+]", "[1.0e-]", "[1.0e]", "[1 000.0]", "[1eE2]", "[2.e+3]", "[2.e-3]", "[2.e3]", "[9.e+]", "[Inf]", "[NaN]",
    "[Infinity]", "[-Infinity]", "[0x1]", "[0x42]", "[1+2]", "[-foo]", "[- 1]", "[-012]", "[-.123]", "[1a]", "[1.8011670033376514H-308]",
    "[012]", "[1.]", "[\uff11]", "[1_000]", "[1e1.5]", "NaN", "-Infinity", "[-1x]", "00",
    # Literals.
    "[fals]", "[nul]", "[tru]", "[True]", "nan", "TRUE", "None", "undefined", "[truee]", "[nulll]",
    # Strings.
    '["\\uD800\\"]', '["\\uD800\\u"]', '["\\uD800\\u1"]', '["\\uD800\\u1x"]', "[é]", '["\\x00"]', '["\\\\\\"]', '["\\\t"]', '["\\🌀"]', '["\\"]',
    '["\\u00A"]', '["\\uqqqq"]', '["\\a"]', '[\\u0020"asd"]', "[\\n]", '"', "['single quote']", "abc", '["\\', '["a\0a"]', '["new\nline"]',
    '["\t"]', '"\\UA66D"', '""x', "\u201cx\u201d", "`x`", '["a\rb"]', '["\x1f"]',
    # What is around it.
    "<.>", "[<null>]", "[1]x", "[1]]", "a\u00e5", "[\f]", "[\u00a0]", "\u2060", "*", '{"a":"b"}#{}', "1]", "{}{}", "[1] [2]", "1,2", ",", ":",
    "\ufeff\ufeff{}", "{}\ufeff", "[\ufeff]", "\0", "{}\0", "\v[]", "\x85[]", "[]\u3000", "# c\n{}", "{} # c", "{}\n---\n{}", "<!-- -->{}", "%",
    # Comments that are none.
    "/", "/{}", "{}/", "{} /*", "{} /* /", "/*/ {}", "{ / }", "/* /* */ */ {}", "[1 / 2]", "{} */", '[1 "/*" 2 */]', "[1,/* */,]", "[/**/,]",
]  # fmt: skip

LENIENT = [
    ("// c\n{}", "comment"), ("{} // c", "comment"), ("/* c */{}", "comment"), ("{}/**/", "comment"), ("[1/**/,2]", "comment"),
    ('{"a"/**/:/**/1}', "comment"), ("[//\n]", "comment"), ("[1,]", "comma"), ('{"a":1,}', "comma"), ("[[1,],]", "comma"), ("[1\n,\n]", "comma"),
    ("[1,/*,*/]", "both"), ("[1/*]*/,]", "both"), ("[1 // ,\n,]", "both"), ("[1, // ]\n]", "both"), ('["//",]', "comma"), ("[{},]", "comma"),
    ("// only", "comment"), ("/**/", "comment"), ("[1]//", "comment"), ("[1]/***/", "comment"), ("{}// \\", "comment"), ("[]/*\"*/", "comment"),
]  # fmt: skip


@pytest.mark.parametrize("text", VALID)
@pytest.mark.parametrize("lenient", [False, True])
def test_valid_json_is_read_in_every_dialect(text: str, lenient: bool) -> None:
    for data in (text.encode("utf-8"), b"\xef\xbb\xbf" + text.encode("utf-8")):
        document = JsonDocument.parse(data, comments=lenient, trailing_commas=lenient)
        assert document.data == data
        assert document.value == json.loads(text)
        document.require_strict(comments=False, trailing_commas=False)


@pytest.mark.parametrize("text", INVALID)
@pytest.mark.parametrize("lenient", [False, True])
def test_what_is_not_json_is_refused_in_every_dialect(text: str, lenient: bool) -> None:
    with pytest.raises(HookctlError) as caught:
        JsonDocument.parse(text.encode("utf-8"), comments=lenient, trailing_commas=lenient)
    assert caught.value.code == "unparsable"
    assert caught.value.line >= 1 and caught.value.column >= 1


@pytest.mark.parametrize(("text", "needs"), LENIENT)
def test_comments_and_trailing_commas_are_read_only_where_they_are_allowed(text: str, needs: str) -> None:
    for comments in (False, True):
        for commas in (False, True):
            if (comments or needs == "comma") and (commas or needs == "comment"):
                document = JsonDocument.parse(text.encode("utf-8"), comments=comments, trailing_commas=commas)
                with pytest.raises(HookctlError, match="this host does not read"):
                    document.require_strict(comments=False, trailing_commas=False)
            else:
                with pytest.raises(HookctlError, match=r"not valid JSON|comment"):
                    JsonDocument.parse(text.encode("utf-8"), comments=comments, trailing_commas=commas)


@pytest.mark.parametrize("text", ["", " ", "\n", "\r\n\t ", "\ufeff", "\ufeff \n"])
def test_an_empty_file_is_an_empty_document_in_every_dialect(text: str) -> None:
    document = JsonDocument.parse(text.encode("utf-8"), comments=False, trailing_commas=False)
    document.require_strict(comments=False, trailing_commas=False)
    assert not document.value
