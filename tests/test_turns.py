"""Who wants the machine alone waits for those who test, and nobody begins meanwhile."""

import threading
from pathlib import Path

from tests.turns import Turns


def test_one_alone_waits_for_the_others_and_they_for_it(tmp_path: Path) -> None:
    said: list[str] = []
    begun, wanted = threading.Event(), threading.Event()

    def other() -> None:
        with Turns(tmp_path).beside_others():
            begun.set()
            wanted.wait(10)
            said.append("the other has ended")
        with Turns(tmp_path).beside_others():
            said.append("the other goes on")

    testing = threading.Thread(target=other)
    testing.start()
    turns = Turns(tmp_path)
    with turns.beside_others():
        assert begun.wait(10)  # both at once
        threading.Timer(0.1, wanted.set).start()
        with turns.alone():
            said.append("alone")
            testing.join(0.1)
            said.append("still alone")
    testing.join(10)
    assert said == ["the other has ended", "alone", "still alone", "the other goes on"]


def test_two_that_want_it_alone_take_turns(tmp_path: Path) -> None:
    inside: list[int] = []
    most: list[int] = []

    def one(number: int) -> None:
        turns = Turns(tmp_path)
        with turns.beside_others(), turns.alone():
            inside.append(number)
            most.append(len(inside))
            inside.remove(number)

    threads = [threading.Thread(target=one, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert most == [1, 1, 1, 1]
