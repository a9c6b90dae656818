"""Data that ships with the program: icons, themes, fonts, workload and suite files, the report template."""
