"""Transports: the ways in which the files of a cluster travel from old to new. All are built of the same passes."""
