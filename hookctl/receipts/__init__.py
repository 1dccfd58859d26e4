"""Receipts: how often each hook ran, how it ended, how long it took, and its bytes of context.

The runner writes them (`templates/guard/guard/receipts.py`), one line a run, and counts the lines
that leave its files. This room may import `events` and the rooms below it. It writes nothing.
"""
