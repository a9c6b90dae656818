"""pg_controldata: what a data directory's control file says, in each language that PostgreSQL's programs speak.

The program prints `label: value` lines in an order that has never changed, only gained and lost lines (src/bin/
pg_controldata/pg_controldata.c). English labels are read by name. In other languages labels differ from release to
release, touch their values and end in full-width colons, so there the lines are told by what they must look like and
where they stand: identifier, state and checkpoint follow each other, and five sizes stand in a row. What cannot be
told for sure is left out.
"""

import re
from dataclasses import fields

from core.facts.model import ControlData
from core.facts.parsing import first_line, lines_of, parse_whole_number, unreadable_error

# The words of pg_controldata that carry meaning, in the languages that PostgreSQL's programs speak.
#
# `LC_ALL=C` makes them English wherever pghaul itself asks; an output that somebody else produced may be in any of
# these. Taken from what the programs of 15 and of older releases print. A word with two meanings in one language is
# left out (Ukrainian prints the same for `shut down` and `shutting down`): it cannot be decided on.

STATES = {
    "starting up": "startování|startet|εκκίνηση|iniciando|démarrage en cours|avvio in corso|起動処理中|გაშვება|시작 중"
    "|запускается|startar|başlıyor|запуск|正在启动|włączanie|正在啟動|đang khởi động",
    "shut down": "ukončení|heruntergefahren|τερματισμός|apagado|arrêt|spento|シャットダウン|გამორთვა|중지됨|desligado"
    "|выключен|avstängt|kapat|关闭|wyłącz bazę danych|關閉|đang ngưng hoạt động",
    "shut down in recovery": "ukončení (shut down) během obnovy|in der Wiederherstellung heruntergefahren"
    "|τερματισμός σε αποκατάσταση|apagado durante recuperación|arrêt pendant la restauration"
    "|arresto durante il ripristino|リカバリ中にシャットダウンされている|გამორთვა აღდგენსთვის|복구 작업 중 중지됨"
    "|desligado em recuperação|выключен при восстановлении|avslutat med återställning|kurtarma modunda kapatma"
    "|завершення роботи у відновленні|在恢复过程中关闭数据库|baza danych w trybie odzyskiwania"
    "|đang ngưng hoạt động ở chế độ khôi phục",
    "shutting down": "ukončování|fährt herunter|τερματίζει|apagándose|arrêt en cours|arresto in corso"
    "|シャットダウン処理中|მიმდინარეობს გამორთვა|중지 중|desligando|выключение|stänger ner|kapanıyor|正在关闭"
    "|wyłączanie bazy danych|正在關閉|đang tắt",
    "in crash recovery": "probíhá zotavení z pádu|bei der Wiederherstellung nach Absturz|σε αποκατάσταση από κρασάρισμα"
    "|en recuperación|restauration en cours (suite à un arrêt brutal)|in fase di recupero da un crash"
    "|クラッシュリカバリ中|ავარიის აღდგენა|비정상 종료 복구 중|recuperando de uma queda|восстановление после сбоя"
    "|återställer efter krash|çöküş (crash) kurtarma modunda|відновлення при збої|在恢复中"
    "|w trybie odzyskiwania po awarii programu|đang trong chế độ khôi phục sự cố",
    "in archive recovery": "probíhá obnova z archivu|bei der Archivwiederherstellung|σε αποκατάσταση αρχειοθήκης"
    "|en recuperación desde archivo|restauration en cours (à partir des archives)"
    "|in fase di recupero di un archivio|アーカイブリカバリ中|არქივიდან აღდგენა|자료 복구 중|recuperando de uma cópia"
    "|восстановление из архива|utför arkivåterställning|arşiv kurtarma modunda|відновлення в архіві|正在归档恢复"
    "|w trybie odzyskiwania z archiwum|đang trong chế độ phục hồi từ archive log",
    "in production": "v provozu|im Produktionsmodus|σε παραγωγή|en producción|en production|in produzione|運用中"
    "|წარმოებაში გაშვებული|정상가동중|정상 가동중|em produção|в работе|i full drift|üretim modunda|у виробництві"
    "|在运行中|baza danych w trybie produkcji|正在運作|đang hoạt động",
}
"""English state -> its translations, parted by bars."""

BY_VALUE = (
    "by value|hodnotou|Wert|με τιμή|por valor|par valeur|per valore|値渡し|მნიშვნელობით|값별|по значению|med värde"
    "|değer ile|за значенням|由值|przez wartość|theo giá trị"
)
BY_REFERENCE = (
    "by reference|odkazem|Referenz|με αναφορά|por referencia|par référence|per riferimento|参照渡し|ბმით|참조별"
    "|por referência|по ссылке|med referens|referans ile|за посиланням|由引用|przez referencję|bằng cách tham chiếu"
)

UNTRUSTWORTHY = (
    "WARNING|WARNUNG|UPOZORNĚNÍ|VAROVÁNÍ|ΠΡΟΕΙΔΟΠΟΙΗΣΗ|ATENCIÓN|ATTENTION|AVERTISSEMENT|ATTENZIONE|警告|გაფრთხილება|경고|AVISO"
    "|ПРЕДУПРЕЖДЕНИЕ|VARNING|UYARI|ПОПЕРЕДЖЕННЯ|УВАГА|UWAGA|OSTRZEŻENIE|CẢNH BÁO"
)
"""How the warning begins that the file does not fit the program: what follows it is not to be believed."""


# pg_controldata: what a data directory's control file says.

_LABELS = {
    "pg_control version number": "pg_control_version",
    "Catalog version number": "catalog_version",
    "Database system identifier": "system_identifier",
    "Database cluster state": "state",
    "Latest checkpoint location": "checkpoint_location",
    "Maximum data alignment": "max_alignment",
    "Database block size": "block_size",
    "Blocks per segment of large relation": "relation_segment_blocks",
    "WAL block size": "wal_block_size",
    "Bytes per WAL segment": "wal_segment_size",
    "Float8 argument passing": "float8_by_value",
    "Data page checksum version": "data_checksums",
}
_SIZES = ("max_alignment", "block_size", "relation_segment_blocks", "wal_block_size", "wal_segment_size")
_TEXTS = {"system_identifier", "state", "checkpoint_location"}
_OPTIONAL = {"float8_by_value", "data_checksums", "fields", "read_by"}
_STATES = {word: state for state, words in STATES.items() for word in (state, *words.split("|"))} | {
    "in recovery": "in recovery"  # before 8.2
}
_PASSING = dict.fromkeys(BY_VALUE.split("|"), True) | dict.fromkeys(BY_REFERENCE.split("|"), False)
_LOCATION = re.compile(r"[0-9A-F]{1,8}/[0-9A-F]{1,8}")
_LINE = re.compile(r"(?P<label>[^:：]*[^:：\s])\s*[:：]\s*(?P<value>.*)")
_WARNING = re.compile(rf"\s*(?:pg_controldata: )?(?:{UNTRUSTWORTHY})\s*[:：]", re.IGNORECASE)

Value = str | int | bool
Line = tuple[str, str]


def parse_control_data(text: str) -> ControlData:
    """The control data of a whole output.

    Raises:
        ParseError: the program warned that the file is not of its major version, or a field that every release prints
            is missing or cannot be read.
    """
    values = read_control_data(text)
    for field in fields(ControlData):
        if field.name not in values and field.name not in _OPTIONAL:
            raise unreadable_error("pg_controldata", f"the {field.name.replace('_', ' ')}", first_line(text))
    labelled = {label: value for label, value in _lines(text) if label.isascii()}
    return ControlData(
        pg_control_version=int(values["pg_control_version"]),
        catalog_version=int(values["catalog_version"]),
        system_identifier=str(values["system_identifier"]),
        state=str(values["state"]),
        block_size=int(values["block_size"]),
        wal_block_size=int(values["wal_block_size"]),
        wal_segment_size=int(values["wal_segment_size"]),
        relation_segment_blocks=int(values["relation_segment_blocks"]),
        max_alignment=int(values["max_alignment"]),
        float8_by_value=bool(values["float8_by_value"]) if "float8_by_value" in values else None,
        data_checksums=int(values["data_checksums"]) if "data_checksums" in values else None,
        checkpoint_location=str(values["checkpoint_location"]),
        fields=labelled,
    )


def read_control_data(text: str) -> dict[str, Value]:
    """The fields of ControlData that an output holds, also one that was cut off; the state in English.

    Raises:
        ParseError: it holds none of them, or the program warned that its figures are not to be trusted.
    """
    # pg_controldata goes on after its warning and prints the fields as if the file were of its own version. Plausible
    # numbers in wrong fields are worse than none.
    warning = next((line for line in lines_of(text) if _WARNING.match(line)), None)
    if warning is not None:
        raise unreadable_error("pg_controldata", "the control file of the program's own series", warning)
    lines = _lines(text)
    found = _by_place(lines) | _by_label(lines)
    values = {name: value for name, raw in found.items() if (value := _value(name, raw)) is not None}
    if not values:
        raise unreadable_error("pg_controldata", "a line such as 'Database cluster state:'", first_line(text))
    return values


def _lines(text: str) -> list[Line]:
    """Label and value of each line that has both, in their order."""
    found = (_LINE.fullmatch(line.strip()) for line in lines_of(text.removeprefix("\ufeff")))
    return [(match["label"], match["value"]) for match in found if match is not None and match["value"]]


def _by_label(lines: list[Line]) -> dict[str, str]:
    return {_LABELS[label]: value for label, value in lines if label in _LABELS}


def _by_place(lines: list[Line]) -> dict[str, str]:
    return _head(lines) | _tail(lines)


def _head(lines: list[Line]) -> dict[str, str]:
    """Control version, catalog version, identifier, state and, within three lines more, the checkpoint's location."""
    # The system identifier is the one value that no other field can look like: its upper 32 bits are the seconds since
    # 1970 at which initdb made it (xlog.c, BootStrapXLOG). The others are found from it.
    for position, (_, value) in enumerate(lines):
        if not re.fullmatch(r"[0-9]{17,20}", value):
            continue
        found = {"system_identifier": value}
        if position > 0 and re.fullmatch(r"[0-9]{9}", lines[position - 1][1]):
            found["catalog_version"] = lines[position - 1][1]
            if position > 1 and "pg_control" in lines[position - 2][0]:
                found["pg_control_version"] = lines[position - 2][1]
        if position + 1 < len(lines):
            found["state"] = lines[position + 1][1]
        following = (other for _, other in lines[position + 3 : position + 6])
        location = next((other for other in following if _LOCATION.fullmatch(other)), None)
        return found | ({"checkpoint_location": location} if location is not None else {})
    return {}


def _tail(lines: list[Line]) -> dict[str, str]:
    """The five sizes in a row, then how float8 is passed, then the checksum version, which is 0 or 1."""
    for position in range(len(lines) - len(_SIZES) + 1):
        window = [value for _, value in lines[position : position + len(_SIZES)]]
        if not _are_sizes([parse_whole_number(value) for value in window]):
            continue
        found = dict(zip(_SIZES, window, strict=True))
        for label, value in lines[position + len(_SIZES) :]:
            if re.search(r"fl+oat8", label, re.IGNORECASE):
                found["float8_by_value"] = value
            elif value in ("0", "1"):
                found.setdefault("data_checksums", value)
        return found
    return {}


def _are_sizes(numbers: list[int | None]) -> bool:
    """Whether they can be alignment, block size, blocks a segment, WAL block size and WAL segment size."""
    if any(number is None or number <= 0 for number in numbers):
        return False
    alignment, block, _, wal_block, wal_segment = (number or 0 for number in numbers)
    return (
        alignment in (4, 8, 16)
        and all(number & (number - 1) == 0 for number in (block, wal_block, wal_segment))
        and all(1024 <= number <= 65536 for number in (block, wal_block))
        and 1 << 20 <= wal_segment <= 1 << 30
    )


def _value(name: str, raw: str) -> Value | None:
    """The value in its type; None where it is not what this field can hold."""
    if name == "state":
        return _STATES.get(raw)
    if name == "float8_by_value":
        return _PASSING.get(raw)
    if name == "checkpoint_location":
        return raw if _LOCATION.fullmatch(raw) else None
    if name in _TEXTS:
        return raw if re.fullmatch(r"[0-9]{1,20}", raw) else None
    return parse_whole_number(raw)
