"""From what a command wants to a plan: which bytes of which files become what, and why.

Every verb goes the same way: `settle` opens a settings file as a `Draft` and lets the verb decide on it, `finish` makes
a `FilePlan` of the draft, `assemble` joins them to one `Plan`, and `carry_out` does exactly what that says. Planning
reads and never writes.
"""
