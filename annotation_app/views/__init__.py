"""One page each: guidelines, labelling, done, the coordinator's console."""
