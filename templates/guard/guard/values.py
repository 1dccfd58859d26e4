"""JSON, hashes, and the meaning of texts.

It imports only the interpreter's C modules: the public ones would more than double the cost of a
call.
"""

try:
    from _sha256 import sha256  # up to Python 3.11
except ImportError:
    try:
        from _sha2 import sha256
    except ImportError:
        from hashlib import sha256


def read_number(digits):
    """A whole number of JSON; a very long one stays text, as converting it could take minutes."""
    if len(digits) < 19:
        return int(digits)
    return digits


class Scanning:
    """The options of the JSON scanner, as Python's own `json` sets them."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None  # array_hook: Python 3.15
    parse_float = parse_constant = float
    parse_int = read_number


try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    scan = make_scanner(Scanning)
    encode = make_encoder(None, None, encode_basestring_ascii, None, ":", ",", True, False, True)

    def dump(value):
        """A value as JSON, always in the same form."""
        return "".join(encode(value, 0))

except Exception:  # another interpreter, or a later version
    import json

    scan = json.JSONDecoder(parse_int=read_number).scan_once

    def dump(value):
        """A value as JSON, always in the same form."""
        return json.dumps(value, separators=(",", ":"), sort_keys=True)


def parse(data, errors="strict"):
    """The object that a JSON document holds; ValueError for everything else."""
    text = data.decode("utf-8", errors).lstrip("\ufeff").strip(" \t\r\n")
    try:
        value, end = scan(text, 0)
    # SystemError: json's own error class is not loaded.
    except (StopIteration, RecursionError, SystemError):
        raise ValueError from None
    if end < len(text) or type(value) is not dict:
        raise ValueError
    return value


def digest_bytes(data):
    """A short hash of bytes."""
    return sha256(data).hexdigest()[:16]


def digest(text):
    """A short hash of a text: of a session, a project or a tool call."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def is_true(value):
    """Is a value true, or the text of a variable a yes?"""
    if type(value) is str:
        return value.strip().lower() in ("1", "true", "yes", "on")
    return bool(value)


def whole_number(text):
    """The whole number in a text; None if it is no number, or very long."""
    text = text.strip()
    digits = text[1:] if text.startswith("-") else text
    if digits.isdigit() and digits.isascii() and len(digits) < 19:
        return int(text)
    return None


def leading_number(text, default):
    """The number that a text begins with, as Claude Code reads its cap ("3abc" is 3, "0x3" 0)."""
    text = text.strip()[:32]
    for end in range(len(text), 0, -1):
        head = text[:end]
        if head.strip("0123456789+-.eE") or head.lstrip("+-")[:1] == ".":
            continue
        try:
            number = float(head)
        except ValueError:
            continue
        return number if abs(number) < 1e300 else default
    return default


def first_text(values, *names):
    """The first of these fields with a text that is not empty; else ''."""
    for name in names:
        if type(values.get(name)) is str and values[name]:
            return values[name]
    return ""
