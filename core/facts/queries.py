"""SQL for a running cluster, by major version: what the cluster is asked as a whole, and what each database.

Every row comes back as one line `KIND|HEX|HEX…`, so that no name can garble it; `parse_row` takes it apart. Nothing is
locked but catalogs, in ACCESS SHARE. Sizes come from the file system, which locks the relation likewise and costs the
session memory for each: a bounded number is measured. Of all others the catalog's own number of pages is taken, as of a
relation that somebody has locked exclusively, or waits to. So it is of system catalogs, for there are hundreds in each
database, but not of pg_largeobject (2613), which may be the largest.

Sources: the chapters System Catalogs and System Views of PostgreSQL's manual, major versions 8.2 to 18.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.facts.parsing import unreadable_error
from core.facts.sections import decode_hexadecimal

NEVER = 9999
"""Later than every major version."""


@dataclass(frozen=True, slots=True)
class Query:
    """One statement for the major version from `since` up to, not including, `before`: 9.6 is 906, 15 is 1500."""

    sql: str
    since: int = 801
    before: int = NEVER


def as_line(kind: str, *expressions: str) -> str:
    """Return the SQL expression of a line of this kind; NULL becomes an empty text."""
    # hexadecimal: a name may hold the bar, a line break, or what is no UTF-8 in another encoding
    digits = (f"encode(textsend(coalesce(({each})::text, '')), 'hex')" for each in expressions)
    return " || '|' || ".join((f"'{kind}'", *digits))


def escaped_name(name: str) -> str:
    """Return the SQL expression of a name that `unescape_name` of the shell functions decodes again."""
    return f"replace(replace({name}::text, chr(92), chr(92) || chr(92)), chr(10), chr(92) || 'n')"


Row = tuple[str, tuple[str, ...]]
"""The kind of a line and its values."""


def parse_row(text: str, fields: Mapping[str, int]) -> Row:
    """Return the values of a line; `fields` contains the number of values of each kind."""
    kind, *values = text.split("|")
    if fields.get(kind) != len(values):
        raise unreadable_error("psql", "a line 'database|NAME|…'", text)
    try:
        return kind, tuple(decode_hexadecimal(value) for value in values)
    except ValueError as error:
        raise unreadable_error("psql", "hexadecimal digits", text) from error


def make_select(kind: str, expressions: Iterable[str], rest: str) -> str:
    """Return a statement whose rows are lines of this kind."""
    return f"select {as_line(kind, *expressions)} {rest};"


LOCALE = "^[A-Za-z0-9][A-Za-z0-9_.@-]*$"
"""What can be a libc locale; those in use come as `libc NAME`, to be sorted under."""


# What a running cluster is asked as a whole: its databases, settings, access rules, replication, schedulers.

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
ACCESS_FILES = (
    # included files have been possible since 16, and the view has named the file since then
    *(
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
                    file,
                ),
                f"from pg_hba_file_rules order by {order}",
            ),
            since=since,
            before=before,
        )
        for file, order, since, before in (
            ("null", "line_number", 1000, 1600),
            ("file_name", "rule_number, file_name, line_number", 1600, NEVER),
        )
    ),
    *(
        Query(
            make_select(
                "ident",
                ("line_number", "rtrim(substring(error from '^[^:\"]*'))", file),
                f"from pg_ident_file_mappings where error is not null order by {order} limit 20",
            ),
            since=since,
            before=before,
        )
        for file, order, since, before in (
            ("null", "line_number", 1500, 1600),
            ("file_name", "file_name, line_number", 1600, NEVER),
        )
    ),
)
"""What the server makes of its access files. They run outside of the transaction, which they would abort: a server may
run although a file was removed since its start, and it does not need pg_ident.conf at all."""

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
    "hba": 9,
    "ident": 3,
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


# What each database is asked: sizes, extensions, libraries of functions, and what lies in the order of a collation.

_MEASURED = 500
"""Relations a database whose files are measured: so many of the largest, and of those whose pages nobody has counted.
For each one the session keeps an entry in its memory, of 3 kB and more, until it ends."""
_CANDIDATES = "select oid from pg_class where relkind in ('r', 'i', 'm', 't') and (oid >= 16384 or oid in (2613, 2683))"
_SIZES = (
    "left join (select oid as measured from "
    f"((({_CANDIDATES} order by relpages desc, oid desc limit {_MEASURED}) union "
    f"({_CANDIDATES} and relpages = 0 order by oid desc limit {_MEASURED}))) few where oid not in "
    "(select relation from pg_locks where relation is not null and mode = 'AccessExclusiveLock' and database = "
    "(select oid from pg_database where datname = current_database()))) sizes on sizes.measured = c.oid"
)
"""To join to pg_class as `c`. Of the others the catalog's own number of pages is taken."""
_SIZE = (
    "coalesce(case when measured is not null then pg_relation_size(measured) "
    "else c.relpages::bigint * current_setting('block_size')::bigint end, 0)"
)
_SIZED = (
    f"(select c.oid, c.relkind, c.reltoastrelid, {_SIZE} as bytes from pg_class c {_SIZES} "
    "where c.relkind in ('r', 'i', 'm', 't', 'S'))"
)


_DETAIL = make_select(
    "detail",
    (
        "current_database()",
        "count(*)",
        # a table lies together with its TOAST table
        "coalesce(max(case when c.relkind in ('r', 'm') then c.bytes + coalesce(t.bytes, 0) end), 0)",
        "coalesce(sum(case when c.relkind = 'i' then c.bytes end), 0)",
    ),
    f"from {_SIZED} c left join {_SIZED} t on t.oid = c.reltoastrelid and c.reltoastrelid <> 0",
)

_LARGE_OBJECTS = (
    "select case when n < 1000000 then n else greatest(n, (select reltuples from pg_class where oid = 2995)) "
    "end::bigint from (select count(*) as n from (select 1 from pg_largeobject_metadata limit 1000000) l) c"
)
_OBJECTS = make_select(
    "objects",
    (
        "count(case when relkind in ('r', 'm') then 1 end)",
        "count(case when relkind = 'i' then 1 end)",
        f"({_LARGE_OBJECTS})",
    ),
    "from pg_class where oid >= 16384 and relnamespace <> 99",
)
"""Tables, indexes and large objects that a user made; beyond a million of these, how many the last VACUUM met."""

_ROW_BYTES, _PAGE_HEAD, _PADDED = 28, 24, 1.15
_LARGE_BYTES, _WASTED, _NAMED = 100 * 2**20, 0.3, 20
_BLOATED = make_select(
    "bloated",
    ("name", "bytes", "(bytes - used)::bigint"),
    f"from (select n.nspname || '.' || c.relname as name, c.bytes, {_PADDED} * c.reltuples * ({_ROW_BYTES} + "
    "(select case when count(*) = (select count(*) from pg_attribute where attrelid = c.oid and attnum > 0 "
    "and not attisdropped) then sum((1 - null_frac) * avg_width) end from pg_stats s "
    "where s.schemaname = n.nspname and s.tablename = c.relname and not s.inherited)) "
    f"* c.page / (c.page - {_PAGE_HEAD}) / coalesce(c.filled, 1) as used "
    "from (select oid, relname, relnamespace, reltuples, substring(array_to_string(reloptions, ',') "
    "from 'fillfactor=([0-9]+)')::int / 100.0 as filled, current_setting('block_size')::bigint as page, "
    "relpages * current_setting('block_size')::bigint as bytes from pg_class "
    "where relkind in ('r', 'm') and oid >= 16384 and reltuples > 0 "
    f"and relpages * current_setting('block_size')::bigint >= {_LARGE_BYTES} order by relpages desc limit {_NAMED}) c "
    "join pg_namespace n on n.oid = c.relnamespace) t "
    f"where bytes - used > {_WASTED} * bytes order by bytes - used desc",
)
"""Large tables of which much is no row, by what their rows take on the average (pg_stats): row and line pointer,
columns, and a seventh for their alignment."""

# The collations by their oid, the database's own as number 100, and what of each cannot change left out.
_COLUMNS = "name, provider, locale, recorded, actual"
_OF_DATABASE = "from pg_database where datname = current_database()"
_COLLATIONS = (
    (
        901,
        1000,
        (
            "select oid, collname, 'c'::text, collcollate::text, null::text, null::text from pg_collation "
            f"where oid <> 100 union all select 100, 'default', 'c', datcollate::text, null, null {_OF_DATABASE}"
        ),
    ),
    (
        1000,
        1500,
        (
            "select oid, collname, collprovider::text, collcollate::text, collversion, null::text from pg_collation "
            f"where oid <> 100 union all select 100, 'default', 'c', datcollate::text, null, null {_OF_DATABASE}"
        ),
    ),
    *(
        (
            since,
            before,
            (
                f"select oid, collname, collprovider::text, coalesce({column}, collcollate), collversion, null::text "
                "from pg_collation where oid <> 100 union all select 100, 'default', datlocprovider::text, "
                f"case when datlocprovider = 'c' then datcollate else {of_database} end, datcollversion, "
                f"pg_database_collation_actual_version(oid) {_OF_DATABASE}"
            ),
        )
        for since, before, column, of_database in (
            (1500, 1700, "colliculocale", "daticulocale"),
            (1700, NEVER, "colllocale", "datlocale"),
        )
    ),
)

# An opclass that compares bytes, trigrams or hashes does not know the collation, nor do these index types. A range type
# has a collation of its own that its columns do not show. Indexes of TOAST tables (namespace 99) have no text.
_RANGE = (
    "case when exists (select 1 from pg_range where rngcollation <> 0) then (select nullif(rngcollation, 0) "
    "from pg_range where rngtypid = "
    "(select atttypid from pg_attribute where attrelid = indexrelid and attnum = n + 1)) end"
)
INDEX_KEYS = (
    f"select indexrelid as id, coalesce(nullif(indcollation[n], 0), {_RANGE}) as coll "
    "from (select indexrelid, indcollation, indclass, generate_subscripts(indcollation, 1) as n from pg_index i "
    "join pg_class x on x.oid = i.indexrelid and x.relkind = 'i' and x.relnamespace <> 99 "
    "join pg_am a on a.oid = x.relam and a.amname not in ('hash', 'spgist', 'bloom') where indexrelid >= 16384) i "
    "join pg_opclass o on o.oid = indclass[n] and o.opcname !~ '(_pattern|_trgm|_bloom)_ops$'"
)
"""A query for the indexes that lie in the order of a collation: `id` of the index, `coll` of the collation."""
_INDEXES = (
    "select case con.contype when 'p' then 'primary key' when 'x' then 'exclusion constraint' else "
    "case when i.indisunique then 'unique index' else 'index' end end as kind, "
    f"xn.nspname || '.' || c.relname as name, t.relname as tab, k.coll, {_SIZE} as bytes, c.oid as id "
    f"from (select distinct id, coll from ({INDEX_KEYS}) k0) k join pg_class c on c.oid = k.id {_SIZES} "
    "join pg_index i on i.indexrelid = c.oid join pg_class t on t.oid = i.indrelid "
    "join pg_namespace xn on xn.oid = c.relnamespace "
    "left join pg_constraint con on con.conindid = c.oid and con.contype in ('p', 'x')"
)
# A constraint's expression as stored: an operator that tells less from more, and the collation it does so by.
_CHECKS = (
    "select 'check constraint', tn.nspname || '.' || con.conname, t.relname, "
    "substring(con.conbin::text from ':opno ' || op.oid || ' [^{]*?:inputcollid ([0-9]+) ')::oid, 0::bigint, con.oid "
    "from pg_constraint con join pg_class t on t.oid = con.conrelid join pg_namespace tn on tn.oid = t.relnamespace "
    "join pg_operator op on op.oprname in ('<', '<=', '>', '>=') and op.oprleft in "
    "(select oid from pg_type where typcollation <> 0) and con.conbin::text ~ (':opno ' || op.oid || ' ') "
    "where con.contype = 'c' and con.oid >= 16384"
)
_PARTITIONS = (
    "select 'range partitions', pn.nspname || '.' || t.relname, t.relname, p.coll, "
    "(with recursive part as (select inhrelid from pg_inherits where inhparent = t.oid union all "
    "select h.inhrelid from pg_inherits h join part on h.inhparent = part.inhrelid) "
    f"select coalesce(sum({_SIZE}), 0)::bigint from part join pg_class c on c.oid = part.inhrelid "
    f"and c.relkind = 'r' {_SIZES}), t.oid "
    "from (select distinct partrelid, unnest(partcollation::oid[]) as coll from pg_partitioned_table "
    "where partstrat = 'r') p join pg_class t on t.oid = p.partrelid join pg_namespace pn on pn.oid = t.relnamespace"
)
_LISTED = 500
"""Objects a database that are named, the largest; all are counted."""


def _ordered(since: int, before: int, collations: str) -> Query:
    found = " union all ".join((_INDEXES, _CHECKS, *((_PARTITIONS,) if since >= 1000 else ())))
    collation = as_line("collation", "collname", "provider", "locale", "recorded", *_ACTUAL[since])
    ordered = as_line("ordered", "kind", "name", "tab", "names", "bytes")
    return Query(
        f"with known (oid, {_COLUMNS}) as ({collations}), "
        f"found (kind, name, tab, coll, bytes, id) as ({found}), "
        "kept as (select f.*, known.name as collname, provider, locale, recorded, actual from found f "
        "join known on known.oid = f.coll where provider <> 'b' and locale not in ('C', 'POSIX')) "
        f"select text from (select {collation}, 0::bigint "
        "from (select coll, collname, provider, locale, recorded, max(actual) as actual, "
        "count(distinct id) as objects, sum(case when kind ~ '^(check|range)' then 0 else bytes end) as bytes "
        "from kept group by 1, 2, 3, 4, 5) g "
        f"union all (select {ordered}, bytes from (select kind, name, tab, "
        "string_agg(distinct collname, ',') as names, max(bytes) as bytes, id from kept group by kind, name, tab, id "
        f"order by max(bytes) desc limit {_LISTED}) l) "
        "union all select distinct 'libc ' || locale, 0 from kept "
        f"where provider = 'c' and locale ~ '{LOCALE}') lines (text, bytes) order by bytes desc;",
        since=since,
        before=before,
    )


_VERSION_OF = "coalesce(actual, pg_collation_actual_version(nullif(coll, 100)))"
_ACTUAL = {
    901: ("null", "objects", "bytes"),
    1000: (_VERSION_OF, "objects", "bytes"),
    1500: (_VERSION_OF, "objects", "bytes"),
    1700: (_VERSION_OF, "objects", "bytes"),
}

EACH_DATABASE = (
    Query(_DETAIL),
    Query(_OBJECTS, since=900),
    Query(make_select("toasted", ("count(*)",), "from pg_class where oid >= 16384 and reltoastrelid <> 0")),
    Query(_BLOATED, since=900),
    Query(
        make_select("extension", ("extname", "extversion"), "from pg_extension where oid >= 16384 order by extname"),
        since=901,
    ),
    Query(
        make_select(
            "library",
            ("probin", "count(*)", "min(proname::text)"),
            "from pg_proc where probin is not null and probin <> '' and oid >= 16384 group by probin order by probin",
        ),
        since=900,
    ),
    Query(
        make_select(
            "library",
            ("encode(probin, 'escape')", "count(*)", "min(proname::text)"),
            "from pg_proc where probin is not null and probin <> '-' and oid >= 16384 group by probin",
        ),
        before=900,
    ),
    *(_ordered(*each) for each in _COLLATIONS),
    Query(
        make_select(
            "dictionary",
            ("nspname || '.' || dictname", "tmplname", "dictinitoption"),
            "from pg_ts_dict d join pg_namespace n on n.oid = dictnamespace "
            "join pg_ts_template t on t.oid = dicttemplate "
            "where d.oid >= 16384 and dictinitoption is not null order by 1 limit 200",
        ),
        since=803,
    ),
    Query(
        make_select(
            "foreign",
            ("nspname || '.' || relname", "substring(entry from '=(.*)')"),
            "from (select ftrelid, ftserver, unnest(ftoptions) as entry from pg_foreign_table) f "
            "join pg_class c on c.oid = ftrelid join pg_namespace n on n.oid = relnamespace "
            "join pg_foreign_server s on s.oid = ftserver join pg_foreign_data_wrapper w on w.oid = srvfdw "
            "where fdwname = 'file_fdw' and entry ~ '^filename=' order by 1 limit 200",
        ),
        since=901,
    ),
    Query(
        make_select("unlogged", ("count(*)",), "from pg_class where relpersistence = 'u' and relkind in ('r', 'i')"),
        since=901,
    ),
    Query(make_select("publications", ("count(*)",), "from pg_publication"), since=1000),
    Query(f"select {as_line('whole', 'current_database()')};"),
)
"""For one database, in one transaction that the last line ends: without it, what came before is not whole."""

EACH_DATABASE_KINDS = {
    "detail": 4,
    "objects": 3,
    "toasted": 1,
    "bloated": 3,
    "extension": 2,
    "library": 3,
    "collation": 7,
    "ordered": 5,
    "dictionary": 3,
    "foreign": 2,
    "unlogged": 1,
    "publications": 1,
    "whole": 1,
}
