"""The work in hand of a project: the files of a run, and whose the work is.

It may import `ownership` and what that may import.
"""
