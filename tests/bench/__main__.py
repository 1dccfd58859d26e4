"""Print the table of speeds: python -m tests.bench."""

from __future__ import annotations

import sys

from tests.bench import bench_cli, bench_documents, bench_hook


def main() -> None:
    """Measure every row and print it, those that miss their aim marked."""
    rows = [("what", "yardstick", "ratio", "aim")]
    for module in (bench_hook, bench_cli, bench_documents):
        print(f"measuring {module.__name__} ...", file=sys.stderr)
        rows += [(what, yardstick, f"{ratio:.2f}", aim) for what, yardstick, ratio, aim in module.rows()]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
