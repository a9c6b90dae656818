"""What was recorded in English and comes from a fixed set, in the language of the report.

A template is a text of pghaul's own with names for what differs; what was recorded is held against them, and what fits
none stays as it was worded. What checks, errors and notes say is read from the code (`installer/sentences.py`) into
`resources/languages/recorded`, the others stand here: a new title of a step belongs here. Why a server, or what of it,
could not be read stands in `recorded_reasons.py`.
A translation says `{reason:recorded}` where the value is of ours too, `{told:listed}` where each of several is,
`{stands:sentence}` where it is a whole sentence, and no part of one, `{more:sentences}` where it is several, and
`{found:fields}` where it says of each of several fields what is wrong with it, and `{times:figure}` where it is a
figure without a unit behind it. Every other value, a server's name that reads like a template among them, is carried
over as it is.
"""

import re
from collections.abc import Iterable
from functools import cache

from core import units
from core.documents import OTHER_PROBLEM, PROBLEMS
from core.language import ENGLISH, catalogue, current, marked, recorded_sentences
from core.reports.recorded_reasons import FAILURES, SUBJECTS
from core.system_errors import CAUSES

_TITLES = (
    marked("Check that the target is empty or a copy made by pghaul"),
    marked("Create {path} if it is missing"),
    marked("Fence the new cluster (directory pghaul-fence), so that only this move can start it"),
    marked("Remove what an earlier attempt left on the old server"),
    marked("Create an SSH key for this copy"),
    marked("Install the shell functions of the copy on the new server"),
    marked("Add the key to authorized_keys, for this copy only"),
    marked("Read the host keys of the new server"),
    marked("Pin the host keys of the new server"),
    marked("Create a password for the rsync daemon"),
    marked("Install the shell functions of the process that watches the rsync daemon on the new server"),
    marked("Start an rsync daemon for this copy"),
    marked("Check that the old server reaches the rsync daemon"),
    marked("Create a folder for this copy"),
    marked("Start an NFS server on the new server"),
    marked("Find the address by which the old server reaches the new server"),
    marked("Export the target to the old server"),
    marked("Mount the target on the old server"),
    marked("Check that the configuration of the old cluster can be read: {paths}"),
    marked("Check that the configuration on the new server can be replaced: {paths}"),
    marked("Check that the new server has its own {paths}"),
    marked("Check that the new server has the programs for the copy"),
    marked("Check that the role {role} has no administrator rights"),
    marked("Measure the queries on the old server"),
    marked("Record the directories of the old cluster (data, tablespaces, WAL)"),
    marked("Pre-copy pass {number} of {all}"),
    marked("Pre-copy pass {number} of {all}: copy {path}"),
    marked("Compute checksums on the old server before the downtime: pass {number}"),
    marked("Compute checksums on the new server before the downtime: pass {number}"),
    marked("Flush the disks of the new server before the downtime: pass {number}"),
    marked("Write a checkpoint before the last pre-copy pass"),
    marked("Write a checkpoint before the stop"),
    marked("Copy changed files within a backup"),
    marked("Drop the page cache of the new server"),
    marked("Start the copy on the new server, examine its databases, and stop it"),
    marked("Check that the copy is stopped"),
    marked("Check that the plan covers all directories of the old cluster"),
    marked("Check again that the plan covers all directories of the old cluster"),
    marked("Check that every file can be copied"),
    marked("Check again that every file can be copied"),
    marked("Check that the old cluster could be restarted"),
    marked("Check again that the old cluster could be restarted"),
    marked("Check that the new cluster can use its port and sockets"),
    marked("Check again that the new cluster can use its port and sockets"),
    marked("List where the old cluster listens"),
    marked("List where the old cluster would listen by its files"),
    marked("List the clients of the old cluster"),
    marked("Stop the applications"),
    marked("Take the inventory of the old cluster (databases, relations, settings)"),
    marked("Stop the old cluster"),
    marked("Check that the old cluster is stopped"),
    marked("Fence the old cluster: move pg_control to pghaul-fence, so that it cannot start"),
    marked("List the files that the copy will delete on the new server: {path}"),
    marked("Copy the stopped cluster"),
    marked("Copy the stopped cluster: {path}"),
    marked("Final sync, changed files"),
    marked("Final sync, changed files: {path}"),
    marked("Final sync, new and deleted files"),
    marked("Final sync, new and deleted files: {path}"),
    marked("Check that the old cluster has stayed stopped"),
    marked("Set the link {path}"),
    marked("Flush the disks of the new server"),
    marked("Compute the checksums of the old server"),
    marked("Compute the checksums of the new server, and compare both"),
    marked("Check the page checksums of the new cluster"),
    marked("Remove the key and the shell functions of the copy from the new server"),
    marked("Remove the key from the old server"),
    marked("Remove the lists of files from the new server"),
    marked("Remove the folder of this copy"),
    marked("Stop the rsync daemon"),
    marked("Unmount the target on the old server"),
    marked("Stop exporting the target"),
    marked("Stop the NFS server of this copy"),
    marked("Pack the configuration of the old cluster: {paths}"),
    marked("Install the configuration on the new server"),
    marked("Prepare the files in /etc/postgresql by which the service starts the new cluster"),
    marked("Enable the start of the new cluster at boot"),
    marked("Keep the settings that were in force on the old cluster: {names}"),
    marked("Start the new cluster for local connections only"),
    marked("Query the new cluster"),
    marked("Compare the inventories of both clusters"),
    marked("Compare the collation versions"),
    marked("Rebuild the indexes whose text sorts differently on the new server"),
    marked("Check the tables and indexes of the new cluster"),
    marked("Decide: cut over or roll back"),
    marked("Check that the old cluster is unchanged since its stop"),
    marked("Stop the new cluster after the local-only start, and lift its fence"),
    marked("Start the new cluster for clients (point of no return)"),
    marked("Record the cutover in the directory pghaul-fence of the old cluster"),
    marked("Remove the directory pghaul-fence, now empty, from the new cluster"),
    marked("Check that the old cluster is still stopped"),
    marked("Compare the settings of both clusters"),
    marked("Check that the new cluster listens where the old cluster did"),
    marked("Check that the old server reaches the new cluster"),
    marked("Move the cron jobs"),
    marked("Move the virtual address"),
    marked("Tell the connection pooler"),
    marked("Repoint the applications"),
    marked("Check that there was no cutover"),
    marked("Check that the new cluster was never started for clients"),
    marked("Fence the new cluster, so that it cannot start"),
    marked("Stop the new cluster"),
    marked("Stop the new cluster, and fence it so that it cannot start"),
    marked("Restore the files in /etc/postgresql of the new server"),
    marked("Disable the start of the new cluster at boot"),
    marked("Restore the configuration of the new server"),
    marked("Remove the fence of the old cluster"),
    marked("Start the old cluster"),
    marked("Check that the old cluster runs"),
    marked("Compare the settings of the old cluster with those before the stop"),
)
"""As the history that ships as an example has them."""
_SOURCES = (
    marked("assumed"),
    marked("timed: an earlier copy of this move"),
    marked("timed {number} time in a rehearsal of this move"),
    marked("timed {number} times in rehearsals of this move"),
    marked("timed {number} time in a rehearsal or an execution of this move"),
    marked("timed {number} times in rehearsals and executions of this move"),
    marked("{number} steps: calculated from the duration of one command on these servers"),
    marked("probe of {time}: {how}"),
    marked("given"),
    marked("an earlier build"),
    marked("timed: an earlier pre-copy pass of this move"),
    marked("timed {number} time"),
    marked("timed {number} times"),
    marked("timed {number} time in other moves between such servers"),
    marked("timed {number} times in other moves between such servers"),
    marked("{number} steps: assumed"),
    marked(
        "calculated from measured rates, the number of commands, and the duration of a single command on these servers"
    ),
    marked("benchmark of {time}: {title}"),
)
_LEFT = (
    marked(
        "{server}: {path} and its tablespaces hold the stopped cluster. Remove it when the new cluster has proven "
        "itself and has a backup of its own."
    ),
    marked(
        "{server}: {path} holds the record of the cutover and pg_control, which was moved there so that the old "
        "cluster cannot start."
    ),
    marked("{server}: {path} holds the files that the configuration has replaced, if any."),
    marked("{server}: the move replaces {path}. The previous file is kept as {saved}."),
    marked("{server}: {path} holds the messages of the starts by pg_ctl."),
    marked("Take a backup of the new cluster."),
    marked("Enable {unit} on the server {server} if the new cluster is to start at boot."),
    marked("Take a new base backup. Nothing was archived during the local-only start, so the archive may have a gap."),
    marked(
        "Check that the new cluster archives its WAL. Since the cutover it uses the archive_command of the old "
        "cluster: select archived_count, failed_count, last_failed_time from pg_stat_archiver. While that fails, "
        "WAL fills the disk of the new server."
    ),
    marked("Point the receivers of the old cluster's WAL to the new cluster: {names}."),
    marked("Drop the replication slots that nobody uses on the new server, because they keep WAL: {names}."),
    marked(
        "Warm up the memory of the new server, for example by pg_prewarm. Until then the first queries are slow. "
        "ANALYZE is not needed, because the statistics are copied with the files."
    ),
    marked(
        "The first queries are slow, because the memory of the new server contains no data yet. pg_prewarm can load "
        "tables in advance."
    ),
    marked("ANALYZE is not needed, because the statistics are copied with the files."),
    marked("To undo, {commands}"),
    marked("To roll back, {commands}"),
)


_SAID = (
    # of core/servers: what stands in several sentences
    marked("compare it with the fingerprint on the console of the server (ssh-keygen -lf /etc/ssh/ssh_host_*_key.pub)"),
    marked("a CSV whose first row names the columns, an Ansible inventory, or your own ~/.ssh/config"),
    marked("move it from the inventory to ~/.ssh/config, for that host"),
    # of core/migration/execution/outcome.py
    marked("its end was not seen"),
    marked("no step ran for {time}"),
    # of core/history: whose words come from another place, or go on with a hint
    marked("the key {path}, which signs what you record in the history, {why}; {hint}"),
    marked("it is damaged, or not yours: restore a copy, such as history-*.sqlite3 beside it"),
    marked("it is damaged, or another program has written to it: {remedy}"),
    # of core/benchmarks: where in a suite an error was found
    marked("the suite {name}: {problem}"),
    marked("workload {name}: {problem}"),
    # of core/benchmarks/reading.py: what was expected may contain commas
    marked("{tool}: expected {expected}, found: {shown}"),
    marked("{tool}: expected {expected}, found nothing"),
    marked("that of {names} or {last}"),
    # of core/servers/certificates.py
    marked("it is a user's certificate, not a host's"),
    marked("it is not valid at this time"),
    marked("its signature is wrong"),
    # what a survey has read of a server
    marked("{server}: {clusters}, read in {duration}"),
    marked("{server}: {clusters}, read earlier"),
    # of core/user_settings: of whose sentences one half is made in another place than the other
    marked("it is not a regular file"),
    marked("it is longer than {number} KiB"),
    marked("it belongs to the user with ID {number}, not to you"),
    marked("its folder belongs to the user with ID {number}, not to you"),
    marked("it can be written by other users (its mode is {mode})"),
    marked("its folder can be written by other users (its mode is {mode})"),
    marked("did you mean {key}?"),
    marked("the sections are {names}"),
    marked("{key} must be one of {words}, not {value}"),
    marked("{key} must be a text, not {value}"),
    marked("{key} must not be empty"),
    marked("{key} must not be longer than {number} characters"),
    marked("{key} must be a single line without control characters"),
    marked("{key} must be an absolute path, or begin with ~/, not {value}"),
    marked("{key} must be true or false, not {value}"),
    marked("{key} must be a whole number, not {value}"),
    marked("{key} must be from {least} to {most}, not {value}"),
    # of core/reports/options.py: the same
    marked("the logo {path} is not a regular file"),
    marked("the logo {path} is longer than {number} KiB"),
    # the result of an execution, of core/migration/execution/outcome.py
    marked("Result"),
    marked("Downtime"),
    marked("Copied"),
    marked("Not checked"),
    marked("Old cluster"),
    marked("New cluster"),
    marked("Remaining files"),
    marked("Follow-up"),
    marked("Details"),
    marked("Server load"),
    marked("The move"),
    marked("The move is done."),
    marked("Downtime {duration}."),
    marked("It lasted {duration}, from the stop ({stop} UTC) until the cutover ({cutover} UTC)."),
    marked(
        "It lasted {duration}, from the stop ({stop} UTC) until {end} UTC, when the new cluster listened where the old "
        "one had. The cutover was at {cutover} UTC."
    ),
    marked("{sent} of the cluster were sent in {number} steps."),
    marked("{sent} of the cluster were sent in {number} steps. The first full pass ran at {rate}."),
    marked("{sent} of the cluster were sent in 1 step."),
    marked("{sent} of the cluster were sent in 1 step. The first full pass ran at {rate}."),
    marked("  {title} (on {server} as {user}): {command}"),
    marked("{number} file verified, 0 differences."),
    marked("{number} files verified, 0 differences."),
    # where an execution is, of core/migration/execution/timeline.py
    marked("{move}: The old cluster has been stopped since {time} ({since})."),
    marked("between two steps"),
    marked("step {number} of {steps}"),
    marked("step {number} of {steps}, {more}"),
    # prompts for secrets, of core/servers/authentication.py
    marked("password of {shown}"),
    marked("passphrase of {path}"),
    # of resources/sh/inventory.sh, on the settings of both clusters
    marked(
        "The setting {name} is {now} on the new server, and was {before} on the old one. "
        "Check whether this is intended, and change it otherwise."
    ),
    marked(
        "The setting {name} is {now} on the new server, and was {before} on the old one, by an option on its command "
        "line. Check whether this is intended, and change it otherwise."
    ),
    marked(
        "The setting {name} is {now} on the new server, and was {before} on the old one: a file was edited, and the "
        "old server had not loaded it when its inventory was taken, before the stop. Check whether this is intended, "
        "and change it otherwise."
    ),
    marked(
        "The setting {name} is {now} on the new server, and was {before} on the old one. The value of the files is "
        "in force, as was chosen."
    ),
    marked(
        "The setting {name} is {now} on the old server now, and was {before} before the stop. "
        "Check whether this is intended, and change it otherwise."
    ),
    marked(
        "The limit of the old server for {name} is {now} now, and was {before} before the stop. "
        "If the old server needs this, restart it in the way in which you usually start it."
    ),
    marked(
        "The old server wrote its messages to {file} before the stop, and does not any more. "
        "If the old server needs this, restart it in the way in which you usually start it."
    ),
    marked(
        "The PATH of the old server lacks {folders} now, which it had before the stop. "
        "If the old server needs this, restart it in the way in which you usually start it."
    ),
    marked(
        "Variables in the environment of the old server had other values before the stop: {names}. "
        "If the old server needs this, restart it in the way in which you usually start it."
    ),
    marked(
        "The setting {name} is {now} on the new server, where the file of the old one is {before}. "
        "Check whether this is intended, and change it otherwise."
    ),
    marked("Nothing to undo: this step only reads."),
    marked("Nothing to undo: another pass overwrites these files. To give up the move, remove the target directories."),
    marked("Nothing to undo: the files stay the same."),
    marked("Nothing to undo: a rollback restores what the new server had there."),
    marked("Nothing to undo: the files of the new cluster stay for another attempt."),
    marked("To undo, create and allow a new key by the steps above."),
    marked("To undo, stop it."),
    marked("Two copies of one cluster must never run at the same time."),
    marked("4 streams"),
    marked("one stream of rsync over ssh"),
    marked("COPY of a sample of {tables}, cached"),
    marked("dd of the largest relation files, {how}"),
    marked("dd of random bytes, flushed at the end"),
    marked("zeros through one ssh stream, {cipher}"),
    marked("plain TCP by socat, 1 stream"),
    marked("iperf3, 1 stream"),
    marked("random bytes, flushed every {size}"),
    marked("a disk of the new server that writes twice as fast ({faster} instead of {now})"),
    marked("assumed {likely} in one process ({low} to {high})"),
    marked("control data of {path}"),
    marked("smartctl is not installed"),
    marked("a trial cluster of {version}"),
    marked("blockers: {blockers}, warnings: {warnings}"),
    marked(
        "The time for manual steps is not included: stopping the applications, deciding on the cutover, and "
        "repointing the applications."
    ),
    marked(
        "The old server is assumed to accept replication connections, and to keep the WAL until the replica has it."
    ),
    marked("It needs the same major version and architecture on both servers."),
    marked("Its downtime contains no verification and no local-only start."),
    marked("pg_basebackup sends the data in one stream, without ssh."),
    marked("The cluster changes about as fast as it can be copied. A replica may never catch up."),
    marked("The network was not measured. It is assumed to be no slower than at the earlier restore."),
    marked("Another machine had the name of the old server before. The benchmarks of that machine do not count."),
    marked("Another machine had the name of the new server before. The benchmarks of that machine do not count."),
    marked(
        "The dump is sent to the new server while it is loaded there. It contains no indexes: those are built on the "
        "new server."
    ),
    marked(
        "Sending and loading overlap: the files that have arrived are loaded while the others are sent. The estimate "
        "counts only the longer of the two. The files contain no indexes: those are built on the new server."
    ),
    marked(
        "The copy rate of {observed} is more than the slowest link of the copy path allows ({bound}, {rate}). One of "
        "them is wrong, or a cache was measured. The range covers both."
    ),
    marked("The indexes and the largest table together are larger than the cluster. One of the sizes is wrong."),
    marked("pg_upgrade copies every file once more on the new server."),
    marked("pg_upgrade clones files. This needs a file system with reflinks on the new server (XFS, Btrfs)."),
    marked("pg_upgrade links files. After the cutover, the copy cannot go back to the old version."),
    marked(
        "Pre-copy passes hardly shorten the downtime: the cluster changes about as fast as it is copied, or "
        "it is small. A copy with the cluster stopped is finished sooner."
    ),
    marked(
        "{size}, {rate} and {claimed} do not fit together. The first two give {takes}. The size in {claimed2}"
        " needs {needed}. At {rate2}, {bytes} are copied in {claimed3}."
    ),
    marked("removing {kept} of old WAL: a slot, the archiver or a setting keeps it"),
    marked("no rate is enough: the other stages alone take longer"),
    # as estimates of earlier versions have them
    marked("The measured copy rate is {observed}. At this rate, {moved_bytes} take {moved_bytes2}."),
    marked("The change rate of the cluster was not given. It is assumed to be {likely} an hour ({low} to {high})."),
    # why a transport was chosen
    marked("A sample of the cluster's own files was copied at {rate}. {more}"),
    marked("One SSH stream is about as fast as the slowest link, the {link}. {more}"),
    marked("One SSH stream limits the copy. More streams would help. {more}"),
    marked("Also sampled: {rates}."),
    marked("Of transports that are about as fast, the simplest is used."),
    marked("Measured rates: {rates}."),
    marked("how long each method takes"),
    marked("transport: {transport}"),
    marked("move: {state}"),
    marked("copy rehearsal: {state}"),
    marked("dress rehearsal: {state}"),
    marked("RAID {level} of {drives}"),
    marked("RAID {level} of {drives} in {groups} groups"),
)
"""Assumptions and warnings of an estimate, what would help, how a link was probed, why a plan is as it is, gaps."""
_PARTS = (
    marked("line {number}"),
    marked("group {name}"),
    marked("{low} to {high}"),
    marked("{likely} ({low} to {high})"),
    marked("the throughput of the slowest link ({bound}, {likely})"),
    marked("the throughput of the {bound} ({likely})"),
    marked(", and {looks} examine the new cluster"),
    marked(", and pg_checksums and pg_amcheck examine the new cluster"),
    marked("disk of the old server"),
    marked("disk of the new server"),
    marked("CPU of the old server"),
    marked("{link} ({rate}/s)"),
    marked("network"),
    marked("checksums"),
    marked("no compression"),
    marked("{tool} level {level}"),
    marked("the facts do not contain it"),
    marked("it is an unfinished copy: pghaul copies the control file last"),
    marked("{tool}, one stream"),
    marked("{tool} level {level}, {streams} streams"),
    marked("{tool} level {level}, one stream"),
    marked("rsync over NFS, {options}"),
    marked("rsync over ssh, {options}"),
    marked("rsync over NFS"),
    marked("rsync over ssh"),
    marked("of the same size (its size was not given)"),
    marked("of {size}"),
    marked("past the page cache"),
    marked("page cache dropped first"),
    marked("ssh's own cipher"),
    marked("one stream"),
    marked("1 stream"),
    marked("{number} streams"),
    marked("{number} tables"),
    marked("1 table"),
    marked("1 file"),
    marked("{number} files"),
    marked("space"),
    marked("inodes"),
    marked("dump"),
    marked("load"),
    marked("server load"),
    marked("indexes"),
    marked("prepared transactions"),
    marked("replication slots"),
    marked("publications"),
    marked("subscriptions"),
    marked("receivers of its WAL"),
    marked("schedulers and background workers"),
    marked("may sort"),
    marked("sorts"),
    marked("old disk"),
    marked("new disk"),
    marked("old"),
    marked("new"),
    marked("wire"),
    marked("old cpu"),
    marked("new cpu"),
    marked("not read"),
    marked("not known"),
    marked("none besides {names}"),
    marked("missing: {names}"),
    marked("all load"),
    marked("{name}: no answer"),
    marked("{number} rules: {methods}"),
    marked("not in this major version"),
    marked("no such user"),
    marked("no cluster"),
    marked("running on port {port}"),
    marked("running, {state}"),
    marked("stopped, but {state}"),
    marked("{state}, fenced"),
    marked("this cluster, fenced by an earlier move"),
    marked("state not readable"),
    marked("same path"),
    marked("same paths"),
    marked("unknown"),
    marked("the configuration files"),
    marked("the configuration files and {names}"),
    marked("none"),
    marked("nothing"),
    marked("The mode of the data directory"),
    marked("The list of file kinds in the data directory"),
    marked("cluster managers"),
    marked("poolers"),
    marked("The catalogs of the whole cluster"),
    marked("The catalogs of its databases"),
    marked("The catalogs of {databases}"),
    marked("a command"),
    marked("Execution"),
    marked("Rehearsal"),
    marked("downtime {clock}"),
    marked("about {duration} left"),
    marked("at least {duration} left"),
    marked("starts at {time} (in {duration})"),
    marked("asks for the stop at {time} (in {duration})"),
    marked("tries again at {time} (in {duration})"),
    marked("waiting for the scheduled time"),
    marked("waiting for the next try after a failure"),
    marked("stopped"),
    marked("running"),
    marked("interrupted"),
    marked("cancelled"),
    marked("paused"),
    marked("running, in production"),
    marked("in production"),
    marked("done"),
    marked("interrupted"),
    marked("cancelled"),
    marked("rolled back"),
    marked("under way"),
    marked("all present"),
    marked("all accepted"),
    marked("not enabled"),
    marked("pg_ctl only"),
    marked("inside the data directory"),
    marked("no profile"),
    marked("drops nothing"),
    marked("no md array"),
    marked("within a second"),
    marked("all can be loaded"),
    marked("host {name}, boot ID {id}, {more}"),
    marked("host {name}, machine ID {id}, {more}"),
    marked("host {name}, {more}"),
    marked("for local connections only, read-only, without background work"),
    marked("free"),
    marked("{owner}: a system account"),
    marked("{owner}: lingering enabled"),
    marked("{file} line {number} (`{address}`)"),
    marked("{file} line {number}: {rule}"),
    marked("synchronised"),
    marked("not synchronised"),
    marked("{apart}, synchronised"),
    marked("{apart}, not synchronised"),
    marked("disabled"),
    marked("{number} tablespaces outside"),
    marked("1 tablespace outside"),
    marked("a copy of the cluster {number}"),
    marked("system identifier {number}"),
    marked("{unit}, not enabled"),
    marked("{path} (running)"),
    marked("{path} has {number} inodes"),
    marked("{path} has {number}iB"),
    marked("{path} needs {needed}, has {number}"),
    marked("{path} needs {needed} inodes, has {number} inodes"),
    marked("{path} needs {needed}iB, has {number}iB"),
    marked("memory {size}"),
    marked("free {size}"),
    marked("free huge pages {size}"),
    marked("{number} settings"),
    marked("open files {number}, locked memory {size}"),
    marked("huge_pages {value}, {number} reserved"),
    marked("{number} reserved"),
    marked("at least {size}"),
    marked("found: {shown}"),
    marked("found nothing"),
    marked("1 cluster"),
    marked("{number} clusters"),
    marked("{cause} (SQLite says: {said})"),
    marked("SQLite says: {said}"),
    marked("another program uses it"),
    marked("it is write-protected"),
    marked("the disk is full"),
    marked("the disk reports errors"),
    marked("it is no database"),
    marked("it is damaged"),
    marked("it cannot be opened"),
    marked("suite file"),
    marked("parameters"),
)
"""What such sentences are made of."""


def templates() -> tuple[str, ...]:
    """The templates that are listed here; those that are read from the code are not among them."""
    return (*_TITLES, *_SOURCES, *_LEFT, *_SAID, *FAILURES)


def parts() -> tuple[str, ...]:
    """The templates of what sentences are made of."""
    return (*_PARTS, *SUBJECTS, *CAUSES, *dict.fromkeys((*PROBLEMS.values(), OTHER_PROBLEM)))


def recorded(text: str) -> str:
    """The text in the language that is spoken; as it was recorded where it is of no known form."""
    return text if current() == ENGLISH else _translated(text, _forms(current())) or text


def compared(text: str) -> str:
    """Translate a value that a check compared, or a part of a sentence such as `old disk`; of any other its figures."""
    if current() == ENGLISH:
        return text
    return _translated(text, _forms_and_parts(current())) or _with_figures(text)


def is_known(text: str) -> bool:
    """Return whether the text has a translation in the current language."""
    return not text or current() == ENGLISH or _translated(text, _forms(current())) is not None


_MEASURED = re.compile(
    r"(?<!\w)'[^']*'|`[^`]*`|"
    r"(?<![\w.,-])(\d+)\.(\d+)(?= (?:[kKMGTP]i?B|B|Bytes|[kMGT]?bit|[nµm]?s|min|h|d|%|×|IOPS|/s)(?!\w))"
)
"""A number with a fraction before a unit, as `core.units` writes it; an address or a version has none behind it. What
stands within quotation marks or as code is found whole, as it stays: it may be typed, such as the name of a move."""


_LONG = 20
"""So many characters of its own make a form one that is known again although a value is missing."""


def _translated(text: str, forms: "tuple[tuple[_Form, str], ...]") -> str | None:
    # a form whose values are all there counts before one without some of them, such as a remark that is not made
    for least in (1, 0):
        for form, translation in forms:
            values = form.values(text, least) if least or form.length >= _LONG else None
            if values is not None:
                return _with_figures(translation.format(**values))
    return None


def _with_figures(text: str) -> str:
    point = units.current().point
    return _MEASURED.sub(lambda found: f"{found[1]}{point}{found[2]}" if found[1] else found[0], text)


class _Value(str):
    """A value that stands in a sentence."""

    __slots__ = ()

    def __format__(self, spec: str) -> str:
        if spec == "sentence":
            return recorded(str(self))
        if spec == "sentences":
            return " ".join(map(recorded, re.split(r"(?<=\.) (?=[A-Z])", self)))
        if spec == "fields":
            fields = (each.partition(": ") for each in self.split("; "))
            return "; ".join(
                f"{path}{colon}{compared(said)}" if colon else compared(path) for path, colon, said in fields
            )
        if spec == "listed":
            parts = re.split(r"(, |; )", self)  # each other part is what separates two
            return "".join(part if at % 2 else compared(part) for at, part in enumerate(parts))
        if spec == "figure":
            return self.replace(".", units.current().point)
        return compared(str(self)) if spec == "recorded" else str(self)


class _Form:
    """A template; matched by looking for its texts one behind the other, in a time that grows with the text alone."""

    def __init__(self, template: str) -> None:
        first, *parts = re.split(r"\{(\w+)\}", template)
        self.template = template
        self.first, self.names, self.texts = first, parts[::2], parts[1::2]
        self.length = len(first) + sum(map(len, self.texts))

    def values(self, text: str, least: int) -> dict[str, _Value] | None:
        """Return the value of each name, of at least so many characters but for the last; None if the text does not
        match the template."""
        if not self.names:
            return {} if text == self.first else None
        if len(text) < self.length or not text.startswith(self.first) or not text.endswith(self.texts[-1]):
            return None
        found: dict[str, _Value] = {}
        at, end = len(self.first), len(text) - len(self.texts[-1])
        for name, behind in zip(self.names[:-1], self.texts[:-1], strict=True):
            to = text.find(behind, at + least if behind else at, end)
            if to < 0:
                return None
            found[name] = _Value(text[at:to])
            at = to + len(behind)
        return found | {self.names[-1]: _Value(text[at:end])} if at <= end else None


@cache
def _forms(language: str) -> tuple[tuple[_Form, str], ...]:
    ours = {template: catalogue(language).gettext(template) for template in templates()}
    return _most_telling_first((recorded_sentences(language) | ours).items())


@cache
def _forms_and_parts(language: str) -> tuple[tuple[_Form, str], ...]:
    of_parts = {template: catalogue(language).gettext(template) for template in parts()}
    return _most_telling_first([*of_parts.items(), *((form.template, said) for form, said in _forms(language))])


def _most_telling_first(translations: Iterable[tuple[str, str]]) -> tuple[tuple[_Form, str], ...]:
    """`make a key for this copy` makes no path, and a sentence with ` to ` in it is no range `{low} to {high}`."""
    found = [(_Form(template), said) for template, said in translations if template]
    return tuple(sorted(found, key=lambda each: -each[0].length))
