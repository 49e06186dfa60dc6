"""`nsadmin` as the tests of the documentation run it: waits for brokers and clients are shorter.

Drains and comparisons of name servers see a clock that runs faster. Producers of a lab read routes often.
"""

import sys
import time

import pytest

from namesrv_core.fleet.broker import SimulatedBroker
from nsadmin.client.connection.access_options import DEFAULT_ACCESS
from nsadmin.commands.procedures import divergence
from nsadmin.console.settings import option_resolver
from nsadmin.operations.checks import check
from nsadmin.operations.checks import divergence as divergence_check
from tests.support import forked_commands
from tests.support.clock import speed_up_drains
from tests.support.name_servers import DEADLINE

SPEED = 40
PRODUCER_PERIOD_SECONDS = 0.2


def speed_up() -> None:
    """Let the waits of this process be shorter."""
    speed_up_drains(pytest.MonkeyPatch(), SPEED)
    # Whoever answers at all answers on a busy machine, too.
    vars(option_resolver)["DEFAULT_ACCESS"] = DEFAULT_ACCESS._replace(timeout=DEADLINE)
    slept = 0.0

    def sleep(seconds: float) -> None:
        nonlocal slept
        time.sleep(seconds / SPEED)
        slept += seconds

    for module in (divergence, divergence_check, check):
        vars(module)["sleep"] = sleep
        # Work does not take longer: on a busy machine, as many comparisons are made.
        vars(module)["monotonic"] = lambda: time.monotonic() + slept
    defaults = SimulatedBroker.__init__.__kwdefaults__
    assert defaults is not None
    defaults["producer_period"] = PRODUCER_PERIOD_SECONDS


if __name__ == "__main__":
    forked_commands.serve(sys.argv[1], speed_up)
