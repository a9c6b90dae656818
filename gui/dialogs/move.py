"""The dialog of a move: its servers, its cluster, the target, and the volumes for benchmarks."""

from collections.abc import Sequence

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
    QVBoxLayout,
    QWidget,
)

from core.api.model import ServerRow
from core.errors import InputError
from core.facts.model import Cluster, Facts
from core.language import marked, tr
from core.migration.model.move import EditedSettings, Move
from core.tones import Tone
from gui.design.measures import GRID, keep_narrow
from gui.dialogs.form import FormDialog
from gui.models.sentences import recorded
from gui.models.servers import describe_cluster, describe_volume, direction, volumes
from gui.models.words import listed
from gui.widgets.label import Label, ToneLabel

_EDITED = (
    (None, marked("not decided yet")),
    (EditedSettings.IN_FORCE, marked("the values that are in effect now")),
    (EditedSettings.FILE, marked("the values in the files")),
)


_MEGABYTE = 1_000_000
_MOST_MEGABYTES = 100_000


class MoveDialog(FormDialog):
    """Offers the values that the facts of the servers contain. Other values can be typed.

    Args:
        fixed: why the servers and paths of the move cannot be changed; empty where they can.
        precopy_limit: of a new move, in MB/s; None: no limit.

    Signal: submitted(Move, its former name; empty for a new move).
    """

    submitted = Signal(object, str)

    def __init__(
        self,
        servers: Sequence[ServerRow],
        move: Move | None,
        parent: QWidget | None = None,
        *,
        fixed: str = "",
        precopy_limit: int | None = None,
    ) -> None:
        super().__init__(tr("New move") if move is None else tr("Edit {name}").format(name=move.name), parent)
        self._before = "" if move is None else move.name
        self._facts = {row.profile.name: row.facts for row in servers}
        self.cluster_facts, self.old_space, self.new_space = (_note_label("", self) for _ in range(3))
        self.name = QLineEdit(self)
        self.old, self.new = QComboBox(self), QComboBox(self)
        for box in (self.old, self.new):
            keep_narrow(box, 20)
        self.cluster, self.target = _choice(self), _choice(self)
        self.old_volume, self.new_volume = _choice(self), _choice(self)
        self.plain_text = QCheckBox(tr("Allow an &unencrypted copy"), self)
        self.precopy_limit = QSpinBox(self, minimum=0, maximum=_MOST_MEGABYTES)
        self.precopy_limit.setSuffix(" MB/s")
        self.precopy_limit.setSpecialValueText(tr("no limit"))
        self.precopy_limit.setValue(precopy_limit or 0)
        self.edited = QComboBox(self)
        self.edited.addItems([tr(text) for _, text in _EDITED])
        self.tablespaces = QGroupBox(tr("Tablespaces: location on the new server"), self)
        self._tablespace_form = QFormLayout(self.tablespaces)
        self.targets: dict[str, QLineEdit] = {}
        self._kept: tuple[str, str, dict[str, str]] = ("", "", {})
        self._lay_out()
        for box, side in zip((self.old, self.new), direction(servers), strict=True):
            box.addItems(list(self._facts))
            box.setPlaceholderText(tr("Choose a server"))
            box.setCurrentIndex(box.findText(side))
        self._offer_old()
        self._offer_new()
        if move is not None:
            self._fill(move)
        self.old.currentTextChanged.connect(self._offer_old)
        self.new.currentTextChanged.connect(self._offer_new)
        self.cluster.currentTextChanged.connect(self._follow_cluster)
        self.target.currentTextChanged.connect(self._follow_target)
        for field in (self.old_volume, self.new_volume):
            field.currentTextChanged.connect(self._show_space)
        if fixed:
            self._lock(fixed)
        self.name.setFocus()

    @Slot()
    def submit(self) -> None:
        move = self.move_made()
        missing = [
            word
            for word, value in (
                (tr("a name"), move.name),
                (tr("the old server"), move.old),
                (tr("the new server"), move.new),
                (tr("the data directory of the cluster"), move.cluster),
                (tr("the target"), move.target),
                (tr("the volume of the old server"), move.old_volume),
                (tr("the volume of the new server"), move.new_volume),
            )
            if not value
        ]
        if missing:
            self.refuse(InputError(tr("The move needs {missing}.").format(missing=listed(missing))))
            return
        relative = [path for path in (move.cluster, move.target, move.old_volume, move.new_volume) if path[0] != "/"]
        if relative:
            self.refuse(
                InputError(
                    tr("`{relative}` is not an absolute path.").format(relative=relative[0]),
                    tr("Begin the path with a slash."),
                )
            )
            return
        self.submitted.emit(move, self._before)

    def choose_cluster(self, server: str, cluster: str) -> None:
        """Choose what a new move is of: that cluster on that server."""
        self.old.setCurrentText(server)
        if self.new.currentText() == server:
            self.new.setCurrentIndex(-1)
        self.cluster.setEditText(cluster)

    def move_made(self) -> Move:
        """Return the move with the current values of the fields."""
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
            edited=_EDITED[self.edited.currentIndex()][0],
            precopy_limit=self.precopy_limit.value() * _MEGABYTE or None,
        )

    def _lay_out(self) -> None:
        """Lay out the name and the cards of both servers; the facts of each choice are shown below it."""
        self.add(tr("&Name:"), self.name, tr("A name of your choice for the move"))
        old, new = QFormLayout(), QFormLayout()
        self.add_to(old, tr("&Old server:"), self.old, tr("The server on which the cluster is running now"))
        self.add_to(
            old,
            tr("&Cluster:"),
            self.cluster,
            tr("The data directory of the cluster on the old server"),
            _above(self.cluster, self.cluster_facts),
        )
        self.add_to(
            old,
            tr("Old &volume:"),
            self.old_volume,
            tr("The mount point on the old server that the benchmarks measure"),
            _above(self.old_volume, self.old_space),
        )
        self.add_to(new, tr("N&ew server:"), self.new, tr("The server to which the cluster moves"))
        self.add_to(
            new,
            tr("&Target:"),
            self.target,
            tr("The data directory of the new cluster"),
            _above(self.target, _note_label(tr("If it does not exist, the move creates it."), self)),
        )
        self.add_to(
            new,
            tr("Ne&w volume:"),
            self.new_volume,
            tr("The mount point on the new server that the benchmarks measure"),
            _above(self.new_volume, self.new_space),
        )
        self.swap = QPushButton(tr("&Swap"), self)
        self.swap.setToolTip(tr("Exchange the old and the new server"))
        self.swap.clicked.connect(self._swap)
        between = QVBoxLayout()
        between.addStretch()
        between.addWidget(Label("→", self), 0, Qt.AlignmentFlag.AlignHCenter)
        between.addWidget(self.swap)
        between.addStretch()
        cards = QHBoxLayout()
        cards.addWidget(_card(tr("Old server"), old, self), 1)
        cards.addLayout(between)
        cards.addWidget(_card(tr("New server"), new, self), 1)
        self.form.addRow(cards)
        self.plain_text.setToolTip(
            tr(
                "The data of the cluster may cross the network without encryption, by NFS or an rsync daemon, "
                "if this is faster."
            )
        )
        self.form.addRow(self.plain_text)
        self.add(
            tr("&Limit of the pre-copy:"),
            self.precopy_limit,
            tr(
                "The most that a pre-copy pass sends while the old cluster is running. The final sync, during the "
                "downtime, has no limit."
            ),
        )
        self.add(
            tr("E&dited settings:"),
            self.edited,
            tr(
                "The configuration files of the old server may have been edited and not loaded. This says "
                "which values the old and the new cluster have after the move. A check says if you must decide."
            ),
        )
        self.form.addRow(self.tablespaces)
        self.tablespaces.hide()
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 140)

    def _lock(self, fixed: str) -> None:
        """Lock the servers and the paths of the cluster; the tool tip says why."""
        tip = tr("{fixed} Add another move for other servers or paths.").format(fixed=recorded(fixed))
        for field in (self.old, self.new, self.cluster, self.target, self.swap, self.tablespaces):
            field.setEnabled(False)
            field.setToolTip(tip)
            field.setAccessibleDescription(tip)

    @Slot()
    def _swap(self) -> None:
        old, new = self.old.currentText(), self.new.currentText()
        self.old.setCurrentIndex(self.old.findText(new))
        self.new.setCurrentIndex(self.new.findText(old))

    @Slot()
    def _show_space(self) -> None:
        """Show the facts of the volumes."""
        for side, field, label in (
            (self.old, self.old_volume, self.old_space),
            (self.new, self.new_volume, self.new_space),
        ):
            _tell(label, describe_volume(self._facts.get(side.currentText()), field.currentText()))
        if self.isVisible():
            self.grow()

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
        """Update the volume, the target and the tablespaces for the selected cluster."""
        facts, path = self._facts.get(self.old.currentText()), self.cluster.currentText()
        _choose_volume(self.old_volume, facts, path)
        _tell(self.cluster_facts, describe_cluster(None if facts is None else facts.cluster(path)) if path else "")
        self._show_space()
        if self.target.currentText() in ("", *(self.cluster.itemText(i) for i in range(self.cluster.count()))):
            self.target.setEditText(path)
        kept = self._kept[2] if (self.old.currentText(), path) == self._kept[:2] else {}
        self._show_tablespaces(None if facts is None else facts.cluster(path), kept)

    @Slot()
    def _follow_target(self) -> None:
        _choose_volume(self.new_volume, self._facts.get(self.new.currentText()), self.target.currentText())

    def _show_tablespaces(self, cluster: Cluster | None, targets: dict[str, str]) -> None:
        while self._tablespace_form.rowCount():
            self._tablespace_form.removeRow(0)
        self.targets = {}
        known = [] if cluster is None else [tablespace.location for tablespace in cluster.tablespaces]
        for location in dict.fromkeys([*known, *targets]):
            field = QLineEdit(targets.get(location, location), self.tablespaces)
            field.setAccessibleName(
                tr("Location of the tablespace {location} on the new server").format(location=location)
            )
            self._tablespace_form.addRow(Label(f"{location} →"), field)
            self.targets[location] = field
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
        self.precopy_limit.setValue((move.precopy_limit or 0) // _MEGABYTE)
        self.edited.setCurrentIndex([value for value, _ in _EDITED].index(move.edited))
        facts = self._facts.get(move.old)
        self._show_tablespaces(None if facts is None else facts.cluster(move.cluster), move.tablespace_targets)
        self._kept = (move.old, move.cluster, move.tablespace_targets)
        self._show_space()


def _note_label(text: str, parent: QWidget) -> ToneLabel:
    """Return the label for the facts of the field above it."""
    made = ToneLabel(text, Tone.MUTED, parent)
    made.setWordWrap(True)
    return made


def _tell(note: ToneLabel, text: str) -> None:
    """Show a note; without a text it takes no room."""
    note.setText(text)
    note.setVisible(bool(text))


def _above(field: QWidget, note: ToneLabel) -> QVBoxLayout:
    """Return the field with a note directly below it."""
    made = QVBoxLayout()
    made.setSpacing(GRID)
    made.addWidget(field)
    made.addWidget(note)
    return made


def _card(title: str, form: QFormLayout, parent: QWidget) -> QGroupBox:
    made = QGroupBox(title, parent)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    made.setLayout(form)
    return made


def _choice(parent: QWidget) -> QComboBox:
    box = QComboBox(parent, editable=True)
    box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
    return box


def _offer(box: QComboBox, texts: Sequence[str]) -> None:
    """Offer these texts, and select the first."""
    box.clear()
    box.addItems(texts)
    box.setCurrentIndex(0 if texts else -1)


def _mount_points(facts: Facts | None) -> list[str]:
    return [system.mount_point for system in volumes(facts)]


def _choose_volume(box: QComboBox, facts: Facts | None, path: str) -> None:
    """Select the mount point that contains the path; without facts its parent folder."""
    if not path.startswith("/"):
        return
    system = None if facts is None else facts.file_system_of(path)
    parent = path.rstrip("/").rpartition("/")[0] or "/"
    box.setEditText(parent if system is None else system.mount_point)
