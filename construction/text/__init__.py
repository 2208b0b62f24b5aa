"""Rules that edit captions without a language model."""
