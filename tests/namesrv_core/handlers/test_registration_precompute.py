"""Large registrations worked on ahead: the same answers, events and tables as carried out at their end."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesrv_core.events import Event, TopicsChanged
from namesrv_core.handlers import registration_precompute
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol import codec, registration_steps
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.protocol.registration_codec import BrokerRegistration, encode_compressed_registration
from namesrv_core.state.access_policy import ANONYMOUS_PEER
from namesrv_core.state.credentials_schema import build_policy
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from tests.support.brokers import queues_in
from tests.support.wire import STARTED_AT, broker_ext, registration_body, topic_config


class Server:
    """Tables that are asked; a registration may be worked on ahead while others ask."""

    def __init__(self, is_quick: bool, **more: Any) -> None:
        self.state = NameServerState(NameServerSettings(fastPath=is_quick, **more), KvConfig(), STARTED_AT)
        self.now = STARTED_AT
        self.channel = 1

    def ask(self, asked: RemotingCommand) -> tuple[bytes, list[Event]]:
        answer, events = handle_request(self.state, asked, self.channel, self.now)
        for _ in registration_precompute.release_precomputed(asked):
            # What came of it stays as it is.
            pass
        return codec.encode_command(answer), [_in_order(event) for event in events]

    def begin(self, asked: RemotingCommand) -> registration_precompute.PrecomputeSteps | None:
        return registration_precompute.precompute_steps(self.state, asked, self.now, ANONYMOUS_PEER)


def _in_order(event: Event) -> Event:
    """Topics that change alike may be named in any order."""
    if not isinstance(event, TopicsChanged):
        return event
    groups = tuple(group._replace(topics=tuple(sorted(group.topics))) for group in event.changes)
    return TopicsChanged(event.broker_name, event.reason, groups)


def finished(steps: registration_precompute.PrecomputeSteps) -> RemotingCommand:
    try:
        while True:
            next(steps)
    except StopIteration as ended:
        asked: RemotingCommand = ended.value
        return asked


def register(
    broker: str = "a", topics: tuple[str, ...] = ("T", "U"), version: int = 1, perm: int = 6, *,
    packed: bool = False, number: int = 0, crc: int = 0, acting: bool = False,
) -> RemotingCommand:  # fmt: skip
    configs = [topic_config(topic, perm=perm) for topic in topics]
    dated = DataVersion(version, 0, 1)
    body = (
        encode_compressed_registration(dated, {str(config["topicName"]): config for config in configs})
        if packed
        else registration_body(configs, dated)
    )
    if version == 3:
        # The name server dates such a version itself.
        body = body.replace(b',"timestamp":1}', b"}")
    ext = broker_ext(broker, number, f"{broker}{number}:1") | {"bodyCrc32": str(crc)}
    if acting:
        ext["enableActingMaster"] = "true"
    return RemotingCommand(RequestCode.REGISTER_BROKER, ext, body)


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registration_precompute, "LARGE_BODY_BYTES", 0)
    monkeypatch.setattr(registration_precompute, "_LARGE_JSON_BYTES", 0)
    monkeypatch.setattr(registration_precompute, "_PIECE_BYTES", 100)
    monkeypatch.setattr(registration_steps, "_PIECE_BYTES", 100)
    monkeypatch.setattr("namesrv_core.state.registration._TOPICS_PER_STEP", 2)


def test_a_small_registration_goes_the_usual_way() -> None:
    assert Server(True).begin(register()) is None


def test_a_small_compressed_registration_has_steps_for_it_may_be_large_when_inflated() -> None:
    topics = tuple(f"topic-{number}" for number in range(500))
    asked = register(topics=topics, packed=True)
    assert 256 < len(asked.body) < 4096
    assert Server(True).begin(asked) is not None


def test_so_does_whatever_is_no_registration() -> None:
    assert Server(True).begin(RemotingCommand(RequestCode.PUT_KV_CONFIG, {}, bytes(1 << 20))) is None


def test_a_large_one_is_worked_on_unless_that_is_off() -> None:
    large = register(topics=tuple(f"topic-{number}" for number in range(3000)))
    assert Server(False).begin(large) is None
    steps = Server(True).begin(large)
    assert steps is not None
    prepared = finished(steps)
    assert isinstance(prepared, registration_precompute.PreparedRequest)
    assert prepared.lazy_registration.registration_preview is not None
    [move] = prepared.lazy_registration.registration_preview.topic_moves
    assert len(move.topics) == len(prepared.lazy_registration.registration_preview.new_placements) == 3000


def test_what_was_read_of_it_goes_in_small_steps_and_what_came_of_it_stays() -> None:
    server = Server(True)
    steps = server.begin(register(topics=tuple(f"topic-{number}" for number in range(10_000))))
    assert steps is not None
    prepared = finished(steps)
    assert isinstance(prepared, registration_precompute.PreparedRequest)
    reading = prepared.lazy_registration
    handle_request(server.state, prepared, 1, STARTED_AT)
    assert isinstance(reading.decoded_registration, BrokerRegistration)
    assert reading.registration_preview is not None
    [move] = reading.registration_preview.topic_moves
    kept = (
        move.topics,
        reading.registration_preview.new_placements,
        reading.decoded_registration.topic_configs or {},
    )
    left = [sum(map(len, kept)) for _ in registration_precompute.release_precomputed(prepared)]
    assert all(before - after <= 5_000 for before, after in pairwise(left))
    assert kept == ([], {}, {})
    assert len(server.state.tables.placements_by_topic) == 10_000


@pytest.mark.usefixtures("_small")
def test_nobody_has_this_server_decode_who_may_not_register() -> None:
    server = Server(True)
    server.state.policy = build_policy({"everybody": "read"})
    assert server.begin(register()) is None
    server.state.policy = build_policy({"everybody": "broker"})
    assert server.begin(register()) is not None


@pytest.mark.usefixtures("_small")
def test_a_registration_that_repeats_the_last_one_is_not_decoded() -> None:
    server = Server(True)
    for is_decoded in (True, False):
        steps = server.begin(register())
        assert steps is not None
        prepared = finished(steps)
        assert isinstance(prepared, registration_precompute.PreparedRequest)
        server.ask(prepared)
        assert ("decoded_registration" in vars(prepared.lazy_registration)) == is_decoded


@pytest.mark.usefixtures("_small")
def test_a_broker_that_leaves_meanwhile_comes_back_with_its_registration() -> None:
    server = Server(True)
    server.ask(register())
    steps = server.begin(register(version=2))
    assert steps is not None
    next(steps)
    server.ask(RemotingCommand(RequestCode.UNREGISTER_BROKER, broker_ext("a", 0, "a0:1")))
    assert server.state.tables.placements_by_topic == {}
    server.ask(finished(steps))
    assert sorted(server.state.tables.placements_by_topic) == ["T", "U"]


@pytest.mark.usefixtures("_small")
def test_what_somebody_else_changed_meanwhile_is_seen() -> None:
    server = Server(True)
    server.ask(register())
    steps = server.begin(register(version=2))
    assert steps is not None
    prepared = finished(steps)
    server.ask(RemotingCommand(RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "a"}))
    _, events = server.ask(prepared)
    assert server.state.tables.queues_of_topic("T")["a"].perm == 6
    assert [type(event).__name__ for event in events] == ["BrokerChanged", "TopicsChanged"]


NAMES = st.sampled_from(["a", "b"])
TOPICS = st.sampled_from(["T", "U", "V", "W", "X"])
REGISTRATIONS = st.builds(
    register, NAMES, st.lists(TOPICS, min_size=1, unique=True).map(tuple), st.integers(1, 3),
    st.sampled_from([6, 4]), packed=st.booleans(), number=st.sampled_from([0, 0, 0, 1]),
    crc=st.sampled_from([0, 0, 0, 1]), acting=st.booleans(),
)  # fmt: skip
OTHERS = st.one_of(
    st.builds(
        lambda code, name: RemotingCommand(code, {"brokerName": name}),
        st.sampled_from([RequestCode.WIPE_WRITE_PERM_OF_BROKER, RequestCode.ADD_WRITE_PERM_OF_BROKER]),
        NAMES,
    ),
    st.builds(lambda topic: RemotingCommand(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": topic}), TOPICS),
    st.builds(
        lambda name, number: RemotingCommand(
            RequestCode.UNREGISTER_BROKER, broker_ext(name, number, f"{name}{number}:1")
        ),
        NAMES,
        st.sampled_from([0, 0, 1]),
    ),
    st.builds(lambda topic: RemotingCommand(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}), TOPICS),
    REGISTRATIONS,
)


@pytest.mark.usefixtures("_small")
@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.tuples(REGISTRATIONS, st.lists(st.tuples(st.integers(0, 3), OTHERS), max_size=3)), max_size=12
    ),
    st.booleans(),
)
def test_it_is_as_if_it_had_come_when_it_was_carried_out(
    asked: list[tuple[RemotingCommand, list[tuple[int, RemotingCommand]]]], deletes: bool
) -> None:
    quick, usual = (Server(kind, deleteTopicWithBrokerRegistration=deletes) for kind in (True, False))
    for registration, others in asked:
        steps = quick.begin(registration)
        assert steps is not None
        begun = usual.now
        prepared = None
        for pauses, other in others:
            for _ in range(pauses):
                try:
                    next(steps)
                except StopIteration as ended:
                    prepared = ended.value
                    break
            if prepared is not None:
                break
            assert quick.ask(other) == usual.ask(other)
        # A version without a time has that of its arrival.
        assert quick.now == usual.now == begun
        assert quick.ask(prepared or finished(steps)) == usual.ask(registration)
        for server in (quick, usual):
            server.now += 1000
            server.channel += 1
    assert tables(quick) == tables(usual)


def tables(server: Server) -> object:
    known = server.state.tables
    return (
        queues_in(known),
        {
            key: (live.heard_at_ms, live.channel_id, live.former_channel_ids, live.data_version)
            for key, live in known.live_brokers.items()
        },
        {n: (g.broker_addrs, g.enable_acting_master) for n, g in known.broker_groups.items()},
    )
