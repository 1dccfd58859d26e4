"""Do the tests of what lies around the engine bite? Break one rule at a time in a copy, and see whether a test notices.

Run by hand: `python tests/mutate_rest.py [WORD ...]` tries all mutations, or those whose text has one of the words. A text
that the code has no more is said and passed over. For the engine see mutate_engine.py, for the hook mutate_hook.py.
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
# A module, or all of a folder.
FILES, APPLY, PLANNER, RUNTIME, LEDGER = (
    f"hookctl/{name}" for name in ("files.py", "apply.py", "planner", "runtime_files.py", "ledger.py")
)

# The tests that a mutation of a file must make fail; the quick ones first.
TESTS = {
    FILES: [["tests/test_files.py"], ["tests/test_overrides.py"], ["tests/test_moved.py"]],
    APPLY: [["tests/test_overrides.py", "tests/test_ledger.py"], ["tests/test_crash.py"], ["tests/test_moved.py"]],
    PLANNER: [["tests/test_overrides.py"], ["tests/test_crash.py", "-k", "hard"], ["tests/test_properties.py"], ["tests/test_moved.py"]],
    RUNTIME: [["tests/test_overrides.py"], ["tests/test_moved.py"]],
    LEDGER: [["tests/test_ledger.py"], ["tests/test_moved.py"]],
}

# module: (old text, new text); the old text stands there exactly once
MUTATIONS = {
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
        ("    os.fchmod(handle, stat.S_IMODE(about.st_mode) if chmod is None else chmod)\n", ""),
        ("        raise Changed(path) from None\n    except OSError as error:\n        if error.errno not in", "        os.replace(temp, path)\n    except OSError as error:\n        if error.errno not in"),
        ("        os.replace(temp, path)  # a file", "        pass  # a file"),
        ("errno.ENOSYS, errno.EMLINK):\n            raise", "errno.ENOSYS, errno.EMLINK):\n            pass"),
        ("    _check_writable(old)\n    _compare(old)\n    try:", "    _compare(old)\n    try:"),
        ("    _check_writable(old)\n    _compare(old)\n    try:", "    _check_writable(old)\n    try:"),
        ('            _overwrite(old.path, old.data or b"")\n', "            pass\n"),
        ("        stream.truncate()\n", ""),
        ("os.mkdir(folder, 0o700)", "os.mkdir(folder)"),
        ("if machine == _machine() and", "if"),
        ("if not _alive(pid) and _mine(path):", "if _mine(path):"),
        ("if not _alive(pid) and _mine(path):", "if not _alive(pid):"),
        ("and pid.isdecimal():", ":"),
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
        ("found.sha == step.sha_before or _is_torn(folders, found, step, page)", "found.sha == step.sha_before"),
        ("found.sha == step.sha_before or _is_torn(folders, found, step, page)", "True"),
        ("if found.sha == step.sha_after or not (", "if not ("),
        ("            files.replace(found, _blob(folders, step.sha_after), mode=step.mode, chmod=step.chmod)\n", ""),
        ("            _make_folders(os.path.dirname(step.path), step.mode)\n            files.replace(found", "            files.replace(found"),
        ("            records[step.path] = likelier = _likelier(", "            likelier = _likelier("),
        ("        _save(folders, records)\n    except", "    except"),
        ("        _save(folders, records)\n    _remove", "        pass\n    _remove"),
        ("    _remove_folders(journal.folders)\n", ""),
        ("    _forget(folders, changes, _remove_folders(rmdirs))\n", "    _forget(folders, changes)\n"),
        ("    _forget(folders, changes, _remove_folders(rmdirs))\n", "    _forget(folders, (), _remove_folders(rmdirs))\n"),
        ("        files.sweep(folder)\n    lines", "        pass\n    lines"),
        ("        if rest.folders or rest.unswept:\n", "        if False:\n"),
        ("        _note(folders, rest)  # what", "        raise  # what"),
        ("        _note(folders, rest)  # what", "        pass  # what"),
        ("if left or error.errno not in", "if error.errno not in"),
        ("if left or error.errno not in", "if left or error.errno in"),
        ("        _roll_back(folders, changes, done, made, error)\n", ""),
        ("            undone = _with_mode(change)\n", "            undone = change\n"),
        ("    _back_up(folders, changes, records, pages)\n", ""),
        ("record.sha256_before == files.digest(change.before)", "False"),
        ("    left = _remove_folders(sorted(made, key=len, reverse=True))\n", "    left = []\n"),
        ("    left = _remove_folders(sorted(made, key=len, reverse=True))\n", "    left = ()\n    _remove_folders(sorted(made, key=len, reverse=True))\n"),
        ("for change in reversed(done):", "for change in ():"),
        ("    _forget(folders, changes, left)\n", ""),
        ("if found.links == 1 or found.data", "if found.data"),
        ("return found.data[written:] == old[written:]", "return _document(found) is None"),
        ("start = _common(found.data, old)", "start = 0"),
        ("written = start + _common(found.data[start:], new[start:])", "written = start"),
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
        ("page = page._replace(created_file=True, created_dirs=tuple(dirs))", "page = page._replace(created_file=True)"),
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


def where(module: str, text: str) -> str:
    """The one file of a module or folder that has the text; empty if none has it, or if it stands there more often."""
    place = ROOT / module
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    found = [path for path in files for _ in range(path.read_text().count(text))]
    return str(found[0].relative_to(ROOT)) if len(found) == 1 else ""


def survives(place: Path, module: str, old: str, new: str) -> bool:
    """Whether all tests of the module pass with the mutation in it."""
    file = where(module, old)
    original = (ROOT / file).read_text()
    (place / file).write_text(original.replace(old, new))
    environ = {**os.environ, "HOOKCTL_TEST_STRIDE": "7", "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-x", "-p", "no:cacheprovider", f"--basetemp={place}/tmp"]
    try:
        for tests in TESTS[module]:
            call = [sys.executable, "-m", "pytest", *options, *tests]
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
    every = [(module, old, new) for module, pairs in MUTATIONS.items() for old, new in pairs]
    wanted = [mutation for mutation in every if not words or any(word in "".join(mutation) for word in words)]
    chosen = [(module, old, new) for module, old, new in wanted if where(module, old)]
    for module, old, _ in wanted:
        if not where(module, old):
            print(f"text not found in {module}: {old!r}", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory() as top:

        def work(number: int) -> None:
            place = Path(top) / str(number)
            for folder in ("hookctl", "schemas", "templates", "tests"):
                ignore = shutil.ignore_patterns("__pycache__", "corpus", "e2e", ".hypothesis")
                shutil.copytree(ROOT / folder, place / folder, ignore=ignore)
            shutil.copy(ROOT / "pyproject.toml", place)
            for module, old, new in chosen[number::2]:
                if survives(place, module, old, new):
                    survivors.append((module, old, new))
                    print(f"SURVIVED {module}: {old!r} -> {new!r}", flush=True)

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(work, range(2)))
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} mutations were noticed", end="")
    print(f"; {len(wanted) - len(chosen)} texts were not found" if len(chosen) < len(wanted) else "")


if __name__ == "__main__":
    main(sys.argv[1:])
