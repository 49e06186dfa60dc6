"""The walk from the first cause to the last, and what it comes to."""

import pytest

from nsadmin.client.topics.topic_views import NameServerTopicView
from nsadmin.operations.explain.facts import RouteFacts, RouteQuestion
from nsadmin.operations.explain.findings import (
    Advice,
    describe_verdict,
    join_names,
    list_cause_ids,
    reach_verdict,
)
from nsadmin.operations.explain.route_causes import ALL_CAUSE_CHECKS, explain_route
from tests.support.route_facts import (
    MASTER,
    NS,
    OTHER_NS,
    make_broker_view,
    make_facts,
    make_queue_route,
    make_server_view,
    refused_connection,
)

IDS = [
    "nameServerSilent", "clientList", "wrongNameServer", "partialNameServerList", "brokerNotHeard",
    "otherCluster", "otherContext", "nameServerNotReady", "topicNotRegistered", "autoCreateOff",
    "topicOnBrokerOnly", "registrationTooLarge", "brokersGone", "masterMissing", "wiped", "brokerPermission",
    "diskFull", "topicPermission", "noQueues", "orderConf", "zone",
]  # fmt: skip


def test_ids_stay_what_they_are() -> None:
    # The step about proxies applies only if there are some.
    assert [step.id for step in ALL_CAUSE_CHECKS] == [*IDS, "proxyRoute"]


def test_of_a_healthy_topic_every_step_is_ticked() -> None:
    causes = explain_route(make_facts([make_server_view(make_queue_route())]))
    assert [item.cause_id for item in causes] == IDS
    assert {item.finding.result for item in causes} == {"ok", "skipped"}
    assert (reach_verdict(causes), list_cause_ids(causes)) == ("fine", [])


def test_what_is_the_same_on_several_servers_is_told_once_and_put_right_there_only() -> None:
    closed = [make_server_view(make_queue_route(perm=4), addr=addr) for addr in (NS, OTHER_NS)]
    well = make_server_view(make_queue_route(), addr="ns-3:9876")
    causes = explain_route(
        make_facts([*closed, well], [make_broker_view(lists=f"{NS};{OTHER_NS};ns-3:9876")])
    )
    [wiped] = [item for item in causes if item.cause_id == "wiped"]
    assert wiped.namesrv_addrs == (NS, OTHER_NS)
    assert f"nsadmin repair wipe a -n '{NS};{OTHER_NS}'" in str(wiped.finding.advice)
    assert (reach_verdict(causes), list_cause_ids(causes)) == ("cause found", ["wiped"])


def test_a_verdict_says_how_far_each_other_problem_goes_and_not_that_there_is_none() -> None:
    healthy = explain_route(make_facts([make_server_view(make_queue_route())]))
    assert describe_verdict(healthy, "all is well") == ["no problem: all is well"]
    reduced = explain_route(make_facts([make_server_view(make_queue_route(), make_queue_route("b", {}))]))
    assert describe_verdict(reduced, "all is well") == [
        "all is well",
        "warnings: brokersGone (b has queues in the route, but is not registered: it left)",
    ]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (
            make_facts(
                [
                    make_server_view(make_queue_route()),
                    make_server_view(error=refused_connection(OTHER_NS), addr=OTHER_NS),
                ]
            ),
            "unknown",
        ),
        (
            make_facts(
                [
                    make_server_view(make_queue_route(perm=4)),
                    make_server_view(error=refused_connection(OTHER_NS), addr=OTHER_NS),
                ]
            ),
            "cause found",
        ),
        (make_facts([make_server_view(make_queue_route(), make_queue_route("b", {}))]), "fine"),
    ],
)
def test_a_cause_counts_more_than_what_is_unknown_and_a_warning_is_none(told: RouteFacts, said: str) -> None:
    assert reach_verdict(explain_route(told)) == said


def test_of_silent_name_servers_nothing_is_well_but_what_does_not_need_them() -> None:
    silent = make_server_view(error=refused_connection(NS))
    causes = explain_route(make_facts([silent], (), RouteQuestion("T", client_list=NS)))
    results = {item.cause_id: item.finding.result for item in causes}
    assert {cause for cause, result in results.items() if result == "ok"} == {"clientList"}
    others = [
        item.finding.evidence for item in causes if item.cause_id not in ("nameServerSilent", "clientList")
    ]
    assert set(others) == {"no name server answered"}


@pytest.mark.parametrize(
    "only",
    [
        make_server_view(),
        make_server_view(error=refused_connection(NS)),
        make_server_view(members={}),
        make_server_view(make_queue_route(addrs={}), members={}),
    ],
)
def test_no_step_fails_for_what_others_lack(only: NameServerTopicView) -> None:
    for brokers in (
        (),
        (make_broker_view(perm=None),),
        (make_broker_view(error=refused_connection(MASTER)),),
    ):
        assert {item.cause_id for item in explain_route(make_facts([only], brokers))} == set(IDS)


@pytest.mark.parametrize(
    ("names", "text"), [("", ""), ("a", "a"), ("abcde", "a, b, c, d, e"), ("abcdef", "a, b, c, d and 2 more")]
)
def test_of_many_names_the_first_few(names: str, text: str) -> None:
    assert join_names(names) == text


def test_what_to_type_is_as_a_shell_takes_it() -> None:
    advice = Advice("create the topic", ("updateTopic", "T", "-n", "a:1;b:2"))
    assert advice.shell_command == "nsadmin updateTopic T -n 'a:1;b:2'"
    assert str(advice) == f"create the topic: {advice.shell_command}"
    assert (str(Advice("wait")), Advice("wait").shell_command) == ("wait", None)
    assert str(Advice("", ("where",))) == "nsadmin where"
