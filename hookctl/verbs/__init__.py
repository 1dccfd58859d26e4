"""The verbs of the command line: one file each, with its options, what it does and what it says.

`HELP` has the options that are a verb's own, one a line (see `options`), and its examples. The
verb is the function of its name; what it takes behind the folders are its options.
A verb may import everything of hookctl but `cli`.
"""
