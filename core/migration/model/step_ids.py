"""The ids of all steps. History, script, window, prompts and tests know a step by its id; its title may change.

A step of one data root, of one pre-copy pass or of one of several changes has an id of several parts, such as
`pre-copy/1/data`: the id of its family, then what tells it from the others. Only this module puts such ids together.
Plans in the history contain these ids. One that changes needs a line in `core/history/earlier_plans.py`.
"""

# Preparation
CHECK_TARGET = "check-target"
CHECK_CONFIGURATION_READABLE = "check-configuration-readable"
CHECK_CONFIGURATION_REPLACEABLE = "check-configuration-replaceable"
CHECK_OWN_CONFIGURATION = "check-own-configuration"
CREATE_TARGET = "create-target"
FENCE_NEW = "fence-new"
REMOVE_LEFTOVERS = "remove-leftovers"
CHECK_REHEARSAL_PROGRAMS = "check-rehearsal-programs"
CHECK_QUERIES_ROLE = "check-queries-role"
MEASURE_QUERIES_OLD = "measure-queries-old"

# Copy channel
CREATE_KEY = "create-key"
INSTALL_FUNCTIONS = "install-functions"
ALLOW_KEY = "allow-key"
READ_HOST_KEYS = "read-host-keys"
PIN_HOST_KEYS = "pin-host-keys"
CREATE_PASSWORD = "create-password"  # noqa: S105  no password
INSTALL_KEEPER_FUNCTIONS = "install-keeper-functions"
START_DAEMON = "start-daemon"
CHECK_DAEMON = "check-daemon"
CREATE_COPY_FOLDER = "create-copy-folder"
START_NFS = "start-nfs"
FIND_SOURCE_ADDRESS = "find-source-address"
EXPORT_TARGET = "export-target"
MOUNT_TARGET = "mount-target"
STOP_DAEMON = "stop-daemon"
REMOVE_KEY_NEW = "remove-key-new"
REMOVE_KEY_OLD = "remove-key-old"
REMOVE_COPY_FOLDER = "remove-copy-folder"
UNMOUNT_TARGET = "unmount-target"
UNEXPORT_TARGET = "unexport-target"
STOP_NFS = "stop-nfs"
REMOVE_LISTS_NEW = "remove-lists-new"

# Pre-copy passes and dress rehearsal
RECORD_DATA_ROOTS = "record-data-roots"
PRE_COPY = "pre-copy"
CHECKSUM_IN_ADVANCE = "checksum-in-advance"
PRE_COPY_FLUSH = "pre-copy-flush"
CHECKPOINT_BEFORE_LAST_PASS = "checkpoint-before-last-pass"  # noqa: S105  no password
REHEARSE_PASS = "rehearse/pass"  # noqa: S105  no password
REHEARSE_DROP_CACHE = "rehearse/drop-page-cache"
REHEARSE_START = "rehearse/start"
REHEARSE_STOP = "rehearse/stop"

# Stop of the old cluster
CHECK_DATA_ROOTS = "check-data-roots"
CHECK_COPYABLE = "check-copyable"
CHECK_RESTARTABLE = "check-restartable"
LIST_LISTENERS = "list-listeners"
CHECKPOINT_BEFORE_STOP = "checkpoint-before-stop"
LIST_CLIENTS = "list-clients"
STOP_APPLICATIONS = "stop-applications"
TAKE_INVENTORY = "take-inventory"
CHECK_COPYABLE_IN_DOWNTIME = "check-copyable-in-downtime"
CHECK_RESTARTABLE_IN_DOWNTIME = "check-restartable-in-downtime"
CHECK_PORT_FREE = "check-port-free"
STOP_OLD_CLUSTER = "stop-old-cluster"
CHECK_STOPPED = "check-stopped"
FENCE_OLD = "fence-old"
CHECK_DATA_ROOTS_STOPPED = "check-data-roots-stopped"

# Final sync and verification
LIST_DELETIONS = "list-deletions"
FINAL_SYNC_CHANGED = "final-sync/changed"
FINAL_SYNC_REST = "final-sync/rest"
COPY = "copy"
CHECK_STAYED_STOPPED = "check-stayed-stopped"
LINK = "link"
FLUSH_NEW = "flush-new"
CHECKSUMS_OLD = "checksums-old"
COMPARE_CHECKSUMS = "compare-checksums"
CHECK_PAGE_CHECKSUMS = "page-checksums"

# Local-only start
PACK_CONFIGURATION = "pack-configuration"
INSTALL_CONFIGURATION = "install-configuration"
REGISTER = "register"
ENABLE_AT_BOOT = "enable-at-boot"
KEEP_SETTINGS_IN_FORCE = "keep-settings-in-force"
START_LOCALLY = "start-locally"
QUERY_NEW = "query-new"
COMPARE_INVENTORY = "compare-inventory"
COMPARE_COLLATION_VERSIONS = "compare-collation-versions"
REBUILD_INDEXES = "rebuild-indexes"
CHECK_TABLES_AND_INDEXES = "tables-and-indexes"

# Cutover
DECIDE = "decide"
CHECK_OLD_UNCHANGED = "check-old-unchanged"
CHECK_PORT_FREE_BEFORE_CUTOVER = "check-port-free-before-cutover"
LIFT_FENCE = "lift-fence"
CUTOVER = "cutover"
RECORD_CUTOVER = "record-cutover"
REMOVE_FENCE_NEW = "remove-fence-new"
CHECK_OLD_STAYS_STOPPED = "check-old-stays-stopped"
COMPARE_SETTINGS = "compare-settings"
CHECK_LISTENERS = "check-listeners"
CHECK_REACHABLE = "check-reachable"
MOVE_CRON_JOBS = "move-cron-jobs"
MOVE_ADDRESS = "move-address"
TELL_POOLER = "tell-pooler"
REPOINT_APPLICATIONS = "repoint-applications"

# Rollback
CHECK_NO_CUTOVER = "check-no-cutover"
CHECK_COPY_UNCHANGED = "check-copy-unchanged"
STOP_AND_FENCE_NEW = "stop-and-fence-new"
UNREGISTER = "unregister"
RESTORE_CONFIGURATION = "restore-configuration"
UNFENCE_OLD = "unfence-old"
START_OLD_CLUSTER = "start-old-cluster"
CHECK_OLD_RUNS = "check-old-runs"
COMPARE_OLD_SETTINGS = "compare-old-settings"
STOP_NEW_CLUSTER = "stop-new-cluster"


def of_part(family: str, *parts: str | int) -> str:
    """Return the id of one step of a family, such as `final-sync/rest/data`: a data root, a pass, a number."""
    return "/".join((family, *map(str, parts)))


def family_of(step_id: str, *families: str) -> str | None:
    """Return which of these families the step belongs to; None: to none of them."""
    return next((family for family in families if step_id.startswith(f"{family}/")), None)
