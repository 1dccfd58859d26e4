"""What the guard decided, and receipts: how often each hook ran, how it ended, how long it took.

The hooks write them (`templates/`), one line each, and count the lines that leave their files. This
room writes nothing, and may import `documents` and the rooms below it.
"""
