"""What tables show: one generic model, and for each noun its columns and pure rows."""
