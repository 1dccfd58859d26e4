"""What is ours in settings files, and how it comes and goes: decided, planned, carried out.

Every verb goes the same way. `locked_run` takes hookctl's lock, and a plan is made once under it.
What it reads several times it has from its `Sources`. `make_draft` opens a settings file as a
`Draft` and lets the verb decide on it by the table in `engine`, `assemble_plan` finishes the drafts
and joins them to one `Plan`, and `carry_out` does exactly what that plan says: `execute` with
journal, backups and the ledger of `store`. Planning reads files and never writes them.
It may import `packs`, `settings`, `hosts`, `documents`, `system` and the values at the root.
"""
