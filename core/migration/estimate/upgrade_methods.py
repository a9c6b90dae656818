"""The estimates of a move to another major version: a warm copy, then pg_upgrade on the new server, by copies, clones
or links."""

from dataclasses import replace

from core.migration.estimate import assumptions
from core.migration.estimate.basis import Basis
from core.migration.estimate.copy_methods import warm_copy
from core.migration.estimate.draws import drawn, span
from core.migration.estimate.objects import created, dumped
from core.migration.estimate.stages import Part, Simulated, analyzer
from core.migration.model.move import Verify
from core.migration.model.plan import Phase

_BEHIND = frozenset({Phase.START, Phase.REINDEX, Phase.OPEN, Phase.AFTER})
"""Stages for which the cluster must be of the new version."""


def upgrades(known: Basis, checking: Verify = Verify.CHANGED) -> tuple[Simulated, ...]:
    """Of each way of pg_upgrade; none where both are of one major version, or that is not known."""
    old, new = known.spec.old.version, known.spec.new.version
    if old is None or new is None or old == new:
        return ()
    return tuple(_upgrade(known, mode, checking) for mode in ("copy", "clone", "link"))


def _upgrade(known: Basis, mode: str, checking: Verify) -> Simulated:
    """The warm copy with pg_upgrade before the new cluster is opened: the schema of each database, then its files."""
    copied = warm_copy(known, checking)
    before = [part for part in copied.parts if part.name not in _BEHIND]
    behind = [part for part in copied.parts if part.name in _BEHIND]
    twice = known.size if mode == "copy" else 0.0
    return replace(
        copied,
        name=f"pg-upgrade-{mode}",
        parts=(*before, pg_upgrade(known, mode), *_statistics(known), *behind),
        on_new=copied.on_new + twice,
        verify_all=None,
        looks=None,
        assumptions=(*copied.assumptions, _SAID[mode]),
    )


def _statistics(known: Basis) -> tuple[Part, ...]:
    """ANALYZE: pg_upgrade carries no statistics before 18, and without them plans are bad."""
    if (known.spec.new.version or 0) >= 18:
        return ()
    rate = analyzer(known)
    return (Part("analyze", rate.seconds(known.size), "new disk", rate.evidence),)


_SAID = {
    "copy": "pg_upgrade copies every file once more on the new server.",
    "clone": "pg_upgrade clones files. This needs a file system with reflinks on the new server (XFS, Btrfs).",
    "link": "pg_upgrade links files. After the cutover, the copy cannot go back to the old version.",
}


def pg_upgrade(known: Basis, mode: str) -> Part:
    """`start + objects dumped and created + files`: a copy reads and writes every byte on one disk, others a name
    each."""
    start = drawn("pg_upgrade", *assumptions.UPGRADE)
    schema = dumped(known, data=False) + created(known)
    if mode == "copy":
        # read and written on the same disk
        files = 2 * known.write.seconds(known.size)
    else:
        each = assumptions.CLONE_A_FILE if mode == "clone" else assumptions.LINK_A_FILE
        files = known.files * drawn("a link", *each)
    bound = {"new disk": span(files).likely, "new cpu": span(schema).likely, "round trips": span(start).likely}
    longest = max(bound, key=lambda name: bound[name])
    return Part("pg_upgrade", start + schema + files, longest, known.write.evidence if mode == "copy" else "assumed")
