"""What doctor checks: `gather_*`, machine, probes and self_test read, the other modules judge.

It may import every room but `verbs`, and it writes nothing.

To add a check:

1. Facts: add a field to a class in facts.py, and fill it in gather_file.py, gather_host.py or
   gather_record.py. Only these read files, the clock or the environment.
2. Judge: write a function `judge_...` that takes the facts and yields findings
   (`file.find(code, message, fix)`), and list it in survey.py.
3. Code: add a row to TABLE in codes.py, then run `python -m tests.page_of_codes`.
4. Test: add a row to MADE in tests/findings.py that brings the finding about.
"""
