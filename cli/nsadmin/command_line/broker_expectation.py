"""The option --expect: brokers that must be registered, in addition to those of the inventory."""

from typing import TYPE_CHECKING, Annotated

from typer import Option

from nsadmin.client.wall_clock import time
from nsadmin.console.exit_codes import UsageError

if TYPE_CHECKING:
    from nsadmin.console.session import Session
    from nsadmin.operations.inventory.keeper import InventoryKeeper
    from nsadmin.operations.inventory.records import ExpectedBroker

ExpectedBrokersOption = Annotated[
    str | None,
    Option(
        "--expect",
        metavar="BROKERS|FILE",
        help="Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or "
        "a journal.",
    ),
]


def parse_expected_brokers(command_name: str, expectation: str | None) -> "list[ExpectedBroker]":
    """Parse --expect; UsageError if it is neither names nor a readable file."""
    if expectation is None:
        return []
    # Imported late: a health probe does without it.
    from nsadmin.operations.inventory.expectation import InvalidExpectationError, read_expectation

    try:
        return read_expectation(expectation, int(time() * 1000))
    except InvalidExpectationError as error:
        raise UsageError(f"{command_name}: --expect {error}") from None


def open_expected_inventory(
    session: "Session", command_name: str, expectation: str | None
) -> "InventoryKeeper":
    """Open the inventory of the cluster, with the brokers of --expect."""
    from nsadmin.operations.inventory.keeper import open_inventory

    return open_inventory(session, parse_expected_brokers(command_name, expectation))
