"""Commands: one file per group. Each loads, calls a stage, saves; heavy imports stay inside."""
