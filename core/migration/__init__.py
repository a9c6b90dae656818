"""A move of a cluster to its new server, from the first check to the cutover.

The packages import only those above them in this list. Checks, estimate and probing stand side by side.

- `model`: the nouns.
- `findings`: pure functions over the facts of both servers. `finding.py` declares what they are given and return.
- `transports`: the ways of the files. `copy_channel.py` is the connection between the servers for one copy.
- `checks`, `estimate`, `probing`: what must hold, how long it takes, and short measurements of the links.
- `plan`: the steps, the runbook and the exported script.
- `execution`: carrying a plan out.
- `standing.py` and `fleet.py`: the state of one move, and of many side by side.
"""
