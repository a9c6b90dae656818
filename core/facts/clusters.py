"""Every candidate looked into, and what was found put together as clusters.

One script for all of them: for each candidate an outer part, with the rights of the round trip, says which folder it
really is; the inner part runs as the folder's owner, because PostgreSQL's programs refuse root, and because no program
that a data directory leads to should run with more rights than its owner has. Everything only reads.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import LiteralString

from core.errors import ParseError
from core.facts.control_data import parse_control_data
from core.facts.databases import FILE_SETTINGS, catalog_gaps, parse_settings, parse_sql
from core.facts.databases import SECTION as SQL
from core.facts.discovery import Candidate, both
from core.facts.irregular_files import SECTION as IRREGULAR_FILES
from core.facts.irregular_files import parse_irregular_files
from core.facts.model import Cluster, ControlData, Gap
from core.facts.processes import PROCESS, parse_process
from core.facts.reading import Reader, expect
from core.facts.sections import Answer, Section, hexadecimal, prelude
from core.facts.sizes import LINKS, SIZE, SUM, WRITTEN, parse_links, parse_size, parse_written, total
from core.facts.text import assignments, first_line, unreadable, whole
from core.facts.versions import parse_version
from core.servers.shell import Shell, command, script, sequence

PLACE = Section(
    "place",
    script("""fail() { echo "$1" >&2; exit "${2:-3}"; }
complaint=$(ls -d -- "$folder" 2>&1 >/dev/null) || case $complaint in
  *"No such file"*) fail "there is no such folder" 4 ;;
  *"ermission denied"*) fail "$(id -un) may not see it: that needs root" ;;
  *) fail "$complaint" ;;
esac
test -d "$folder" || fail "it is no folder"
test -x "$folder" || fail "$(id -un) may not enter it: that needs root or its owner"
cd -P -- "$folder" || exit
stat -c "id=%d:%i
uid=%u
owner=%U" .
echo "folder=$(printf %s "$PWD" | od -An -v -tx1 | tr -d " \\n")\""""),
)

# Programs are believed only when they are of PG_VERSION's series. The running server's own come first.
_LOOK = script("""hex() { od -An -v -tx1 | tr -d " \\n"; }
limited() { if test "$limits" = yes; then timeout -k 1 5 "$@"; else "$@"; fi; }
series= pid= port= socket= bin= version= tried= running=
read -r series <"$folder/PG_VERSION"
case $series in *[!0-9.]*) series= ;; esac
if test -r "$folder/postmaster.pid"; then
  { read -r pid; read -r line; read -r line; read -r port; read -r socket; } <"$folder/postmaster.pid"
fi
case $pid in *[!0-9]*) pid= ;; esac
case $port in *[!0-9]*) port= ;; esac
for candidate in $pid $postmasters; do
  pid=
  if test "/proc/$candidate/cwd" -ef "$folder"; then pid=$candidate; break; fi
done
if test -n "$pid"; then running=$(readlink "/proc/$pid/exe") && running=${running%/*}; fi
for place in "$running" "$programs" "/usr/lib/postgresql/$series/bin" "/usr/pgsql-$series/bin" \\
  "/usr/lib/postgresql$series/bin" "/usr/libexec/postgresql$series" /usr/local/pgsql*/bin /usr/local/*/bin \\
  /opt/*/bin /opt/*/*/bin /usr/local/bin /usr/bin; do
  test -n "$series" && test -n "$place" || continue
  test -x "$place/postgres" && program=$place/postgres || program=$place/pg_controldata
  test -x "$program" || continue
  answer=$(limited "$program" --version </dev/null 2>/dev/null)
  tried="$tried $place"
  case $answer in
    *") $series" | *") $series"[!0-9]*) bin=$place version=$answer; break ;;
  esac
done
export folder series pid port socket bin version tried sum config""")

IDENTITY = Section(
    "identity",
    script("""fail() { echo "$1" >&2; exit "${2:-3}"; }
test -r "$folder" || fail "$(id -un) may not read it: that needs root or its owner"
test -n "$(ls -A -- "$folder")" || fail "it is empty" 4
test -e "$folder/PG_VERSION" || fail "it is no data directory: it holds no PG_VERSION"
test -r "$folder/PG_VERSION" || fail "$(id -un) may not read its PG_VERSION: that needs root or its owner"
test -n "$series" || head -c 200 "$folder/PG_VERSION"
echo "series=$series"
echo "pid=$pid"
echo "port=$port"
echo "version=$version"
echo "bin=$(printf %s "$bin" | od -An -v -tx1 | tr -d " \\n")"
echo "socket=$(printf %s "$socket" | od -An -v -tx1 | tr -d " \\n")"
for name in postmaster.pid backup_label backup_label.old tablespace_map standby.signal recovery.signal recovery.conf \\
  recovery.done promote; do
  test ! -e "$folder/$name" || echo "leftover $name"
done
test ! -e "$folder/gp_dbid" && test ! -e "$folder/internal.auto.conf" || echo "fork=Greenplum"
test ! -e "$folder/gaussdb.state" && test ! -e "$folder/mot.conf" || echo "fork=openGauss"
test ! -d "$folder/dbms_pipe" || echo "fork=EDB Postgres Advanced Server"
true"""),
)
CONTROL = Section(
    "control",
    script("""if test -z "$bin"; then
  echo "no programs of series ${series:-unknown} were found${tried:+, only other ones in$tried}" >&2
  exit 3
fi
test -x "$bin/pg_controldata" || { echo "$bin holds no pg_controldata" >&2; exit 3; }
"$bin/pg_controldata" --version | sed "s/^/tool=/"
"$bin/pg_controldata" "$folder\""""),
)
# A setting that the series does not have yet is an error of its own and no gap; each one costs the start of a program.
SETTINGS = Section(
    "settings",
    script(
        """test -x "$bin/postgres" || { echo "no server program of series ${series:-unknown} was found" >&2; exit 3; }
names=@names@
ask() {
  value=$("$bin/postgres" -C "$1" -D "$folder" ${config:+-c "config_file=$config"}) || return
  echo "$1=$(printf %s "$value" | od -An -v -tx1 | tr -d " \\n")"
}
ask data_directory || exit
several=0
for name in $names; do
  ask "$name" 2>/dev/null &
  several=$((several + 1))
  test $((several % 4)) -ne 0 || wait
done
wait
true""",
        names=" ".join(name for name in FILE_SETTINGS if name != "data_directory"),
    ),
    deadline=20,
)

_LOOKS = (IDENTITY, CONTROL, SIZE, WRITTEN, LINKS, PROCESS, IRREGULAR_FILES)

# A running cluster is asked by SQL; where that fails, and for a stopped one, the server program reads its settings.
_ASK = sequence(
    script("status=1"),
    script(
        'test -z "$pid" || section sql @deadline@ @body@\n'
        'test "$pid" && test "$status" = 0 || section settings @settings_deadline@ @settings@',
        deadline=SQL.deadline,
        body=SQL.shell,
        settings_deadline=SETTINGS.deadline,
        settings=SETTINGS.shell,
    ),
)

# $folder, $config and $programs are set ahead of each call of `cluster`.
_OUTER: LiteralString = """place=@place@ inner=@inner@ sum=@sum@ postmasters=@postmasters@ seen=
as_owner() {
  if test "$(id -u)" -ne 0 || test "$uid" = 0; then sh -c "$inner"
  elif command -v setpriv >/dev/null; then
    if test "$owner" = UNKNOWN; then groups=--clear-groups; else groups=--init-groups; fi
    setpriv --reuid="$uid" --regid="$gid" "$groups" sh -c "$inner"
  elif command -v runuser >/dev/null; then runuser -u "$owner" -- sh -c "$inner"
  else su -s /bin/sh -c "$inner" "$owner"
  fi
}
cluster() {
  prefix=$1/
  export folder config programs postmasters prefix sum
  section place 5 "$place"
  test "$status" = 0 || return 0
  if cd -P -- "$folder" 2>/dev/null; then folder=$PWD; else return 0; fi
  set -- $(stat -c "%d:%i %u %g %U" .)
  cd /
  id=$1 uid=$2 gid=$3 owner=$4
  case " $seen " in *" $id "*) return 0 ;; esac
  seen="$seen $id"
  as_owner
  return 0
}"""


@dataclass(frozen=True, slots=True)
class Found:
    """What the second round trip brought, and the text it was read from by title."""

    clusters: tuple[Cluster, ...]
    gaps: tuple[Gap, ...]
    raw: dict[str, str]
    collation_order: dict[str, str] = field(default_factory=dict)


def clusters_script(mark: str, candidates: Sequence[Candidate], postmasters: Sequence[int] = ()) -> Shell:
    """The script that looks into every candidate; each section's name begins with the candidate's number.

    `postmasters`, the process ids of all running servers, are held against each folder: one in a container may serve
    a folder of the host under another name, and leaves a postmaster.pid whose number means nothing outside.
    """
    looked = (command("section", one.name, one.deadline, one.shell) for one in _LOOKS)
    inner = sequence(prelude(mark), _LOOK, *looked, _ASK)
    outer = script(_OUTER, place=PLACE.shell, inner=inner, sum=SUM, postmasters=" ".join(map(str, postmasters)))
    calls = (_call(number, candidate) for number, candidate in enumerate(candidates))
    return sequence(prelude(mark), outer, *calls)


def _call(number: int, candidate: Candidate) -> Shell:
    return sequence(
        _assigned_folder(candidate.folder),
        script(
            "config=@config@ programs=@programs@",
            config=_plain(candidate.config_file),
            programs=_plain(candidate.bin_directory),
        ),
        command("cluster", number),
    )


def _assigned_folder(folder: str) -> Shell:
    """`folder=…`; a name with a line break or with bytes that are no text goes as octal numbers and comes out whole."""
    if folder.isprintable():
        return script("folder=@folder@", folder=folder)
    octal = "".join(f"\\0{byte:03o}" for byte in folder.encode("utf-8", "surrogateescape"))
    return script('folder=$(printf "%b_" @octal@)\nfolder=${folder%_}', octal=octal)


def _plain(path: str | None) -> str:
    """A path that came along with a candidate; a strange one is done without."""
    return path if path is not None and path.isprintable() else ""


def read_clusters(candidates: Sequence[Candidate], answers: Mapping[str, Answer]) -> Found:
    """The clusters among the candidates, from the answers to `clusters_script`."""
    gaps: list[Gap] = []
    raw: dict[str, str] = {}
    places: dict[str, tuple[_Place, Candidate, int]] = {}
    for number, candidate in enumerate(candidates):
        try:
            place = _place(answers.get(f"{number}/place"))
        except ParseError as error:
            gaps.append(_no_place(candidate.folder, error.message, answers.get(f"{number}/place")))
            continue
        known = places.get(place.id)
        places[place.id] = (
            (place, candidate, number) if known is None else (known[0], both(known[1], candidate), known[2])
        )
    found = []
    sums: dict[str, str] = {}
    for place, candidate, number in places.values():
        of_cluster = {
            name.partition("/")[2]: answer for name, answer in answers.items() if name.startswith(f"{number}/")
        }
        raw |= {f"{place.folder}: {name}": answer.shown for name, answer in of_cluster.items() if name != "place"}
        cluster, of_this = _cluster(place, candidate, of_cluster, sums)
        gaps += of_this
        found += [cluster] if cluster is not None else []
    return Found(tuple(sorted(found, key=lambda one: one.data_directory)), tuple(gaps), raw, sums)


def _no_place(folder: str, reason: str, answer: Answer | None) -> Gap:
    absent = answer is not None and answer.absent
    return Gap(PLACE.name, f"data directory {folder}", reason, folder, absent)


@dataclass(frozen=True, slots=True)
class _Place:
    id: str
    folder: str
    owner: str | None
    uid: int | None


def _place(answer: Answer | None) -> _Place:
    """Which folder a candidate really is; raises ParseError with the reason where it cannot be entered."""
    values = assignments(expect(answer).text.splitlines())
    try:
        owner = values["owner"]
        return _Place(
            values["id"], hexadecimal(values["folder"]), None if owner == "UNKNOWN" else owner, whole(values.get("uid"))
        )
    except (KeyError, ValueError) as error:
        raise unreadable("folder", "its id, owner and path", first_line(expect(answer).text)) from error


def _cluster(
    place: _Place, candidate: Candidate, answers: Mapping[str, Answer], sums: dict[str, str]
) -> tuple[Cluster | None, list[Gap]]:
    """The cluster with what could be read of it; None where it is no data directory or must not be read at all."""
    reader = Reader(answers, of=place.folder)
    identity = reader.read("identity", "version", _identity)
    if identity is None:
        return None, reader.gaps
    control = reader.read("control", "control data", partial(_control, series=identity.series))
    own = reader.read("size", "size", parse_size)
    contents = reader.read("links", "links and tablespaces", parse_links)
    written = reader.read("written", "files written to in the last hour", parse_written) if identity.running else None
    sql = reader.read("sql", "databases and settings in force", parse_sql) if identity.running else None
    if sql is not None:
        sums |= sql.collation_order
        reader.gaps += catalog_gaps(sql, answers["sql"].complaint, place.folder)
    settings = sql.settings if sql is not None else reader.read("settings", "settings", parse_settings) or {}
    process = reader.read("process", "server process", parse_process) if identity.running else None
    mode, odd = reader.read("irregular-files", "kinds of files", parse_irregular_files) or (None, None)
    weight = total(place.folder, own, contents) if own is not None and contents is not None else None
    cluster = Cluster(
        data_directory=place.folder,
        series=identity.series,
        version=settings.get("server_version", "").partition(" ")[0] or identity.version,
        running=identity.running,
        port=identity.port if identity.running else whole(settings.get("port")),
        owner=place.owner,
        name=candidate.name,
        found_by=candidate.found_by,
        bin_directory=identity.bin_directory,
        config_file=settings.get("config_file") or candidate.config_file,
        hba_file=settings.get("hba_file") or None,
        unit=candidate.unit,
        socket_directory=identity.socket_directory or _first_folder(settings.get("unix_socket_directories")),
        control=control,
        size_bytes=weight[0] if weight is not None else None,
        files=weight[1] if weight is not None else None,
        written_bytes=written,
        tablespaces=contents.tablespaces if contents is not None else (),
        links=contents.links if contents is not None else (),
        settings=_with_control(settings, control),
        databases=sql.databases if sql is not None else (),
        wide=sql.wide if sql is not None else None,
        leftovers=(*identity.leftovers, *(contents.leftovers if contents is not None else ())),
        product=identity.product,
        owner_uid=place.uid,
        mode=mode,
        process=process,
        irregular_files=odd,
    )
    return cluster, reader.gaps


def _control(text: str, series: str) -> ControlData:
    """The control data, with the tool that printed it: one of another series reads fields where there are none."""
    head, _, rest = text.partition("\n")
    tool = parse_version(head.removeprefix("tool=")) if head.startswith("tool=") else None
    if tool is None:
        raise unreadable("pg_controldata", "its version", first_line(text))
    if tool.series != series:
        raise ParseError(
            f"pg_controldata {tool.version} is of another series than the cluster, {series}: it is not believed"
        )
    return replace(parse_control_data(rest), read_by=tool.version)


@dataclass(frozen=True, slots=True)
class _Identity:
    series: str
    version: str | None
    bin_directory: str | None
    running: bool
    port: int | None
    socket_directory: str | None
    leftovers: tuple[str, ...]
    product: str | None


def _identity(text: str) -> _Identity:
    """What PG_VERSION, postmaster.pid and the programs say; a program of another series is not believed."""
    values = assignments(text.splitlines())
    series = values.get("series", "")
    if re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,2})?", series) is None:
        raise unreadable("PG_VERSION", "a series such as 15 or 9.6", first_line(text))
    version = parse_version(values["version"]) if values.get("version") else None
    fits = version is not None and version.series == series
    try:
        programs, socket = hexadecimal(values.get("bin", "")), hexadecimal(values.get("socket", ""))
    except ValueError as error:
        raise unreadable("data directory", "hexadecimal digits", first_line(text)) from error
    running = bool(values.get("pid"))
    lying = (line.partition(" ")[2] for line in text.splitlines() if line.startswith("leftover "))
    return _Identity(
        series=series,
        version=version.version if version is not None and fits else None,
        bin_directory=programs if programs and fits else None,
        running=running,
        port=whole(values.get("port")),
        socket_directory=socket or None,
        leftovers=tuple(name for name in lying if not (name == "postmaster.pid" and running)),
        product=values.get("fork") or (version.product if version is not None else None),
    )


def _with_control(settings: Mapping[str, str], control: ControlData | None) -> dict[str, str]:
    """The settings, with the two that the control file alone tells without a lock."""
    if control is None:
        return dict(settings)
    from_control = {"wal_segment_size": str(control.wal_segment_size)}
    if control.data_checksums is not None:
        from_control["data_checksums"] = "on" if control.data_checksums else "off"
    return {name: value for name, value in settings.items() if name != "server_version"} | from_control


def _first_folder(folders: str | None) -> str | None:
    """The first of `unix_socket_directories`, a list with commas; an abstract one (@…) is no folder."""
    first = (folders or "").split(",")[0].strip().strip('"')
    return first if first.startswith("/") else None
