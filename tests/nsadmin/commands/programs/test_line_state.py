"""What an incomplete command line says so far, and which value comes next."""

import pytest
from nsadmin.commands.programs.line_state import LineState, read_command_line


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("kvGet N", {"NAMESPACE": "N"}),
        ("--json kv-get -n a:1 N k", {"LIST": "a:1", "NAMESPACE": "N", "KEY": "k"}),
        ("kvGet --namespace=N k", {"NAMESPACE": "N", "KEY": "k"}),
        ("kvGet k -s N", {"NAMESPACE": "N"}),
        ("kvGet -s", {"NAMESPACE": ""}),
        ("kvGet N k more", {"NAMESPACE": "N", "KEY": "k"}),
        ("updateBrokerConfig -b h:1 -k", {"ADDR": "h:1", "KEY": ""}),
        ("lab up", {}),
        ("", {}),
    ],
)
def test_what_the_line_says(line: str, values: dict[str, str]) -> None:
    values_on_line = read_command_line(line.split()).values_by_metavar
    assert {**values_on_line, **values} == values_on_line


def test_the_value_of_an_option_comes_after_its_flag() -> None:
    state = read_command_line(["updateTopic", "-c"])
    assert state.awaited_option is not None
    assert state.awaited_option.metavar == "CLUSTER"
    assert [position.metavar for position in state.free_positions] == ["TOPIC"]


def test_an_argument_given_by_flag_is_not_free_any_more() -> None:
    state = read_command_line(["kv", "get", "-s", "NS"])
    assert state.awaited_option is None
    assert [position.metavar for position in state.free_positions] == ["KEY"]


def test_columns_are_those_of_the_command() -> None:
    assert "topic" in read_command_line(["topicList"]).column_names
    assert read_command_line(["unheard"]) == LineState()
