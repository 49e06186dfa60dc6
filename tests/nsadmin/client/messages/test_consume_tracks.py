"""Who has consumed a message."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client.messages.consume_tracks import ConsumeTrack
from nsadmin.client.messages.message_queries import LocatedMessage
from nsadmin.client.proxies.client_heartbeats import HEARTBEAT_TOPIC, parse_heartbeat
from nsadmin.client.proxies.heartbeat_reader import HeartbeatReader, ProxyHeartbeats
from tests.support.fake_servers import FakeNameServer, closed_port, refuse_with
from tests.support.message_brokers import GroupReader, MessageBroker
from tests.support.proxies import heartbeat_body

KEY = "7F00000126FE7DAF6CD06917D8E20000"


@pytest.fixture
def admin(first_server: FakeNameServer, message_broker: MessageBroker) -> Iterator[AdminClient]:
    first_server.clusters = {"C": {"broker-a": {0: message_broker.addr}}}
    message_broker.store_message(b"first")
    message_broker.store_message(b"second", TAGS="A", UNIQ_KEY=KEY)
    with AdminClient(first_server.addr, timeout=5) as client:
        yield client


def second(admin: AdminClient) -> LocatedMessage:
    """The message at offset 1 of its queue."""
    [item] = admin.messages.find_by_unique_key("T", KEY).messages
    return item


@pytest.mark.parametrize(
    ("reader", "track_type"),
    [
        (GroupReader(("c",), 2), "CONSUMED"),
        (GroupReader(("c",), 2, "B || A"), "CONSUMED"),
        (GroupReader(("c",), 2, "B"), "CONSUMED_BUT_FILTERED"),
        (GroupReader(("c",), 2, "a > 1", expression_type="SQL92"), "CONSUMED"),
        (GroupReader(("c",), 1), "NOT_CONSUME_YET"),
        (GroupReader(("c",), None), "NOT_CONSUME_YET"),
        (GroupReader((), 2), "NOT_ONLINE"),
        (GroupReader(("c",), 2, consume_type="CONSUME_ACTIVELY"), "PULL"),
        (GroupReader(("c",), 2, message_model="BROADCASTING"), "CONSUME_BROADCASTING"),
        (GroupReader(("c",), 2, consume_type="CONSUME_POP"), "CONSUMED"),
    ],
)
def test_what_a_group_has_done_with_it(
    admin: AdminClient, message_broker: MessageBroker, reader: GroupReader, track_type: str
) -> None:
    message_broker.readers = {"G": reader}
    assert admin.consume_tracks.get_tracks(second(admin)) == (ConsumeTrack("G", track_type),)


def test_all_groups_in_order_and_none_at_all(admin: AdminClient, message_broker: MessageBroker) -> None:
    assert admin.consume_tracks.get_tracks(second(admin)) == ()
    message_broker.readers = {"b": GroupReader(("c",), 9), "a": GroupReader()}
    tracks = admin.consume_tracks.get_tracks(second(admin))
    assert tracks == (ConsumeTrack("a", "NOT_ONLINE"), ConsumeTrack("b", "CONSUMED"))


def test_clients_at_other_brokers_are_counted(
    admin: AdminClient, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    message_broker.readers = {"G": GroupReader()}
    item = second(admin)
    with MessageBroker() as other:
        other.readers = {"G": GroupReader(("c", "d"), 9)}
        first_server.clusters = {"C": {"broker-a": {0: message_broker.addr, 1: other.addr}}}
        [track] = admin.consume_tracks.get_tracks(item)
    assert (track.track_type, track.other_client_count) == ("NOT_ONLINE", 2)


def test_what_a_broker_does_not_tell_is_unknown(admin: AdminClient, message_broker: MessageBroker) -> None:
    message_broker.readers = {"G": GroupReader(("c",), 2)}
    item = second(admin)
    for code in (14, 203):
        message_broker.handlers[code] = refuse_with(1, "busy")
        [track] = admin.consume_tracks.get_tracks(item)
        assert track.track_type == "UNKNOWN"
        assert str(track.error) == "SYSTEM_ERROR (1): busy"
    message_broker.handlers[300] = refuse_with(1, "no")
    with pytest.raises(Exception, match="no"):
        admin.consume_tracks.get_tracks(item)


def test_the_broker_is_where_its_name_is_now(
    admin: AdminClient, first_server: FakeNameServer, message_broker: MessageBroker
) -> None:
    moved = second(admin)
    moved = moved._replace(message=moved.message._replace(store_host=f"127.0.0.1:{closed_port()}"))
    assert admin.consume_tracks.find_broker_addr(moved) == message_broker.addr
    assert admin.consume_tracks.find_broker_addr(moved._replace(broker_name=None)) == moved.message.store_host
    assert (
        admin.consume_tracks.find_broker_addr(moved._replace(broker_name="gone")) == moved.message.store_host
    )


def test_a_group_behind_a_proxy_is_connected(
    admin: AdminClient,
    first_server: FakeNameServer,
    message_broker: MessageBroker,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message_broker.readers = {"G": GroupReader((), 2), "H": GroupReader((), 2)}
    first_server.routes[HEARTBEAT_TOPIC] = {"broker-a": 6}
    heartbeat = parse_heartbeat(heartbeat_body("host@1@0@abc", "G"), 0, 0)
    assert heartbeat is not None
    # A simple consumer pulls, but brokers know its offsets.
    pulling = heartbeat._replace(client=heartbeat.client._replace(consume_type="CONSUME_ACTIVELY"))
    for known in (heartbeat, pulling):
        monkeypatch.setattr(
            HeartbeatReader, "read_heartbeats", lambda *_, known=known: ProxyHeartbeats((known,))
        )
        tracks = admin.consume_tracks.get_tracks(second(admin))
        assert tracks == (ConsumeTrack("G", "CONSUMED"), ConsumeTrack("H", "NOT_ONLINE"))
