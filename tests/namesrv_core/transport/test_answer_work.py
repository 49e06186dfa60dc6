"""Computations in turns: how long one goes on, and who waits when together they hold too much memory."""

from collections.abc import Callable

import pytest

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.answer_work import FREE_WORK_BYTES, AnswerSteps, AnswerWork, WorkMemory
from namesrv_core.transport.fair_scheduler import TURN_SECONDS

LIMIT = 10 * FREE_WORK_BYTES


def standing() -> float:
    return 0.0


def stepping(seconds: float) -> Callable[[], float]:
    """A clock that goes on with each look."""
    now = 0.0

    def look() -> float:
        nonlocal now
        now += seconds
        return now

    return look


class Crowd:
    """Computations that share memory; `resumed` names those that were called again."""

    def __init__(self) -> None:
        self.memory = WorkMemory(LIMIT)
        self.resumed: list[str] = []
        self.steps: list[str] = []

    def work(self, name: str, *held: int | None) -> AnswerWork:
        return AnswerWork(self._compute(name, held), 1, self.memory, lambda: self.resumed.append(name))

    def _compute(self, name: str, held: tuple[int | None, ...]) -> AnswerSteps:
        for number in held:
            yield number
            self.steps.append(name)
        return RemotingCommand(1, remark=name)


def test_work_goes_on_for_a_turn_and_has_an_answer_in_the_end() -> None:
    crowd = Crowd()
    work = crowd.work("a", None, None, None, None, None)
    turns = 1
    while not work.take_turn(stepping(TURN_SECONDS * 0.4)):
        assert work.answer is None
        turns += 1
    assert turns == 3
    assert work.answer == RemotingCommand(1, remark="a")
    assert work.seconds > 2 * TURN_SECONDS


def test_what_work_holds_is_its_request_and_what_its_next_step_will_take() -> None:
    work = Crowd().work("a", None, 100, None, 30)
    held = []
    while not work.take_turn(stepping(TURN_SECONDS * 0.6)):
        held.append(work.held_bytes)
    assert held == [1, 101, 101, 31]


def test_over_the_limit_only_the_oldest_goes_on() -> None:
    crowd = Crowd()
    old = crowd.work("old", LIMIT, 2 * LIMIT)
    assert not old.take_turn(stepping(TURN_SECONDS * 0.6))
    young = crowd.work("young", FREE_WORK_BYTES, 2 * FREE_WORK_BYTES)
    assert not young.take_turn(standing)
    # It has taken the step that is free, and waits with no more than that.
    assert (young.is_waiting, crowd.steps) == (True, ["young"])
    assert not young.take_turn(standing)
    assert crowd.resumed == []
    assert old.take_turn(standing)
    assert crowd.resumed == ["young"]
    assert young.take_turn(standing)
    assert not young.is_waiting


def test_little_work_never_waits() -> None:
    crowd = Crowd()
    assert not crowd.work("old", 2 * LIMIT).take_turn(stepping(TURN_SECONDS * 0.6))
    assert crowd.work("little", 1, None, FREE_WORK_BYTES).take_turn(standing)
    assert crowd.work("less", None, None).take_turn(standing)


def test_those_who_wait_go_on_one_after_the_other() -> None:
    crowd = Crowd()
    old = crowd.work("old", 2 * LIMIT)
    assert not old.take_turn(stepping(TURN_SECONDS * 0.6))
    waiting = {name: crowd.work(name, FREE_WORK_BYTES, LIMIT) for name in "abc"}
    for work in waiting.values():
        assert not work.take_turn(standing)
    assert old.take_turn(standing)
    for name, work in waiting.items():
        assert crowd.resumed.pop() == name
        assert not crowd.resumed
        assert work.take_turn(standing)
    assert not crowd.resumed


def test_work_that_is_dropped_makes_room_and_ends() -> None:
    crowd = Crowd()
    old = crowd.work("old", 2 * LIMIT, 3 * LIMIT)
    assert not old.take_turn(stepping(TURN_SECONDS * 0.6))
    young, gone = (crowd.work(name, FREE_WORK_BYTES, LIMIT) for name in ("young", "gone"))
    assert not gone.take_turn(standing)
    assert not young.take_turn(standing)
    gone.release_work()
    assert crowd.resumed == []
    old.release_work()
    assert crowd.resumed == ["young"]
    assert young.take_turn(standing)


def test_work_that_fails_makes_room() -> None:
    crowd = Crowd()

    def fail() -> AnswerSteps:
        yield 2 * LIMIT
        raise ValueError("a mistake")

    failing = AnswerWork(fail(), 1, crowd.memory, lambda: None)
    with pytest.raises(ValueError, match="a mistake"):
        failing.take_turn(standing)
    young = crowd.work("young", LIMIT)
    assert young.take_turn(standing)
