import re
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.benchmarks.model import Outcome, Repetition, Run, Volume, Workload
from core.errors import InputError
from core.facts.model import Database
from core.migration.estimate import Spec, estimate, load_spec, simulated, spec_of
from core.migration.estimate.basis import ONE_IS_WRONG
from core.migration.estimate.copy_methods import HARDLY
from core.migration.estimate.draws import fixed
from core.migration.estimate.draws import span as percentiles
from core.migration.estimate.dump_methods import CROSSES, IN_FILES, NO_SLOWER
from core.migration.estimate.evidence import Evidence, Measured
from core.migration.estimate.replica import OVERRUN
from core.migration.estimate.spec import ClusterSpec, ObservedSpec
from core.migration.estimate.stages import PEOPLE
from core.migration.model.estimate import Method, Span
from core.migration.model.probe import Quantity
from core.sides import Side
from tests.core.migration.builders import LOCALE, NOW, cluster, move, new, old, probe

METHODS = ["cold-copy", "warm-copy", "dump-restore", "parallel-dump-restore", "streaming-replica"]
HOUR = 3600.0


def method(name: str, text: str) -> Method:
    found = estimate(load_spec(text, "spec")).method(name)
    assert found is not None
    return found


def within(span: Span, value: float) -> bool:
    return span.low <= value <= span.high


def test_every_method_is_there() -> None:
    assert [each.method for each in estimate(load_spec("[cluster]\nsize_bytes = 1e9", "spec")).methods] == METHODS


@pytest.mark.parametrize("name", METHODS)
def test_the_stages_in_which_clients_wait_add_up_to_the_downtime(name: str) -> None:
    found = method(name, "[cluster]\nsize_bytes = 100e9")
    waiting = sum(stage.seconds.likely for stage in found.stages if stage.in_downtime)
    assert waiting == pytest.approx(found.downtime_seconds.likely, rel=0.01)


def test_the_slowest_link_bounds_the_copy() -> None:
    rates = {"old": "read_bytes_per_second", "new": "write_bytes_per_second"}
    for slow, bound in (("old", "old disk"), ("new", "new disk")):
        text = "[cluster]\nsize_bytes = 100e9\nfiles = 0\n[link]\nbits_per_second = 10e9\n"
        text += "[copy]\nssh_bytes_per_second = 390e6\n"
        text += "".join(f"[{side}]\n{rate} = {60e6 if side == slow else 500e6}\n" for side, rate in rates.items())
        copy = next(stage for stage in method("cold-copy", text).stages if stage.name == "copy")
        assert copy.bound_by == bound
        assert copy.seconds.likely == pytest.approx(100e9 / 60e6, rel=0.05)
        assert copy.seconds.low < copy.seconds.likely < copy.seconds.high


def test_a_gigabit_wire_as_measured_in_the_lab() -> None:
    """2.97 GB over a link on which iperf3 saw 957 Mbit/s took 26.7 s by hand; the list of deletions is another pass."""
    text = (
        "[cluster]\nsize_bytes = 2.97e9\nfiles = 1000\n[old]\nread_bytes_per_second = 2e9\n"
        "[new]\nwrite_bytes_per_second = 2e9\n[link]\nbits_per_second = 957e6\ncommand_seconds = 0.04\n"
        "[copy]\nssh_bytes_per_second = 300e6\npass_seconds = 0.3\n"
    )
    copy = next(stage for stage in method("cold-copy", text).stages if stage.name == "copy")
    assert copy.bound_by == "wire"
    assert copy.seconds.likely == pytest.approx(26.7 + 1.0, rel=0.1)


def test_many_small_files_bound_the_copy() -> None:
    text = "[cluster]\nsize_bytes = 1e9\nfiles = 5000000\n[copy]\nssh_bytes_per_second = 390e6\n"
    assert next(stage for stage in method("cold-copy", text).stages if stage.name == "copy").bound_by == "files"


def test_1220_gb_at_50_mb_a_second_are_no_four_hours() -> None:
    cold = method("cold-copy", "[cluster]\nsize_bytes = 1220e9\n[copy]\nobserved_bytes_per_second = 50e6")
    assert cold.duration_seconds.likely == pytest.approx(6.8 * HOUR, rel=0.01)
    assert not within(cold.duration_seconds, 4 * HOUR)
    assert any(re.search(r"1\.1 TiB\D+6 h 47 min", text) for text in cold.assumptions)


def test_a_warm_copy_of_10_tb_at_30_mib_a_second() -> None:
    """dbi-services: 9,937 GB capped at 30 MiB/s took "3 days" (3.7 by the figures), then a stopped pass of 2 h."""
    text = "[cluster]\nsize_bytes = 9937e9\n[copy]\nobserved_bytes_per_second = 31457280"
    copy = next(stage for stage in method("cold-copy", text).stages if stage.name == "copy")
    assert within(copy.seconds, 3.7 * 24 * HOUR)
    stop = method("warm-copy", text).downtime_seconds
    assert within(stop, 2 * HOUR)
    assert 0.5 * HOUR < stop.likely < 8 * HOUR


OBSERVED = (
    "[cluster]\nsize_bytes = {size}\n[observed]\ndump_seconds = 33480\nrestore_seconds = 14400\n"
    "index_seconds = 30600\nanalyze_seconds = 10800\nat_size_bytes = 730e9\n"
)


def test_an_earlier_dump_and_restore_calibrates() -> None:
    """730 GB in 2007: dump 9 h 18, load about 4 h, indexes about 8.5 h, ANALYZE 3 h."""
    dump = method("dump-restore", OBSERVED.format(size=730e9))
    assert {stage.name: stage.seconds.likely for stage in dump.stages[:4]} == pytest.approx(
        {"dump": 9.3 * HOUR, "load": 4 * HOUR, "indexes": 8.5 * HOUR, "analyze": 3 * HOUR}, rel=0.03
    )
    assert within(dump.duration_seconds, 24 * HOUR)
    grown = method("dump-restore", OBSERVED.format(size=1460e9))
    assert grown.duration_seconds.likely == pytest.approx(2 * dump.duration_seconds.likely, rel=0.02)
    assert (
        grown.duration_seconds.high / grown.duration_seconds.likely
        > dump.duration_seconds.high / dump.duration_seconds.likely
    )


@pytest.mark.parametrize(
    ("size", "phases", "seconds"),
    [(730e9, 4, 24.8 * HOUR), (70e9, 2, 46 * 60.0), (1e12, 4, 17 * HOUR)],
    ids=["730 GB, 2007", "70 GB, dump and load alone", "1 TB in one table"],
)
def test_dump_and_restore_without_an_earlier_one_is_wide_enough(size: float, phases: int, seconds: float) -> None:
    """By the nights of these phases together, not by their ends added up."""
    methods = simulated(load_spec(f"[cluster]\nsize_bytes = {size}", "spec"))
    whole = fixed(0.0)
    for part in next(each for each in methods if each.name == "dump-restore").parts[:phases]:
        whole = whole + part.seconds
    assert within(percentiles(whole), seconds)


SLOW_WIRES = ["[link]\nbits_per_second = 40e6\n", "[copy]\nobserved_bytes_per_second = 4.7e6\n"]


@pytest.mark.parametrize("known", SLOW_WIRES, ids=["link", "observed copy"])
@pytest.mark.parametrize("name", ["dump-restore", "parallel-dump-restore"])
def test_a_dump_crosses_the_same_wire(name: str, known: str) -> None:
    """40 Mbit/s carry 4.7 MB/s: 854 GB of tables take 2 d 2 h, whatever the processes; the indexes do not cross."""
    text = "[cluster]\nsize_bytes = 1.22e12\nindex_bytes = 366e9\n" + known
    dump = method(name, text)
    load = next(stage for stage in dump.stages if stage.name == "load")
    assert load.bound_by == "wire"
    assert load.seconds.likely == pytest.approx(854e9 / 4.7e6, rel=0.1)
    assert not any("ANALYZE" in warning for warning in dump.warnings)
    assert (IN_FILES if name.startswith("parallel") else CROSSES) in dump.assumptions
    calibrated = method(name, OBSERVED.format(size=730e9) + known)
    assert [stage.bound_by for stage in calibrated.stages if stage.name == "load"] == ["wire"]


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ("", "(90 Mbit/s to 10 Gbit/s)"),
        (SLOW_WIRES[1], "(4.70 MB/s)"),
        ("[observed]\nrestore_seconds = 14400\n", NO_SLOWER),
        (SLOW_WIRES[0], None),
    ],
)
def test_what_a_dump_assumes_of_the_network(known: str, words: str | None) -> None:
    dump = method("dump-restore", "[cluster]\nsize_bytes = 730e9\n" + known)
    each = ("(90 Mbit/s to 10 Gbit/s)", "(4.70 MB/s)", NO_SLOWER)
    said = [said for said in each for text in dump.assumptions if said in text]
    assert said == ([] if words is None else [words])


@pytest.mark.parametrize(
    ("link", "carried"),
    [("[link]\nbits_per_second = 40e6\n", 4.7e6), ("[old]\nread_bytes_per_second = 20e6\n", 20e6)],
)
def test_an_observed_rate_that_cannot_be_leaves_room_for_both(link: str, carried: float) -> None:
    text = "[cluster]\nsize_bytes = 1e12\nfiles = 0\n[copy]\nobserved_bytes_per_second = 80e6\n"
    cold = method("cold-copy", text + link)
    assert any(warning.endswith(ONE_IS_WRONG) for warning in cold.warnings)
    assert within(cold.duration_seconds, 1e12 / carried)
    assert within(cold.duration_seconds, 1e12 / 80e6)
    assert not within(method("cold-copy", text).duration_seconds, 1e12 / carried)


def test_one_table_is_one_processs_work() -> None:
    text = "[cluster]\nsize_bytes = 1e12\nindex_bytes = 0\nlargest_table_bytes = {}\n[old]\ncores = 8\n"
    alone = method("dump-restore", text.format("1e12")).stages[1].seconds.likely
    shared = method("parallel-dump-restore", text.format("1e9")).stages[1].seconds.likely
    bound = method("parallel-dump-restore", text.format("1e12"))
    assert shared < alone / 2
    assert bound.stages[1].seconds.likely == pytest.approx(alone, rel=0.1)
    assert any(" -j " in warning for warning in bound.warnings)


def test_contradictions_and_guards() -> None:
    known = (
        "[cluster]\nsize_bytes = 1e12\n[old]\nread_bytes_per_second = 200e6\n[new]\nwrite_bytes_per_second = 200e6\n"
        "[link]\nbits_per_second = 1e9\n[copy]\nssh_bytes_per_second = 300e6\nobserved_bytes_per_second = {}\n"
    )
    assert any(
        "200 MB/s" in text and text.endswith(ONE_IS_WRONG) for text in method("cold-copy", known.format(200e6)).warnings
    )
    (half,) = method("cold-copy", known.format(30e6)).warnings
    assert ("30.0 MB/s" in half, half.endswith(ONE_IS_WRONG)) == (True, False)
    assert method("cold-copy", known.format(110e6)).warnings == ()
    fast = "[cluster]\nsize_bytes = 1e12\n[copy]\nobserved_bytes_per_second = 900e6"
    assert any("900 MB/s" in text and " ssh " in text for text in method("cold-copy", fast).warnings)
    hasty = (
        OBSERVED.format(size=730e9).replace("at_size_bytes = 730e9", "at_size_bytes = 73e9").replace("730e9", "7300e12")
    )
    assert any(
        "ANALYZE" in text
        for text in method("dump-restore", hasty.replace("30600", "60").replace("10800", "60")).warnings
    )
    quick = "[cluster]\nsize_bytes = 730e9\n[observed]\ndump_seconds = 60\nrestore_seconds = 60\nindex_seconds = 60\n"
    assert any("(150 MB/s)" in text for text in method("dump-restore", quick + "analyze_seconds = 60\n").warnings)


def test_a_cluster_that_changes_faster_than_the_copy() -> None:
    text = "[cluster]\nsize_bytes = 1e12\nchange_bytes_per_hour = 1e12\n[copy]\nobserved_bytes_per_second = 50e6"
    assert HARDLY in method("warm-copy", text).warnings
    assert OVERRUN in method("streaming-replica", text).warnings


def test_what_is_missing_is_said_and_what_is_given_is_not() -> None:
    bare = set(method("cold-copy", "[cluster]\nsize_bytes = 1e9\n").assumptions)
    given = (
        "files = 10",
        "[old]\nread_bytes_per_second = 1e8",
        "[new]\nwrite_bytes_per_second = 1e8",
        "[link]\nbits_per_second = 1e9",
        "[link]\nstreams = 1",
        "[copy]\nssh_bytes_per_second = 3e8",
    )
    spared = [bare - set(method("cold-copy", f"[cluster]\nsize_bytes = 1e9\n{each}").assumptions) for each in given]
    assert [len(each) for each in spared] == [1] * len(given)
    assert len(set().union(*spared)) == len(given)
    full = (
        "[cluster]\nsize_bytes = 1e9\nfiles = 10\n[old]\nread_bytes_per_second = 1e8\n"
        "[new]\nwrite_bytes_per_second = 1e8\n[link]\nbits_per_second = 1e9\nstreams = 1\n"
        "[copy]\nssh_bytes_per_second = 3e8\n"
    )
    assert method("cold-copy", full).assumptions == (PEOPLE,)


BY_HAND = ("dump-restore", "parallel-dump-restore", "streaming-replica")


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_charged_the_stop_and_the_start_and_no_people(name: str) -> None:
    made = method(name, "[cluster]\nsize_bytes = 100e9")
    names = [stage.name for stage in made.stages]
    assert ("prepare" in names) is (name not in BY_HAND)
    assert {"stop old", "start new"} <= set(names)
    assert PEOPLE in made.assumptions
    down = [stage.seconds.likely for stage in made.stages if stage.name in {"stop old", "start new"}]
    assert made.downtime_seconds.likely >= 0.999 * sum(down) > 0


def test_files_that_are_written_to_lengthen_the_stop_by_the_look_through_them() -> None:
    text = (
        "[cluster]\nsize_bytes = 1e12\nfiles = 5000\nchange_bytes_per_hour = 1e9\n[old]\nread_bytes_per_second = 2e8\n"
    )
    text += "[copy]\nobserved_bytes_per_second = 1e8\n[new]\nwrite_bytes_per_second = 2e8"
    spec = load_spec(text, "spec")
    hot = replace(spec, cluster=replace(spec.cluster, written_bytes=100e9))
    stop, longer = (
        next(each for each in estimate(made).methods if each.method == "warm-copy").downtime_seconds
        for made in (spec, hot)
    )
    # 100 GB are read once more for the comparison and once for the sums, at 200 MB/s each
    assert longer.likely - stop.likely == pytest.approx(2 * 100e9 / 2e8, rel=0.25)
    assert longer.high > longer.likely > longer.low


positive = st.floats(min_value=1e-6, max_value=1e21)


@settings(max_examples=25, deadline=None)
@given(
    size=positive,
    read=positive,
    write=positive,
    bits=positive,
    change=st.floats(0, 1e21),
    files=st.integers(0, 10**15),
    written=st.none() | st.floats(0, 1e21),
)
def test_any_figures_give_ordered_finite_spans(
    size: float,
    read: float,
    write: float,
    bits: float,
    change: float,
    files: int,
    written: float | None,
) -> None:
    spec = load_spec("[cluster]\nsize_bytes = 1", "spec")
    figures = Spec(
        cluster=replace(
            spec.cluster, size_bytes=size, files=files, change_bytes_per_hour=change, written_bytes=written
        ),
        old=replace(spec.old, read_bytes_per_second=read),
        new=replace(spec.new, write_bytes_per_second=write),
        link=replace(spec.link, bits_per_second=bits),
    )
    for each in estimate(figures).methods:
        for span in (each.duration_seconds, each.downtime_seconds, *(stage.seconds for stage in each.stages)):
            assert 0 <= span.low <= span.likely <= span.high < float("inf")
        assert each.downtime_seconds.likely <= each.duration_seconds.likely * (1 + 1e-9)


def test_spec_of_prefers_the_latest_probe() -> None:
    databases = (Database("a", 5, 1, 3_000_000_000, 1_000_000_000), Database("b", 5, 1, 2_000_000_000, 500_000_000))
    early = replace(probe(Quantity.END_TO_END, 10e6), taken_at=NOW - timedelta(hours=1))
    probes = [probe(Quantity.END_TO_END, 80e6), early, probe(Quantity.READ, 90e6), probe(Quantity.WIRE, 117e6)]
    spec = spec_of(move(), old(cluster(databases=databases)), probes)
    assert spec.copy.observed_bytes_per_second == 80e6
    assert spec.old.read_bytes_per_second == 90e6
    assert spec.old.cores == 8
    assert spec.link.bits_per_second == 936e6
    assert (spec.cluster.size_bytes, spec.cluster.files) == (10e9, 2000)
    assert (spec.cluster.index_bytes, spec.cluster.largest_table_bytes) == (1.5e9, 3e9)
    assert spec.new.write_bytes_per_second is None


def test_spec_of_takes_a_benchmark_where_there_is_no_probe() -> None:
    def run(side: Side, metric: str, rate: float, outcome: Outcome = Outcome.DONE, *, cached: bool = False) -> Run:
        repetition = Repetition(1, NOW, 1.0, Outcome.DONE, {metric: rate}, "", "", cached)
        volume, workload = Volume(side, side.value, "/srv", "/srv"), Workload("w", "w", "dd", metric)
        return Run("m", volume, workload, NOW, outcome, repetitions=(repetition,))

    runs = [
        run(Side.OLD, "read_bytes_per_second", 80e6),
        run(Side.OLD, "read_bytes_per_second", 900e6, cached=True),
        run(Side.OLD, "read_bytes_per_second", 950e6, Outcome.CANCELLED),
        run(Side.NEW, "write_bytes_per_second", 200e6),
        run(Side.NEW, "read_bytes_per_second", 300e6),
    ]
    spec = spec_of(move(), old(), [], runs)
    assert (spec.old.read_bytes_per_second, spec.new.write_bytes_per_second) == (80e6, 200e6)


def test_the_indexes_of_templates_are_nobodys_loss() -> None:
    """Facts leave templates alone; a database that could not be entered is another thing."""
    shop, template = Database("shop", 10**9, index_bytes=3 * 10**8), Database("template0", 7 * 10**6, template=True)
    spec = spec_of(move(), old(cluster(databases=(shop, template))), [])
    assert spec.cluster.index_bytes == 3e8
    assert not any("indexes was not given" in said for method in estimate(spec).methods for said in method.assumptions)
    closed = spec_of(move(), old(cluster(databases=(shop, Database("closed", 10**9)))), [])
    assert closed.cluster.index_bytes is None


def test_what_changed_during_an_earlier_copy_tells_the_final_pass() -> None:
    quiet, busy = (
        estimate(
            spec_of(move(), old(), [], copied=Measured(100e6, Evidence()), changed=Measured(changed, Evidence()))
        ).method("warm-copy")
        for changed in (1e6, 50e9)
    )
    assert quiet is not None
    assert busy is not None
    assert quiet.downtime_seconds.likely < busy.downtime_seconds.likely
    assert not any("how fast the cluster changes" in said for said in quiet.assumptions)


def test_spec_of_an_unknown_cluster_or_size() -> None:
    with pytest.raises(InputError, match="/srv/pg/data"):
        spec_of(move(), old(cluster(size_bytes=None)), [])
    with pytest.raises(InputError, match="/elsewhere"):
        spec_of(move(cluster="/elsewhere"), old(), [])


def test_what_sorts_differently_is_indexed_anew_before_clients_come_back() -> None:
    """2.5 GB of indexes at the 15 MB/s that one process builds; dump & restore builds all of them anyway."""
    size = ClusterSpec(100e9, files=1000, index_bytes=10e9, reindex_bytes=2.5e9)
    plain = estimate(Spec(replace(size, reindex_bytes=None)))
    made = estimate(Spec(size))
    for name in ("cold-copy", "warm-copy", "streaming-replica"):
        before, after = plain.method(name), made.method(name)
        assert before is not None
        assert after is not None
        stage = next(each for each in after.stages if each.name == "reindex")
        assert stage.bound_by == "new cpu"
        assert stage.seconds.likely == pytest.approx(2.5e9 / 15e6, rel=0.25)
        assert 120 < after.downtime_seconds.likely - before.downtime_seconds.likely < stage.seconds.high
        assert any(" 2.3 GiB " in each for each in after.assumptions)
    assert plain.method("dump-restore") == made.method("dump-restore")


def test_an_observed_build_of_indexes_prices_the_reindex() -> None:
    size = ClusterSpec(100e9, files=1000, index_bytes=10e9, reindex_bytes=2e9)
    made = estimate(Spec(size, observed=ObservedSpec(index_seconds=500, at_size_bytes=50e9))).method("cold-copy")
    assert made is not None
    built = next(each for each in made.stages if each.name == "reindex")
    assert built.seconds.likely == pytest.approx(200, rel=0.05)


def test_the_spec_of_a_move_knows_what_sorts_differently() -> None:
    same = spec_of(move(), old(), [], new=new())
    assert same.cluster.reindex_bytes == 0
    other = spec_of(move(), old(), [], new=new(collation_order={LOCALE: "f" * 64}))
    assert other.cluster.reindex_bytes == 5_000_000
    assert spec_of(move(), old(), [], new=new(collation_order={})).cluster.reindex_bytes is None


def test_a_sample_that_is_lost_in_what_a_pass_takes_by_itself_tells_no_rate() -> None:
    """98 kB in 24 ms, less a pass over nothing of 0.4 s: the links and the files tell, not 4 MB/s."""
    links = [probe(Quantity.READ, 2.5e9), probe(Quantity.WIRE, 119e6)]
    lost = replace(probe(Quantity.END_TO_END, 4e6), bytes=98304, seconds=0.0244, raw="connect 395000000\n")
    assert spec_of(move(), old(), [lost, *links]).copy.observed_bytes_per_second is None
    clear = replace(lost, bytes=40_000_000, seconds=0.5, bytes_per_second=8e7)
    assert spec_of(move(), old(), [clear, *links]).copy.observed_bytes_per_second == pytest.approx(8e7)
