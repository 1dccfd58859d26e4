"""Health: what the survey found and what is on record, judged for doctor, check and status.

It may import the rooms below it, such as `survey` and `ownership`, and it writes nothing.

- findings.toml lists what can be found, each with one text and one fix; codes.py makes a finding.
- A rule is a function that takes a File (file.py: a settings file) or a HostHere (survey.py: a host
  as it starts here), asks it, the survey and the disk for what it needs, and yields findings.
- file.py has the rules about a file, survey.py those about a host, and both their lists: doctor
  asks all of a machine, and check of a project alone those that need nothing else.
- project.py has what check asks beside them. It runs nothing of the project.
- self_test.py asks the guard whether it does its work.

A finding says what keeps something of ours, a whole settings file or a client from working; of
what is fine, of style and of other tools' hooks it says nothing (`hookctl hooks` lists those).

To add one: look first whether a code says the same of something else. Else add an entry to
findings.toml, run `python -m tests.page_of_codes`, and say in the new row of docs/doctor.md what
it means and what to do. Write the rule and list it; in project.py a table has the levels of what
is no error of doctor. Then add a row to MADE in tests/findings.py that brings it about, and one to
test_nothing_is_said_where_nothing_is_wrong of what it must not take for it.
"""
