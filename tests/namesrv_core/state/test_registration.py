"""Brokers register and unregister: the steps of `RouteInfoManager#registerBroker` in their order."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesrv_core.errors import RequestError
from namesrv_core.events import (
    AddressConflict,
    BrokerChanged,
    BrokerInfo,
    BrokerRegistered,
    BrokerUnregistered,
    HeartbeatGap,
    MappingChange,
    MappingsChanged,
    MinBrokerIdChanged,
    QueueData,
    RegistrationRefused,
    TopicChange,
    TopicChanges,
    TopicsChanged,
    group_topic_changes,
)
from namesrv_core.protocol.json_bodies import DataVersion, MappingInfo
from namesrv_core.protocol.registration_codec import BrokerRegistration, RegisteredTopicConfig
from namesrv_core.state import registration, route_tables
from namesrv_core.state.broker_tables import BrokerClaim
from namesrv_core.state.registration import (
    DEFAULT_TIMEOUT_MS,
    MasterAddress,
    RegistrationPreview,
    preview_registration,
)
from namesrv_core.state.route_tables import RouteTables
from namesrv_core.state.unregistration import RegisteredPlace, unregister_brokers
from tests.support.brokers import TableHarness, make_queue, make_topic

KEY = ("c", "a0")


def state_version(number: int) -> DataVersion:
    return DataVersion(1, number, 1)


# Steps 1 and 2: cluster and group.


def test_a_new_broker_is_listed_in_its_cluster_and_group() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="1.1.1.1:10911")
    assert lab.tables.broker_names_by_cluster == {"c": {"a": None}}
    assert lab.addrs_by_id() == {0: "1.1.1.1:10911"}
    assert lab.tables.broker_groups["a"].cluster_name == "c"


def test_a_registration_says_who_came_and_with_what() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", make_topic("U", 4)])
    assert lab.events == [
        BrokerRegistered("c", "a", 0, "a0", 2, info=BrokerInfo("ha-a0", 120_000, DataVersion(1, 0, 1))),
        TopicsChanged(
            "a",
            "registration",
            group_topic_changes(
                [TopicChange("T", None, make_queue("a")), TopicChange("U", None, make_queue("a", 4))]
            ),
        ),
    ]


def test_a_registration_and_its_end_tell_filter_servers_and_mappings() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, filters=["f:1", "f:2"], mappings={"T": INFO})
    registered, _, mapped = lab.events
    assert isinstance(registered, BrokerRegistered)
    assert registered.info is not None
    assert registered.info.filter_servers == ("f:1", "f:2")
    assert mapped == MappingsChanged("a", (MappingChange("T", "a", None, INFO),))
    lab.register_broker("a", 0, filters=["f:1", "f:2"], mappings={"T": INFO}, version=2)
    assert not any(isinstance(event, MappingsChanged) for event in lab.events)
    lab.register_broker("a", 0, filters=["f:1", "f:2"], mappings={"T": OTHER}, version=3)
    assert lab.events[-1] == MappingsChanged("a", (MappingChange("T", "a", INFO, OTHER),))


def test_a_broker_name_used_by_a_second_cluster_stays_in_its_first_and_both_list_it() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 1, cluster="d")
    assert lab.tables.broker_groups["a"].cluster_name == "c"
    assert lab.tables.broker_names_by_cluster == {"c": {"a": None}, "d": {"a": None}}


def test_a_group_that_is_gone_is_listed_by_no_cluster() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=1)
    lab.register_broker("a", 1, cluster="d", channel=2)
    lab.unregister_broker("a", 1, cluster="d")
    lab.unregister_broker("a", 0)
    assert lab.is_empty()


# Step 3: what a group is, the last one to register says.


def test_acting_master_and_zone_are_those_of_the_last_registration_of_the_group() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, acting=True, zone="z1")
    lab.register_broker("a", 1, acting=False, zone="z2")
    group = lab.tables.broker_groups["a"]
    assert (group.enable_acting_master, group.zone_name) == (False, "z2")
    lab.register_broker("a", 0, acting=None)
    assert (group.enable_acting_master, group.zone_name) == (False, None)


# Steps 4 and 14: the smallest id.


def min_changes(lab: TableHarness) -> list[MinBrokerIdChanged]:
    return [event for event in lab.events if isinstance(event, MinBrokerIdChanged)]


def test_the_first_member_of_a_group_changes_no_smallest_id() -> None:
    lab = TableHarness()
    lab.register_broker("a", 1)
    assert min_changes(lab) == []


def test_a_smaller_id_is_told_to_all_but_itself_with_its_ha_address() -> None:
    lab = TableHarness()
    lab.register_broker("a", 2)
    lab.register_broker("a", 3)
    lab.register_broker("a", 0)
    assert min_changes(lab) == [MinBrokerIdChanged("a", 0, "a0", None, "ha-a0", ("a2", "a3"))]


def test_a_slave_of_a_master_and_a_heartbeat_change_no_smallest_id() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 1)
    assert min_changes(lab) == []
    lab.register_broker("a", 0)
    assert min_changes(lab) == []


def test_a_slave_that_becomes_the_only_master_is_told_itself() -> None:
    lab = TableHarness()
    lab.register_broker("a", 1, addr="x")
    lab.register_broker("a", 0, addr="x")
    (event,) = min_changes(lab)
    assert event.recipients == ("x",)


# Step 5: a role switch.


def test_an_address_that_registers_with_another_id_leaves_its_old_one() -> None:
    lab = TableHarness()
    lab.register_broker("a", 1, addr="x")
    lab.register_broker("a", 0, addr="x")
    assert lab.addrs_by_id() == {0: "x"}
    lab.register_broker("a", 2, addr="x")
    assert lab.addrs_by_id() == {2: "x"}


# Step 6: two addresses want one place.


def test_another_address_with_a_higher_state_version_takes_over() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", version=state_version(1))
    lab.register_broker("a", 0, addr="y", version=state_version(2))
    assert lab.addrs_by_id() == {0: "y"}
    assert lab.events == [
        AddressConflict("c", "a", 0, "y", holder_name="a", holder_addr="x", silent_millis=0),
        BrokerRegistered(
            "c", "a", 0, "y", 2, replaced="x", info=BrokerInfo("ha-a0", 120_000, state_version(2))
        ),
    ]


def test_a_second_name_at_an_address_is_told_once() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", now=0)
    lab.register_broker("b", 0, addr="x", now=700)
    assert lab.events[0] == AddressConflict(
        "c", "b", 0, "x", holder_name="a", holder_addr="x", silent_millis=700
    )
    for name in ("a", "b", "a"):
        lab.register_broker(name, 0, addr="x", now=800)
        assert not [event for event in lab.events if isinstance(event, AddressConflict)]


def test_the_same_address_in_another_cluster_is_no_conflict() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x")
    lab.register_broker("b", 0, addr="x", cluster="d")
    assert [type(event) for event in lab.events] == [BrokerRegistered, TopicsChanged]


def test_another_address_with_the_same_state_version_takes_over() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", version=state_version(2))
    lab.register_broker("a", 0, addr="y", version=state_version(2))
    assert lab.addrs_by_id() == {0: "y"}


def test_another_address_with_a_lower_state_version_gets_an_empty_answer_and_no_place() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", version=state_version(2))
    master = lab.register_broker("a", 0, addr="y", version=state_version(1))
    assert master == MasterAddress()
    assert lab.addrs_by_id() == {0: "x"}
    assert list(lab.tables.live_brokers) == [("c", "x")]
    _, refusal = lab.events
    reason = "x has a higher stateVersion"
    assert refusal == RegistrationRefused(
        "c", "a", 0, "y", reason, enable_acting_master=False, zone_name=None
    )


def test_an_outdated_master_that_was_a_slave_loses_that_place_and_keeps_its_filters() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", version=state_version(2))
    lab.register_broker("a", 1, addr="y", version=state_version(1), filters=["f"])
    lab.register_broker("a", 0, addr="y", version=state_version(1))
    assert lab.addrs_by_id() == {0: "x"}
    assert list(lab.tables.live_brokers) == [("c", "x")]
    assert lab.tables.filter_servers == {("c", "y"): ["f"]}
    lab.register_broker("a", 1, addr="y", version=state_version(1), filters=None)
    assert lab.tables.filter_servers == {("c", "y"): ["f"]}
    lab.unregister_broker("a", 1, addr="y")
    assert lab.tables.filter_servers == {}


def test_a_lower_state_version_takes_over_from_an_address_that_is_not_alive() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x", version=state_version(2))
    del lab.tables.live_brokers["c", "x"]
    lab.register_broker("a", 0, addr="y", version=state_version(1))
    assert lab.addrs_by_id() == {0: "y"}


def test_the_same_address_may_register_with_a_lower_state_version() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, version=state_version(2))
    lab.register_broker("a", 0, version=state_version(1))
    live = lab.tables.live_brokers[KEY]
    assert live.data_version is not None
    assert live.data_version.state_version == 1


# Step 7: a new broker with a single topic.


def test_a_broker_that_is_not_known_cannot_begin_with_one_topic() -> None:
    lab = TableHarness()
    before = lab.copy_tables()
    with pytest.raises(RequestError, match=r": register broker failed$"):
        lab.register_broker("a", 0, ["T"])
    assert lab.copy_tables() == before


def test_a_new_member_of_a_known_group_cannot_begin_with_one_topic_either() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, acting=True, zone="z")
    lab.register_broker("a", 1, addr="x", acting=True, zone="z")
    before = lab.copy_tables()
    with pytest.raises(RequestError):
        lab.register_broker("a", 2, ["T"], addr="x", acting=False, zone="other", filters=["f"])
    assert lab.copy_tables() == before


@pytest.mark.parametrize("topics", [[], None, ["T", "U"]])
def test_a_broker_that_is_not_known_may_begin_with_no_topic_or_with_two(topics: list[str] | None) -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, topics)
    assert lab.addrs_by_id() == {0: "a0"}


def test_a_known_broker_may_register_one_topic() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 0, ["V"], version=2)
    assert set(lab.perms_by_topic()) == {"T", "U", "V"}


# Atomicity (step 15 upstream: half applied).


@pytest.mark.parametrize("known", [False, True])
def test_a_registration_with_a_topic_without_name_changes_nothing(known: bool) -> None:
    lab = TableHarness()
    if known:
        lab.register_broker("a", 0)
    before = lab.copy_tables()
    with pytest.raises(RequestError, match="topicName"):
        lab.register_broker("a", 0, ["T", make_topic(None), "V"], version=2, acting=True, filters=["f"])
    assert lab.copy_tables() == before


@pytest.mark.parametrize("known", [False, True])
def test_a_registration_with_a_null_mapping_changes_nothing(known: bool) -> None:
    lab = TableHarness()
    if known:
        lab.register_broker("a", 0)
    before = lab.copy_tables()
    with pytest.raises(RequestError, match="mapping"):
        lab.register_broker(
            "a", 0, ["V", "W"], version=2, mappings={"V": MappingInfo("V", bname="a"), "W": None}
        )
    assert lab.copy_tables() == before


# Steps 8, 9 and 10: whose topics are stored.


def test_topics_of_a_slave_are_not_stored() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("a", 1, ["V", "W"], acting=True)
    assert set(lab.perms_by_topic()) == {"T", "U"}


def test_topics_of_the_smallest_slave_without_a_master_are_stored() -> None:
    lab = TableHarness()
    lab.register_broker("a", 2, ["T", "U"], acting=False)
    assert lab.perms_by_topic() == {"T": 6, "U": 6}
    lab.register_broker("a", 3, ["V", "W"], acting=False)
    assert set(lab.perms_by_topic()) == {"T", "U"}


def test_topics_of_a_slave_that_acts_as_master_are_read_only() -> None:
    lab = TableHarness()
    lab.register_broker("a", 1, [make_topic("T", 7), make_topic("U", 2), make_topic("V", 0x1F6)], acting=True)
    assert lab.perms_by_topic() == {"T": 5, "U": 0, "V": 0x1F4}


def test_topics_of_a_slave_of_4_x_are_never_stored() -> None:
    lab = TableHarness()
    lab.register_broker("a", 1, acting=None)
    assert lab.perms_by_topic() == {}
    assert lab.addrs_by_id() == {1: "a1"}


def test_a_master_that_comes_back_makes_the_topics_writable_again() -> None:
    lab = TableHarness()
    lab.register_broker("a", 1, acting=True)
    assert lab.perms_by_topic() == {"T": 4, "U": 4}
    lab.register_broker("a", 0, acting=True)
    assert lab.perms_by_topic() == {"T": 6, "U": 6}


def test_topics_are_named_by_their_configs_and_not_by_the_keys_of_the_table() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 0, [make_topic("V")], version=2)
    assert "V" in lab.perms_by_topic()


def test_a_null_topic_table_registers_the_broker_without_topics() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, None)
    assert lab.perms_by_topic() == {}
    assert lab.tables.live_brokers[KEY].data_version == DataVersion(1, 0, 1)


def test_a_topic_changes_with_another_data_version() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 0, [make_topic("T", 4), make_topic("U", queues=16)], version=2)
    assert lab.queues == {"T": {"a": make_queue("a", 4)}, "U": {"a": make_queue("a", queues=16)}}
    assert lab.events == [
        BrokerChanged("c", "a", 0, "a0", 2, info=BrokerInfo("ha-a0", 120_000, DataVersion(2, 0, 1))),
        TopicsChanged(
            "a",
            "registration",
            group_topic_changes(
                [
                    TopicChange("T", make_queue("a"), make_queue("a", 4)),
                    TopicChange("U", make_queue("a"), make_queue("a", queues=16)),
                ]
            ),
        ),
    ]


@pytest.mark.parametrize("version", [DataVersion(2, 0, 1), DataVersion(1, 1, 1), DataVersion(1, 0, 2)])
def test_a_data_version_is_another_if_one_of_its_parts_is(version: DataVersion) -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, version=DataVersion(1, 0, 1))
    lab.register_broker("a", 0, [make_topic("T", 4), "U"], version=version)
    assert lab.perms_by_topic() == {"T": 4, "U": 6}


def test_a_topic_does_not_change_while_the_data_version_is_the_same() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 0, [make_topic("T", 4), "U"])
    assert lab.perms_by_topic() == {"T": 6, "U": 6}
    assert lab.events == []


def test_a_topic_that_is_new_is_added_while_the_data_version_is_the_same() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("b", 0, ["V", "W"], channel=2)
    lab.register_broker("a", 0, [make_topic("T", 4), "V", make_topic("X", 2)])
    assert lab.perms_by_topic() == {"T": 6, "U": 6, "V": 6, "X": 2}


def test_a_registration_without_a_data_version_always_counts_as_changed() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, version=None)
    lab.register_broker("a", 0, [make_topic("T", 4), "U"], version=None)
    assert lab.perms_by_topic() == {"T": 4, "U": 6}


def test_a_topic_missing_from_a_registration_stays() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("a", 0, ["T"], version=2)
    assert set(lab.perms_by_topic()) == {"T", "U"}


def test_a_topic_missing_from_a_registration_goes_where_the_settings_say_so() -> None:
    lab = TableHarness(delete_missing_topics=True)
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("b", 0, ["U", "V"], channel=2)
    lab.register_broker("a", 0, ["T"], version=2)
    assert lab.queues == {
        "T": {"a": make_queue("a")},
        "U": {"b": make_queue("b")},
        "V": {"b": make_queue("b")},
    }
    assert (
        TopicsChanged("a", "registration", group_topic_changes([TopicChange("U", make_queue("a"), None)]))
        in lab.events
    )


def test_a_null_topic_table_deletes_nothing_and_its_queue_mappings_are_not_stored() -> None:
    lab = TableHarness(delete_missing_topics=True)
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("a", 0, None, version=2, mappings={"T": INFO})
    assert set(lab.perms_by_topic()) == {"T", "U"}
    assert lab.tables.queue_mappings == {}
    assert lab.tables.live_brokers[KEY].data_version == DataVersion(2, 0, 1)


def test_nothing_is_deleted_by_a_registration_with_queue_mappings() -> None:
    lab = TableHarness(delete_missing_topics=True)
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("a", 0, ["T"], version=2, mappings={"T": MappingInfo("T", bname="a")})
    assert set(lab.perms_by_topic()) == {"T", "U"}


# Step 10c: queue mappings.

INFO = MappingInfo("T", total_queues=2, bname="a")
OTHER = MappingInfo("T", total_queues=4, bname="a")


def test_queue_mappings_are_stored_with_the_first_and_every_changed_registration() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, mappings={"T": INFO})
    assert lab.tables.queue_mappings == {"T": {"a": INFO}}
    lab.register_broker("a", 0, mappings={"T": OTHER})
    assert lab.tables.queue_mappings == {"T": {"a": INFO}}
    lab.register_broker("a", 0, mappings={"T": OTHER}, version=2)
    assert lab.tables.queue_mappings == {"T": {"a": OTHER}}


def test_a_queue_mapping_goes_with_the_queues_of_its_broker() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, mappings={"T": INFO})
    lab.register_broker("b", 0, mappings={"T": INFO._replace(bname="b")}, channel=2)
    lab.unregister_broker("a", 0)
    assert set(lab.tables.queue_mappings["T"]) == {"b"}
    lab.unregister_broker("b", 0)
    assert lab.tables.queue_mappings == {}


# Step 11: signs of life.


def test_a_registration_is_a_sign_of_life_with_time_limit_version_channel_and_ha_address() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7, now=5, timeout=10_000)
    live = lab.tables.live_brokers[KEY]
    assert (live.heard_at_ms, live.timeout_ms, live.data_version) == (5, 10_000, DataVersion(1, 0, 1))
    assert (live.channel_id, live.ha_server_addr) == (7, "ha-a0")


def test_a_broker_that_names_no_time_limit_has_two_minutes() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    assert lab.tables.live_brokers[KEY].timeout_ms == DEFAULT_TIMEOUT_MS == 120_000


def test_the_newest_connection_owns_a_broker() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=1)
    lab.register_broker("a", 0, channel=2)
    assert lab.tables.live_brokers[KEY].channel_id == 2


# Step 12: filter servers.


def test_filter_servers_are_stored_kept_and_removed() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, filters=["f", None])
    assert lab.tables.filter_servers == {KEY: ["f", None]}
    lab.register_broker("a", 0, filters=None)
    assert lab.tables.filter_servers == {KEY: ["f", None]}
    lab.register_broker("a", 0, filters=[])
    assert lab.tables.filter_servers == {}


# Step 13: what a slave is told.


def test_a_slave_is_told_its_master_and_where_to_replicate_from() -> None:
    lab = TableHarness()
    assert lab.register_broker("a", 0) == MasterAddress()
    assert lab.register_broker("a", 1) == MasterAddress("a0", "ha-a0")


def test_a_slave_without_a_master_is_told_nothing() -> None:
    lab = TableHarness()
    assert lab.register_broker("a", 1) == MasterAddress()


def test_a_slave_whose_master_is_not_alive_in_its_cluster_is_told_nothing() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    assert lab.register_broker("a", 1, cluster="d") == MasterAddress()
    del lab.tables.live_brokers[KEY]
    assert lab.register_broker("a", 1) == MasterAddress()


# Generation: moves with every answer about routes that may change.


def test_an_unchanged_heartbeat_does_not_move_the_generation() -> None:
    lab = TableHarness()
    for _ in range(2):
        lab.register_broker("a", 0, mappings={"T": INFO}, filters=["f"], acting=True, zone="z")
        lab.register_broker("a", 1, filters=[], acting=True, zone="z", channel=2)
    before = lab.tables.generation
    lab.register_broker(
        "a", 0, mappings={"T": INFO}, filters=["f"], acting=True, zone="z", now=30_000, channel=3
    )
    lab.register_broker("a", 1, filters=[], acting=True, zone="z", now=30_000, channel=4)
    assert lab.tables.generation == before
    assert lab.events == []


@pytest.mark.parametrize(
    "change",
    [
        {"addr": "x"},
        {"zone": "z"},
        {"acting": True},
        {"filters": ["f"]},
        {"version": 2, "topics": ["T", make_topic("U", 4)]},
        {"topics": ["T", "U", "V"]},
        {"version": 2, "mappings": {"T": INFO}},
        {"broker_id": 1},
        {"name": "b"},
    ],
    ids=lambda change: "+".join(change),
)
def test_a_changed_registration_moves_the_generation(change: dict[str, object]) -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    before = lab.tables.generation
    lab.register_broker(**change)  # type: ignore[arg-type]
    assert lab.tables.generation > before


# Unregistration.


def test_the_last_broker_that_leaves_takes_all_with_it() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, mappings={"T": INFO}, filters=["f"], channel=7)
    before = lab.tables.generation
    assert lab.unregister_broker("a", 0) == [
        BrokerUnregistered("c", "a", 0, "a0", "unregistered", 7),
        TopicsChanged(
            "a",
            "unregistration",
            group_topic_changes(
                [TopicChange("T", make_queue("a"), None), TopicChange("U", make_queue("a"), None)]
            ),
        ),
        MappingsChanged("a", (MappingChange("T", "a", INFO, None),)),
    ]
    assert lab.is_empty()
    assert lab.tables.generation > before


def test_a_broker_leaves_by_its_address_whatever_id_it_names() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 1)
    lab.unregister_broker("a", 0, addr="a1")
    assert lab.addrs_by_id() == {0: "a0"}


def test_a_stale_unregistration_does_not_harm_the_broker_at_another_address() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x")
    lab.register_broker("a", 0, addr="y")
    lab.unregister_broker("a", 0, addr="x")
    assert lab.addrs_by_id() == {0: "y"}
    assert lab.perms_by_topic() == {"T": 6, "U": 6}
    assert list(lab.tables.live_brokers) == [("c", "y")]


def test_a_broker_that_nobody_knows_leaves_without_a_trace() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    assert lab.unregister_broker("z", 0) == []
    assert lab.unregister_broker("a", 0, addr="elsewhere") == []
    assert lab.addrs_by_id() == {0: "a0"}


def test_topics_that_another_group_has_too_stay_with_it() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"])
    lab.register_broker("b", 0, ["U", "V"], channel=2)
    lab.unregister_broker("a", 0)
    assert lab.queues == {"U": {"b": make_queue("b")}, "V": {"b": make_queue("b")}}


def test_a_group_that_loses_its_master_keeps_its_topics() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 1)
    lab.unregister_broker("a", 0)
    assert lab.perms_by_topic() == {"T": 6, "U": 6}
    assert min_changes(lab) == []


def test_a_group_with_an_acting_master_that_loses_its_master_becomes_read_only_and_is_told() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, acting=True)
    lab.register_broker("a", 1, acting=True)
    lab.register_broker("a", 2, acting=True)
    lab.unregister_broker("a", 0)
    assert lab.perms_by_topic() == {"T": 4, "U": 4}
    assert min_changes(lab) == [MinBrokerIdChanged("a", 1, "a1", "a0", None, ("a1", "a2"))]


def test_a_slave_that_leaves_takes_no_permission_and_is_not_announced() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, acting=True)
    lab.register_broker("a", 1, acting=True)
    lab.unregister_broker("a", 1)
    assert lab.perms_by_topic() == {"T": 6, "U": 6}
    assert min_changes(lab) == []


def test_many_leave_at_once_and_their_topics_are_cleaned_once_for_all() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, acting=True)
    lab.register_broker("a", 1, acting=True)
    lab.register_broker("b", 0)
    lab.register_broker("d", 0, cluster="d")
    leaving = [
        RegisteredPlace("c", "a", 0, "a0"),
        RegisteredPlace("c", "z", 0, "z0"),
        RegisteredPlace("c", "a", 1, "a1"),
        RegisteredPlace("c", "b", 0, "b0"),
    ]
    events = unregister_brokers(lab.tables, leaving, "unregistered")
    gone = [event for event in events if isinstance(event, BrokerUnregistered)]
    assert [event.broker_addr for event in gone] == ["a0", "a1", "b0"]
    assert lab.tables.broker_names_by_cluster == {"d": {"d": None}}
    assert lab.queues == {"T": {"d": make_queue("d")}, "U": {"d": make_queue("d")}}


def test_a_broker_that_returns_has_its_topics_back_with_the_same_version() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.unregister_broker("a", 0)
    lab.register_broker("a", 0)
    assert lab.perms_by_topic() == {"T": 6, "U": 6}


def test_configs_of_topics_carry_their_sys_flags() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, [RegisteredTopicConfig("T", 1, 2, 4, 3), "U"])
    assert lab.tables.queues_of_topic("T")["a"] == ("a", 1, 2, 4, 3)


def test_a_static_topic_that_was_deleted_here_comes_back_with_its_mapping() -> None:
    lab, info = TableHarness(), MappingInfo("T", bname="a", total_queues=1)
    for _ in range(2):
        lab.register_broker("a", 0, mappings={"T": info})
        lab.tables.drop_queue("T", "a")
    lab.register_broker("a", 0, mappings={"T": info})
    assert lab.tables.queue_mappings == {"T": {"a": info}}


def test_a_topic_that_is_created_again_as_another_does_not_inherit_a_mapping() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, mappings={"T": INFO})
    lab.tables.drop_queue("T", "a")
    lab.register_broker("a", 0, ["T"], version=2)
    assert lab.tables.queue_mappings == {}


def test_a_mapping_without_queues_goes_with_its_broker_group() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, mappings={"X": MappingInfo("X", bname="a")}, channel=7)
    lab.close_channel(7)
    assert lab.is_empty()


WIDE, NARROW = QueueData("a", 16, 16, 6, 0), QueueData("a", 4, 4, 6, 0)


def looked(
    known: RouteTables, topics: Mapping[str, RegisteredTopicConfig], name: str = "a"
) -> tuple[RegistrationPreview | None, int]:
    """What is foreseen for a broker, and the number of steps that took."""
    steps, pauses = preview_registration(known, name, topics), 0
    try:
        while True:
            next(steps)
            pauses += 1
    except StopIteration as ended:
        preview_result: RegistrationPreview | None = ended.value
        return preview_result, pauses


def configs(*names: str) -> dict[str, RegisteredTopicConfig]:
    return {name: RegisteredTopicConfig(name) for name in names}


@pytest.fixture
def known_tables() -> RouteTables:
    tables = RouteTables()
    tables.set_queue("same", WIDE)
    tables.set_queue("other", NARROW)
    tables.set_queue("of b", QueueData("b", 16, 16, 6, 0))
    return tables


def test_only_what_differs_will_change(known_tables: RouteTables) -> None:
    preview, _ = looked(known_tables, configs("same", "other", "of b", "new"))
    assert preview is not None
    assert preview.apply_to_tables(known_tables, new_only=False) == (
        TopicChanges(("other",), NARROW, WIDE),
        TopicChanges(("of b", "new"), None, WIDE),
    )


@pytest.mark.parametrize("new_only", [False, True])
def test_what_is_applied_is_what_is_there(known_tables: RouteTables, new_only: bool) -> None:
    preview, _ = looked(known_tables, configs("other", "new"))
    assert preview is not None
    applied = preview.apply_to_tables(known_tables, new_only=new_only)
    assert [change.topics for change in applied] == ([("new",)] if new_only else [("other",), ("new",)])
    assert known_tables.queues_of_topic("other")["a"] == (NARROW if new_only else WIDE)
    assert known_tables.queues_of_topic("new") == {"a": WIDE}
    assert not preview.is_current(known_tables)


@pytest.mark.parametrize("version", [1, 2])
def test_a_preview_of_an_unchanged_version_brings_new_topics_only(version: int) -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"])
    wanted = {"T": make_topic("T", queues=4), "new": make_topic("new")}
    preview, _ = looked(lab.tables, wanted)
    claim = BrokerClaim("c", "a", 0, "a0", "ha-a0", None, False, None)
    registration.apply_registration(
        lab.tables, claim, BrokerRegistration(DataVersion(version, 0, 1), wanted, {}, None), channel_id=1,
        now_ms=0, registration_preview=preview,
    )  # fmt: skip
    assert lab.queues["T"] == {"a": make_queue(queues=8 if version == 1 else 4)}
    assert lab.queues["new"] == {"a": make_queue()}


def test_a_repeated_registration_ends_a_silence() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, timeout=100)
    claim = BrokerClaim("c", "a", 0, "a0", "ha-a0", 100, False, None)
    repeat = partial(
        registration.repeat_registration, lab.tables, claim, lab.tables.live_brokers[KEY], channel_id=1
    )
    assert repeat(now_ms=75) == (MasterAddress(), [])
    assert repeat(now_ms=151) == (MasterAddress(), [HeartbeatGap("c", "a", 0, "a0", 76, True)])
    assert repeat(now_ms=152) == (MasterAddress(), [])


def test_a_repeated_registration_may_come_over_another_channel() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=1)
    claim = BrokerClaim("c", "a", 0, "a0", "ha-a0", None, False, None)
    registration.repeat_registration(lab.tables, claim, lab.tables.live_brokers[KEY], channel_id=2, now_ms=1)
    assert lab.close_channel(1) == []
    assert len(lab.close_channel(2)) == 2
    assert lab.is_empty()


def test_who_brings_or_drops_the_same_topics_meanwhile_loses_nothing(known_tables: RouteTables) -> None:
    preview, _ = looked(known_tables, configs("new", "newer", "of b"))
    assert preview is not None
    new = QueueData("b", 1, 1, 6, 0)
    known_tables.set_queue("new", new)
    known_tables.drop_queue("of b", "b")
    assert preview.is_current(known_tables)
    preview.apply_to_tables(known_tables, new_only=False)
    assert known_tables.queues_of_topic("new") == {"b": new, "a": WIDE}
    assert known_tables.queues_of_topic("newer") == known_tables.queues_of_topic("of b") == {"a": WIDE}


def test_a_topic_that_goes_and_comes_back_meanwhile_is_put_where_it_is(known_tables: RouteTables) -> None:
    preview, _ = looked(known_tables, configs("of b"))
    assert preview is not None
    known_tables.drop_queue("of b", "b")
    known_tables.set_queue("of b", QueueData("c", 1, 1, 6, 0))
    preview.apply_to_tables(known_tables, new_only=False)
    assert known_tables.queues_of_topic("of b").keys() == {"c", "a"}


def test_topics_stand_in_the_order_they_were_brought_in(known_tables: RouteTables) -> None:
    preview, _ = looked(
        known_tables,
        {"new": RegisteredTopicConfig("new"), "y": RegisteredTopicConfig("y", 1), **configs("of b", "z")},
    )
    assert preview is not None
    preview.apply_to_tables(known_tables, new_only=False)
    assert list(known_tables.placements_by_topic) == ["same", "other", "of b", "new", "y", "z"]


def test_a_new_topic_keeps_its_queues_if_all_topics_that_had_such_queues_change_before_it() -> None:
    tables = RouteTables()
    look_and_put(tables, "a", {"T": RegisteredTopicConfig("T", 4)})
    look_and_put(tables, "a", {"T": RegisteredTopicConfig("T", 8), "U": RegisteredTopicConfig("U", 4)})
    assert tables.queues_of_topic("T") == {"a": QueueData("a", 8, 16, 6, 0)}
    assert tables.queues_of_topic("U") == {"a": QueueData("a", 4, 16, 6, 0)}


def test_topics_that_are_all_placed_alike_and_change_alike_stay_together(known_tables: RouteTables) -> None:
    for number in range(100):
        known_tables.set_queue(f"t{number}", NARROW)
    place = known_tables.placements_by_topic["t7"]
    preview, _ = looked(known_tables, configs("other", *(f"t{number}" for number in range(100))))
    assert preview is not None
    preview.apply_to_tables(known_tables, new_only=False)
    assert known_tables.placements_by_topic["t7"] is known_tables.placements_by_topic["other"] is place
    assert (place.broker_queues, place.topic_count) == ({"a": WIDE}, 101)


def look_and_put(known: RouteTables, name: str, topics: Mapping[str, RegisteredTopicConfig]) -> None:
    preview, _ = looked(known, topics, name)
    assert preview is not None
    preview.apply_to_tables(known, new_only=False)


def put_one_by_one(known: RouteTables, name: str, topics: Mapping[str, RegisteredTopicConfig]) -> None:
    for topic, config in topics.items():
        known.set_queue(topic, QueueData(name, config.readQueueNums, 16, 6, 0))


def wiped(queue: QueueData) -> QueueData | None:
    return queue._replace(perm=4)


def gone(queue: QueueData) -> QueueData | None:
    return None


def change_one_by_one(
    known: RouteTables, name: str, change: Callable[[QueueData], QueueData | None]
) -> tuple[TopicChanges, ...]:
    changes = []
    for topic in known.topics_of_broker(name):
        after = change(known.queues_of_topic(topic)[name])
        changes.append(known.drop_queue(topic, name) if after is None else known.set_queue(topic, after))
    return group_topic_changes(changes)


def told(changes: tuple[TopicChanges, ...]) -> dict[tuple[QueueData | None, QueueData | None], list[str]]:
    """The names in no order."""
    return {(before, after): sorted(topics) for topics, before, after in changes}


def contents(known: RouteTables) -> dict[str, list[tuple[str, QueueData]]]:
    """The queues of each topic in their order."""
    for placement, count in Counter(known.placements_by_topic.values()).items():
        assert placement.topic_count == count
    return {t: list(p.broker_queues.items()) for t, p in known.placements_by_topic.items()}


def drawn(data: st.DataObject) -> dict[str, RegisteredTopicConfig]:
    names = data.draw(st.lists(st.sampled_from("TUVWXYZ"), unique=True))
    return {name: RegisteredTopicConfig(name, data.draw(st.sampled_from([4, 8]))) for name in names}


@given(st.data())
def test_what_is_put_at_once_is_what_is_put_one_after_the_other(data: st.DataObject) -> None:
    """Others do what they like between the look and the putting."""
    at_once, one_by_one = RouteTables(), RouteTables()
    for name in data.draw(st.lists(st.sampled_from("abc"))):
        topics = drawn(data)
        look_and_put(at_once, name, topics)
        put_one_by_one(one_by_one, name, topics)
    topics = drawn(data)
    found, _ = looked(at_once, topics)
    assert found is not None
    for what in data.draw(st.lists(st.sampled_from(["put", "drop", "register", "wipe", "unregister"]))):
        topic, name = data.draw(st.sampled_from("TUVWXYZ")), data.draw(st.sampled_from("bc"))
        for made in (at_once, one_by_one):
            if what == "put":
                made.set_queue(topic, QueueData(name, 8, 8, 6, 0))
            elif what == "drop":
                made.drop_queue(topic, name)
        if what == "register":
            others = drawn(data)
            look_and_put(at_once, name, others)
            put_one_by_one(one_by_one, name, others)
        elif what in ("wipe", "unregister"):
            change = wiped if what == "wipe" else gone
            assert told(at_once.change_all_queues(name, change)) == told(
                change_one_by_one(one_by_one, name, change)
            )
    assert found.is_current(at_once)
    found.apply_to_tables(at_once, new_only=False)
    put_one_by_one(one_by_one, "a", topics)
    assert contents(at_once) == contents(one_by_one)


def test_it_holds_until_queues_of_that_broker_change(known_tables: RouteTables) -> None:
    preview, _ = looked(known_tables, configs("new"))
    assert preview is not None
    known_tables.set_queue("new", QueueData("b", 1, 1, 6, 0))
    known_tables.set_queue("same", WIDE)
    assert preview.is_current(known_tables)
    known_tables.drop_queue("same", "a")
    assert not preview.is_current(known_tables)
    preview, _ = looked(known_tables, configs("new"))
    assert preview is not None
    known_tables.change_all_queues("b", wiped)
    assert preview.is_current(known_tables)
    known_tables.change_all_queues("a", wiped)
    assert not preview.is_current(known_tables)


def test_the_placement_of_topics_that_go_has_none(known_tables: RouteTables) -> None:
    place = known_tables.placements_by_topic["of b"]
    known_tables.change_all_queues("b", gone)
    assert (place.topic_count, "of b" in known_tables.placements_by_topic) == (0, False)


def test_it_does_not_hold_where_it_is_not_known_any_more(
    known_tables: RouteTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route_tables, "_MAX_MOVED_BROKERS", 3)
    strange = RouteTables()
    preview, _ = looked(strange, configs("new"))
    assert preview is not None
    for name in "abcd":
        strange.set_queue("T", QueueData(name, 1, 1, 6, 0))
    assert len(strange._last_moves) <= 3
    assert not preview.is_current(strange)


def test_a_topic_under_another_name_is_not_foreseen(known_tables: RouteTables) -> None:
    assert looked(known_tables, {"x": RegisteredTopicConfig("y")})[0] is None
    assert looked(known_tables, {"x": RegisteredTopicConfig(None)})[0] is None


def test_many_topics_take_steps(known_tables: RouteTables) -> None:
    names = [f"t{number}" for number in range(3 * registration._TOPICS_PER_STEP)]
    assert looked(known_tables, configs(*names))[1] == 3
