"""What evaluators make of a caption: tagged words, word pieces, byte pairs, token vectors."""
