"""What doctor checks: `gather_*`, machine, probes and self_test read, the other modules judge.

It may import the rooms below it, such as `planner` and `settings`, and it writes nothing.

To add a check:

1. Facts: look first whether a class in facts.py has what you need. If not, add a field there, and
   fill it in gather_file.py, gather_host.py or gather_record.py. Only these read files, the clock
   or the environment.
2. Judge: write a function that takes the facts and yields findings
   (`file.find(code, message, fix)`), and call it from the `judge...` of its subject, or list it in
   survey.py. In settings.py, `judge_content` also sees the settings files of the working folder
   that hold nothing of ours; `judge` does not. A file that cannot be parsed has no document.
   `hookctl check` asks the judges that project.py lists, of facts that gather_project.py takes from
   the project alone; its errors are doctor's, and a table there has the level of what else it says.
3. Code: add its levels to LEVELS in codes.py, run `python -m tests.page_of_codes`, and say in the
   new row of docs/doctor.md what it means and what to do.
4. Test: add a row to MADE in tests/findings.py that brings the finding about.
"""
