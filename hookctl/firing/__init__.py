"""Runs hooks once as a host would, and says what the host would make of their answers.

It may import `survey`, whose list it chooses from, and the rooms below.

- model.py has the values: a call of a host, a shot of one hook, how it ran, what the host reads.
- calls.py makes the payload as the host sends it; choosing.py finds the hooks that match, and says
  why others are not run; trying.py does so for a pack that is not installed.
- shooting.py runs them, ours with a state of their own; reading.py and verdict.py judge, purely.
"""
