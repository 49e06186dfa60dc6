"""Tasks of tables: which runs when, and what an error stops."""

import threading

import pytest

from nsreport.jobs.table_tasks import TableTask, run_tasks


def test_a_table_waits_for_the_tables_that_it_reads_in_whatever_order_they_are_given() -> None:
    made: list[str] = []

    def task(name: str, *inputs: str) -> TableTask:
        def make() -> int:
            made.append(name)
            return len(name)

        return TableTask(name, inputs, make)

    counts = run_tasks([task("report", "facts", "lines"), task("facts", "lines", "elsewhere"), task("lines")])
    assert made == ["lines", "facts", "report"]
    assert counts == {"lines": 5, "facts": 5, "report": 6}


def test_tables_that_do_not_read_each_other_are_made_side_by_side() -> None:
    both_there = threading.Barrier(2, timeout=30)
    assert run_tasks(TableTask(name, (), lambda: both_there.wait() * 0) for name in "ab") == {"a": 0, "b": 0}


def test_after_an_error_no_table_that_reads_the_failed_one_starts() -> None:
    made: list[str] = []

    def fail() -> int:
        raise OSError("disk full")

    def make() -> int:
        made.append("facts")
        return 0

    with pytest.raises(OSError, match="disk full"):
        run_tasks([TableTask("lines", (), fail), TableTask("facts", ("lines",), make)])
    assert made == []


def test_tables_that_read_each_other_are_an_error_and_no_endless_wait() -> None:
    with pytest.raises(AssertionError, match="these tables read each other: a, b"):
        run_tasks([TableTask("a", ("b",), lambda: 0), TableTask("b", ("a",), lambda: 0)])
