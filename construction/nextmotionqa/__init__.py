"""Drafting NextMotionQA items from labels and captions of a clip (NextMotionQA 4.1, 4.2, D, E)."""
