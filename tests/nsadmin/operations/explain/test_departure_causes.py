"""Brokers that left all name servers with their part of a topic."""

from nsadmin.operations.explain.departure_causes import find_departed_brokers
from nsadmin.operations.explain.facts import JournaledChange, JournalEvidence, MissingTopicBroker, RouteFacts
from nsadmin.operations.explain.findings import CauseFinding
from tests.support.route_facts import MASTER, make_broker_view, make_facts, make_queue_route, make_server_view

DEED = JournaledChange("ns-1", 1_738_368_003_000, "channel closed", None)
BOTH = {"a": {0: MASTER}, "b": {0: "h:3"}}


def departures(known: RouteFacts) -> list[CauseFinding]:
    return list(find_departed_brokers(known))


def test_a_broker_that_left_with_its_part_of_the_topic() -> None:
    memory = JournalEvidence("ns-1", gone_brokers={"b": DEED._replace(event_cause="channel closed")})
    known = make_facts([make_server_view(make_queue_route())], memories=(memory,), now_ms=DEED.time_ms)
    [item] = departures(known)
    assert (item.result, item.broker_name) == ("warning", "b")
    # It is back, an operator removed it, or it left long ago.
    assert (
        departures(make_facts([make_server_view(make_queue_route(), members=BOTH)], memories=(memory,))) == []
    )
    removed = known._replace(removed_brokers=frozenset(["b"]))
    assert departures(removed) == []
    later = known._replace(now_ms=DEED.time_ms + 8 * 86_400_000)
    assert departures(later) == []


def test_a_missing_broker_that_had_the_topic() -> None:
    gone = MissingTopicBroker("b", "missing: no name server lists it, last seen then", ("h:3",), True)
    [item] = departures(
        make_facts([make_server_view()], [make_broker_view(perm=None)], missing_brokers=(gone,))
    )
    assert (item.result, item.broker_name, item.broker_addr) == ("cause", "b", "h:3")
    assert (
        item.evidence == "the topic was on b (h:3), which is missing: no name server lists it, last seen then"
    )
    [beside] = departures(make_facts([make_server_view(make_queue_route())], missing_brokers=(gone,)))
    assert beside.result == "warning"
    never = make_facts(
        [make_server_view()], [make_broker_view(perm=None)], missing_brokers=(gone._replace(had_topic=False),)
    )
    assert departures(never) == []
    # It answers, so that other steps say why it is not registered.
    answering = make_facts([make_server_view()], [make_broker_view("h:3", "b")], missing_brokers=(gone,))
    assert departures(answering) == []
