"""The cores that an md array's write thread keeps busy, from two looks at /proc around a phase."""

import pytest

from core.benchmarks.traffic import Look, Process, Seen, array_thread_cores, taken_apart
from core.benchmarks.volume_device import Traffic

MARK = "==mark=="
DEVICE = "0 0 0 0 0 0 0 0 0 0 0"
# stat of md0's thread and of a shell, as a Linux 6.1 prints them: user and system time are the 14th and 15th number
THREAD = "412 (md0_raid5) S 2 0 0 0 -1 2129984 0 0 0 0 0 {ticks} 0 0 20 0 1 0 300 0 0 18446744073709551615 0 0 0 0"
SHELL = "900 (sh) S 1 900 900 0 -1 4194560 109 0 0 0 1 90 0 0 20 0 1 0 5000 2568192 131 18446744073709551615"


def look(uptime: float, ticks: int, *more: str) -> str:
    return "\n".join([DEVICE, f"{uptime:.2f} 12345.67", THREAD.format(ticks=ticks), SHELL, *more])


def seen(before: str, after: str) -> Seen:
    said, found = taken_apart(f"fio's own\n{MARK}\n{after}\n{MARK}\n{MARK}\n{before}\n{MARK}\n900\n", MARK)
    assert said == "fio's own\n"
    assert found is not None
    return found


def test_a_thread_that_kept_most_of_a_core_busy() -> None:
    phase = seen(look(100.0, 5000), look(110.0, 5970))
    assert array_thread_cores([phase], {"md0", "sda"}) == pytest.approx(0.97)
    idle = seen(look(110.0, 5970), look(120.0, 5980))
    assert array_thread_cores([idle, phase, idle], {"md0"}) == pytest.approx(0.97)


def test_another_array_s_thread_says_nothing_of_this_volume() -> None:
    phase = seen(look(100.0, 5000), look(110.0, 5970))
    assert array_thread_cores([phase], {"md1", "sda"}) is None
    assert array_thread_cores([phase], ()) is None
    assert array_thread_cores([], {"md0"}) is None


@pytest.mark.parametrize("name", ["md127_raid10", "md127_raid1"])
def test_threads_of_every_level(name: str) -> None:
    before, after = ({7: Process(name, 0, 0, ticks=ticks)} for ticks in (100, 400))
    nothing = Traffic(0, 0)
    phase = Seen(1, Look(nothing, before, frozenset(), 50.0), Look(nothing, after, frozenset(), 60.0))
    assert array_thread_cores([phase], {"md127"}) == pytest.approx(0.3)
    untimed = Seen(1, Look(nothing, before, frozenset()), Look(nothing, after, frozenset()))
    assert array_thread_cores([untimed], {"md127"}) is None
