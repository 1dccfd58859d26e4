"""What hookctl asks of the operating system: safe writes, its folders, processes, projects, interpreters.

It may import the values at the root, and nothing else of hookctl.
"""
