"""The command of --then."""

import pytest

from nsadmin.commands.procedures.then_command import build_then_runner, then_fields
from nsadmin.console.exit_codes import UsageError
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.shell_command import UnsafeFieldError

CLOCK = ProcedureClock(lambda: 7, lambda seconds: None)


def test_it_is_run_with_the_name_and_the_address_of_the_broker(capfd: pytest.CaptureFixture[str]) -> None:
    run = build_then_runner("broker-a", 'echo {brokerName} "$NSADMIN_BROKER_ADDR"; exit 3', CLOCK)
    assert run is not None
    ended = run("h:1")
    assert (ended.time, ended.code) == (7, 3)
    assert capfd.readouterr().err == "broker-a h:1\n"


def test_without_an_address_it_is_refused_where_it_needs_one(capfd: pytest.CaptureFixture[str]) -> None:
    assert then_fields("broker-a", None) == then_fields("broker-a", "") == {"brokerName": "broker-a"}
    run = build_then_runner("broker-a", "echo {brokerAddr}", CLOCK)
    assert run is not None
    with pytest.raises(UnsafeFieldError):
        run("")
    assert capfd.readouterr().err == ""


def test_a_field_that_is_not_known_is_told_before_anything_begins() -> None:
    assert build_then_runner("broker-a", None, CLOCK) is None
    with pytest.raises(
        UsageError,
        match=r"unknown placeholder \{broker\} in --then: use \{brokerName\} and \{brokerAddr\}",
    ):
        build_then_runner("broker-a", "stop {broker}", CLOCK)
