"""A move, to make or to change: two servers, the cluster, where it goes, and which volumes are measured."""

from collections.abc import Sequence

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QComboBox, QFormLayout, QGroupBox, QLineEdit, QWidget

from core.errors import InputError
from core.facts.model import Cluster, Facts
from core.migration.model.move import Move
from gui.actions import ServerRow
from gui.dialogs.form import FormDialog
from gui.widgets.check_box import CheckBox


class MoveDialog(FormDialog):
    """What the facts of the servers hold is offered; anything else may be typed.

    Signal: submitted(Move, name before or empty for a new one).
    """

    submitted = Signal(object, str)

    def __init__(self, servers: Sequence[ServerRow], move: Move | None, parent: QWidget | None = None) -> None:
        super().__init__("New move" if move is None else f"Edit {move.name}", parent)
        self._before = "" if move is None else move.name
        self._facts = {row.profile.name: row.facts for row in servers}
        self.name = QLineEdit(self)
        self.old, self.new = QComboBox(self), QComboBox(self)
        self.cluster, self.target = _choice(self), _choice(self)
        self.old_volume, self.new_volume = _choice(self), _choice(self)
        self.plain_text = CheckBox("&Unencrypted copy is allowed", self)
        self.tablespaces = QGroupBox("Tablespaces: where each goes on the new server", self)
        self._tablespace_form = QFormLayout(self.tablespaces)
        self.targets: dict[str, QLineEdit] = {}
        self._lay_out()
        for box in (self.old, self.new):
            box.addItems(list(self._facts))
        self.new.setCurrentIndex(min(1, self.new.count() - 1))
        self._offer_old()
        self._offer_new()
        if move is not None:
            self._fill(move)
        self.old.currentTextChanged.connect(self._offer_old)
        self.new.currentTextChanged.connect(self._offer_new)
        self.cluster.currentTextChanged.connect(self._follow_cluster)
        self.target.currentTextChanged.connect(self._follow_target)
        self.name.setFocus()

    @Slot()
    def submit(self) -> None:
        move = self.move_made()
        missing = [
            word
            for word, value in (
                ("a name", move.name),
                ("the old server", move.old),
                ("the new server", move.new),
                ("the cluster's data directory", move.cluster),
                ("the target directory", move.target),
                ("the old volume", move.old_volume),
                ("the new volume", move.new_volume),
            )
            if not value
        ]
        if missing:
            self.refuse(InputError(f"the move needs {', '.join(missing)}"))
            return
        relative = [path for path in (move.cluster, move.target, move.old_volume, move.new_volume) if path[0] != "/"]
        if relative:
            self.refuse(InputError(f"{relative[0]} is no absolute path", "begin it with a slash"))
            return
        self.submitted.emit(move, self._before)

    def move_made(self) -> Move:
        """The move as the fields have it now."""
        targets = {location: field.text().strip() for location, field in self.targets.items()}
        return Move(
            name=self.name.text().strip(),
            old=self.old.currentText(),
            new=self.new.currentText(),
            cluster=self.cluster.currentText().strip(),
            target=self.target.currentText().strip(),
            old_volume=self.old_volume.currentText().strip(),
            new_volume=self.new_volume.currentText().strip(),
            tablespace_targets={place: target for place, target in targets.items() if target and target != place},
            plain_text=self.plain_text.isChecked(),
        )

    def _lay_out(self) -> None:
        self.add("&Name:", self.name, "Your own name for the move")
        self.add("&Old server:", self.old, "Where the cluster runs now")
        self.add("&Cluster:", self.cluster, "The cluster's data directory on the old server")
        self.add("Old &volume:", self.old_volume, "The mount point that the benchmarks measure on the old server")
        self.add("N&ew server:", self.new, "Where it goes")
        self.add("&Target directory:", self.target, "The data directory to be on the new server")
        self.add("Ne&w volume:", self.new_volume, "The mount point that the benchmarks measure on the new server")
        self.plain_text.setToolTip(
            "The cluster's bytes may cross the network in plain text, by NFS or an rsync daemon, where that is faster"
        )
        self.form.addRow(self.plain_text)
        self.form.addRow(self.tablespaces)
        self.tablespaces.hide()
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 84)

    @Slot()
    def _offer_old(self) -> None:
        facts = self._facts.get(self.old.currentText())
        _offer(self.cluster, [] if facts is None else [cluster.data_directory for cluster in facts.clusters])
        _offer(self.old_volume, _mount_points(facts))
        self._follow_cluster()

    @Slot()
    def _offer_new(self) -> None:
        facts = self._facts.get(self.new.currentText())
        known = [] if facts is None else [cluster.data_directory for cluster in facts.clusters]
        _offer(self.target, list(dict.fromkeys([*filter(None, [self.cluster.currentText()]), *known])))
        _offer(self.new_volume, _mount_points(facts))
        self._follow_target()

    @Slot()
    def _follow_cluster(self) -> None:
        """The volume that the cluster lies on; the same target until another is chosen; its tablespaces."""
        facts, path = self._facts.get(self.old.currentText()), self.cluster.currentText()
        _choose_volume(self.old_volume, facts, path)
        if self.target.currentText() in ("", *(self.cluster.itemText(i) for i in range(self.cluster.count()))):
            self.target.setEditText(path)
        self._show_tablespaces(None if facts is None else facts.cluster(path), {})

    @Slot()
    def _follow_target(self) -> None:
        _choose_volume(self.new_volume, self._facts.get(self.new.currentText()), self.target.currentText())

    def _show_tablespaces(self, cluster: Cluster | None, targets: dict[str, str]) -> None:
        while self._tablespace_form.rowCount():
            self._tablespace_form.removeRow(0)
        self.targets = {}
        for tablespace in () if cluster is None else cluster.tablespaces:
            field = QLineEdit(targets.get(tablespace.location, tablespace.location), self.tablespaces)
            field.setAccessibleName(f"Target of the tablespace {tablespace.location}")
            self._tablespace_form.addRow(f"{tablespace.location} →", field)
            self.targets[tablespace.location] = field
        self.tablespaces.setVisible(bool(self.targets))

    def _fill(self, move: Move) -> None:
        self.name.setText(move.name)
        self.old.setCurrentText(move.old)
        self.new.setCurrentText(move.new)
        self._offer_old()
        self._offer_new()
        for field, value in (
            (self.cluster, move.cluster),
            (self.target, move.target),
            (self.old_volume, move.old_volume),
            (self.new_volume, move.new_volume),
        ):
            field.setEditText(value)
        self.plain_text.setChecked(move.plain_text)
        facts = self._facts.get(move.old)
        self._show_tablespaces(None if facts is None else facts.cluster(move.cluster), move.tablespace_targets)


def _choice(parent: QWidget) -> QComboBox:
    box = QComboBox(parent, editable=True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    return box


def _offer(box: QComboBox, texts: Sequence[str]) -> None:
    """Offer these; the first is the proposal."""
    box.clear()
    box.addItems(texts)
    box.setCurrentIndex(0 if texts else -1)


def _mount_points(facts: Facts | None) -> list[str]:
    return [] if facts is None else [system.mount_point for system in facts.file_systems]


def _choose_volume(box: QComboBox, facts: Facts | None, path: str) -> None:
    """The mount point that holds the path by the facts; without facts the path's parent folder."""
    if not path.startswith("/"):
        return
    system = None if facts is None else facts.file_system_of(path)
    parent = path.rstrip("/").rpartition("/")[0] or "/"
    box.setEditText(parent if system is None else system.mount_point)
