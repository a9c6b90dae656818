"""Probes: each a short, bounded measurement of one link of the copy path, that leaves nothing behind."""
