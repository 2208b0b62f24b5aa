"""The one door to language models: prompts, media, client, checks, cache, budget, batch files."""
