"""What an item of each benchmark is: pure data types and fixed vocabularies."""
