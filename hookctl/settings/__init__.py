"""Finds the active settings files and what they say: targets, effective values, approvals.

It may import `hosts`, `documents`, `system` and the values at the root.
"""
