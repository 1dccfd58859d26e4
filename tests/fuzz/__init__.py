"""Odd bytes at every door of hookctl: under Hypothesis in the quick tests, and coverage-guided by hand."""
