"""How each part of the window is painted: what `Style` paints in place of Fusion."""

import time
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, TypeAlias

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPalette, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QDialogButtonBox,
    QPushButton,
    QScrollArea,
    QStyle,
    QStyleOption,
    QStyleOptionButton,
    QStyleOptionTab,
    QStyleOptionViewItem,
    QTabBar,
    QToolButton,
    QWidget,
)

from core.tones import Tone
from gui.design.measures import GRID, RADIUS
from gui.design.painting import paint_box, saved_state
from gui.design.palette import Ground, colour

Paint = Callable[[Any, QPainter, QWidget | None], None]
Element: TypeAlias = QStyle.PrimitiveElement
Control: TypeAlias = QStyle.ControlElement
Complex: TypeAlias = QStyle.ComplexControl
State, Sub = QStyle.StateFlag, QStyle.SubControl
RING = 2
"""The width of the focus ring."""
BAR = 6
"""The thickness of a scroll bar's handle and of a progress bar."""
WANDER_SECONDS = 4.0


SELECTED = State.State_Selected.value
UNDER_MOUSE = State.State_MouseOver.value | State.State_Enabled.value
ALTERNATE = QStyleOptionViewItem.ViewItemFeature.Alternate.value
_Place: TypeAlias = QStyleOptionViewItem.ViewItemPosition
FIRST = {_Place.Beginning, _Place.OnlyOne, _Place.Invalid}
"""Where in its row a cell begins it."""


class ButtonKind(Enum):
    """What a button does, as far as it shows: the one main action of a page, or one that destroys or takes back."""

    SECONDARY = "secondary"
    PRIMARY = "primary"
    DANGER = "danger"
    WARNING = "warning"
    """Leads to warnings."""
    QUIET = "quiet"
    """Without a border until the mouse is over it."""
    LINK = "link"
    """A text that leads out of the window."""


def set_kind(button: QAbstractButton, kind: ButtonKind) -> None:
    """Draw the button as of this kind from now on."""
    button.setProperty("kind", kind.value)
    button.update()


def kind_of(button: QWidget | None, option: QStyleOptionButton | None = None) -> ButtonKind:
    """Return what was set, else what a dialog makes of the button: one that destroys, or its default."""
    told = None if button is None else button.property("kind")
    if told is not None:
        return ButtonKind(told)
    box = None if button is None else button.parent()
    if isinstance(box, QDialogButtonBox) and isinstance(button, QAbstractButton):
        role = box.buttonRole(button)
        if role is QDialogButtonBox.ButtonRole.DestructiveRole:
            return ButtonKind.DANGER
    if option is not None and option.features & QStyleOptionButton.ButtonFeature.DefaultButton:
        return ButtonKind.PRIMARY
    return ButtonKind.SECONDARY


# --- buttons


def _button(option: QStyleOptionButton, painter: QPainter, widget: QWidget | None) -> None:
    room, state, kind = QRectF(option.rect), option.state, kind_of(widget, option)
    on, pressed = bool(state & State.State_Enabled), bool(state & (State.State_Sunken | State.State_On))
    over, focused = bool(state & State.State_MouseOver), bool(state & State.State_HasFocus)
    if kind is ButtonKind.LINK:
        if focused:
            paint_box(painter, room, None, colour(Tone.ACCENT), width=RING, radius=GRID)
        return
    fill = colour(Ground.PRESSED if pressed else Ground.HOVER if over and on else Ground.SURFACE)
    edge: QColor | None = colour(Ground.EDGE if on else Ground.BORDER)
    if kind is ButtonKind.PRIMARY and on:
        fill, edge = colour(Tone.ACCENT), None
        if pressed or over:
            fill = _mixed(fill, colour(Ground.TEXT), 0.25 if pressed else 0.12)
    elif kind is ButtonKind.DANGER and on:
        edge = colour(Tone.BAD if over else Ground.EDGE)
    elif kind is ButtonKind.QUIET and not pressed:
        edge = None
        if not (over and on):
            fill = QColor(Qt.GlobalColor.transparent)
    elif not on:
        fill = colour(Ground.WINDOW)
    paint_box(painter, room, fill, edge)
    if focused and kind is ButtonKind.PRIMARY:
        inner = room.adjusted(RING, RING, -RING, -RING)
        paint_box(painter, inner, None, colour(Ground.ON_ACCENT), width=RING, radius=RADIUS - RING)
    elif focused:
        paint_box(painter, room, None, colour(Tone.ACCENT), width=RING)


def _button_label(option: QStyleOptionButton, painter: QPainter, widget: QWidget | None) -> None:
    shade = option.palette.color(QPalette.ColorRole.ButtonText)
    if option.state & State.State_Enabled:
        kind = kind_of(widget, option)
        if kind is ButtonKind.PRIMARY:
            shade = colour(Ground.ON_ACCENT)
        elif kind is ButtonKind.DANGER:
            shade = colour(Tone.BAD)
        elif kind is ButtonKind.LINK:
            shade = colour(Tone.ACCENT)
        elif kind is ButtonKind.WARNING:
            shade = colour(Tone.WARNING)
    metrics, room = option.fontMetrics, option.rect
    mnemonic = int(Qt.TextFlag.TextShowMnemonic)
    width = metrics.size(mnemonic, option.text).width()
    with saved_state(painter):
        painter.setPen(shade)
        if not option.icon.isNull():
            side, gap = option.iconSize.width(), GRID + 2 if option.text else 0
            left = room.left() + (room.width() - width - side - gap) // 2
            place = QRect(max(room.left(), left), room.center().y() - side // 2 + 1, side, side)
            painter.drawPixmap(place, _tinted(option.icon, option.iconSize, painter.device().devicePixelRatio(), shade))
            room = QRect(place.right() + gap, room.top(), width + 2, room.height())
        flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextSingleLine) | mnemonic
        painter.drawText(room, flags, option.text)


def _combo_text(option: Any) -> None:
    """The chosen entry, with an ellipsis where the box is too narrow for it: Fusion leaves a pixel at either end."""
    room = QApplication.style().subControlRect(Complex.CC_ComboBox, option, Sub.SC_ComboBoxEditField, None).width()
    option.currentText = option.fontMetrics.elidedText(option.currentText, Qt.TextElideMode.ElideRight, room - 2)


def _tool_button_label(option: Any) -> None:
    """An icon gets the colour of a text."""
    if not option.icon.isNull():
        shade = colour(Ground.TEXT if option.state & State.State_Enabled else Ground.DISABLED)
        ratio = QApplication.primaryScreen().devicePixelRatio()
        option.icon = QIcon(_tinted(option.icon, option.iconSize, ratio, shade))


def _tool_button(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    state = option.state
    pressed = bool(state & (State.State_Sunken | State.State_On))
    over = bool(state & State.State_MouseOver and state & State.State_Enabled)
    flat = bool(state & State.State_AutoRaise)
    if pressed or over or not flat:
        fill = Ground.PRESSED if pressed else Ground.HOVER if over else Ground.SURFACE
        paint_box(painter, QRectF(option.rect), colour(fill), None if flat else colour(Ground.EDGE))
    if state & State.State_HasFocus:
        paint_box(painter, QRectF(option.rect), None, colour(Tone.ACCENT), width=RING)


# --- fields and boxes


def _field(option: Any, painter: QPainter, _widget: QWidget | None) -> None:
    if option.lineWidth > 0:
        _paint_field(painter, option)


def _combo(option: Any, painter: QPainter, _widget: QWidget | None) -> None:
    _paint_field(painter, option, lively=not option.editable)
    _paint_chevron(painter, QRectF(option.rect.right() - 24, option.rect.top(), 20, option.rect.height()), option)


def _spin(option: Any, painter: QPainter, widget: QWidget | None) -> None:
    _paint_field(painter, option)
    for part, turned in ((Sub.SC_SpinBoxUp, True), (Sub.SC_SpinBoxDown, False)):
        place = QApplication.style().subControlRect(Complex.CC_SpinBox, option, part, widget)
        _paint_chevron(painter, QRectF(place), option, upwards=turned)


def _check(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    room = _square(option.rect)
    on = bool(option.state & State.State_Enabled)
    partly = bool(option.state & State.State_NoChange)
    checked = bool(option.state & State.State_On) or partly
    if not checked:
        edge = Tone.MUTED if on else Ground.EDGE
        paint_box(painter, room, colour(Ground.SURFACE if on else Ground.WINDOW), colour(edge), radius=3)
        return
    paint_box(painter, room, colour(Tone.ACCENT if on else Ground.DISABLED), None, radius=3)
    ticks = ((0.25, 0.5), (0.75, 0.5)) if partly else ((0.22, 0.52), (0.43, 0.73), (0.79, 0.3))
    _paint_line(painter, room, ticks, colour(Ground.ON_ACCENT), 1.8)


def _radio(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    room = _square(option.rect)
    on, checked = bool(option.state & State.State_Enabled), bool(option.state & State.State_On)
    edge = (Tone.ACCENT if on else Ground.DISABLED) if checked else Tone.MUTED if on else Ground.EDGE
    paint_box(painter, room, colour(Ground.SURFACE), colour(edge), radius=room.width() / 2)
    if checked:
        inner = room.adjusted(4, 4, -4, -4)
        paint_box(painter, inner, colour(edge), None, radius=inner.width() / 2)


def _ring(option: QStyleOption, painter: QPainter, widget: QWidget | None) -> None:
    """The focus ring of a box around its words; in a view, of the current cell that is not chosen."""
    if isinstance(widget, QPushButton | QToolButton | QTabBar):
        return  # these have painted theirs
    if isinstance(option, QStyleOptionViewItem) or isinstance(widget, QAbstractScrollArea):
        if not option.state & State.State_Selected:
            paint_box(painter, QRectF(option.rect), None, colour(Tone.ACCENT), width=RING, radius=2)
        return
    room = QRectF(option.rect).adjusted(-GRID, -1, GRID, 1)
    paint_box(painter, room, None, colour(Tone.ACCENT), width=RING, radius=GRID)


# --- frames


def _frame(option: QStyleOption, painter: QPainter, widget: QWidget | None) -> None:
    """A card is filled with the ground of its role; a view has a square frame, which its content leaves."""
    if isinstance(widget, QAbstractScrollArea):
        focused = widget.hasFocus() and option.state & State.State_Enabled
        edge = Tone.ACCENT if focused else Ground.BORDER
        paint_box(painter, QRectF(option.rect), None, colour(edge), radius=0.5)
        return
    fill = None if widget is None else widget.palette().color(widget.backgroundRole())
    edge = Ground.EDGE if option.state & State.State_Raised else Ground.BORDER
    paint_box(painter, QRectF(option.rect), fill, colour(edge))


def _group(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    paint_box(painter, QRectF(option.rect), colour(Ground.SURFACE), colour(Ground.BORDER))


def _menu(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    painter.fillRect(option.rect, colour(Ground.SURFACE))
    paint_box(painter, QRectF(option.rect), None, colour(Ground.EDGE), radius=0.5)


def _nothing(_option: QStyleOption, _painter: QPainter, _widget: QWidget | None) -> None:
    pass


def _window(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    painter.fillRect(option.rect, colour(Ground.WINDOW))


def _bar_above(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    """A tool bar: one ground with the menu, and a line below it."""
    painter.fillRect(option.rect, colour(Ground.WINDOW))
    line = QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1)
    painter.fillRect(line, colour(Ground.BORDER))


def _bar_below(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    """The status bar, with a line above it."""
    line = QRect(option.rect.left(), option.rect.top(), option.rect.width(), 1)
    painter.fillRect(line, colour(Ground.BORDER))


def _menu_bar_item(option: Any, painter: QPainter, _widget: QWidget | None) -> None:
    painter.fillRect(option.rect, colour(Ground.WINDOW))
    if option.state & (State.State_Selected | State.State_Sunken) and option.state & State.State_Enabled:
        paint_box(painter, QRectF(option.rect), colour(Ground.PRESSED), None, radius=GRID)
    with saved_state(painter):
        painter.setPen(colour(Ground.TEXT if option.state & State.State_Enabled else Ground.DISABLED))
        flags = int(Qt.AlignmentFlag.AlignCenter) | int(Qt.TextFlag.TextShowMnemonic)
        painter.drawText(option.rect, flags, option.text)


def _splitter(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    """Three dots, to show where it is held."""
    across = bool(option.state & State.State_Horizontal)
    middle = QRectF(option.rect).center()
    over = option.state & (State.State_MouseOver | State.State_Sunken)
    shade = colour(Tone.ACCENT if over else Ground.EDGE)
    for number in (-1, 0, 1):
        away = QPointF(0, number * 6) if across else QPointF(number * 6, 0)
        place = QRectF(0, 0, 3, 3)
        place.moveCenter(middle + away)
        paint_box(painter, place, shade, None, radius=1.5)


# --- tabs, heads and rows


def _tab(option: QStyleOptionTab, painter: QPainter, _widget: QWidget | None) -> None:
    chosen, over = option.state & State.State_Selected, option.state & State.State_MouseOver
    if chosen or over:
        line = QRect(option.rect.left() + GRID, option.rect.bottom() - 1, option.rect.width() - 2 * GRID, 2)
        painter.fillRect(line, colour(Tone.ACCENT if chosen else Ground.EDGE))
    if option.state & State.State_HasFocus:
        room = QRectF(option.rect).adjusted(GRID, GRID, -GRID, -GRID)
        paint_box(painter, room, None, colour(Tone.ACCENT), width=RING, radius=GRID)


def _tab_label(option: Any) -> None:
    chosen, on = option.state & State.State_Selected, option.state & State.State_Enabled
    told = colour(Ground.TEXT if chosen else Tone.MUTED) if on else colour(Ground.DISABLED)
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
        option.palette.setColor(role, told)


def _tab_line(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    line = QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1)
    painter.fillRect(line, colour(Ground.BORDER))


def _head(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    painter.fillRect(option.rect, colour(Ground.ALTERNATE))
    line = QRect(option.rect.left(), option.rect.bottom(), option.rect.width(), 1)
    painter.fillRect(line, colour(Ground.BORDER))


def _head_label(option: Any) -> None:
    for role in (QPalette.ColorRole.WindowText, QPalette.ColorRole.ButtonText):
        option.palette.setColor(role, colour(Tone.MUTED))


def _row(option: QStyleOptionViewItem, painter: QPainter, _widget: QWidget | None) -> None:
    if option.state.value & SELECTED:
        painter.fillRect(option.rect, colour(Ground.SELECTION))
    elif option.features.value & ALTERNATE:
        painter.fillRect(option.rect, colour(Ground.ALTERNATE))


def _item(option: QStyleOptionViewItem, painter: QPainter, widget: QWidget | None) -> None:
    """The ground of a cell, and at the left of a chosen row a bar: in the accent while its view has the focus."""
    state = option.state.value  # numbers: this is called for each cell, and flags take their time
    if state & SELECTED:
        painter.fillRect(option.rect, colour(Ground.SELECTION))
        if option.viewItemPosition in FIRST:
            told = Tone.ACCENT if widget is not None and widget.hasFocus() else Ground.EDGE
            painter.fillRect(QRect(option.rect.topLeft(), QSize(3, option.rect.height())), colour(told))
    elif state & UNDER_MOUSE == UNDER_MOUSE:
        painter.fillRect(option.rect, colour(Ground.HOVER))
    elif option.backgroundBrush.style() is not Qt.BrushStyle.NoBrush:
        painter.fillRect(option.rect, option.backgroundBrush)


def _item_text(option: QStyleOptionViewItem) -> None:
    """A tone stays what it is in a chosen row."""
    if option.state.value & SELECTED:
        option.palette.setBrush(QPalette.ColorRole.HighlightedText, option.palette.brush(QPalette.ColorRole.Text))


# --- scroll bars and progress


def _scroll_bar(option: Any, painter: QPainter, widget: QWidget | None) -> None:
    holder = None if widget is None else widget.parent()
    on_page = holder is not None and isinstance(holder.parent(), QScrollArea)
    painter.fillRect(option.rect, colour(Ground.WINDOW if on_page else Ground.SURFACE))
    if option.maximum <= option.minimum:
        return
    room = QRectF(QApplication.style().subControlRect(Complex.CC_ScrollBar, option, Sub.SC_ScrollBarSlider, widget))
    lying = option.orientation is Qt.Orientation.Horizontal
    spare = ((room.height() if lying else room.width()) - BAR) / 2
    room = room.adjusted(0, spare, 0, -spare) if lying else room.adjusted(spare, 0, -spare, 0)
    held = option.activeSubControls & Sub.SC_ScrollBarSlider and option.state & State.State_Enabled
    paint_box(painter, room, colour(Tone.MUTED if held else Ground.EDGE), None, radius=BAR / 2)


def _groove(option: QStyleOption, painter: QPainter, _widget: QWidget | None) -> None:
    paint_box(painter, _flat(option.rect), colour(Ground.BORDER), None, radius=BAR / 2)


def _progress(option: Any, painter: QPainter, _widget: QWidget | None) -> None:
    """The part that is done; where nobody knows how much there is, a part that wanders with every picture."""
    room, span = _flat(option.rect), option.maximum - option.minimum
    if span <= 0:
        start = room.left() + (time.monotonic() / WANDER_SECONDS % 1) * room.width() * 2 / 3
        done = QRectF(start, room.top(), room.width() / 3, BAR)
    else:
        share = min(1.0, max(0.0, (option.progress - option.minimum) / span))
        done = QRectF(room.left(), room.top(), room.width() * share, BAR)
    if done.width() >= 1:
        paint_box(painter, done, colour(Tone.ACCENT), None, radius=BAR / 2)


def _mixed(one: QColor, other: QColor, share: float) -> QColor:
    parts = ((one.redF(), other.redF()), (one.greenF(), other.greenF()), (one.blueF(), other.blueF()))
    return QColor.fromRgbF(*(a * (1 - share) + b * share for a, b in parts))


def _square(room: QRect) -> QRectF:
    side = min(room.width(), room.height())
    made = QRectF(0, 0, side, side)
    made.moveCenter(QRectF(room).center())
    return made


def _flat(room: QRect) -> QRectF:
    """The middle of a progress bar's room, as high as the bar."""
    return QRectF(room.left(), room.center().y() - BAR / 2 + 1, room.width(), BAR)


def _paint_field(painter: QPainter, option: QStyleOption, *, lively: bool = False) -> None:
    """The ground of what takes input; `lively`: it answers to the mouse as a button does."""
    on, focused = bool(option.state & State.State_Enabled), bool(option.state & State.State_HasFocus)
    over = lively and on and bool(option.state & State.State_MouseOver)
    fill = Ground.HOVER if over else Ground.SURFACE if on else Ground.WINDOW
    edge = Tone.ACCENT if focused else Ground.EDGE if on else Ground.BORDER
    paint_box(painter, QRectF(option.rect), colour(fill), colour(edge), width=RING if focused else 1)


def _paint_line(
    painter: QPainter, room: QRectF, points: tuple[tuple[float, float], ...], shade: QColor, width: float
) -> None:
    """A line with round ends through points that are given as parts of the room."""
    made = [QPointF(room.left() + x * room.width(), room.top() + y * room.height()) for x, y in points]
    with saved_state(painter):
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(shade, width, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap, Qt.PenJoinStyle.RoundJoin))
        painter.drawPolyline(QPolygonF(made))


def _paint_chevron(painter: QPainter, room: QRectF, option: QStyleOption, *, upwards: bool = False) -> None:
    place = QRectF(0, 0, 8, 4)
    place.moveCenter(room.center() + QPointF(0, 0.5))
    points = ((0.0, 1.0), (0.5, 0.0), (1.0, 1.0)) if upwards else ((0.0, 0.0), (0.5, 1.0), (1.0, 0.0))
    shade = colour(Tone.MUTED if option.state & State.State_Enabled else Ground.EDGE)
    _paint_line(painter, place, points, shade, 1.5)


def _tinted(icon: QIcon, size: QSize, ratio: float, shade: QColor) -> QPixmap:
    """Return an icon as a stencil in that colour."""
    made = QPixmap(icon.pixmap(size, ratio))
    painter = QPainter(made)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
    painter.fillRect(made.rect(), shade)
    painter.end()
    return made


PRIMITIVES: Mapping[Element, Paint] = {
    Element.PE_PanelButtonCommand: _button,
    Element.PE_FrameDefaultButton: _nothing,
    Element.PE_PanelButtonTool: _tool_button,
    Element.PE_PanelLineEdit: _field,
    Element.PE_FrameLineEdit: _field,
    Element.PE_IndicatorCheckBox: _check,
    Element.PE_IndicatorItemViewItemCheck: _check,
    Element.PE_IndicatorRadioButton: _radio,
    Element.PE_FrameFocusRect: _ring,
    Element.PE_Frame: _frame,
    Element.PE_FrameGroupBox: _group,
    Element.PE_FrameTabWidget: _group,
    Element.PE_PanelMenu: _menu,
    Element.PE_FrameMenu: _nothing,
    Element.PE_PanelTipLabel: _menu,
    Element.PE_PanelStatusBar: _bar_below,
    Element.PE_FrameStatusBarItem: _nothing,
    Element.PE_PanelMenuBar: _window,
    Element.PE_FrameTabBarBase: _tab_line,
    Element.PE_PanelItemViewRow: _row,
    Element.PE_PanelItemViewItem: _item,
}
CONTROLS: Mapping[Control, Paint] = {
    Control.CE_PushButtonLabel: _button_label,
    Control.CE_TabBarTabShape: _tab,
    Control.CE_HeaderSection: _head,
    Control.CE_HeaderEmptyArea: _head,
    Control.CE_ToolBar: _bar_above,
    Control.CE_MenuBarEmptyArea: _window,
    Control.CE_MenuBarItem: _menu_bar_item,
    Control.CE_Splitter: _splitter,
    Control.CE_ProgressBarGroove: _groove,
    Control.CE_ProgressBarContents: _progress,
}
COMPLEX: Mapping[Complex, Paint] = {
    Complex.CC_ComboBox: _combo,
    Complex.CC_SpinBox: _spin,
    Complex.CC_ScrollBar: _scroll_bar,
}
PREPARED: Mapping[Control, Callable[[Any], None]] = {
    Control.CE_TabBarTabLabel: _tab_label,
    Control.CE_HeaderLabel: _head_label,
    Control.CE_ComboBoxLabel: _combo_text,
    Control.CE_ItemViewItem: _item_text,
    Control.CE_ToolButtonLabel: _tool_button_label,
}
"""What Fusion paints once its options are ours."""
