"""One page a noun of the work; each reads the history, shows it, and starts the actions of its part."""
