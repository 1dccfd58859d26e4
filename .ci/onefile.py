"""Builds hookctl.pyz, hookctl in one file for each Python: `python3 .ci/onefile.py DIR`.

What goes in is a wheel of this checkout and the packages of `requirements/onefile.txt`; of their
metadata the licences. Two builds have the same bytes, where zlib is the same.
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
# One platform for all builders; of its wheels only PyYAML's has compiled parts.
PLATFORM = ("--platform=manylinux2014_x86_64", "--python-version=3.11", "--implementation=cp")
# PyYAML's extension and what is for it, which PyYAML does without; others' tests and advice.
LEFT_OUT = re.compile(r"_yaml/|yaml/(_yaml|cyaml)|jsonschema/(tests|benchmarks)/|typer/\.agents/")
METADATA = re.compile(r"[^/]+\.dist-info/(?!licenses/|LICENSE)")


def read_wheel(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel that go in, by name."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        return {
            name: archive.read(name)
            for name in names
            if not LEFT_OUT.match(name) and not METADATA.match(name)
        }


def write(files: dict[str, bytes], target: Path) -> None:
    """Write the one file and its checksum; an error if something in it is compiled."""
    if compiled := [name for name, data in files.items() if b"\0" in data]:
        sys.exit(f"not pure Python: {', '.join(compiled)}")
    rows = "".join(f"{len(data)} {name}\n" for name, data in sorted(files.items()))
    content = b"".join(data for _, data in sorted(files.items()))
    digest = hashlib.sha256(rows.encode() + content).hexdigest()
    members = {"FILES": f"{digest}\n{rows}".encode(), "__main__.py": START.read_bytes(), **files}
    with target.open("wb") as stream:
        stream.write(SHEBANG)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for name, data in sorted(members.items()):
                member = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
                member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
                archive.writestr(member, data)
    target.chmod(0o755)
    checksum = hashlib.sha256(target.read_bytes()).hexdigest()
    Path(f"{target}.sha256").write_text(f"{checksum}  {target.name}\n")


def main(folder: Path) -> None:
    """Fetch the packages, build the wheel, and put them into one file."""
    folder.mkdir(parents=True, exist_ok=True)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    with tempfile.TemporaryDirectory() as wheels:
        download = [*pip, "download", "--no-deps", "--require-hashes", "--only-binary=:all:"]
        subprocess.run([*download, *PLATFORM, "-d", wheels, "-r", str(NEEDS)], check=True)
        subprocess.run([*pip, "wheel", "--no-deps", "-w", wheels, str(ROOT)], check=True)
        files: dict[str, bytes] = {}
        for wheel in sorted(Path(wheels).glob("*.whl")):
            files |= read_wheel(wheel)
    write(files, folder / "hookctl.pyz")


if __name__ == "__main__":
    main(Path(sys.argv[1] if sys.argv[1:] else "dist"))
