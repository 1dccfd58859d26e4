"""hookctl's record of what it wrote: where it is stored, its format, and the formats of earlier versions.

It may import `settings`, `hosts`, `engine`, `documents`, `system` and the values at the root.
"""
