"""The parser for hdparm -t: how fast a device is read in sequence, past the file system.

Source: hdparm.c, `time_device`. A megabyte is 2^20 bytes. `Timing cached reads` (-T) measures the memory and is left
out. A result is named after its device; several runs of a device, as hdparm's manual recommends, are repetitions.
"""

import re

from core.benchmarks.model import Output, Result
from core.benchmarks.reading import lines, no_result

_DEVICE = re.compile(r"[ \t]*(?P<device>/dev/\S{1,80}):\s*$")
_READ = re.compile(
    r"[ \t]*Timing (?P<direct>O_DIRECT|buffered) disk reads:\s*\d{1,9} MB in\s+\d{1,6}\.\d\d seconds\s*=\s*"
    r"(?P<rate>\d{1,9}\.\d\d) (?P<unit>[kM])B/sec"
)
_BYTES = {"k": 2.0**10, "M": 2.0**20}


def parse_hdparm(text: str) -> Output:
    """Return one result for each timing of a device's reads.

    Raises:
        ParseError: no such timing.
    """
    results: list[Result] = []
    device: str | None = None
    for line in lines(text):
        if (named := _DEVICE.match(line)) is not None:
            device = named["device"]
        elif (found := _READ.match(line)) is not None:
            name = ", ".join(part for part in (device, "O_DIRECT" if found["direct"] == "O_DIRECT" else "") if part)
            results.append(
                Result(name or None, {"read_bytes_per_second": float(found["rate"]) * _BYTES[found["unit"]]})
            )
    if not results:
        expected = "a line such as 'Timing buffered disk reads: 204 MB in 3.00 seconds = 67.98 MB/sec'"
        raise no_result("hdparm", expected, text)
    return Output("hdparm", None, tuple(results))
