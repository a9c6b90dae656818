"""Every candidate looked into, and what was found put together as clusters.

One script for all of them (resources/sh/cluster_facts.sh): with the rights of the round trip it says which folder a
candidate really is, as that folder's owner it runs the sections of `CLUSTER`. Any account of a host can put up what
looks like a cluster: what its owner says counts for it alone.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from core.errors import ParseError
from core.facts import sections
from core.facts.cluster_configuration import CONFIGURATION_FILES, START_FILES
from core.facts.control_data import parse_control_data
from core.facts.data_files import IRREGULAR_FILES, LINKS, SIZE, WRITTEN, total_size
from core.facts.databases import FILE_SETTINGS, SQL, catalog_gaps, parse_settings, query_calls
from core.facts.discovery import Candidate, merge_two
from core.facts.kernel import PROCESS
from core.facts.model import Cluster, ControlData, Gap
from core.facts.parsing import first_line, lines_of, parse_assignments, parse_whole_number, unreadable_error
from core.facts.reader import Reader, require_success
from core.facts.sections import Answer, Section, decode_hexadecimal, functions_of
from core.facts.versions import parse_version
from core.servers.shell import Shell, calls, with_program, with_settings


@dataclass(frozen=True, slots=True)
class Found:
    """What the second round trip brought, and the text it was read from by title."""

    clusters: tuple[Cluster, ...]
    gaps: tuple[Gap, ...]
    raw: dict[str, str]
    collation_order: dict[str, str] = field(default_factory=dict)


_SLACK = 10
"""Seconds that a candidate may take besides its sections: it looks for its programs."""
MOST = 100
"""Candidates that are looked into: whoever starts processes on a host makes as many as they like."""
_INSIDE = "inside"


def clusters_script(
    mark: str,
    marks: Sequence[str],
    candidates: Sequence[Candidate],
    postmasters: Sequence[int] = (),
    database_user: str = "postgres",
) -> Shell:
    """The script that looks into every candidate; each section's name begins with the candidate's number.

    Args:
        mark: of what the round trip's own user says.
        marks: of each candidate's owner, as many as candidates.
        postmasters: the process ids of all running servers, which are held against each folder: one in a container
            may serve a folder of the host under another name, and its postmaster.pid means nothing outside.
        database_user: who owns clusters there; below 100 no other account but `postgres` does.
    """
    asked = " ".join(f"{section.name} {section.deadline} {section.runs[0]}" for section in CLUSTER)
    settings = {
        "cluster_postmasters": " ".join(map(str, postmasters)),
        "cluster_settings": " ".join(name for name in FILE_SETTINGS if name != "data_directory"),
        "cluster_sections": asked,
        "cluster_seconds": str(sum(section.deadline for section in CLUSTER) + _SLACK),
        "cluster_user": database_user,
    }
    looks = (
        ("examine_cluster", number, own, _escaped(one.folder), _plain(one.config_file), _plain(one.bin_directory))
        for number, (own, one) in enumerate(zip(marks, candidates, strict=True))
    )
    lines = with_settings(settings, calls(("clusters_begin", mark), *query_calls(), *looks))
    return with_program(["run_isolated", "run_as_owner", "cluster_inside", *functions_of((PLACE, *CLUSTER))], lines)


def section_names(candidates: Sequence[Candidate]) -> list[str]:
    """Return the names of the sections that the user of the round trip itself answers."""
    return [f"{number}/{name}" for number in range(len(candidates)) for name in (PLACE.name, _INSIDE)]


def _escaped(folder: str) -> str:
    """Return the path for printf's %b: line breaks and bytes that are not text become octal numbers."""
    if folder.isprintable():
        return folder.replace("\\", "\\\\")
    return "".join(f"\\0{byte:03o}" for byte in folder.encode("utf-8", "surrogateescape"))


def _plain(path: str | None) -> str:
    """A path that came along with a candidate; a strange one is done without."""
    # it is a hint alone: the usual places are looked at anyway
    return path if path is not None and path.isprintable() else ""


def parse_owner_answers(marks: Sequence[str], answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Return the answers to `clusters_script` by candidate and section, such as `0/place` or `0/identity`."""
    found: dict[str, Answer] = {}
    names = [section.name for section in CLUSTER]
    for number, mark in enumerate(marks):
        place, inside = answers.get(f"{number}/{PLACE.name}"), answers.get(f"{number}/{_INSIDE}")
        if place is not None:
            found[place.name] = place
        if inside is None:
            continue
        try:
            answered = sections.parse_answers(mark, names, inside.output, inside.complaint)
        except ParseError as error:
            found[f"{number}/{PLACE.name}"] = Answer(PLACE.name, b"", error.message, 1)
        else:
            found |= {f"{number}/{name}": answer for name, answer in answered.items()}
    return found


def read_clusters(candidates: Sequence[Candidate], answers: Mapping[str, Answer]) -> Found:
    """Return the clusters among the candidates, from the result of `parse_owner_answers`."""
    gaps: list[Gap] = []
    raw: dict[str, str] = {}
    places: dict[str, tuple[_Place, Candidate, int]] = {}
    for number, candidate in enumerate(candidates):
        try:
            place = _place(require_success(answers.get(f"{number}/place")).text)
        except ParseError as error:
            gaps.append(_unresolved_folder(candidate.folder, error.message, answers.get(f"{number}/place")))
            continue
        # two names may lead to one folder: a link, a bind mount, /var/lib/pgsql and its target
        known = places.get(place.id)
        places[place.id] = (
            (place, candidate, number) if known is None else (known[0], merge_two(known[1], candidate), known[2])
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


def _unresolved_folder(folder: str, reason: str, answer: Answer | None) -> Gap:
    absent = answer is not None and answer.absent
    return Gap(PLACE.name, f"data directory {folder}", reason, folder, absent)


@dataclass(frozen=True, slots=True)
class _Place:
    id: str
    folder: str
    owner: str | None
    uid: int | None


def _place(text: str) -> _Place:
    """Return the real folder of a candidate."""
    values = parse_assignments(lines_of(text))
    try:
        owner = values["owner"]
        return _Place(
            values["id"],
            decode_hexadecimal(values["folder"]),
            None if owner == "UNKNOWN" else owner,
            parse_whole_number(values.get("uid")),
        )
    except (KeyError, ValueError) as error:
        raise unreadable_error("folder", "its id, owner and path", first_line(text)) from error


def _cluster(
    place: _Place, candidate: Candidate, answers: Mapping[str, Answer], sums: dict[str, str]
) -> tuple[Cluster | None, list[Gap]]:
    """Return what could be read of the cluster; None if it is no data directory or must not be read."""
    reader = Reader(answers, of=place.folder)
    identity = reader.read(IDENTITY)
    # without PG_VERSION nothing else in it says anything about a cluster
    if identity is None:
        return None, reader.gaps
    control = reader.read(replace(CONTROL, parse=partial(_control, major_version=identity.major_version)))
    own = reader.read(SIZE)
    contents = reader.read(LINKS)
    written = reader.read(WRITTEN) if identity.running else None
    # A running server tells the settings in force by SQL. Without its answer, the server program computes them from the
    # files (`postgres -C`).
    sql = reader.read(SQL) if identity.running else None
    if sql is not None:
        sums |= sql.collation_order
        reader.gaps += catalog_gaps(sql, answers["sql"].complaint, place.folder)
    settings = sql.settings if sql is not None else reader.read(SETTINGS) or {}
    process = reader.read(PROCESS) if identity.running else None
    files = reader.read(START_FILES)
    mode, odd = reader.read(IRREGULAR_FILES) or (None, None)
    weight = total_size(place.folder, own, contents) if own is not None and contents is not None else None
    cluster = Cluster(
        data_directory=place.folder,
        series=identity.major_version,
        # the running server's own word; its binaries may have been replaced since it was started
        version=settings.get("server_version", "").partition(" ")[0] or identity.version,
        running=identity.running,
        port=identity.port if identity.running else parse_whole_number(settings.get("port")),
        owner=place.owner,
        name=candidate.name,
        found_by=candidate.found_by,
        bin_directory=identity.bin_directory,
        config_file=settings.get("config_file") or candidate.config_file or identity.start_files.get("config_file"),
        hba_file=settings.get("hba_file") or None,
        unit=candidate.unit,
        unit_user=candidate.unit_user,
        socket_directory=identity.socket_directory or _first_folder(settings.get("unix_socket_directories")),
        control=control,
        size_bytes=weight[0] if weight is not None else None,
        files=weight[1] if weight is not None else None,
        written_bytes=written,
        tablespaces=contents.tablespaces if contents is not None else (),
        links=contents.links if contents is not None else (),
        settings=_with_control_settings(settings, control),
        databases=sql.databases if sql is not None else (),
        wide=sql.wide if sql is not None else None,
        leftovers=(*identity.leftovers, *(contents.leftovers if contents is not None else ())),
        product=identity.product,
        owner_uid=place.uid,
        mode=mode,
        process=process,
        irregular_files=odd,
        fenced=identity.fenced,
        copy_of=identity.copy_of,
        start_files=identity.start_files,
        lost_start_files=identity.lost_start_files,
        start_complaints=files.complaints if files is not None else None,
        edited=files.edited if files is not None and identity.running and not files.complaints else None,
        configuration_files=reader.read(CONFIGURATION_FILES),
        options=files.options if files is not None and identity.running and not files.complaints else None,
    )
    return cluster, reader.gaps


def _control(text: str, major_version: str | None = None) -> ControlData:
    """Return the control data, unless a pg_controldata of another major version printed it: it misreads the fields."""
    head, _, rest = text.partition("\n")
    tool = parse_version(head.removeprefix("tool=")) if head.startswith("tool=") else None
    if tool is None:
        raise unreadable_error("pg_controldata", "its version", first_line(text))
    if major_version is not None and tool.series != major_version:
        raise ParseError(
            f"pg_controldata {tool.version} is of another series than the cluster, {major_version}: it is not believed"
        )
    return replace(parse_control_data(rest), read_by=tool.version)


@dataclass(frozen=True, slots=True)
class _Identity:
    major_version: str
    version: str | None
    bin_directory: str | None
    running: bool
    port: int | None
    socket_directory: str | None
    leftovers: tuple[str, ...]
    product: str | None
    fenced: bool
    copy_of: str | None
    start_files: dict[str, str]
    lost_start_files: dict[str, str]


def _identity(text: str) -> _Identity:
    """Return what PG_VERSION, postmaster.pid and the programs say; a program of another version is ignored."""
    values = parse_assignments(lines_of(text))
    major_version = values.get("series", "")
    if re.fullmatch(r"[0-9]{1,2}(\.[0-9]{1,2})?", major_version) is None:
        raise unreadable_error("PG_VERSION", "a series such as 15 or 9.6", first_line(text))
    version = parse_version(values["version"]) if values.get("version") else None
    # a program beside it may be of another series: it must not speak for this cluster
    fits = version is not None and version.series == major_version
    try:
        programs, socket, named, lost = (
            decode_hexadecimal(values.get(name, "")) for name in ("bin", "socket", "named", "lost")
        )
    except ValueError as error:
        raise unreadable_error("data directory", "hexadecimal digits", first_line(text)) from error
    running = bool(values.get("pid"))
    lying = (line.partition(" ")[2] for line in lines_of(text) if line.startswith("leftover "))
    return _Identity(
        major_version=major_version,
        version=version.version if version is not None and fits else None,
        bin_directory=programs if programs and fits else None,
        running=running,
        port=parse_whole_number(values.get("port")),
        socket_directory=socket or None,
        # a running server has its lock file by right
        leftovers=tuple(name for name in lying if not (name == "postmaster.pid" and running)),
        product=values.get("fork") or (version.product if version is not None else None),
        fenced=bool(values.get("fenced")),
        copy_of=values.get("copy") or None,
        start_files=parse_assignments(lines_of(named)),
        lost_start_files=parse_assignments(lines_of(lost)),
    )


def _with_control_settings(settings: Mapping[str, str], control: ControlData | None) -> dict[str, str]:
    """Return the settings with the two that only the control file contains without a lock."""
    if control is None:
        return dict(settings)
    # `postgres -C` computes these two by locking the data directory, which a look must not do
    from_control = {"wal_segment_size": str(control.wal_segment_size)}
    if control.data_checksums is not None:
        from_control["data_checksums"] = "on" if control.data_checksums else "off"
    return {name: value for name, value in settings.items() if name != "server_version"} | from_control


def _first_folder(folders: str | None) -> str | None:
    """Return the first folder of `unix_socket_directories`; an abstract socket (@…) has none."""
    first = (folders or "").split(",")[0].strip().strip('"')
    # an abstract socket has no folder that psql's PGHOST could name
    return first if first.startswith("/") else None


PLACE = Section("place", "data directory", ("cluster_place",), _place)
IDENTITY = Section("identity", "version", ("cluster_identity",), _identity)
CONTROL = Section("control", "control data", ("cluster_control",), _control)
SETTINGS = Section("settings", "settings", ("cluster_file_settings",), parse_settings, deadline=20)
CLUSTER: tuple[Section[Any], ...] = (
    *(IDENTITY, CONTROL, SIZE, WRITTEN, LINKS, PROCESS, IRREGULAR_FILES),
    *(SQL, SETTINGS, START_FILES, CONFIGURATION_FILES),  # what SQL told is not asked of the files again
)
"""All sections of a cluster, in their order; a function that one runs reads what `cluster_open` found, and no words."""
