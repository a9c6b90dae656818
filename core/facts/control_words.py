"""The words of pg_controldata that carry meaning, in the languages that PostgreSQL's programs speak.

`LC_ALL=C` makes them English wherever pghaul itself asks; an output that somebody else produced may be in any of these.
Taken from what the programs of 15 and of older releases print. A word with two meanings in one language is left out
(Ukrainian prints the same for `shut down` and `shutting down`): it cannot be decided on.
"""

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
