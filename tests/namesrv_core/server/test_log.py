"""Events as lines, and the form and level of the log."""

import logging
import threading
from collections.abc import Iterator

import pytest

from namesrv_core import events
from namesrv_core.events import (
    AddressConflict,
    AddressForgotten,
    BrokerRegistered,
    KvDeleted,
    KvPut,
    MappingChange,
    MappingInfo,
    MappingsChanged,
    QueueData,
    ServerReady,
    SettingChange,
    SettingsChanged,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.server import log as logs
from namesrv_core.server.log import (
    LogThrottle,
    LogWriter,
    configure_log,
    format_event,
    log,
    log_event,
    set_level,
    set_up_log,
)

KINDS = [kind for kind in vars(events).values() if isinstance(kind, type) and events.Event in kind.__bases__]
QUEUE = QueueData("a", 8, 7, 6)


def test_an_event_is_one_line_with_its_fields_and_its_cause() -> None:
    event = BrokerRegistered("c", "a", 0, "1.1.1.1:10911", 40)
    assert format_event(event, "request 103 from 1.1.1.1:5") == (
        "BrokerRegistered cluster_name=c broker_name=a broker_id=0 broker_addr=1.1.1.1:10911 topics=40 "
        "enable_acting_master=False "
        "(request 103 from 1.1.1.1:5)"
    )


def test_fields_that_are_none_are_left_out() -> None:
    assert format_event(AddressForgotten("c", "1.1.1.1:10911", "expired"), "x") == (
        "AddressForgotten cluster_name=c broker_addr=1.1.1.1:10911 reason=expired (x)"
    )
    assert format_event(ServerReady("a"), "x") == "ServerReady address=a (x)"
    assert "silent_millis" not in format_event(AddressConflict("c", "a", 0, "x:1", "b", "y:1", None), "x")


def test_values_of_the_kv_config_are_never_in_a_line_but_their_sizes_are() -> None:
    assert format_event(KvPut("n", "k", None, "pässword"), "x") == "KvPut namespace=n key=k value_bytes=9 (x)"
    assert format_event(KvPut("n", "k", "old", None), "x") == "KvPut namespace=n key=k before_bytes=3 (x)"
    assert (
        format_event(KvDeleted("n", "k", "\ud800"), "x") == "KvDeleted namespace=n key=k before_bytes=3 (x)"
    )


def test_long_values_are_cut() -> None:
    updated = SettingsChanged((SettingChange("productEnvName", "center", "x" * 200_000),))
    text = format_event(updated, "x")
    assert text.startswith(
        "SettingsChanged setting_changes=(SettingChange(key='productEnvName', before='center'"
    )
    assert text.endswith(" characters) (x)")
    assert len(text) < 1200
    mappings = tuple(MappingChange(f"T{n}", "a", None, MappingInfo(f"T{n}", bname="a")) for n in range(500))
    text = format_event(MappingsChanged("a", mappings), "x")
    assert ("T2" in text, "T3" in text, text.endswith(" and 497 more (x)")) == (True, False, True)


def test_three_changes_are_shown_and_the_others_counted() -> None:
    changes = group_topic_changes(TopicChange(f"T{number}", None, QUEUE) for number in range(5))
    text = format_event(TopicsChanged("a", "registration", changes), "x")
    assert "changes=T0 none->r8/w7/perm6, T1 none->r8/w7/perm6, T2 none->r8/w7/perm6 and 2 more (x)" in text


def test_before_and_after_of_a_change_are_shown() -> None:
    changed = TopicsChanged(
        "a", "registration", group_topic_changes([TopicChange("T", QUEUE, QUEUE._replace(perm=4))])
    )
    gone = TopicsChanged("a", "registration", group_topic_changes([TopicChange("T", QUEUE, None)]))
    assert "T r8/w7/perm6->r8/w7/perm4 (x)" in format_event(changed, "x")
    assert "T r8/w7/perm6->none (x)" in format_event(gone, "x")


def test_every_event_has_a_line() -> None:
    for kind in KINDS:
        event = kind(*[()] * len(kind.__annotations__))
        assert format_event(event, "why").startswith(f"{kind.__name__} ")


@pytest.fixture
def log_lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What goes to stderr; loggers are as they were afterwards."""
    lines: list[str] = []
    monkeypatch.setattr(logs, "_write_to_stderr", lines.append)
    loggers = [log, logging.getLogger("asyncio")]
    before = [(logger.handlers[:], logger.level) for logger in loggers]
    yield lines
    for logger, (handlers, level) in zip(loggers, before, strict=True):
        logger.handlers[:] = handlers
        logger.setLevel(level)


def flushed() -> None:
    for handler in log.handlers:
        handler.flush()


def test_what_is_said_before_the_form_is_known_is_said_in_that_form(log_lines: list[str]) -> None:
    set_up_log()
    log.warning("early %d", 1)
    assert log_lines == []
    configure_log("json")
    log.info("late")
    flushed()
    first, last = "".join(log_lines).splitlines()
    assert first.endswith('"level": "WARNING", "message": "early 1"}')
    assert last.endswith('"level": "INFO", "message": "late"}')


def test_what_the_loop_says_is_in_the_same_form(log_lines: list[str]) -> None:
    set_up_log()
    configure_log("text")
    logging.getLogger("asyncio").warning("slow")
    flushed()
    (line_of_it,) = "".join(log_lines).splitlines()
    assert line_of_it.endswith("Z WARNING slow")


def test_less_or_more_is_said_as_the_level_wants(log_lines: list[str]) -> None:
    set_up_log()
    configure_log("text", "WARN")
    for level in ("WARN", "DEBUG", "ERROR"):
        set_level(level)
        log.debug("debug at %s", level)
        log_event(KvPut("n", "k", None, "v"), f"put at {level}")
        log.error("error at %s", level)
    flushed()
    assert [text.split()[1] for text in "".join(log_lines).splitlines()] == [
        "ERROR", "DEBUG", "INFO", "ERROR", "ERROR",
    ]  # fmt: skip
    assert "KvPut namespace=n key=k value_bytes=1 (put at DEBUG)" in "".join(log_lines)


# No lone surrogate: pytest-xdist cannot send a report with one. `test_printable_text` has them.
FORGED = "a\n2026-11-24T00:00:00.000Z INFO  forged\x1b[31m\x85\u202e\u2028"


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_name_cannot_forge_a_line_and_a_terminal_sees_no_control_characters(
    log_lines: list[str], log_format: str
) -> None:
    set_up_log()
    configure_log(log_format)
    log_event(BrokerRegistered("c\r", FORGED, 0, "1.1.1.1:10911", 40), "cause\x7f", "1.1.1.1:5\n")
    log.warning("%s", FORGED)
    log.warning(FORGED)
    flushed()
    lines = "".join(log_lines).split("\n")
    assert len(lines) == 4
    assert all(line.isprintable() and line.isascii() for line in lines)
    assert r"broker_name=a\n2026-11-24T00:00:00.000Z INFO  forged\x1b[31m" in lines[0] or log_format == "json"


def test_the_lines_of_a_traceback_are_indented_and_its_message_cannot_forge_one(log_lines: list[str]) -> None:
    set_up_log()
    configure_log("text")
    try:
        raise KeyError from ValueError(FORGED)
    except KeyError:
        log.exception("failed")
    flushed()
    first, *lines = "".join(log_lines).splitlines()
    assert first.endswith("Z ERROR failed")
    assert lines[0] == "  Traceback (most recent call last):" or lines[0].startswith("  ValueError: a")
    assert all(line.startswith("  ") and line.isprintable() for line in lines)
    assert any(line.startswith("  2026-11-24T00:00:00.000Z INFO  forged\\x1b") for line in lines)


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_line_is_cut_whatever_it_says(log_lines: list[str], log_format: str) -> None:
    set_up_log()
    configure_log(log_format)
    log.warning("%s", "\n" * 1_000_000)
    try:
        raise ValueError("y" * 1_000_000)
    except ValueError:
        log.exception("failed")
    flushed()
    assert len("".join(log_lines)) < 20_000
    assert "(1000000 characters)" in "".join(log_lines)


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


def test_one_line_of_a_kind_for_a_while_and_then_how_many_were_left_out(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = [0.0]
    sparing = LogThrottle(10, lambda: now[0])
    with caplog.at_level(logging.WARNING, "namesrv"):
        for number in range(5):
            sparing.log_warning("a", f"a{number}")
        sparing.log_warning("b", "b0")
        now[0] = 9.9
        sparing.log_warning("a", "a5")
        now[0] = 10
        sparing.log_warning("a", "a6")
        now[0] = 20
        sparing.log_warning("a", "a7")
    assert [record.message for record in caplog.records] == [
        "a0",
        "b0",
        "a6 (and 5 similar ones since the last such line)",
        "a7",
    ]
