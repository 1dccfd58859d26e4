"""Print the table of speeds: python -m tests.bench."""

from __future__ import annotations

import sys

from tests.bench import bench_cli, bench_documents, bench_hook, walk


def main() -> None:
    """Measure every row and print it beside its aim, and how far the commands walk through the code."""
    rows = [("what", "yardstick", "ratio", "aim")]
    for module in (bench_hook, bench_cli, bench_documents):
        print(f"measuring {module.__name__} ...", file=sys.stderr)
        rows += [(what, yardstick, f"{ratio:.2f}", aim) for what, yardstick, ratio, aim in module.rows()]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print("measuring tests.bench.walk ...", file=sys.stderr)
    print("", *walk.table(walk.measure(walk.CHECKOUT), walk.count_calls(walk.CHECKOUT)), sep="\n")


if __name__ == "__main__":
    main()
