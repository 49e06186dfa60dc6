"""Causes that lie between brokers and name servers."""

from nsadmin.client.results import ServerResult
from nsadmin.operations.explain.facts import (
    JournaledChange,
    JournalEvidence,
    MeasuredRegistration,
    MissingTopicBroker,
    RouteFacts,
    RouteQuestion,
)
from nsadmin.operations.explain.findings import CauseFinding
from nsadmin.operations.explain.registration_causes import (
    REGISTRATION_CHECKS,
    describe_change,
    find_missing_brokers,
    find_similar_topics,
)
from tests.support.route_facts import (
    MASTER,
    NO_ROUTE,
    NS,
    OTHER_NS,
    make_broker_view,
    make_facts,
    make_queue_route,
    make_server_view,
    refused_connection,
    run_check,
)

DEED = JournaledChange("ns-1", 1_738_368_003_000, "DELETE_TOPIC_IN_NAMESRV", "10.0.0.9:5")
NOWHERE = make_broker_view(perm=None)


def found(id_: str, known: RouteFacts) -> list[CauseFinding]:
    return run_check(REGISTRATION_CHECKS, id_, known)


def test_a_topic_that_is_nowhere() -> None:
    [item] = found("topicNotRegistered", make_facts([make_server_view()], [NOWHERE]))
    assert (item.result, item.namesrv_addr, str(item.advice)) == (
        "cause", NS, "create the topic: nsadmin updateTopic T -c C",
    )  # fmt: skip
    # A row can be of several name servers.
    assert (
        item.evidence
        == "consumers find no route for the topic; the brokers that answered do not have the topic"
    )
    [asked] = found(
        "topicNotRegistered", make_facts([make_server_view()], [NOWHERE], RouteQuestion("T", "D"))
    )
    # There is no cluster D.
    assert str(asked.advice) == "create the topic: nsadmin updateTopic T -c C"
    assert (
        found("topicNotRegistered", make_facts([make_server_view(make_queue_route())]))[0].evidence
        == f"a route exists on {NS}"
    )
    assert found("topicNotRegistered", make_facts([make_server_view()]))[0].evidence == "a has the topic"
    assert (
        found("topicNotRegistered", make_facts([make_server_view(error=refused_connection(NS))], ()))[
            0
        ].result
        == "skipped"
    )


def test_nobody_is_told_to_create_what_was_deleted_on_some_name_servers_only() -> None:
    """As `divergence` says of the same tables."""
    views = [make_server_view(), make_server_view(make_queue_route(), addr=OTHER_NS)]
    refusing = make_broker_view(perm=None, autoCreateTopicEnable="false")
    for check in ("topicNotRegistered", "autoCreateOff"):
        [item, *_] = found(check, make_facts(views, [refusing]))
        assert str(item.advice) == (
            "either create it again, or delete the rest of it on every name server: nsadmin deleteTopic T C"
        )
    [item] = found("topicNotRegistered", make_facts(views, [refusing]))
    assert f"the topic was deleted, but not on {OTHER_NS}" in item.evidence


def test_brokers_that_did_not_tell_are_named() -> None:
    [item] = found(
        "topicNotRegistered",
        make_facts([make_server_view()], [NOWHERE, make_broker_view("h:7", error=refused_connection("h:7"))]),
    )
    assert "h:7 did not answer" in item.evidence


def test_who_deleted_it_stands_there() -> None:
    [item] = found(
        "topicNotRegistered",
        make_facts([make_server_view()], [NOWHERE], memories=(JournalEvidence("ns-1", topic_deletion=DEED),)),
    )
    text = "the journal of ns-1, 2025-02-01T00:00:03Z, DELETE_TOPIC_IN_NAMESRV by 10.0.0.9:5"
    assert describe_change(DEED) == text
    assert f"{text}: deleted" in item.evidence


def test_nobody_is_told_to_create_what_a_stopped_broker_has() -> None:
    gone = JournalEvidence("ns-1", gone_brokers={"a": DEED})
    assert (
        found("topicNotRegistered", make_facts([make_server_view()], [NOWHERE], memories=(gone,)))[0].advice
        is None
    )


def test_a_topic_of_a_missing_broker_is_not_to_be_created() -> None:
    gone = MissingTopicBroker("b", "missing: last seen then", (), True)
    known = make_facts([make_server_view()], [NOWHERE], missing_brokers=(gone,))
    assert found("topicNotRegistered", known)[0].result == "skipped"
    [creation] = found("autoCreateOff", known)
    assert (creation.result, creation.evidence) == ("skipped", "the topic may be on b, which is missing")
    unsure = known._replace(missing_brokers=(gone._replace(had_topic=None),))
    [item] = found("topicNotRegistered", unsure)
    assert (item.result, item.advice) == ("unknown", None)
    assert "b possibly had the topic and is missing: last seen then" in item.evidence
    # The topic was deleted while the broker was there.
    deleted = known._replace(memories=(JournalEvidence("ns-1", topic_deletion=DEED),))
    assert found("topicNotRegistered", deleted)[0].result == "cause"


def test_names_that_are_alike_or_the_same_in_a_namespace() -> None:
    names = ("orders", "orders-history", "INST%order", "payments")
    known = make_server_view()._replace(topic_names=ServerResult(NS, names, None))
    assert find_similar_topics("order", known) == ["INST%order", "orders"]
    assert find_similar_topics("INST%orders", known)[0] == "orders"
    assert find_similar_topics("ORDERS", known) == ["orders"]
    assert find_similar_topics("order", make_server_view()) == []
    assert (
        "similar topics exist: INST%order, orders"
        in found("topicNotRegistered", make_facts([known], [NOWHERE], RouteQuestion("order")))[0].evidence
    )


def test_auto_creation_that_is_off() -> None:
    off = make_broker_view(perm=None, autoCreateTopicEnable="false")
    [item] = found("autoCreateOff", make_facts([make_server_view()], [off]))
    assert (item.result, item.broker_name, item.broker_addr) == ("cause", "a", MASTER)
    assert "autoCreateTopicEnable=false" in item.evidence
    [on] = found("autoCreateOff", make_facts([make_server_view()], [NOWHERE]))
    assert on.result == "ok"
    assert on.evidence.startswith("producers can send: a will create the topic with the first message")
    for view, start in (
        (make_server_view(), "consumers find no route for the topic; "),
        (make_server_view(default_route=ServerResult(NS, None, NO_ROUTE)), "no route for the topic; "),
    ):
        assert found("topicNotRegistered", make_facts([view], [NOWHERE]))[0].evidence.startswith(start)
    assert (
        found(
            "autoCreateOff",
            make_facts([make_server_view()], [make_broker_view(autoCreateTopicEnable="false")]),
        )[0].result
        == "ok"
    )
    assert (
        found(
            "autoCreateOff",
            make_facts([make_server_view()], [make_broker_view(error=refused_connection(MASTER))]),
        )[0].result
        == "unknown"
    )
    slave = make_broker_view(perm=None, brokerRole="SLAVE", autoCreateTopicEnable="false")
    assert found("autoCreateOff", make_facts([make_server_view()], [slave]))[0].result == "unknown"


def test_producers_that_find_nobody_who_would_create_it() -> None:
    unrouted = make_server_view(default_route=ServerResult(NS, None, NO_ROUTE))
    [item] = found("autoCreateOff", make_facts([unrouted], [NOWHERE]))
    assert (item.result, "TBW102" in item.evidence) == ("warning", True)


def test_a_topic_that_only_the_broker_has() -> None:
    [item] = found("topicOnBrokerOnly", make_facts([make_server_view()]))
    assert (item.result, item.namesrv_addr, item.broker_name) == ("cause", NS, "a")
    assert "nsadmin repair register a" in str(item.advice)
    assert found("topicOnBrokerOnly", make_facts([make_server_view(make_queue_route())]))[0].result == "ok"
    assert (
        found("topicOnBrokerOnly", make_facts([make_server_view(error=refused_connection(NS))]))[0].result
        == "ok"
    )
    members = {"a": {0: MASTER}, "b": {0: "h:3"}}
    beside = make_facts(
        [make_server_view(make_queue_route("b", {0: "h:3"}), members=members)],
        [make_broker_view(), make_broker_view("h:3", "b")],
    )
    assert found("topicOnBrokerOnly", beside)[0].result == "warning"
    deleted = make_facts([make_server_view()], memories=(JournalEvidence("ns-1", topic_deletion=DEED),))
    assert "by 10.0.0.9:5: deleted" in found("topicOnBrokerOnly", deleted)[0].evidence


def test_sizes_against_the_limit() -> None:
    def of(size: int) -> RouteFacts:
        return make_facts(
            [make_server_view(addr=OTHER_NS)],
            sizes={MASTER: ServerResult(MASTER, MeasuredRegistration(size, 16 << 20, 70_000), None)},
        )

    [item] = found("registrationTooLarge", of(17_000_000))
    assert (item.result, item.broker_name, item.broker_addr) == ("cause", "a", MASTER)
    assert "70000 topics has 17000000 bytes, but name servers accept 16777216" in item.evidence
    assert found("registrationTooLarge", of(16 << 20))[0].evidence.startswith(
        "the largest registration has 16777216 bytes"
    )
    assert found("registrationTooLarge", make_facts([make_server_view()]))[0].result == "skipped"
    untold = make_facts(
        [make_server_view()], sizes={MASTER: ServerResult(MASTER, None, refused_connection(MASTER))}
    )
    assert found("registrationTooLarge", untold)[0].result == "unknown"


def test_whose_registration_is_to_be_measured() -> None:
    assert find_missing_brokers(make_facts([make_server_view(make_queue_route())])) == []
    assert find_missing_brokers(
        make_facts([make_server_view(make_queue_route()), make_server_view(addr=OTHER_NS)])
    ) == [MASTER]
    assert find_missing_brokers(make_facts([make_server_view(error=refused_connection(NS))])) == []
    assert find_missing_brokers(make_facts([make_server_view()], [NOWHERE])) == []
