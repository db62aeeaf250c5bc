"""A queue whose tasks may come back."""

from __future__ import annotations

import time
from threading import Thread

from opscan.probing.signature import Signature
from opscan.probing.work import Task, Work

ONE, TWO = Task(0, Signature("aten::a")), Task(1, Signature("aten::b"))


def test_tasks_come_in_order_and_end() -> None:
    work = Work([ONE, TWO])
    assert work.take() == ONE
    work.done()
    assert work.take() == TWO
    work.done()
    assert work.take() is None


def test_a_task_that_is_put_back_comes_last() -> None:
    work = Work([ONE, TWO])
    work.take()
    work.put_back(ONE)
    assert work.take() == TWO
    assert work.take() == ONE


def test_whoever_finds_it_empty_waits_for_what_another_may_put_back() -> None:
    work = Work([ONE])
    work.take()
    taken: list[Task | None] = []
    thread = Thread(target=lambda: taken.append(work.take()))
    thread.start()
    time.sleep(0.05)
    assert not taken
    work.put_back(ONE)
    thread.join(5)
    assert taken == [ONE]


def test_a_closed_queue_gives_nothing() -> None:
    work = Work([ONE])
    work.close()
    assert work.take() is None
