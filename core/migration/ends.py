"""What stands at both ends of every method: what is made ready before, the stop of old, the start of new.

Commands alone are counted, for all methods alike. What people take on top, to decide, to stop the applications and to
lead them over, no measurement tells: `PEOPLE` says so.
"""

from core.migration.basis import Basis
from core.migration.model import Span, Stage
from core.migration.rates import total

PEOPLE = "what people take is not counted: to stop the applications, to look, to decide, to lead them to new"

_PREPARE = Span(2.0, 5.0, 60.0)
_STOP = Span(1.0, 2.0, 10.0)
_START = Span(1.0, 3.0, 30.0)


def prepare() -> Stage:
    """Folders, keys and accounts made ready, while old runs."""
    return Stage("prepare", _PREPARE, "round trips")


def stop_old(basis: Basis) -> Stage:
    """The shutdown's checkpoint writes what is dirty: at the most some GB, usually a five-hundredth of the cluster.

    The proof of the stop, and what keeps old stopped, are a command each.
    """
    likely, most = min(0.002 * basis.size, 2e9), min(0.05 * basis.size, 8e9)
    checkpoint = Span(0.0, likely / basis.read.likely, most / basis.read.low)
    return Stage("stop old", total((_STOP, checkpoint)), "old disk")


def start_new() -> Stage:
    """The first start for local connections alone, a look, and the start for clients."""
    return Stage("start new", _START, "new disk")
