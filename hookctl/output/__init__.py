"""How a result looks to people: lines, marks, columns, help texts, and plans in words.

It may import `packs`, `settings`, `documents`, `system` and the values at the root.
"""
