"""What is read on a server: its host, its clusters, and what surrounds them.

Each module has one subject: a command or function for the server, and a pure parser of its output. `collect.py`
bundles all of them into three round trips, `host_environment.py` has the nouns of what surrounds the clusters,
`queries.py` the SQL for each major version, and `catalog.py` reads its results.

A function that cannot print its fact fails with a sentence. That becomes a gap, which carries the name of its section,
and checks ask for the reason by that name. ARCHITECTURE.md says how a fact is added.

Any account of a server can fake a cluster. Therefore a data directory is read as its owner only, never as root, with a
mark and pipes of its own (`run_isolated` in resources/sh/sections.sh). The answers count for that directory only. A
program that was discovered runs only if nobody but root and the user who runs it can change it (resources/sh/trust.sh),
or as the owner who names it (`programs.py`). No discovered folder is ever in root's PATH.

The SQL of facts only reads. Its sessions have `sql_environment` of resources/sh/database_facts.sh.
"""
