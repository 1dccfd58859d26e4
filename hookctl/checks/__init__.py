"""What doctor looks at: machine.py, probes.py, trial.py and the gather modules read it, and the others judge the facts.

Nothing is written, and no judge reads anything.
"""
