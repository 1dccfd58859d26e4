"""Which settings file counts and what it says: targets, effective values, and what a host wants approved.

It may import `hosts`, `engine`, `documents`, `system` and the values at the root.
"""
