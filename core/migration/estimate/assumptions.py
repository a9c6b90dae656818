"""What is assumed where nothing was given or measured: low, likely and high, the 10th, 50th and 90th percentile.

`…_OF_NOW`: of servers of about 2017 and later, see `basis.is_of_now`.

Each stands with where it comes from. "The lab": two hosts with systemd on one machine, 1 GB of pgbench, eight settings
from 45 Mbit/s to no limit, with and without load: 3.0 to 6.0 s of downtime, 13 to 23 s in all; and two hosts without
systemd on a machine that did nothing else, twelve settings of `benchmarks/estimate.py`: 5.0 to 7.0 s and 14 to 45 s.
"""

from core.migration.estimate.rates import Figure

# --- the links of a copy, bytes a second

DISK: Figure = (30e6, 115e6, 400e6)
DISK_OF_NOW: Figure = (80e6, 250e6, 1.2e9)
"""One disk that turns to a few SSDs, read or written one file after the other (50 MB/s over NFS from 24 disks in
2011; 21 TB by pg_basebackup of 11 at 320 MB/s)."""

SSH: Figure = (125e6, 300e6, 400e6)
"""One stream, on one processor: 125 to 375 MB/s on older ones (rsync list, 2021)."""

NETWORK: Figure = (90e6 / 8, 1e9 / 8, 10e9 / 8)
"""What a shared 100 Mbit/s leaves, to 10 Gbit/s; most servers have gigabit."""

BASE_BACKUP: Figure = (300 * 2**20, 400 * 2**20, 500 * 2**20)
BASE_BACKUP_18: Figure = (400 * 2**20, 800 * 2**20, 1.08 * 2**30)
"""pg_basebackup is one process with one stream: 300 to 500 MiB/s whatever the hardware, up to 1.08 GiB/s since 18
(postgres.ai, 2025, on NVMe and 75 Gbit/s)."""

REPLAY: Figure = (30e6, 80e6, 200e6)
"""Bytes of changes that one process applies from the WAL a second: about what one process loads, see LOAD."""

SHRUNK_SAMPLED: Figure = (0.45, 0.8, 1.05)
"""How well a whole cluster compresses for how well a sample of it did: pages of one table shrink better than catalogs,
indexes and WAL (twelve copies of the lab, four of which the network held up: 0.41 to 1.08, in the middle 0.82)."""

COMPRESSED_SAMPLED: Figure = (0.6, 0.95, 1.1)
"""What a copy that a processor holds up, as it compresses, makes of the rate of a sample: 0.83 to 1.0 in the lab, less
where others want the processor, too."""

# --- what each file costs besides its bytes, seconds

A_FILE: Figure = (0.0001, 0.0004, 0.003)
"""Open, attributes, rename; a seek where the disk turns (1,000 files of the lab: 0.3 s)."""

LOOK_AT_A_FILE: Figure = (0.000003, 0.00001, 0.0002)
"""Its attributes on both sides: cached, likely, from a disk that turns."""

FORGET_A_FILE: Figure = (0.00005, 0.0005, 0.0015)
"""To put it out of the new server's cache before it is read: a process each, on many cores to few (in the lab 20,000
files in 30 s on two that had other things to do)."""

# --- reading and summing up, bytes a second

SUMMED: Figure = (150e6, 500e6, 2e9)
"""SHA-256 on one server: one old core, several, or several with instructions for it (openssl speed)."""

READ_BY_A_PROCESSOR: Figure = (1.5e9, 2.5e9, 6e9)
"""What one processor reads of files from a fast disk while it does nothing else: 1.1 GB were read and summed up at 0.9
to 1.1 GB/s by one that computes checksums at 1.7 GB/s (the lab)."""

PAGE_CHECKSUMS: Figure = (700e6, 3e9, 3.6e9)
"""pg_checksums, one process, on a new server, which has nothing else to do in the downtime: 1.1 GB in 0.48 to 0.60 s,
3.2 GB in 1.1 s (PostgreSQL 15), the command's own 0.1 s included. On two processors that had other things to do, 2.16
GB took 1.0 to 3.2 s. A notebook's NVMe took 34 s for 32.5 GB, which were written, too (postgres-howtos, 2023: "about 1
GiB/second")."""

AMCHECK_TABLES: Figure = (550e6, 3.4e9, 4.5e9)
AMCHECK_INDEXES: Figure = (110e6, 670e6, 1.1e9)
"""pg_amcheck, one process, on a new server likewise: one took 0.9 to 1.2 s for 1.1 GB, 0.14 of it indexes, and 2.2 s
for 3.2 GB; two 0.74 to 0.86 s and 1.6 s. Where others took the processors, one took 4.3 to 5.5 s for 1.8 GB of tables
and 0.35 GB of indexes. Rows are taken apart, entries of an index are compared with each other."""

AMCHECK_A_TABLE: Figure = (0.00002, 0.00005, 0.0002)
"""To look up a table and its indexes, by one process (20,000 empty tables: 1.0 s)."""

CACHED = 0.6
"""What was read just before comes out of memory where it is no more than this part of it."""

# --- the cluster's changes

CHANGE: Figure = (0.001, 0.005, 0.03)
MOST_CHANGE: Figure = (0.5e9, 5e9, 30e9)
"""The part of a cluster that changes in an hour, 0.1 % to 3 %, but no more bytes than a server's WAL usually holds:
9.9 TB were copied for three days and took another two hours at 30 MiB/s (dbi-services, 2017)."""

TOUCHED: Figure = (1.0, 3.0, 10.0)
"""Bytes of files that must be compared for one that changed: pages lie scattered over segments of 1 GB."""

HOT_SET: Figure = (0.0, 0.05, 0.5)
"""What is written to in so many hours is that of one hour times hours to the power of this: the same files again."""

WHILE_RUNNING: Figure = (1.0, 1.1, 1.6)
"""How many times as long a copy takes beside a running server, where its rate was not measured beside it."""

# --- what is done once, seconds

COMMAND: Figure = (0.03, 0.06, 0.25)
"""There and back, and a shell: from a workstation beside the servers to one behind two jump hosts."""

A_STEP: Figure = (0.006, 0.011, 0.06)
"""To record a step before and behind its command."""

DETACHED: Figure = (2.5, 3.5, 6.0)
"""Commands that a step comes to that goes on without the workstation: sent, begun, asked after, read, taken away."""

PASS: Figure = (0.25, 0.5, 1.2)
"""rsync over ssh that finds nothing to send: a login, and both come to terms."""

CHECKPOINT: Figure = (0.04, 0.07, 0.3)
"""To ask for one that has nothing to write: psql begins, logs in and waits."""

INVENTORY: Figure = (0.08, 0.15, 0.6)
"""To ask each database for its relations, settings and roles."""

TRIAL_START: Figure = (0.6, 0.9, 2.0)
"""To create an empty cluster on the new server and start it with the configuration of the old one, right before the
stop (in the lab 0.9 s, up to 1.7 s beside other work)."""

STOP: Figure = (0.05, 0.11, 0.6)
START: Figure = (0.15, 0.3, 1.0)
SERVICE: Figure = (0.6, 2.2, 3.2)
"""To stop without much to write; to start for local connections; to end that and to start as a service: a second by
systemd, Debian's pg_ctlcluster looks again each second or two, and took 2.2 s to 2.3 s in measured moves."""

LISTS: Figure = (0.1, 0.25, 0.6)
"""To list a few thousand files, sort them, and sum up the list."""

SETTLE: Figure = (1.2, 1.2, 1.3)
"""What a pass has brought is read when it has settled (verify.sh, checksum_in_advance)."""

WAY_BACK: Figure = (1.0, 3.0, 12.0)
"""To stop new, take the fence away and start old: as much as a stop and a start."""

DIRTY: Figure = (0.0, 0.002, 0.02)
MOST_DIRTY: Figure = (0.0, 2e9, 8e9)
"""The part of a cluster that a checkpoint writes, but no more than shared_buffers usually holds."""

# --- dump & restore, bytes of table (or of index) that one process handles a second; see tests/data/published

DUMP: Figure = (12e6, 35e6, 130e6)
"""730 GB in 9 h 18 (2007; 70 % of it tables: 15 MB/s), 1 GB as plain text in 30 s (26 MB/s), 70 GB in 19 min (43
MB/s)."""
DUMP_OF_NOW: Figure = (80e6, 200e6, 450e6)
"""107 GB of tables at 134 to 144 MB/s, pgbench's 12 GiB in 61 s (211 MB/s), 65 GB with lz4 at 233 MB/s."""

LOAD: Figure = (13e6, 30e6, 100e6)
"""730 GB in about 4 h (2007: 35 MB/s), 70 GB with its indexes in 27 min (43 MB/s), 50 GB at 19 MB/s with its
indexes."""
LOAD_OF_NOW: Figure = (20e6, 64e6, 120e6)
"""298 million rows at 56 MB/s, 1 GB of numbers in 13 s (75 MB/s), 107 GB by eight at 117 MB/s."""

INDEX_BUILD: Figure = (6e6, 15e6, 50e6)
"""219 GB in 8.5 h (2007: 7 MB/s)."""
INDEX_BUILD_OF_NOW: Figure = (12e6, 34e6, 80e6)
"""A primary key over 100 M rows, 2.1 GB, in 59 to 67 s (34 MB/s)."""

COPY_SAMPLED: Figure = (0.65, 0.9, 1.2)
LOAD_SAMPLED: Figure = (0.45, 0.7, 0.95)
INDEX_SAMPLED: Figure = (0.7, 1.1, 1.6)
"""What one process does over all tables for what a sample of 15 to 22 MB showed, three times beside each other, 1.8 GB,
PostgreSQL 15: pg_dump 0.75 to 1.3 times as fast, pg_restore 0.6 to 0.8, for pages must leave memory then, its indexes
1.0 to 1.2, for since 11 further processes help to build large ones."""

WRITTEN_AGAIN: Figure = (1.0, 2.0, 2.6)
"""Bytes that the new server's disk writes for each that is loaded or indexed: tables, and the WAL but for wal_level
minimal."""

ANALYZE: Figure = (60e6, 400e6, 4e9)
ANALYZE_OF_NOW: Figure = (200e6, 1e9, 10e9)
"""At most 30,000 pages a table are sampled (300 times default_statistics_target); 730 GB in 3 h in 2007 (68 MB/s)."""

GZIP: dict[int, Figure] = {1: (25e6, 70e6, 150e6), 6: (12e6, 40e6, 110e6), 9: (10e6, 20e6, 40e6)}
GZIP_OF_NOW: dict[int, Figure] = {1: (80e6, 300e6, 540e6), 6: (30e6, 110e6, 220e6), 9: (12e6, 25e6, 60e6)}
"""Bytes of table that one process compresses a second, by level; pg_dump's own default is 6. 1 GB of numbers at 27
MB/s, 1.6 TB by level 9 at 18 MB/s; pgbench's filler, which shrinks to a fiftieth, at 211 and, by level 3, at 540
MB/s."""

SPEEDUP: Figure = (0.45, 0.6, 0.8)
SPEEDUP_OF_GZIP: Figure = (0.7, 0.9, 1.0)
"""n processes are worth n to the power of this (107 GB: 134 MB/s with one, 461 MB/s with eight); of what processors
alone hold up each does nearly as much (1.6 TB by gzip 9: 18 h with one, 3.6 h with four)."""

# --- dump & restore and pg_upgrade, seconds for each object

DUMP_A_TABLE: Figure = (0.004, 0.015, 0.03)
DUMP_A_TABLE_15: Figure = (0.00006, 0.00013, 0.0004)
"""pg_dump asked several questions about each table before 15 (119,628 tables in 48 min: 24 ms each), one about all
since (PostgreSQL's commit 9895961529; in the lab 5,000 tables in 1.3 s, 20,000 of one column in 1.8 to 2.6 s)."""

CREATE_A_TABLE: Figure = (0.0005, 0.0025, 0.015)
CREATE_AN_INDEX: Figure = (0.0003, 0.0012, 0.008)
"""Each is a command and a file or two that are made, and flushed with the next checkpoint (in the lab, on a disk that
waits for nothing: 20,000 tables dumped, created and analyzed in 20 s)."""

MADE_SAMPLED: Figure = (0.45, 0.75, 1.2)
"""Of what the temporary cluster took for each of some: pg_restore asks for a little more, over a connection, but many
are no dearer each than the first (in the lab 6.2 ms a table and 4.3 ms a primary key of 5,000, where 40 had taken 8.3
and 4.4, and 400 5.7 and 2.6; 20,000 took about as long each as 60 where both hosts had the same processors, and half as
long where each had its own)."""

DUMP_A_LARGE_OBJECT: Figure = (0.0001, 0.0004, 0.0012)
CREATE_A_LARGE_OBJECT: Figure = (0.0004, 0.002, 0.006)
"""Some commands for each, by one process: 10,000 in 32 s by pgcopydb (PostgreSQL's commit 161a3e8b68: "particularly
slow")."""

UPGRADE: Figure = (3.0, 10.0, 25.0)
"""pg_upgrade of a small cluster by links: a flat 13 to 15 s (End Point, 2015), by clones 3 s; 1.2 TB in less than a
minute."""

LINK_A_FILE: Figure = (0.00001, 0.00005, 0.0003)
CLONE_A_FILE: Figure = (0.00005, 0.0002, 0.001)
"""A hard link, or a reflink, for each file, made and flushed."""
