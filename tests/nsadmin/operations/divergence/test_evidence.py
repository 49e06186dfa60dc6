"""What is known about brokers when a cause is looked for."""

from nsadmin.operations.divergence.evidence import NO_FACTS, BrokerFacts, CauseEvidence
from tests.support.cluster_snapshots import make_broker_entry, make_cluster_snapshot


def test_the_addresses_of_a_broker_have_its_master_first() -> None:
    slave_and_master = {
        "a": {**make_broker_entry("x:1"), "brokerAddrs": {"10": "x:3", "2": "x:2", "0": "x:1"}}
    }
    evidence = CauseEvidence(
        [
            make_cluster_snapshot("s:1", slave_and_master),
            make_cluster_snapshot("s:2", {"a": make_broker_entry("y:1")}),
        ],
        {},
    )
    assert evidence.list_broker_addrs("a") == ["x:1", "y:1", "x:2", "x:3"]
    assert evidence.list_broker_addrs("b") == []


def test_the_cluster_of_a_broker_is_named_for_commands() -> None:
    brokers = {"a": make_broker_entry(), "b": make_broker_entry("y:1", "d")}
    evidence = CauseEvidence([make_cluster_snapshot("s:1", {}), make_cluster_snapshot("s:2", brokers)], {})
    assert [evidence.find_cluster(name) for name in (None, "a", "b", "gone")] == ["c", "c", "d", "CLUSTER"]


def test_a_broker_that_was_not_asked_has_no_facts() -> None:
    evidence = CauseEvidence(
        [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2")], {"x:1": BrokerFacts(True)}
    )
    assert (evidence.facts_of("x:1").is_answering, evidence.facts_of("y:1")) == (True, NO_FACTS)
    assert evidence.addrs_at([1, 0]) == "s:2, s:1"
