"""Runs hooks once as a host would, and says what the host would make of their answers.

It may import `survey`, whose list it chooses from, and the rooms below.
"""
