"""Python's cyclic garbage, collected on the window's thread alone.

Python collects on whichever thread happens to allocate. A Qt object in a cycle that dies on a worker thread leaves its
timers and events behind on the window's, and the program crashes a moment later.
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

INTERVAL_MS = 500


class Collector(QObject):
    """Takes the place of automatic collection from its start until its stop. Lives on the window's thread."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._thresholds = gc.get_threshold()
        self._automatic = gc.isenabled()
        self._timer = QTimer(self, interval=INTERVAL_MS)
        self._timer.timeout.connect(self.collect)
        gc.disable()
        self._timer.start()

    def set_aside(self) -> None:
        """What lives now lives as long as the program (modules, mostly): do not look through it each time."""
        gc.freeze()

    def stop(self) -> None:
        """Hand back to Python: no worker thread runs any more."""
        self._timer.stop()
        if self._automatic:
            gc.enable()

    @Slot()
    def collect(self) -> None:
        """Collect the oldest generation that is due, as Python itself would."""
        counts = gc.get_count()
        for generation in (2, 1, 0):
            if counts[generation] > self._thresholds[generation]:
                gc.collect(generation)
                return
