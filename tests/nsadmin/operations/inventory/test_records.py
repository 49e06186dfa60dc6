"""Which brokers are expected and missing, as name servers list them over time."""

from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.operations.inventory.records import (
    MAX_UNLISTED,
    RETENTION_MS,
    ExpectedBroker,
    find_missing,
    find_move_of_last_seen,
    lost_brokers_of_topics,
    merge_listing,
    merge_placements,
    set_leaving,
)

A, B, C = "10.0.0.1:10911", "10.0.0.2:10911", "10.0.0.3:10911"
NOW = 1_800_000_000_000


def listed(name: str = "broker-a", cluster: str = "C", **addrs: str) -> BrokerAddrGroup:
    return BrokerAddrGroup(cluster, name, {int(key[1:]): addr for key, addr in addrs.items()})


def missing_labels(known: tuple[ExpectedBroker, ...], *groups: BrokerAddrGroup, now: int = NOW) -> list[str]:
    return [
        f"{broker.broker.label}@{broker.broker.broker_addr}" for broker in find_missing(known, groups, now)
    ]


def test_a_listed_broker_is_expected_from_then_on() -> None:
    known = merge_listing((), [listed(_0=A, _1=B)], NOW)
    assert [broker.label for broker in known] == ["broker-a:0", "broker-a:1"]
    assert missing_labels(known, listed(_0=A, _1=B)) == []
    assert missing_labels(known, listed(_0=A)) == [f"broker-a:1@{B}"]
    assert missing_labels(known) == [f"broker-a:0@{A}", f"broker-a:1@{B}"]


def test_only_a_name_without_any_process_is_gone_as_a_group() -> None:
    known = merge_listing((), [listed(_0=A, _1=B)], NOW)
    assert [broker.is_group_gone for broker in find_missing(known, [listed(_1=B)], NOW)] == [False]
    assert [broker.is_group_gone for broker in find_missing(known, [], NOW)] == [True, True]


def test_a_listing_that_tells_nothing_new_only_moves_the_time_of_the_last_look() -> None:
    both = [listed(_0=A), listed("broker-b", _0=B)]
    known = merge_listing((), both, NOW)
    again = merge_listing(known, both, NOW + 5)
    assert {(b.first_seen_ms, b.last_seen_ms) for b in again} == {(NOW, NOW + 5)}
    assert find_move_of_last_seen(known, again) == (NOW, NOW + 5)
    # The look at which one goes missing is news, the next one is not.
    gone = merge_listing(again, both[:1], NOW + 9)
    assert [b.last_seen_ms for b in gone] == [NOW + 9, NOW + 5]
    assert find_move_of_last_seen(again, gone) is None
    assert find_move_of_last_seen(gone, merge_listing(gone, both[:1], NOW + 12)) == (NOW + 9, NOW + 12)


def test_a_clock_that_was_set_back_does_not_keep_the_time_in_the_future() -> None:
    known = merge_listing((), [listed(_0=A)], NOW)
    assert merge_listing(known, [listed(_0=A)], NOW - 5)[0].last_seen_ms == NOW - 5


def test_a_broker_that_came_back_at_another_address_is_not_missing() -> None:
    known = merge_listing((), [listed(_0=A)], NOW)
    moved = merge_listing(known, [listed(_0=B)], NOW)
    assert [(broker.label, broker.broker_addr) for broker in moved] == [("broker-a:0", B)]


def test_after_a_failover_the_dead_process_is_missing_and_the_new_master_is_not() -> None:
    known = merge_listing((), [listed(_0=A, _2=B)], NOW)
    assert missing_labels(known, listed(_0=B)) == [f"broker-a:0@{A}"]
    known = merge_listing(known, [listed(_0=B)], NOW)
    assert missing_labels(known, listed(_0=B)) == [f"broker-a:0@{A}"]
    # The old master comes back as a slave.
    known = merge_listing(known, [listed(_0=B, _2=A)], NOW)
    assert sorted((broker.label, broker.broker_addr) for broker in known) == [
        ("broker-a:0", B),
        ("broker-a:2", A),
    ]


def test_name_servers_that_differ_about_a_broker_count_it_once() -> None:
    known = merge_listing((), [listed(_0=A), listed(_0=B)], NOW)
    assert len(known) == 1
    assert missing_labels(known, listed(_0=B)) == []
    known = merge_listing((), [listed(_0=A), listed(cluster="D", _0=A)], NOW)
    assert [broker.cluster_name for broker in known] == ["C"]
    both = merge_listing(
        merge_listing((), [listed(_0=A, _2=B)], NOW), [listed(_0=B), listed(_0=A, _2=B)], NOW
    )
    assert missing_labels(both, listed(_0=B)) == [f"broker-a:0@{A}"]


def test_a_broker_that_was_gone_for_longer_than_the_retention_is_dropped_unless_it_is_pinned() -> None:
    known = merge_listing((), [listed(_0=A), listed("broker-b", _0=B)], NOW)
    known = (known[0], known[1]._replace(is_pinned=True))
    later = NOW + RETENTION_MS + 1
    assert missing_labels(known, now=later) == [f"broker-b:0@{B}"]
    assert [broker.label for broker in merge_listing(known, [], later)] == ["broker-b:0"]


def test_a_leaving_broker_is_not_missing_and_is_expected_again_if_it_comes_back() -> None:
    both = [listed(_0=A), listed("broker-b", _0=B)]
    known = tuple(set_leaving(merge_listing((), both, NOW), "broker-b", None, True, NOW))
    # Still registered: it goes on leaving.
    known = merge_listing(known, both, NOW)
    assert (known[1].is_leaving, known[1].has_left) == (True, False)
    known = merge_listing(known, both[:1], NOW)
    assert (missing_labels(known, *both[:1]), known[1].has_left) == ([], True)
    known = merge_listing(known, both, NOW)
    assert missing_labels(known, *both[:1]) == [f"broker-b:0@{B}"]


def test_empty_name_servers_are_no_sign_that_a_leaving_broker_has_left() -> None:
    known = tuple(set_leaving(merge_listing((), [listed(_0=A)], NOW), "broker-a", None, True, NOW))
    assert not merge_listing(known, [], NOW)[0].has_left


def test_a_leaving_broker_that_no_command_saw_is_leaving_when_one_sees_it() -> None:
    known = tuple(set_leaving((), "broker-b", None, True, NOW))
    known = merge_listing(known, [listed("broker-b", _0=B, _1=C)], NOW)
    assert [broker.is_leaving for broker in known] == [True, True]
    known = tuple(set_leaving(known, "broker-b", None, False, NOW))
    assert [broker.is_leaving for broker in known] == [False, False]


def test_topics_of_a_missing_broker_stay_and_those_of_a_listed_one_are_what_was_read() -> None:
    known = {"T": {"broker-a": 6, "broker-b": 6}, "OnlyB": {"broker-b": 6}, "Deleted": {"broker-a": 6}}
    names = {"broker-a", "broker-b"}
    merged = merge_placements(known, {"T": {"broker-a": 4}}, {"broker-a"}, names, is_complete=True)
    assert merged == {"T": {"broker-b": 6, "broker-a": 4}, "OnlyB": {"broker-b": 6}}
    # A read of one topic says nothing about the others.
    merged = merge_placements(known, {"T": {}}, {"broker-a"}, names, is_complete=False)
    assert merged == {**known, "T": {"broker-b": 6}}
    # broker-b was dropped from the inventory.
    merged = merge_placements(known, {}, {"broker-a"}, {"broker-a"}, is_complete=True)
    assert merged == {}


def test_a_topic_that_was_read_only_on_a_missing_broker_is_not_lost() -> None:
    missing = find_missing(merge_listing((), [listed("broker-b", _0=B)], NOW), [], NOW)
    placements = {"T": {"broker-a": 6, "broker-b": 6}, "Archive": {"broker-b": 4}, "Other": {"broker-a": 6}}
    assert lost_brokers_of_topics(placements, missing) == {"T": ["broker-b"]}


def test_brokers_that_were_listed_for_a_moment_do_not_fill_the_inventory() -> None:
    """Anybody can register 12,000 brokers; the inventory kept each of them for seven days."""
    pinned = ExpectedBroker("C", "pinned", 0, C, NOW, NOW, is_pinned=True)
    known = merge_listing([pinned], [listed("real", _0=A)], NOW)
    known = merge_listing(known, [listed("real", _0=A)], NOW + 300)
    fakes = [listed(f"fake-{number}", _0=f"10.9.0.1:{number}") for number in range(12_000)]
    known = merge_listing(known, [listed("real", _0=A), *fakes], NOW + 300)
    assert len(known) == 12_002
    known = merge_listing(known, [listed("other", _0=B)], NOW + 301)
    assert len(known) == MAX_UNLISTED + 2
    assert {"real:0", "pinned:0", "other:0"} <= {broker.label for broker in known}
