"""The likely cause of each kind of difference."""

from collections.abc import Mapping

import pytest

from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.operations.divergence.causes import (
    NEW_LIST_MS,
    explain_new_list,
    explain_partial_list,
    find_cause,
)
from nsadmin.operations.divergence.comparison import ComparedValue, compare_snapshots
from nsadmin.operations.divergence.evidence import BrokerFacts, CauseEvidence, DivergenceCause
from tests.support.cluster_snapshots import make_broker_entry, make_cluster_snapshot, make_queue_entry

BOTH = ("s:1", "s:2")
TWO_BROKERS = {"a": make_broker_entry(), "b": make_broker_entry("y:1")}


def cause(pictures: list[ClusterSnapshot], **facts: BrokerFacts) -> DivergenceCause:
    """Of the first difference; facts by the host of a broker's address."""
    scene = CauseEvidence(pictures, {f"{host}:1": fact for host, fact in facts.items()})
    return find_cause(compare_snapshots(pictures).differences[0], scene)


def telling(
    names: tuple[str, ...] | None = BOTH, own: Mapping[str, ComparedValue | None] | None = None
) -> BrokerFacts:
    return BrokerFacts(True, names, own or {})


# A broker that is not everywhere


@pytest.fixture
def without_b() -> list[ClusterSnapshot]:
    return [make_cluster_snapshot("s:1", TWO_BROKERS), make_cluster_snapshot("s:2")]


def test_it_registers_with_a_partial_list(without_b: list[ClusterSnapshot]) -> None:
    divergence_cause = cause(without_b, y=telling(("s:1",)))
    assert divergence_cause.kind == "partial-list"
    assert (
        divergence_cause.text == "the broker registers with a partial list: its namesrvAddr does not name s:2"
    )
    assert "updateBrokerConfig namesrvAddr 's:1;s:2' -b y:1" in divergence_cause.advice


def test_other_names_for_the_same_servers_are_no_partial_list(without_b: list[ClusterSnapshot]) -> None:
    assert cause(without_b, y=telling(("name-server-1:9876",))).kind == "partition"
    assert cause(without_b, y=telling(None)).kind == "partition"


def test_it_names_all_and_one_has_not_heard(without_b: list[ClusterSnapshot]) -> None:
    divergence_cause = cause(without_b, y=telling())
    assert (divergence_cause.kind, "do not reach s:2" in divergence_cause.text) == ("partition", True)


def test_it_does_not_answer(without_b: list[ClusterSnapshot]) -> None:
    assert cause(without_b, y=BrokerFacts(False)).kind == "gone"
    assert cause(without_b).kind == "gone"


def test_who_knows_no_broker_at_all_was_started_or_is_cut_off() -> None:
    divergence_cause = cause(
        [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2", {}, {})], x=telling()
    )
    assert (divergence_cause.kind, divergence_cause.text.startswith("s:2 lists no broker")) == (
        "no-brokers",
        True,
    )


def test_two_addresses_for_one_broker() -> None:
    pictures = [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2", {"a": make_broker_entry("y:1")})]
    moved = cause(pictures, y=telling())
    assert (moved.kind, "answers at y:1 only" in moved.text) == ("moved", True)
    assert cause(pictures, x=telling(), y=telling()).kind == "conflict"
    assert (
        cause(
            [
                make_cluster_snapshot("s:1"),
                make_cluster_snapshot("s:2", {"a": make_broker_entry(cluster="c, d")}),
            ]
        ).kind
        == "cluster"
    )


# A topic that is not everywhere alike


def topics(*tables: Mapping[str, Mapping[str, int]]) -> list[ClusterSnapshot]:
    return [
        make_cluster_snapshot(f"s:{number + 1}", topics={"T": table} if table else {})
        for number, table in enumerate(tables)
    ]


def test_write_permission_wiped_on_one_only() -> None:
    divergence_cause = cause(
        topics({"a": make_queue_entry()}, {"a": make_queue_entry(4)}),
        x=telling(own={"T": make_queue_entry()}),
    )
    assert (divergence_cause.kind, divergence_cause.text) == (
        "wiped",
        "the write permission of a was removed on s:2 only",
    )
    assert divergence_cause.advice.startswith(
        "run `nsadmin repair wipe a`, which restores the broker's own permissions"
    )
    # The broker need not say so.
    assert cause(topics({"a": make_queue_entry(7)}, {"a": make_queue_entry(5)})).kind == "wiped"
    came_back = cause(
        topics({"a": make_queue_entry(4)}, {"a": make_queue_entry(4)}, {"a": make_queue_entry()})
    )
    assert (came_back.kind, "not on s:3" in came_back.text) == ("wiped", True)


def test_write_permission_added_on_one_only() -> None:
    divergence_cause = cause(
        topics({"a": make_queue_entry(4)}, {"a": make_queue_entry(6)}),
        x=telling(own={"T": make_queue_entry(4)}),
    )
    assert (divergence_cause.kind, "to s:2 only" in divergence_cause.text) == ("write-perm-added", True)
    # What it leaves behind, also where it is undone.
    flat = cause(
        topics({"a": make_queue_entry(7)}, {"a": make_queue_entry(6)}),
        x=telling(own={"T": make_queue_entry(7)}),
    )
    assert (flat.kind, "replaces every permission with rw-" in flat.text) == ("write-perm-added", True)
    assert cause(topics({"a": make_queue_entry(7)}, {"a": make_queue_entry(6)})).kind == "behind"
    # 7 is nothing that addWritePerm makes.
    assert (
        cause(
            topics({"a": make_queue_entry(5)}, {"a": make_queue_entry(7)}),
            x=telling(own={"T": make_queue_entry(5)}),
        ).kind
        == "behind"
    )


def test_a_permission_that_has_nothing_to_do_with_writing() -> None:
    divergence_cause = cause(
        topics({"a": make_queue_entry(6)}, {"a": make_queue_entry(2)}),
        x=telling(own={"T": make_queue_entry(2)}),
    )
    assert (divergence_cause.kind, divergence_cause.text.startswith("s:1 missed the last")) == (
        "behind",
        True,
    )


def test_a_change_that_one_has_not_heard() -> None:
    pictures = topics(
        {"a": make_queue_entry(number=8)},
        {"a": make_queue_entry(number=4)},
        {"a": make_queue_entry(number=4)},
    )
    every = ("s:1", "s:2", "s:3")
    assert "s:2, s:3 missed" in cause(pictures, x=telling(every, {"T": make_queue_entry(number=8)})).text
    # Where the broker does not tell, the smaller part is taken to be behind.
    assert "s:1 missed the last registration" in cause(pictures).text
    assert "some name servers missed" in cause(pictures[:2]).text


def test_behind_because_it_is_on_the_list_no_more() -> None:
    pictures = topics({"a": make_queue_entry(number=8)}, {"a": make_queue_entry(number=4)})
    divergence_cause = cause(pictures, x=telling(("s:2",), {"T": make_queue_entry(number=4)}))
    assert (divergence_cause.kind, "does not name s:1" in divergence_cause.text) == ("partial-list", True)


def test_a_topic_that_one_has_not_heard_of_or_has_kept() -> None:
    pictures = topics({"a": make_queue_entry()}, {})
    assert cause(pictures, x=telling(own={"T": make_queue_entry()})).kind == "not-registered"
    assert cause(pictures).kind == "not-registered"
    assert cause(pictures, x=telling(("s:1",), {"T": make_queue_entry()})).kind == "partial-list"
    kept = cause(pictures, x=telling(own={"T": None}))
    assert (kept.kind, "but not on s:1" in kept.text) == ("left-over", True)


def test_a_topic_that_no_broker_has() -> None:
    pictures = [make_cluster_snapshot("s:1", topics={"T": {}}), make_cluster_snapshot("s:2", topics={})]
    assert cause(pictures).kind == "left-over"


# What no broker tells


def test_kv_written_to_some_only() -> None:
    divergence_cause = cause(
        [make_cluster_snapshot("s:1"), make_cluster_snapshot("s:2", kv={"n": {"k": "v"}})]
    )
    assert (
        divergence_cause.kind,
        divergence_cause.advice.startswith("run `nsadmin kv sync -s n --from s:2"),
    ) == ("kv-written-to-some", True)
    assert divergence_cause.text.startswith("written to s:2 only")
    other = cause(
        [
            make_cluster_snapshot("s:1", kv={"n": {"k": "w"}}),
            make_cluster_snapshot("s:2", kv={"n": {"k": "v"}}),
        ]
    )
    assert other.text.startswith("written to some name servers only")
    odd = cause(
        [make_cluster_snapshot(f"s:{number}", kv={"n": {"k": str(number % 3)}}) for number in (1, 2, 4)]
    )
    assert odd.text.startswith("written to s:2 only, or to the others only")


def test_settings_are_each_ones_own() -> None:
    pictures = [
        make_cluster_snapshot("s:1", settings={"a": "1"}),
        make_cluster_snapshot("s:2", settings={"a": "2"}),
    ]
    assert cause(pictures).kind == "own-files"


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
