"""Causes in the lists of name servers that brokers have."""

from nsadmin.operations.divergence.evidence import BrokerFacts, CauseEvidence, DivergenceCause
from nsadmin.operations.divergence.list_causes import NEW_LIST_MS, explain_new_list, explain_partial_list
from tests.support.cluster_snapshots import make_cluster_snapshot

PICTURES = [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2")]


def new_list_cause(facts: BrokerFacts, behind: tuple[int, ...] = (1,)) -> DivergenceCause | None:
    return explain_new_list(["x:1"], behind, CauseEvidence(PICTURES, {"x:1": facts}))


def test_a_list_that_names_the_server_since_a_moment_ago() -> None:
    list_cause = new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, 30_000))
    assert list_cause is not None
    assert list_cause.kind == "new-list"
    assert list_cause.text == "its namesrvAddr names s:2, and its settings changed less than 3 minutes ago"
    # Clocks may differ.
    assert new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, -5_000)) is not None


def test_an_old_or_unknown_or_partial_list_is_no_new_one() -> None:
    assert new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, NEW_LIST_MS)) is None
    assert new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, None)) is None
    assert new_list_cause(BrokerFacts(True, ("s:1",), {}, 30_000)) is None
    assert new_list_cause(BrokerFacts(True, None, {}, 30_000)) is None
    assert new_list_cause(BrokerFacts(True, ("s:1", "s:2"), {}, 30_000), ()) is None


def test_a_partial_list_counts_if_it_names_the_servers_that_are_right() -> None:
    def partial_cause(*names: str) -> DivergenceCause | None:
        evidence = CauseEvidence(PICTURES, {"x:1": BrokerFacts(True, names)})
        return explain_partial_list(["x:1"], [1], evidence)

    list_cause = partial_cause("s:1")
    assert list_cause is not None
    assert "updateBrokerConfig namesrvAddr 's:1;s:2' -b x:1" in list_cause.advice
    assert partial_cause("s:1", "s:2") is None
    assert partial_cause("other:1") is None
