"""Transports: the ways in which the files of a cluster travel from the old to the new server. All are built of the same
passes."""
