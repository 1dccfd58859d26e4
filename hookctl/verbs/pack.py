"""hookctl pack: everything for those who write packs, up to handing one on."""

import contextlib
import glob
import json
import os
import re
import shlex
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from hookctl import hosts as known
from hookctl.documents.toml import block, inline
from hookctl.errors import FAILED, OK, HookctlError, nearest, require_known, usage_error
from hookctl.firing.calls import Asked, Place, Shot, find_event, is_meant, make_call
from hookctl.firing.shooting import Bench, Stand, hooks_of_pack
from hookctl.hosts import Host, loading, shapes
from hookctl.hosts.matchers import FOR_ALL
from hookctl.masking import masked_text
from hookctl.model import Line, Result
from hookctl.output.lines import amount, cut, progress, tilde, tildes
from hookctl.packs import CLAUDE, Pack, PackHook, programs
from hookctl.packs.pack import parse, read_toml
from hookctl.packs.runner import (
    EVENTS,
    MATCHED_EVENTS,
    SHORT,
    TOOL_EVENTS,
    declared_answers,
    fill,
    hooks_of,
    list_named_files,
    own_names,
    possible_answers,
    slots,
)
from hookctl.settings import targets
from hookctl.survey.listing import find, list_hooks
from hookctl.survey.machine import list_hooks_of
from hookctl.survey.model import Hook, HookFile, command_of
from hookctl.survey.programs import (
    find_interpreter,
    find_scripts,
    find_syntax_fault,
    replace_word,
)
from hookctl.system import files, guard_module, list_data, read_data
from hookctl.system.fetch import OF_THIS_MACHINE, parse_address
from hookctl.system.folders import Folders
from hookctl.system.project import find_quietly
from hookctl.verbs.choosing import load_hosts

ACTIONS = ("new", "check", "test", "import", "export")
LANGUAGES = ("sh", "python", "node")


HELP = """
action ACTION  One of: new, check, test, import, export.
subject [NAME|PATH]  For new: the pack's name; for import: a settings file; else a pack's path,
    or notify or protect.
--lang L  For new: the language of its hook: sh, python or node.
--host H  Only this host; repeat it for several. For import: the host to read.
of_file --scope S  For import: user (the default), project or local, where no file is named.
only --id ID  For import: only this hook, by its ID in `hookctl hooks`; repeat it for several.
--output -o DIR  For new, import and export: the folder to write; it must be new.
form --as FORM  For export: claude-plugin.

Examples:
  hookctl pack new no-force
  hookctl pack check no-force
  hookctl pack test no-force --host gemini
  hookctl pack import --host claude -o my-hooks
  hookctl pack export no-force --as claude-plugin -o plugin
"""


def pack(
    folders: Folders,
    action: str,
    subject: str = "",
    lang: str = "python",
    host: Sequence[str] = (),
    of_file: str = "",
    only: Sequence[str] = (),
    output: str = "",
    form: str = "",
) -> Result:
    """Make, check, test, import or export a pack."""
    if action == "new":
        return _make(folders, subject, lang, output)
    if action == "import":
        return _import(folders, subject, host, of_file, only, output)
    require_known("action", action, ACTIONS)
    content = load_pack(subject)
    if action == "export":
        return _export(folders, content, form, output)
    is_check = action == "check"
    result = (_check if is_check else _test)(folders, content, host)
    if result.exit_code:
        return result
    is_name = programs.is_path(subject or ".") or content.source == programs.find_along(subject)
    verb = "pack test" if is_check and load_cases(content) else "install"
    shown = subject or os.curdir if is_name else os.path.join(os.curdir, subject)
    words = ["hookctl", verb, shlex.quote(shown), *(f"--host {one}" for one in host)]
    return result._replace(text=(*result.text, Line(f"Next: {' '.join(words)}")))


def load_pack(path: str) -> Pack:
    """A pack by its path, with a bare name as a folder here, or one that comes along."""
    if path in programs.list_built_in():
        raise usage_error(f"{path} is built in", "Give the path of a pack of your own.")
    if not programs.is_path(path or "."):
        folder = os.path.join(os.curdir, path)
        path = folder if os.path.isdir(path) else programs.find_along(path) or folder
    return programs.load_pack(path or os.curdir)


# new


def _new_folder(folders: Folders, path: str) -> str:
    """The absolute path of a folder that is to be made; an error if anything is there."""
    hint = "Name a new folder with -o DIR."
    if not path:
        raise usage_error("no folder to write to", hint)
    folder = os.path.normpath(os.path.join(folders.cwd, path))
    if os.path.lexists(folder):
        raise HookctlError("exists", "this is there already", path=folder, hint=hint, exit_code=2)
    return folder


def _require_name(name: str) -> None:
    if not re.fullmatch("[a-z0-9][a-z0-9-]{0,63}", name) or name in programs.list_built_in():
        hint = 'Use a-z, 0-9 and "-", and no name of a built-in pack; with -o DIR the folder\'s.'
        raise usage_error(f"a pack cannot be called {name!r}", hint)


def _make(folders: Folders, name: str, language: str, output: str) -> Result:
    _require_name(name)
    require_known("language", language, LANGUAGES)
    folder = _new_folder(folders, output or name)
    place = ("templates", "pack", language)
    # Folders have no ending; an installation adds one with bytecode.
    paths = [path for path in list_data(*place, ending="") if "." in path]
    paths += [f"tests/{test}" for test in list_data(*place, "tests", ending=".toml")]
    written = {path: read_data(*place, *path.split("/")) for path in paths}
    written["pack.toml"] = written["pack.toml"].replace(b'"NAME"', f'"{name}"'.encode())
    readme = read_data("templates", "pack", "README.md").replace(b"NAME", name.encode())
    written["README.md"] = readme.replace(b"HOOKCTL", _find_own_address().encode())
    files.write_tree(folder, written, 0o644)
    shown = shlex.quote(os.path.relpath(folder, folders.cwd))
    lines = (
        Line(f"{name} is a pack that works", "ok", path=folder),
        *(Line(path, sign="+", indent=2) for path in written),
        Line("README.md tells others how to install it; fill in what is in capitals there."),
        Line(f"Next: hookctl pack test {shown}"),
    )
    return Result({"folder": folder, "files": sorted(written)}, lines)


def _find_own_address() -> str:
    """The git address that this hookctl was installed from; a placeholder if others have none."""
    from importlib import metadata  # late: slow, and only for a new pack

    with contextlib.suppress(metadata.PackageNotFoundError, ValueError, KeyError, HookctlError):
        text = metadata.distribution("hookctl").read_text("direct_url.json")
        source = json.loads(text or "{}")
        commit = source["vcs_info"]
        tag = commit.get("requested_revision", "")
        if not re.search("[0-9]", tag):  # a branch moves on
            tag = commit["commit_id"]
        address = parse_address(f"git+{source['url']}@{tag}").text
        if not address.startswith(OF_THIS_MACHINE):
            return address
    return "git+https://HOST/OWNER/hookctl@TAG"


# cases: `tests/*.toml` beside a pack, each a question and what is expected

_ANSWERS = {  # of a case, by what it expects
    "deny": "refuse",
    "block": "refuse",
    "ask": "ask",
    "change": "change",
    "context": "context",
    "end": "end",
}


# A question to a pack's hooks, and what should come of it, where a case does not say it.
_AS_USUAL: dict[str, Any] = {
    "expect": "none",
    "hook": "",  # every one that the question is for
    "tool": "",
    "input": None,  # a harmless one of the tool
    "fields": {},
    "text": "",  # what stands in the answer
    "hosts": (),  # every one
}


def load_cases(pack: Pack) -> list[dict[str, Any]]:
    """The cases in `tests/*.toml` beside a pack's file, each with its path, name and event.

    Raises `bad_case` with the file.
    """
    folder, cases = os.path.dirname(os.path.realpath(pack.source)), []
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), "tests", "*.toml"))):
        _, values = read_toml(files.read(path).data or b"", path, "bad_case", part="cases")
        for number, table in enumerate(values.get("cases", ()), 1):
            event = EVENTS.get(table["event"], table["event"])  # Claude Code's name
            named = {"path": path, "name": f"case {number}"}
            cases.append({**_AS_USUAL, **named, **table, "event": event})
    return cases


def find_answers(hook: PackHook, cases: Collection[dict[str, Any]]) -> set[str]:
    """What a hook answers: as its cases show, or whatever it may where none is about it."""
    event = EVENTS.get(hook.event)
    about = [case for case in cases if case["event"] == event and case["hook"] in ("", hook.id)]
    if not about:
        return possible_answers(hook)
    shown = {_ANSWERS[case["expect"]] for case in about if case["expect"] in _ANSWERS}
    return shown | declared_answers(hook)


# check: what of a pack runs on each host, what cannot, and why


_INTERPRETERS = {".sh": "sh", ".py": "python3", ".js": "node", ".mjs": "node", ".cjs": "node"}


def _check(folders: Folders, pack: Pack, names: Sequence[str]) -> Result:
    cases = load_cases(pack)
    faults = [*_find_broken_files(pack)]
    hosts, lines = [], []
    told: dict[str, list[str]] = {}  # by what the hosts lack: their titles
    with files.private_folder("pack", folders.state) as top:
        bench = Bench(top, pack)
        for host in load_hosts(names) or map(known.load, known.names()):
            hooks, notes = bench.look_at(host, lambda hook: find_answers(hook, cases))
            texts, mark = [*dict.fromkeys(notes)], "warn" if notes else "ok"
            lines.append(Line(f"{host.title}: {amount(len(hooks), 'hook')}", mark))
            for text in texts:
                told.setdefault(text, []).append(host.title)
            hosts.append({"host": host.name, "hooks": [hook.id for hook in hooks], "notes": texts})
    lines = [*(Line(text, "error") for text in faults), *lines]
    for text, titles in told.items():
        lines += [Line(text, "warn"), Line(", ".join(titles), indent=4)]
    if told and not cases:
        lines.append(Line("no case in tests/ shows an answer, so any is assumed"))
    data = {"pack": pack.name, "version": pack.version, "faults": faults, "hosts": hosts}
    return Result(data, tuple(lines), exit_code=FAILED if faults else OK)


def _find_broken_files(pack: Pack) -> Iterator[str]:
    folder, named = os.path.dirname(os.path.realpath(pack.source)), {}
    for _, hook in pack.all_hooks:
        command = hook.command.replace("{files}", shlex.quote(folder))
        for script in find_scripts(command, {}):
            named[script.path] = script.interpreter
            is_of_path = "/" not in script.path and command != hook.command
            if is_of_path and shutil.which(script.path) is None:
                yield f"{hook.id}: there is no program {script.path}"
    for name, (data, _) in pack.contents.items():
        path = os.path.join(folder, name)
        usual = _INTERPRETERS.get(os.path.splitext(name)[1], "")
        if usual == "sh" and path not in named:  # which shell reads it is not known
            usual = ""
        interpreter = os.path.basename(named.get(path) or find_interpreter(path) or usual)
        if problem := find_syntax_fault(interpreter, path, data, shutil.which):
            yield f"{name}: {problem}"


# test: a pack's cases, asked as every host asks and answered as it answers


# What of the author's environment the hooks see: nothing that reaches a desktop, agent or session.
_KEPT = "PATH|LANG|LC_[A-Z]+|TERM|TZ|TMPDIR"
# What stands for an outcome on a host that has no form for it.
_INSTEAD = {
    "ask": ("ask", "deny"),
    "change": ("change", "deny"),
    "context": ("context", "none"),
    "deny": ("refuse", "none"),
    "block": ("refuse", "none"),
}
# The strictest first; "" where the hook was not asked.
_ORDER = (
    "timeout", "failed", "deny", "block", "end", "ask", "change", "context", "allow", "unknown",
    "none", "",
)  # fmt: skip
_NOT_ASKED: dict[str, Any] = {"outcome": "", "stdout": "", "dropped": [], "ms": 0}


def _test(folders: Folders, pack: Pack, names: Sequence[str]) -> Result:
    cases = load_cases(pack)
    if not cases:
        hint = "Write them into tests/cases.toml beside the pack; docs/packs.md has an example."
        raise HookctlError("no_cases", "the pack has no cases", path=pack.source, hint=hint)
    ids = [hook.id for _, hook in pack.all_hooks]
    for case in cases:
        if case["hook"] and case["hook"] not in ids:
            hint = f"{nearest(case['hook'], ids)}Its hooks: {', '.join(ids)}."
            message = f"{case['name']} asks a hook {case['hook']!r}, which the pack does not have"
            raise HookctlError("bad_case", message, path=case["path"], hint=hint)
    rows: list[dict[str, Any]] = []
    lines: list[Line] = []
    with files.private_folder("pack", folders.state) as top:
        bench = Bench(top, pack)
        stand = Stand(top, folders.state, bench.project)
        kept = {key: text for key, text in folders.environ.items() if re.fullmatch(_KEPT, key)}
        environ = {**kept, "HOME": top}
        files.write_tree(bench.project, {"example.txt": b"text\n"}, files.PRIVATE)
        for host in load_hosts(names) or map(known.load, known.names()):
            progress(f"{host.title} ...")
            files.make_folders(known.config_folder(host, {"HOME": top}), files.PRIVATE)
            tried = [*_play(bench, stand, environ, host, cases)]
            rows += tried
            played = sum(not row["skipped"] for row in tried)
            problems = [f"{row['case']}: {row['problem']}" for row in tried if row["failed"]]
            text = f"{host.title}: {played - len(problems)} of {played} as expected"
            if skipped := len(tried) - played:
                text += f", {skipped} skipped: `hookctl pack check` says why"
            lines.append(Line(text, "error" if problems else "ok" if played else "skip"))
            lines += [Line(problem, indent=2) for problem in problems]
    failed = sum(row["failed"] for row in rows)
    summary = f"{sum(not row['skipped'] for row in rows)} runs, {failed} not as expected"
    lines.append(Line(summary, "error" if failed else "ok"))
    text = "The hooks saw a HOME of their own, PATH, TERM, TMPDIR, TZ and the locale only."
    lines.append(Line(text))
    data = {"pack": pack.name, "cases": rows}
    return Result(data, tuple(lines), exit_code=FAILED if failed else OK)


def _play(
    bench: Bench, stand: Stand, environ: Mapping[str, str], host: Host, cases: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    hooks, tools = hooks_of_pack(bench, host), guard_module("payload").TOOLS.values()
    for case in cases:
        if case["hosts"] and host.name not in case["hosts"]:
            continue
        asked = Asked(case["event"], case["tool"], case["input"], fields=case["fields"])
        call = make_call(host, asked, Place(bench.project, environ["HOME"], "", environ))
        of_event = [hook.id for hook in bench.pack.hooks if hook.event == SHORT[case["event"]]]
        wanted = [case["hook"]] if case["hook"] else of_event
        meant = [hook for hook in hooks if hook.own_id.partition("/")[2] in wanted]
        if case["tool"] in tools and not own_names(host, case["tool"]):
            meant = []
        trials = [_NOT_ASKED]
        for hook in meant:
            if not is_meant(call, hook.matcher or None):
                continue
            (shot,) = stand.fire(call, [Shot(hook, call)], environ, lambda text: None)[1]
            receipt = shot.receipt
            trials.append(
                {
                    # A hook of the host's own protocol leaves no receipt.
                    "outcome": str(receipt.get("outcome", shot.reading.outcome)),
                    # An exit status that refuses has its reason on stderr.
                    "stdout": shot.ran.err if shot.ran.status == 2 else shot.ran.out,
                    "dropped": [*receipt.get("dropped", ())],
                    "ms": int(receipt.get("ms", 0)),
                }
            )
        trial = min(trials, key=lambda trial: _ORDER.index(trial["outcome"]))
        problem = _check_outcome(host, case, trial["outcome"], trial["stdout"]) if meant else ""
        yield {
            "skipped": not meant,  # the host has no such event or tool, which `pack check` says
            "host": host.name,
            "case": case["name"],
            "expected": case["expect"],
            **trial,
            "failed": bool(problem),
            "problem": problem,
        }


def _check_outcome(host: Host, case: dict[str, Any], outcome: str, answer: str) -> str:
    """What is not as the case expects, in words; '' where all is well on this host."""
    if outcome != case["expect"] and (outcome or case["expect"] != "none"):
        forms = host.runner.get("answers", {}).get(case["event"], {})
        form, instead = _INSTEAD.get(case["expect"], ("", ""))
        if case["expect"] == "change" and case["event"] == "PostToolUse":
            form, instead = "replace", "none"
        is_lost = not forms.get(form) or (form == "change" and forms.get("change_allows"))
        if not (form and is_lost and outcome == instead):
            said = answer.strip()[-200:]
            was = f"{outcome or 'not asked'}{said and f': {said}'}"
            return f"expected {case['expect']}, and it was {was}"
    said = answer
    with contextlib.suppress(ValueError):  # of plain text
        said += json.dumps(json.loads(answer), ensure_ascii=False)
    if case["text"] in said or outcome in ("none", "failed", "timeout"):
        return ""
    return f"{case['text']!r} is not in the answer: {answer.strip()[:200]}"


# import: a pack of the hooks that stand in a host's settings


_USUAL = (None, False, "bash", ".", {})  # what a field may say without a change
# What people alone see of a hook, and what only Windows runs; any other field changes what runs.
_UNSEEN = (
    *("name", "description", "comment", "statusMessage", "show_output"),
    *("powershell", "windows", "commandWindows"),
)
_LONGEST = 60  # characters of a command that is named
_LARGEST = 1 << 20  # bytes of a script that is copied
_WORDS = re.compile(r"[\w-]+")  # of a matcher
_CASES = """\
# Each case asks a hook something harmless. Say what it should answer, and add what it refuses:
# `pack check` takes what the cases show for all that a hook answers.
"""


def _import(
    folders: Folders,
    file: str,
    names: Sequence[str],
    scope: str,
    ids: Sequence[str],
    output: str,
) -> Result:
    if len(names) != 1:
        raise usage_error("import from which host?", "Name one with --host.")
    folder = _new_folder(folders, output)
    name = os.path.basename(folder)
    _require_name(name)
    within = _find_settings(folders, known.load(names[0]), file, scope)
    host, path = within.host, within.path
    snapshot, document = targets.read_settings(path, host.format)
    if snapshot.data is None:
        hint = f"hookctl imports hooks from settings files: name one of {host.title} that has some."
        raise HookctlError("no_hooks", "this file is not there", path=path, hint=hint)
    entries = loading.read(host, document).entries
    groups = {entry.path: entry.group for entry in entries}
    listed = list_hooks(list_hooks_of(within, document, entries))
    theirs = _choose([hook for hook in listed if not hook.own_id], ids, path)
    tables: dict[str, dict[str, Any]] = {}  # of the pack, by the hook's ID
    left, dropped, unasked, secrets = [], [], [], 0
    scripts: dict[str, tuple[bytes, bool]] = {}
    cases = []
    for hook in theirs:
        table, lost, problem = _table_of(hook, groups[hook.path])
        problem = problem or _find_problem(name, host, table)
        if problem:
            left.append(f"{_name_hook(hook)}: {problem}")
            continue
        dropped += [f"{_name_hook(hook)}: {', '.join(lost)}"] if lost else []
        secrets += masked_text(table["command"]) != table["command"]
        table["command"] = _copy_scripts(folders, hook, table["command"], scripts)
        tables[hook.id] = table = {"id": f"hook-{len(tables) + 1}", **table}
        asked = [*_make_case(folders, hook, table)]
        cases += asked
        unasked += [] if asked else [table["id"]]
    for data, _ in scripts.values():
        text = data.decode("utf-8", "replace")
        secrets += masked_text(text) != text
    if not tables:
        hint = f"Only hooks that run a command can be in a pack. {'; '.join(left)}".strip()
        raise HookctlError("no_hooks", "no hook to import", path=path, hint=hint)
    written = {"pack.toml": _pack_text(name, host, [*tables.values()], [*scripts])}
    written |= {script: data for script, (data, _) in scripts.items()}
    if cases:
        texts = ["\n".join(f"{key} = {inline(case[key])}" for key in case) for case in cases]
        parts = [_CASES, *(f"[[cases]]\n{text}\n" for text in texts)]
        written["tests/cases.toml"] = "\n".join(parts).encode()
    programs = [script for script, (_, is_executable) in scripts.items() if is_executable]
    files.write_tree(folder, written, files.PRIVATE if secrets else 0o644, programs)
    said = f"{amount(len(tables), 'hook')} of {host.title} in a pack"
    notes = _describe_import(left, dropped, [*scripts], unasked, secrets)
    lines = [
        Line(said, "warn" if left or dropped or secrets else "ok", path=folder),
        Line("read from", indent=2, path=tilde(path)),
        *(Line(tildes(text), indent=2) for text in notes),
    ]
    if within.scope:
        shown = " ".join(shapes.shorten(id) for id in tables)
        text = f"The hooks stay in the settings: `hookctl disable {shown}` before you install."
        lines.append(Line(text))
    if cases:
        lines.append(Line("Add to tests/cases.toml what each refuses: `pack check` goes by it."))
    lines.append(Line(f"Next: hookctl pack check {shlex.quote(output)} --host {host.name}"))
    data = {"folder": folder, "hooks": len(tables), "left": left, "dropped": dropped}
    return Result({**data, "files": sorted(written)}, tuple(lines))


def _describe_import(
    left: list[str], dropped: list[str], scripts: list[str], unasked: list[str], secrets: int
) -> Iterator[str]:
    yield from (f"left out: {text}" for text in left)
    yield from (f"not kept: {text}" for text in dropped)
    if scripts:
        yield f"copied, without what they read beside them: {', '.join(scripts)}"
    if unasked:
        why = "it runs a file outside the pack, or its event is the host's alone"
        yield f"no case for {', '.join(unasked)}: {why}"
    if secrets:
        where = f"{secrets} of the commands and scripts"
        yield f"{where} with a secret, as it looks: take it out before you hand this on"


def _find_settings(folders: Folders, host: Host, file: str, scope: str) -> HookFile:
    """The settings file to import from; without a scope where it is none that the host has."""
    root, environ = find_quietly(folders.cwd, folders.environ), folders.environ
    if not file:
        target = targets.find(host, scope or "user", folders, root)
        return HookFile(target.host, target.scope, target.path)
    if scope:
        raise usage_error("a file and --scope", "Give one of the two.")
    path = os.path.normpath(os.path.join(folders.cwd, file))
    for own in host.scopes:
        for variant, known_path in targets.all_files(host, own, environ, root):
            if files.is_same(path, known_path):
                return HookFile(variant, own, known_path)
    variants = [targets.variant_of_file(host, path), *host.layouts()]
    for variant in variants:
        document = targets.readable(path, variant.format)
        if document and loading.read(variant, document).entries:
            return HookFile(variant, "", path)
    return HookFile(variants[0], "", path)


def _choose(hooks: list[Hook], ids: Sequence[str], path: str) -> list[Hook]:
    """The hooks that these IDs mean, or all; refuses (usage) what is none, with those there are."""
    meant: list[Hook] = []
    for text in ids:
        try:
            meant += find(hooks, text)
        except HookctlError as error:
            there = [f"{shapes.shorten(hook.id)} ({_name_hook(hook)})" for hook in hooks]
            raise error.reworded(
                error.message, f"{tilde(path)} has {', '.join(there) or 'none'}."
            ) from None
    return [hook for hook in hooks if hook in meant or not ids]


def _name_hook(hook: Hook) -> str:
    command = cut(masked_text(hook.command), _LONGEST)
    return f"{hook.event}{command and f', `{command}`'}"


def _table_of(hook: Hook, group: Mapping[str, Any]) -> tuple[dict[str, Any], list[str], str]:
    """A hook as a table of a pack, the fields that go, and why it cannot be one, if so."""
    host, event, fields = hook.within.host, hook.event, {**group, **hook.fields}
    facts, key = host.registration, command_of(host, hook.fields)
    if not key or fields.get("type", "command") != "command":
        return {}, [], "it runs no command"
    table: dict[str, Any] = {"event": event}
    table["command"] = shapes.without_sh(host.shape, fields[key])
    seconds, usual = loading.timeout_seconds(host, fields), facts.usual_timeouts
    if seconds is not None:
        table["timeout"] = max(1, round(seconds))
    elif event in SHORT and usual.get(event, usual.get("*")):  # a pack's would be less
        table["timeout"] = usual.get(event, usual.get("*"))
    is_ignored = host.name == CLAUDE and SHORT.get(event, "pre-tool") not in MATCHED_EVENTS
    if hook.matcher and not is_ignored:
        table["matcher"] = hook.matcher
    kept = ("type", "matcher", "hooks", facts.timeout, host.handlers.switch)
    kept += (key,) if key in ("command", "bash") else ()
    others = [name for name in fields if name not in kept and fields[name] not in _USUAL]
    unseen = (*_UNSEEN, *(() if facts.timeout else ("timeout",)))
    lost = [name for name in others if name in unseen or name.startswith("_")]
    own = [name for name in others if name not in lost]
    problem = f"it has `{own[0]}`, which no hook of a pack has" if own else ""
    return table, lost, problem or (hook.obstacles[0].reason if hook.obstacles else "")


def _find_problem(name: str, host: Host, hook: dict[str, Any]) -> str:
    try:
        parse(_pack_text(name, host, [hook]), name)
        replaced = [slot.name for slot in slots(hook["command"])]
    except HookctlError as error:
        return re.sub("the command of hook-1|hooks.command", "the command", error.message)
    if replaced:
        return f"the command has {{{replaced[0]}}}, which a pack would replace"
    return ""


def _copy_scripts(
    folders: Folders, hook: Hook, command: str, scripts: dict[str, tuple[bytes, bool]]
) -> str:
    """A command that runs copies of its scripts, which are added to `scripts`.

    Those of the user lie below HOME and those of a project in it; no other file is copied.
    """
    host, is_users = hook.within.host, hook.scope == "user"
    root = find_quietly(folders.cwd, folders.environ)
    top = os.path.realpath(folders.home if is_users else root)
    variables = {"HOME": folders.home}
    if not is_users and host.environment.project:
        variables[host.environment.project] = root
    start = root if not is_users and host.environment.starts_there else ""
    for script in find_scripts(command, variables, start) if hook.scope else ():
        real = os.path.realpath(script.path)
        if not os.path.isfile(real) or not real.startswith(targets.top(top)):
            continue
        data = files.read(real).data or b""
        if len(data) > _LARGEST or b"\0" in data:  # no text
            continue
        base = re.sub("[^A-Za-z0-9_.-]", "-", os.path.basename(script.path)).lstrip(".-")
        while scripts.get(f"scripts/{base}", (data, False))[0] != data:  # another has this name
            base = f"{len(scripts)}-{base}"
        name = f"scripts/{base}"
        changed = replace_word(command, variables, start, script.path, f"{{files}}/{name}")
        if changed != command:
            scripts[name] = data, os.access(real, os.X_OK)
            command = changed
    return command


def _make_case(folders: Folders, hook: Hook, table: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A harmless question that a host asks this hook, if one is known.

    None to a hook that runs what `pack test` does not have: a file of the home or the project.
    """
    host, place = hook.within.host, Place("/project", folders.home, "", folders.environ)
    variables = {"HOME": place.home, host.environment.project or "PWD": place.project}
    paths = [one.path for one in find_scripts(table["command"], variables, place.project)]
    tops = tuple(map(targets.top, (place.home, place.project)))
    event = find_event(host, hook.event)[1]
    if not event or any(path.startswith(tops) and "{files}" not in path for path in paths):
        return
    words = [f"{word}tool" if word[-2:] == "__" else word for word in _WORDS.findall(hook.matcher)]
    questions: list[dict[str, Any]] = [{}]
    if SHORT[event] in TOOL_EVENTS:
        tools = [*guard_module("payload").TOOLS.values(), *words, "mcp__server__tool"]
        questions = [{"tool": tool} for tool in tools]
    elif field := guard_module("runner").MATCHED.get(event):
        questions += [{"fields": {field: word}} for word in words]
    for question in questions:
        asked = Asked(event, question.get("tool", ""), fields=question.get("fields", {}))
        call = make_call(host, asked, place)
        if call.event == hook.event and is_meant(call, hook.matcher or None):
            name = f"{table['id']} says nothing to a harmless {question.get('tool', event)}"
            yield {"name": name, "event": event, **question, "hook": table["id"], "expect": "none"}
            return


def _pack_text(
    name: str, host: Host, hooks: list[dict[str, Any]], scripts: Sequence[str] = ()
) -> bytes:
    """The pack's file; each hook has an id of its own."""
    speaks = host.name == CLAUDE
    header = {"name": name, "version": "0.1.0", "description": f"Hooks of {host.title}"}
    header |= {} if speaks else {"protocol": "host"}
    common, native = list[dict[str, Any]](), list[dict[str, Any]]()
    for number, hook in enumerate(hooks, 1):
        table = {"id": f"hook-{number}", **hook}
        if speaks and hook["event"] == "PreToolUse":
            table["may_allow"] = True
        (common if speaks and hook["event"] in SHORT else native).append(table)
    tables: dict[tuple[str, ...], Any] = {("pack",): header}
    tables |= {("files",): {"include": [*scripts]}} if scripts else {}
    tables |= {("hooks",): common, ("host", host.name, "hooks"): native}
    lines: list[str] = []
    for names, value in tables.items():
        lines += block(names, value) if value else []
    return (re.sub(r"\n(?=\[)", "\n\n", "\n".join(lines)) + "\n").encode(errors="surrogatepass")


# export: a pack as a plugin of Claude Code, which other agents read too


FORM = "claude-plugin"
_ROOT = '"${CLAUDE_PLUGIN_ROOT}"'
_TAKES = (  # how each client's users take it; Droid calls a marketplace as its folder
    "claude plugin marketplace add {folder} && claude plugin install {name}@{name}",
    "codex plugin marketplace add {folder} && codex plugin add {name}@{name}",
    "copilot plugin marketplace add {folder} && copilot plugin install {name}@{name}",
    "qwen extensions install {folder}:{name}",
    "droid plugin marketplace add {folder} && droid plugin install {name}@{base}",
)


def _export(folders: Folders, pack: Pack, form: str, output: str) -> Result:
    """Write the plugin into a new folder; exit code 1 where a part of the pack would vanish."""
    if form != FORM:
        raise usage_error("export as what?", f"Use --as {FORM}.")
    folder = _new_folder(folders, output)
    written, lost = _plugin(pack), _find_lost(pack)
    programs = [name for name, (_, is_executable) in pack.contents.items() if is_executable]
    files.write_tree(folder, written, 0o644, programs)
    notes = [f"left out: {text}" for text in lost]
    if any(hook.event == "pre-tool" and not hook.may_allow for hook in pack.hooks):
        notes.append(
            "a hook's `allow` counts in a plugin: there it lifts the person's own permission"
        )
    notes.append(
        "there is no runner: a program does not find `portable` or HOOKCTL_HOST, and what a client "
        "calls its tools and their input is its own (Codex and Copilot: a file's text)"
    )
    base = shlex.quote(os.path.basename(folder))
    names = {"folder": shlex.quote(folder), "name": pack.name, "base": base}
    lines = (
        Line(f"{pack.name} {pack.version} as a plugin", "warn" if lost else "ok", path=folder),
        *(Line(note, indent=2) for note in notes),
        Line(f"Next: claude --plugin-dir {shlex.quote(output)}"),
        Line("Its users take it so, with the address of its git repository for the folder:"),
        *(Line(text.format(**names), indent=2) for text in _TAKES),
    )
    data = {"folder": folder, "files": sorted(written), "lost": lost}
    return Result(data, lines, exit_code=FAILED if lost else OK)


def _plugin(pack: Pack) -> dict[str, bytes]:
    about = {"name": pack.name, "version": pack.version, "description": pack.description}
    market = {"name": pack.name, "description": pack.description, "owner": {"name": pack.name}}
    market["plugins"] = [{**about, "source": "./"}]  # a marketplace of this plugin alone
    events: dict[str, list[dict[str, Any]]] = {}
    for hook in hooks_of(pack, CLAUDE):
        # A command that does nothing where the plugin's files are not: an agent may not say where
        # its plugins are, and a plugin may be moved away. An interpreter without its program ends
        # with 2, which would refuse every call.
        named = [name for name in list_named_files(hook.command) if name in pack.files]
        has_files = any(slot.name == "files" for slot in slots(hook.command))
        needed = [*dict.fromkeys(named)] or [*pack.files[:1]] * has_files
        command = "".join(f"[ -r {_ROOT}/{name} ] || exit 0; " for name in needed)
        values = {"files": _ROOT, "host": CLAUDE, "event": shlex.quote(hook.event)}
        command += "".join(fill(hook.command, values))
        entry: dict[str, Any] = {"type": "command", "command": command}
        if hook.timeout is not None:  # the host's own limit is longer than that of a pack
            entry["timeout"] = hook.timeout
        group: dict[str, Any] = {"hooks": [entry]}
        if hook.matcher is not None and hook.matcher not in FOR_ALL:
            group = {"matcher": hook.matcher, **group}
        events.setdefault(hook.event if hook.native else EVENTS[hook.event], []).append(group)
    written = {name: data for name, (data, _) in pack.contents.items()}
    written[".claude-plugin/plugin.json"] = _dump(about)
    written[".claude-plugin/marketplace.json"] = _dump(market)
    written["hooks/hooks.json"] = _dump({"hooks": events})
    return written


def _find_lost(pack: Pack) -> list[str]:
    names = sorted({name for _, name, _ in pack.all_env})
    others = sorted(pack.parts.keys() - {"", CLAUDE})
    rows: list[tuple[object, str]] = [
        (
            pack.protocol != CLAUDE,
            f"the protocol {pack.protocol!r}: Claude Code asks in its own",
        ),
        (names, f"env: {', '.join(names)}"),
    ]
    for hook in pack.hooks:
        rows += [
            (
                hook.on_failure == "deny",
                f'{hook.id}: on_failure = "deny" (a failing command lets the call go)',
            ),
            (
                hook.hosts and CLAUDE not in hook.hosts,
                f"{hook.id}: it is for {', '.join(hook.hosts)}",
            ),
        ]
    rows += [
        (others, f"the parts for {', '.join(others)}"),
        (pack.replaces, "replaces: the hooks that it names stay, so both run"),
        (pack.rules, "the rules for the agent"),
    ]
    return [text for is_lost, text in rows if is_lost]


def _dump(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()
