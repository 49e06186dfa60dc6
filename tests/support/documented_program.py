"""`nsadmin` as the tests of the documentation run it: waits for brokers and clients are shorter.

Drains and comparisons of name servers see a clock that runs faster. Producers of a lab read routes often.
"""

import sys
import time

import pytest

from namesrv_core.fleet.broker import SimulatedBroker
from nsadmin import app
from nsadmin.commands.procedures import divergence
from nsadmin.operations.checks import check
from nsadmin.operations.checks import divergence as divergence_check
from tests.support.clock import speed_up_drains

SPEED = 40
PRODUCER_PERIOD_SECONDS = 0.2


def speed_up() -> None:
    """Let the waits of this process be shorter."""
    speed_up_drains(pytest.MonkeyPatch(), SPEED)
    for module in (divergence, divergence_check, check):
        vars(module)["sleep"] = lambda seconds: time.sleep(seconds / SPEED)
        vars(module)["monotonic"] = lambda: time.monotonic() * SPEED
    defaults = SimulatedBroker.__init__.__kwdefaults__
    assert defaults is not None
    defaults["producer_period"] = PRODUCER_PERIOD_SECONDS


def main() -> int:
    """Run the command line of this process, sped up."""
    speed_up()
    return app.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
