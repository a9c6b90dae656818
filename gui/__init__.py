"""The window over core: pages, models, widgets, dialogs, and the one bridge to threads."""
