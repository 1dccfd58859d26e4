# tables
"""YAML documents by example: what an edit makes of a text, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path as FilePath

from hookctl.documents.yaml import YamlDocument


def parse(text: str) -> YamlDocument:
    return YamlDocument.parse(text.encode("utf-8"), where="config.yaml")


def test_without_the_extra_the_message_says_how_to_get_it(tmp_path: FilePath) -> None:
    (tmp_path / "yaml.py").write_text("raise ImportError('there is no such package')\n")
    program = (
        "from hookctl.documents.yaml import YamlDocument\n"
        "from hookctl.errors import HookctlError\n"
        "try:\n    YamlDocument.parse(b'a: 1', where='/x/config.yaml')\n"
        "except HookctlError as error:\n    print(error.code, error.exit_code, error)\n"
    )
    root = str(FilePath(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout.startswith("extra_missing 4 /x/config.yaml: "), done.stderr
    assert "-m pip install" in done.stdout


def test_the_reader_is_imported_with_the_first_file_only() -> None:
    program = "import sys, hookctl.documents.yaml; print('yaml' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=FilePath(__file__).parents[2]
    )
    assert done.stdout == "False\n", done.stderr
