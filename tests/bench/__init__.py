"""Speed as ratios of CPU time, measured side by side in one run; never absolute times, never a timed test."""
