"""The pages of the window. Each reads the history, shows it, and starts actions."""
