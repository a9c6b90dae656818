"""The dialog of the settings, made from their declaration."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from core.errors import InputError
from core.language import marked, tr
from core.user_settings.declaration import SECTIONS, Setting, Settings, declared
from core.user_settings.kinds import Choice, File, Number, Switch, Text, Value
from gui.dialogs.form import FormDialog
from gui.widgets.files import ask_file

TABS = (
    (marked("&General"), ("display", "window")),
    (marked("&Reports"), ("report",)),
    (marked("&Servers and moves"), ("server", "survey", "benchmark", "move")),
)
"""The sections of each tab."""


@dataclass(frozen=True, slots=True)
class Editor:
    """The widget of a setting: `show` shows a value in it, and `read` returns what it shows."""

    setting: Setting
    widget: QWidget
    show: Callable[[Value], None]
    read: Callable[[], Value]
    restore: QPushButton


class SettingsDialog(FormDialog):
    """Edits all settings. Nothing is changed before the dialog is accepted.

    Signal: submitted(dict of the changed values by their keys; None removes a setting from the file).

    Attributes:
        editors: the widgets, by the key of the setting.
    """

    submitted = Signal(object)

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(tr("Settings"), parent)
        self._before = settings
        self.editors: dict[str, Editor] = {}
        self.tabs = QTabWidget(self)
        self.tabs.setAccessibleName(tr("Settings"))
        for title, sections in TABS:
            self.tabs.addTab(self._make_tab(sections), tr(title))
        self.column.insertWidget(0, self.tabs)
        for key, editor in self.editors.items():
            editor.show(settings.value(key))
            self._look(editor)
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 100)
        next(iter(self.editors.values())).widget.setFocus()

    @Slot()
    def submit(self) -> None:
        changes: dict[str, Value] = {}
        for key, editor in self.editors.items():
            value = editor.read()
            if value is not None and editor.setting.kind.problem(value):
                self._refuse_value(editor)
                return
            if value != self._before.value(key):
                changes[key] = None if value == editor.setting.default else value
        self.submitted.emit(changes)

    def _refuse_value(self, editor: Editor) -> None:
        hint = tr("Choose a file, or type its full path.") if isinstance(editor.setting.kind, File) else ""
        title = tr(editor.setting.declaration.title)
        self.refuse(InputError(tr("The value of “{title}” is not allowed.").format(title=title), hint))
        self.tabs.setCurrentIndex(next(n for n, (_, sections) in enumerate(TABS) if editor.setting.section in sections))
        editor.widget.setFocus()

    def _make_tab(self, sections: tuple[str, ...]) -> QWidget:
        tab = QWidget(self)
        column = QVBoxLayout(tab)
        forms: list[QFormLayout] = []
        for section in sections:
            box = QGroupBox(tr(SECTIONS[section]), tab)
            form = QFormLayout(box)
            form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
            form.setLabelAlignment(Qt.AlignmentFlag.AlignVCenter)
            forms.append(form)
            for setting in declared().values():
                if setting.section == section:
                    self._add_row(form, setting, box)
            column.addWidget(box)
        column.addStretch()
        _align(forms)
        return tab

    def _add_row(self, form: QFormLayout, setting: Setting, parent: QWidget) -> None:
        title = tr(setting.declaration.title)
        restore = QPushButton(tr("Default"), parent)
        restore.setAutoDefault(False)
        editor = self._make_editor(setting, restore, parent)
        self.editors[setting.key] = editor
        row = QHBoxLayout()
        row.addWidget(editor.widget, 1)
        if isinstance(setting.kind, File):
            row.addWidget(self._make_browse(editor, parent))
        row.addWidget(restore)
        restore.setAccessibleName(tr("Restore the default: {title}").format(title=title))
        restore.clicked.connect(lambda: editor.show(setting.default))
        text = tr(setting.declaration.text)
        if isinstance(setting.kind, Switch):
            form.addRow(row)
            editor.widget.setToolTip(text)
            editor.widget.setAccessibleDescription(text)
        else:
            self.add_to(form, f"{title}:", editor.widget, text, row)

    def _make_editor(self, setting: Setting, restore: QPushButton, parent: QWidget) -> Editor:
        kind = setting.kind
        match kind:
            case Choice():
                box = QComboBox(parent)
                for word, title in kind.titles().items():
                    box.addItem(tr(title), word)
                editor = Editor(
                    setting, box, lambda value: box.setCurrentIndex(box.findData(value)), box.currentData, restore
                )
                box.currentIndexChanged.connect(partial(self._look, editor))
            case Switch():
                check = QCheckBox(tr(setting.declaration.title), parent)
                editor = Editor(setting, check, lambda value: check.setChecked(bool(value)), check.isChecked, restore)
                check.toggled.connect(partial(self._look, editor))
            case Number():
                spin = _spin_box(setting, kind, parent)
                none = kind.least - 1 if setting.default is None else None
                editor = Editor(
                    setting,
                    spin,
                    lambda value: spin.setValue(int(value) if value is not None else kind.least - 1),
                    lambda: None if spin.value() == none else spin.value(),
                    restore,
                )
                spin.valueChanged.connect(partial(self._look, editor))
            case Text() | File():
                line = QLineEdit(parent)
                if setting.declaration.absent:
                    line.setPlaceholderText(tr(setting.declaration.absent))
                if isinstance(kind, Text):
                    line.setMaxLength(kind.longest)
                editor = Editor(
                    setting,
                    line,
                    lambda value: line.setText(str(value)),
                    lambda: line.text().strip() if line.isModified() else line.text(),
                    restore,
                )
                line.textChanged.connect(partial(self._look, editor))
            case _:
                raise TypeError(type(kind))
        return editor

    def _make_browse(self, editor: Editor, parent: QWidget) -> QPushButton:
        browse = QPushButton(tr("Browse…"), parent)
        browse.setAutoDefault(False)
        title = tr(editor.setting.declaration.title)

        def choose(path: Path) -> None:
            editor.show(str(path))

        browse.clicked.connect(lambda: ask_file(self, title, choose))
        browse.setAccessibleName(tr("Browse: {title}").format(title=title))
        return browse

    def _look(self, editor: Editor, *_: object) -> None:
        """Offer the default where the value is another one."""
        editor.restore.setEnabled(editor.read() != editor.setting.default)


def _align(forms: Sequence[QFormLayout]) -> None:
    """Give the labels of several forms one width, so that the fields of all begin at one place."""
    items = [form.itemAt(row, QFormLayout.ItemRole.LabelRole) for form in forms for row in range(form.rowCount())]
    labels = [label for item in items if item is not None and (label := item.widget()) is not None]
    widest = max((label.sizeHint().width() for label in labels), default=0)
    for label in labels:
        label.setMinimumWidth(widest)


def _spin_box(setting: Setting, kind: Number, parent: QWidget) -> QSpinBox:
    """Return the field of a number. Where there may be none, the lowest value stands for that."""
    optional = setting.default is None
    spin = QSpinBox(parent, minimum=kind.least - 1 if optional else kind.least, maximum=kind.most)
    if kind.unit:
        spin.setSuffix(f" {kind.unit}")
    if optional:
        spin.setSpecialValueText(tr(setting.declaration.absent))
    return spin
