"""delayed: the list, and what a broker says to a cancellation."""

import pytest

from namesrv_core.protocol.command import build_reply
from tests.nsadmin.conftest import Run
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import refuse_with
from tests.support.message_brokers import CREATED


@pytest.fixture(autouse=True)
def _filled(store: DeadLetterBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsadmin.commands.messages.delayed_messages.time", lambda: CREATED / 1000)
    store.handlers[26] = lambda asked: build_reply(
        asked, body=b"messageDelayLevel=1s\nrecallMessageEnable=true\n"
    )
    due = str(CREATED + 3_600_000)
    store.store_message(
        b"one", "rmq_sys_wheel_timer", 0, 0, REAL_TOPIC="T", UNIQ_KEY="A", TIMER_OUT_MS=due, KEYS="k"
    )


def test_a_message_has_its_time(stream: Run) -> None:
    result = stream("delayed", "list", "T", "--json")
    [row] = result.json
    assert (result.code, result.err) == (0, "nsadmin: 1 delayed message\n")
    assert (row["msgId"], row["topic"], row["level"], row["cancelled"], row["keys"], row["body"]) == (
        "A", "T", None, False, ["k"], "one",
    )  # fmt: skip
    assert row["remainingMs"] == 3_600_000


def test_the_messages_and_those_that_were_cancelled_are_counted(stream: Run, store: DeadLetterBroker) -> None:
    for properties in ({"UNIQ_KEY": "B"}, {"UNIQ_KEY": "C", "TIMER_DEL_UNIQKEY": "B"}):
        store.store_message(
            b"two", "rmq_sys_wheel_timer", 0, 0,
            REAL_TOPIC="T", TIMER_OUT_MS=str(CREATED + 3_600_000), **properties,
        )  # fmt: skip
    result = stream("delayed", "list", "T", "--json")
    assert ([row["msgId"] for row in result.json], result.err) == (
        ["A", "B"], "nsadmin: 2 delayed messages, 1 of them cancelled\n",
    )  # fmt: skip


def test_a_message_is_cancelled_after_a_preview(stream: Run, store: DeadLetterBroker) -> None:
    store.handlers[370] = build_reply
    [row] = stream("delayed", "cancel", "T", "A", "--dry-run", "--json").json
    assert (row["result"], 370 in store.asked_codes()) == ("dry-run", False)
    assert stream("delayed", "cancel", "T", "A").code == 2
    [row] = stream("delayed", "cancel", "T", "A", "--yes", "--json").json
    assert (row["result"], row["brokerName"], row["brokerAddr"]) == ("done", "broker-a", store.addr)
    assert store.asked_codes().count(370) == 1


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (3, "cannot cancel messages: brokers since 5.4 can"),
        (16, "not allow to cancel messages (NO_PERMISSION (16): no): set its recallMessageEnable"),
        (1, "SYSTEM_ERROR (1): no"),
    ],
)
def test_a_broker_that_does_not_cancel(stream: Run, store: DeadLetterBroker, code: int, text: str) -> None:
    store.handlers[370] = refuse_with(code, "no")
    result = stream("delayed", "cancel", "T", "A", "--yes", "--json")
    assert (result.code, text in result.err, result.json[0]["result"]) == (1, True, "failed"), result.err


@pytest.mark.parametrize(
    ("settings", "properties", "text"),
    [
        (b"recallMessageEnable=false", {}, "set its recallMessageEnable to true"),
        (b"brokerName=broker-a", {}, "cannot cancel messages: brokers since 5.4 can"),
        (b"recallMessageEnable=true", {"TIMER_DEL_UNIQKEY": "A"}, "the message is cancelled already"),
    ],
)
def test_a_preview_fails_where_the_cancellation_would(
    stream: Run, store: DeadLetterBroker, settings: bytes, properties: dict[str, str], text: str
) -> None:
    store.handlers[26] = lambda asked: build_reply(asked, body=settings)
    if properties:
        store.store_message(b"", "rmq_sys_wheel_timer", 0, 0, REAL_TOPIC="T", UNIQ_KEY="B", **properties)
    result = stream("delayed", "cancel", "T", "A", "--dry-run", "--json")
    assert (result.code, text in result.err, result.json[0]["result"]) == (1, True, "failed")
    assert 370 not in store.asked_codes()


def test_a_message_that_is_not_there(stream: Run) -> None:
    result = stream("delayed", "cancel", "T", "B", "--yes")
    assert (result.code, result.err) == (5, 'nsadmin: topic "T" has no delayed message with the id "B"\n')
