"""The style of the window: Fusion, with flat surfaces, borders of one pixel and a focus ring in place of its bevels.

It paints with QPainter over the palette; there is no style sheet. What `parts` does not paint, Fusion does.
"""

from collections.abc import Mapping
from typing import TypeAlias

from PySide6.QtCore import QObject, QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QLineEdit,
    QProxyStyle,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QStyleOptionComplex,
    QStyleOptionMenuItem,
    QWidget,
)

from gui.design.measures import CONTROL, GAP, GRID, ICON, ROW, scaled
from gui.design.parts import COMPLEX, CONTROLS, PREPARED, PRIMITIVES, ButtonKind, kind_of
from gui.guard import Guarded

SEPARATOR = QStyleOptionMenuItem.MenuItemType.Separator
Metric: TypeAlias = QStyle.PixelMetric
Content: TypeAlias = QStyle.ContentsType
METRICS: Mapping[Metric, int] = {
    Metric.PM_ScrollBarExtent: 12,
    Metric.PM_ScrollBarSliderMin: ROW,
    Metric.PM_IndicatorWidth: ICON,
    Metric.PM_IndicatorHeight: ICON,
    Metric.PM_ExclusiveIndicatorWidth: ICON,
    Metric.PM_ExclusiveIndicatorHeight: ICON,
    Metric.PM_CheckBoxLabelSpacing: GAP,
    Metric.PM_RadioButtonLabelSpacing: GAP,
    Metric.PM_ButtonShiftHorizontal: 0,
    Metric.PM_ButtonShiftVertical: 0,
    Metric.PM_ButtonIconSize: ICON,
    Metric.PM_DefaultFrameWidth: 1,
    Metric.PM_FocusFrameHMargin: GRID + 2,
    Metric.PM_SplitterWidth: GAP,
    Metric.PM_TabBarTabVSpace: 20,
    Metric.PM_ToolBarItemMargin: GAP,
    Metric.PM_ToolBarItemSpacing: GAP,
    Metric.PM_ToolBarFrameWidth: 0,
    Metric.PM_LayoutHorizontalSpacing: GAP,
    Metric.PM_LayoutVerticalSpacing: GAP,
}
INSETS: Mapping[tuple[QStyle.ComplexControl, QStyle.SubControl], int] = {
    (QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField): GRID,
    (QStyle.ComplexControl.CC_SpinBox, QStyle.SubControl.SC_SpinBoxEditField): GRID // 2,
}
"""By how much further in than Fusion puts it a text begins: at one edge with those of the fields above and below."""
SIZES: Mapping[Content, tuple[int, int]] = {
    Content.CT_PushButton: (5 * GRID, CONTROL),
    Content.CT_ComboBox: (GAP, CONTROL),
    Content.CT_LineEdit: (0, CONTROL),
    Content.CT_SpinBox: (GRID // 2, CONTROL),
    Content.CT_CheckBox: (GRID, 0),
    Content.CT_RadioButton: (GRID, 0),
    Content.CT_ItemViewItem: (0, ROW),
    Content.CT_HeaderSection: (0, ROW),
    Content.CT_MenuItem: (0, ROW),
    Content.CT_MenuBarItem: (GRID, ROW),
    Content.CT_ToolButton: (GRID, CONTROL),
}
"""By what each is wider than Fusion makes it, and how high it is at least, before scaling."""


class Style(Guarded, QProxyStyle):
    """Paints the window. It is a child of the application, so that Python's part of it lives as long as Qt's."""

    def __init__(self, parent: QObject) -> None:
        super().__init__("Fusion")
        self.setParent(parent)

    def drawPrimitive(
        self,
        element: QStyle.PrimitiveElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        paint = PRIMITIVES.get(element)
        if paint is None:
            super().drawPrimitive(element, option, painter, widget)
        else:
            paint(option, painter, widget)

    def drawControl(
        self, element: QStyle.ControlElement, option: QStyleOption, painter: QPainter, widget: QWidget | None = None
    ) -> None:
        paint, prepare = CONTROLS.get(element), PREPARED.get(element)
        if paint is not None:
            paint(option, painter, widget)
            return
        if prepare is not None:
            prepare(option)
        super().drawControl(element, option, painter, widget)

    def drawComplexControl(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        paint = COMPLEX.get(control)
        if paint is None:
            super().drawComplexControl(control, option, painter, widget)
        else:
            paint(option, painter, widget)

    def pixelMetric(self, metric: Metric, option: QStyleOption | None = None, widget: QWidget | None = None) -> int:
        found = METRICS.get(metric)
        if metric is Metric.PM_DefaultFrameWidth and isinstance(widget, QLineEdit):
            found = GRID + 1  # it adds two of its own
        return super().pixelMetric(metric, option, widget) if found is None else found

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returned: QStyleHintReturn | None = None,
    ) -> int:
        if hint is QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons:
            return 0  # Fusion's own are no icons of the window
        return super().styleHint(hint, option, widget, returned)

    def subControlRect(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        part: QStyle.SubControl,
        widget: QWidget | None = None,
    ) -> QRect:
        made = super().subControlRect(control, option, part, widget)  # type: ignore[arg-type]  # as above
        return made.adjusted(INSETS.get((control, part), 0), 0, 0, 0)

    def sizeFromContents(
        self, kind: Content, option: QStyleOption, size: QSize, widget: QWidget | None = None
    ) -> QSize:
        made = super().sizeFromContents(kind, option, size, widget)  # type: ignore[arg-type]  # Qt takes no widget too
        wider, least = SIZES.get(kind, (0, 0))
        if isinstance(option, QStyleOptionMenuItem) and option.menuItemType is SEPARATOR:
            return made
        if kind is Content.CT_PushButton and kind_of(widget) is ButtonKind.LINK:
            return QSize(size.width(), size.height() + GRID)
        if kind is Content.CT_PushButton:  # Fusion makes each as wide as `Cancel`
            made.setWidth(max(size.width(), 2 * CONTROL - wider))
        return QSize(made.width() + wider, max(made.height(), scaled(least)))
