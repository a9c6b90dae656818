"""Probes of a move: short measurements of each link of the copy path, and of a sample of the copy as a whole.

Each is bounded in bytes and seconds; none writes on old but the key's folder in /tmp. Whatever happens, the key, the
folders and the processes are gone afterwards; what a crash of the workstation left, the next probe of the move removes.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from core import units
from core.errors import CommandError, ParseError
from core.facts.model import Facts
from core.jobs import Job, Note, Progress
from core.migration.model.move import Move
from core.migration.model.plan import Step
from core.migration.model.probe import OF_A_DUMP, Probe, ProbeJournal, Quantity
from core.migration.model.transport import Route, Transport
from core.migration.probing import commands, dumping, sampling, sums, wire
from core.migration.probing.candidates import CIPHERS, fastest_cipher, mounts, search, worth_a_cipher
from core.migration.probing.proportion import THOROUGH, Bounds, forecast, in_proportion, lately, slowest
from core.migration.probing.taking import (
    Measured,
    ProbeContext,
    ProbeRecorder,
    again_if_nothing,
    clean,
    reason_of,
    scratch_folder,
)
from core.migration.probing.timing import parse_timing
from core.migration.transports import nfs, passes
from core.migration.transports.choice import allowed_routes, is_on_one_server, latest_pass
from core.migration.transports.copy_channel import CopyChannel, make_copy_channel
from core.migration.transports.routes import route_steps
from core.migration.transports.rsync_versions import oldest_version
from core.servers.connection import Server

_WORTH_SECONDS = 3.0
"""A copy that is over sooner is not worth a closer look at the transports."""

_LARGER_BYTES = 1024**3
_LARGER_SECONDS = 2.0
"""Of the larger samples: of so many seconds, and no more bytes than that."""

_LEAST_SAMPLES = 3
"""Of a route, however late: no compression and the two lightest, most of what there is to win over a slow wire."""

_LEAST_TURNS, _MOST_TURNS = 3, 5
_STAYS = 0.9
"""What falls behind this part of the fastest is not sampled again."""


def probe(
    old: Server,
    new: Server,
    old_facts: Facts,
    new_facts: Facts,
    move: Move,
    seed: str,
    journal: ProbeJournal,
    job: Job,
    *,
    before: Sequence[Probe] = (),
    thorough: bool = False,
) -> tuple[Probe, ...]:
    """Measure read, wire, write, sums, ssh by its ciphers, a sample end to end by one transport after the other, and
    what a dump & restore makes of a sample of tables.

    Each is recorded as it ends. A link that cannot be measured is said and left out. `before`: earlier probes of the
    move; links that were measured lately are used again. `thorough`: all anew, and as long as it tells more; else in
    proportion to the move.

    Raises:
        InputError: the facts of old do not know the cluster.
        AuthenticationError: the rights to read the cluster or to write on the new server are missing.
        UnreachableError: a connection was lost.
        CommandError, ParseError: nothing at all could be measured; the first reason.
        Cancelled: the job was cancelled; everything has been removed.
    """
    site = ProbeContext(old, new, old_facts, new_facts, move, seed, job)
    again = {} if thorough else lately(before, datetime.now(UTC))
    recorder = ProbeRecorder(move.name, journal, job, again)
    bounds = THOROUGH if thorough else in_proportion(site.size_bytes, slowest(before))
    job.report(Note(forecast(bounds, list(again))))
    seconds = bounds.link_seconds
    recorder.take(Quantity.READ, lambda: _read(site, seconds))
    route = Route.LOCAL if is_on_one_server(move, old_facts, new_facts, new.profile) else Route.SSH
    if route is not Route.LOCAL:
        recorder.take(Quantity.WIRE, lambda: wire.measure(old, new, site.address, old_facts, new_facts, seconds, job))
    recorder.take(Quantity.SUMS, lambda: sums.measure(site))
    with scratch_folder(site) as scratch:
        recorder.take(Quantity.WRITE, lambda: _write(site, scratch, seconds))
        if not thorough:  # by what is known now
            bounds = in_proportion(site.size_bytes, slowest((*again.values(), *recorder.taken)))
        with ExitStack() as ends:
            channel = _opened(site, _probe_channel(site, scratch, route), ends)
            plain = (
                replace(channel.transport, cipher=_ciphers(site, channel, recorder, bounds.link_seconds))
                if route is Route.SSH
                else channel.transport
            )
            sampler = _Sampler(site, channel, scratch, recorder, bounds)
            _transports(site, sampler, plain, _others(site, channel, ends))
            if not again.keys() >= OF_A_DUMP:
                dumping.probe(site, replace(channel, transport=plain), scratch, recorder, bounds)
    job.report(Progress("probe", 1, 1))
    if not recorder.taken:
        raise recorder.errors[0]
    return (*again.values(), *recorder.taken)


def _ciphers(site: ProbeContext, channel: CopyChannel, recorder: ProbeRecorder, seconds: int) -> str:
    """The cipher that is worth naming; ssh's own choice is measured first, and stands where no other is faster.

    Where something else holds a copy up no other is tried.
    """
    own = recorder.take(Quantity.SSH, partial(_ssh, site, channel, seconds), channel.transport)
    if own is None or not worth_a_cipher(own.bytes_per_second, recorder.rates):
        return ""
    known = site.on_old("probe: which ciphers", commands.ciphers()).stdout.split()
    measured = {"": own.bytes_per_second}
    for name in (each for each in CIPHERS if each in known):
        transport = Transport(cipher=name)
        taken = recorder.take(Quantity.SSH, partial(_ssh, site, replace(channel, transport=transport), 1), transport)
        if taken is not None:
            measured[name] = taken.bytes_per_second
    return fastest_cipher(measured)


def _others(site: ProbeContext, channel: CopyChannel, ends: ExitStack) -> list[Transport]:
    """What the transports of each further route have in common; each is opened, or said and left out."""
    opened = []
    allowed = allowed_routes(site.move, site.old_facts, site.new_facts, site.new.profile)
    for route in sorted(allowed - {channel.transport.route}):
        if route is Route.NFS:
            opened += _mounts(site)
            continue
        transport = Transport(route=route)
        try:
            _opened(site, replace(channel, transport=transport), ends)
        except CommandError as error:
            site.job.check()
            site.job.report(Note(f"{route.text} is skipped: {reason_of(error)}", level="warning"))
        else:
            opened.append(transport)
    return opened


def _mounts(site: ProbeContext) -> list[Transport]:
    """What the transports over NFS have in common, a mount each; what is left out is said."""
    root_on_old, root_on_new = (server.can_become("root", site.job) for server in (site.old, site.new))
    found = mounts(site.old_facts, site.new_facts, root_on_old=root_on_old, root_on_new=root_on_new)
    for sentence in found.left_out:
        site.job.report(Note(sentence))
    return [Transport(route=Route.NFS, mount=variant) for variant in found.variants]


class _Sampler:
    """Takes samples of the cluster, end to end, by one transport or another."""

    def __init__(
        self, site: ProbeContext, channel: CopyChannel, scratch: str, recorder: ProbeRecorder, bounds: Bounds
    ) -> None:
        self._site, self._channel, self._scratch, self.recorder = site, channel, scratch, recorder
        self.bounds, self.version, self._large = bounds, channel.rsync, ""

    def choose(self, budget: int) -> bool:
        """What stands for the cluster from now on, about so many bytes; whether it could be chosen."""
        chosen = sampling.choose(self._channel, self._site.root.source, budget, self.bounds.small_files)
        try:
            self._large = self._site.on_old("probe: choose a sample", chosen).stdout
        except CommandError as error:
            self._site.job.report(Note(f"no sample could be chosen: {reason_of(error)}", level="warning"))
            return False
        return True

    def take(self, transport: Transport) -> Probe | None:
        """One sample; None where the transport failed."""
        return self.recorder.take(Quantity.END_TO_END, partial(self._send, transport), transport)

    def warm_up(self, transport: Transport) -> None:
        """One that does not count: the first of other bytes is slower than all after it."""
        try:
            self._send(transport)
        except (CommandError, ParseError):  # said by the next one, which counts
            self._site.job.check()

    def _send(self, transport: Transport) -> Measured:
        sent = _mounted if transport.route is Route.NFS else _end_to_end
        send = partial(sent, self._site, replace(self._channel, transport=transport), self._scratch, self._large)
        return again_if_nothing(send, f"the sample by {transport.name}", self._site.job)


def _transports(site: ProbeContext, sampler: _Sampler, plain: Transport, others: Sequence[Transport]) -> None:
    """Samples of the cluster by one transport after the other, until the time for those of a route is up."""
    recorder, bounds = sampler.recorder, sampler.bounds
    budget = _budget(recorder.rates, bounds.sample_seconds)
    size = units.size(min(budget, site.root.size_bytes or budget))
    each = units.duration(min(bounds.route_seconds, bounds.samples_seconds))
    routes = " on each route" if others else ""
    site.job.report(
        Note(
            f"samples of {size} are sent from the old to the new server, by one transport after the other, for {each} "
            f"at most{routes}, and are then removed"
        )
    )
    if not sampler.choose(budget):
        return
    ends: dict[Route, float] = {}

    def measure(transport: Transport) -> Probe | None:
        if transport.route not in ends:  # one of each is tried, however slow all before it was
            ends[transport.route] = recorder.seconds + bounds.route_seconds
            return sampler.take(transport)
        late = recorder.seconds > ends[transport.route] or (
            recorder.seconds > bounds.samples_seconds and recorder.samples_by(transport.route) >= _LEAST_SAMPLES
        )
        return None if late else sampler.take(transport)

    close = search(measure, plain, sampler.version, recorder.rates, others)
    _look_closer(site, sampler, close)


def _look_closer(site: ProbeContext, sampler: _Sampler, close: Sequence[Transport]) -> None:
    """Larger samples by what is near the fastest, in turn, so that what disturbs one disturbs all.

    Where the whole copy takes but seconds, nothing is worth the time.
    """
    recorder, bounds = sampler.recorder, sampler.bounds
    fastest = max(_medians(recorder, close).values(), default=0.0)
    size = site.root.size_bytes
    end = min(bounds.samples_seconds, recorder.seconds + bounds.closer_seconds)
    if not close or recorder.seconds >= end or (size is not None and size < _WORTH_SECONDS * fastest):
        return
    budget = round(min(_LARGER_BYTES, max(_LARGER_SECONDS * fastest, sampling.LEAST_BYTES)))
    site.job.report(
        Note(
            f"{len(close)} transports are about equally fast. Larger samples of {units.size(budget)} show which is "
            "fastest"
        )
    )
    if not sampler.choose(budget):
        return
    sampler.warm_up(close[0])
    for turn in range(1, _MOST_TURNS + 1):
        for transport in close:
            if recorder.seconds < end:
                sampler.take(transport)
        if turn < _LEAST_TURNS:
            continue
        medians = _medians(recorder, close)
        close = [each for each in close if medians[each] >= _STAYS * max(medians.values())]
        if len(close) < 2:
            return


def _medians(recorder: ProbeRecorder, transports: Sequence[Transport]) -> dict[Transport, float]:
    """Bytes a second of each, of all its samples."""
    samples = {probe.transport: probe for probe in latest_pass(recorder.taken) if probe.quantity is Quantity.END_TO_END}
    return {each: samples[each].bytes_per_second for each in transports}


def _budget(rates: dict[Quantity, float], seconds: float) -> int:
    """Bytes of a sample that take so many seconds, as fast as the disks are and as much as the wire may be shrunk."""
    carried = rates.get(Quantity.WIRE, 30e6) * 4
    bound = min(carried, rates.get(Quantity.READ, carried), rates.get(Quantity.WRITE, carried))
    return round(max(sampling.LEAST_BYTES, min(sampling.MOST_BYTES, seconds * bound)))


def _read(site: ProbeContext, seconds: int) -> Measured:
    completed = site.on_old("probe: read", commands.read(site.root.source, seconds))
    direct = "direct yes" in completed.stdout
    how = "past the page cache" if direct else "page cache dropped first"
    return parse_timing(completed.stdout), f"dd of the largest relation files, {how}", completed


def _write(site: ProbeContext, scratch: str, seconds: int) -> Measured:
    completed = site.on_new("probe: write", commands.write(scratch, seconds))
    return parse_timing(completed.stdout), "dd of random bytes, flushed at the end", completed


def _ssh(site: ProbeContext, channel: CopyChannel, seconds: int) -> Measured:
    completed = site.on_old("probe: ssh", commands.cipher(channel, seconds))
    cipher = channel.transport.cipher or "ssh's own cipher"
    return parse_timing(completed.stdout), f"zeros through one ssh stream, {cipher}", completed


def _end_to_end(site: ProbeContext, channel: CopyChannel, scratch: str, large: str) -> Measured:
    """A sample; of what streams take besides in a copy, to begin, the sample has its share to bear."""
    skipped = sampling.skipped(large)
    site.on_new("probe: make room", sampling.make_room(scratch), large)
    sent = site.on_old(f"probe: end-to-end by {channel.transport.name}", sampling.send(channel, site.root.source))
    landed = site.on_new("probe: what arrived", sampling.arrived(scratch, skipped)).stdout
    how = f"a sample of the cluster by {channel.transport.name}, until it is on the new disk"
    timing = parse_timing(f"{sent.stdout}\n{landed}")
    share = timing.bytes / max(timing.bytes, site.root.size_bytes or 0)
    besides = share * passes.additional_rsync_starts(channel) * timing.connect_seconds
    return replace(timing, seconds=timing.seconds + besides), how, sent


def _mounted(site: ProbeContext, channel: CopyChannel, scratch: str, large: str) -> Measured:
    """The same over NFS, through a mount of its own: each transport has another."""
    with ExitStack() as ends:
        _carried(site, nfs.mounting_steps(channel, site.reader), nfs.unmounting_steps(channel), ends)
        return _end_to_end(site, channel, scratch, large)


def _probe_channel(site: ProbeContext, scratch: str, route: Route) -> CopyChannel:
    """The way from the old to the new server for these probes."""
    return make_copy_channel(
        site.move,
        site.new.profile,
        site.old_facts,
        [(sampling.LABEL, scratch)],
        seed=site.seed,
        purpose="probe",
        address=site.address,
        login=site.new.login,
        rsync=oldest_version(site.old_facts, site.new_facts),
        transport=Transport(route=route),
    )


def _opened(site: ProbeContext, channel: CopyChannel, ends: ExitStack) -> CopyChannel:
    """The way, opened as a plan opens it; when `ends` does, nothing of it is left on either end."""
    route = route_steps(channel)
    _carried(site, route.opening_steps(channel, site.reader), route.closing_steps(channel, site.reader), ends)
    return channel


def _carried(site: ProbeContext, opening: Sequence[Step], closing: Sequence[Step], ends: ExitStack) -> None:
    """Steps of a plan that open something, carried out; when `ends` does, so are those that close it."""
    for step in reversed(closing):  # each, whatever becomes of the others or of who listens
        ends.callback(clean, site, partial(site.carry_out, step), f"what remains for `{step.title}`")
    said: dict[str, str] = {}
    for step in opening:
        said[step.name] = site.carry_out(step, site.job, said.get(step.reads, "")).stdout
