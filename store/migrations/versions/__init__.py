"""Revisions, in order of their number."""
