"""Lines of the log as JSON."""

import json
import logging
import sys
from typing import Any

from namesrv_core.events import (
    BrokerRegistered,
    KvPut,
    MinBrokerIdChanged,
    QueueData,
    SettingChange,
    SettingsChanged,
    TopicChange,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.server.log_json import EventMessage, JsonFormatter


def formatted(message: object, *args: object, error: bool = False) -> dict[str, Any]:
    record = logging.LogRecord("x", logging.INFO, "", 0, message, args, sys.exc_info() if error else None)
    record.created, record.msecs = 1_700_000_000.9996, 999.6
    text = JsonFormatter().format(record)
    assert "\n" not in text
    fields: dict[str, Any] = json.loads(text)
    return fields


def test_a_line_has_its_time_its_level_and_what_it_says() -> None:
    assert formatted("a %s\nb", "x") == {
        "time": "2023-11-14T22:13:20.999Z", "level": "INFO", "message": "a x\nb",
    }  # fmt: skip


def test_an_event_has_its_fields_as_the_journal_spells_them() -> None:
    event = BrokerRegistered("c", "a", 0, "1.1.1.1:10911", 40)
    record = formatted(EventMessage(event, "REGISTER_BROKER", "1.1.1.1:5", "in words"))
    assert record["message"] == "in words"
    assert record["event"] == "BrokerRegistered"
    assert (record["cause"], record["client"]) == ("REGISTER_BROKER", "1.1.1.1:5")
    assert (record["brokerName"], record["brokerId"], record["topics"]) == ("a", 0, 40)
    assert "client" not in formatted(EventMessage(event, "no heartbeat", None, ""))


def test_of_many_changes_three_are_shown_and_the_others_counted() -> None:
    changes = group_topic_changes(TopicChange(f"T{n}", None, QueueData("a", n, 8, 6)) for n in range(5000))
    record = formatted(EventMessage(TopicsChanged("a", "registration", changes), "x", None, ""))
    assert len(record["changes"]) == 3
    assert record["changesLeftOut"] == 4997
    assert len(json.dumps(record)) < 1000


def test_an_exception_is_in_its_line() -> None:
    try:
        raise KeyError("x")
    except KeyError:
        record = formatted("failed", error=True)
    assert record["message"] == "failed"
    assert record["exception"].endswith("KeyError: 'x'")


def test_values_of_the_kv_config_are_never_in_a_line_but_their_sizes_are() -> None:
    record = formatted(EventMessage(KvPut("n", "k", "s", "secret"), "x", None, "KvPut"))
    assert (record["namespace"], record["key"], record["beforeBytes"], record["valueBytes"]) == (
        "n",
        "k",
        1,
        6,
    )
    assert "secret" not in json.dumps(record)


def test_long_values_are_cut_and_ordinary_ones_are_not() -> None:
    changed = SettingsChanged((SettingChange("productEnvName", "center", "x" * 200_000),))
    record = formatted(EventMessage(changed, "x", None, ""))
    (change,) = record["settingChanges"]
    assert (change["key"], change["before"]) == ("productEnvName", "center")
    assert change["after"] == "x" * 1024 + "... (200000 characters)"
    moved = MinBrokerIdChanged("a", 1, "x:1", None, None, tuple(f"10.0.0.{n}:10911" for n in range(3)))
    assert formatted(EventMessage(moved, "x", None, ""))["recipients"] == list(moved.recipients)
    many = MinBrokerIdChanged("a", 1, "x:1", None, None, ("10.0.0.1:10911",) * 10_000)
    assert len(json.dumps(formatted(EventMessage(many, "x", None, "")))) < 10_000


def test_control_characters_are_escape_sequences_of_json_and_read_back_as_they_were() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, "\x7f\x80\u202e\n", (), None)
    text = JsonFormatter().format(record)
    assert text.isprintable()
    assert text.isascii()
    assert json.loads(text)["message"] == "\x7f\x80\u202e\n"
