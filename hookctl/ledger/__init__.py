"""hookctl's record of what it wrote: how it is stored, and how older versions are read.

It may import `settings`, `hosts`, `engine`, `documents`, `system` and the values at the root.
"""
