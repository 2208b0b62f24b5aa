"""Motions and captions in: one Motion type, one file per format, the demo corpus."""
