"""The history: everything that pghaul has found out, planned and done, on an SQLite file or on a PostgreSQL server.

`models.py` has the tables, `migrations` their revisions, and `store.py` takes and returns the dataclasses of the other
packages. `file.py` has the transactions, on a file (`database.py`) or on a server (`server.py`). `places.py` knows
which of them is used.

The history of another workstation is only data. `belonging.py` checks its files before SQLite opens them. `seal.py`
tells what this user has recorded, and what may therefore run (hooks, executions). Everything else is only shown.

The file in use is never renamed. A program that has it open would otherwise write to a file that belongs to another
history. `copies.py` copies the file at one moment, or has it for itself. `backup.py` puts a copy into it. `damage.py`
reads all of it, and takes whole rows out of a damaged file. `removal.py` says what may be removed, removes single
entries and brings them back. If one of them fails, it leaves the history as it was.

A team's history is a schema on a PostgreSQL server. The queries are the same. What differs is in four modules:
`address.py` (the URL, and how to connect to it), `server.py` (schema, errors, who may do what), `owners.py` (which
programs still run: an advisory lock, or a locked file) and `types.py` (64 bits, order by bytes, a replacement for NUL).

- If the server is lost (`HistoryLostError`), `pending.py` keeps runs, probes and commands in files. Whoever writes or
  opens the history next records them. Each is recognised by its content. An execution ends, since another workstation
  may continue it (`owners.py`).
- Writers wait for one lock, as SQLite's do, and readers see one moment. So code that reads and then writes needs no
  further care.
- Migrations run on both databases. Their columns are `WHOLE` and `TEXT`. `transfer.py` copies all rows with their
  numbers.

`archive.py` exports a move by the tables of the models and their foreign keys. A new table is therefore included by
itself. A column that has a meaning on one workstation only is listed there as private.

What is recorded while it happens goes to a journal: a protocol that is declared where the work is done, such as
`BenchmarkJournal` and `ExecutionJournal`, and that the store implements.
"""
