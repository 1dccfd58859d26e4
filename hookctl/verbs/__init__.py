"""The verbs of the command line: one file each, one function each, from options to a Result.

A verb may import everything of hookctl but `cli`, and no other verb.
"""
