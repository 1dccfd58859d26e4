"""hookctl: lifecycle hooks and environment settings in coding agents' own settings files."""

__version__ = "0.2.0"
