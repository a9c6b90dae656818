"""What leads an operator through several dialogs, or watches the history: it is used by pages and by the window."""
