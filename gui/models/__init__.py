"""The models of the window: one generic table, and pure rows and columns for each subject."""
