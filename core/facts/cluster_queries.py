"""What a running cluster is asked as a whole: its databases, settings, access rules, replication, schedulers."""

from core.facts.queries import LOCALE, NEVER, Query, as_line, make_select

_BUILT_IN_WORKERS = (
    *("client backend", "autovacuum launcher", "autovacuum worker", "background writer", "checkpointer", "walwriter"),
    *("walsender", "walreceiver", "walsummarizer", "startup", "archiver", "logger", "slotsync worker", "io worker"),
    *("logical replication launcher", "logical replication worker", "logical replication apply worker"),
    *("logical replication tablesync worker", "logical replication parallel worker", "parallel worker"),
    *("background worker", "standalone backend", "stats collector"),
)
# what may hold a password is not read; a name with a dot is an extension's, who knows what is in it
UNSHOWN = "(conninfo|command|passphrase|password|secret|token|salt|[.])"
"""The names of such settings, as a regular expression; take_inventory of the remote half has the same."""
_COMMANDS = "'archive_command', 'restore_command', 'archive_cleanup_command', 'recovery_end_command'"

_PGBACKREST = "stanza|config|config-include-path|config-path|pg[0-9]+-path"

_NAMING = "select o from unnest(options) o where o ~ '^(pamservice|ldapserver|radiusservers)='"
"""Those options of a rule that name something of the host; others may hold a password."""
CERTIFICATE = Query(
    "select 'certificate ' || c.setting from pg_settings c, pg_settings s where c.name = 'ssl_cert_file' "
    "and s.name = 'ssl' and s.setting = 'on' and c.setting !~ '[[:cntrl:]]';",
    since=902,
)
"""The path of the server's certificate, as it is: for the shell."""

DATABASE_FIELDS = ("datname", "pg_database_size(oid)", "pg_encoding_to_char(encoding)")
TAKES_CONNECTIONS = "datallowconn and datconnlimit <> -2"
"""-2: a DROP DATABASE was interrupted, and nobody is let in any more (since the minor releases of August 2023)."""
_ALL_DATABASES = f"from pg_database where {TAKES_CONNECTIONS} order by datname"
_CLOSED_FIELDS = (
    "datname",
    "coalesce(pg_database_size(oid), 0)",
    "pg_encoding_to_char(encoding)",
    "datcollate",
    "datctype",
)
"""Of one that is half dropped the files may be gone, and then it has no size."""
_CLOSED = f"from pg_database where not ({TAKES_CONNECTIONS}) and datname <> 'template0' order by datname"
DATABASES = (
    Query(
        make_select(
            "database",
            (
                *DATABASE_FIELDS,
                "current_setting('lc_collate')",
                "current_setting('lc_ctype')",
                "'c'",
                *["null"] * 3,
                "datistemplate",
            ),
            _ALL_DATABASES,
        ),
        before=804,
    ),
    Query(
        make_select(
            "database",
            (*DATABASE_FIELDS, "datcollate", "datctype", "'c'", *["null"] * 3, "datistemplate"),
            _ALL_DATABASES,
        ),
        since=804,
        before=1500,
    ),
    *(
        Query(
            make_select(
                "database",
                (
                    *DATABASE_FIELDS,
                    "datcollate",
                    "datctype",
                    "datlocprovider",
                    locale,
                    "datcollversion",
                    "pg_database_collation_actual_version(oid)",
                    "datistemplate",
                ),
                _ALL_DATABASES,
            ),
            since=since,
            before=before,
        )
        for locale, since, before in (("daticulocale", 1500, 1700), ("datlocale", 1700, NEVER))
    ),
)
"""`database`: name, size, encoding, collate, ctype, provider, locale, recorded and actual version of its collation,
and whether it is a template."""

_SLOTS = ("slot_name", "slot_type", "database", "active")
CLUSTER_WIDE = (
    Query(
        "select distinct 'libc ' || locale from (select unnest(array[datcollate::text, datctype::text]) as locale "
        f"from pg_database) l where locale ~ '{LOCALE}';",
        since=804,
    ),
    Query(make_select("recovery", ("pg_is_in_recovery()",), ""), since=900),
    # exclusive backups went with 15
    Query(make_select("backup", ("pg_is_in_backup()",), ""), since=901, before=1500),
    Query(
        make_select(
            "source",
            (
                "name",
                f"case when name !~ '{UNSHOWN}' or name like 'ssl%file' then setting end",
                f"name ~ '{UNSHOWN}' and name not like 'ssl%file'",
                "source",
                "sourcefile",
                "sourceline",
            ),
            "from pg_settings where source not in ('default', 'override', 'client', 'session', 'interactive') "
            "and context <> 'internal' order by name",
        ),
        since=804,
    ),
    *(
        Query(
            make_select(
                "closed",
                (*_CLOSED_FIELDS, provider, locale, "datconnlimit = -2"),
                _CLOSED,
            ),
            since=since,
            before=before,
        )
        for provider, locale, since, before in (
            ("'c'", "null", 804, 1500),
            ("datlocprovider", "daticulocale", 1500, 1700),
            ("datlocprovider", "datlocale", 1700, NEVER),
        )
    ),
    # ALTER DATABASE and ALTER ROLE may load libraries too; no other of their settings is looked at
    Query(
        make_select(
            "source",
            (
                "split_part(entry, '=', 1)",
                "substring(entry from '=(.*)')",
                "false",
                "'database or role'",
                *["null"] * 2,
            ),
            "from (select distinct unnest(setconfig) as entry from pg_db_role_setting) s "
            "where entry ~ '^(session|local)_preload_libraries='",
        ),
        since=900,
    ),
    Query(
        make_select(
            "program",
            ("word",),
            "from (select distinct substring(part from '^\\s*(?:\\w+=\\S*\\s+)*([\\w./+-]+)(?:\\s|$)') as word "
            # what is quoted, and what a variable is set to, may be a password: neither looks like a program then
            "from pg_settings, regexp_split_to_table("
            "regexp_replace(setting, '''[^'']*''|\"[^\"]*\"', '=', 'g'), '&&|[|][|]|;|[|]') as part "
            f"where name in ({_COMMANDS}) and setting not in ('', '(disabled)')) w where word is not null",
        ),
        since=903,
    ),
    # a row without an option tells that it runs pgBackRest, of whose options those alone are read that lead to a folder
    Query(
        make_select(
            "pgbackrest",
            ("option", "value"),
            "from (select setting from pg_settings where name = 'archive_command' "
            "and setting ~ '(^|[/[:space:]\"''])pgbackrest([[:space:]\"'']|$)') s, "
            "lateral (select '' as option, '' as value union all select m[1], m[2] from regexp_matches(setting, "
            f"'--({_PGBACKREST})(?:=|[[:space:]]+)[\"'']?([^[:space:]\"'']+)', 'g') m) o",
        ),
        since=903,
    ),
    # known since 9.5; before, a changed file shows by its time alone
    Query(make_select("pending", ("name",), "from pg_settings where pending_restart order by name"), since=905),
    Query(
        make_select(
            "hba",
            (
                "line_number",
                "type",
                "array_to_string(database, ',')",
                "array_to_string(user_name, ',')",
                "concat_ws('/', address, netmask)",
                "auth_method",
                # a word of the line itself, a password among them, follows a colon or stands in quotes
                "rtrim(substring(error from '^[^:\"]*'))",
                "array_to_string(array(" + _NAMING + "), chr(10))",
            ),
            "from pg_hba_file_rules order by line_number",
        ),
        since=1000,
    ),
    Query(
        make_select(
            "role",
            (
                "coalesce(datname, '')",
                "coalesce(rolname, '')",
                "split_part(entry, '=', 1)",
                "substring(entry from '=(.*)')",
            ),
            "from (select setdatabase, setrole, unnest(setconfig) as entry from pg_db_role_setting) s "
            "left join pg_database d on d.oid = s.setdatabase left join pg_roles r on r.oid = s.setrole "
            "where lower(entry) ~ '^(timezone|lc_messages|lc_monetary|lc_numeric|lc_time)=' order by 1 limit 200",
        ),
        since=900,
    ),
    Query(make_select("slot", _SLOTS, "from pg_replication_slots order by slot_name"), since=904, before=1000),
    Query(make_select("slot", _SLOTS, "from pg_replication_slots where not temporary order by slot_name"), since=1000),
    Query(
        make_select(
            "subscription",
            ("datname", "subname", "subenabled"),
            "from pg_subscription s left join pg_database d on d.oid = s.subdbid order by 1",
        ),
        since=1000,
    ),
    Query(
        make_select(
            "receiver",
            ("application_name", "client_addr", "state"),
            "from pg_stat_replication order by application_name",
        ),
        since=901,
    ),
    Query(
        make_select(
            "kept",
            ("coalesce(sum(size), 0)",),
            "from pg_ls_waldir() w, pg_control_checkpoint() "
            "where name ~ '^[0-9A-F]{24}$' and substr(name, 9) < substr(redo_wal_file, 9)",
        ),
        since=1000,
    ),
    # a standby's WAL travels whole, and it has no current position
    Query(
        make_select(
            "idle",
            ("coalesce(sum(size), 0)",),
            "from pg_ls_waldir() w, (select case when not pg_is_in_recovery() "
            "then pg_walfile_name(pg_current_wal_lsn()) end as in_use) c "
            "where name ~ '^[0-9A-F]{24}$' and substr(name, 1, 8) = substr(in_use, 1, 8) "
            'and substr(name, 9) collate "C" > substr(in_use, 9)',
        ),
        since=1000,
    ),
    Query(make_select("prepared", ("database", "gid"), "from pg_prepared_xacts order by database, gid")),
    Query(
        make_select(
            "worker",
            ("backend_type",),
            "from (select distinct backend_type from pg_stat_activity "
            f"where backend_type not in ({', '.join(repr(each) for each in _BUILT_IN_WORKERS)})) w order by 1",
        ),
        since=1000,
    ),
    Query(f"select {as_line('wide', 'current_database()')};"),
)
"""The last one shows that none before it failed: they run in one transaction."""

CLUSTER_WIDE_KINDS = {
    "recovery": 1,
    "backup": 1,
    "source": 6,
    "closed": 8,
    "program": 1,
    "pgbackrest": 2,
    "pending": 1,
    "hba": 8,
    "role": 4,
    "slot": 4,
    "subscription": 3,
    "receiver": 3,
    "kept": 1,
    "idle": 1,
    "prepared": 2,
    "worker": 1,
    "wide": 1,
}
