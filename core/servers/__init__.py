"""Servers: how they are reached, how a command runs there, and the functions that are sent to them.

`connection.py` is the one way to run a command, `shell.py` the one builder of shell text. `ssh_connector.py` opens the
SSH connection, and `host_keys.py` verifies the host key. `remote_jobs.py` has detached work, and `lists` reads lists of
servers, one format in each module.

What runs on a server is a function of resources/sh, see `functions.py`. Python says which function runs, with which
arguments, as which user, and where. CONTRIBUTING.md describes how to write one.

SQL runs behind `connect_to` (resources/sh/inventory.sh), which is told the time limit of the session. It sets what each
of our sessions needs, whatever server, role or database have set. In each database, somebody else decides by
`search_path` what a name means. Ours is `pg_catalog`, except in `run_with_database_path` for REINDEX.
"""
