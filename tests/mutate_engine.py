"""Do the tests of the core bite? Break one rule at a time in a copy of the package, and see whether a test notices.

Run by hand: python tests/mutate_engine.py [WORD ...] tries all mutations, or those whose text has one of the words.
"""

# ruff: noqa: E501 (the texts stand as they stand in the code)

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
ENGINE, FILES, APPLY, PLANNER, RUNTIME, LEDGER = (
    f"hookctl/{name}.py" for name in ("engine", "files", "apply", "planner", "runtime_files", "ledger")
)

# The tests that a mutation of a file must make fail; the quick ones first.
TESTS = {
    ENGINE: [["tests/test_engine.py"], ["tests/test_properties.py", "-k", "history or upgrade"], ["tests/test_moved.py"]],
    FILES: [["tests/test_files.py"], ["tests/test_overrides.py"], ["tests/test_moved.py"]],
    APPLY: [["tests/test_overrides.py", "tests/test_ledger.py"], ["tests/test_crash.py"], ["tests/test_moved.py"]],
    PLANNER: [["tests/test_overrides.py"], ["tests/test_crash.py", "-k", "hard"], ["tests/test_properties.py"], ["tests/test_moved.py"]],
    RUNTIME: [["tests/test_overrides.py"], ["tests/test_moved.py"]],
    LEDGER: [["tests/test_ledger.py"], ["tests/test_moved.py"]],
}

# file: (old text, new text); the old text stands in the file exactly once
MUTATIONS = {
    ENGINE: [
        ('            target.pop("matcher", None)', '            pass'),
        ("{entry.id or entry.path for entry in entries}, wants)", "set(), wants)"),
        ("{entry.id or entry.path for entry in entries}, wants)", "{entry.id for entry in entries}, wants)"),
        ('if want.kind != "element" or want.id in known:', 'if want.kind != "element":'),
        ("want.path not in known and here", "here"),
        ("for name in {**live, **want.value} if name not in edited}", "for name in {**live, **want.value}}"),
        ("for name in {**live, **want.value} if name not in edited}", "for name in live if name not in edited}"),
        ("for name in {**live, **want.value} if name not in edited}", "for name in want.value if name not in edited}"),
        ("json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)", "json.dumps(a) == json.dumps(b)"),
        ("return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)", "return a == b"),
        ("conflicts = () if force else", "conflicts ="),
        ("    if conflicts:\n        return Decision(entries=tuple(entries), conflicts=conflicts)\n", ""),
        ("return Decision(entries=tuple(entries), conflicts=conflicts)", "return Decision(conflicts=conflicts)"),
        ("        if (entry.path, entry.id) not in wanted:\n            desk.leave(pack, entry)  # 8", "        pass"),
        ("    wiped = desk.wiped()\n", "    wiped = False\n"),
        ("    wiped = desk.wiped()\n", "    wiped = _wiped(entries, live)\n"),
        ("    wiped = desk.wiped()\n", "    wiped = _wiped(desk.of(pack), live)\n"),
        ("    if wiped:\n        desk.write_back(wanted)", "    if False:\n        desk.write_back(wanted)"),
        ("    if wiped:\n        desk.write_back(wanted)", "    if True:\n        desk.write_back(wanted)"),
        ("    for entry in desk.of(pack):\n        desk.leave(pack, entry)\n    _leave", "    _leave"),
        ("    _leave_orphans(desk, pack, {entry.id or entry.path for entry in entries}, wants)\n", ""),
        ('return "free" if element is None else "orphan"', 'return "free"'),
        ('        if element is None:\n            return "missing"', '        if element is None:\n            return "owned"'),
        ('"owned" if same(element.fields, entry.written) else "overridden"', '"owned"'),
        ('return "free" if current is _ABSENT else "foreign"', 'return "foreign"'),
        ('    if entry.mode == "adopted":\n        return "adopted"\n', ""),
        ('    if current is _ABSENT:\n        return "missing"\n    return "owned"', '    return "owned"'),
        ('return "owned" if same(current, entry.written) else "overridden"', 'return "owned"'),
        ('if entry.kind != "container" and entry.mode == "owned"]', 'if entry.kind != "container"]'),
        ('if entry.kind != "container" and entry.mode == "owned"]', 'if entry.mode == "owned"]'),
        ("return bool(ours) and all(", "return all("),
        ("return bool(ours) and all(", "return bool(ours) and any("),
        ("if pack in entry.owners]", "]"),
        ("if DropElement(element) not in self.edits]", "]"),
        ("owners = tuple(entry.owners) if isinstance(entry, Entry) else ()\n        self.actions", "owners = ()\n        self.actions"),
        ("owners = tuple(entry.owners) if isinstance(entry, Entry) else ()\n        self.kept", "owners = ()\n        self.kept"),
        ('entry._replace(mode="owned", written=value)', "entry._replace(written=value)"),
        ('entry._replace(mode="owned", written=value)', 'entry._replace(mode="owned")'),
        ("self._contain(entry.path, itself=True)", "self._contain(entry.path, itself=False)"),
        ("self._contain(entry.path, itself=False)", "self._contain(entry.path, itself=True)"),
        ("self._contain(entry.path, itself=True)", "pass"),
        ("self._contain(entry.path, itself=False)", "pass"),
        ('("free", "missing", "adopted-gone")', '("free", "missing")'),
        ('("free", "missing", "adopted-gone")', '("free", "adopted-gone")'),
        ('("free", "missing", "adopted-gone")', '("missing", "adopted-gone")'),
        ("if above not in self.live.values:", "if True:"),
        ("range(1, len(path) + itself)", "range(2, len(path) + itself)"),
        ('if key not in but and entry.mode == "owned":', "if key not in but:"),
        ('if key not in but and entry.mode == "owned":', 'if entry.mode == "owned":'),
        ("self.write(entry._replace(before=None), _wish(entry)", "self.write(entry, _wish(entry)"),
        ("self.write(entry._replace(before=None), _wish(entry)", "self.write(entry._replace(before=None), entry.written"),
        ("entry.owners.items() if name != pack}\n        at =", "entry.owners.items()}\n        at ="),
        ("        if owners:\n            self._leave_shared", "        if False:\n            self._leave_shared"),
        ("self._leave_shared(entry._replace(owners=owners), at)", "self._leave_shared(entry, at)"),
        ("        del self.entries[entry.path, entry.id]\n", ""),
        ('        if at == "missing":\n            self.act("drop"', '        if False:\n            self.act("drop"'),
        ('        elif entry.mode == "adopted":\n            self.act', "        elif False:\n            self.act"),
        ('elif entry.kind == "element":\n            self._remove', "elif False:\n            self._remove"),
        ('elif at == "overridden":\n            self.keep', "elif False:\n            self.keep"),
        ("elif entry.before is None:", "elif True:"),
        ("elif entry.before is None:", "elif False:"),
        ("            self.edits.append(Drop(entry.path))\n", ""),
        ("            self.edits.append(Put(entry.path, raw=entry.before))\n", ""),
        ("Put(entry.path, raw=entry.before)", "Put(entry.path, json.loads(entry.before))"),
        ("        self.entries[entry.path, entry.id] = entry\n        if at", "        if at"),
        ('if at == "owned" and entry.mode == "owned" and not same(wish', 'if entry.mode == "owned" and not same(wish'),
        ('if at == "owned" and entry.mode == "owned" and not same(wish, entry.written):', 'if at == "owned":'),
        ('and not same(wish, entry.written):\n            self.write', 'and False:\n            self.write'),
        ("for element in _all(self.live, entry.id):", "for element in _all(self.live, entry.id)[:1]:"),
        ('if element.fields.get("command") != entry.written.get("command"):', "if False:"),
        ('if element.fields.get("command") != entry.written.get("command"):', "if not same(element.fields, entry.written):"),
        ("                continue\n            edited = _edited", "            edited = _edited"),
        ('("overridden" if edited else "owned", "free")', '("owned", "free")'),
        ("            if edited:\n                self.keep(entry", "            if False:\n                self.keep(entry"),
        ("if not self._used(path)]", "]"),
        ("sorted(empty, key=len, reverse=True)", "sorted(empty, key=len)"),
        ("            del self.containers[path]\n", ""),
        ("            if path in self.live.values:\n                self.edits.append(Prune(path))", "            self.edits.append(Prune(path))"),
        ("                self.edits.append(Prune(path))", "                pass"),
        ("(*self.entries.values(), *self.containers.values())", "tuple(self.entries.values())"),
        ("entry.path[: len(container)] == container for", "len(entry.path) > len(container) for"),
        ('or state(entry, live, want.path) != "owned":', "or False:"),
        ("for name, wish in entry.owners.items() if name != pack}\n        if want.merge", "for name, wish in entry.owners.items()}\n        if want.merge"),
        ("if want.merge and all(wish.merge == want.merge for wish in others.values()):", "if want.merge:"),
        ("if want.merge and all(wish.merge == want.merge for wish in others.values()):", "if False:"),
        ("if want.merge and all(wish", "if all(wish"),
        ("if want.merge and all(wish.merge", "if want.merge and any(wish.merge"),
        ("for wish in others.values()) and not same(want.value, entry.written):", "for wish in others.values()):"),
        ("if any(not same(wish.value, want.value) for wish in others.values()) and", "if"),
        ("if any(not same(wish.value, want.value)", "if all(not same(wish.value, want.value)"),
        (" | {pack: want.value})", ")"),
        ('        if at == "free":\n', "        if True:\n"),
        ("        elif same(current, want.value):\n            _adopt", "        elif False:\n            _adopt"),
        ("        elif same(current, want.value):\n            _adopt", "        elif same(current, want.value) and not force:\n            _adopt"),
        ("joined = entry._replace(owners={**entry.owners, pack:", "joined = entry._replace(owners={pack:"),
        ("    desk.entries[want.path, want.id] = joined\n    value", "    value"),
        ("value = _wish(joined, pack)", "value = want.value"),
        ("value = _wish(joined, pack)", "value = _wish(joined)"),
        ('if at == "adopted" and current is _ABSENT:', "if False:"),
        ('desk.write(joined._replace(before=None), value, "adopted-gone")', "pass"),
        ("joined._replace(written=current)  # 4", "joined  # 4"),
        ('elif at == "adopted" and same(current, value):', "elif False:"),
        ('    elif at == "adopted":\n        _take', "    elif False:\n        _take"),
        ("        if wiped or force:\n            desk.write(joined", "        if wiped:\n            desk.write(joined"),
        ("        if wiped or force:\n            desk.write(joined", "        if force:\n            desk.write(joined"),
        ('desk.write(joined._replace(before=None), value, "missing")', 'desk.write(joined, value, "missing")'),
        ("        if force or not same(current, value):\n", "        if not same(current, value):\n"),
        ("        if force or not same(current, value):\n", "        if True:\n"),
        ("    elif not same(current, value):\n        desk.write(joined", "    elif False:\n        desk.write(joined"),
        ('desk.write(joined, value, "owned")', 'desk.write(joined._replace(before=desk.live.raw[want.path]), value, "owned")'),
        ("    elif pack not in entry.owners:\n", "    elif True:\n"),
        ("    elif pack not in entry.owners:\n", "    elif False:\n"),
        ('entry._replace(mode="adopted", written=current)', "entry._replace(written=current)"),
        ("    desk.entries[entry.path, entry.id] = entry\n    desk.act(\"adopt\"", '    desk.act("adopt"'),
        ("        entry = entry._replace(before=desk.live.raw[want.path])\n", ""),
        ("    if force:\n        entry = entry._replace(before", "    if True:\n        entry = entry._replace(before"),
        ('if at == "overridden" and not same(entry.written, value):', 'if at == "overridden":'),
        ('if at == "overridden" and not same(entry.written, value):', "if False:"),
        ('if rules == {"first"}:', "if False:"),
        ("return wishes[0].value", "return wishes[-1].value"),
        ('(max if rules == {"max"} else min)', "max"),
        ('(max if rules == {"max"} else min)', "min"),
        (", key=int)", ", key=str)"),
        ('if rules in ({"max"}, {"min"}):', 'if "max" in rules or "min" in rules:'),
        ("if pack else wishes[-1].value", "if pack else wishes[0].value"),
        ("key=lambda element: not _is_ours(element, want))", "key=lambda element: 0)"),
        ("if entry is None or wiped or force:", "if entry is None or wiped:"),
        ("if entry is None or wiped or force:", "if entry is None or force:"),
        ("if entry is None or wiped or force:", "if wiped or force:"),
        ('"missing" if entry else "free")  # 1, 12', '"free")  # 1, 12'),
        ("            desk.entries[want.path, want.id] = fresh\n            desk.keep", "            desk.keep"),
        ("    entry = entry._replace(owners=owners)\n    _update", "    _update"),
        ("if len(found) > 1:", "if False:"),
        ("if len(found) > 1:", "if len(found) > 2:"),
        ('return command == want.value["command"] or bool(', "return bool("),
        ('return command == want.value["command"] or bool(want.forms and re.fullmatch(want.forms, str(command)))', 'return command == want.value["command"]'),
        ("re.fullmatch(want.forms", "re.match(want.forms"),
        ("bool(want.forms and re.fullmatch", "bool(re.match"),
        ('        desk.act("take-back", entry', '        ("take-back", entry'),
        ('entry._replace(written={**want.value, "command": element.fields["command"]})', "entry"),
        ("    if force:\n        return entry\n", ""),
        ("    if force:\n        return entry\n", "    return entry\n"),
        ('if not force and live.get("command") not in', 'if live.get("command") not in'),
        ('not in (written["command"], want.value["command"]):', 'not in (written["command"],):'),
        ('not in (written["command"], want.value["command"]):', 'not in (want.value["command"],):'),
        ('        desk.entries[want.path, want.id] = entry\n        changed', "        changed"),
        ('changed = "" if same(written, want.value) else', "changed ="),
        ("edited = [] if force else _edited(live, written)", "edited = _edited(live, written)"),
        ("edited = [] if force else _edited(live, written)", "edited = []"),
        ("(written if name in edited else want.value).get(name)", "want.value.get(name)"),
        ("for name in {**written, **want.value}}\n    done", "for name in want.value}\n    done"),
        (" if value is not None})", "})"),
        ("    desk.entries[want.path, want.id] = done\n", ""),
        ("if not same(live.get(name), want.value.get(name))]\n    if other", "]\n    if other"),
        ("    if other:\n", "    if False:\n"),
        ("if any(not same(live.get(name), value) for name, value in target.items()):", "if True:"),
        ("if any(not same(live.get(name), value) for name, value in target.items()):", "if False:"),
        ("if force and not same(live.get(name), written.get(name))]", "if not same(live.get(name), written.get(name))]"),
        ("if force and not same(live.get(name), written.get(name))]", "if force]"),
        ('states = "owned" if same(live, written) else "overridden",', 'states = "owned",'),
        ('"overridden" if edited else "owned"\n', '"owned"\n'),
        ("            if not _is_ours(element, want):\n                desk.keep", "            if False:\n                desk.keep"),
        ("            lost = True\n", ""),
        ("if lost and want.kind", "if want.kind"),
        ("and here is not _ABSENT:\n            desk.keep", "and True:\n            desk.keep"),
        ("if element.id == id]", "]"),
        ('if name != "command" and not same(live.get(name), written.get(name))]', "if not same(live.get(name), written.get(name))]"),
        ('not same(live.get(name), written.get(name))]\n\n\ndef _fields', 'live.get(name) != written.get(name)]\n\n\ndef _fields'),
        ("for name in {**written, **live} if name", "for name in written if name"),
        ("for name in {**written, **live} if name", "for name in live if name"),
    ],
    FILES: [
        (' and firsts.isdisjoint(names)', ''),
        ("    if os.path.islink(resolved):", "    if False:"),
        ("        if not stat.S_ISREG(about.st_mode):\n", "        if False:\n"),
        ("len(data) > LIMIT", "len(data) >= LIMIT"),
        ("len(data) > LIMIT", "False"),
        ("data, about.st_nlink)", "data)"),
        ("        if data is None:\n            _check_writable(old)\n", "        if data is None:\n"),
        ("            _compare(old)\n            os.unlink", "            os.unlink"),
        ("elif old.links > 1:", "elif False:"),
        ("    except FileNotFoundError:  # the file or its folder", "    except ZeroDivisionError:  # the file or its folder"),
        ("(errno.EACCES, errno.EPERM, errno.EROFS):", "(errno.EACCES,):"),
        ("if now.path != old.path or now.data != old.data:", "if now.data != old.data:"),
        ("if now.path != old.path or now.data != old.data:", "if now.path != old.path:"),
        ("not os.stat(path).st_mode & 0o222 or", ""),
        ("    _compare(old)\n    temp =", "    temp ="),
        ("            os.fsync(handle)\n        _compare(old)\n", "            os.fsync(handle)\n"),
        ("                os.fchmod(handle, mode)\n", "                pass\n"),
        ("            _link_new(temp, old.path)", "            os.replace(temp, old.path)"),
        ("    finally:\n        with contextlib.suppress(OSError):\n            os.unlink(temp)\n\n\ndef _keep", "    finally:\n        pass\n\n\ndef _keep"),
        ("    with contextlib.suppress(PermissionError):\n        os.fchown", "    with contextlib.nullcontext():\n        os.fchown"),
        ("        os.fchown(handle, about.st_uid, about.st_gid)\n", "        pass\n"),
        ("os.setxattr(handle, name, os.getxattr(path, name))", "pass"),
        ("    os.fchmod(handle, stat.S_IMODE(about.st_mode))\n", ""),
        ("        raise Changed(path) from None\n    except OSError as error:\n        if error.errno not in", "        os.replace(temp, path)\n    except OSError as error:\n        if error.errno not in"),
        ("        os.replace(temp, path)  # a file", "        pass  # a file"),
        ("errno.ENOSYS, errno.EMLINK):\n            raise", "errno.ENOSYS, errno.EMLINK):\n            pass"),
        ("    _check_writable(old)\n    _compare(old)\n    try:", "    _compare(old)\n    try:"),
        ("    _check_writable(old)\n    _compare(old)\n    try:", "    _check_writable(old)\n    try:"),
        ('            _overwrite(old.path, old.data or b"")\n', "            pass\n"),
        ("        stream.truncate()\n", ""),
        ("os.mkdir(folder, 0o700)", "os.mkdir(folder)"),
        ("if machine == _machine() and", "if"),
        ("and not _alive(int(pid)) and", "and"),
        ("_alive(int(pid)) and _mine(path):", "_alive(int(pid)):"),
        ("pid.isdecimal() and", ""),
        ('if not name.startswith(".") or', "if"),
        ("or not name.endswith(SUFFIX) or", "or"),
        ("except (OSError, OverflowError):\n        return True", "except (OSError, OverflowError):\n        return False"),
        ("return stat.S_ISREG(about.st_mode) and about", "return about"),
        ("and about.st_uid == os.geteuid()", ""),
        ("KEEP = 10", "KEEP = 9"),
        ("KEEP = 10", "KEEP = 11"),
        ('if name.startswith("first-") and sha not in name]', 'if name.startswith("first-")]'),
        ('if name.startswith("first-") and sha not in name]', "if False]"),
        ("if data is not None and digest(data) == sha:", "if data is not None:"),
    ],
    APPLY: [
        ('        files.date_backups(folders.state, path)', '        pass'),
        ("os.path.exists(folders.journal) or os.path.exists(folders.pending)", "os.path.exists(folders.journal)"),
        ("os.path.exists(folders.journal) or os.path.exists(folders.pending)", "False"),
        ("        files.sweep(folder)\n    journal", "        pass\n    journal"),
        ("        files.sweep(os.path.dirname(step.path))\n", ""),
        ("        _drop_blobs(folders)\n        return []", "        return []"),
        ("found.sha == step.sha_before or _is_torn(folders, found, step)", "found.sha == step.sha_before"),
        ("found.sha == step.sha_before or _is_torn(folders, found, step)", "True"),
        ("if found.sha == step.sha_after or not (", "if not ("),
        ("            files.replace(found, _blob(folders, step.sha_after), mode=step.mode)\n", ""),
        ("            _make_folders(os.path.dirname(step.path))\n            files.replace(found", "            files.replace(found"),
        ("            records[step.path] = _likelier(", "            _likelier("),
        ("        _save(folders, records)\n    except", "    except"),
        ("    _save(folders, records)\n    _finish(folders, journal.folders)", "    _finish(folders, journal.folders)"),
        ("    _finish(folders, journal.folders)\n", "    _forget(folders)\n"),
        ("    _finish(folders, rmdirs)\n", "    _forget(folders)\n"),
        ("        _roll_back(folders, done, made, error)\n", ""),
        ("            undone = _with_mode(change)\n", "            undone = change\n"),
        ("    _back_up(folders, changes, records)\n    steps", "    steps"),
        ("record.sha256_before == files.digest(change.before)", "False"),
        ("    _remove_folders(sorted(made, key=len, reverse=True))\n", ""),
        ("for change in reversed(done):", "for change in ():"),
        ("    _forget(folders)\n\n\ndef _blob", "\n\ndef _blob"),
        ("if found.links == 1 or found.data", "if found.data"),
        ("return found.data[written:] == old[written:]", "return _document(found) is None"),
        ("return old if olds > news or (old is None and not news) else new", "return old if olds > news else new"),
        ("return old if olds > news or (old is None and not news) else new", "return new"),
        ("return old if olds > news or (old is None and not news) else new", "return old"),
        ("            pages.pop(path, None)\n", "            pass\n"),
        ("        os.makedirs(folders.pending, mode=0o700, exist_ok=True)\n", "        pass\n"),
    ],
    PLANNER: [
        ('if folder and not os.path.lexists(other) and any', 'if False and any'),
        ('anew=anew)', 'anew=False)'),
        ('return key, None, "" if taken else folder', 'return key, None, runtime_files.folder_for(folders, records, host, key)'),
        ('edited.data.strip() in (b"", b"{}")', 'edited.value in ({}, MISSING)'),
        ('if page and key != page:', 'if False:'),
        ('ours = bool(decision.edits) or snapshot.sha == record.sha256_after', 'ours = True'),
        ('live = look(document, wants if orphaned else (), entries)', 'live = look(document, wants, entries)'),
        ("    if not apply.unfinished(folders):\n", "    if True:\n"),
        ("        if first.empty or first.conflicts:\n            return first\n", ""),
        ("order = (*runtime, *settings) if install else", "order = (*settings, *runtime) if install else"),
        ("if records.get(plan.path) != plan.record}", "}"),
        ("    if snapshot.data == after:\n        return page\n", ""),
        ("before = snapshot.sha if first else", "before ="),
        ('        before = ""\n', "        pass\n"),
        ("created = snapshot.data is None and after is not None", "created = snapshot.data is None"),
        ("page = page._replace(created_file=True, created_dirs=dirs)", "page = page._replace(created_file=True)"),
        ("if snapshot.sha == record.sha256_after and record.sha256_before:", "if record.sha256_before:"),
        ("if snapshot.sha == record.sha256_after and record.sha256_before:", "if False:"),
        ("if backup is not None and _means(backup, edited):", "if backup is not None:"),
        ("if record.created_file and ours and", "if ours and"),
        ('and ours and edited.data.strip() in (b"", b"{}"):', "and ours:"),
        ("    return guard.wants(settings, host, pack, folder, effective)", "    return wants"),
        ("folder or orphaned or runtime_files.folder_for", "orphaned or runtime_files.folder_for"),
        ("if not _runs(settings.python):", "if True:"),
    ],
    RUNTIME: [
        ('written[name] = "" if kept_knobs else files.digest(text)', "written[name] = files.digest(text)"),
        ("if there.data is not None and there.sha == sha:", "if there.data is not None:"),
        ("if known.folder in others or not known.folder:", "if not known.folder:"),
    ],
    LEDGER: [
        ('(not os.path.lexists(key) or holds(path, record))', 'True'),
        ('if target_of(key) == target or (', 'if ('),
        ("type(version) is not int or version < 1", "False"),
        ("if version > VERSION:", "if version > VERSION + 1:"),
        ("for name in sorted(records)}", "for name in records}"),
        ("        if not isinstance(page[name], kind):\n", "        if False:\n"),
        ("    if page.keys() != kinds.keys():\n", "    if False:\n"),
        ("    if not path or page", "    if page"),
        ("    if not owners:\n", "    if False:\n"),
        ("            int(wish.value)\n", "            pass\n"),
        ('{"merge": wish.merge} if wish.merge else {}', "{}"),
        ('({"id": entry.id} if entry.id else {})', "{}"),
        ("None if page[\"before\"].get(\"absent\") else page[\"before\"][\"raw\"]", "page[\"before\"].get(\"raw\", \"\")"),
    ],
}  # fmt: skip


def survives(place: Path, file: str, old: str, new: str) -> bool:
    """Whether all tests of the file pass with the mutation in it."""
    original = (ROOT / file).read_text()
    assert original.count(old) == 1, f"{file}: stands there {original.count(old)} times: {old}"
    mutated = original.replace(old, new)
    if file == ENGINE and "_wiped(" in new:
        mutated = mutated.replace("class _Desk:", "_wiped = wiped\n\n\nclass _Desk:")
    (place / file).write_text(mutated)
    try:
        for tests in TESTS[file]:
            call = [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-x",
                "-p",
                "no:cacheprovider",
                f"--basetemp={place}/tmp",
                *tests,
            ]
            environ = {**os.environ, "HOOKCTL_TEST_STRIDE": "7", "PYTHONDONTWRITEBYTECODE": "1"}
            try:
                done = subprocess.run(call, cwd=place, env=environ, capture_output=True, text=True, timeout=240)
            except subprocess.TimeoutExpired:
                return False
            if done.returncode == 1:
                return False
            assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return True
    finally:
        (place / file).write_text(original)


def main(words: list[str]) -> None:
    chosen = [
        (file, old, new)
        for file, pairs in MUTATIONS.items()
        for old, new in pairs
        if not words or any(word in file + old + new for word in words)
    ]
    with tempfile.TemporaryDirectory() as top:
        places = []
        for number in range(2):
            place = Path(top) / str(number)
            for folder in ("hookctl", "schemas", "templates", "tests"):
                shutil.copytree(
                    ROOT / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__", "corpus", "e2e")
                )
            shutil.copy(ROOT / "pyproject.toml", place)
            places.append(place)
        survivors = []

        def work(number: int) -> None:
            for file, old, new in chosen[number::2]:
                if survives(places[number], file, old, new):
                    survivors.append((file, old, new))
                    print(f"SURVIVED {file}: {old!r} -> {new!r}", flush=True)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(work, range(2)))
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutations were noticed")


if __name__ == "__main__":
    main(sys.argv[1:])
