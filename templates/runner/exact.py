"""JSON that is passed on: numbers as they came, and nothing that Python alone takes for JSON."""

from .files import Scanning, dump, parse, read_number

LONGEST_NUMBER = 4000  # digits; Python itself converts few more
INFINITE = float("inf")


def read_long_number(digits):
    """Every number that anybody sends; a longer one stays text."""
    if len(digits) < LONGEST_NUMBER:
        return int(digits)
    return read_number(digits)


class ExactScanning(Scanning):
    """The options of the JSON scanner for what is passed on."""

    parse_int = read_long_number


def refuse_constant(name):
    """No NaN or Infinity: Python alone takes them for JSON."""
    raise ValueError(name)


class StrictScanning(ExactScanning):
    """The same for an answer, which a client reads too."""

    parse_constant = staticmethod(refuse_constant)


try:
    from _json import make_scanner

    scan_exactly, scan_strictly = make_scanner(ExactScanning), make_scanner(StrictScanning)
except Exception:  # another interpreter, or a later version
    import json

    scan_exactly = json.JSONDecoder(parse_int=read_long_number).scan_once
    scan_strictly = json.JSONDecoder(
        parse_int=read_long_number, parse_constant=refuse_constant
    ).scan_once


def parse_exactly(data, errors="strict"):
    """The same as `parse`, with long numbers as numbers."""
    return parse(data, errors, scan_exactly)


def parse_strictly(data, errors="strict"):
    """The same as `parse_exactly`; ValueError also where only Python takes it for JSON."""
    return parse(data, errors, scan_strictly)


def dump_plain(value):
    """A value as JSON that everybody reads: null for NaN and Infinity, which are Python's own."""
    text = dump(value)
    if "NaN" in text or "Infinity" in text:
        return dump(without_odd_numbers(value))
    return text


def without_odd_numbers(value):
    """A value with None for each number that JSON does not have."""
    if type(value) is dict:
        return {name: without_odd_numbers(inner) for name, inner in value.items()}
    if type(value) is list:
        return [without_odd_numbers(inner) for inner in value]
    if type(value) is float and not abs(value) < INFINITE:
        return None
    return value
