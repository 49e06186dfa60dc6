"""Large registrations worked on ahead: the same answers, events and tables as carried out at their end."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesrv_core.events import Event, TopicsChanged
from namesrv_core.handlers import ahead
from namesrv_core.handlers.dispatch import handle
from namesrv_core.protocol import codec, registration_steps
from namesrv_core.protocol.bodies import DataVersion
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from namesrv_core.protocol.registration import Registration, encode_compressed
from namesrv_core.state import foreseen
from namesrv_core.state.credentials import policy_of
from namesrv_core.state.kv import KvConfig
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import NOBODY
from namesrv_core.state.settings import Settings
from tests.support.brokers import queues_in
from tests.support.wire import STARTED_AT, broker_ext, registration_body, topic_config


class Server:
    """Tables that are asked; a registration may be worked on ahead while others ask."""

    def __init__(self, is_quick: bool, **more: Any) -> None:
        self.state = NameServerState(Settings(fastPath=is_quick, **more), KvConfig(), STARTED_AT)
        self.now = STARTED_AT
        self.channel = 1

    def ask(self, asked: Command) -> tuple[bytes, list[Event]]:
        answer, events = handle(self.state, asked, self.channel, self.now)
        for _ in ahead.drop(asked):
            # What came of it stays as it is.
            pass
        return codec.encode(answer), [_in_order(event) for event in events]

    def begin(self, asked: Command) -> ahead.Steps | None:
        return ahead.steps(self.state, asked, self.now, NOBODY)


def _in_order(event: Event) -> Event:
    """Topics that change alike may be named in any order."""
    if not isinstance(event, TopicsChanged):
        return event
    groups = tuple(group._replace(topics=tuple(sorted(group.topics))) for group in event.changes)
    return TopicsChanged(event.broker_name, event.reason, groups)


def finished(steps: ahead.Steps) -> Command:
    try:
        while True:
            next(steps)
    except StopIteration as ended:
        asked: Command = ended.value
        return asked


def register(
    broker: str = "a", topics: tuple[str, ...] = ("T", "U"), version: int = 1, perm: int = 6, *,
    packed: bool = False, number: int = 0, crc: int = 0, acting: bool = False,
) -> Command:  # fmt: skip
    configs = [topic_config(topic, perm=perm) for topic in topics]
    dated = DataVersion(version, 0, 1)
    body = (
        encode_compressed(dated, {str(config["topicName"]): config for config in configs})
        if packed
        else registration_body(configs, dated)
    )
    if version == 3:
        # The name server dates such a version itself.
        body = body.replace(b',"timestamp":1}', b"}")
    ext = broker_ext(broker, number, f"{broker}{number}:1") | {"bodyCrc32": str(crc)}
    if acting:
        ext["enableActingMaster"] = "true"
    return Command(RequestCode.REGISTER_BROKER, ext, body)


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "LARGE", 0)
    monkeypatch.setattr(ahead, "_LARGE_JSON", 0)
    monkeypatch.setattr(ahead, "_PIECE", 100)
    monkeypatch.setattr(registration_steps, "_PIECE", 100)
    monkeypatch.setattr(foreseen, "_AT_ONCE", 2)


def test_a_small_registration_goes_the_usual_way() -> None:
    assert Server(True).begin(register()) is None


def test_so_does_whatever_is_no_registration() -> None:
    assert Server(True).begin(Command(RequestCode.PUT_KV_CONFIG, {}, bytes(1 << 20))) is None


def test_a_large_one_is_worked_on_unless_that_is_off() -> None:
    large = register(topics=tuple(f"topic-{number}" for number in range(3000)))
    assert Server(False).begin(large) is None
    steps = Server(True).begin(large)
    assert steps is not None
    prepared = finished(steps)
    assert isinstance(prepared, ahead.Prepared)
    assert prepared.reading.foreseen is not None
    [move] = prepared.reading.foreseen.found
    assert len(move.topics) == len(prepared.reading.foreseen.fresh) == 3000


def test_what_was_read_of_it_goes_in_small_steps_and_what_came_of_it_stays() -> None:
    server = Server(True)
    steps = server.begin(register(topics=tuple(f"topic-{number}" for number in range(10_000))))
    assert steps is not None
    prepared = finished(steps)
    assert isinstance(prepared, ahead.Prepared)
    reading = prepared.reading
    handle(server.state, prepared, 1, STARTED_AT)
    assert isinstance(reading.found, Registration)
    assert reading.foreseen is not None
    [move] = reading.foreseen.found
    kept = (move.topics, reading.foreseen.fresh, reading.found.topics or {})
    left = [sum(map(len, kept)) for _ in ahead.drop(prepared)]
    assert all(before - after <= 5_000 for before, after in pairwise(left))
    assert kept == ([], {}, {})
    assert len(server.state.tables.topics) == 10_000


@pytest.mark.usefixtures("_small")
def test_nobody_has_this_server_decode_who_may_not_register() -> None:
    server = Server(True)
    server.state.policy = policy_of({"everybody": "read"})
    assert server.begin(register()) is None
    server.state.policy = policy_of({"everybody": "broker"})
    assert server.begin(register()) is not None


@pytest.mark.usefixtures("_small")
def test_a_registration_that_repeats_the_last_one_is_not_decoded() -> None:
    server = Server(True)
    for is_decoded in (True, False):
        steps = server.begin(register())
        assert steps is not None
        prepared = finished(steps)
        assert isinstance(prepared, ahead.Prepared)
        server.ask(prepared)
        assert ("found" in vars(prepared.reading)) == is_decoded


@pytest.mark.usefixtures("_small")
def test_a_broker_that_leaves_meanwhile_comes_back_with_its_registration() -> None:
    server = Server(True)
    server.ask(register())
    steps = server.begin(register(version=2))
    assert steps is not None
    next(steps)
    server.ask(Command(RequestCode.UNREGISTER_BROKER, broker_ext("a", 0, "a0:1")))
    assert server.state.tables.topics == {}
    server.ask(finished(steps))
    assert sorted(server.state.tables.topics) == ["T", "U"]


@pytest.mark.usefixtures("_small")
def test_what_somebody_else_changed_meanwhile_is_seen() -> None:
    server = Server(True)
    server.ask(register())
    steps = server.begin(register(version=2))
    assert steps is not None
    prepared = finished(steps)
    server.ask(Command(RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "a"}))
    _, events = server.ask(prepared)
    assert server.state.tables.queues_of("T")["a"].perm == 6
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
        lambda code, name: Command(code, {"brokerName": name}),
        st.sampled_from([RequestCode.WIPE_WRITE_PERM_OF_BROKER, RequestCode.ADD_WRITE_PERM_OF_BROKER]),
        NAMES,
    ),
    st.builds(lambda topic: Command(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": topic}), TOPICS),
    st.builds(
        lambda name, number: Command(
            RequestCode.UNREGISTER_BROKER, broker_ext(name, number, f"{name}{number}:1")
        ),
        NAMES,
        st.sampled_from([0, 0, 1]),
    ),
    st.builds(lambda topic: Command(RequestCode.GET_ROUTEINFO_BY_TOPIC, {"topic": topic}), TOPICS),
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
    asked: list[tuple[Command, list[tuple[int, Command]]]], deletes: bool
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
            key: (live.heard_at, live.channel, live.former_channels, live.version)
            for key, live in known.live.items()
        },
        {name: (group.addrs, group.acting_master) for name, group in known.groups.items()},
    )
