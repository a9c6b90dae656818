"""Findings: pure functions over the facts of both servers, for checks, estimate and plan."""
