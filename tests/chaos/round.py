"""One round: a move under load, a fault, a person who goes on, and the truth."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.chaos import cluster, traces, truth
from tests.chaos.clients import Clients
from tests.chaos.draw import ANEW, CANCEL, DRESS, RESUME, TRIES, Drawn, choose_option, ended, of_the_move, opened_at
from tests.chaos.faults import FAULTS, Fault, Place
from tests.chaos.workstation import Ended, HangsError

RATE = "400mbit"
"""Of the cables: a copy lasts long enough to be disturbed."""


@dataclass(frozen=True, slots=True)
class Played:
    """How a round came out.

    Attributes:
        moment: when the fault struck, in words.
        ending: `moved`, `taken back`, or `stuck`.
        wrong: a sentence for each thing that is not as it must be; none: nothing was lost.
        typed: the options that were given to `pghaul execute`, one after the other.
    """

    moment: str
    ending: str
    wrong: tuple[str, ...]
    typed: tuple[str, ...]
    seconds: float


@dataclass
class Striking:
    """A fault that waits for its moment, strikes, and may pass again, while a command runs."""

    place: Place
    fault: Fault
    drawn: Drawn
    steps: int
    moment: str = "never"
    struck: float | None = None
    _due: float | None = None
    _passed: bool = False
    _began: float = field(default_factory=time.monotonic)

    def look(self) -> None:
        """Do what is due now."""
        now = time.monotonic()
        if self.struck is None:
            self._await(now)
        elif self.fault.mended == "in a while" and now > self.struck + self.drawn.outage:
            self.mend()

    def mend(self) -> None:
        """Make it good again, once."""
        if self.struck is not None and not self._passed:
            self._passed = True
            self.fault.mend(self.place)

    def _await(self, now: float) -> None:
        wanted, step = self.drawn.step(self.steps), self.place.workstation.step()
        if self._due is None and self.drawn.within is not None:
            self._due = self._began + self.drawn.at * self.drawn.within
        if self._due is None and step >= wanted:
            self._due = now + self.drawn.later * (1 if wanted else 10)  # what runs ahead of the steps takes longer
        if self._due is not None and now >= self._due and self.fault.strike(self.place):
            self.struck = time.monotonic()
            self.moment = f"step {step} of {self.steps}, {self.struck - self._began:.1f} s"


def play(place: Place, drawn: Drawn, steps: int) -> Played:
    """Play a round on hosts that are as `cluster.create` left them, or as a round did."""
    began = time.monotonic()
    lab, fault = place.lab, FAULTS[drawn.fault]
    place.workstation.begin_anew()
    cluster.begin_anew(lab.old, lab.new)
    lab.shape(RATE)
    before = {host.name: traces.look(host) for host in (lab.old, lab.new)}
    fault.prepare(place)
    striking = Striking(place, fault, drawn, steps)
    wrong: list[str] = []
    try:
        with Clients(lab.old.address, lab.new.address) as clients:
            dressed = _dress(place, striking) if drawn.dressed else []
            if dressed:
                striking.mend()  # a rehearsal that has ended well does not wait for a host without power
                wrong += truth.undressed(lab)
            ending, typed, opened = _move(place, striking, ANEW if dressed else "")
            typed[:0] = dressed
            striking.mend()
            if ending == "taken back":
                _wait_for_a_row(clients)
        if ending == "moved":
            wrong += truth.moved(lab, clients, None if place.workstation.clock.exists() else opened)
        elif ending == "taken back":
            wrong += truth.taken_back(lab, clients)
        if ending != "stuck":
            _unlock_as_told(place)
            wrong += truth.clean(lab, before, ending)
            if drawn.restarts:
                wrong += truth.restarted(lab, ending, clients.committed)
    finally:
        striking.mend()
    if ending == "stuck":
        wrong.append(f"no way on: {typed[-1]}")
    return Played(striking.moment, ending, tuple(wrong), tuple(typed), time.monotonic() - began)


def _dress(place: Place, striking: Striking) -> list[str]:
    """A dress rehearsal, gone on with once where it fails, then given up: what was typed."""
    typed: list[str] = []
    for option in (DRESS, RESUME, CANCEL):
        typed.append(option)
        if _type(place, option, striking.look).status == 0:
            break
        striking.mend()
    return typed


def _move(place: Place, striking: Striking, first: str) -> tuple[str, list[str], str | None]:
    """Type until the move has ended, beginning with that option: how, what was typed, and when new was opened."""
    typed: list[str] = []
    said, execution = "", None
    try:
        for at in range(TRIES + 1):
            option = (choose_option(execution, striking.drawn.ways[at - 1]) if at else "") or first
            if at > 1 or (at and striking.drawn.patient):
                striking.mend()
            typed.append(option or "begin")
            done = _type(place, option, striking.look)
            _stop_as_told(place, done.said)
            said, execution = done.said, of_the_move(place.workstation.execution())
            if ended(execution) and execution is not None:
                return {"done": "moved"}.get(execution["state"], "taken back"), typed, opened_at(execution)
    except HangsError as error:
        typed.append(str(error))
        return "stuck", typed, None
    typed.append(said.strip().rpartition("\n")[2])
    return "stuck", typed, None


def _type(place: Place, option: str, meanwhile: Callable[[], None]) -> Ended:
    return place.workstation.execute(*([option] if option else []), meanwhile=meanwhile)


def _unlock_as_told(place: Place) -> None:
    """What pghaul said that it could not unlock, for its host had no power any more, a person does."""
    said = "\n".join(place.workstation.log)
    for path, name in re.findall(r"the lock (\S+) on (old|new) could not be removed", said):
        getattr(place.lab, name).exec("sh", "-c", f"rm -f {path}")  # it ends at random: `-*`


def _stop_as_told(place: Place, said: str) -> None:
    """A server that the boot of the new host has started in the copy, a person stops."""
    if "a PostgreSQL server that this copy has not started is running" in said:
        place.lab.new.exec("systemctl", "stop", "postgresql@*")


def _wait_for_a_row(clients: Clients) -> None:
    """Old serves again only where a client can write; that it cannot is seen by the truth."""
    known, end = len(clients.committed), time.monotonic() + 10
    while len(clients.committed) == known and time.monotonic() < end:
        time.sleep(0.1)
