"""Turns what a command wants into a plan: which bytes of which files change, and why.

Every verb goes the same way. `locked_run` takes hookctl's lock, and a plan is made once under it.
What it reads several times it has from its `Sources`. `make_draft` opens a settings file as a
`Draft` and lets the verb decide on it, `assemble_plan` finishes the drafts and joins them to one
`Plan`, and `carry_out` does exactly what that plan says. Planning reads files and never writes
them.
It may import the rooms below it: all but `cli`, `verbs` and `checks`.
"""
