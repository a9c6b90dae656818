"""SQL for a running cluster, by series: what is asked of the whole cluster, and what of each database.

Every row comes back as one line `KIND|HEX|HEX…`, so that no name can garble it; `row` takes it apart. Nothing is
locked but catalogs, in ACCESS SHARE. Sizes come from the file system, which locks the relation likewise: of a relation
that somebody has locked exclusively, or waits to, the catalog's own number of pages is taken instead. So it is of
system catalogs, for there are hundreds in each database, but not of pg_largeobject (2613), which may be the largest.

Sources: the chapters System Catalogs and System Views of PostgreSQL's manual, series 8.2 to 18.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.facts.sections import hexadecimal
from core.facts.text import unreadable

NEVER = 9999
"""Later than every series."""


@dataclass(frozen=True, slots=True)
class Query:
    """One statement for the series from `since` up to, not including, `before`: 9.6 is 906, 15 is 1500."""

    sql: str
    since: int = 801
    before: int = NEVER


def as_line(kind: str, *expressions: str) -> str:
    """The SQL expression of a line; what is NULL comes as an empty text."""
    digits = (f"encode(textsend(coalesce(({each})::text, '')), 'hex')" for each in expressions)
    return " || '|' || ".join((f"'{kind}'", *digits))


Row = tuple[str, tuple[str, ...]]
"""The kind of a line and its values."""


def row(text: str, fields: Mapping[str, int]) -> Row:
    """A line taken apart. `fields`: how many values each kind has.

    Raises:
        ParseError: it is of no known kind, has too few values or too many, or one that is no hexadecimal text.
    """
    kind, *values = text.split("|")
    if fields.get(kind) != len(values):
        raise unreadable("psql", "a line 'database|NAME|…'", text)
    try:
        return kind, tuple(hexadecimal(value) for value in values)
    except ValueError as error:
        raise unreadable("psql", "hexadecimal digits", text) from error


def _select(kind: str, expressions: Iterable[str], rest: str) -> str:
    return f"select {as_line(kind, *expressions)} {rest};"


_BUILT_IN_WORKERS = (
    *("client backend", "autovacuum launcher", "autovacuum worker", "background writer", "checkpointer", "walwriter"),
    *("walsender", "walreceiver", "walsummarizer", "startup", "archiver", "logger", "slotsync worker", "io worker"),
    *("logical replication launcher", "logical replication worker", "logical replication apply worker"),
    *("logical replication tablesync worker", "logical replication parallel worker", "parallel worker"),
    *("background worker", "standalone backend", "stats collector"),
)
_UNSHOWN = "(conninfo|command|passphrase|password|secret|token|salt|[.])"
_COMMANDS = "'archive_command', 'restore_command', 'archive_cleanup_command', 'recovery_end_command'"

CERTIFICATE = Query(
    "select 'certificate ' || c.setting from pg_settings c, pg_settings s where c.name = 'ssl_cert_file' "
    "and s.name = 'ssl' and s.setting = 'on' and c.setting !~ '[[:cntrl:]]';",
    since=902,
)
"""The path of the server's certificate, as it is: for the shell."""

DATABASE_FIELDS = ("datname", "pg_database_size(oid)", "pg_encoding_to_char(encoding)")
_ALL_DATABASES = "from pg_database where datallowconn order by datname"
DATABASES = (
    Query(
        _select(
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
        _select(
            "database",
            (*DATABASE_FIELDS, "datcollate", "datctype", "'c'", *["null"] * 3, "datistemplate"),
            _ALL_DATABASES,
        ),
        since=804,
        before=1500,
    ),
    *(
        Query(
            _select(
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

_LOCALE = "^[A-Za-z0-9][A-Za-z0-9_.@-]*$"
"""What can be a libc locale; those in use come as `libc NAME`, to be sorted under."""

_SLOTS = ("slot_name", "slot_type", "database", "active")
CLUSTER_WIDE = (
    Query(
        "select distinct 'libc ' || locale from (select unnest(array[datcollate::text, datctype::text]) as locale "
        f"from pg_database where datallowconn) l where locale ~ '{_LOCALE}';",
        since=804,
    ),
    Query(_select("recovery", ("pg_is_in_recovery()",), ""), since=900),
    Query(_select("backup", ("pg_is_in_backup()",), ""), since=901, before=1500),
    Query(
        _select(
            "source",
            (
                "name",
                f"case when name !~ '{_UNSHOWN}' or name like 'ssl%file' then setting end",
                f"name ~ '{_UNSHOWN}' and name not like 'ssl%file'",
                "source",
                "sourcefile",
                "sourceline",
            ),
            "from pg_settings where source not in ('default', 'override', 'client', 'session', 'interactive') "
            "and context <> 'internal' order by name",
        ),
        since=804,
    ),
    # ALTER DATABASE and ALTER ROLE may load libraries too; no other of their settings is looked at
    Query(
        _select(
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
        _select(
            "program",
            ("word",),
            "from (select distinct substring(part from '^\\s*(?:\\w+=\\S*\\s+)*(\\S+)') as word from pg_settings, "
            "regexp_split_to_table(setting, '&&|[|][|]|;|[|]') as part "
            f"where name in ({_COMMANDS}) and setting not in ('', '(disabled)')) w where word is not null",
        ),
        since=903,
    ),
    Query(_select("pending", ("name",), "from pg_settings where pending_restart order by name"), since=905),
    Query(
        _select(
            "hba",
            (
                "line_number",
                "type",
                "array_to_string(database, ',')",
                "array_to_string(user_name, ',')",
                "concat_ws('/', address, netmask)",
                "auth_method",
                "error",
            ),
            "from pg_hba_file_rules order by line_number",
        ),
        since=1000,
    ),
    Query(_select("slot", _SLOTS, "from pg_replication_slots order by slot_name"), since=904, before=1000),
    Query(_select("slot", _SLOTS, "from pg_replication_slots where not temporary order by slot_name"), since=1000),
    Query(
        _select(
            "subscription",
            ("datname", "subname", "subenabled"),
            "from pg_subscription s left join pg_database d on d.oid = s.subdbid order by 1",
        ),
        since=1000,
    ),
    Query(
        _select(
            "receiver",
            ("application_name", "client_addr", "state"),
            "from pg_stat_replication order by application_name",
        ),
        since=901,
    ),
    Query(_select("prepared", ("database", "gid"), "from pg_prepared_xacts order by database, gid")),
    Query(
        _select(
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
    "program": 1,
    "pending": 1,
    "hba": 7,
    "slot": 4,
    "subscription": 3,
    "receiver": 3,
    "prepared": 2,
    "worker": 1,
    "wide": 1,
}

_LOCKED = (
    "left join (select distinct relation from pg_locks where mode = 'AccessExclusiveLock' and database = "
    "(select oid from pg_database where datname = current_database())) locked on locked.relation = c.oid"
)


def _size(prefix: str) -> str:
    pages = f"{prefix}.relpages::bigint * current_setting('block_size')::bigint"
    asked = f"locked.relation is null and ({prefix}.oid >= 16384 or {prefix}.oid in (2613, 2683))"
    return f"coalesce(case when {asked} then pg_relation_size({prefix}.oid) else {pages} end, 0)"


_DETAIL = _select(
    "detail",
    (
        "current_database()",
        "count(*)",
        # a table lies together with its TOAST table
        "coalesce(max(case when relkind in ('r', 'm') then bytes + toast end), 0)",
        "coalesce(sum(case when relkind = 'i' then bytes end), 0)",
    ),
    f"from (select c.relkind, case when c.relkind in ('r', 'i', 'm') then {_size('c')} end as bytes, "
    "coalesce(case when locked.relation is null "
    "then pg_relation_size(nullif(c.reltoastrelid, 0::oid)) end, 0) as toast "
    f"from pg_class c {_LOCKED} where c.relkind in ('r', 'i', 'm', 't', 'S')) sized",
)

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
_KEYS = (
    f"select indexrelid as id, coalesce(nullif(indcollation[n], 0), {_RANGE}) as coll "
    "from (select indexrelid, indcollation, indclass, generate_subscripts(indcollation, 1) as n from pg_index i "
    "join pg_class x on x.oid = i.indexrelid and x.relkind = 'i' and x.relnamespace <> 99 "
    "join pg_am a on a.oid = x.relam and a.amname not in ('hash', 'spgist', 'bloom') where indexrelid >= 16384) i "
    "join pg_opclass o on o.oid = indclass[n] and o.opcname !~ '(_pattern|_trgm|_bloom)_ops$'"
)
_INDEXES = (
    "select case con.contype when 'p' then 'primary key' when 'x' then 'exclusion constraint' else "
    "case when i.indisunique then 'unique index' else 'index' end end as kind, "
    f"xn.nspname || '.' || c.relname as name, t.relname as tab, k.coll, {_size('c')} as bytes, c.oid as id "
    f"from (select distinct id, coll from ({_KEYS}) k0) k join pg_class c on c.oid = k.id {_LOCKED} "
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
    f"select coalesce(sum({_size('c')}), 0)::bigint from part join pg_class c on c.oid = part.inhrelid "
    f"and c.relkind = 'r' {_LOCKED}), t.oid "
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
        f"where provider = 'c' and locale ~ '{_LOCALE}') lines (text, bytes) order by bytes desc;",
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
    Query(
        _select("extension", ("extname", "extversion"), "from pg_extension where oid >= 16384 order by extname"),
        since=901,
    ),
    Query(
        _select(
            "library",
            ("probin", "count(*)", "min(proname::text)"),
            "from pg_proc where probin is not null and probin <> '' and oid >= 16384 group by probin order by probin",
        ),
        since=900,
    ),
    Query(
        _select(
            "library",
            ("encode(probin, 'escape')", "count(*)", "min(proname::text)"),
            "from pg_proc where probin is not null and probin <> '-' and oid >= 16384 group by probin",
        ),
        before=900,
    ),
    *(_ordered(*each) for each in _COLLATIONS),
    Query(
        _select("unlogged", ("count(*)",), "from pg_class where relpersistence = 'u' and relkind in ('r', 'i')"),
        since=901,
    ),
    Query(_select("publications", ("count(*)",), "from pg_publication"), since=1000),
    Query(f"select {as_line('whole', 'current_database()')};"),
)
"""For one database, in one transaction that the last line ends: without it, what came before is not whole."""

EACH_DATABASE_KINDS = {
    "detail": 4,
    "extension": 2,
    "library": 3,
    "collation": 7,
    "ordered": 5,
    "unlogged": 1,
    "publications": 1,
    "whole": 1,
}
