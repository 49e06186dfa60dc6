"""An operator's own command."""

import sys
from pathlib import Path

import pytest

from nsadmin.operations import shell_command

FIELDS = {"brokerName": "broker-a", "brokerAddr": "h:1"}
UNSAFE_VALUES = (
    "a; rm -rf x", "$(id)", "`id`", "a b", "a\nb", "a'b", 'a"b', "a&b", "a|b", "a>b", "*", "a/../b", "~",
    "-rf", "..", "", "a\u202eb",
)  # fmt: skip


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


@pytest.mark.parametrize("value", ["broker-a_0.x", "%RETRY%g", "10.0.0.1:10911", "[fe80::1%eth0]:10911", "0"])
def test_names_addresses_and_ids_that_no_shell_interprets_are_filled_in(value: str) -> None:
    assert shell_command.fill_fields("stop {brokerName}", {"brokerName": value}) == f"stop {value}"


@pytest.mark.parametrize("value", UNSAFE_VALUES)
def test_a_name_that_a_shell_could_interpret_is_refused(value: str) -> None:
    with pytest.raises(shell_command.UnsafeFieldError, match=r"(?s)unsafe brokerName .*, so nothing was run"):
        shell_command.fill_fields("stop {brokerName}", {"brokerName": value})
    with pytest.raises(shell_command.UnsafeFieldError):
        shell_command.require_safe_fields({"brokerAddr": "h:1", "brokerName": value})


def test_a_name_never_becomes_a_command_of_a_second_shell(tmp_path: Path) -> None:
    fields = {"brokerName": f"$(touch {tmp_path / 'run'})"}
    for command in ('sh -c "echo {brokerName}"', 'sh -c "echo $NSADMIN_BROKER_NAME"', "echo {brokerName}"):
        with pytest.raises(shell_command.UnsafeFieldError):
            shell_command.run_in_shell(shell_command.fill_fields(command, fields), fields)
    assert not (tmp_path / "run").exists()


def test_an_address_that_is_not_known_is_refused_where_the_command_needs_it() -> None:
    with pytest.raises(shell_command.UnsafeFieldError, match='unsafe brokerAddr ""'):
        shell_command.fill_fields("stop {brokerAddr}", {"brokerName": "broker-a"})
    assert shell_command.fill_fields("stop {brokerName}", {"brokerName": "broker-a"}) == "stop broker-a"


def test_what_means_nothing_is_found() -> None:
    assert shell_command.find_unknown_fields("stop {broker} ${HOME} {brokerName}", FIELDS) == ["broker"]


def test_its_exit_code_is_told_and_its_output_is_none_of_ours(capfd: pytest.CaptureFixture[str]) -> None:
    assert shell_command.run_in_shell(f"{sys.executable} -c 'print(1); raise SystemExit(7)'", {}) == 7
    assert capfd.readouterr() == ("", "1\n")


def test_a_script_finds_the_values_in_its_environment(capfd: pytest.CaptureFixture[str]) -> None:
    fields = {"brokerName": "broker-a", "brokerAddr": "h:1", "brokerId": "0"}
    command = 'echo "$NSADMIN_BROKER_NAME" "$NSADMIN_BROKER_ADDR" "$NSADMIN_BROKER_ID"'
    assert shell_command.run_in_shell(command, fields) == 0
    assert capfd.readouterr().err == "broker-a h:1 0\n"
