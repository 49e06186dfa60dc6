"""The table of checks, and the declarations that it leads to."""

import pytest

from nsadmin.operations.checks.check_suite import CLUSTER_CHECKS
from nsadmin.operations.checks.check_table import CHECK_TABLE, CheckEntry, find_check


def test_a_run_of_all_checks_has_those_that_need_no_name() -> None:
    assert CLUSTER_CHECKS[:3] == ("namesrv", "brokers", "divergence")
    left_out = {entry.name for entry in CHECK_TABLE} - {*CLUSTER_CHECKS}
    assert left_out == {"topic", "clients", "backup"}


@pytest.mark.parametrize("entry", CHECK_TABLE, ids=lambda entry: entry.name)
def test_a_check_has_the_name_of_its_line_and_describes_its_command_if_no_function_does(
    entry: CheckEntry,
) -> None:
    check = entry.load()
    assert check.name == entry.name
    texts = (check.help, check.warning_help, check.critical_help)
    assert all(texts) if entry.command_module == "plain_checks" else not any(texts)


def test_a_remedy_names_the_topic_or_group() -> None:
    assert find_check("lag").format_remedy("my group") == "nsadmin group explain 'my group'"
    assert find_check("replicas").format_remedy("broker-a") == "nsadmin replicaDiff -b broker-a"
    assert find_check("replicas").format_remedy(None) == "nsadmin replicaDiff"
    assert find_check("divergence").format_remedy(None) == "nsadmin divergence"
