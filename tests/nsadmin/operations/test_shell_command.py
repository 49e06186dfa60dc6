"""An operator's own command."""

import sys

import pytest

from nsadmin.operations import shell_command

FIELDS = {"brokerName": "broker-a", "brokerAddr": "h:1"}


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("stop {brokerName} at {brokerAddr}", "stop broker-a at h:1"),
        ("echo ${HOME} {brokerName}", "echo ${HOME} broker-a"),
        ("plain", "plain"),
    ],
)
def test_names_are_filled_in(command: str, line: str) -> None:
    assert shell_command.fill_fields(command, FIELDS) == line


def test_a_name_never_becomes_a_command() -> None:
    assert (
        shell_command.fill_fields("stop {brokerName}", {"brokerName": "a; rm -rf x"}) == "stop 'a; rm -rf x'"
    )


def test_what_means_nothing_is_found() -> None:
    assert shell_command.find_unknown_fields("stop {broker} ${HOME} {brokerName}", FIELDS) == ["broker"]


def test_its_exit_code_is_told_and_its_output_is_none_of_ours(capfd: pytest.CaptureFixture[str]) -> None:
    assert shell_command.run_in_shell(f"{sys.executable} -c 'print(1); raise SystemExit(7)'") == 7
    assert capfd.readouterr() == ("", "1\n")
