"""What hookctl asks of the operating system: safe writes, backups, folders, processes, projects.

It may import the values at the root, and nothing else of hookctl.
"""
