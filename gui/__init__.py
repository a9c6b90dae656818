"""The window of pghaul: pages, models, widgets and dialogs over core, and the bridge to its threads."""
