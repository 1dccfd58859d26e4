"""What is ours in settings files, and how it comes and goes: decided, planned, carried out.

Every verb goes the same way. `locked_run` takes hookctl's lock, and a plan is made once under it.
What it reads several times it has from its `Sources`. A verb gives `plan_jobs` a list of `Job`s:
each opens its settings file as a `Draft` and decides on it by the table in `engine`; then the
drafts are finished and joined to one `Plan`, and `apply_plan` does exactly what that plan says:
`execute` with journal, backups and the ledger of `store`. Planning reads files and never writes.
It may import `packs`, `settings`, `hosts`, `documents`, `system` and the values at the root.
"""
