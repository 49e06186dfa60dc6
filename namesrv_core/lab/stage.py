"""Stage: where faults are done to a world, and the truth about them is told."""

from collections.abc import Sequence
from typing import Any

from namesrv_core.lab.scenario import Fault, matching
from namesrv_core.lab.truth import Deed, Expected, Truth
from namesrv_core.lab.world import Seat, Site, World


class Stage:
    """A world, and where the truth about it is told; `began` is when the scenario did, in seconds."""

    def __init__(self, world: World, truth: Truth, began: float) -> None:
        self.world = world
        self._truth = truth
        self._began = began

    def tell(
        self,
        fault: str,
        phase: str,
        on: Sequence[str] = (),
        expected: Sequence[Expected] = (),
        **details: Any,
    ) -> None:
        now = self.world.clock()
        at = round(now - self._began, 3)
        self._truth.tell(Deed(int(now * 1000), at, fault, phase, tuple(on), details, tuple(expected)))

    def seats(self, fault: Fault, state: str = "up") -> list[Seat]:
        """The brokers that are meant, as far as they are in that state."""
        meant = matching(fault.brokers, self.world.seats)
        return [self.world.seats[name] for name in meant if self.world.seats[name].state == state]

    def sites(self, fault: Fault, state: str = "up") -> list[Site]:
        """The name servers that are meant, likewise."""
        meant = matching(fault.namesrvs, self.world.sites)
        return [self.world.sites[name] for name in meant if self.world.sites[name].state == state]


def names_of(items: Sequence[Seat] | Sequence[Site]) -> list[str]:
    """What they are called."""
    return [item.name for item in items]
