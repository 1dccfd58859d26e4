"""Health: what the survey found and what is on record, judged for doctor, check and status.

It may import the rooms below it, such as `survey` and `planner`, and it writes nothing.
The messages of an install, in `planner/notices.py`, follow the same rules: those in
`hosts/loading.py`, `settings/switches.py` and `settings/stopping.py`.

- facts.py has the facts: plain values. findings.toml lists what can be found, each with one text
  and one fix, and codes.py makes a finding of an entry.
- Only these read: gather_file.py (a settings file), gather_guard.py (the programs that hookctl's
  hooks run), gather_hooks.py (the guards that work here, and the work in hand), gather_host.py
  (all of one host), gather_project.py (a project by itself), self_test.py (asks the guard).
- The others judge: settings.py the files that a host loses, entries.py hookctl's own entries in
  them, activation.py what keeps them from running, hook.py what they run, receipts.py what the
  runs of packs' hooks say, limits.py how long the guard may block, other_tools.py the other hooks,
  run_folder.py the work, records.py hookctl's record, project.py what only check asks, and
  effect.py the one sentence of status.

A finding says what keeps something of ours, a whole settings file or a client from working; of
what is fine, of style and of other tools' hooks it says nothing (`hookctl hooks` lists those).

To add a check:

1. Facts: look first whether a class in facts.py has what you need. If not, add a field there, and
   fill it in one of the modules that read.
2. Judge: write a function that takes the facts and yields findings (`file.find(code, ...)`), and
   list it in survey.py, or call it from the judge of its subject. In settings.py `judge` sees only
   files with something of ours, `judge_content` also the files of the working folder and those of
   `hookctl check`. A file that cannot be parsed has no document. `hookctl check` asks the judges
   that project.py lists, with facts that gather_project.py takes from the project alone. Doctor's
   errors are errors there too; a table in project.py has the levels of its other findings.
3. Text: look first whether a code says the same of something else. If not, add an entry to
   findings.toml beside those of its subject, run `python -m tests.page_of_codes`, and say in the
   new row of docs/doctor.md what it means and what to do.
4. Test: add a row to MADE in tests/findings.py that brings the finding about.
"""
