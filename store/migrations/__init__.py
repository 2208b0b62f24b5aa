"""Schema of the workspace database, one revision a file; run by ``store.session``."""

HEAD = "0005"
"""Newest revision; a database at this revision needs no migration."""
