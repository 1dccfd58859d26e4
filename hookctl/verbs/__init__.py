"""The verbs of the command line: one file each, one function each, from options to a Result."""
