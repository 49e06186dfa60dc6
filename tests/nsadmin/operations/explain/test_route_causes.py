"""Causes that lie in a route."""

import pytest

from namesrv_core.errors import RocketMQError
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_routes import TopicRoute
from nsadmin.operations.broker_disks import DiskStates
from nsadmin.operations.explain.facts import (
    JournaledChange,
    JournalEvidence,
    MissingTopicBroker,
    RouteFacts,
    RouteQuestion,
)
from nsadmin.operations.explain.findings import CauseFinding
from nsadmin.operations.explain.route_causes import ROUTE_CHECKS, explain_route, find_departed_brokers
from tests.support.route_facts import (
    MASTER,
    NO_ROUTE,
    NOT_READY,
    NS,
    SLAVE,
    make_broker_view,
    make_facts,
    make_queue_route,
    make_server_view,
    refused_connection,
    run_check,
)

DEED = JournaledChange("ns-1", 1_738_368_003_000, "WIPE_WRITE_PERM_OF_BROKER", "10.0.0.9:5")
BOTH = {"a": {0: MASTER}, "b": {0: "h:3"}}


def found(id_: str, known: RouteFacts) -> list[CauseFinding]:
    return run_check(ROUTE_CHECKS, id_, known)


@pytest.mark.parametrize("step", ROUTE_CHECKS, ids=lambda step: step.id)
def test_nothing_is_wrong_with_a_healthy_route_nor_known_without_one(step: object) -> None:
    id_ = step.id  # type: ignore[attr-defined]
    assert found(id_, make_facts([make_server_view(make_queue_route())]))[0].result in ("ok", "skipped")
    assert found(id_, make_facts([make_server_view()], [make_broker_view(perm=None)]))[0].result in (
        "ok",
        "skipped",
    )


def test_brokers_that_are_gone() -> None:
    [left] = found("brokersGone", make_facts([make_server_view(make_queue_route(addrs={}))], ()))
    assert (left.result, left.evidence) == (
        "cause",
        "a has queues in the route, but is not registered: it left",
    )
    [dead] = found(
        "brokersGone",
        make_facts(
            [make_server_view(make_queue_route())], [make_broker_view(error=refused_connection(MASTER))]
        ),
    )
    assert (dead.result, dead.broker_addr) == ("cause", MASTER)
    assert dead.evidence == (
        "a is registered, but its master does not answer: connection refused; the broker registers under an "
        "address where nobody listens: correct its brokerIP1 or listenPort"
    )
    moved = make_facts(
        [make_server_view(make_queue_route())],
        [make_broker_view(error=refused_connection(MASTER))],
        former_addrs={MASTER: "h:9"},
    )
    [item] = found("brokersGone", moved)
    assert item.evidence.endswith("listenPort; it was at h:9 before")
    assert str(item.advice).endswith("nsadmin brokerStatus -b h:9")
    beside = make_facts(
        [make_server_view(make_queue_route(), make_queue_route("b", {0: "h:3"}), members=BOTH)],
        [make_broker_view(), make_broker_view("h:3", error=refused_connection("h:3"))],
    )
    assert [(item.result, item.broker_name) for item in found("brokersGone", beside)] == [("warning", "b")]
    refusing = make_facts([make_server_view(make_queue_route())], [make_broker_view(error=NOT_READY)])
    assert found("brokersGone", refusing)[0].result == "ok"


def test_brokers_with_which_the_topic_went() -> None:
    memory = JournalEvidence(
        "ns-1",
        gone_brokers={"a": DEED._replace(event_cause="channel closed", client_addr=None)},
        last_addrs={"a": (MASTER,)},
    )
    [item] = found("brokersGone", make_facts([make_server_view(members={})], (), memories=(memory,)))
    assert (item.result, item.broker_name, item.broker_addr) == ("cause", "a", MASTER)
    assert (
        "the topic was on a (h:1), which left: the journal of ns-1, 2025-02-01T00:00:03Z, channel closed"
        in item.evidence
    )
    listing = make_server_view()._replace(topic_names=ServerResult(NS, ("T",), None))
    [named] = found("brokersGone", make_facts([listing], ()))
    assert "the name server lists the topic" in named.evidence


def test_groups_without_a_master() -> None:
    view = make_server_view(make_queue_route(addrs={1: SLAVE}), members={"a": {1: SLAVE}})
    for known, advice in (
        ({}, "does not register: repeat this command with its address in -b"),
        ({"a": MASTER}, f"does not register: nsadmin routeExplain T -b {MASTER}"),
    ):
        [item] = found("masterMissing", make_facts([view], (), last_master_addrs=known))
        assert str(item.advice).endswith(advice)
    assert (item.result, item.evidence) == (
        "cause",
        "a has no master, only 1=h:2: clients cannot write; whether they can read is unknown, because no "
        "slave told its slaveReadEnable",
    )
    for enabled, text in (
        ("true", "can read from it but not write"),
        ("false", "can neither read nor write, because slaveReadEnable=false"),
    ):
        slave = make_broker_view(SLAVE, brokerId="1", brokerRole="SLAVE", slaveReadEnable=enabled)
        view = make_server_view(make_queue_route(addrs={1: SLAVE}), members={"a": {1: SLAVE}})
        [item] = found("masterMissing", make_facts([view], [slave]))
        assert item.evidence == f"a has no master, only 1=h:2: clients {text}"
    acting = make_server_view(make_queue_route(addrs={0: SLAVE}, perm=4), members={"a": {1: SLAVE}})
    assert found("masterMissing", make_facts([acting], ()))[0].result == "cause"
    assert found("wiped", make_facts([acting], ()))[0].result == "ok"
    unpublished = make_facts(
        [make_server_view(members={"a": {1: SLAVE}})], [make_broker_view(SLAVE, brokerId="1")]
    )
    assert "accept no topics from slaves" in found("masterMissing", unpublished)[0].evidence


def test_a_disk_on_which_no_message_fits() -> None:
    full = DiskStates(refusals={MASTER: "refuses messages: full"})
    [item] = found("diskFull", make_facts([make_server_view(make_queue_route())], disks=full))
    assert (item.result, item.evidence) == ("cause", "a refuses messages: full")
    beside = make_facts(
        [make_server_view(make_queue_route(), make_queue_route("b", {0: "h:3"}), members=BOTH)],
        [make_broker_view(), make_broker_view("h:3")],
        disks=full,
    )
    assert [(item.result, item.broker_name) for item in found("diskFull", beside)] == [("warning", "a")]
    hidden = DiskStates(unknown={MASTER: "did not say"})
    [item] = found("diskFull", make_facts([make_server_view(make_queue_route())], disks=hidden))
    assert (item.result, item.evidence) == ("unknown", "a did not say")


def test_a_permission_that_a_name_server_took() -> None:
    closed = make_facts([make_server_view(make_queue_route(perm=4))])
    [item] = found("wiped", closed)
    assert (item.result, item.broker_name) == ("cause", "a")
    assert "permission r-- here and rw- on the broker" in item.evidence
    assert "pass --journal DIR to search for the change" in item.evidence
    remembered = closed._replace(memories=(JournalEvidence("ns-1", closed_brokers={"a": DEED}),))
    assert "WIPE_WRITE_PERM_OF_BROKER by 10.0.0.9:5" in found("wiped", remembered)[0].evidence
    assert (
        "no journal records"
        in found("wiped", closed._replace(memories=(JournalEvidence("ns-1"),)))[0].evidence
    )
    assert found("brokerPermission", closed)[0].result == "ok"
    assert found("topicPermission", closed)[0].result == "ok"
    beside = make_facts(
        [make_server_view(make_queue_route(perm=4), make_queue_route("b", {0: "h:3"}), members=BOTH)],
        [make_broker_view(), make_broker_view("h:3", "b")],
    )
    assert found("wiped", beside)[0].result == "warning"


def test_a_permission_of_which_the_broker_does_not_tell() -> None:
    [item] = found(
        "wiped", make_facts([make_server_view(make_queue_route(perm=4))], [make_broker_view(error=NOT_READY)])
    )
    assert (item.result, "did not return its own" in item.evidence) == ("unknown", True)
    [gone] = found(
        "wiped", make_facts([make_server_view(make_queue_route(perm=4))], [make_broker_view(perm=None)])
    )
    assert (gone.result, "does not have the topic any more" in gone.evidence) == ("cause", True)


def test_a_broker_that_takes_no_messages() -> None:
    known = make_facts([make_server_view(make_queue_route(perm=4))], [make_broker_view(brokerPermission="4")])
    [item] = found("brokerPermission", known)
    assert (item.result, str(item.advice)) == (
        "cause",
        f"nsadmin updateBrokerConfig brokerPermission 6 -b {MASTER}",
    )
    assert "brokerPermission=4" in item.evidence
    assert found("wiped", known)[0].result == "ok"


def test_a_topic_that_is_read_only_or_cannot_be_read() -> None:
    known = make_facts([make_server_view(make_queue_route(perm=4))], [make_broker_view(perm=4)])
    [item] = found("topicPermission", known)
    assert (item.result, str(item.advice)) == ("cause", f"nsadmin updateTopicPerm T 6 -b {MASTER}")
    assert (item.evidence, item.broker_name) == ("T is read-only (r--) on a", "a")
    two = [make_queue_route(perm=4), make_queue_route("b", {0: "h:3"}, perm=4)]
    brokers = [make_broker_view(perm=4), make_broker_view("h:3", "b", perm=4)]
    [both] = found("topicPermission", make_facts([make_server_view(*two, members=BOTH)], brokers))
    assert (both.evidence, str(both.advice), both.broker_name) == (
        "T is read-only (r--) on a, b",
        "nsadmin updateTopicPerm T 6 -c C",
        None,
    )
    three = make_server_view(*two, make_queue_route("c", {0: "h:4"}), members={**BOTH, "c": {0: "h:4"}})
    [both] = found("topicPermission", make_facts([three], [*brokers, make_broker_view("h:4", "c")]))
    assert str(both.advice) == f"nsadmin updateTopicPerm T 6 -b {MASTER},h:3"
    assert found("wiped", known)[0].result == "ok"
    [unread] = found(
        "topicPermission",
        make_facts([make_server_view(make_queue_route(perm=2))], [make_broker_view(perm=2)]),
    )
    assert (unread.result, unread.evidence) == ("cause", "no queue has read permission: a -w-")


def test_topics_without_queues() -> None:
    [item] = found("noQueues", make_facts([make_server_view(make_queue_route(write_queue_nums=0))]))
    assert (item.result, item.evidence) == ("cause", "a has 0 write queues and 8 read queues")
    assert (
        found("noQueues", make_facts([make_server_view(make_queue_route(read_queue_nums=0))]))[0].result
        == "cause"
    )
    beside = make_server_view(
        make_queue_route(read_queue_nums=0), make_queue_route("b", {0: "h:3"}), members=BOTH
    )
    assert found("noQueues", make_facts([beside]))[0].result == "warning"
    listed_only = make_server_view(make_queue_route(perm=None, read_queue_nums=None, write_queue_nums=None))
    assert "without queues" in found("noQueues", make_facts([listed_only]))[0].evidence


def test_an_order_that_names_dead_brokers() -> None:
    [item] = found("orderConf", make_facts([make_server_view(make_queue_route(), order="b:4;c:4")]))
    assert (item.result, "without a master: b, c" in item.evidence, "8 of 8 queues" in item.evidence) == (
        "cause",
        True,
        True,
    )
    assert str(item.advice) == "start b, c again"
    [part] = found("orderConf", make_facts([make_server_view(make_queue_route(), order="a:4;b:2")]))
    assert (part.result, "2 of 6 queues" in part.evidence) == ("warning", True)
    assert str(part.advice) == (
        "start b again; only if that takes long, send to the other brokers: nsadmin updateOrderConf T put a:4"
    )
    [silent] = found(
        "orderConf",
        make_facts(
            [make_server_view(make_queue_route(), order="a:4")],
            [make_broker_view(error=refused_connection(MASTER))],
        ),
    )
    assert silent.result == "cause"
    route = [make_queue_route(), make_queue_route("r", {0: "h:3"}, 4), make_queue_route("gone", {})]
    [odd] = found("orderConf", make_facts([make_server_view(*route, order="a:x")]))
    assert str(odd.advice) == "send to the queues of the route: nsadmin updateOrderConf T put a:8"
    assert (odd.result, 'clients cannot parse the order configuration "a:x"' in odd.evidence) == (
        "cause",
        True,
    )
    assert (
        found("orderConf", make_facts([make_server_view(make_queue_route(), order="a:4")]))[0].result == "ok"
    )
    assert (
        "do not get"
        in found("orderConf", make_facts([make_server_view(make_queue_route(), kv="b:4")]))[0].evidence
    )


def test_clients_of_a_zone() -> None:
    asked = RouteQuestion("T", zone_name="z")
    empty = make_server_view(make_queue_route(), zone_route=ServerResult(NS, TopicRoute((), None), None))
    [item] = found("zone", make_facts([empty], question=asked))
    assert (item.result, item.evidence) == (
        "cause",
        "no master of a is in zone z: clients of the zone get an empty route",
    )
    own = make_server_view(
        make_queue_route(), zone_route=ServerResult(NS, TopicRoute((make_queue_route(),), None), None)
    )
    assert found("zone", make_facts([own], question=asked))[0].result == "ok"
    refused = make_server_view(make_queue_route(), zone_route=ServerResult(NS, None, NO_ROUTE))
    assert found("zone", make_facts([refused], question=asked))[0].result == "unknown"


DEPARTURE = JournaledChange("ns-1", 1_738_368_003_000, "channel closed", None)


def departures(known: RouteFacts) -> list[CauseFinding]:
    return list(find_departed_brokers(known))


def test_a_broker_that_left_with_its_part_of_the_topic() -> None:
    memory = JournalEvidence("ns-1", gone_brokers={"b": DEPARTURE._replace(event_cause="channel closed")})
    known = make_facts([make_server_view(make_queue_route())], memories=(memory,), now_ms=DEPARTURE.time_ms)
    [item] = departures(known)
    assert (item.result, item.broker_name) == ("warning", "b")
    # It is back, an operator removed it, or it left long ago.
    assert (
        departures(make_facts([make_server_view(make_queue_route(), members=BOTH)], memories=(memory,))) == []
    )
    removed = known._replace(removed_brokers=frozenset(["b"]))
    assert departures(removed) == []
    later = known._replace(now_ms=DEPARTURE.time_ms + 8 * 86_400_000)
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
    # The inventory never saw its topics, but a journal did.
    unseen = never._replace(missing_brokers=(gone._replace(had_topic=None),))
    assert [item.result for item in departures(unseen)] == ["unknown"]
    journaled = unseen._replace(memories=(JournalEvidence("ns-1", gone_brokers={"b": DEPARTURE}),))
    assert [item.evidence for item in departures(journaled)] == [item.evidence]
    # It answers, so that other steps say why it is not registered.
    answering = make_facts([make_server_view()], [make_broker_view("h:3", "b")], missing_brokers=(gone,))
    assert departures(answering) == []


EQUAL = ServerResult[tuple[str, ...]]("p1:8080", ("a", "b"), None)
OTHER = {"a": {0: "h:1"}, "b": {0: "h:2"}}


def found_on_proxies(
    *proxy_routes: ServerResult[tuple[str, ...]], has_route: bool = True
) -> list[tuple[str, str]]:
    queues = (make_queue_route(), make_queue_route("b", {0: "h:2"})) if has_route else ()
    route_facts = make_facts([make_server_view(*queues, members=OTHER)])._replace(proxy_routes=proxy_routes)
    return [(finding.result, finding.evidence) for finding in found("proxyRoute", route_facts)]


def failed(error: RocketMQError) -> ServerResult[tuple[str, ...]]:
    return ServerResult("p2:8080", None, error)


def test_a_proxy_without_the_route_is_a_cause() -> None:
    assert found_on_proxies(EQUAL, failed(NO_ROUTE)) == [
        ("cause", "proxy p2:8080 has no route of the topic, but name servers have one")
    ]


def test_without_a_route_on_name_servers_the_proxy_is_not_the_cause() -> None:
    [(result, _)] = found_on_proxies(failed(NO_ROUTE), has_route=False)
    assert result == "ok"


def test_a_proxy_that_lacks_brokers_or_does_not_answer_is_a_warning() -> None:
    partial = ServerResult[tuple[str, ...]]("p1:8080", ("a",), None)
    assert found_on_proxies(partial, failed(refused_connection("p2:8080"))) == [
        ("warning", "the route of proxy p1:8080 lacks b"),
        ("warning", "proxy p2:8080 gives its clients no route: connection refused"),
    ]


def test_the_step_exists_only_if_there_are_proxies() -> None:
    route_facts = make_facts(
        [make_server_view(make_queue_route(), make_queue_route("b", {0: "h:2"}), members=OTHER)],
        [make_broker_view()],
    )
    ids = {explanation.cause_id for explanation in explain_route(route_facts)}
    assert "proxyRoute" not in ids
    with_proxies = route_facts._replace(proxy_routes=(EQUAL, EQUAL._replace(addr="p3:8080")))
    [explanation] = [item for item in explain_route(with_proxies) if item.cause_id == "proxyRoute"]
    assert explanation.finding.evidence == "both proxies have the brokers that name servers have"
