"""Every hook that the hosts would run here: found, named by an ID, and with its state.

It may import `checks`, whose facts it uses, and the rooms below.

- model.py has the values: a file with hooks, a handler in it, and the Hook that people see.
- inventory.py puts everything together: gathering.py reads the settings files of a host, entries.py
  finds the handlers in one, and programs.py what keeps their programs from running.
- states.py judges whether a hook runs, and says why it does not; listing.py makes the list;
  ids.py names each hook, and finds one by its name; receipts.py adds what their receipts say.
- plugins.py reads the hooks of plugins, by a table in the host's file (plugin_tables.py): where
  plugins are (plugin_folders.py), which are on (plugin_switches.py) and what is in one
  (plugin_hooks.py), with a reader for strangers' files (plugin_reader.py).
"""
