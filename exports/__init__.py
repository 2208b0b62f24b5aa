"""Releases: what survived the audit, written so that others can use it and check it."""
