"""Where a topic goes when one broker's queues of it change."""

import pytest

from namesrv_core.state import placements
from namesrv_core.state.placements import PlacementSuccessors, QueuePlacement
from tests.support.brokers import make_queue


@pytest.fixture
def successors() -> PlacementSuccessors:
    return PlacementSuccessors()


def test_the_same_change_leads_from_the_same_place_to_the_same_one(successors: PlacementSuccessors) -> None:
    first = successors.placement_with_queue(None, make_queue("a"))
    assert first.broker_queues == {"a": make_queue("a")}
    assert successors.placement_with_queue(None, make_queue("a")) is first
    second = successors.placement_with_queue(first, make_queue("b"))
    assert list(second.broker_queues) == ["a", "b"]
    assert successors.placement_with_queue(first, make_queue("b")) is second
    assert successors.placement_with_queue(first, make_queue("b", 4)) is not second


def test_what_is_there_already_leads_nowhere_else(successors: PlacementSuccessors) -> None:
    here = QueuePlacement({"a": make_queue("a")})
    assert successors.placement_with_queue(here, make_queue("a")) is here


def test_a_broker_keeps_its_place_among_the_others(successors: PlacementSuccessors) -> None:
    here = QueuePlacement({"a": make_queue("a"), "b": make_queue("b")})
    assert list(successors.placement_with_queue(here, make_queue("a", 4)).broker_queues.values()) == [
        make_queue("a", 4),
        make_queue("b"),
    ]


def test_without_its_last_broker_a_topic_is_in_no_place(successors: PlacementSuccessors) -> None:
    here = QueuePlacement({"a": make_queue("a"), "b": make_queue("b")})
    rest = successors.placement_without_broker(here, "a")
    assert rest is not None
    assert rest is successors.placement_without_broker(here, "a")
    assert rest.broker_queues == {"b": make_queue("b")}
    assert successors.placement_without_broker(rest, "b") is None


def test_what_led_to_a_place_that_is_another_now_is_forgotten(successors: PlacementSuccessors) -> None:
    first = successors.placement_with_queue(None, make_queue("a"))
    first.broker_queues = {"a": make_queue("a"), "b": make_queue("b")}
    successors.clear_cache()
    assert successors.placement_with_queue(None, make_queue("a")).broker_queues == {"a": make_queue("a")}


def test_only_so_much_is_remembered(successors: PlacementSuccessors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placements, "_CACHE_ENTRIES", 2)
    here = [successors.placement_with_queue(None, make_queue(name)) for name in "abc"]
    assert successors.placement_with_queue(None, make_queue("c")) is here[2]
    again = successors.placement_with_queue(None, make_queue("a"))
    assert again is not here[0]
    assert again.broker_queues == here[0].broker_queues


def test_few_places_of_very_many_brokers_are_remembered(successors: PlacementSuccessors) -> None:
    place = None
    for number in range(3_000):
        place = successors.placement_with_queue(place, make_queue(f"b{number}"))
    remembered = successors._cached_successors.values()
    assert sum(len(placement.broker_queues) for placement in remembered) <= placements._CACHED_QUEUES
