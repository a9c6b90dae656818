"""Findings: what the facts of old and new say beside each other. Pure functions, for checks, estimate and plan."""
