"""Training of evaluators."""
