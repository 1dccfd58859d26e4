"""Receipts: how often each hook ran, how it ended, how long it took, and its bytes of context.

The runner writes them (`templates/guard/guard/receipts.py`), one line a run, and counts the lines
that leave its files. This room may import `events` and the rooms below it. It writes nothing.

- model.py has the values: a hook's name, one run, and all runs of a hook with median and 95th
  percentile.
- reading.py reads them from the disk, exactly, also while hooks run.
"""
