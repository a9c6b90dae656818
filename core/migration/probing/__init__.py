"""Probes: short, bounded measurements of the links of the copy path. They leave nothing behind."""
