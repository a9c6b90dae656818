"""watchdog.py LAB: wait until whoever started it closes the pipe or dies, then take the lab down."""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))


def main() -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    from tests.lab import lab

    sys.stdin.read()
    lab.down(sys.argv[1])


if __name__ == "__main__":
    main()
