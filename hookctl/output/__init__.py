"""How a result looks to people: lines, marks, columns, and plans in words.

It may import every room but `verbs`, most of them only for their types.
"""
