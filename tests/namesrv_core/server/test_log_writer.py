"""A log that nobody reads: lines wait, then are lost and counted; whoever logs never waits."""

import logging
import threading

from namesrv_core.server.log_writer import LogWriter


def logger(writer: LogWriter, name: str) -> logging.Logger:
    log = logging.Logger(name)
    log.addHandler(writer)
    return log


def test_lines_are_written_in_their_order() -> None:
    written: list[str] = []
    writer = LogWriter(written.append)
    log = logger(writer, "order")
    for number in range(1000):
        log.warning("line %d", number)
    writer.flush()
    assert "".join(written).splitlines() == [f"line {number}" for number in range(1000)]
    assert writer.lost_lines == 0


def test_while_nobody_reads_nobody_waits_and_what_had_no_room_is_counted_and_told() -> None:
    taken, free, written = threading.Event(), threading.Event(), list[str]()

    def write(text: str) -> None:
        taken.set()
        free.wait(20)
        written.append(text)

    writer = LogWriter(write, max_waiting_lines=10)
    log = logger(writer, "unread")
    log.warning("first")
    assert taken.wait(20)
    for number in range(50):
        log.warning("line %d", number)
    assert writer.lost_lines == 40
    free.set()
    writer.flush()
    lines = "".join(written).splitlines()
    assert lines[:3] == ["first", "line 0", "line 1"]
    assert lines[-1] == "40 log lines were lost, because the reader of the log was too slow"
    assert len(lines) == 12


def test_a_reader_that_has_gone_is_no_error() -> None:
    def write(text: str) -> None:
        raise BrokenPipeError

    writer = LogWriter(write)
    log = logger(writer, "gone")
    log.warning("one")
    writer.flush()
    log.warning("two")
    writer.flush()
    assert writer.lost_lines == 2


def test_a_line_that_cannot_be_made_is_said_and_nothing_else() -> None:
    written: list[str] = []
    writer = LogWriter(written.append)
    logger(writer, "odd").warning("%d", "text")
    writer.flush()
    assert "cannot format a log line" in "".join(written)
