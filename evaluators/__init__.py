"""Models that relate motion and text, behind one protocol; score files; their training."""
