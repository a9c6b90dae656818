"""What every step's text is made from, and a step before it has its number."""

from dataclasses import dataclass

from core.facts.model import Cluster, Facts
from core.facts.programs import program_path
from core.migration.model import Move, Verify
from core.migration.passage import Passage
from core.migration.places import Place
from core.servers.profiles import Profile
from core.servers.shell import Shell


@dataclass(frozen=True, slots=True)
class Site:
    """A move with everything that is known of both ends.

    Attributes:
        way: the passage of the copy.
        places: the folders to copy, the data directory first.
    """

    move: Move
    old: Profile
    new: Profile
    old_facts: Facts
    new_facts: Facts
    cluster: Cluster
    way: Passage
    places: tuple[Place, ...]
    verify: Verify = Verify.CHANGED

    @property
    def owner(self) -> str:
        """Who owns the cluster on old."""
        return self.cluster.owner or self.old.database_user

    @property
    def series(self) -> tuple[int, ...]:
        """The cluster's series in numbers: (15,), (9, 6); empty where it is none of PostgreSQL's."""
        parts = self.cluster.series.split(".")
        return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()

    @property
    def old_path(self) -> str:
        """The PATH of the cluster's programs on old."""
        return program_path(self.old_facts, self.cluster.series)

    @property
    def new_path(self) -> str:
        """The PATH of the cluster's programs on new."""
        return program_path(self.new_facts, self.cluster.series)

    @property
    def port(self) -> int:
        """The port of the first, local start: the cluster's own, or the next that no server of new uses."""
        taken = {cluster.port for cluster in self.new_facts.clusters if cluster.running}
        port = self.cluster.port or 5432
        while port in taken:
            port += 1
        return port

    def share(self, place: Place) -> float:
        """The place's share of the cluster's bytes; all places alike where their sizes are not known."""
        if not self.cluster.size_bytes or place.size_bytes is None:
            return 1 / len(self.places)
        return place.size_bytes / self.cluster.size_bytes


@dataclass(frozen=True, slots=True)
class Draft:
    """A step before it is numbered. `side` is `old`, `new` or `you`.

    Attributes:
        stage: the stage of the estimate whose time it takes a part of, by its weight among that stage's drafts; empty:
            the stage of the draft before it. What a person does takes no time that anything could tell.
        name: what other drafts and programs call it by; `reads`: the name of the draft whose output it reads; `agrees`:
            of the one whose output its own must equal.

    The other attributes are as Step has them.
    """

    title: str
    side: str
    user: str
    command: Shell | str
    reason: str
    undo: str = ""
    stage: str = ""
    weight: float = 1.0
    name: str = ""
    reads: str = ""
    stopped: bool = False
    point_of_no_return: bool = False
    skippable: bool = True
    warm_pass: int = 0
    detached: bool = False
    renewed: bool = False
    closes: bool = False
    beside: bool = False
    agrees: str = ""
    rehearsed: bool = False
    private: bool = False
    bytes: int | None = None
    listing: Shell | str = ""
    table: str = ""
    proves: bool = False


def undone(user: str, side: str, command: Shell) -> str:
    """The words of an undo: where, as whom, what."""
    return f"on {side} as {user}: {command}"
