"""Probes of a move: short measurements of each link of the copy path, and samples that are copied end to end.

Each probe is limited in bytes and seconds. On the old server they write only to the folder of the key in /tmp. The key,
the folders and the processes are removed in any case. If the workstation crashes, the next probe of the move removes
them.
"""

from collections.abc import Callable, Sequence
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
from core.migration.probing.candidates import (
    CIPHERS,
    WORTH_SECONDS,
    fastest_cipher,
    mounts,
    search,
    worth_a_cipher,
    worth_measuring_ssh,
)
from core.migration.probing.proportion import (
    THOROUGH,
    Budget,
    forecast,
    forecast_text,
    in_proportion,
    lately,
    latest_links,
    sample_bytes,
    slowest,
)
from core.migration.probing.taking import (
    Measured,
    ProbeContext,
    ProbeRecorder,
    again_if_nothing,
    clean,
    reason_of,
    scratch_folder,
)
from core.migration.probing.timing import Timing, parse_timing
from core.migration.transports import nfs, passes
from core.migration.transports.choice import allowed_routes, is_on_one_server, latest_pass
from core.migration.transports.copy_channel import CopyChannel, make_copy_channel
from core.migration.transports.routes import route_steps
from core.migration.transports.rsync_versions import oldest_version
from core.servers.connection import Server

_LARGER_BYTES = 1024**3
_LEAST_LARGER_BYTES = 48 * 1024**2
_LARGER_SECONDS = 2.0
"""The larger samples take this many seconds, but have at least and at most this many bytes."""

_LEAST_SAMPLES = 3
"""The samples that precede the tables if there is not time for both: without compression, or with the next heavier one,
and with the two lightest ones. Over a slow network, these give most of the possible improvement."""

_FIRST_SECONDS = 2.0
"""The first sample of a pass has at least so many seconds, because the estimate rests on it."""

_TOO_LONG = 2.0
"""If the first sample takes this many times as long as intended, the others are smaller, so that time is left."""

_LEAST_TURNS, _MOST_TURNS = 3, 5
_STAYS = 0.9
"""A transport below this fraction of the fastest rate is not sampled again."""


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
    expected_seconds: float | None = None,
    began: float | None = None,
) -> tuple[Probe, ...]:
    """Measure the links of the copy path, the transports, and a dump & restore of a sample of tables.

    The links are reading, the network, writing, checksums, and ssh with its ciphers. Each transport copies a sample of
    the cluster end to end. Each result is recorded at once. A link that cannot be measured is reported and left out.

    Args:
        old: the old server.
        new: the new server.
        old_facts: the facts of the old server.
        new_facts: the facts of the new server.
        move: the move.
        seed: a secret from which the names of the temporary files are made.
        journal: records each probe.
        job: receives notes and progress, and can be cancelled.
        before: earlier probes of the move; links that were measured within the last hour are not measured again.
        thorough: measure everything again, as long as that improves the result; otherwise the time is in proportion to
            the duration of the move.
        expected_seconds: the duration of the move by an estimate; None: not known.
        began: when the time of the probes began by the monotonic clock, with the reading of the facts; None: now.

    Raises:
        InputError: the facts of the old server do not contain the cluster.
        AuthenticationError: the rights to read the cluster or to write on the new server are missing.
        UnreachableError: a connection was lost.
        CommandError, ParseError: nothing could be measured; this is the first reason.
        Cancelled: the job was cancelled; everything has been removed.
    """
    site = ProbeContext(old, new, old_facts, new_facts, move, seed, job)
    again = {} if thorough else lately(before, datetime.now(UTC))
    recorder = ProbeRecorder(move.name, journal, job, again)
    bounds = THOROUGH if thorough else in_proportion(site.size_bytes, slowest(before), expected_seconds)
    budget = Budget(bounds, began)
    known = {quantity: each.bytes_per_second for quantity, each in latest_links(before).items()}
    route = Route.LOCAL if is_on_one_server(move, old_facts, new_facts, new.profile) else Route.SSH
    job.report(Note(forecast_text(forecast(bounds, known, list(again), over_network=route is not Route.LOCAL))))
    seconds = bounds.link_seconds
    recorder.take(Quantity.READ, lambda: _read(site, seconds))
    if route is not Route.LOCAL:
        recorder.take(Quantity.WIRE, lambda: wire.measure(old, new, site.address, old_facts, new_facts, seconds, job))
    recorder.take(Quantity.SUMS, lambda: sums.measure(site, seconds))
    with scratch_folder(site) as scratch:
        recorder.take(Quantity.WRITE, lambda: _write(site, scratch, seconds))
        if not thorough:  # with the rates that are known by now
            rate = slowest((*again.values(), *recorder.taken))
            budget.bounds = in_proportion(site.size_bytes, rate, expected_seconds)
        with ExitStack() as ends:
            channel = _opened(site, _probe_channel(site, scratch, route), ends)
            plain = (
                replace(channel.transport, cipher=_ciphers(site, channel, recorder, budget))
                if route is Route.SSH
                else channel.transport
            )
            sampler = _Sampler(site, channel, scratch, recorder, budget)
            matters = None if thorough else site.size_bytes
            _transports(site, sampler, plain, lambda: _others(site, channel, ends), matters)
            if not again.keys() >= OF_A_DUMP:
                dumping.probe(site, replace(channel, transport=plain), scratch, recorder, budget)
    job.report(Progress("probe", "probe", 1, 1))
    if not recorder.taken:
        raise recorder.errors[0]
    return (*again.values(), *recorder.taken)


def _ciphers(site: ProbeContext, channel: CopyChannel, recorder: ProbeRecorder, budget: Budget) -> str:
    """Return the cipher to choose, or an empty string for the default of ssh.

    The default is measured first, and is kept if no other cipher is faster. If another link limits the copy, no other
    cipher is tried, and over a slow network none is measured at all.

    Args:
        site: both servers and the move.
        channel: the channel of the copy, through ssh.
        recorder: takes and records each probe.
        budget: the duration of the first measurement, and the time that is left for others.
    """
    if not worth_measuring_ssh(recorder.rates):
        return ""
    seconds = budget.bounds.link_seconds
    own = recorder.take(Quantity.SSH, partial(_ssh, site, channel, seconds), channel.transport)
    if own is None or not worth_a_cipher(own.bytes_per_second, recorder.rates):
        return ""
    known = site.on_old("probe: which ciphers", commands.ciphers()).stdout.split()
    measured = {"": own.bytes_per_second}
    for name in (each for each in CIPHERS if each in known):
        if not budget.left_beside(_LEAST_SAMPLES):
            break  # the estimate and the choice of a transport rest on the samples
        transport = Transport(cipher=name)
        taken = recorder.take(Quantity.SSH, partial(_ssh, site, replace(channel, transport=transport), 1), transport)
        if taken is not None:
            measured[name] = taken.bytes_per_second
    return fastest_cipher(measured)


def _others(site: ProbeContext, channel: CopyChannel, ends: ExitStack) -> list[Transport]:
    """Open each further route, and return the common settings of its transports. A route that fails is reported."""
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
    """Return the common settings of the transports over NFS, one for each set of mount options.

    Mount options that are left out are reported.
    """
    root_on_old, root_on_new = (server.can_become("root", site.job) for server in (site.old, site.new))
    found = mounts(site.old_facts, site.new_facts, root_on_old=root_on_old, root_on_new=root_on_new)
    for sentence in found.left_out:
        site.job.report(Note(sentence))
    return [Transport(route=Route.NFS, mount=variant) for variant in found.variants]


class _Sampler:
    """Copies samples of the cluster end to end, by different transports."""

    def __init__(
        self, site: ProbeContext, channel: CopyChannel, scratch: str, recorder: ProbeRecorder, budget: Budget
    ) -> None:
        self._site, self._channel, self._scratch, self.recorder = site, channel, scratch, recorder
        self.budget, self.version, self._large = budget, channel.rsync, ""
        self._besides = 0.0
        self._connections: dict[tuple[Route, str], Timing] = {}

    def choose(self, budget: int) -> bool:
        """Choose the sample of about `budget` bytes that all further copies use; return whether that was possible."""
        chosen = sampling.choose(self._channel, self._site.root.source, budget, self.budget.bounds.small_files)
        try:
            self._large = self._site.on_old("probe: choose a sample", chosen).stdout
        except CommandError as error:
            self._site.job.report(Note(f"no sample could be chosen: {reason_of(error)}", level="warning"))
            return False
        return True

    def take(self, transport: Transport, left: float) -> Probe | None:
        """Copy the sample and return the probe; None if the transport failed, or if the time is not sufficient.

        Args:
            transport: the transport.
            left: the seconds that are left for it. What a sample needs besides its own time, such as for dropping it
                from the page cache, is as much as the sample before needed, without the time for measuring how long
                connecting takes.
        """
        seconds = left - self._besides
        if seconds < self.budget.bounds.sample_seconds:
            return None
        way, began = (transport.route, transport.mount), self.budget.elapsed
        known = way in self._connections
        taken = self.recorder.take(Quantity.END_TO_END, partial(self._send, transport, seconds), transport)
        if taken is not None:
            connection = self._connections[way]
            once = 0 if known else 2e-9 * (connection.connect_nanoseconds + connection.flush_nanoseconds)
            self._besides = max(0.0, self.budget.elapsed - began - taken.seconds - once)
        return taken

    def warm_up(self, transport: Transport) -> None:
        """Copy the sample without recording the result: the first copy of a new sample is slower than all others."""
        try:
            self._send(transport, sampling.MOST_SECONDS)
        except (CommandError, ParseError):  # the next copy, which counts, reports the reason
            self._site.job.check()

    def _send(self, transport: Transport, seconds: float) -> Measured:
        sent = _mounted if transport.route is Route.NFS else _end_to_end
        channel, limit = replace(self._channel, transport=transport), max(1, int(min(seconds, sampling.MOST_SECONDS)))
        way = transport.route, transport.mount

        def send() -> Measured:
            """Send it; after a failure, the time for connecting is measured again."""
            earlier = self._connections.pop(way, None)
            measured = sent(self._site, channel, self._scratch, self._large, limit, earlier)
            self._connections[way] = measured[0]
            return measured

        return again_if_nothing(send, f"the sample by {transport.name}", self._site.job)


def _transports(
    site: ProbeContext,
    sampler: _Sampler,
    plain: Transport,
    others: Callable[[], Sequence[Transport]],
    size_bytes: int | None,
) -> None:
    """Copy samples by one transport after the other, until the time for their route is over.

    Args:
        site: both servers and the move.
        sampler: copies the samples.
        plain: the common settings of all transports of the first route.
        others: opens the other routes, and returns the common settings of their transports.
        size_bytes: the size of the copy; None: the choice of the transport matters, whatever its size.
    """
    recorder, budget = sampler.recorder, sampler.budget
    size = sample_bytes(recorder.rates, budget.bounds.sample_seconds)
    shown = units.size(min(size, site.root.size_bytes or size))
    site.job.report(
        Note(
            f"samples of {shown} are sent from the old to the new server, by one transport after the other, and are "
            "then removed"
        )
    )
    if not sampler.choose(size):
        return
    ends: dict[Route, float] = {}

    def measure(transport: Transport) -> Probe | None:
        if not ends:  # one is taken even if the time is over
            ends[transport.route] = budget.elapsed + budget.bounds.route_seconds
            first = sampler.take(transport, max(_FIRST_SECONDS, budget.left_for_samples / 2))
            if first is not None and first.seconds > _TOO_LONG * budget.bounds.sample_seconds:
                sampler.choose(max(sampling.LEAST_BYTES, round(size * budget.bounds.sample_seconds / first.seconds)))
            return first
        end = ends.setdefault(transport.route, budget.elapsed + budget.bounds.route_seconds)
        left = budget.left if recorder.samples < _LEAST_SAMPLES else budget.left_for_samples
        return sampler.take(transport, min(left, end - budget.elapsed))

    close = search(measure, plain, sampler.version, recorder.rates, others, size_bytes)
    _look_closer(site, sampler, close)


def _look_closer(site: ProbeContext, sampler: _Sampler, close: Sequence[Transport]) -> None:
    """Copy larger samples by the transports that are nearly as fast as the fastest one.

    They take turns, so that a disturbance affects all of them. Nothing is done if the whole copy takes only seconds.
    """
    recorder, budget = sampler.recorder, sampler.budget
    fastest = max(_medians(recorder, close).values(), default=0.0)
    size = site.root.size_bytes
    end = budget.elapsed + min(budget.left_for_samples, budget.bounds.closer_seconds)
    if not close or budget.elapsed >= end or (size is not None and size < WORTH_SECONDS * fastest):
        return
    larger = round(min(_LARGER_BYTES, max(_LARGER_SECONDS * fastest, _LEAST_LARGER_BYTES)))
    site.job.report(
        Note(
            f"{len(close)} transports are about equally fast. Larger samples of {units.size(larger)} show which is "
            "fastest"
        )
    )
    if not sampler.choose(larger):
        return
    sampler.warm_up(close[0])
    for turn in range(1, _MOST_TURNS + 1):
        for transport in close:
            sampler.take(transport, end - budget.elapsed)
        if turn < _LEAST_TURNS:
            continue
        medians = _medians(recorder, close)
        close = [each for each in close if medians[each] >= _STAYS * max(medians.values())]
        if len(close) < 2:
            return


def _medians(recorder: ProbeRecorder, transports: Sequence[Transport]) -> dict[Transport, float]:
    """Return the median rate of each transport over all its samples, in bytes per second."""
    samples = {probe.transport: probe for probe in latest_pass(recorder.taken) if probe.quantity is Quantity.END_TO_END}
    return {each: samples[each].bytes_per_second for each in transports}


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


def _end_to_end(
    site: ProbeContext, channel: CopyChannel, scratch: str, large: str, seconds: int, earlier: Timing | None
) -> Measured:
    """Copy the sample. The time includes its share of the time that further streams take to connect in a copy.

    Args:
        site: both servers and the move.
        channel: the channel with the transport.
        scratch: the scratch folder on the new server.
        large: the large files of the sample, as `sampling.choose` prints them.
        seconds: the copy is ended after this time.
        earlier: an earlier sample by the same route; None: this is the first.
    """
    skipped = sampling.skipped(large)
    site.on_new("probe: make room", sampling.make_room(scratch), large)
    send = sampling.send(channel, site.root.source, seconds, earlier)
    sent = site.on_old(f"probe: end-to-end by {channel.transport.name}", send)
    landed = site.on_new("probe: what arrived", sampling.arrived(scratch, skipped)).stdout
    how = f"a sample of the cluster by {channel.transport.name}, until it is on the new disk"
    timing = parse_timing(f"{sent.stdout}\n{landed}")
    share = timing.bytes / max(timing.bytes, site.root.size_bytes or 0)
    besides = share * passes.additional_rsync_starts(channel) * timing.connect_nanoseconds / 1e9
    return replace(timing, seconds=timing.seconds + besides), how, sent


def _mounted(
    site: ProbeContext, channel: CopyChannel, scratch: str, large: str, seconds: int, earlier: Timing | None
) -> Measured:
    """Copy the sample over NFS, through a mount of its own, because each transport has other mount options."""
    with ExitStack() as ends:
        _carried(site, nfs.mounting_steps(channel, site.reader), nfs.unmounting_steps(channel), ends)
        return _end_to_end(site, channel, scratch, large, seconds, earlier)


def _probe_channel(site: ProbeContext, scratch: str, route: Route) -> CopyChannel:
    """Return the copy channel from the old to the new server for these probes."""
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
    """Open the channel as a plan does, and return it. When `ends` closes, it is removed from both servers."""
    route = route_steps(channel)
    _carried(site, route.opening_steps(channel, site.reader), route.closing_steps(channel, site.reader), ends)
    return channel


def _carried(site: ProbeContext, opening: Sequence[Step], closing: Sequence[Step], ends: ExitStack) -> None:
    """Carry out the steps of a plan that open something. When `ends` closes, the closing steps are carried out."""
    for step in reversed(closing):  # each one, even if another one or the report to the user fails
        ends.callback(clean, site, partial(site.carry_out, step), f"what remains for `{step.title}`")
    said: dict[str, str] = {}
    for step in opening:
        said[step.id] = site.carry_out(step, site.job, said.get(step.reads, "")).stdout
