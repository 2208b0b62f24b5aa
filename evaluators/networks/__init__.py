"""Networks of the released evaluators; parameter names equal the keys of their checkpoints."""
