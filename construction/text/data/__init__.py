"""Word tables of the caption rules, read by ``construction.text.tables``."""
