"""What a broker is, by what it and the name servers tell."""

import pytest

from nsadmin.tui.model import Model
from nsadmin.tui.polls import BrokerPolled, NameServerPolled
from nsadmin.tui.views import states
from nsadmin.tui.views.states import State
from tests.support.screens import NOON, broker, server, silent

A = "10.0.1.1:10911"


@pytest.mark.parametrize(
    ("poll", "state"),
    [
        (None, states.LISTED),
        (broker(A), states.UP),
        (broker(A, brokerActive="false"), states.INACTIVE),
        (silent(A), states.FROZEN),
        (silent(A, kind="unreachable"), states.DOWN),
        (silent(A, kind="refused"), states.REFUSES),
    ],
)
def test_the_state_of_a_broker(poll: BrokerPolled | None, state: State) -> None:
    model = Model()
    model.apply(server())
    if poll is not None:
        model.apply(poll)
    [known] = model.brokers.values()
    assert states.of_broker(known) == state


def test_a_slave_takes_no_messages_and_is_up() -> None:
    model = Model()
    model.apply(server(groups={"broker-a": {1: A}}))
    model.apply(broker(A, brokerActive="false"))
    [known] = model.brokers.values()
    assert states.of_broker(known) == states.UP


def test_gone_is_worse_than_anything_that_it_told() -> None:
    model = Model()
    model.apply(server())
    model.apply(broker(A))
    model.apply(server(groups={}))
    [known] = model.brokers.values()
    assert states.of_broker(known, (3, 3)) == states.GONE


def test_wiped_by_all_or_by_some() -> None:
    model = Model()
    model.apply(server("h:1", perms={"broker-a": 4}))
    model.apply(server("h:2"))
    model.apply(server("h:3", perms={}))
    assert states.wiped(model) == {"broker-a": (1, 2)}
    model.apply(broker(A))
    [known] = model.brokers.values()
    assert states.of_broker(known, (1, 3)) == states.PARTLY_WIPED
    assert states.of_broker(known, (3, 3)) == states.WIPED


def test_a_name_server_is_up_down_or_not_known_yet() -> None:
    model = Model(["h:1", "h:2", "h:3"])
    model.apply(server("h:1"))
    model.apply(NameServerPolled(NOON, "h:2", error="closed"))
    assert [states.of_name_server(known) for known in model.servers.values()] == [
        states.UP, states.DOWN, states.LISTED
    ]  # fmt: skip


def test_no_two_states_look_alike_without_colours() -> None:
    every = [value for value in vars(states).values() if isinstance(value, State)]
    assert len({state.word for state in every}) == len(every)
