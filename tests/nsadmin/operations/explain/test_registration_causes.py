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
from tests.support.explaining import (
    MASTER,
    NO_ROUTE,
    NS,
    OTHER_NS,
    broker,
    facts,
    looked,
    queue,
    silence,
    view,
)

DEED = JournaledChange("ns-1", 1_738_368_003_000, "DELETE_TOPIC_IN_NAMESRV", "10.0.0.9:5")
NOWHERE = broker(perm=None)


def found(id_: str, known: RouteFacts) -> list[CauseFinding]:
    return looked(REGISTRATION_CHECKS, id_, known)


def test_a_topic_that_is_nowhere() -> None:
    [item] = found("topicNotRegistered", facts([view()], [NOWHERE]))
    assert (item.result, item.namesrv_addr, str(item.advice)) == (
        "cause", NS, "create the topic: nsadmin updateTopic T -c C",
    )  # fmt: skip
    [asked] = found("topicNotRegistered", facts([view()], [NOWHERE], RouteQuestion("T", "D")))
    assert str(asked.advice) == "create the topic: nsadmin updateTopic T -c D"
    assert found("topicNotRegistered", facts([view(queue())]))[0].evidence == f"a route exists on {NS}"
    assert found("topicNotRegistered", facts([view()]))[0].evidence == "a has the topic"
    assert found("topicNotRegistered", facts([view(error=silence(NS))], ()))[0].result == "skipped"


def test_brokers_that_did_not_tell_are_named() -> None:
    [item] = found("topicNotRegistered", facts([view()], [NOWHERE, broker("h:7", error=silence("h:7"))]))
    assert "h:7 did not answer" in item.evidence


def test_who_deleted_it_stands_there() -> None:
    [item] = found(
        "topicNotRegistered",
        facts([view()], [NOWHERE], memories=(JournalEvidence("ns-1", topic_deletion=DEED),)),
    )
    text = "the journal of ns-1, 2025-02-01T00:00:03Z, DELETE_TOPIC_IN_NAMESRV by 10.0.0.9:5"
    assert describe_change(DEED) == text
    assert f"{text}: deleted" in item.evidence


def test_nobody_is_told_to_create_what_a_stopped_broker_has() -> None:
    gone = JournalEvidence("ns-1", gone_brokers={"a": DEED})
    assert found("topicNotRegistered", facts([view()], [NOWHERE], memories=(gone,)))[0].advice is None


def test_a_topic_of_a_missing_broker_is_not_to_be_created() -> None:
    gone = MissingTopicBroker("b", "missing: last seen then", (), True)
    known = facts([view()], [NOWHERE], missing_brokers=(gone,))
    assert (found("topicNotRegistered", known)[0].result, found("autoCreateOff", known)[0].result) == (
        "skipped",
        "ok",
    )
    unsure = known._replace(missing_brokers=(gone._replace(had_topic=None),))
    [item] = found("topicNotRegistered", unsure)
    assert (item.result, item.advice) == ("unknown", None)
    assert "b possibly had the topic and is missing: last seen then" in item.evidence
    # The topic was deleted while the broker was there.
    deleted = known._replace(memories=(JournalEvidence("ns-1", topic_deletion=DEED),))
    assert found("topicNotRegistered", deleted)[0].result == "cause"


def test_names_that_are_alike_or_the_same_in_a_namespace() -> None:
    names = ("orders", "orders-history", "INST%order", "payments")
    known = view()._replace(topic_names=ServerResult(NS, names, None))
    assert find_similar_topics("order", known) == ["INST%order", "orders"]
    assert find_similar_topics("INST%orders", known)[0] == "orders"
    assert find_similar_topics("ORDERS", known) == ["orders"]
    assert find_similar_topics("order", view()) == []
    assert (
        "similar topics exist: INST%order, orders"
        in found("topicNotRegistered", facts([known], [NOWHERE], RouteQuestion("order")))[0].evidence
    )


def test_auto_creation_that_is_off() -> None:
    off = broker(perm=None, autoCreateTopicEnable="false")
    [item] = found("autoCreateOff", facts([view()], [off]))
    assert (item.result, item.broker_name, item.broker_addr) == ("cause", "a", MASTER)
    assert "autoCreateTopicEnable=false" in item.evidence
    assert found("autoCreateOff", facts([view()], [NOWHERE]))[0].result == "ok"
    assert found("autoCreateOff", facts([view()], [broker(autoCreateTopicEnable="false")]))[0].result == "ok"
    assert found("autoCreateOff", facts([view()], [broker(error=silence(MASTER))]))[0].result == "unknown"
    slave = broker(perm=None, brokerRole="SLAVE", autoCreateTopicEnable="false")
    assert found("autoCreateOff", facts([view()], [slave]))[0].result == "unknown"


def test_producers_that_find_nobody_who_would_create_it() -> None:
    unrouted = view(default_route=ServerResult(NS, None, NO_ROUTE))
    [item] = found("autoCreateOff", facts([unrouted], [NOWHERE]))
    assert (item.result, "TBW102" in item.evidence) == ("warning", True)


def test_a_topic_that_only_the_broker_has() -> None:
    [item] = found("topicOnBrokerOnly", facts([view()]))
    assert (item.result, item.namesrv_addr, item.broker_name) == ("cause", NS, "a")
    assert "nsadmin repair register a" in str(item.advice)
    assert found("topicOnBrokerOnly", facts([view(queue())]))[0].result == "ok"
    assert found("topicOnBrokerOnly", facts([view(error=silence(NS))]))[0].result == "ok"
    members = {"a": {0: MASTER}, "b": {0: "h:3"}}
    beside = facts([view(queue("b", {0: "h:3"}), members=members)], [broker(), broker("h:3", "b")])
    assert found("topicOnBrokerOnly", beside)[0].result == "warning"
    deleted = facts([view()], memories=(JournalEvidence("ns-1", topic_deletion=DEED),))
    assert "by 10.0.0.9:5: deleted" in found("topicOnBrokerOnly", deleted)[0].evidence


def test_sizes_against_the_limit() -> None:
    def of(size: int) -> RouteFacts:
        return facts(
            [view(addr=OTHER_NS)],
            sizes={MASTER: ServerResult(MASTER, MeasuredRegistration(size, 16 << 20, 70_000), None)},
        )

    [item] = found("registrationTooLarge", of(17_000_000))
    assert (item.result, item.broker_name, item.broker_addr) == ("cause", "a", MASTER)
    assert "70000 topics has 17000000 bytes, but name servers accept 16777216" in item.evidence
    assert found("registrationTooLarge", of(16 << 20))[0].evidence.startswith(
        "the largest registration has 16777216 bytes"
    )
    assert found("registrationTooLarge", facts([view()]))[0].result == "skipped"
    untold = facts([view()], sizes={MASTER: ServerResult(MASTER, None, silence(MASTER))})
    assert found("registrationTooLarge", untold)[0].result == "unknown"


def test_whose_registration_is_to_be_measured() -> None:
    assert find_missing_brokers(facts([view(queue())])) == []
    assert find_missing_brokers(facts([view(queue()), view(addr=OTHER_NS)])) == [MASTER]
    assert find_missing_brokers(facts([view(error=silence(NS))])) == []
    assert find_missing_brokers(facts([view()], [NOWHERE])) == []
