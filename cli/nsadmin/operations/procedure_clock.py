"""The time as procedures get it: from outside, so that a test or a simulation can let it pass."""

import time
from collections.abc import Callable
from typing import NamedTuple


class ProcedureClock(NamedTuple):
    """The clock of a procedure.

    Attributes:
        now_ms: Returns ms since 1970.
        pause_seconds: Waits for some seconds. What it raises ends the procedure between two steps.
        read_seconds: Returns seconds that no change of the system's time moves, for rates and deadlines.
    """

    now_ms: Callable[[], int]
    pause_seconds: Callable[[float], None]
    read_seconds: Callable[[], float] = time.monotonic

    def count_steadily(self) -> Callable[[], int]:
        """Return a function like `now_ms` that counts by `read_seconds`, for waits.

        A change of the system's time meanwhile makes no wait shorter or longer.
        """
        offset_ms = self.now_ms() - self.read_seconds() * 1000
        return lambda: round(offset_ms + self.read_seconds() * 1000)


def read_system_ms() -> int:
    """Return the system's time in ms since 1970."""
    return int(time.time() * 1000)


SYSTEM_CLOCK = ProcedureClock(read_system_ms, time.sleep)
