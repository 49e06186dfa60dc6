"""Turns: everybody gets one, and sockets are looked at in between."""

import asyncio
from collections.abc import Iterator

from namesrv_core.transport.fair_scheduler import FairScheduler
from tests.support.name_servers import wait_until


class Work:
    """So many turns, written down as they come; each takes `seconds` by the test's clock."""

    def __init__(
        self, name: str, turns: int, done: list[str], clock: list[float], seconds: float = 0.0
    ) -> None:
        self.name, self.left, self.done, self.clock, self.seconds = name, turns, done, clock, seconds

    def take_turn(self) -> bool:
        self.done.append(self.name)
        self.clock[0] += self.seconds
        self.left -= 1
        return self.left > 0


async def test_those_that_wait_take_turns_until_they_are_done() -> None:
    done, clock = list[str](), [0.0]
    turns = FairScheduler(lambda: clock[0])
    for name, number in (("a", 3), ("b", 1), ("c", 2)):
        turns.add_work(Work(name, number, done, clock).take_turn)
    await wait_until(lambda: len(turns) == 0)
    assert "".join(done) == "abcaca"


async def test_long_turns_let_others_have_the_loop_after_each() -> None:
    done, clock = list[str](), [0.0]
    turns = FairScheduler(lambda: clock[0])
    turns.add_work(Work("a", 3, done, clock, seconds=1.0).take_turn)
    for _ in range(3):
        asyncio.get_running_loop().call_soon(done.append, "-")
        await asyncio.sleep(0)
    await wait_until(lambda: len(turns) == 0)
    assert "".join(done).startswith(("a-a-a", "-a-a-a"))


async def test_steps_are_done_until_a_turn_is_over_and_go_on_with_the_next() -> None:
    done, clock = list[str](), [0.0]

    def steps(name: str, seconds: float) -> Iterator[None]:
        for _ in range(6):
            clock[0] += seconds
            done.append(name)
            yield

    turns = FairScheduler(lambda: clock[0])
    turns.add_steps(steps("a", 0.0004))
    turns.add_steps(steps("b", 0.002))
    await wait_until(lambda: len(turns) == 0)
    assert "".join(done) == "aaabaaab" + "b" * 4
