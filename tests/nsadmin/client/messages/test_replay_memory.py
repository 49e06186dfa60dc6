"""What a memory knows after its records."""

import json
from typing import Any

import pytest

from nsadmin.client.messages.message_sender import SendQueue
from nsadmin.client.messages.replay_memory import PendingBatch, ReplayMemory, ReplayPlace

PLACE = ReplayPlace("C", "broker-a", 0)
QUEUE = SendQueue("%RETRY%G", "broker-a", "h:1", 0)
RULES = {"tags": ["A"]}


def batch(*offsets: int) -> PendingBatch:
    return PendingBatch(PLACE, {offset: f"id{offset}" for offset in offsets}, QUEUE, 7)


def rebuilt(memory: ReplayMemory) -> ReplayMemory:
    """A memory that has read the records of another one, as JSON."""
    records: list[Any] = json.loads(json.dumps(memory.build_records()))
    other = ReplayMemory()
    for record in records:
        other.apply_record(record)
    return other


def test_few_records_lead_to_the_same_memory() -> None:
    memory = ReplayMemory()
    run_id = memory.begin_run(RULES, "R1")
    memory.begin_batch(batch(1, 2, 3))
    memory.end_batch(batch(1, 2, 3), [1, 3])
    memory.begin_batch(batch(4, 5))
    other = rebuilt(memory)
    assert other.list_replayed(PLACE).ranges == ((1, 2), (3, 4))
    assert other.get_last_id(PLACE) == "id3"
    assert other.pending == {PLACE: batch(4, 5)}
    assert (other.begin_run(RULES, "R2"), other.run_count) == (run_id, 2)


def test_a_complete_run_does_not_go_on() -> None:
    memory = ReplayMemory()
    assert memory.is_new
    memory.begin_run(RULES, "R1")
    memory.end_batch(batch(1), [1])
    memory.end_run()
    assert not rebuilt(memory).is_new
    assert (memory.begin_run(RULES, "R2"), memory.run_count) == ("R2", 0)
    assert (memory.begin_run({"tags": ["B"]}, "R3"), memory.run_count) == ("R3", 0)


def test_a_batch_of_which_nothing_arrived_leaves_the_last_id() -> None:
    memory = ReplayMemory()
    memory.end_batch(batch(1, 2), [2])
    memory.end_batch(batch(3, 4), [])
    assert (memory.get_last_id(PLACE), memory.pending) == ("id2", {})


def test_a_run_that_repeats_replays_forgets_them_once() -> None:
    memory = ReplayMemory()
    memory.end_batch(batch(1), [1])
    memory.begin_run(RULES, "R1", forgets_replays=True)
    memory.end_batch(batch(2), [2])
    memory.begin_run(RULES, "R2", forgets_replays=True)
    assert memory.list_replayed(PLACE).ranges == ((2, 3),)


def test_a_forgotten_queue_has_no_replays_and_no_pending_batch() -> None:
    memory = ReplayMemory()
    memory.end_batch(batch(1), [1])
    memory.begin_batch(batch(2))
    memory.forget_place(PLACE)
    assert (memory.list_replayed(PLACE).ranges, memory.pending, memory.get_last_id(PLACE)) == ((), {}, None)


@pytest.mark.parametrize("record", [{}, {"run": {}}, {"pending": []}, {"replayed": [1]}])
def test_an_invalid_record_is_an_error(record: Any) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        ReplayMemory().apply_record(record)
