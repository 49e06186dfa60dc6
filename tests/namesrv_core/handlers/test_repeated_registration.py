"""103 that repeats the last one of its broker: a heartbeat, answered alike, and decoded no second time."""

from collections.abc import Callable

import pytest

from namesrv_core.events import HeartbeatGap
from namesrv_core.protocol import registration_codec
from namesrv_core.protocol.codes import HeaderType
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.registration_codec import BrokerRegistration, decode_registration
from namesrv_core.state.settings import NameServerSettings
from tests.support.wire import STARTED_AT, Wire, broker_ext, registration_body

ADDR = "10.0.0.1:10911"
KEY = ("c", ADDR)


@pytest.fixture
def decoded_bodies(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies that were decoded."""
    bodies: list[bytes] = []

    def decode(body: bytes, **options: object) -> BrokerRegistration:
        bodies.append(body)
        return decode_registration(body, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(registration_codec, "decode_registration", decode)
    return bodies


def test_it_is_a_sign_of_life_and_nothing_else(form: HeaderType, decoded_bodies: list[bytes]) -> None:
    wire = Wire(form)
    first = wire.register_broker("a", "T", "U", channel=7)
    generation, placements = wire.state.tables.generation, dict(wire.state.tables.placements_by_topic)
    again = wire.register_broker("a", "T", "U", channel=8, now=STARTED_AT + 30_000)
    assert (again.code, again.ext, again.body) == (first.code, first.ext, first.body)
    assert list(wire.events) == []
    assert len(decoded_bodies) == 1
    live = wire.state.tables.live_brokers[KEY]
    assert (live.heard_at_ms, live.channel_id) == (STARTED_AT + 30_000, 8)
    assert live.former_channel_ids == {7}
    assert (wire.state.tables.generation, wire.state.tables.placements_by_topic) == (generation, placements)


def test_a_slave_is_told_its_master_each_time(form: HeaderType, decoded_bodies: list[bytes]) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    for _ in range(3):
        answer = wire.register_broker("a", "T", "U", broker_id=1, addr="10.0.0.2:10911")
        assert answer.ext == {"haServerAddr": f"ha-{ADDR}", "masterAddr": ADDR}
    assert len(decoded_bodies) == 2


def test_order_topics_are_told_each_time(form: HeaderType, decoded_bodies: list[bytes]) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    wire.send_request(100, {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": "a:8"})
    assert wire.register_broker("a", "T", "U").body == b'{"table":{"T":"a:8"}}'
    assert len(decoded_bodies) == 1


def test_after_a_silence_it_is_told_that_the_broker_is_back(
    form: HeaderType, decoded_bodies: list[bytes]
) -> None:
    wire = Wire(form)
    wire.register_broker("a", "T", "U")
    wire.register_broker("a", "T", "U", now=STARTED_AT + 100_000)
    assert wire.events == [HeartbeatGap("c", "a", 0, ADDR, silent_millis=100_000, resumed=True)]
    assert len(decoded_bodies) == 1


@pytest.mark.parametrize(
    "other",
    [
        lambda wire: wire.register_broker("a", "T", "V"),
        lambda wire: wire.register_broker("a", "T", "U", version=DataVersion(2, 0, 1)),
        lambda wire: wire.register_broker("a", "T", "U", body=registration_body(["T", "U"]) + b" "),
        lambda wire: wire.register_broker("a", "T", "U", more={"heartbeatTimeoutMillis": "10000"}),
        lambda wire: wire.register_broker("a", "T", "U", more={"haServerAddr": "elsewhere:1"}),
        lambda wire: wire.send_request(
            103, broker_ext() | {"haServerAddr": f"ha-{ADDR}"}, registration_body(["T", "U"]), version=400
        ),
    ],
    ids=["topics", "version", "a byte", "timeout", "ha address", "release"],
)
def test_whatever_differs_makes_it_a_new_one(
    decoded_bodies: list[bytes], other: Callable[[Wire], object]
) -> None:
    wire = Wire()
    wire.register_broker("a", "T", "U")
    other(wire)
    assert len(decoded_bodies) == 2
    # What came in between is now the last one.
    other(wire)
    assert len(decoded_bodies) == 2
    wire.register_broker("a", "T", "U")
    assert len(decoded_bodies) == 3


@pytest.mark.parametrize(
    "change",
    [
        lambda wire: wire.send_request(205, {"brokerName": "a"}),
        lambda wire: wire.send_request(216, {"topic": "T"}),
        lambda wire: wire.register_broker("b", "T", "U", addr="10.0.0.9:10911"),
        lambda wire: wire.send_request(318, body=b"deleteTopicWithBrokerRegistration=true"),
        lambda wire: wire.send_request(104, broker_ext()),
    ],
    ids=["write permission", "topic", "another broker", "settings", "unregistration"],
)
def test_after_a_change_of_the_tables_or_settings_it_is_read_anew(
    decoded_bodies: list[bytes], change: Callable[[Wire], object]
) -> None:
    wire = Wire()
    wire.register_broker("a", "T", "U")
    change(wire)
    decoded_bodies.clear()
    wire.register_broker("a", "T", "U")
    assert len(decoded_bodies) == 1
    assert wire.state.tables.queues_of_topic("U")["a"].perm in (4, 6)


def test_a_deleted_topic_comes_back_with_it() -> None:
    wire = Wire()
    wire.register_broker("a", "T", "U")
    wire.send_request(216, {"topic": "T"})
    wire.register_broker("a", "T", "U")
    assert set(wire.state.tables.placements_by_topic) == {"T", "U"}


def test_a_version_without_a_time_is_another_one_each_time(decoded_bodies: list[bytes]) -> None:
    wire = Wire()
    body = registration_body(["T", "U"]).replace(b',"timestamp":1', b"")
    for seconds in range(3):
        wire.register_broker(body=body, now=STARTED_AT + seconds * 1000)
    assert len(decoded_bodies) == 3
    version = wire.state.tables.live_brokers[KEY].data_version
    assert version is not None
    assert version.timestamp == STARTED_AT + 2000


def test_one_that_was_refused_is_refused_again(decoded_bodies: list[bytes]) -> None:
    wire = Wire()
    for _ in range(2):
        assert wire.register_broker("a", "T").code == 1
    assert len(decoded_bodies) == 2


def test_without_the_fast_path_each_is_decoded(decoded_bodies: list[bytes]) -> None:
    wire = Wire(settings=NameServerSettings(fastPath=False))
    for _ in range(3):
        wire.register_broker("a", "T", "U")
    assert len(decoded_bodies) == 3
