"""The fields of facts have new names, the field's own terms, and a gap has its section: documents take both."""

import json
import re
from typing import Any

import sqlalchemy as sa
from alembic import op

from core.history.types import LongText

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

FACTS = {"surroundings": "host_environment", "holdings": "target_entries", "sorted": "collation_order"}
HOST_ENVIRONMENT = {"companions": "ha_and_poolers", "guards": "security_policy"}
CLUSTER = {"oddities": "irregular_files"}
SECTIONS = {
    "block devices": "block-devices",
    "block queues": "block-queues",
    "md arrays": "arrays",
    "space of file systems": "space",
    "inodes of file systems": "inodes",
    "geometry of file systems": "geometry",
    "network links": "network",
    "pg_lsclusters": "debian-clusters",
    "systemd units": "units",
    "running servers": "postmasters",
    "common folders": "folders",
    "time synchronisation": "time-sync",
    "users": "accounts",
    "cluster managers and poolers": "ha-and-poolers",
    "cron jobs": "schedules",
    "what starts by itself": "autostart",
    "SELinux and AppArmor": "security-policy",
    "kernel abilities": "kernel",
    "health of disks": "disk-health",
    "ZFS file systems": "datasets",
    "virtual addresses": "virtual-addresses",
    "order of text": "collation-order",
    "folders to copy to": "target-entries",
    "trial cluster": "trial-cluster",
    "data directory": "place",
    "version": "identity",
    "control data": "control",
    "links and tablespaces": "links",
    "files written to in the last hour": "written",
    "databases and settings in force": "sql",
    "server process": "process",
    "kinds of files": "irregular-files",
}
"""By the words that a gap's subject began with; one that is not here is its section's name itself."""
SUBJECT = re.compile(r"(?P<words>data directory) (?P<of>/.*)|(?P<what>[^/]*) of (?P<folder>/.*)", re.DOTALL)
WITH_MORE = {"running server ": "postmasters", "file system ": "space", "rights of ": "rights", "catalogs of ": "sql"}
"""Subjects that name something besides a data directory, by how they begin."""
ABSENT = ("there is no such folder", "it is empty")


def upgrade() -> None:
    rows = sa.table("facts", sa.column("id", sa.Integer), sa.column("document", LongText))
    connection = op.get_bind()
    # One document after the other: a history may hold more of them than should be in memory at once.
    for number in connection.scalars(sa.select(rows.c.id)).all():
        mine = rows.c.id == number
        found = json.loads(connection.scalars(sa.select(rows.c.document).where(mine)).one())
        document = json.dumps(_facts(found), ensure_ascii=False)
        connection.execute(rows.update().where(mine).values(document=document))


def _facts(found: dict[str, Any]) -> dict[str, Any]:
    facts = _renamed(found, FACTS)
    if "host_environment" in facts:
        facts["host_environment"] = _renamed(facts["host_environment"], HOST_ENVIRONMENT)
    for clusters in ("clusters", "trials"):
        if clusters in facts:
            facts[clusters] = [_renamed(cluster, CLUSTER) for cluster in facts[clusters]]
    facts["gaps"] = [_gap(gap) for gap in facts.get("gaps", ())]
    return facts


def _renamed(found: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(name, name): value for name, value in found.items()}


def _gap(found: dict[str, Any]) -> dict[str, Any]:
    subject = found["subject"]
    parts = SUBJECT.fullmatch(subject)
    words = subject if parts is None else parts["words"] or parts["what"]
    of = "" if parts is None else parts["of"] or parts["folder"]
    more = next((section for start, section in WITH_MORE.items() if subject.startswith(start)), None)
    section = more or SECTIONS.get(words, words)
    return {**found, "section": section, "of": of, "absent": found["reason"] in ABSENT}
