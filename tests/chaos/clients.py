"""The clients of the cluster: one writes to old and keeps what it was told to be committed, one knocks at new."""

import random
import threading
from datetime import UTC, datetime

import psycopg

_PAUSE = 0.03
_PATIENCE = "connect_timeout=2 tcp_user_timeout=3000 options='-c statement_timeout=5000'"
_WRITE = (
    "with half as (update filler set sum = sum + %(delta)s where n = %(row)s) "
    "insert into ledger values (%(n)s, %(delta)s)"
)


class Clients:
    """Both at work from `__enter__` to `__exit__`, over the network, whatever becomes of the servers.

    Attributes:
        committed: the rows of the ledger that old has said to be committed.
        last_commit: when old said so last; `first_answer`: when new first let a client in. Of this machine's clock.
    """

    def __init__(self, old: str, new: str) -> None:
        self.committed: set[int] = set()
        self.last_commit: datetime | None = None
        self.first_answer: datetime | None = None
        self._end = threading.Event()
        self._threads = [
            threading.Thread(target=work, args=(address,)) for work, address in ((self._write, old), (self._knock, new))
        ]

    def __enter__(self) -> "Clients":
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        for each in self._threads:
            each.join()

    def _write(self, address: str) -> None:
        number = 0
        while not self._end.wait(_PAUSE * 5):
            try:
                with _connected(address) as connection:
                    while not self._end.wait(_PAUSE):
                        number += 1  # of a commit whose answer was lost nobody knows: its number is not used again
                        values = {"n": number, "delta": random.randint(-99, 99), "row": random.randint(1, 100_000)}
                        connection.execute(_WRITE, values)
                        self.committed.add(number)
                        self.last_commit = datetime.now(UTC)
            except psycopg.Error:
                continue

    def _knock(self, address: str) -> None:
        while self.first_answer is None and not self._end.wait(_PAUSE * 10):
            try:
                with _connected(address):
                    self.first_answer = datetime.now(UTC)
            except psycopg.Error:
                continue


def _connected(address: str) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(f"host={address} user=postgres dbname=postgres {_PATIENCE}", autocommit=True)
