"""Lines of the log as JSON."""

import json
import logging
import sys
from typing import Any

from namesrv_core.events import BrokerRegistered, QueueData, TopicChange, TopicsChanged, group_topic_changes
from namesrv_core.server.log_json import EventMessage, JsonFormatter


def formatted(message: object, *args: object, error: bool = False) -> dict[str, Any]:
    record = logging.LogRecord("x", logging.INFO, "", 0, message, args, sys.exc_info() if error else None)
    record.created, record.msecs = 1_700_000_000.9996, 999.6
    text = JsonFormatter().format(record)
    assert "\n" not in text
    found: dict[str, Any] = json.loads(text)
    return found


def test_a_line_has_its_time_its_level_and_what_it_says() -> None:
    assert formatted("a %s\nb", "x") == {
        "time": "2023-11-14T22:13:20.999Z", "level": "INFO", "message": "a x\nb",
    }  # fmt: skip


def test_an_event_has_its_fields_as_the_journal_spells_them() -> None:
    event = BrokerRegistered("c", "a", 0, "1.1.1.1:10911", 40)
    found = formatted(EventMessage(event, "REGISTER_BROKER", "1.1.1.1:5", "in words"))
    assert found["message"] == "in words"
    assert found["event"] == "BrokerRegistered"
    assert (found["cause"], found["client"]) == ("REGISTER_BROKER", "1.1.1.1:5")
    assert (found["brokerName"], found["brokerId"], found["topics"]) == ("a", 0, 40)
    assert "client" not in formatted(EventMessage(event, "no heartbeat", None, ""))


def test_of_many_changes_three_are_shown_and_the_others_counted() -> None:
    changes = group_topic_changes(
        TopicChange(f"T{number}", None, QueueData("a", number, 8, 6)) for number in range(5000)
    )
    found = formatted(EventMessage(TopicsChanged("a", "registration", changes), "x", None, ""))
    assert len(found["changes"]) == 3
    assert found["changesLeftOut"] == 4997
    assert len(json.dumps(found)) < 1000


def test_an_exception_is_in_its_line() -> None:
    try:
        raise KeyError("x")
    except KeyError:
        found = formatted("failed", error=True)
    assert found["message"] == "failed"
    assert found["exception"].endswith("KeyError: 'x'")
