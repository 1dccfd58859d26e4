"""What is on this machine, read once: every hook that the hosts would run here, and every other.

It may import `planner` and the rooms below; `hooks`, `fire`, doctor and the page show what it has.

- model.py has the values: a file with hooks, and a Hook with what keeps it from running.
- machine.py has what several readers share, each thing read once; records.py hookctl's own record.
- inventory.py puts everything together: gathering.py reads the settings files of a host, entries.py
  makes the hooks of one, by what `hosts/loading.py` and `hosts/matchers.py` say of it, and
  programs.py finds what keeps their programs from running (scripts.py names these programs).
- listing.py finds hooks that stand there twice; ids.py names each, and finds one by its name;
  disabled.py adds those that are disabled, receipts.py what their receipts say.
- plugins.py reads the hooks of plugins, by a table in the host's file (plugin_tables.py): where
  plugins are (plugin_folders.py), which are on (plugin_switches.py) and what is in one
  (plugin_hooks.py), with a reader for strangers' files (plugin_reader.py).
"""
