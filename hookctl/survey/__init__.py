"""What is on this machine, read once: every hook that the hosts would run here, and every other.

It may import `work` and the rooms below; `hooks`, `fire`, doctor and the page show what it has.

- model.py has the values: a file with hooks, and a Hook with what keeps it from running.
- machine.py has what several readers share, each thing read once, and hookctl's own record; and it
  reads the settings files of a host and the hooks in each, by what `hosts/loading.py` and
  `hosts/matchers.py` say of it.
- listing.py puts everything together: it finds hooks that stand there twice, names each, finds one
  by its name, and adds those that are disabled.
- programs.py finds the script or program that a command runs, and what keeps it from running.
- plugins.py finds plugins, what is on and their hooks, by a table in the host's file.
"""
