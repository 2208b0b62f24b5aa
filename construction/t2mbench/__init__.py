"""T2MBench: prompts under the Clay Figurine Rule, the check against a corpus, accuracy targets."""
