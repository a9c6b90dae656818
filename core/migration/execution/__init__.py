"""Carrying a plan out: its steps one after the other, each a row in the history; resumed, cancelled, taken back."""
