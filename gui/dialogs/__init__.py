"""Questions to the user; each opens without a nested event loop and answers by a signal."""
