"""The front door: command line, workspace, settings, demo, doctor."""

__version__ = "0.1.0"
