"""Motions and captions in; draft items out."""
