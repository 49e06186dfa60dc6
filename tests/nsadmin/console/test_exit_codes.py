"""Exit codes: of what happened on each server, and of an error that ended a command."""

import pytest

from namesrv_core.errors import RequestError, RocketMQError
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import NotApplied, NotFound
from nsadmin.console.exit_codes import ExitCode, exit_code_of_outcomes

DEAD = CallError("a:1", "unconnected", "nobody there")
REFUSED = RequestError("no")
MISSING = NotFound("not there")


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ([], ExitCode.DONE),
        ([None, None], ExitCode.DONE),
        ([None, DEAD], ExitCode.PARTLY),
        ([None, MISSING], ExitCode.PARTLY),
        ([DEAD, DEAD], ExitCode.UNREACHABLE),
        ([MISSING, MISSING], ExitCode.NOT_FOUND),
        ([MISSING, DEAD], ExitCode.NOT_FOUND),
        ([REFUSED, DEAD], ExitCode.FAILED),
        ([REFUSED, MISSING], ExitCode.FAILED),
        ([NotApplied("ignored")], ExitCode.FAILED),
    ],
)
def test_the_exit_code_of_what_happened_on_each_server(errors: list[RocketMQError | None], code: int) -> None:
    assert exit_code_of_outcomes(errors) == code
