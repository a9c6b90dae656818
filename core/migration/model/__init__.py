"""The nouns: a move and what is found out, planned and done for it, a subject a module. They know no work."""
