"""Runs hooks once as a host would, and says what the host would make of their answers.

It may import `survey`, whose list it chooses from, and the rooms below.

- calls.py has the values, and makes the payload as the host sends it.
- shooting.py chooses the hooks and runs them; reading.py judges their answers, purely.
"""
