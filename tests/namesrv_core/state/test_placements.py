"""Where a topic goes when one broker's queues of it change."""

import pytest

from namesrv_core.state import placements
from namesrv_core.state.placements import Placement, Successors
from tests.support.brokers import queue


@pytest.fixture
def successors() -> Successors:
    return Successors()


def test_the_same_change_leads_from_the_same_place_to_the_same_one(successors: Successors) -> None:
    first = successors.put(None, queue("a"))
    assert first.queues == {"a": queue("a")}
    assert successors.put(None, queue("a")) is first
    second = successors.put(first, queue("b"))
    assert list(second.queues) == ["a", "b"]
    assert successors.put(first, queue("b")) is second
    assert successors.put(first, queue("b", 4)) is not second


def test_what_is_there_already_leads_nowhere_else(successors: Successors) -> None:
    here = Placement({"a": queue("a")})
    assert successors.put(here, queue("a")) is here


def test_a_broker_keeps_its_place_among_the_others(successors: Successors) -> None:
    here = Placement({"a": queue("a"), "b": queue("b")})
    assert list(successors.put(here, queue("a", 4)).queues.values()) == [queue("a", 4), queue("b")]


def test_without_its_last_broker_a_topic_is_in_no_place(successors: Successors) -> None:
    here = Placement({"a": queue("a"), "b": queue("b")})
    rest = successors.drop(here, "a")
    assert rest is not None
    assert rest is successors.drop(here, "a")
    assert rest.queues == {"b": queue("b")}
    assert successors.drop(rest, "b") is None


def test_what_led_to_a_place_that_is_another_now_is_forgotten(successors: Successors) -> None:
    first = successors.put(None, queue("a"))
    first.queues = {"a": queue("a"), "b": queue("b")}
    successors.forget()
    assert successors.put(None, queue("a")).queues == {"a": queue("a")}


def test_only_so_much_is_remembered(successors: Successors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placements, "_REMEMBERED", 2)
    here = [successors.put(None, queue(name)) for name in "abc"]
    assert successors.put(None, queue("c")) is here[2]
    again = successors.put(None, queue("a"))
    assert again is not here[0]
    assert again.queues == here[0].queues
