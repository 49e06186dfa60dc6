"""--expect: names, a file, or an error of the command line."""

from pathlib import Path

import pytest

from nsadmin.command_line.broker_expectation import parse_expected_brokers
from nsadmin.console.exit_codes import UsageError


def test_names_and_files_give_expected_brokers(tmp_path: Path) -> None:
    assert parse_expected_brokers("clusterList", None) == []
    assert [broker.label for broker in parse_expected_brokers("clusterList", "broker-a,broker-b:1")] == [
        "broker-a:0",
        "broker-b:1",
    ]
    (tmp_path / "brokers").write_text("broker-c # the third\n")
    [broker] = parse_expected_brokers("clusterList", str(tmp_path / "brokers"))
    assert (broker.label, broker.is_pinned) == ("broker-c:0", True)


def test_a_text_that_is_neither_is_an_error_with_the_name_of_the_command() -> None:
    with pytest.raises(UsageError, match="clusterList: --expect "):
        parse_expected_brokers("clusterList", "no such file")
