"""Events as lines, and the form and level of the log."""

import logging
from collections.abc import Iterator

import pytest

from namesrv_core import events
from namesrv_core.events import (
    BrokerRegistered,
    KvPut,
    QueueData,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.server import log as logs
from namesrv_core.server.log import configure_log, format_event, log, log_event, set_level, set_up_log

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
    assert format_event(KvPut("n", "k", None, "v"), "x") == "KvPut namespace=n key=k value=v (x)"


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


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_event_has_a_line(kind: type[events.Event]) -> None:
    event = kind(*[()] * len(kind.__annotations__))
    assert format_event(event, "why").startswith(f"{kind.__name__} ")


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What goes to stderr; loggers are as they were afterwards."""
    found: list[str] = []
    monkeypatch.setattr(logs, "_write_to_stderr", found.append)
    loggers = [log, logging.getLogger("asyncio")]
    before = [(logger.handlers[:], logger.level) for logger in loggers]
    yield found
    for logger, (handlers, level) in zip(loggers, before, strict=True):
        logger.handlers[:] = handlers
        logger.setLevel(level)


def flushed() -> None:
    for handler in log.handlers:
        handler.flush()


def test_what_is_said_before_the_form_is_known_is_said_in_that_form(written: list[str]) -> None:
    set_up_log()
    log.warning("early %d", 1)
    assert written == []
    configure_log("json")
    log.info("late")
    flushed()
    first, last = "".join(written).splitlines()
    assert first.endswith('"level": "WARNING", "message": "early 1"}')
    assert last.endswith('"level": "INFO", "message": "late"}')


def test_what_the_loop_says_is_in_the_same_form(written: list[str]) -> None:
    set_up_log()
    configure_log("text")
    logging.getLogger("asyncio").warning("slow")
    flushed()
    (line_of_it,) = "".join(written).splitlines()
    assert line_of_it.endswith("Z WARNING slow")


def test_less_or_more_is_said_as_the_level_wants(written: list[str]) -> None:
    set_up_log()
    configure_log("text", "WARN")
    for level in ("WARN", "DEBUG", "ERROR"):
        set_level(level)
        log.debug("debug at %s", level)
        log_event(KvPut("n", "k", None, "v"), f"put at {level}")
        log.error("error at %s", level)
    flushed()
    assert [text.split()[1] for text in "".join(written).splitlines()] == [
        "ERROR", "DEBUG", "INFO", "ERROR", "ERROR",
    ]  # fmt: skip
    assert "KvPut namespace=n key=k value=v (put at DEBUG)" in "".join(written)
