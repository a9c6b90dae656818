"""Probes: each a short, bounded measurement of one link of the copy chain, that leaves nothing behind."""
