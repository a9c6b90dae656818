"""What the style paints, by its pixels, and how large it makes controls."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QFontInfo
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QComboBox,
    QDialogButtonBox,
    QGroupBox,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QTabBar,
    QTabWidget,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from core.tones import Tone
from gui import appearance
from gui.design.icons import Icon, IconView, button_icon
from gui.design.measures import CONTROL, GRID, ROW, Type, font, scale
from gui.design.palette import Ground, colour, is_dark
from gui.design.parts import PREPARED, ButtonKind, kind_of, set_kind
from gui.design.style import Style
from gui.pages.kinds import PAGES
from gui.window import MainWindow
from tests.gui.conftest import page


@pytest.fixture(params=[Qt.ColorScheme.Light, Qt.ColorScheme.Dark], ids=["light", "dark"])
def scheme(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[Qt.ColorScheme]:
    """In force for the test, however it ends."""
    appearance.force(qapp, request.param)
    yield request.param
    appearance.force(qapp, Qt.ColorScheme.Unknown)


def seen(widget: QWidget) -> set[str]:
    """The colours of a widget's picture."""
    picture = widget.grab().toImage()
    return {QColor(picture.pixel(x, y)).name() for x in range(picture.width()) for y in range(picture.height())}


def shown(qtbot: QtBot, widget: QWidget) -> QWidget:
    qtbot.addWidget(widget)
    widget.show()
    return widget


def test_the_application_has_the_style_once(qapp: QApplication) -> None:
    appearance.prepare(qapp)
    appearance.prepare(qapp)
    assert isinstance(qapp.style(), Style)
    assert len(qapp.findChildren(Style)) == 1


def test_the_theme_follows_what_is_forced(scheme: Qt.ColorScheme) -> None:
    assert is_dark() is (scheme is Qt.ColorScheme.Dark)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ButtonKind.PRIMARY, Tone.ACCENT),
        (ButtonKind.SECONDARY, Ground.EDGE),
        (ButtonKind.DANGER, Ground.EDGE),
    ],
)
@pytest.mark.usefixtures("scheme")
def test_each_kind_of_button_has_its_ground(qtbot: QtBot, kind: ButtonKind, expected: Tone | Ground) -> None:
    button = QPushButton("Remove the server")
    set_kind(button, kind)
    colours = seen(shown(qtbot, button))
    assert colour(expected).name() in colours
    assert (colour(Tone.ACCENT).name() in colours) is (kind is ButtonKind.PRIMARY)
    assert (colour(Tone.BAD).name() in colours) is (kind is ButtonKind.DANGER)


@pytest.mark.usefixtures("scheme")
def test_a_disabled_primary_button_is_not_filled(qtbot: QtBot) -> None:
    button = QPushButton("Start")
    set_kind(button, ButtonKind.PRIMARY)
    button.setEnabled(False)
    assert colour(Tone.ACCENT).name() not in seen(shown(qtbot, button))


def test_the_buttons_of_a_dialog_have_the_kind_of_their_role(qtbot: QtBot) -> None:
    box = QDialogButtonBox()
    qtbot.addWidget(box)
    destroys = box.addButton("Remove", QDialogButtonBox.ButtonRole.DestructiveRole)
    keeps = box.addButton(QDialogButtonBox.StandardButton.Cancel)
    assert (kind_of(destroys), kind_of(keeps)) == (ButtonKind.DANGER, ButtonKind.SECONDARY)


@pytest.mark.usefixtures("scheme")
def test_the_icon_of_a_button_has_the_colour_of_its_text(qtbot: QtBot) -> None:
    button = QPushButton("")
    button.setIcon(button_icon(Icon.COPY))
    assert colour(Ground.TEXT).name() in seen(shown(qtbot, button))
    set_kind(button, ButtonKind.PRIMARY)
    assert colour(Ground.ON_ACCENT).name() in seen(button)


@pytest.mark.parametrize("icon", list(Icon), ids=lambda icon: icon.value)
def test_every_icon_is_drawn_in_its_tone(qtbot: QtBot, icon: Icon) -> None:
    view = IconView(icon, Tone.BAD, 48)
    assert colour(Tone.BAD).name() in seen(shown(qtbot, view))


@pytest.mark.usefixtures("scheme")
def test_the_box_of_a_list_stands_out_and_is_filled_when_it_is_ticked(qtbot: QtBot) -> None:
    items = QListWidget()
    shown(qtbot, items)
    item = QListWidgetItem("Take a backup of the new cluster.", items)
    QListWidgetItem("Other.", items)
    items.setCurrentRow(1)
    for state, filled in ((Qt.CheckState.Unchecked, False), (Qt.CheckState.Checked, True)):
        item.setCheckState(state)
        box = items.viewport().grab(items.visualItemRect(item)).toImage()
        colours = {QColor(box.pixel(x, y)).name() for x in range(24) for y in range(box.height())}
        assert (colour(Tone.ACCENT).name() in colours) is filled
        assert (colour(Tone.MUTED).name() in colours) is not filled


@pytest.mark.usefixtures("scheme")
def test_the_focus_ring_is_two_pixels_of_the_accent(qtbot: QtBot) -> None:
    field = QLineEdit()
    shown(qtbot, field)
    qtbot.waitActive(field)
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
    picture = field.grab().toImage()
    middle = picture.height() // 2
    assert [QColor(picture.pixel(x, middle)).name() for x in range(3)] == [
        *[colour(Tone.ACCENT).name()] * 2,
        colour(Ground.SURFACE).name(),
    ]


@pytest.mark.parametrize("kind", [QPushButton, QCheckBox, QRadioButton, QComboBox, QToolButton, QSpinBox])
@pytest.mark.usefixtures("scheme")
def test_whatever_has_the_focus_shows_it(qtbot: QtBot, kind: type[QWidget]) -> None:
    holder = QWidget()
    made, other = kind(holder), QLineEdit(holder)
    other.move(0, 100)
    shown(qtbot, holder)
    qtbot.waitActive(holder)
    for focused, widget in ((False, other), (True, made)):
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.waitUntil(widget.hasFocus)
        assert (colour(Tone.ACCENT).name() in seen(made)) is focused


@pytest.mark.usefixtures("scheme")
def test_a_tab_with_the_focus_has_a_ring_above_its_line(qtbot: QtBot) -> None:
    tabs = QTabBar()
    tabs.addTab("Output")
    shown(qtbot, tabs)
    qtbot.waitActive(tabs)
    tabs.setFocus(Qt.FocusReason.TabFocusReason)
    qtbot.waitUntil(tabs.hasFocus)
    picture = tabs.grab().toImage()
    middle = tabs.tabRect(0).center()
    assert QColor(picture.pixel(middle.x(), tabs.tabRect(0).top() + GRID)) == colour(Tone.ACCENT)


@pytest.mark.usefixtures("scheme")
def test_boxes_around_other_widgets_have_one_border_and_one_ground(qtbot: QtBot) -> None:
    tabs = QTabWidget()
    tabs.addTab(QWidget(), "General")
    for box in (tabs, QGroupBox("Display")):
        box.resize(200, 120)
        picture = shown(qtbot, box).grab().toImage()
        row = [QColor(picture.pixel(x, 90)).name() for x in range(picture.width())]
        assert (row[0], row[-1]) == (colour(Ground.BORDER).name(),) * 2
        assert set(row[1:-1]) == {colour(Ground.SURFACE).name()}


def test_a_progress_bar_fills_the_part_that_is_done(qtbot: QtBot) -> None:
    bar = QProgressBar(textVisible=False)
    bar.resize(200, 20)
    shown(qtbot, bar)
    bar.setRange(0, 100)
    bar.setValue(50)
    picture = bar.grab().toImage()
    row = [QColor(picture.pixel(x, picture.height() // 2)).name() for x in (50, 150)]
    assert row == [colour(Tone.ACCENT).name(), colour(Ground.BORDER).name()]
    bar.setRange(0, 0)
    assert colour(Tone.ACCENT).name() in seen(bar)


def test_controls_have_one_height(qtbot: QtBot) -> None:
    made = [QPushButton("Test"), QComboBox(), QLineEdit()]
    for each in made:
        qtbot.addWidget(each)
    assert {each.sizeHint().height() for each in made} == {round(CONTROL * scale())}


def test_a_row_of_a_list_is_high_enough(qtbot: QtBot) -> None:
    items = QListWidget()
    shown(qtbot, items)
    items.addItem("Take a backup.")
    assert items.sizeHintForRow(0) == round(ROW * scale())


def test_type_is_a_scale_with_figures_of_one_width(qapp: QApplication) -> None:
    sizes = [font(each).pixelSize() for each in Type]
    assert sizes == [round(each.value * scale()) for each in Type]
    assert qapp.font().pixelSize() >= Type.BODY.value
    assert QFontInfo(font(Type.CLOCK)).pixelSize() == sizes[-1]
    assert font().featureValue(QFont.Tag("tnum")) == 1


def test_type_grows_with_the_font_of_the_system(qapp: QApplication) -> None:
    before = qapp.font()
    larger = QFont(before)
    larger.setPixelSize(2 * Type.BODY.value)
    try:
        qapp.setFont(larger)
        appearance.prepare(qapp)
        assert scale() == 2
        assert font(Type.TITLE).pixelSize() == 2 * Type.TITLE.value
    finally:
        qapp.setFont(before)


def test_a_check_box_keeps_its_text_apart_from_its_box(qtbot: QtBot) -> None:
    box = QCheckBox("All metrics")
    qtbot.addWidget(box)
    assert box.sizeHint().width() > box.fontMetrics().horizontalAdvance("All metrics") + 20


@pytest.mark.slow
def test_each_page_has_one_primary_button_at_most(full_window: MainWindow, qtbot: QtBot) -> None:
    """And it is the one that `Next` presses."""
    led = 0
    for kind in PAGES:
        each = page(qtbot, full_window, kind.id)
        drawn = [
            button
            for button in each.findChildren(QPushButton)
            if button.isVisible() and button.isEnabled() and kind_of(button) is ButtonKind.PRIMARY
        ]
        if each.primary is not None and each.primary.isEnabled():
            assert drawn == [each.primary], kind.id
            led += 1
    assert led >= 5


def test_a_box_has_room_for_its_entry_and_cuts_it_with_an_ellipsis_only_where_it_has_none(qtbot: QtBot) -> None:
    box = QComboBox()
    box.addItem("iiii" * 20 + "l")
    shown(qtbot, box)
    needed = box.fontMetrics().horizontalAdvance(box.currentText())
    option = QStyleOptionComboBox()

    def drawn(wider: int) -> str:
        """What the style leaves of the entry in a box whose text has that much more room than it needs."""
        for width in range(needed, 2 * needed):
            box.resize(width, box.height())
            box.initStyleOption(option)
            room = box.style().subControlRect(
                QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, box
            )
            if room.width() == needed + wider:
                break
        PREPARED[QStyle.ControlElement.CE_ComboBoxLabel](option)
        return option.currentText

    assert drawn(3) == box.currentText()  # Fusion leaves a pixel at either end, and letters end within one
    assert drawn(0).endswith("…")
