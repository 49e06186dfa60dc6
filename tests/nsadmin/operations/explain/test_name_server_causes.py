"""Causes that lie with name servers."""

import pytest

from namesrv_core.errors import RequestError
from nsadmin.client.brokers.clusters import ClusterInfo
from nsadmin.client.results import ServerResult
from nsadmin.operations.explain.facts import (
    MeasuredRegistration,
    OtherContextRoute,
    RouteFacts,
    RouteQuestion,
)
from nsadmin.operations.explain.findings import CauseFinding
from nsadmin.operations.explain.name_server_causes import NAME_SERVER_CHECKS, listed_name_servers
from nsadmin.operations.explain.registration_causes import find_missing_brokers
from tests.support.route_facts import (
    MASTER,
    NOT_READY,
    NS,
    OTHER_NS,
    SLAVE,
    make_broker_view,
    make_facts,
    make_queue_route,
    make_server_view,
    refused_connection,
    run_check,
)


def found(id_: str, told: RouteFacts) -> list[CauseFinding]:
    return run_check(NAME_SERVER_CHECKS, id_, told)


def test_silence_and_refusals_are_unknown_and_name_the_server() -> None:
    busy = RequestError("[OVERLOAD]system busy", 2)
    route_facts = make_facts(
        [
            make_server_view(make_queue_route()),
            make_server_view(error=refused_connection(OTHER_NS), addr=OTHER_NS),
            make_server_view(error=busy, addr="ns-3:9876"),
        ]
    )
    silent, refusing = found("nameServerSilent", route_facts)
    assert (silent.result, silent.namesrv_addr, str(silent.advice)) == ("unknown", OTHER_NS, "nsadmin where")
    assert "connection refused" in silent.evidence
    assert (refusing.result, refusing.namesrv_addr) == ("unknown", "ns-3:9876")
    assert "SYSTEM_BUSY" in refusing.evidence
    assert (
        found("nameServerSilent", make_facts([make_server_view(), make_server_view(error=NOT_READY)]))[
            0
        ].result
        == "ok"
    )


@pytest.mark.parametrize(
    ("text", "results", "words"),
    [
        (f"{NS};{OTHER_NS}", ["ok"], ""),
        (f"{NS},{OTHER_NS}", ["cause"], f"write {NS};{OTHER_NS} into"),
        (f"{NS} {OTHER_NS}", ["cause"], f"write {NS};{OTHER_NS} into"),
        ("ns-1;ns-2:9876", ["cause"], f"write {NS};{OTHER_NS} into"),
        ("ns-1,ns-2", ["cause", "cause"], f"write {NS};{OTHER_NS} into"),
    ],
)
def test_a_clients_list_is_read_as_clients_read_it(text: str, results: list[str], words: str) -> None:
    findings = found(
        "clientList",
        make_facts([make_server_view(make_queue_route())], question=RouteQuestion("T", client_list=text)),
    )
    assert [item.result for item in findings] == results
    assert all(words in str(item.advice) for item in findings)
    assert found("clientList", make_facts([make_server_view(make_queue_route())]))[0].result == "skipped"


def test_a_server_without_any_broker_is_the_wrong_one() -> None:
    stray = make_server_view(addr=OTHER_NS, members={})
    [item] = found("wrongNameServer", make_facts([make_server_view(make_queue_route()), stray]))
    assert (item.result, item.namesrv_addr) == ("cause", OTHER_NS)
    assert str(item.advice) == f"configure the client with the name servers of the brokers: {NS}"
    [alone] = found("wrongNameServer", make_facts([stray], ()))
    assert str(alone.advice) == f"compare namesrvAddr in the broker.conf of a broker with {OTHER_NS}"
    [joined] = found("wrongNameServer", make_facts([stray], [make_broker_view(lists=f"{NS},{OTHER_NS}")]))
    assert "see the next checks for the reason why" in str(joined.advice)
    left = make_server_view(addr=OTHER_NS, members={"a": {}})
    assert found("wrongNameServer", make_facts([left]))[0].result == "cause"
    assert (
        found("wrongNameServer", make_facts([make_server_view(error=refused_connection(NS))], ()))[0].result
        == "ok"
    )


def test_a_broker_that_lists_some_of_them_only() -> None:
    lacking = make_server_view(addr=OTHER_NS, members={"b": {0: "h:9"}})
    [item] = found("partialNameServerList", make_facts([make_server_view(make_queue_route()), lacking]))
    assert (item.result, item.namesrv_addr, item.broker_name) == ("cause", OTHER_NS, "a")
    assert item.evidence == f"a registers with {NS}, but not with this name server"
    assert f"updateBrokerConfig namesrvAddr '{NS};{OTHER_NS}' -b {MASTER}" in str(item.advice)
    assert (
        found("brokerNotHeard", make_facts([make_server_view(make_queue_route()), lacking]))[0].result == "ok"
    )


def test_where_another_broker_serves_it_is_a_warning() -> None:
    other = make_server_view(make_queue_route("b", {0: "h:3"}), addr=OTHER_NS, members={"b": {0: "h:3"}})
    brokers = [make_broker_view(), make_broker_view("h:3", "b", lists=f"{NS};{OTHER_NS}")]
    [item] = found(
        "partialNameServerList", make_facts([make_server_view(make_queue_route()), other], brokers)
    )
    assert (item.result, item.broker_name) == ("warning", "a")


def test_a_comma_in_a_brokers_list_is_pointed_out() -> None:
    assert listed_name_servers(make_broker_view(lists=" ns-1:9876 ; ns-2:9876;")) == (NS, OTHER_NS)
    route_facts = make_facts(
        [make_server_view(members={"b": {0: "h:9"}})], [make_broker_view(lists=f"{NS},{OTHER_NS}")]
    )
    [item] = found("partialNameServerList", route_facts)
    assert "a broker reads addresses with a comma" in item.evidence
    assert f"'{NS};{OTHER_NS}'" in str(item.advice)


def test_a_list_that_names_it_otherwise_is_no_partial_one() -> None:
    lacking = make_server_view(addr="10.0.0.2:9876", members={})
    route_facts = make_facts(
        [make_server_view(make_queue_route()), lacking], [make_broker_view(lists=f"{NS};{OTHER_NS}")]
    )
    assert found("partialNameServerList", route_facts)[0].result == "cause"
    same = frozenset(["10.0.0.2:9876"])
    route_facts = route_facts._replace(hosts={OTHER_NS: same, "10.0.0.2:9876": same})
    assert found("partialNameServerList", route_facts)[0].result == "ok"
    [item] = found("brokerNotHeard", route_facts)
    assert (item.result, item.namesrv_addr) == ("cause", "10.0.0.2:9876")
    assert "a has this name server in its list, but is not registered here" in item.evidence


def test_a_broker_without_a_list_of_its_own_and_one_that_does_not_tell() -> None:
    lacking = make_server_view(addr=OTHER_NS, members={})
    assert (
        "it fetches one"
        in found(
            "brokerNotHeard",
            make_facts([make_server_view(make_queue_route()), lacking], [make_broker_view(lists="")]),
        )[0].evidence
    )
    [item] = found(
        "partialNameServerList",
        make_facts(
            [make_server_view(make_queue_route()), lacking],
            [make_broker_view(error=refused_connection(MASTER))],
        ),
    )
    assert (item.result, item.broker_name) == ("unknown", "a")


def test_a_registration_that_is_too_large_explains_by_itself_why_a_broker_is_not_heard() -> None:
    route_facts = make_facts(
        [make_server_view(members={})],
        sizes={MASTER: ServerResult(MASTER, MeasuredRegistration(17 << 20, 16 << 20, 9), None)},
    )
    assert found("brokerNotHeard", route_facts)[0].result == "ok"
    assert found("brokerNotHeard", route_facts._replace(sizes={}))[0].result == "cause"


def test_a_name_server_in_its_waiting_time() -> None:
    [item] = found(
        "nameServerNotReady",
        make_facts([make_server_view(error=NOT_READY), make_server_view(make_queue_route(), addr=OTHER_NS)]),
    )
    assert (item.result, item.namesrv_addr) == ("cause", NS)
    assert (
        item.evidence
        == "SYSTEM_ERROR (1): name server not ready; it starts to return routes 45 s after its start"
    )


def test_another_cluster() -> None:
    route_facts = make_facts([make_server_view(make_queue_route())])
    assert found("otherCluster", route_facts)[0].result == "skipped"
    assert found("otherCluster", route_facts._replace(question=RouteQuestion("T", "C")))[0].result == "ok"
    [item] = found("otherCluster", route_facts._replace(question=RouteQuestion("T", "D")))
    assert (item.result, item.evidence) == ("cause", 'there is no cluster "D"; the topic is in C')
    assert str(item.advice) == "give the name of a cluster that exists: nsadmin route explain T -c C"
    nowhere = found("otherCluster", make_facts([make_server_view()], question=RouteQuestion("T", "D")))[0]
    assert nowhere.evidence == 'there is no cluster "D"; name servers list C'
    info = ClusterInfo(("C", "D"), ())
    view = make_server_view(make_queue_route())._replace(cluster_info=ServerResult(NS, info, None))
    [item] = found("otherCluster", make_facts([view], question=RouteQuestion("T", "D")))
    assert (item.result, item.evidence) == ("cause", "the topic is in cluster C, not in D")
    assert str(item.advice) == "nsadmin updateTopic T -c D"
    assert (
        found("otherCluster", make_facts([make_server_view()], question=RouteQuestion("T", "C")))[0].result
        == "skipped"
    )


def test_another_context() -> None:
    assert found("otherContext", make_facts([make_server_view(make_queue_route())]))[0].result == "ok"
    others = RouteQuestion("T", other_contexts=("prod",))
    assert (
        found("otherContext", make_facts([make_server_view()], question=others))[0].evidence
        == "not asked: pass --contexts to search prod"
    )
    assert found("otherContext", make_facts([make_server_view()]))[0].result == "skipped"
    route_facts = make_facts(
        [make_server_view()],
        other_context_routes=(
            OtherContextRoute("prod", "p:9876", ("P",)),
            OtherContextRoute("test", None, error="silence"),
        ),
    )
    prod, test = found("otherContext", route_facts)
    assert (prod.result, prod.evidence) == ("cause", "context prod has the topic in P, on p:9876")
    assert (test.result, test.evidence) == ("unknown", "context test: silence")
    assert (
        found(
            "otherContext",
            make_facts([make_server_view()], other_context_routes=(OtherContextRoute("prod", None),)),
        )[0].result
        == "ok"
    )


def test_members_that_nobody_told_prove_nothing() -> None:
    untold = make_server_view()._replace(cluster_info=ServerResult[ClusterInfo](NS, None, NOT_READY))
    route_facts = make_facts([untold])
    for id_ in ("wrongNameServer", "partialNameServerList", "brokerNotHeard"):
        assert found(id_, route_facts)[0].result == "ok"


def test_a_master_that_is_not_heard_where_its_slave_is() -> None:
    headless = make_server_view(make_queue_route(addrs={1: SLAVE}), members={"a": {1: SLAVE}})
    slave = make_broker_view(SLAVE, brokerId="1", brokerRole="SLAVE")
    [item] = found("brokerNotHeard", make_facts([headless], [slave, make_broker_view()]))
    assert (item.result, item.broker_addr) == ("cause", MASTER)
    assert found("brokerNotHeard", make_facts([headless], [slave]))[0].result == "ok"
    assert find_missing_brokers(make_facts([headless], [slave, make_broker_view()])) == [MASTER]
    assert find_missing_brokers(make_facts([headless], [slave])) == []
