"""Two sets of runs side by side: ratios with their intervals, and verdicts that consider the noise.

`diagnosis/` contains findings as declared data and pure functions over facts and figures. `raid.py` computes what
another storage could do, and `preparation.py` writes the script that prepares a volume.
"""
