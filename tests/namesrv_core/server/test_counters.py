"""Counters: what is counted around the handlers, and that made-up numbers cost nothing."""

from collections.abc import Callable

import pytest

from namesrv_core.events import BrokerUnregistered, KvPut
from namesrv_core.handlers.dispatch import handle_request
from namesrv_core.protocol.command import RemotingCommand, build_request
from namesrv_core.server.counters import Histogram, LatestRegistration, ServerCounters
from namesrv_core.state.access_policy import ANONYMOUS_PEER
from namesrv_core.state.kv_config import KvConfig
from namesrv_core.state.name_server_state import NameServerState
from namesrv_core.state.settings import NameServerSettings
from tests.support.wire import broker_ext, registration_body

Ask = Callable[[RemotingCommand], RemotingCommand]


@pytest.fixture
def counters() -> ServerCounters:
    return ServerCounters()


@pytest.fixture
def ask(counters: ServerCounters) -> Ask:
    """Ask a server that counts, whose time goes on by a second with each request."""
    state = NameServerState(NameServerSettings(), KvConfig(), 0)
    measured, asked = counters.measure_requests(handle_request), [0]

    def answer(command: RemotingCommand) -> RemotingCommand:
        asked[0] += 1000
        return measured(state, command, 1, asked[0], ANONYMOUS_PEER)[0]

    return answer


def register(broker_id: int, body: bytes) -> RemotingCommand:
    return build_request(103, broker_ext("a", broker_id, f"127.0.0.1:{broker_id}"), body)


def test_requests_are_counted_by_code_and_answer_with_the_time_they_took(
    ask: Ask, counters: ServerCounters
) -> None:
    for asked in (
        build_request(106),
        build_request(106),
        build_request(105, {"topic": "T"}),
        build_request(106, is_oneway=True),
    ):
        ask(asked)
    assert {c: t.counts_by_code for c, t in counters.tallies_by_code.items()} == {106: {0: 3}, 105: {17: 1}}
    seconds = counters.tallies_by_code[106].duration_seconds
    assert sum(seconds.bucket_counts) == 3
    assert 0 < seconds.value_sum < 60


def test_codes_that_nobody_knows_share_one_tally(ask: Ask, counters: ServerCounters) -> None:
    for code in (7, 8, -1, 99999):
        ask(build_request(code))
    assert counters.tallies_by_code == {}
    assert counters.unknown_tally.counts_by_code == {3: 4}


def test_a_handler_that_breaks_counts_as_code_1_and_still_breaks(counters: ServerCounters) -> None:
    def broken(*args: object) -> tuple[RemotingCommand, tuple[()]]:
        raise KeyError("x")

    with pytest.raises(KeyError):
        counters.measure_requests(broken)(
            NameServerState(NameServerSettings(), KvConfig(), 0), build_request(106), 1, 0, ANONYMOUS_PEER
        )
    assert counters.tallies_by_code[106].counts_by_code == {1: 1}


def test_of_each_broker_the_size_and_moment_of_its_latest_registration_are_known(
    ask: Ask, counters: ServerCounters
) -> None:
    small, large = registration_body(["T", "U"]), registration_body(["T", "U", "V"])
    ask(register(0, small))
    ask(register(1, small))
    ask(register(0, large))
    assert counters.latest_registrations == {
        ("c", "127.0.0.1:0"): LatestRegistration(len(large), 3000),
        ("c", "127.0.0.1:1"): LatestRegistration(len(small), 2000),
    }
    assert sum(counters.registration_sizes.bucket_counts) == 3


def test_a_registration_that_is_refused_does_not_count_as_one(ask: Ask, counters: ServerCounters) -> None:
    assert ask(register(0, b"nonsense")).code == 1
    assert counters.latest_registrations == {}


def test_brokers_that_are_gone_are_forgotten(ask: Ask, counters: ServerCounters) -> None:
    body = registration_body(["T", "U"])
    for number in range(1000):
        address = f"127.0.0.1:{number}"
        assert ask(build_request(103, broker_ext("a", 0, address), body)).code == 0
        ask(build_request(104, broker_ext("a", 0, address)))
    assert len(counters.latest_registrations) < 300


def test_what_happened_is_counted_by_name_and_who_left_by_why(counters: ServerCounters) -> None:
    gone = BrokerUnregistered("c", "a", 0, "1.1.1.1:1", "expired", 1)
    counters.count_events([KvPut("n", "k", None, "v"), gone, gone])
    assert counters.counts_by_event == {"KvPut": 1, "BrokerUnregistered": 2}
    assert counters.counts_by_leave_reason == {"expired": 2}


def test_a_histogram_has_each_value_in_the_bucket_whose_bound_it_does_not_exceed() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 3.0):
        histogram.add_value(value)
    assert histogram.bucket_counts == [2, 2, 1]
    assert histogram.value_sum == 8.0
