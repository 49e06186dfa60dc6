"""`nsadmin` as the tests of the documentation run it: what waits for brokers or clients waits less.

Drains and comparisons of name servers see a clock that runs faster, and producers of a lab look at routes more
often. With CHECK_SYNTAX set the command line is parsed and nothing is done.
"""

import os
import sys
import time

import pytest

from namesrv_core.fleet.broker import SimulatedBroker
from nsadmin import app
from nsadmin.commands.checks import service_checks
from nsadmin.commands.procedures import divergence
from nsadmin.operations.checks import check_suite
from tests.support.clock import hurry

SPEED = 40
PRODUCER_PERIOD_SECONDS = 0.2


def speed_up() -> None:
    """Let the waits of this process be shorter."""
    hurry(pytest.MonkeyPatch(), SPEED)
    for module in (divergence, service_checks, check_suite):
        vars(module)["sleep"] = lambda seconds: time.sleep(seconds / SPEED)
        vars(module)["monotonic"] = lambda: time.monotonic() * SPEED
    defaults = SimulatedBroker.__init__.__kwdefaults__
    assert defaults is not None
    defaults["producer_period"] = PRODUCER_PERIOD_SECONDS


def main() -> int:
    if os.environ.get("CHECK_SYNTAX"):
        vars(app)["_perform_command"] = lambda *parsed: 0
        vars(app)["_perform_batch"] = lambda *parsed: 0
    else:
        speed_up()
    return app.main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
