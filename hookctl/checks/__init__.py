"""What doctor looks at: gather.py, probes.py and trial.py read, the other modules judge what was read. Nothing is
written, and no judge reads anything."""
