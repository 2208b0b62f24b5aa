"""Protocols, one file each."""
