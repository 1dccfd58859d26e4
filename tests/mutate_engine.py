"""Do the engine's tests bite? Break it in one place at a time, and see whether a fast test notices.

Run by hand: `python tests/mutate_engine.py [WORD ...]` tries every mutation that follows from the syntax tree, or those
that have one of the words: each comparison turned round, each condition forced, each operand, statement, filter and
keyword dropped, each order swapped. It prints the survivors and the score. For the other modules see mutate_rest.py.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
ENGINE = "hookctl/engine.py"
# The quick ones first; a mutation that all of these let pass has survived.
TESTS = [
    ["tests/test_engine.py", "tests/test_engine_wraps.py"],
    ["tests/test_machine.py"],
]
os.environ["HOOKCTL_TEST_EXAMPLES"] = "150"  # of histories
os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp(prefix="mutations-")  # what failed here once is no proof
SECONDS = 300
STATES = {"free", "foreign", "adopted", "owned", "overridden", "missing", "adopted-gone", "orphan", "doubled",
          "edited copy", "element", "container", "leaf", "matcher", "command"}  # fmt: skip

# Mutations that change nothing that anybody could see, and why: the function and what stands there.
SWAPPED = "the next statement first"
NEITHER = "neither statement reads what the other one writes, nor do both add to one list"
LEAVES = "what comes next only gives a name to something, and nobody needs that name after the return"
EQUIVALENT_SWAPS: dict[tuple[str, str], str] = {
    ("install", "if conflicts:"): "with conflicts the decision has nothing of what the desk was told",
    ("write", "self.entries[_name(entry)] = written"): NEITHER,
    ("write", "if entry.kind == 'element':"): NEITHER,
    ("write", "self.edits.append(AddElement(entry.path, value))"): NEITHER,
    ("write", "self.edits.append(Put(entry.path, value))"): NEITHER,
    ("leave", "del self.entries[_name(entry)]"): NEITHER,
    ("remove_copy", "edited = _edited(element.fields, entry.written)"): NEITHER,
    ("remove_copy", "self.act('remove', entry, ('overridden' if edited else 'owned', 'free'), reason)"): NEITHER,
    ("decision", "del self.containers[path]"): NEITHER,
    ("_conflicts", "if want.merge and all((wish.merge == want.merge for wish in others.values())):"): LEAVES,
    ("_install_leaf", "desk.entries[want.path] = joined"): NEITHER,
    ("_adopt", "desk.entries[entry.path] = entry"): NEITHER,
    ("_take_or_keep", "if force:"): LEAVES,
    ("_over", "if entry.kind != 'leaf' or _rule(entry):"): LEAVES,
    ("_install_element", "if not found:"): LEAVES,
    ("_install_element", "desk.entries[want.id] = fresh"): NEITHER,
    ("_taken_back", "desk.entries[want.id] = entry"): NEITHER,
    ("_update_element", "live, written, wished = (element.fields, entry.written, want.value)"): NEITHER,
    ("_update_element", "desk.entries[want.id] = entry"): NEITHER,
    ("_update_element", "if not ours:"): "a text to put back says nothing of where the hook goes",
    ("_edit_element", "desk.edits.append(EditElement(element, {name: wished.get(name) for name in change}))"): NEITHER,
    ("_theirs", "if taken and (not moves):"): "the two conditions exclude each other",
    ("_move_element", "if entry.before is None:"): "each edit names an element of its own, as it was before all edits",
    ("_follow", "for element in further:"): NEITHER,
    ("_rebuild", "_taken_back(desk, want, {pack: Wish(want.value, version)}, ours[0])"): NEITHER,
    ("_rebuild_leaf", "if want.path not in desk.live.values or not same(desk.live.values[want.path], want.value):"):
        LEAVES,
    ("_rebuild_leaf", "desk.entries[want.path] = joined"): NEITHER,
    ("_leave_orphans", "lost = True"): NEITHER,
}  # fmt: skip
EQUIVALENT: dict[tuple[str, str, str], str] = {
    **{(function, old, SWAPPED): why for (function, old), why in EQUIVALENT_SWAPS.items()},
    ("_rebuild", "if want.kind == 'leaf':", "if True:"): "the array that holds a hook is never the same as the hook",
}

OPPOSITE: dict[type, list[type]] = {
    ast.Eq: [ast.NotEq], ast.NotEq: [ast.Eq], ast.In: [ast.NotIn], ast.NotIn: [ast.In], ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is], ast.Lt: [ast.LtE, ast.GtE], ast.LtE: [ast.Lt, ast.Gt], ast.Gt: [ast.GtE, ast.LtE],
    ast.GtE: [ast.Gt, ast.Lt],
}  # fmt: skip
NAMES = {"any": "all", "all": "any", "max": "min", "min": "max", "sorted": "list", "bool": "id"}


class Mutation(NamedTuple):
    """One place of the module, and what it becomes."""

    line: int
    function: str
    old: str
    new: str
    text: str  # of the whole module

    def __str__(self) -> str:
        return f"{ENGINE}:{self.line} {self.function}: {self.old}  ->  {self.new}"


def expressions(node: ast.expr) -> Iterator[ast.expr]:
    """What an expression may become."""
    yes, no = ast.Constant(True), ast.Constant(False)
    match node:
        case ast.Compare():
            for index, operator in enumerate(node.ops):
                for opposite in OPPOSITE[type(operator)]:
                    yield with_(node, ops=[*node.ops[:index], opposite(), *node.ops[index + 1 :]])
        case ast.BoolOp():
            for index in range(len(node.values)):
                rest = [*node.values[:index], *node.values[index + 1 :]]
                yield rest[0] if len(rest) == 1 else with_(node, values=rest)
            yield with_(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.IfExp():
            yield from (node.body, node.orelse)
        case ast.Call():
            for index in range(len(node.keywords)):
                yield with_(node, keywords=[*node.keywords[:index], *node.keywords[index + 1 :]])
            if isinstance(node.func, ast.Name) and node.func.id in NAMES:
                name = NAMES[node.func.id]
                yield with_(node, func=ast.Name(name), keywords=[] if name == "list" else node.keywords)
        case ast.Dict() if None in node.keys and len(node.values) > 1:
            yield with_(node, keys=node.keys[::-1], values=node.values[::-1])
        case ast.BinOp(op=ast.BitOr()):
            yield with_(node, left=node.right, right=node.left)
            yield from (node.left, node.right)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for index, loop in enumerate(node.generators):
                for number in range(len(loop.ifs)):
                    for ifs in ([], [no]):
                        tests = [*loop.ifs[:number], *ifs, *loop.ifs[number + 1 :]]
                        loops = [*node.generators[:index], with_(loop, ifs=tests), *node.generators[index + 1 :]]
                        yield with_(node, generators=loops)
        case ast.Tuple() | ast.Set() | ast.List() if len(node.elts) > 1:
            for index in range(len(node.elts)):
                yield with_(node, elts=[*node.elts[:index], *node.elts[index + 1 :]])
        case ast.Subscript(slice=ast.Slice()):
            yield node.value
        case ast.Subscript(slice=ast.Constant(value=0)):
            yield with_(node, slice=ast.UnaryOp(ast.USub(), ast.Constant(1)))
        case ast.Constant(value=bool()):
            yield no if node.value else yes
        case ast.Constant(value=int()):
            yield ast.Constant(node.value + 1)
        case ast.Constant(value=None):
            yield ast.Constant("")
        case ast.Constant(value=str()) if node.value in STATES:
            yield ast.Constant("mutated")


def statements(node: ast.stmt) -> Iterator[ast.stmt]:
    """What a statement may become."""
    match node:
        case ast.If():
            yield with_(node, test=ast.Constant(True))
            yield with_(node, test=ast.Constant(False))
        case ast.Expr(value=ast.Constant()):
            pass  # a docstring
        case ast.Expr() | ast.Return() | ast.Delete() | ast.Continue():
            yield ast.Pass()
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass()


def with_(node: Any, **fields: Any) -> Any:
    """The node with other fields; its children are shared."""
    result = copy.copy(node)
    for name, value in fields.items():
        setattr(result, name, value)
    return result


def mutations(source: str) -> Iterator[Mutation]:
    """Every mutation of the module's functions, in the order of the lines."""
    tree = ast.parse(source)
    for top in tree.body:
        functions = top.body if isinstance(top, ast.ClassDef) else [top]
        for function in functions:
            if isinstance(function, ast.FunctionDef):
                yield from sorted(_inside(tree, function), key=lambda mutation: mutation.line)


def _inside(tree: ast.Module, function: ast.FunctionDef) -> Iterator[Mutation]:
    def mutation(old: ast.AST, new: ast.AST | None, put: Callable[[], Any], back: Callable[[], Any]) -> Mutation:
        put()
        text = ast.unparse(ast.fix_missing_locations(tree))
        back()
        words = SWAPPED if new is None else _words(new)
        return Mutation(old.lineno, function.name, _words(old), words, text)  # type: ignore[attr-defined]

    for parent in (node for child in function.body for node in _running(child)):
        for name, value in ast.iter_fields(parent):
            if name == "annotation":
                continue
            for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.expr) or isinstance(getattr(child, "ctx", None), ast.Store | ast.Del):
                    continue
                for new in expressions(child):
                    put, back = _setters(parent, name, index, new, child)
                    yield mutation(child, new, put, back)
    for parent in ast.walk(function):
        for name in ("body", "orelse"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                yield from _block(block, mutation)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """The node and all in it but annotations, which nobody evaluates."""
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and name != "annotation":
                yield from _running(child)


def _block(block: list[ast.stmt], mutation: Callable[..., Mutation]) -> Iterator[Mutation]:
    for index, child in enumerate(block):
        for new in statements(child):
            yield mutation(child, new, lambda i=index, n=new: block.__setitem__(i, n),
                           lambda i=index, c=child: block.__setitem__(i, c))  # fmt: skip
    for index, (first, second) in enumerate(pairwise(block)):
        if _is_docstring(first) or _commute(first, second):
            continue
        pair = slice(index, index + 2)
        yield mutation(first, None, lambda p=pair, f=first, s=second: block.__setitem__(p, [s, f]),
                       lambda p=pair, f=first, s=second: block.__setitem__(p, [f, s]))  # fmt: skip


def _setters(
    parent: ast.AST, name: str, index: int | None, new: ast.expr, old: ast.expr
) -> tuple[Callable[[], Any], Callable[[], Any]]:
    if index is None:
        return lambda: setattr(parent, name, new), lambda: setattr(parent, name, old)
    items = getattr(parent, name)
    return lambda: items.__setitem__(index, new), lambda: items.__setitem__(index, old)


def _commute(first: ast.stmt, second: ast.stmt) -> bool:
    """Whether two statements in the other order are surely the same: two values for names of the function's own (else
    a NameError), or a line more for two different ones of the desk's lists."""
    one, other = _adds_to(first), _adds_to(second)
    return one in ("local", "field") if one == other else {one, other} <= {"edits", "act", "keep"}


def _adds_to(node: ast.stmt) -> str:
    if isinstance(node, ast.Assign | ast.AnnAssign):
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        return "local" if isinstance(target, ast.Name) else "field" if isinstance(target, ast.Attribute) else ""
    call = ast.unparse(node.value.func) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else ""
    _, _, name = call.removesuffix(".append").rpartition(".")
    return name if name in ("edits", "act", "keep") else ""


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _words(node: ast.AST) -> str:
    """A line of it."""
    text = ast.unparse(ast.fix_missing_locations(node))
    return text.partition("\n")[0]


def survives(mutation: Mutation) -> bool:
    """Whether all fast tests pass with the mutation in it; in a process of its own, which has the tests loaded."""
    from hookctl import engine

    signal.alarm(SECONDS)  # a loop without an end is noticed too
    exec(compile(mutation.text, ENGINE, "exec"), vars(engine))
    return all(passes([*tests, "-x"]) for tests in TESTS)


def passes(arguments: list[str]) -> bool:
    with open(os.devnull, "w") as null, contextlib.redirect_stdout(null), contextlib.redirect_stderr(null):
        return pytest.main(["-q", "-p", "no:cacheprovider", *arguments]) == 0


def tried(mutation: Mutation) -> str:
    """What became of a mutation: noticed, survived, or stopped because it took too long."""
    child = os.fork()
    if child == 0:
        alive = False
        try:
            alive = survives(mutation)
        finally:
            os._exit(alive)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "noticed", 1: "survived"}.get(code, "stopped")


def is_equivalent(mutation: Mutation) -> bool:
    return (mutation.function, mutation.old, mutation.new) in EQUIVALENT


def main(words: list[str]) -> None:
    found = {mutation.text: mutation for mutation in mutations((ROOT / ENGINE).read_text())}
    unchanged = ast.unparse(ast.parse((ROOT / ENGINE).read_text()))
    chosen = [m for text, m in found.items() if text != unchanged and (not words or any(w in str(m) for w in words))]
    skipped = [mutation for mutation in chosen if is_equivalent(mutation)]
    chosen = [mutation for mutation in chosen if not is_equivalent(mutation)]
    unused = EQUIVALENT.keys() - {(m.function, m.old, m.new) for m in found.values()}
    for function, old, new in sorted(unused):
        print(f"not found any more in {function}: {old}  ->  {new}")
    assert passes(["--collect-only", *(file for tests in TESTS for file in tests)]), "the tests cannot be loaded"
    assert tried(Mutation(0, "", "", "", unchanged)) == "survived", "the tests fail without a mutation"
    with multiprocessing.get_context("fork").Pool(2) as pool:
        ends = {}
        for number, (mutation, end) in enumerate(zip(chosen, pool.imap(_said, chosen), strict=True), 1):
            ends[mutation] = end
            if number % 50 == 0:
                print(f"{number} of {len(chosen)} tried", file=sys.stderr, flush=True)
    counts = {end: list(ends.values()).count(end) for end in ("noticed", "stopped", "survived")}
    print(f"{counts['noticed'] + counts['stopped']} of {len(chosen)} mutations were noticed", end=" ")
    print(f"({counts['stopped']} since they took too long); {len(skipped)} more change nothing that anybody could see")


def _said(mutation: Mutation) -> str:
    end = tried(mutation)
    if end != "noticed":
        print(f"{end.upper()} {mutation}", flush=True)
    return end


if __name__ == "__main__":
    main(sys.argv[1:])
