"""World, the simulated cluster: its time, its machines, and what happens next. One seed decides everything.

Each request, each change of a file and each pause of nsadmin is a step. A fault of the schedule happens
before a step, or at a time. So a schedule has the same outcome each time.
"""

import heapq
from collections.abc import Callable
from itertools import count
from random import Random
from typing import NamedTuple
from warnings import WarningMessage

from tests.simulation.virtual_disk import DiskFull, ProcessKilled, VirtualDisk

START_MS = 1_767_600_000_000
"""2026-01-05T08:00:00Z: all simulations begin then."""


class InvariantBroken(AssertionError):
    """Something that must always hold did not hold."""


class Fault(NamedTuple):
    """A fault of a schedule, before the step `step` of nsadmin, or at `at_ms` from the start if it is given.

    `target` chooses the server, and `amount` the extent; each kind reads them in its own way.
    """

    kind: str
    step: int
    at_ms: int | None
    target: int
    amount: float

    def __str__(self) -> str:
        when = f"step {self.step}" if self.at_ms is None else f"{self.at_ms / 1000:g} s"
        return f"{self.kind} at {when} (target {self.target}, amount {self.amount:.3f})"


class World:
    """Time and steps. `true_ms` is the time; `clock_ms` is what the clock of nsadmin's machine shows.

    `warnings` are those of nsadmin since the last look at them. `event_number` counts what happens besides
    the steps: faults, and what is due at a time.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(f"world {seed}")
        self.true_ms = START_MS
        self.clock_error_ms = 0
        self.step_number = self.event_number = 0
        self.story: list[tuple[int, str]] = []
        self.steps_with_faults: set[tuple[str, str]] = set()
        self.disk = VirtualDisk(self._before_file_step)
        self.free_file_steps: int | None = None
        self.is_process_alive = True
        self.has_lost_power = False
        self.warnings: list[WarningMessage] = []
        self.after_fault: Callable[[], None] = lambda: None
        self._timers: list[tuple[int, int, Callable[[], None]]] = []
        self._timer_numbers = count()
        self._step_faults: list[tuple[int, int, str, Callable[[], None]]] = []
        self.is_quiet = False

    @property
    def clock_ms(self) -> int:
        return self.true_ms + self.clock_error_ms

    def tell(self, text: str) -> None:
        self.story.append((self.true_ms, text))

    # Time

    def call_at(self, time_ms: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._timers, (time_ms, next(self._timer_numbers), action))

    def call_after(self, delay_ms: int, action: Callable[[], None]) -> None:
        self.call_at(self.true_ms + delay_ms, action)

    def pass_time(self, duration_ms: int) -> None:
        """Let time pass, with everything that is due meanwhile."""
        end_ms = self.true_ms + duration_ms
        timers = self._timers
        while timers and timers[0][0] <= end_ms:
            due_ms, _, action = heapq.heappop(timers)
            self.true_ms = max(self.true_ms, due_ms)
            self.event_number += 1
            action()
        self.true_ms = max(self.true_ms, end_ms)

    def is_idle_for(self, steps: int, duration_ms: int) -> bool:
        """Whether nothing happens before so many steps of nsadmin have ended, if they take so long."""
        return (
            self.is_process_alive
            and not (self._timers and self._timers[0][0] <= self.true_ms + duration_ms)
            and not (self._step_faults and self._step_faults[0][0] <= self.step_number + steps)
        )

    # Steps of nsadmin

    def plan_fault(self, fault: Fault, action: Callable[[], None]) -> None:
        if fault.at_ms is not None:
            self.call_at(START_MS + fault.at_ms, lambda: self._begin_fault(fault.kind, "pause", action))
        else:
            heapq.heappush(self._step_faults, (fault.step, next(self._timer_numbers), fault.kind, action))

    def _begin_fault(self, kind: str, step_name: str, action: Callable[[], None]) -> None:
        if self.is_quiet:
            return
        self.event_number += 1
        self.steps_with_faults.add((kind, step_name))
        action()
        self.after_fault()

    def take_step(self, step_name: str) -> None:
        """Begin a step of nsadmin: faults of the schedule come first, and one of them may kill it."""
        if not self.is_process_alive:
            raise ProcessKilled
        if self.is_quiet:
            return
        self.step_number += 1
        faults = self._step_faults
        while faults and faults[0][0] <= self.step_number:
            _, _, kind, action = heapq.heappop(faults)
            self._begin_fault(kind, step_name, action)
        if not self.is_process_alive:
            raise ProcessKilled

    def pause_seconds(self, seconds: float) -> None:
        """The pause of a procedure's clock."""
        self.take_step("pause")
        self.pass_time(round(seconds * 1000))
        if not self.is_process_alive:
            raise ProcessKilled

    def _before_file_step(self, operation: str, path: str) -> None:
        self.take_step(f"{operation} {path.rpartition('/')[2]}")
        if self.free_file_steps is not None and operation in ("create", "write", "link"):
            if self.free_file_steps <= 0:
                raise DiskFull
            self.free_file_steps -= 1

    # The process of nsadmin

    def kill_process(self) -> None:
        self.tell("FAULT: nsadmin is killed")
        self.is_process_alive = False
        self.disk.close_all()

    def lose_power(self) -> None:
        self.tell("FAULT: nsadmin's machine loses its power")
        self.is_process_alive, self.has_lost_power = False, True
        self.disk.lose_power(self.random)

    def begin_process(self) -> None:
        """A new process of nsadmin; the files of the last one are closed."""
        self.disk.close_all()
        self.is_process_alive = True

    def end_faults(self) -> None:
        """No fault of the schedule begins from now on."""
        self._step_faults.clear()
        self.is_quiet = True
        self.clock_error_ms, self.free_file_steps = 0, None
