"""Carries out a plan: journal, compare and replace, ledger; and completes an interrupted run.

It may import `ledger`, `settings`, `documents`, `system` and the values at the root.
"""
