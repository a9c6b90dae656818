"""The plots, drawn by pyqtgraph. Imported late and on a thread: pyqtgraph takes half a second to load."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import QHBoxLayout, QWidget

from core import units
from core.benchmarks.model import Side
from core.comparison.model import Sample
from core.migration.model.estimate import Estimate, Method, Span
from gui.appearance import Tone, colour
from gui.models.comparison import Bars
from gui.models.words import method_name
from gui.models.words import span as span_words

BAR = 0.36
ROOM_FOR_LEGEND = 1.25
ROOM_BESIDE = 0.4
"""Room for the legend, in places of a bar: it never covers one."""
LANE = 0.38
"""Height of a lane, of the place of a method: its two lanes have a gap between them and the next method's."""
TIMES = ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes"), (1.0, "seconds"))


class Swatch(pg.ItemSample):  # type: ignore[misc]  # pyqtgraph is not typed
    """The square of one colour in a legend."""

    def paint(self, painter: QPainter, *_: Any) -> None:
        painter.fillRect(4, 4, 12, 12, pg.mkBrush(self.item.opts["brush"]))


class ComparisonPlot(QWidget):
    """Bars of old and new beside each other, one plot for each unit; whiskers from the lowest to the highest."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: tuple[Bars, ...] = ()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 4, 0, 0)

    def show_bars(self, bars: tuple[Bars, ...]) -> None:
        """Draw these bars in place of those before."""
        self._bars = bars
        _clear(self._row)
        for one in bars:
            self._row.addWidget(_bar_plot(one, self), max(2, len(one.names)))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.show_bars(self._bars)


def _bar_plot(bars: Bars, parent: QWidget) -> QWidget:
    plot = _plot(parent, f"{bars.title}, {bars.unit}", f"{bars.title} of old and new, in {bars.unit}")
    plot.setAccessibleDescription(_described(bars))
    plot.getAxis("bottom").setTicks([[*enumerate(_below(name) for name in bars.names)]])
    plot.getAxis("bottom").setHeight(parent.fontMetrics().height() * 2 + 10)
    plot.showGrid(y=True, alpha=0.15)
    for place, side, tone, samples in ((-0.5, Side.OLD, Tone.OLD, bars.old), (0.5, Side.NEW, Tone.NEW, bars.new)):
        _draw(plot, place * (BAR + 0.02), side, tone, samples, bars.divisor)
    plot.setXRange(-0.6, len(bars.names) - 0.4 + ROOM_BESIDE, padding=0)
    highest = max((sample.high for sample in (*bars.old, *bars.new) if sample is not None), default=1.0)
    plot.setYRange(0, highest / bars.divisor * 1.12 or 1.0, padding=0)
    return plot  # type: ignore[no-any-return]  # pyqtgraph is not typed


def _plot(parent: QWidget, title: str, name: str) -> pg.PlotWidget:
    """An empty plot in the window's own colours and font, to be looked at and not to be dragged."""
    text, base = (parent.palette().color(role) for role in (QPalette.ColorRole.Text, QPalette.ColorRole.Base))
    plot = pg.PlotWidget(parent, background=base)
    plot.setAccessibleName(name)
    plot.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    plot.setMenuEnabled(False)
    plot.setMouseEnabled(x=False, y=False)
    plot.hideButtons()
    plot.getPlotItem().setContentsMargins(4, 4, 10, 4)
    plot.setTitle(escape(title), color=text, size=f"{parent.font().pointSizeF():.0f}pt")
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(text)
        axis.setTextPen(text)
        axis.enableAutoSIPrefix(False)
        axis.setStyle(tickFont=parent.font())
    plot.addLegend(offset=(-8, 4), sampleType=Swatch, labelTextColor=text, brush=base)
    return plot


def _clear(row: QHBoxLayout) -> None:
    while row.count():
        item = row.takeAt(0)
        widget = None if item is None else item.widget()
        if widget is not None:
            widget.deleteLater()


def _draw(
    plot: pg.PlotWidget, shift: float, side: Side, tone: Tone, samples: Sequence[Sample | None], divisor: float
) -> None:
    found = [(number + shift, sample) for number, sample in enumerate(samples) if sample is not None]
    places = [place for place, _sample in found]
    heights = np.array([sample.mean / divisor for _place, sample in found])
    filling = colour(tone)
    item = pg.BarGraphItem(x=places, height=heights, width=BAR, brush=filling, pen=filling, name=str(side))
    plot.addItem(item)
    if found:
        whiskers = pg.ErrorBarItem(
            x=np.array(places),
            y=heights,
            top=np.array([sample.high / divisor for _place, sample in found]) - heights,
            bottom=heights - np.array([sample.low / divisor for _place, sample in found]),
            beam=0.1,
            pen=plot.palette().color(QPalette.ColorRole.Text),
        )
        plot.addItem(whiskers)


def _below(name: str) -> str:
    """A workload's name in two lines, so that neighbours do not run into each other."""
    words = name.split()
    half = (len(words) + 1) // 2
    return " ".join(words[:half]) + "\n" + " ".join(words[half:])


def _described(bars: Bars) -> str:
    """The bars in words, for a screen reader."""
    return "; ".join(
        f"{name}: old {_number(old, bars)}, new {_number(new, bars)}"
        for name, old, new in zip(bars.names, bars.old, bars.new, strict=True)
    )


def _number(sample: Sample | None, bars: Bars) -> str:
    return "not measured" if sample is None else f"{sample.mean / bars.divisor:.4g} {bars.unit}"


class EstimatePlot(QWidget):
    """Each method in two lanes, duration over downtime: a bar to the likely value, a whisker from low to high."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._estimate = Estimate(())
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)

    def show_estimate(self, estimate: Estimate) -> None:
        """Draw this estimate in place of the one before."""
        self._estimate = estimate
        _clear(self._row)
        if estimate.methods:
            self._row.addWidget(_estimate_plot(estimate, self))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self.show_estimate(self._estimate)


def _estimate_plot(estimate: Estimate, parent: QWidget) -> QWidget:
    methods = estimate.methods
    end = shown_until(methods)
    divisor, unit = next((one for one in TIMES if end >= 2 * one[0]), TIMES[-1])
    plot = _plot(parent, f"Duration and downtime, {unit}", f"Duration and downtime of each method, in {unit}")
    places = np.arange(len(methods), dtype=float)[::-1]
    for tone, name, spans, shift in (
        (Tone.MUTED, "duration", [method.duration_seconds for method in methods], LANE / 2),
        (Tone.BAD, "downtime", [method.downtime_seconds for method in methods], -LANE / 2),
    ):
        _lanes(plot, (tone, name), places + shift, spans, (end, divisor))
    plot.getAxis("left").setTicks(
        [[(place, method_name(one.method)) for place, one in zip(places, methods, strict=True)]]
    )
    plot.setYRange(-0.5, len(methods) - 0.5, padding=0)
    plot.setXRange(0, end / divisor * ROOM_FOR_LEGEND or 1.0, padding=0)
    plot.setAccessibleDescription(
        "; ".join(f"{method_name(one.method)}: {span_words(one.duration_seconds)}" for one in methods)
    )
    return plot  # type: ignore[no-any-return]  # pyqtgraph is not typed


def shown_until(methods: Sequence[Method]) -> float:
    """Where the axis ends, in seconds: at the longest of what can be, but no more than twice the longest likely.

    One method that may take very long would leave nothing of the others' bars; what goes on says how far.
    """
    longest = max(method.duration_seconds.high for method in methods)
    likely = max(method.duration_seconds.likely for method in methods)
    return min(longest, 2 * likely) if likely > 0 else longest


def _lanes(
    plot: pg.PlotWidget,
    shown_as: tuple[Tone, str],
    places: "np.ndarray[Any, Any]",
    spans: Sequence[Span],
    axis: tuple[float, float],
) -> None:
    """One lane a method: a bar to the likely value, a whisker from low to high; `axis`: its end and what divides it."""
    end, divisor = axis
    likely, low, high = (
        np.array([min(getattr(span, name), end) for span in spans]) / divisor for name in ("likely", "low", "high")
    )
    filling, text = colour(shown_as[0]), plot.palette().color(QPalette.ColorRole.Text)
    plot.addItem(
        pg.BarGraphItem(
            x0=np.zeros(len(spans)), y=places, width=likely, height=LANE, brush=filling, pen=filling, name=shown_as[1]
        )
    )
    plot.addItem(pg.ErrorBarItem(x=likely, y=places, left=likely - low, right=high - likely, beam=LANE / 2, pen=text))
    for place, span in zip(places, spans, strict=True):
        if span.high > end:
            item = pg.TextItem(f"… {units.duration(span.high)}", color=text, anchor=(0, 0.5))
            item.setFont(plot.font())
            item.setPos(end / divisor, place)
            plot.addItem(item)
