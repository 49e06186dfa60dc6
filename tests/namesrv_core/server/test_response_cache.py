"""Quick answers: the same as the usual ones, whatever was asked and changed before."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesrv_core.errors import ProtocolError
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol import codec, fastjson, frame, header_json
from namesrv_core.protocol.codes import V5_5_0, HeaderType, RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.server import response_cache
from namesrv_core.server.counters import ServerCounters
from namesrv_core.server.response_cache import RouteResponseCache
from namesrv_core.state.credentials_schema import build_policy
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from tests.support.memory import kept_megabytes
from tests.support.wire import STARTED_AT, broker_ext, registration_body, topic_config

LOOKUP = RequestCode.GET_ROUTEINFO_BY_TOPIC


class Server:
    """A name server's tables, asked with frames as they come from a socket."""

    def __init__(self, is_quick: bool) -> None:
        self.state = NameServerState(NameServerSettings(fastPath=is_quick), KvConfig(), STARTED_AT)
        self.counters = ServerCounters()
        self.quick = RouteResponseCache(self.state, self.counters) if is_quick else None

    def ask(self, payload: bytes, now: int = STARTED_AT) -> tuple[bytes | None, list[Any]]:
        if self.quick is not None and (quick_answer := self.quick.find_answers([payload], 0)[0]):
            return b"".join(quick_answer), []
        try:
            asked = codec.decode_command(payload)
        except ProtocolError:
            return None, []
        answer, events = handle_request(self.state, asked, 1, now)
        if self.quick is not None:
            self.quick.learn_answer(payload, asked, answer)
        return codec.encode_command(answer), list(events)


def lookup(topic: str, opaque: int, **more: Any) -> bytes:
    return codec.encode_command(RemotingCommand(LOOKUP, {"topic": topic}, opaque=opaque, **more))[4:]


def large(topic: str, opaque: int) -> bytes:
    """The payload of a lookup with a body that nobody needs, as it comes in pieces."""
    whole = codec.encode_command(RemotingCommand(LOOKUP, {"topic": topic}, bytes(100_000), opaque=opaque))
    reader = frame.FrameReader()
    assert reader.feed_bytes(whole[:1000]) == []
    (payload,) = reader.feed_bytes(whole[1000:])
    return payload


def register(broker: str, topics: list[str], perm: int = 6, version: int = 1) -> bytes:
    body = registration_body([topic_config(topic, perm=perm) for topic in topics], DataVersion(version, 0, 1))
    if version == 3:
        # The name server dates such a version itself.
        body = body.replace(b',"timestamp":1}', b"}")
    return codec.encode_command(
        RemotingCommand(RequestCode.REGISTER_BROKER, broker_ext(broker, 0, f"{broker}:1"), body)
    )[4:]


@pytest.fixture
def server() -> Server:
    new_server = Server(True)
    new_server.ask(register("a", ["T", "U"]))
    return new_server


def test_a_lookup_is_decoded_once(server: Server) -> None:
    first, _ = server.ask(lookup("T", 123))
    again, _ = server.ask(lookup("T", 456))
    assert first is not None
    assert again == first.replace(b'"opaque":123', b'"opaque":456')
    assert server.counters.cached_answer_count == 1


def test_a_large_frame_is_answered_as_the_same_without_its_body(server: Server) -> None:
    first, _ = server.ask(large("T", 123))
    assert server.ask(lookup("T", 123))[0] == first
    assert server.ask(large("T", 456))[0] == (first or b"").replace(b'"opaque":123', b'"opaque":456')
    assert server.counters.cached_answer_count == 1


def test_what_changes_is_seen_at_once(server: Server) -> None:
    for opaque in (100, 101):
        server.ask(lookup("T", opaque))
    server.ask(register("b", ["T", "V"]))
    answer, _ = server.ask(lookup("T", 102))
    assert b"b:1" in (answer or b"")
    assert server.counters.cached_answer_count == 1


def test_nothing_is_quick_any_more_after_the_end(server: Server) -> None:
    assert server.quick is not None
    server.ask(lookup("T", 100))
    server.quick.disable_cache()
    for opaque in (101, 102):
        server.ask(lookup("T", opaque))
    assert server.counters.cached_answer_count == 0


def test_where_a_policy_says_who_may_ask_it_is_asked_each_time(server: Server) -> None:
    server.ask(lookup("T", 100))
    server.state.policy = build_policy({"networks": [{"network": "10.0.0.0/8", "role": "read"}]})
    answer, _ = server.ask(lookup("T", 101))
    assert b'"code":16' in (answer or b"")
    assert server.counters.cached_answer_count == 0


def test_where_everybody_may_read_it_is_quick_all_the_same(server: Server) -> None:
    server.ask(lookup("T", 100))
    server.state.policy = build_policy({"everybody": "read"})
    answer, _ = server.ask(lookup("T", 101))
    assert b'"code":0' in (answer or b"")
    assert server.counters.cached_answer_count == 1


def test_memory_for_many_requests_is_bounded(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "_MAX_CACHE_BYTES", 200_000)
    assert kept_megabytes(lambda: ask_with_odd_fields(server, 1_000)) < 0.25
    assert server.quick is not None
    assert len(server.quick._answers) > 50


def ask_with_odd_fields(server: Server, count: int, topic: str = "T") -> None:
    for number in range(count):
        ext = {"topic": topic, f"x{number}": "y"}
        server.ask(codec.encode_command(RemotingCommand(LOOKUP, ext, opaque=100))[4:])
    # Decoded headers have a bound of their own.
    header_json._decoded_headers.clear()


def register_static_topic(server: Server, topic: str, version: int) -> None:
    """Register a topic whose route has a body of its own, of 10 KB."""
    mapping = {"topic": topic, "bname": "a", "currIdMap": {number: number for number in range(1_000)}}
    body = registration_body([topic, "U"], DataVersion(version, 0, 1), {topic: mapping})
    server.ask(codec.encode_command(RemotingCommand(103, broker_ext("a", 0, "a:1"), body))[4:])


def test_requests_with_the_same_answer_share_its_body(server: Server) -> None:
    register_static_topic(server, "S", 2)
    assert kept_megabytes(lambda: ask_with_odd_fields(server, 200, "S")) < 0.4
    ask_with_odd_fields(server, 1, "S")
    assert server.counters.cached_answer_count == 1


def test_memory_for_bodies_is_bounded(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(response_cache, "_MAX_CACHE_BYTES", 100_000)
    topics = [f"S{number}" for number in range(40)]
    for version, topic in enumerate(topics, 2):
        register_static_topic(server, topic, version)

    def ask_for_all() -> None:
        for topic in topics:
            server.ask(lookup(topic, 100))

    assert kept_megabytes(ask_for_all) < 0.2


def test_a_body_that_is_larger_than_the_cache_is_left_out(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(response_cache, "_MAX_CACHE_BYTES", 5_000)
    register_static_topic(server, "S", 2)
    server.ask(lookup("U", 100))
    for opaque in (101, 102):
        server.ask(lookup("S", opaque))
    server.ask(lookup("U", 103))
    assert server.counters.cached_answer_count == 1


HEADER = {"code": 105, "extFields": {"topic": "T"}, "flag": 0, "language": "GO", "version": V5_5_0}
ODD = [
    b'"opaque":123',
    b'"opaque":456',
    b'"opaque":007',
    b'"opaque":+12',
    b'"opaque":-12',
    b'"opaque":1.5',
    b'"opaque":"12"',
    b'"opaque":0',
    b'"opaque":123456789',
    b'"opaque":2147483648',
    b'"opaque":99999999999',
    b'"\\u006fpaque":77',
    b'"opaque":12,"opaque":34',
    b'"opaque":12,"x":{"opaque":34,"y":1}',
    b'"x":{"opaque":34,"y":1},"opaque":12',
    b'"opaque": 12',
    b'"opaque":null',
    b'"opaque":\xb2',
]


def cut(opaque: int) -> bytes:
    """A frame whose header is said to be shorter than it is: what is left over is a body."""
    whole, plain = odd(b'"opaque":%d' % opaque, False), odd(b'"opaque":123', False)
    return plain[:4] + whole[4:]


def odd(spelling: bytes, is_last: bool) -> bytes:
    text = json.dumps(HEADER, separators=(",", ":")).encode()
    header = text[:-1] + b"," + spelling + b"}" if is_last else b"{" + spelling + b"," + text[1:]
    return frame.build_frame(HeaderType.JSON, header, b"")[4:]


TOPICS = st.sampled_from(["T", "U", "V"])
REQUESTS = st.one_of(
    st.builds(
        lookup,
        TOPICS,
        st.integers(0, 2**31 - 1) | st.sampled_from([0, 1, 9, 10, 11, 12]),
        version=st.sampled_from([V5_5_0, V5_5_0, 300]),
        flag=st.sampled_from([0, 0, 0, 1, 2]),
        header_type=st.sampled_from([HeaderType.JSON, HeaderType.JSON, HeaderType.ROCKETMQ]),
    ),
    st.builds(large, TOPICS, st.sampled_from([11, 123, 456])),
    st.builds(odd, st.sampled_from(ODD), st.booleans()),
    st.builds(odd, st.sampled_from(ODD[:3]), st.just(False)),
    st.builds(cut, st.sampled_from([1234, 12, 123])),
    st.builds(
        register,
        st.sampled_from(["a", "b"]),
        st.lists(TOPICS, min_size=1, unique=True),
        st.sampled_from([6, 4]),
        st.integers(1, 3),
    ),
    st.builds(
        lambda code, fields: codec.encode_command(RemotingCommand(code, fields))[4:],
        st.just(RequestCode.WIPE_WRITE_PERM_OF_BROKER) | st.just(RequestCode.ADD_WRITE_PERM_OF_BROKER),
        st.builds(lambda name: {"brokerName": name}, st.sampled_from(["a", "b"])),
    ),
    st.builds(
        lambda topic: codec.encode_command(
            RemotingCommand(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": topic})
        )[4:],
        TOPICS,
    ),
    st.builds(
        lambda broker: codec.encode_command(
            RemotingCommand(RequestCode.UNREGISTER_BROKER, broker_ext(broker, 0, f"{broker}:1"))
        )[4:],
        st.sampled_from(["a", "b"]),
    ),
    st.builds(
        lambda value: codec.encode_command(
            RemotingCommand(
                RequestCode.PUT_KV_CONFIG, {"namespace": "ORDER_TOPIC_CONFIG", "key": "T", "value": value}
            )
        )[4:],
        st.sampled_from(["a:1", "b:2"]),
    ),
    st.builds(
        lambda word: codec.encode_command(
            RemotingCommand(RequestCode.UPDATE_NAMESRV_CONFIG, {}, f"orderMessageEnable={word}".encode())
        )[4:],
        st.sampled_from(["true", "false"]),
    ),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(REQUESTS, st.integers(1, 3)), max_size=25))
def test_with_and_without_the_answers_are_the_same(asked: list[tuple[bytes, int]]) -> None:
    fast, usual = Server(True), Server(False)
    now = STARTED_AT
    for payload, times in [(register("a", ["T", "U"]), 1), *asked]:
        for _ in range(times):
            now += 1000
            assert fast.ask(payload, now) == usual.ask(payload, now), payload
    assert fastjson.encode_json(_tables(fast)) == fastjson.encode_json(_tables(usual))


def _tables(server: Server) -> dict[str, Any]:
    tables = server.state.tables
    return {
        "topics": {
            topic: {name: list(queue) for name, queue in placement.broker_queues.items()}
            for topic, placement in tables.placements_by_topic.items()
        },
        "live": {
            f"{cluster} {addr}": [live.heard_at_ms, live.channel_id, live.timeout_ms, repr(live.data_version)]
            for (cluster, addr), live in tables.live_brokers.items()
        },
        "groups": {n: [g.cluster_name, dict(g.broker_addrs)] for n, g in tables.broker_groups.items()},
    }
