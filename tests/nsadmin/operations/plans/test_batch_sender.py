"""Lists for brokers that take them, single requests for those that do not, and who is to blame."""

from collections.abc import Sequence
from typing import Any

from namesrv_core.errors import NotSupported, RequestError, RocketMQError
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import ServerResult
from nsadmin.client.topics.bulk_changes import DesiredConfig
from nsadmin.operations.plans.batch_sender import (
    ITEMS_PER_LIST,
    SINGLE_PER_ROUND,
    ConfigBatch,
    ListSender,
    send_singly,
)
from nsadmin.operations.plans.diff import PlanStep

DONE = RemotingCommand(0)


class Brokers:
    """`refuses` says what a broker does with a batch; `took` are the sizes of batches by address."""

    def __init__(self, **refuses: Any) -> None:
        self.refuses = refuses
        self.took: list[tuple[str, int]] = []

    def put(self, batches: Sequence[ConfigBatch]) -> list[ServerResult[RemotingCommand]]:
        self.took += [(addr, len(items)) for addr, items in batches]
        return [self._answer(addr, [item.wire_config["name"] for item in items]) for addr, items in batches]

    def _answer(self, addr: str, names: list[str]) -> ServerResult[RemotingCommand]:
        error = self.refuses.get(addr, lambda names: None)(names)
        return ServerResult(addr, None if error else DONE, error)


def steps(number: int, addr: str = "a") -> list[tuple[str, PlanStep]]:
    return [(addr, PlanStep("topic", f"t{at}", addr, None, {})) for at in range(number)]


def sent(
    brokers: Brokers, wanted: list[tuple[str, PlanStep]], **more: bool
) -> tuple[dict[str, RocketMQError | None], int]:
    moved: list[int] = []
    lists = ListSender(brokers.put, lambda step: DesiredConfig({"name": step.item_name}, {}), moved.append)
    errors = lists.send_steps(wanted, **more)
    assert len(errors) == len(wanted)
    return {f"{step.server_name}/{step.item_name}": error for step, error in errors.items()}, sum(moved)


def test_lists_to_all_brokers_at_once() -> None:
    brokers = Brokers()
    errors, moved = sent(brokers, steps(ITEMS_PER_LIST + 2) + steps(1, "b"))
    assert brokers.took == [("a", ITEMS_PER_LIST), ("b", 1), ("a", 2)]
    assert (set(errors.values()), moved) == ({None}, ITEMS_PER_LIST + 3)


def test_a_broker_that_takes_no_lists_is_asked_once() -> None:
    old = NotSupported("no")
    brokers = Brokers(a=lambda names: old if len(names) > 1 else None)
    errors, moved = sent(brokers, steps(ITEMS_PER_LIST + 2))
    assert brokers.took == [("a", ITEMS_PER_LIST)] + [("a", 1)] * (ITEMS_PER_LIST + 2)
    assert (set(errors.values()), moved) == ({None}, ITEMS_PER_LIST + 2)


def test_one_that_is_refused_does_not_keep_the_others_from_being_done() -> None:
    bad = RequestError("a bad name", 29)
    brokers = Brokers(a=lambda names: bad if "t1" in names else None)
    errors, _ = sent(brokers, steps(ITEMS_PER_LIST + 2))
    assert {name for name, error in errors.items() if error} == {"a/t1"}
    # After the singles of that list, the next is a list again.
    assert brokers.took[-1] == ("a", 2)


def test_a_broker_that_is_gone_is_not_asked_for_the_rest() -> None:
    gone = CallError("a", "unconnected", "refused")
    brokers = Brokers(a=lambda names: gone)
    errors, moved = sent(brokers, steps(3 * ITEMS_PER_LIST) + steps(2, "b"))
    assert brokers.took == [("a", ITEMS_PER_LIST), ("b", 2)]
    assert (errors["a/t700"], errors["b/t1"], moved) == (gone, None, 3 * ITEMS_PER_LIST + 2)


def test_a_broker_that_is_slow_is_asked_for_the_rest() -> None:
    late = CallError("a", "timeout", "no answer")
    brokers = Brokers(a=lambda names: late if "t0" in names else None)
    errors, _ = sent(brokers, steps(ITEMS_PER_LIST + 1))
    assert (errors["a/t0"], errors[f"a/t{ITEMS_PER_LIST}"]) == (late, None)


def test_one_by_one_if_so_wanted() -> None:
    brokers = Brokers()
    sent(brokers, steps(3), singly=True)
    assert brokers.took == [("a", 1)] * 3


def test_requests_for_one_step_each() -> None:
    rounds: list[int] = []
    moved: list[int] = []
    error = RequestError("no", 1)

    def ask(calls: list[tuple[str, Any]]) -> list[ServerResult[RemotingCommand]]:
        rounds.append(len(calls))
        return [ServerResult(addr, DONE, error if request == "t2" else None) for addr, request in calls]

    calls = [(step, addr, step.item_name) for addr, step in steps(SINGLE_PER_ROUND + 1) + steps(1, "b")]
    errors = send_singly(ask, calls, moved.append)
    assert (rounds, sum(moved)) == ([SINGLE_PER_ROUND + 1, 1], SINGLE_PER_ROUND + 2)
    assert {step.item_name for step, step_error in errors.items() if step_error} == {"t2"}
