"""The actions of the window, in menus, by keys and in the command palette."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QPushButton, QWidget

from core.language import languages, marked, tr
from core.settings import program_version
from core.user_settings.declaration import NAMES, Settings
from gui.appearance import Sizes, Theme
from gui.dialogs.palette import Command, CommandPalette, Origin, plain
from gui.widgets.message_box import MessageBox
from gui.widgets.table import Table
from gui.work import Work

THEMES = {Theme.SYSTEM: marked("&System"), Theme.LIGHT: marked("&Light"), Theme.DARK: marked("&Dark")}


@dataclass(frozen=True, slots=True)
class Commands:
    """What the menus begin: functions of the window and of its controllers.

    Attributes:
        on_screen: returns the page and the banner, whose buttons the palette offers.
    """

    new_move: Callable[[], object]
    edit_move: Callable[[], object]
    remove_move: Callable[[], object]
    restore_move: Callable[[], object]
    select_move: Callable[[], object]
    save_report: Callable[[], object]
    read_outputs: Callable[[], object]
    cancel: Callable[[], object]
    go_on: Callable[[], object]
    show_page: Callable[[str], object]
    show_help: Callable[[], object]
    use_theme: Callable[[Theme], object]
    use_sizes: Callable[[Sizes], object]
    use_language: Callable[[str], object]
    notify: Callable[[bool], object]
    sound: Callable[[bool], object]
    edit_settings: Callable[[], object]
    on_screen: Callable[[], Sequence[QWidget]]


class Menus(QObject):
    """Makes all actions.

    Attributes:
        new_move, edit_move, remove_move, report, cancel: the actions that `update` enables.
        restore_move: enabled while a removed move can be restored.
        themes, sizes, languages: groups of choices, of which one each is checked.
    """

    def __init__(
        self,
        window: QMainWindow,
        work: Work,
        commands: Commands,
        pages: Sequence[tuple[str, str]],
        pane: QAction,
    ) -> None:
        """Make the actions.

        Args:
            window: the window that has the menus.
            work: what the window shares.
            commands: what the actions begin.
            pages: the id and the title of each page.
            pane: shows and hides the pane of commands.
        """
        super().__init__(window)
        self._window = window
        self._work = work
        self._commands = commands
        self.new_move = self._action(tr("&New move…"), commands.new_move, "Ctrl+N")
        self.new_move.setIconText(tr("New move…"))
        self.edit_move = self._action(tr("&Edit move…"), commands.edit_move)
        self.remove_move = self._action(tr("&Remove move…"), commands.remove_move)
        self.restore_move = self._action(tr("Res&tore the removed move"), commands.restore_move)
        self.restore_move.setEnabled(False)
        self.report = self._action(tr("Save &report…"), commands.save_report, "Ctrl+S")
        self.report.setIconText(tr("Save report…"))
        self.cancel = self._action(tr("&Cancel the running job"), commands.cancel, "Ctrl+.")
        self.themes, self.sizes, self.languages = QActionGroup(self), QActionGroup(self), QActionGroup(self)
        pick = self._action(tr("&Select a move"), commands.select_move, "Ctrl+M")
        quit_all = self._action(tr("&Quit"), window.close, QKeySequence(QKeySequence.StandardKey.Quit))
        outputs = self._action(tr("Read &outputs…"), commands.read_outputs)
        moves = (self.new_move, pick, self.edit_move, self.remove_move, self.restore_move)
        settings = self._action(tr("Settin&gs…"), commands.edit_settings, "Ctrl+,")
        self._menu(tr("&Move"), *moves, None, self.report, outputs, None, settings, None, quit_all)
        self._make_view(pages, pane)
        self._notify = self._add_switch("notify", tr("Notify when a &job ends"), commands.notify)
        self._sound = self._add_switch("sound", tr("S&ound when pghaul waits for you"), commands.sound)
        self._menu(tr("&Job"), self.cancel)
        self._menu(
            tr("&Help"),
            self._action(
                tr("&Help for this page"), commands.show_help, QKeySequence(QKeySequence.StandardKey.HelpContents)
            ),
            self._action(tr("All &commands…"), self.show_palette, "Ctrl+K"),
            None,
            self._action(tr("&About pghaul"), self.about),
        )

    @Slot()
    def update(self) -> None:
        """Enable the actions that are possible now."""
        work = self._work
        picked = work.move is not None
        self.new_move.setEnabled(work.session is not None)
        self.edit_move.setEnabled(picked and not work.busy)
        self.remove_move.setEnabled(picked and not work.busy)
        self.report.setEnabled(picked and work.ready)
        self.cancel.setEnabled(work.busy)

    @Slot()
    def show_palette(self) -> None:
        """Show every action of the menus, and every button and table of the page, by its name."""
        dialog = CommandPalette([*self._of_menus(), *self._of_page()], self._window)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _of_menus(self) -> Iterator[Command]:
        for menu in self._window.menuBar().findChildren(QMenu):
            choice = f"{plain(menu.title())}: " if isinstance(menu.parent(), QMenu) else ""
            for action in menu.actions():
                if action.isEnabled() and action.text() and action.menu() is None:
                    origin = Origin.PAGES if action in self._pages else Origin.MENU
                    keys = action.shortcut().toString()
                    yield Command(f"{choice}{action.text()}", action.trigger, origin, keys=keys)

    def _of_page(self) -> Iterator[Command]:
        for widget in self._commands.on_screen():
            for button in widget.findChildren(QPushButton):
                name = button.accessibleName() or button.text()
                if button.isVisible() and button.isEnabled() and name:
                    yield Command(name, button.click, Origin.PAGE, tr("This page"))
            for table in widget.findChildren(Table):
                if table.isVisible():
                    for action in table.actions():
                        yield Command(f"{table.accessibleName()}: {action.text()}", action.trigger)

    @Slot()
    def about(self) -> None:
        """Show the version."""
        box = MessageBox(self._window)
        box.setWindowTitle(tr("About pghaul"))
        box.setIconPixmap(self._window.windowIcon().pixmap(64, 64))
        box.setText(f"pghaul {program_version()}")
        box.setInformativeText(
            tr(
                "pghaul copies the files of a PostgreSQL cluster to a new server. It estimates the duration "
                "and the downtime in advance."
            )
        )
        box.finished.connect(box.deleteLater)
        box.open()

    def _make_view(self, kinds: Sequence[tuple[str, str]], pane: QAction) -> None:
        commands = self._commands
        pages = self._pages = [
            self._action(
                tr(title),
                partial(commands.show_page, page_id),
                f"Ctrl+{number}" if number < 10 else "",
            )
            for number, (page_id, title) in enumerate(kinds, 1)
        ]
        pane.setShortcut("Ctrl+L")
        pane.setText(tr("&Commands"))
        view = self._view = self._menu(
            tr("&View"), self._action(tr("&Next step"), commands.go_on, "Ctrl+Return"), None, *pages, None, pane
        )
        theme = view.addMenu(tr("&Theme"))
        for one, words in THEMES.items():
            action = self._action(tr(words), partial(commands.use_theme, one))
            action.setCheckable(True)
            action.setData(one.value)
            self.themes.addAction(action)
            theme.addAction(action)
        sizes = view.addMenu(tr("&Sizes"))
        for shown, words in ((Sizes.BINARY, tr("&Binary (GiB)")), (Sizes.DECIMAL, tr("&Decimal (GB)"))):
            action = self._action(words, partial(commands.use_sizes, shown))
            action.setCheckable(True)
            action.setData(shown.value)
            self.sizes.addAction(action)
            sizes.addAction(action)
        self._make_languages(view.addMenu(tr("&Language")))

    def _add_switch(self, name: str, text: str, use: Callable[[bool], object]) -> QAction:
        """Add a switch to the menu View."""
        switch = self._action(text, lambda: use(switch.isChecked()))
        switch.setObjectName(name)
        switch.setCheckable(True)
        self._view.addAction(switch)
        return switch

    def _make_languages(self, menu: QMenu) -> None:
        for code, words in (("system", tr("&System")), *((code, NAMES.get(code, code)) for code in languages())):
            action = self._action(words, partial(self._commands.use_language, code))
            action.setCheckable(True)
            action.setData(code)
            self.languages.addAction(action)
            menu.addAction(action)

    def check_settings(self, settings: Settings) -> None:
        """Check the current theme, units and language, and the switches that are on."""
        for group, value in (
            (self.themes, settings.window.theme),
            (self.sizes, settings.display.units),
            (self.languages, settings.window.language),
        ):
            for action in group.actions():
                action.setChecked(action.data() == value)
        self._notify.setChecked(settings.window.notify)
        self._sound.setChecked(settings.window.sound)

    def _action(self, text: str, then: Callable[[], object], shortcut: QKeySequence | str = "") -> QAction:
        made = QAction(text, self._window)
        made.setShortcut(QKeySequence(shortcut))
        made.setAutoRepeat(False)  # a key that is held is one wish
        made.triggered.connect(lambda _checked=False: then())
        return made

    def _menu(self, title: str, *entries: QAction | None) -> QMenu:
        menu = self._window.menuBar().addMenu(title)
        for entry in entries:
            if entry is None:
                menu.addSeparator()
            else:
                menu.addAction(entry)
        return menu
