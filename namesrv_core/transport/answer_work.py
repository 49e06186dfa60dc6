"""AnswerWork, a long computation of an answer, and WorkMemory, the memory that all of them share."""

from collections.abc import Callable, Generator

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.size_limits import UNLIMITED
from namesrv_core.transport.fair_scheduler import TURN_SECONDS

FREE_WORK_BYTES = 1 << 16
"""A computation that holds no more than this never waits for memory."""

AnswerSteps = Generator[int | None, None, RemotingCommand | None]
"""A long computation in steps of a millisecond, which ends with an answer.

Each step yields how many bytes the computation will hold after the next step. None means: as before.
"""


class WorkMemory:
    """Limits the memory of all computations. While they hold `max_bytes`, only the oldest one continues.

    The oldest one always continues, so they cannot wait for each other.
    """

    def __init__(self, max_bytes: int = UNLIMITED) -> None:
        self._max_bytes = max_bytes
        self._total_bytes = 0
        # Both are in the order of age.
        self._held: dict[AnswerWork, int] = {}
        self._waiting: dict[AnswerWork, None] = {}

    def reserve_bytes(self, work: "AnswerWork", held: int) -> None:
        """Count the bytes that a computation will hold after its next step."""
        self._total_bytes += held - self._held.get(work, 0)
        self._held[work] = held

    def may_continue(self, work: "AnswerWork") -> bool:
        """Whether a computation may take its next step. If not, its `resume` is called when it may."""
        if (
            self._total_bytes <= self._max_bytes
            or self._held.get(work, 0) <= FREE_WORK_BYTES
            or next(iter(self._held)) is work
        ):
            return True
        self._waiting[work] = None
        return False

    def release_bytes(self, work: "AnswerWork") -> None:
        """Forget a computation that has ended, and let others continue."""
        self._total_bytes -= self._held.pop(work, 0)
        self._waiting.pop(work, None)
        oldest = next(iter(self._held), None)
        if oldest in self._waiting:
            self._resume_work(oldest)
        if self._waiting and self._total_bytes <= self._max_bytes:
            # One after the other: each resumes the next one when it ends.
            self._resume_work(next(iter(self._waiting)))

    def _resume_work(self, work: "AnswerWork") -> None:
        del self._waiting[work]
        work.resume()


class AnswerWork:
    """A computation that runs in turns.

    While it `is_waiting` for memory, it needs no turn until `resume` is called. `payload_bytes` is the size
    of its request. `seconds` is the time of all its turns. After the end `answer` is its answer, or None.
    """

    def __init__(
        self, steps: AnswerSteps, payload: int, memory: WorkMemory, resume: Callable[[], None]
    ) -> None:
        self._answer_steps = steps
        self._payload_bytes = payload
        self._work_memory = memory
        self._reserved_bytes = 0
        self.resume = resume
        self.is_waiting = False
        self.seconds = 0.0
        self.answer: RemotingCommand | None = None

    @property
    def held_bytes(self) -> int:
        return self._payload_bytes + self._reserved_bytes

    def take_turn(self, work_clock: Callable[[], float]) -> bool:
        """Take steps for one turn, or until it must wait for memory. Return whether the work has ended."""
        began = work_clock()
        try:
            while work_clock() - began < TURN_SECONDS:
                self.is_waiting = not self._work_memory.may_continue(self)
                if self.is_waiting:
                    break
                reserved = next(self._answer_steps)
                if reserved is not None:
                    self._reserved_bytes = reserved
                    self._work_memory.reserve_bytes(self, reserved)
        except StopIteration as stop:
            self.answer = stop.value
            self.release_work()
            return True
        except Exception:
            self.release_work()
            raise
        finally:
            self.seconds += work_clock() - began
        return False

    def release_work(self) -> None:
        """End the work, finished or not, and release its memory."""
        self._answer_steps.close()
        self._work_memory.release_bytes(self)
