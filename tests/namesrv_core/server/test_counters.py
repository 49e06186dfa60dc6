"""Counters: what is counted around the handlers, and that made-up numbers cost nothing."""

from collections.abc import Callable

import pytest

from namesrv_core.events import BrokerUnregistered, KvPut
from namesrv_core.handlers.dispatch import handle
from namesrv_core.protocol.command import Command, request
from namesrv_core.server.counters import Counters, Histogram, Registered
from namesrv_core.state.kv import KvConfig
from namesrv_core.state.name_server import NameServerState
from namesrv_core.state.policy import NOBODY
from namesrv_core.state.settings import Settings
from tests.support.wire import broker_ext, registration_body

Ask = Callable[[Command], Command]


@pytest.fixture
def counters() -> Counters:
    return Counters()


@pytest.fixture
def ask(counters: Counters) -> Ask:
    """Ask a server that counts, whose time goes on by a second with each request."""
    state = NameServerState(Settings(), KvConfig(), 0)
    measured, asked = counters.measured(handle), [0]

    def answer(command: Command) -> Command:
        asked[0] += 1000
        return measured(state, command, 1, asked[0], NOBODY)[0]

    return answer


def register(broker_id: int, body: bytes) -> Command:
    return request(103, broker_ext("a", broker_id, f"127.0.0.1:{broker_id}"), body)


def test_requests_are_counted_by_code_and_answer_with_the_time_they_took(
    ask: Ask, counters: Counters
) -> None:
    for asked in (request(106), request(106), request(105, {"topic": "T"}), request(106, oneway=True)):
        ask(asked)
    assert {code: tally.codes for code, tally in counters.tallies.items()} == {106: {0: 3}, 105: {17: 1}}
    seconds = counters.tallies[106].seconds
    assert sum(seconds.counts) == 3
    assert 0 < seconds.total < 60


def test_codes_that_nobody_knows_share_one_tally(ask: Ask, counters: Counters) -> None:
    for code in (7, 8, -1, 99999):
        ask(request(code))
    assert counters.tallies == {}
    assert counters.unknown.codes == {3: 4}


def test_a_handler_that_breaks_counts_as_code_1_and_still_breaks(counters: Counters) -> None:
    def broken(*args: object) -> tuple[Command, tuple[()]]:
        raise KeyError("x")

    with pytest.raises(KeyError):
        counters.measured(broken)(NameServerState(Settings(), KvConfig(), 0), request(106), 1, 0, NOBODY)
    assert counters.tallies[106].codes == {1: 1}


def test_of_each_broker_the_size_and_moment_of_its_latest_registration_are_known(
    ask: Ask, counters: Counters
) -> None:
    small, large = registration_body(["T", "U"]), registration_body(["T", "U", "V"])
    ask(register(0, small))
    ask(register(1, small))
    ask(register(0, large))
    assert counters.registrations == {
        ("c", "127.0.0.1:0"): Registered(len(large), 3000),
        ("c", "127.0.0.1:1"): Registered(len(small), 2000),
    }
    assert sum(counters.registration_bytes.counts) == 3


def test_a_registration_that_is_refused_does_not_count_as_one(ask: Ask, counters: Counters) -> None:
    assert ask(register(0, b"nonsense")).code == 1
    assert counters.registrations == {}


def test_brokers_that_are_gone_are_forgotten(ask: Ask, counters: Counters) -> None:
    body = registration_body(["T", "U"])
    for number in range(1000):
        address = f"127.0.0.1:{number}"
        assert ask(request(103, broker_ext("a", 0, address), body)).code == 0
        ask(request(104, broker_ext("a", 0, address)))
    assert len(counters.registrations) < 300


def test_what_happened_is_counted_by_name_and_who_left_by_why(counters: Counters) -> None:
    gone = BrokerUnregistered("c", "a", 0, "1.1.1.1:1", "expired", 1)
    counters.published([KvPut("n", "k", None, "v"), gone, gone])
    assert counters.events == {"KvPut": 1, "BrokerUnregistered": 2}
    assert counters.left == {"expired": 2}


def test_a_histogram_has_each_value_in_the_bucket_whose_bound_it_does_not_exceed() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.0, 1.5, 2.0, 3.0):
        histogram.add(value)
    assert histogram.counts == [2, 2, 1]
    assert histogram.total == 8.0
