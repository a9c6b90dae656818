"""The command line as its own manual: what the parser says, as manual pages, completion and reference."""
