"""What each database is asked: sizes, extensions, libraries of functions, and what lies in the order of a collation."""

from core.facts.queries import LOCALE, NEVER, Query, as_line, make_select

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
