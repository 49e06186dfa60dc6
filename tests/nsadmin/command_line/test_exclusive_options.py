"""Alternatives of a command line."""

import pytest

from nsadmin.command_line.exclusive_options import refuse_both, require_one_of
from nsadmin.console.exit_codes import UsageError


def test_one_of_two_alternatives_is_accepted() -> None:
    require_one_of("-b ADDR", "h:1", "-c CLUSTER", None)
    require_one_of("TOPIC", None, "--all", True)
    refuse_both("-b ADDR", None, "-c CLUSTER", None)


def test_without_either_alternative_both_are_named() -> None:
    with pytest.raises(UsageError, match=r"^missing option -b ADDR or -c CLUSTER$"):
        require_one_of("-b ADDR", None, "-c CLUSTER", "")


@pytest.mark.parametrize("check", [require_one_of, refuse_both])
def test_both_alternatives_exclude_each_other(check: object) -> None:
    assert callable(check)
    with pytest.raises(UsageError, match=r"^-b ADDR and --all exclude each other: pass only one of them$"):
        check("-b ADDR", "h:1", "--all", True)
