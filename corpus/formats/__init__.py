"""Readers, one file per source format; the registry names them."""
