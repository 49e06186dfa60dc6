"""Write permission taken and given, and what a registration does to it afterwards."""

from collections.abc import Callable

import pytest

from namesrv_core.events import TopicChange, WritePermAdded, WritePermWiped, group_topic_changes
from namesrv_core.state import topics
from namesrv_core.state.write_permissions import add_write_permission, wipe_write_permission
from tests.support.brokers import TableHarness, make_queue, make_topic


def test_wiping_takes_write_and_nothing_else_from_every_topic_of_the_broker() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, [make_topic("T", 7), make_topic("U", 4), make_topic("V", 0x1F6)])
    lab.register_broker("b", 0, ["T", "W"], channel=2)
    event = wipe_write_permission(lab.tables, "a")
    assert lab.perms_by_topic() == {"T": 5, "U": 4, "V": 0x1F4}
    assert lab.perms_by_topic("b") == {"T": 6, "W": 6}
    assert event == WritePermWiped(
        "a",
        3,
        group_topic_changes(
            [
                TopicChange("T", make_queue("a", 7), make_queue("a", 5)),
                TopicChange("V", make_queue("a", 0x1F6), make_queue("a", 0x1F4)),
            ]
        ),
    )


def test_a_request_without_a_broker_changes_nothing() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    before = lab.copy_tables()
    assert wipe_write_permission(lab.tables, None) == WritePermWiped("", 0, ())
    assert add_write_permission(lab.tables, None) == WritePermAdded("", 0, ())
    assert lab.copy_tables() == before


def test_wiping_again_counts_the_topics_and_changes_nothing() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    wipe_write_permission(lab.tables, "a")
    before = lab.copy_tables()
    assert wipe_write_permission(lab.tables, "a") == WritePermWiped("a", 2, ())
    assert lab.copy_tables() == before


def test_adding_makes_every_topic_exactly_readable_and_writable() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, [make_topic("T", 0), make_topic("U", 15), make_topic("V", 6)])
    event = add_write_permission(lab.tables, "a")
    assert lab.perms_by_topic() == {"T": 6, "U": 6, "V": 6}
    assert isinstance(event, WritePermAdded)
    assert (event.topics, [change.topics for change in event.changes]) == (3, [("T",), ("U",)])


@pytest.mark.parametrize("change", [wipe_write_permission, add_write_permission])
@pytest.mark.parametrize("broker", ["z", "", None])
def test_an_unknown_broker_has_no_topics(change: Callable[..., WritePermWiped], broker: str | None) -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    before = lab.copy_tables()
    event = change(lab.tables, broker)
    assert (event.topics, event.changes) == (0, ())
    assert lab.copy_tables() == before


def test_the_generation_moves_when_a_permission_does() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0)
    before = lab.tables.generation
    wipe_write_permission(lab.tables, "a")
    between = lab.tables.generation
    add_write_permission(lab.tables, "a")
    assert before < between < lab.tables.generation


@pytest.fixture
def wiped_lab() -> TableHarness:
    """Broker a with topics T and U on channel 1, wiped."""
    lab = TableHarness()
    lab.register_broker("a", 0)
    lab.register_broker("a", 1, channel=9)
    wipe_write_permission(lab.tables, "a")
    return lab


@pytest.mark.parametrize("channel", [1, 2])
def test_the_same_data_version_leaves_the_topics_wiped(wiped_lab: TableHarness, channel: int) -> None:
    wiped_lab.register_broker("a", 0, channel=channel)
    assert wiped_lab.perms_by_topic() == {"T": 4, "U": 4}


def test_another_data_version_gives_permission_back_to_all_topics_of_the_request(
    wiped_lab: TableHarness,
) -> None:
    wiped_lab.register_broker("a", 0, version=2)
    assert wiped_lab.perms_by_topic() == {"T": 6, "U": 6}


def test_an_incremental_registration_restores_its_topic_and_the_next_full_one_no_other(
    wiped_lab: TableHarness,
) -> None:
    wiped_lab.register_broker("a", 0, ["U"], version=2)
    assert wiped_lab.perms_by_topic() == {"T": 4, "U": 6}
    wiped_lab.register_broker("a", 0, version=2)
    assert wiped_lab.perms_by_topic() == {"T": 4, "U": 6}


def test_a_topic_registered_by_itself_restores_it_and_the_next_full_registration_all(
    wiped_lab: TableHarness,
) -> None:
    topics.register_topic_queues(wiped_lab.tables, "U", [make_queue("a")])
    assert wiped_lab.perms_by_topic() == {"T": 4, "U": 6}
    wiped_lab.register_broker("a", 0, version=2)
    assert wiped_lab.perms_by_topic() == {"T": 6, "U": 6}


def test_a_broker_that_lost_its_connection_and_returns_has_all_restored(wiped_lab: TableHarness) -> None:
    wiped_lab.close_channel(1)
    wiped_lab.register_broker("a", 0)
    assert wiped_lab.perms_by_topic() == {"T": 6, "U": 6}


def test_a_broker_that_expired_and_returns_has_all_restored(wiped_lab: TableHarness) -> None:
    wiped_lab.expire_channels(120_001)
    wiped_lab.register_broker("a", 0)
    assert wiped_lab.perms_by_topic() == {"T": 6, "U": 6}


def test_a_broker_that_unregistered_and_returns_has_all_restored(wiped_lab: TableHarness) -> None:
    wiped_lab.unregister_broker("a", 0)
    wiped_lab.register_broker("a", 0)
    assert wiped_lab.perms_by_topic() == {"T": 6, "U": 6}


def test_a_broker_with_another_address_has_all_restored(wiped_lab: TableHarness) -> None:
    wiped_lab.register_broker("a", 0, addr="elsewhere")
    assert wiped_lab.perms_by_topic() == {"T": 6, "U": 6}


def test_a_slave_that_becomes_master_has_all_restored(wiped_lab: TableHarness) -> None:
    wiped_lab.unregister_broker("a", 0)
    wiped_lab.register_broker("a", 0, addr="a1")
    assert wiped_lab.perms_by_topic() == {"T": 6, "U": 6}


def test_a_topic_deleted_and_registered_again_is_restored_alone(wiped_lab: TableHarness) -> None:
    topics.delete_topic(wiped_lab.tables, "U", None)
    wiped_lab.register_broker("a", 0)
    assert wiped_lab.perms_by_topic() == {"T": 4, "U": 6}


def test_a_topic_that_came_after_the_wipe_is_writable_beside_wiped_ones(wiped_lab: TableHarness) -> None:
    wiped_lab.register_broker("a", 0, ["T", "U", "V"])
    assert wiped_lab.perms_by_topic() == {"T": 4, "U": 4, "V": 6}


def test_topics_that_were_wiped_alike_have_one_record_between_them() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, ["T", "U"])
    [change] = wipe_write_permission(lab.tables, "a").changes
    assert change.topics == ("T", "U")
    assert lab.tables.placements_by_topic["T"] is lab.tables.placements_by_topic["U"]
