"""Runs hooks once as a host would, and says what the host would make of their answers.

It may import `survey`, whose list it chooses from, and the rooms below.

- calls.py has the values, and makes the payload as the host sends it; choosing.py finds the hooks
  that match, those of a pack that is not installed too, and says why others are not run.
- shooting.py runs them, ours with a state of their own; reading.py judges their answers, purely.
"""
