"""What one server told last, and since when it is silent."""

import pytest

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import BrokerProcessKey
from nsadmin.tui.polling.poll_records import NameServerPolled
from tests.support.screens import NOON, make_broker_poll, make_model, make_server_poll, make_silent_broker

A = "10.0.1.1:10911"
PLACE = BrokerProcessKey("broker-a", 0, A)


def test_what_a_silent_server_told_last_stays_with_the_time_since_when() -> None:
    model = ClusterModel(["10.0.0.1:9876"])
    model.apply_poll(make_server_poll(at=NOON))
    for later in (1000, 2000):
        model.apply_poll(NameServerPolled(NOON + later, "10.0.0.1:9876", error="connection refused"))
    [known] = model.name_servers.values()
    state = (known.is_fresh, known.silent_since_ms, known.error_text)
    assert state == (False, NOON + 1000, "connection refused")
    assert known.last_poll is not None
    assert known.last_poll.groups.keys() == {"broker-a"}
    assert list(known.latencies_ms) == [1.0, None, None]
    model.apply_poll(make_server_poll(at=NOON + 3000))
    assert (known.is_fresh, known.silent_since_ms) == (True, None)


def test_what_a_poll_leaves_out_is_as_it_was() -> None:
    model = make_model(
        make_server_poll(settings={"listenPort": "9876"}, kv={"NS": {"k": "v"}}),
        make_server_poll(topics=None, settings=None, kv=None),
    )
    [known] = model.name_servers.values()
    assert known.topic_set == {"orders", "payments"}
    assert model.list_topic_names() == ["orders", "payments"]
    assert (known.settings, known.kv_tables) == ({"listenPort": "9876"}, {"NS": {"k": "v"}})


@pytest.mark.parametrize("text", ["NaN", "Infinity 1 1", "9" * 401])
def test_a_figure_that_is_not_finite_is_unknown(text: str) -> None:
    model = make_model(make_server_poll(), make_broker_poll(A, putTps=text))
    assert model.brokers[PLACE].read_number("putTps") is None


def test_figures_of_a_broker_are_numbers_or_unknown() -> None:
    model = make_model(make_server_poll())
    known = model.brokers[PLACE]
    assert known.read_number("putTps") is None
    assert known.read_text("brokerActive") is None
    model.apply_poll(make_broker_poll(A, putTps="12.5 1 1", getMissTps="", getFoundTps="many"))
    assert known.read_number("putTps") == 12.5
    assert known.read_number("getMissTps") is known.read_number("getFoundTps") is None
    assert known.read_number("nothing", "putTps") == 12.5
    model.apply_poll(make_silent_broker(A, NOON + 9))
    assert known.is_fresh is False
    assert known.error_kind == "timeout"
    assert known.silent_since_ms == NOON + 9
    assert known.read_number("putTps") == 12.5
    assert list(known.put_rates) == [12.5, None]
