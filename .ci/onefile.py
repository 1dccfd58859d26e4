"""Builds hookctl.pyz, hookctl in one file that needs nothing but Python, and its checksum: `python3 .ci/onefile.py DIR`.

What goes in is a wheel of this checkout and the packages of `requirements/onefile.txt`; of their metadata the licences.
Two builds have the same bytes, where zlib is the same.
"""

import hashlib
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NEEDS = ROOT / "requirements" / "onefile.txt"
START = Path(__file__).with_name("start.py")
SHEBANG = b"#!/usr/bin/env python3\n"
# PyYAML's extension, and what there is for it: PyYAML does without. Others' tests.
LEFT_OUT = ("_yaml/", "yaml/_yaml", "yaml/cyaml.py", "jsonschema/tests/", "jsonschema/benchmarks/")


def read_wheel(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel that go in, by name."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    return {
        name: data
        for name, data in files.items()
        if not name.startswith(LEFT_OUT) and (".dist-info/" not in name or re.search("/(licenses/|LICENSE)", name))
    }


def write(files: dict[str, bytes], target: Path) -> None:
    """Write the one file and its checksum; an error if something in it is compiled."""
    compiled = [name for name, data in files.items() if b"\0" in data]
    if compiled:
        sys.exit(f"not pure Python: {', '.join(compiled)}")
    rows = [f"{len(files[name])} {name}\n" for name in sorted(files)]
    digest = hashlib.sha256("".join(rows).encode() + b"".join(files[name] for name in sorted(files))).hexdigest()
    members = {"__main__.py": START.read_bytes(), "FILES": f"{digest}\n{''.join(rows)}".encode(), **files}
    with target.open("wb") as stream:
        stream.write(SHEBANG)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name in sorted(members):
                about = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                about.compress_type, about.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(about, members[name])
    target.chmod(0o755)
    checksum = hashlib.sha256(target.read_bytes()).hexdigest()
    Path(f"{target}.sha256").write_text(f"{checksum}  {target.name}\n")


def main(folder: Path) -> None:
    """Fetch the packages, build the wheel, and put them into one file."""
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as wheels:
        # One platform for all builders; of its wheels only PyYAML's has compiled parts.
        only = "--only-binary=:all: --platform=manylinux2014_x86_64 --python-version=3.11 --implementation=cp".split()
        download = ["download", "--no-deps", "--require-hashes", *only, "--dest", wheels, "--requirement", str(NEEDS)]
        subprocess.run([*pip, *download], check=True)
        subprocess.run([*pip, "wheel", "--no-deps", "--wheel-dir", wheels, str(ROOT)], check=True)
        files: dict[str, bytes] = {}
        for wheel in sorted(Path(wheels).glob("*.whl")):
            files |= read_wheel(wheel)
    write(files, folder / "hookctl.pyz")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
