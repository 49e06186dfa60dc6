"""The tables of brokers: who has which place, over which channel. Invariants: `test_route_tables`."""

from tests.support.brokers import TableHarness

KEY = ("c", "a0")


def test_an_address_is_found_with_group_and_id() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 1)
    lab.register_broker("b", 1, addr="a0", cluster="d")
    assert [(group.broker_name, i) for group, i in lab.tables.members_at_addr(("c", "a0"))] == [("a", 0)]
    assert [(group.broker_name, i) for group, i in lab.tables.members_at_addr(("d", "a0"))] == [("b", 1)]
    assert (
        list(lab.tables.members_at_addr(("c", "nowhere")))
        == list(lab.tables.members_at_addr(("x", "a0")))
        == []
    )


def test_an_address_that_was_replaced_is_found_no_more() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x")
    lab.register_broker("a", 0, addr="y")
    assert list(lab.tables.members_at_addr(("c", "x"))) == []
    assert [broker_id for _, broker_id in lab.tables.members_at_addr(("c", "y"))] == [0]


def test_a_group_is_listed_by_each_cluster_of_its_members_and_belongs_to_the_first() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, cluster="c")
    lab.register_broker("a", 1, cluster="d")
    group = lab.tables.broker_groups["a"]
    assert (group.cluster_name, list(group.listing_clusters)) == ("c", ["c", "d"])
    assert (group.find_id("a1"), group.find_id("nowhere")) == (1, None)


def test_a_broker_belongs_to_its_newest_channel() -> None:
    lab = TableHarness()
    for channel in (7, 8, 7, 7):
        lab.register_broker("a", 0, channel=channel)
    assert list(lab.tables.live_keys_on_channel(7)) == [KEY]
    assert list(lab.tables.live_keys_on_channel(8)) == []
    assert lab.tables.live_brokers[KEY].former_channel_ids == {8}


def test_a_closed_channel_is_no_former_channel() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7)
    assert lab.tables.drop_channel(7) == [KEY]
    lab.register_broker("a", 0, channel=8)
    assert lab.tables.live_brokers[KEY].former_channel_ids == set()
