"""How a result looks to people: lines, marks, columns, and plans in words.

It may import every room but `verbs`, which print through it; most of these only for their types.
"""
