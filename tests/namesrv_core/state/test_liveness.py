"""Heartbeats, expiry, channels that close. Time is a number here."""

from namesrv_core.events import (
    AddressForgotten,
    BrokerUnregistered,
    HeartbeatGap,
    MinBrokerIdChanged,
    TopicsChanged,
)
from namesrv_core.protocol.json_bodies import DataVersion
from namesrv_core.state.liveness import (
    detect_silent_brokers,
    end_silence,
    record_heartbeat,
    silences_by_addr,
)
from tests.support.brokers import TableHarness

KEY = ("c", "a0")


def gone(lab: TableHarness) -> list[str]:
    return [event.broker_addr for event in lab.events if isinstance(event, BrokerUnregistered)]


def test_a_sign_of_life_answers_the_version_that_was_registered() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, version=3)
    assert record_heartbeat(lab.tables, KEY, 50) == DataVersion(3, 0, 1)
    assert lab.tables.live_brokers[KEY].heard_at_ms == 50


def test_a_sign_of_life_of_an_unknown_broker_leaves_no_trace() -> None:
    lab = TableHarness()
    assert record_heartbeat(lab.tables, KEY, 50) is None
    assert lab.is_empty()


def test_a_sign_of_life_changes_neither_channel_nor_time_limit_nor_generation() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7, timeout=10)
    before = lab.tables.generation
    record_heartbeat(lab.tables, KEY, 50)
    live = lab.tables.live_brokers[KEY]
    assert (live.channel_id, live.timeout_ms, lab.tables.generation) == (7, 10, before)


def test_a_broker_is_alive_at_the_end_of_its_time_and_gone_one_millisecond_later() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, now=1000, timeout=10_000, channel=7)
    assert lab.expire_channels(11_000) == []
    assert lab.events == []
    assert lab.expire_channels(11_001) == [7]
    assert lab.events[0] == BrokerUnregistered("c", "a", 0, "a0", "expired", 7)
    assert lab.is_empty()


def test_a_broker_that_names_no_time_limit_is_gone_after_two_minutes() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, now=0)
    assert lab.expire_channels(120_000) == []
    assert lab.expire_channels(120_001) == [1]


def test_a_heartbeat_in_time_keeps_a_broker() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, now=0, timeout=10)
    record_heartbeat(lab.tables, KEY, 10)
    assert lab.expire_channels(20) == []
    assert lab.expire_channels(21) == [1]


def test_each_broker_has_its_own_time_limit() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, timeout=10, channel=1)
    lab.register_broker("b", 0, timeout=20, channel=2)
    assert lab.expire_channels(15) == [1]
    assert lab.addrs_by_id("b") == {0: "b0"}


def test_expiry_moves_the_generation_only_when_somebody_expired() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, timeout=10)
    before = lab.tables.generation
    lab.expire_channels(10)
    assert lab.tables.generation == before
    lab.expire_channels(11)
    assert lab.tables.generation > before


def test_brokers_that_expire_on_one_channel_name_it_once() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, timeout=10, channel=3)
    lab.register_broker("b", 0, timeout=10, channel=3)
    assert lab.expire_channels(11) == [3]
    assert gone(lab) == ["a0", "b0"]


def test_a_broker_whose_channel_closes_is_gone_at_once() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7, filters=["f"])
    assert lab.close_channel(7)[0] == BrokerUnregistered("c", "a", 0, "a0", "channel closed", 7)
    assert lab.is_empty()


def test_all_brokers_of_a_channel_that_closes_are_gone() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7)
    lab.register_broker("a", 1, channel=7)
    lab.register_broker("b", 0, channel=7)
    lab.register_broker("b", 1, channel=8)
    lab.close_channel(7)
    assert gone(lab) == ["a0", "a1", "b0"]
    assert lab.addrs_by_id("b") == {1: "b1"}


def test_a_channel_that_nobody_registered_on_closes_without_effect() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7)
    before = lab.copy_tables()
    assert lab.close_channel(8) == []
    assert lab.copy_tables() == before


def test_the_old_channel_of_a_broker_that_registered_over_a_new_one_closes_without_effect() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7)
    lab.register_broker("a", 0, channel=8)
    before = lab.copy_tables()
    assert lab.close_channel(7) == []
    assert lab.copy_tables() == before


def test_the_channel_of_a_replaced_address_closes_without_harm_and_its_entry_goes() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", channel=7, filters=["f"])
    lab.register_broker("a", 0, addr="y", channel=8)
    assert lab.close_channel(7) == [AddressForgotten("c", "x", "channel closed")]
    assert lab.addrs_by_id() == {0: "y"}
    assert list(lab.tables.live_brokers) == [("c", "y")]
    assert lab.tables.filter_servers == {}


def test_a_replaced_address_whose_channel_stays_open_goes_when_its_time_is_over() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", channel=7)
    lab.register_broker("a", 0, addr="y", channel=8, now=100_000)
    lab.expire_channels(120_001)
    assert lab.events == [AddressForgotten("c", "x", "expired")]
    assert list(lab.tables.live_brokers) == [("c", "y")]
    assert lab.addrs_by_id() == {0: "y"}


def test_a_broker_that_registered_under_a_second_cluster_leaves_when_its_channel_closes() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=1)
    lab.register_broker("a", 1, cluster="d", channel=2)
    lab.close_channel(2)
    assert lab.addrs_by_id() == {0: "a0"}
    lab.close_channel(1)
    assert lab.is_empty()


def test_a_broker_that_registered_under_a_second_cluster_expires() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, cluster="d", timeout=10)
    lab.register_broker("a", 1, cluster="c", timeout=10)
    lab.expire_channels(11)
    assert lab.is_empty()


def test_a_broker_unregistered_under_another_cluster_leaves_nothing_behind_at_its_expiry() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.unregister_broker("a", 0, cluster="elsewhere")
    lab.expire_channels(120_001)
    assert lab.is_empty()


def test_a_broker_that_changed_its_name_leaves_under_both() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", channel=1)
    lab.register_broker("b", 0, addr="x", channel=2)
    lab.close_channel(2)
    assert lab.is_empty()


def test_a_master_that_expires_leaves_its_topics_read_only_to_the_acting_slave() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, acting=True, timeout=10)
    lab.register_broker("a", 1, acting=True, timeout=1000, channel=2)
    lab.expire_channels(11)
    assert lab.perms_by_topic() == {"T": 4, "U": 4}
    assert [type(event) for event in lab.events] == [BrokerUnregistered, TopicsChanged, MinBrokerIdChanged]


def test_a_former_channel_is_forgotten_when_it_closes_and_when_it_is_taken_again() -> None:
    lab = TableHarness()
    for channel in (7, 8, 9):
        lab.register_broker("a", 0, channel=channel)
    assert lab.tables.live_brokers[KEY].former_channel_ids == {7, 8}
    lab.close_channel(7)
    assert lab.tables.live_brokers[KEY].former_channel_ids == {8}
    lab.register_broker("a", 0, channel=8)
    assert lab.tables.live_brokers[KEY].former_channel_ids == {9}


def test_a_broker_that_took_another_address_keeps_its_channel_when_the_old_one_expires() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="old", channel=7, now=0, timeout=10)
    lab.register_broker("a", 0, addr="new", channel=7, now=5, timeout=10)
    assert lab.expire_channels(11) == []
    assert lab.tables.live_brokers.keys() == {("c", "new")}


def test_a_broker_that_changed_its_cluster_outlives_the_channel_of_before() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, cluster="c", channel=7)
    lab.register_broker("a", 0, cluster="d", channel=8)
    lab.close_channel(7)
    assert gone(lab) == []
    assert lab.tables.broker_groups["a"].broker_addrs == {0: "a0"}
    lab.close_channel(8)
    assert lab.is_empty()


def test_an_address_that_two_clusters_share_leaves_each_of_them_for_itself() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"], addr="x", cluster="c", channel=1)
    lab.register_broker("b", 0, ["V", "W"], addr="x", cluster="d", channel=2)
    lab.close_channel(1)
    assert gone(lab) == ["x"]
    assert lab.addrs_by_id("a") == {}
    assert set(lab.queues) == {"V", "W"}
    lab.close_channel(2)
    assert lab.is_empty()


def test_an_address_that_two_clusters_share_expires_in_each_of_them_for_itself() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", cluster="c", timeout=10)
    lab.register_broker("b", 0, addr="x", cluster="d", timeout=20)
    lab.expire_channels(11)
    assert (lab.addrs_by_id("a"), lab.addrs_by_id("b")) == ({}, {0: "x"})
    lab.expire_channels(21)
    assert lab.is_empty()


def test_a_second_name_at_an_address_leaves_with_it_although_the_first_has_unregistered() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", filters=["f"])
    lab.register_broker("b", 0, addr="x")
    lab.unregister_broker("b", 0, addr="x")
    assert lab.addrs_by_id("a") == {0: "x"}
    assert record_heartbeat(lab.tables, ("c", "x"), 1) is None
    lab.close_channel(1)
    assert lab.is_empty()


def test_a_broker_leaves_although_its_address_was_unregistered_in_its_cluster_under_another_name() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", cluster="c")
    lab.register_broker("b", 0, addr="x", cluster="d")
    lab.unregister_broker("a", 0, addr="x", cluster="d")
    assert lab.addrs_by_id("b") == {0: "x"}
    lab.expire_channels(120_001)
    assert lab.is_empty()


def test_a_name_leaves_although_another_name_of_its_address_was_refused() -> None:
    lab = TableHarness()
    lab.register_broker("b", 0, addr="x")
    lab.register_broker("a", 0, addr="y", version=DataVersion(1, 5, 1), channel=2)
    lab.register_broker("a", 0, addr="x", version=DataVersion(1, 4, 1))
    assert lab.addrs_by_id("b") == {0: "x"}
    lab.close_channel(1)
    assert lab.addrs_by_id("b") == {}


# Silences.


def test_a_silence_is_told_once_when_three_quarters_of_the_time_are_over() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, now=0, timeout=10_000)
    assert lab.detect_silence(7_500) == []
    assert lab.detect_silence(7_501) == [HeartbeatGap("c", "a", 0, "a0", 7_501, resumed=False)]
    assert lab.detect_silence(9_000) == []


def test_who_is_heard_of_or_leaves_during_the_search_is_not_reported() -> None:
    lab = TableHarness()
    for name in "abc":
        lab.register_broker(name, 0, now=0, timeout=10_000)
    steps = detect_silent_brokers(lab.tables, 8_000)
    assert next(steps) == [HeartbeatGap("c", "a", 0, "a0", 8_000, resumed=False)]
    record_heartbeat(lab.tables, ("c", "b0"), 8_000)
    lab.unregister_broker("c", 0)
    assert list(steps) == []


def test_the_sign_of_life_that_ends_a_silence_tells_how_long_it_was() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, now=0, timeout=10_000)
    lab.detect_silence(8_000)
    assert end_silence(lab.tables, KEY, 9_000) == [HeartbeatGap("c", "a", 0, "a0", 9_000, resumed=True)]
    record_heartbeat(lab.tables, KEY, 9_000)
    assert end_silence(lab.tables, KEY, 9_001) == []
    assert lab.detect_silence(10_000) == []


def test_a_silence_that_nobody_looked_at_is_told_when_it_ends() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, now=0, timeout=10_000)
    lab.register_broker("a", 0, now=8_000, timeout=10_000)
    assert lab.events == [HeartbeatGap("c", "a", 0, "a0", 8_000, resumed=True)]


def test_nobody_is_missed_that_is_unknown_or_holds_no_place() -> None:
    lab = TableHarness()
    assert end_silence(lab.tables, KEY, 50) == []
    lab.register_broker("a", 0, addr="x", now=0, timeout=10)
    lab.register_broker("a", 0, addr="y", now=5, timeout=1_000)
    assert lab.detect_silence(100) == []


def test_how_long_each_address_was_silent() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, now=1000, timeout=10_000)
    lab.register_broker("b", 0, now=4000)
    assert silences_by_addr(lab.tables, 5000) == {"a0": (4000, 10_000), "b0": (1000, 120_000)}
    assert silences_by_addr(lab.tables, 500) == {"a0": (0, 10_000), "b0": (0, 120_000)}
