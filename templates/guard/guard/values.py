"""Values and their bytes: JSON, hashes, and what texts mean. Only the interpreter's C parts, as the public modules
would more than double what a call costs."""

try:
    from _sha256 import sha256  # up to Python 3.11
except ImportError:
    try:
        from _sha2 import sha256
    except ImportError:
        from hashlib import sha256


def read_number(digits):
    """A whole number of JSON; an absurdly long one stays text, since converting it could take minutes."""
    if len(digits) < 19:
        return int(digits)
    return digits


class Scanning:
    """How JSON is read: as Python's own `json` does it."""

    strict = True
    object_hook = object_pairs_hook = array_hook = None  # the last: from Python 3.15 on
    parse_float = parse_constant = float
    parse_int = read_number


try:
    from _json import encode_basestring_ascii, make_encoder, make_scanner

    scan = make_scanner(Scanning)
    encode = make_encoder(None, None, encode_basestring_ascii, None, ":", ",", True, False, True)

    def dump(value):
        """A value as JSON, always in the same form."""
        return "".join(encode(value, 0))

except Exception:  # another interpreter, or a later one that wants more
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
    except (
        StopIteration,
        RecursionError,
        SystemError,
    ):  # SystemError: json's own error class is not loaded
        raise ValueError from None
    if end < len(text) or type(value) is not dict:
        raise ValueError
    return value


def digest_bytes(data):
    """The short hash by which bytes are told apart."""
    return sha256(data).hexdigest()[:16]


def digest(text):
    """The short hash of a text: of a session, a project, a tool call."""
    return digest_bytes(text.encode("utf-8", "surrogatepass"))


def is_true(value):
    """Whether a value, or the text of a variable, says yes."""
    if type(value) is str:
        return value.strip().lower() in ("1", "true", "yes", "on")
    return bool(value)


def whole_number(text):
    """The whole number that a text is; None if it is none, or absurdly long."""
    text = text.strip()
    digits = text[1:] if text.startswith("-") else text
    if digits.isdigit() and digits.isascii() and len(digits) < 19:
        return int(text)
    return None


def leading_number(text, default):
    """The number that a text begins with, digit first, as Claude Code reads its cap ("3abc" is 3, "0x3" 0)."""
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
    """The first of these fields that holds a text which is not empty; else an empty one."""
    for name in names:
        if type(values.get(name)) is str and values[name]:
            return values[name]
    return ""
