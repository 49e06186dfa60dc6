"""Owns inventory list, inventory forget and inventory pin, which show and edit the expected brokers."""

from collections.abc import Callable, Sequence
from typing import Annotated

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound
from nsadmin.client.results import NoneReachable
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.session import Session
from nsadmin.operations.inventory.expectation import (
    BrokerLabel,
    InvalidExpectationError,
    parse_labels,
    read_expectation,
)
from nsadmin.operations.inventory.keeper import OFF_VARIABLE, InventoryKeeper, open_inventory
from nsadmin.operations.inventory.records import ExpectedBroker

INVENTORY_COLUMNS = (
    "clusterName", "brokerName", "brokerId", "brokerAddr", "state", "pinned", "topicCount", "firstSeen",
    "lastSeen",
)  # fmt: skip
EDIT_COLUMNS = ("brokerName", "brokerId", "result")


class InventoryUnwritableError(RocketMQError):
    """The inventory of the cluster cannot be saved; the message says why."""


@command(columns=INVENTORY_COLUMNS)
def inventory_list(session: Session) -> ResultRows:
    """List the expected brokers, and show which of them no name server lists.

    Commands that read the cluster save the brokers that they see in a file of this account on this machine.
    Each context has its own file. Without a context, each list of name servers has one. A broker that no name
    server lists is `missing` in clusterList, `check brokers`, `check writable`, divergence, `route explain`,
    consumerProgress and the TUI. After 7 days, nsadmin removes it from the file, unless it is pinned. The
    file is in nsadmin/inventory in ~/.local/state, or in the folder in NSADMIN_STATE. NSADMIN_INVENTORY=off
    disables it.

    The state of a broker is `listed` or `missing`. It is `leaving`, and then `left`, if an operator removes
    the broker with drain --for-good, removeBroker, cleanBrokerMetadata or `inventory forget`. The exit code
    is 3 if a broker is missing.

    Examples:
        # All expected brokers
        nsadmin inventory list
        # Only brokers that did not leave, with their topics and times
        nsadmin inventory list --filter state!=left --json
    """
    inventory_keeper = _require_inventory(session)
    try:
        session.admin.clusters.get_info()
    except NoneReachable as error:
        return _inventory_rows(inventory_keeper, None, [error])
    missing_labels = {
        missing_broker.broker.label
        for missing_broker in inventory_keeper.observe_brokers(session.admin.clusters.list_latest_groups())
    }
    return _inventory_rows(inventory_keeper, missing_labels, [])


def _inventory_rows(
    inventory_keeper: InventoryKeeper, missing_labels: set[str] | None, errors: Sequence[RocketMQError]
) -> ResultRows:
    expected_brokers = inventory_keeper.store.load_brokers()
    topic_counts: dict[str, int] = {}
    for perms_by_broker in inventory_keeper.store.load_topics().values():
        for broker_name in perms_by_broker:
            topic_counts[broker_name] = topic_counts.get(broker_name, 0) + 1
    missing_brokers = [broker for broker in expected_brokers if broker.label in (missing_labels or ())]
    notes = [f"{broker.label} is missing" for broker in missing_brokers]
    outcomes: list[RocketMQError | None] = [*errors]
    if missing_brokers:
        outcomes = [None, NotFound(f"{len(missing_brokers)} brokers are missing")]
    return ResultRows(
        INVENTORY_COLUMNS,
        [
            _inventory_row(broker, missing_labels, topic_counts.get(broker.broker_name))
            for broker in expected_brokers
        ],
        outcomes,
        notes or [str(error) for error in errors],
    )


def _inventory_row(
    broker: ExpectedBroker, missing_labels: set[str] | None, topic_count: int | None
) -> ResultRow:
    state = "missing" if broker.label in (missing_labels or ()) else "listed"
    if broker.is_leaving:
        state = "left" if broker.has_left else "leaving"
    return {
        "clusterName": broker.cluster_name or None,
        "brokerName": broker.broker_name,
        "brokerId": broker.broker_id,
        "brokerAddr": broker.broker_addr or None,
        "state": None if missing_labels is None and not broker.is_leaving else state,
        "pinned": broker.is_pinned,
        "topicCount": topic_count,
        "firstSeen": format_utc(broker.first_seen_ms),
        "lastSeen": format_utc(broker.last_seen_ms),
    }


@command(columns=EDIT_COLUMNS, agent_refusal="it changes files of this account")
def inventory_forget(
    session: Session,
    broker_labels: Annotated[
        str,
        Argument(metavar="BROKERS", help="Brokers, as broker-a,broker-b:1."),
        Flags("-b", "--brokers"),
        Values("brokers"),
    ],
) -> ResultRows:
    """Stop expecting these brokers, because you removed them or will remove them.

    A name without an id selects all processes of that name. A broker that is still registered becomes
    `leaving`. It is not reported as missing when it goes. No server changes.

    Examples:
        # Forget two brokers whose machines are gone
        nsadmin inventory forget broker-a-0,broker-a-1
        # Forget only the master of a broker name
        nsadmin inventory forget broker-b-0:0
    """
    inventory_keeper = _require_inventory(session)
    wanted_labels = _parse_labels(broker_labels)
    chosen_brokers = _require_known(inventory_keeper, wanted_labels)
    _edit_brokers(
        inventory_keeper, wanted_labels, lambda broker: broker._replace(is_leaving=True, is_pinned=False)
    )
    return _edit_rows(chosen_brokers, "forgotten")


@command(columns=EDIT_COLUMNS, agent_refusal="it changes files of this account")
def inventory_pin(
    session: Session,
    expectation: Annotated[
        str,
        Argument(
            metavar="BROKERS|FILE|DIR",
            help="Brokers (broker-a,broker-b:1), a file with one broker per line, a plan, or a journal.",
        ),
        Flags("-b", "--brokers"),
        Values("brokers"),
    ],
    is_unpinned: Annotated[
        bool,
        Option("--unpin", help="Undo the pin: forget them again after 7 days if no name server lists them."),
    ] = False,
) -> ResultRows:
    """Expect these brokers until you forget them, even if no command has seen them yet.

    A name without an id selects the master. FILE is a plan from `nsadmin plan --save-to`, or a file with one
    broker per line. DIR is the journal of a name server, or the folder of `nsadmin collect`. It selects the
    brokers that were registered in the last 7 days. No server changes.

    Examples:
        # Always expect two brokers
        nsadmin inventory pin broker-a-0,broker-b-0
        # Treat one of them like any other broker again
        nsadmin inventory pin broker-b-0 --unpin
    """
    inventory_keeper = _require_inventory(session)
    if is_unpinned:
        wanted_labels = _parse_labels(expectation)
        chosen_brokers = _require_known(inventory_keeper, wanted_labels)
        _edit_brokers(inventory_keeper, wanted_labels, lambda broker: broker._replace(is_pinned=False))
        return _edit_rows(chosen_brokers, "unpinned")
    try:
        pinned_brokers = read_expectation(expectation, int(time() * 1000))
    except InvalidExpectationError as error:
        raise UsageError(f"inventory pin: {error}") from None
    _edit_brokers(
        inventory_keeper,
        [BrokerLabel(broker.broker_name, broker.broker_id) for broker in pinned_brokers],
        lambda broker: broker._replace(is_pinned=True, is_leaving=False, has_left=False),
        pinned_brokers,
    )
    return _edit_rows(pinned_brokers, "pinned")


def _require_inventory(session: Session) -> InventoryKeeper:
    inventory_keeper = open_inventory(session)
    if inventory_keeper.is_off:
        raise UsageError(f"the inventory is disabled: {OFF_VARIABLE} is off")
    return inventory_keeper


def _parse_labels(labels_text: str) -> list[BrokerLabel]:
    try:
        return parse_labels(labels_text)
    except InvalidExpectationError as error:
        raise UsageError(f"{error}") from None


def _require_known(
    inventory_keeper: InventoryKeeper, wanted_labels: Sequence[BrokerLabel]
) -> list[ExpectedBroker]:
    known_brokers = inventory_keeper.store.load_brokers()
    for wanted_label in wanted_labels:
        if not any(map(wanted_label.is_of, known_brokers)):
            known_labels = ", ".join(broker.label for broker in known_brokers) or "no broker"
            raise NotFound(f'the inventory has no broker "{wanted_label.broker_name}": it has {known_labels}')
    return [
        broker
        for broker in known_brokers
        if any(wanted_label.is_of(broker) for wanted_label in wanted_labels)
    ]


def _edit_brokers(
    inventory_keeper: InventoryKeeper,
    wanted_labels: Sequence[BrokerLabel],
    edit_broker: Callable[[ExpectedBroker], ExpectedBroker],
    new_brokers: Sequence[ExpectedBroker] = (),
) -> None:
    """Edit the brokers of these labels, and add those of `new_brokers` that the inventory does not have."""

    def edit_all(known_brokers: Sequence[ExpectedBroker]) -> list[ExpectedBroker]:
        known_labels = {broker.label for broker in known_brokers}
        edited_brokers = [
            edit_broker(broker) if any(label.is_of(broker) for label in wanted_labels) else broker
            for broker in known_brokers
        ]
        added_brokers = [broker for broker in new_brokers if broker.label not in known_labels]
        return sorted([*edited_brokers, *added_brokers], key=lambda broker: broker[1:4])

    try:
        inventory_keeper.store.change_brokers(edit_all)
    except OSError as error:
        inventory_folder = inventory_keeper.store.inventory_folder
        raise InventoryUnwritableError(
            f"{inventory_folder} cannot be written: {error.strerror or error}"
        ) from None


def _edit_rows(edited_brokers: Sequence[ExpectedBroker], result_word: str) -> ResultRows:
    return ResultRows(
        EDIT_COLUMNS,
        [
            {"brokerName": broker.broker_name, "brokerId": broker.broker_id, "result": result_word}
            for broker in edited_brokers
        ],
    )
