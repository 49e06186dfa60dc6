"""Polls as lines: what is written is what is read."""

from typing import Any

import msgspec
import pytest

from namesrv_core.protocol.fastjson import DecimalNumber
from nsadmin.tui.polling.poll_records import (
    AnyPoll,
    BrokerPolled,
    ClientConnection,
    ConfigPolled,
    DivergenceFinding,
    DivergencePolled,
    EventSeen,
    GroupPolled,
    GroupsPolled,
    NameServerPolled,
    QueueCounts,
    QueueLag,
    TopicPolled,
    TopicRatesPolled,
    check_poll,
    decode_poll,
    encode_poll,
)
from tests.support.screens import make_broker_poll, make_server_poll, make_silent_broker

ALL: list[AnyPoll] = [
    make_server_poll(),
    make_server_poll(topics=None, settings=None, kv=None),
    make_broker_poll("10.0.1.1:10911"),
    make_silent_broker("10.0.1.1:10911"),
    GroupPolled(
        1,
        "g",
        2.5,
        [QueueLag("t", "b", 0, 10, None, None, None)],
        [ClientConnection("c", "h:1", "JAVA", "V5")],
    ),
    TopicPolled(
        1, "t", {"h:1": {"b": QueueCounts(8, 8, 6)}, "h:2": None}, {"h:3": "closed"}, ["g"], {"b": 1.5}
    ),
    EventSeen(1, "h:1", "KvPut", "k: new", ["k"]),
]


@pytest.mark.parametrize("poll", ALL, ids=lambda poll: type(poll).__name__)
def test_a_line_is_read_as_it_was_written(poll: AnyPoll) -> None:
    line = encode_poll(poll)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    again = decode_poll(line)
    assert type(again) is type(poll)
    assert encode_poll(again) == line


def test_what_is_no_poll_is_refused() -> None:
    with pytest.raises(msgspec.DecodeError):
        decode_poll(b'{"poll":"weather","at":1}\n')
    with pytest.raises(ValueError):  # noqa: PT011 - the text is msgspec's
        decode_poll(b"{")


def test_a_lag_is_unknown_where_nothing_was_committed() -> None:
    assert QueueLag("t", "b", 0, 10, 4, None, None).lag.messages == 6
    assert QueueLag("t", "b", 0, 10, None, None, None).lag.messages is None


def test_defaults_take_no_room() -> None:
    assert encode_poll(BrokerPolled(7, "h:1")) == b'{"poll":"broker","at":7,"addr":"h:1"}\n'


def test_recordings_keep_the_names_of_fields_that_were_renamed() -> None:
    found = encode_poll(EventSeen(1, "h:1", "KvPut", "k: new"))
    assert found == b'{"poll":"event","at":1,"server":"h:1","kind":"KvPut","said":"k: new"}\n'
    found = encode_poll(NameServerPolled(1, "h:1", unreported={"kv": "closed"}))
    assert found == b'{"poll":"nameServer","at":1,"addr":"h:1","untold":{"kv":"closed"}}\n'
    divergence_poll = DivergencePolled(
        1, findings=[DivergenceFinding("topic", "t", "b", 1, "new", 2, "", "", "", {})]
    )
    found = encode_poll(divergence_poll)
    assert found == b'{"poll":"divergence","at":1,"found":[["topic","t","b",1,"new",2,"","","",{}]]}\n'


HOSTILE: Any = {"x": [None]}


@pytest.mark.parametrize(
    ("poll", "checked"),
    [
        (BrokerPolled(1, "h:1", table=HOSTILE), ("BrokerPolled", "error", "h:1")),
        (GroupPolled(1, "g", tps=HOSTILE), ("GroupPolled", "error", "g")),
        (GroupPolled(1, "g", lags=[QueueLag("t", "b", 0, 10**30, 0, 0, 0)]), ("GroupPolled", "error", "g")),
        (GroupPolled(1, "g", tps=float("nan")), ("GroupPolled", "error", "g")),
        (TopicPolled(1, "t", put_tps={"b": float("inf")}), ("TopicPolled", "errors", "t")),
        (GroupsPolled(1, HOSTILE), ("GroupsPolled", "errors", None)),
        (NameServerPolled(1, "n:1", perms=HOSTILE), ("NameServerPolled", "error", "n:1")),
        (TopicPolled(1, "t", HOSTILE), ("TopicPolled", "errors", "t")),
        (ConfigPolled(1, "h:1", HOSTILE), ("ConfigPolled", "error", "h:1")),
    ],
)
def test_an_answer_with_other_types_is_an_error_of_its_object(
    poll: Any, checked: tuple[str, str, str | None]
) -> None:
    kind, error_field, name = checked
    bad_poll = check_poll(poll)
    assert type(bad_poll).__name__ == kind
    assert "malformed answer (" in str(getattr(bad_poll, error_field))
    assert name in (None, *(getattr(bad_poll, field, None) for field in ("addr", "group", "topic")))


def test_an_answer_with_the_right_types_stays_as_it_is() -> None:
    decimal: Any = DecimalNumber("1.5")
    poll = GroupPolled(1, "g", decimal, [QueueLag("t", "b", 0, 1, None, None, None)])
    assert check_poll(poll) == poll
    with pytest.raises(ValueError, match="TopicRatesPolled: malformed answer"):
        check_poll(TopicRatesPolled(1, HOSTILE))
