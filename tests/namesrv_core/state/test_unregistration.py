"""Brokers leave one after the other, without a look at those that stay, and other requests come between."""

from collections.abc import Iterator
from typing import Any

import pytest

from namesrv_core.events import AddressForgotten, BrokerUnregistered, Event, MinBrokerIdChanged, TopicsChanged
from namesrv_core.state import unregistration
from namesrv_core.state.liveness import end_channel, end_silence, find_expired_brokers, record_heartbeat
from namesrv_core.state.unregistration import Departure, leave_in_steps
from tests.support.brokers import TableHarness


class WatchedTable(dict[Any, Any]):
    """A table that counts the entries which are looked at one after the other."""

    looked_at = 0

    def __iter__(self) -> Iterator[Any]:
        for key in super().__iter__():
            self.looked_at += 1
            yield key

    def keys(self) -> Any:
        return list(self)

    def values(self) -> Any:
        return [self[key] for key in self]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]


def watch(lab: TableHarness) -> dict[str, WatchedTable]:
    """Count the searches in the tables that have an entry for each broker, cluster, topic or mapping."""
    names = (
        "broker_groups", "live_brokers", "broker_names_by_cluster", "placements_by_topic", "queue_mappings",
        "filter_servers",
    )  # fmt: skip
    watched = {name: WatchedTable(getattr(lab.tables, name)) for name in names}
    for name, table in watched.items():
        setattr(lab.tables, name, table)
    return watched


def crowded() -> TableHarness:
    """Brokers with topics, each in a cluster of its own, on channels 100 and up."""
    lab = TableHarness()
    for number in range(20):
        lab.register_broker(f"other{number}", 0, cluster=f"c{number}", channel=100 + number, filters=["f"])
    return lab


def addrs_gone(events: list[Event]) -> list[str]:
    return [event.broker_addr for event in events if isinstance(event, BrokerUnregistered)]


def test_a_channel_without_brokers_closes_without_a_look_at_any_broker() -> None:
    lab = crowded()
    watched = watch(lab)
    assert lab.close_channel(7) == []
    assert {name: table.looked_at for name, table in watched.items() if table.looked_at} == {}


def test_brokers_without_topics_leave_without_a_look_at_those_that_stay() -> None:
    lab = crowded()
    for number in range(5):
        lab.register_broker(f"b{number}", 0, [], channel=7)
    watched = watch(lab)
    assert len(addrs_gone(lab.close_channel(7))) == 5
    lab.register_broker("b", 0, [], channel=8)
    lab.unregister_broker("b", 0)
    assert {name: table.looked_at for name, table in watched.items() if table.looked_at} == {}


def test_an_old_channel_of_brokers_closes_without_a_look_at_any_other_broker() -> None:
    lab = crowded()
    lab.register_broker("b", 0, [], channel=7)
    lab.register_broker("b", 0, [], channel=8)
    watched = watch(lab)
    assert lab.close_channel(7) == []
    assert watched["live_brokers"].looked_at == 0
    assert lab.tables.live_brokers["c", "b0"].former_channel_ids == set()


def test_all_topics_are_searched_once_for_all_brokers_that_leave_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unregistration, "_ENTRIES_PER_STEP", 4)
    lab = crowded()
    for number in range(10):
        lab.register_broker(f"b{number}", 0, [f"T{number}", f"U{number}"], channel=7)
    topic_count = len(lab.queues)
    watched = watch(lab)
    lab.close_channel(7)
    assert watched["placements_by_topic"].looked_at == topic_count
    assert set(lab.queues) == {"T", "U"}


def test_a_topic_that_is_deleted_during_the_search_costs_no_second_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unregistration, "_ENTRIES_PER_STEP", 4)
    lab = TableHarness()
    for number in range(3):
        lab.register_broker(f"b{number}", 0, [f"T{number}", f"U{number}"], channel=7)
    watched = watch(lab)
    steps = leave_in_steps(lab.tables, [end_channel(lab.tables, 7)])
    # The three brokers, and then the first four topics.
    for _ in range(4):
        next(steps)
    lab.tables.drop_queue("T2", "b2")
    assert [addrs_gone(list(step.events)) for step in steps] == [[], ["b00"], ["b10"], ["b20"]]
    assert (watched["placements_by_topic"].looked_at, lab.is_empty()) == (6, True)


def test_brokers_leave_in_steps_of_one_and_topics_are_searched_in_small_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unregistration, "_ENTRIES_PER_STEP", 4)
    lab = TableHarness()
    for number in range(3):
        lab.register_broker(f"b{number}", 0, [f"T{number}", f"U{number}"], channel=7)
    steps = list(leave_in_steps(lab.tables, [end_channel(lab.tables, 7)]))
    assert [addrs_gone(list(step.events)) for step in steps] == [[]] * 5 + [["b00"], ["b10"], ["b20"]]
    assert lab.is_empty()


def test_a_topic_that_came_after_the_search_goes_with_its_broker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unregistration, "_ENTRIES_PER_STEP", 1)
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7)
    lab.register_broker("b", 0, channel=7)
    steps = leave_in_steps(lab.tables, [end_channel(lab.tables, 7)])
    assert first_with_events(steps).channel_id == 7
    lab.register_broker("b", 1, [], channel=8)
    lab.register_broker("b", 0, ["T", "U", "V"], version=2, channel=7)
    lab.unregister_broker("b", 1)
    assert [type(event) for step in steps for event in step.events] == [BrokerUnregistered, TopicsChanged]
    assert lab.is_empty()


def test_each_step_says_to_which_order_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unregistration, "_ENTRIES_PER_STEP", 1)
    lab = TableHarness()
    for number in range(2):
        lab.register_broker(f"b{number}", 0, [f"T{number}", f"U{number}"], channel=number)
    steps = leave_in_steps(lab.tables, [end_channel(lab.tables, number) for number in range(2)])
    assert [(step.order_number, step.channel_id) for step in steps] == [
        (0, None), (1, None), *[(0, None)] * 4, (0, 0), (1, 1)
    ]  # fmt: skip


def first_with_events(steps: Iterator[Departure]) -> Departure:
    return next(step for step in steps if step.events)


def test_a_broker_that_registers_over_a_newer_channel_between_the_steps_stays() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7)
    lab.register_broker("b", 0, channel=7)
    steps = leave_in_steps(lab.tables, [end_channel(lab.tables, 7)])
    next(steps)
    lab.register_broker("b", 0, channel=8)
    lab.register_broker("a", 0, channel=8)
    before = lab.copy_tables()
    assert list(steps) == []
    assert lab.copy_tables() == before
    assert lab.tables.live_brokers["c", "b0"].former_channel_ids == set()
    lab.close_channel(8)
    assert lab.is_empty()


def test_a_broker_that_is_heard_of_between_the_steps_does_not_expire() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, timeout=10)
    lab.register_broker("b", 0, timeout=10)
    steps = leave_in_steps(lab.tables, [find_expired_brokers(lab.tables, 11)])
    next(steps)
    record_heartbeat(lab.tables, ("c", "b0"), 11)
    assert list(steps) == []
    assert list(lab.tables.live_brokers) == [("c", "b0")]


def test_a_broker_that_unregisters_between_the_steps_is_not_removed_again() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, channel=7)
    lab.register_broker("b", 0, channel=7)
    steps = leave_in_steps(lab.tables, [end_channel(lab.tables, 7)])
    next(steps)
    lab.unregister_broker("b", 0)
    assert list(steps) == []
    assert lab.is_empty()


@pytest.mark.parametrize("name", ["a", "gone"])
def test_an_address_without_a_place_is_forgotten_when_it_unregisters(name: str) -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, addr="x")
    lab.register_broker("a", 0, addr="y")
    assert lab.unregister_broker(name, 0, addr="x") == [AddressForgotten("c", "x", "unregistered")]
    assert list(lab.tables.live_brokers) == [("c", "y")]


def test_a_group_is_told_once_of_its_new_smallest_id_when_several_members_leave() -> None:
    lab = TableHarness()
    for broker_id in range(4):
        lab.register_broker("a", broker_id, acting=True, channel=8 if broker_id == 3 else 7)
    lab.close_channel(7)
    notices = [event for event in lab.events if isinstance(event, MinBrokerIdChanged)]
    assert [(notice.min_broker_id, notice.recipients) for notice in notices] == [(3, ("a3",))]


def test_a_group_that_leaves_as_a_whole_is_told_nothing() -> None:
    lab = TableHarness()
    lab.register_broker("a", 0, acting=True, channel=7)
    lab.register_broker("a", 1, acting=True, channel=7)
    lab.close_channel(7)
    assert not any(isinstance(event, MinBrokerIdChanged) for event in lab.events)
    assert lab.is_empty()


def test_a_broker_of_many_names_leaves_them_in_several_steps() -> None:
    lab = TableHarness()
    for number in range(100):
        lab.register_broker(f"b{number}", 0, [], addr="x", channel=7)
    generations = [lab.tables.generation]
    sizes = []
    for step in leave_in_steps(lab.tables, [end_channel(lab.tables, 7)]):
        sizes.append(len(step.events))
        generations.append(lab.tables.generation)
    assert sizes == [32, 32, 32, 4]
    assert generations == sorted(set(generations))
    assert lab.is_empty()


def test_events_about_a_broker_of_many_names_are_few() -> None:
    lab = TableHarness()
    for number in range(100):
        lab.register_broker(f"b{number}", 0, [], addr="x", timeout=100, filters=["f"])
        assert len(lab.events) <= 9
    assert len(lab.detect_silence(90)) == len(end_silence(lab.tables, ("c", "x"), 90)) == 8
    assert len(lab.unregister_broker("b0", 0, addr="x")) == 2
