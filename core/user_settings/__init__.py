"""What the operator sets for pghaul on this workstation, in a TOML file among what its user writes for this program.

`declaration.py` declares each setting once, `file.py` reads, checks and writes the file, `page.py` documents it.
"""
