"""Owns inventory list, inventory forget and inventory pin, which show and edit the expected brokers."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound
from nsadmin.client.results import NoneReachable
from nsadmin.client.wall_clock import time
from nsadmin.command_line.declarations import Flags, Values, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_ID, BROKER_NAME, CLUSTER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import Column, Columns, ResultRows
from nsadmin.console.output.timestamps import format_utc
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session
from nsadmin.operations.inventory.expectation import (
    BrokerLabel,
    InvalidExpectationError,
    parse_labels,
    read_expectation,
)
from nsadmin.operations.inventory.keeper import OFF_VARIABLE, InventoryKeeper, open_inventory
from nsadmin.operations.inventory.records import ExpectedBroker


class BrokerEntry(NamedTuple):
    """A broker of the inventory. Its `state` is None if no name server answered."""

    broker: ExpectedBroker
    state: str | None
    topic_count: int | None


INVENTORY_COLUMNS: Columns[BrokerEntry] = (
    CLUSTER_NAME.of(lambda e: e.broker.cluster_name or None),
    BROKER_NAME.of(lambda e: e.broker.broker_name),
    BROKER_ID.of(lambda e: e.broker.broker_id),
    BROKER_ADDR.of(lambda e: e.broker.broker_addr or None),
    Column("state", "listed, missing, leaving or left; null if no name server answered", lambda e: e.state),
    Column("pinned", "whether it stays in the inventory until you forget it", lambda e: e.broker.is_pinned),
    Column(
        "topicCount",
        "topics of the broker name that earlier commands read, so it may be old or too small; null for none",
        lambda e: e.topic_count,
    ),
    Column(
        "firstSeen",
        "when a command first saw the broker (UTC); null for never",
        lambda e: format_utc(e.broker.first_seen_ms),
    ),
    Column(
        "lastSeen",
        "when a command last saw the broker (UTC); null for never",
        lambda e: format_utc(e.broker.last_seen_ms),
    ),
)
FORGET_COLUMNS: Columns[ExpectedBroker] = (BROKER_NAME, BROKER_ID, RESULT.means("forgotten"))
PIN_COLUMNS: Columns[ExpectedBroker] = (BROKER_NAME, BROKER_ID, RESULT.means("pinned or unpinned"))


class InventoryUnwritableError(RocketMQError):
    """The inventory of the cluster cannot be saved; the message says why."""


@command(columns=INVENTORY_COLUMNS, nothing="no broker is expected, and none is registered with {servers}")
def inventory_list(session: Session) -> ResultRows:
    """List the expected brokers, and show which of them no name server lists.

    Commands that read the cluster save the brokers that they see in a file of this account on this machine.
    Each context has its own file. Without a context, each list of name servers has one. A broker that no name
    server lists is `missing` in clusterList, `check brokers`, `check writable`, divergence, `route explain`,
    `group explain`, consumerProgress and the TUI. Commands for a whole cluster name it on stderr. After 7
    days, nsadmin removes it from the file, unless it is pinned. The file is in nsadmin/inventory in
    ~/.local/state, or in the folder in NSADMIN_STATE. NSADMIN_INVENTORY=off disables it.

    The state of a broker is `listed` or `missing`. It is `leaving`, and then `left`, if an operator removes
    the broker with drain --for-good, removeBroker, cleanBrokerMetadata or `inventory forget`. topicCount is
    from earlier commands, and only of the topics that they read. The exit code is 3 if a broker is missing.

    Examples:
        # All expected brokers
        nsadmin inventory list
        # Only brokers that did not leave, with their topics and times
        nsadmin inventory list --filter state!=left --json
    """
    inventory = _require_inventory(session)
    try:
        session.admin.clusters.get_info()
    except NoneReachable as error:
        return _inventory_rows(inventory, None, [error])
    missing_labels = {
        m.broker.label for m in inventory.observe_brokers(session.admin.clusters.list_latest_groups())
    }
    return _inventory_rows(inventory, missing_labels, [])


def _inventory_rows(
    inventory: InventoryKeeper, missing_labels: set[str] | None, errors: Sequence[RocketMQError]
) -> ResultRows:
    brokers = inventory.store.load_brokers()
    topic_counts = Counter(name for perms in inventory.store.load_topics().values() for name in perms)
    missing = [b for b in brokers if b.label in (missing_labels or ())]
    outcomes: list[RocketMQError | None] = [*errors]
    if missing:
        outcomes = [None, NotFound(f"{count_noun(len(missing), 'broker')} missing")]
    notes = [f"{b.label} is missing" for b in missing] or [str(error) for error in errors]
    entries = [
        BrokerEntry(b, _find_state(b, missing_labels), topic_counts.get(b.broker_name)) for b in brokers
    ]
    return ResultRows.from_records(INVENTORY_COLUMNS, entries, outcomes, notes)


def _find_state(broker: ExpectedBroker, missing_labels: set[str] | None) -> str | None:
    if broker.is_leaving:
        return "left" if broker.has_left else "leaving"
    if missing_labels is None:
        return None
    return "missing" if broker.label in missing_labels else "listed"


@command(columns=FORGET_COLUMNS, agent_refusal="it changes files of this account")
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
        # Remove dead brokers: name servers drop them after 2 minutes; this also ends the warnings
        nsadmin inventory forget broker-a-0,broker-a-1
        # Forget only the master of a broker name
        nsadmin inventory forget broker-b-0:0
    """
    inventory = _require_inventory(session)
    wanted_labels = _parse_labels(broker_labels)
    chosen_brokers = _require_known(inventory, wanted_labels)
    _edit_brokers(inventory, wanted_labels, lambda b: b._replace(is_leaving=True, is_pinned=False))
    return ResultRows.from_records(FORGET_COLUMNS, chosen_brokers, common={RESULT: "forgotten"})


@command(columns=PIN_COLUMNS, agent_refusal="it changes files of this account")
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

    A name without an id selects the master. FILE is a plan from `nsadmin plan --out`, or a file with one
    broker per line. DIR is the journal of a name server, or the folder of `nsadmin collect`. It selects the
    brokers that were registered in the last 7 days. No server changes.

    Examples:
        # Always expect two brokers
        nsadmin inventory pin broker-a-0,broker-b-0
        # Treat one of them like any other broker again
        nsadmin inventory pin broker-b-0 --unpin
    """
    inventory = _require_inventory(session)
    if is_unpinned:
        wanted_labels = _parse_labels(expectation)
        chosen_brokers = _require_known(inventory, wanted_labels)
        _edit_brokers(inventory, wanted_labels, lambda b: b._replace(is_pinned=False))
        return ResultRows.from_records(PIN_COLUMNS, chosen_brokers, common={RESULT: "unpinned"})
    try:
        pinned_brokers = read_expectation(expectation, int(time() * 1000))
    except InvalidExpectationError as error:
        raise UsageError(f"inventory pin: {error}") from None
    _edit_brokers(
        inventory,
        [BrokerLabel(b.broker_name, b.broker_id) for b in pinned_brokers],
        lambda b: b._replace(is_pinned=True, is_leaving=False, has_left=False),
        pinned_brokers,
    )
    return ResultRows.from_records(PIN_COLUMNS, pinned_brokers, common={RESULT: "pinned"})


def _require_inventory(session: Session) -> InventoryKeeper:
    inventory = open_inventory(session)
    if inventory.is_off:
        raise UsageError(f"the inventory is disabled: {OFF_VARIABLE} is off")
    return inventory


def _parse_labels(labels_text: str) -> list[BrokerLabel]:
    try:
        return parse_labels(labels_text)
    except InvalidExpectationError as error:
        raise UsageError(f"{error}") from None


def _require_known(inventory: InventoryKeeper, wanted_labels: Sequence[BrokerLabel]) -> list[ExpectedBroker]:
    known_brokers = inventory.store.load_brokers()
    for label in wanted_labels:
        if not any(map(label.is_of, known_brokers)):
            known_labels = ", ".join(b.label for b in known_brokers) or "no broker"
            raise NotFound(f'the inventory has no broker "{label.broker_name}": it has {known_labels}')
    return [b for b in known_brokers if any(label.is_of(b) for label in wanted_labels)]


def _edit_brokers(
    inventory: InventoryKeeper,
    wanted_labels: Sequence[BrokerLabel],
    edit_broker: Callable[[ExpectedBroker], ExpectedBroker],
    new_brokers: Sequence[ExpectedBroker] = (),
) -> None:
    """Edit the brokers of these labels, and add those of `new_brokers` that the inventory does not have."""

    def edit_all(known_brokers: Sequence[ExpectedBroker]) -> list[ExpectedBroker]:
        known_labels = {b.label for b in known_brokers}
        edited = [edit_broker(b) if any(w.is_of(b) for w in wanted_labels) else b for b in known_brokers]
        added = [b for b in new_brokers if b.label not in known_labels]
        return sorted([*edited, *added], key=lambda b: b[1:4])

    try:
        inventory.store.change_brokers(edit_all)
    except OSError as error:
        folder = inventory.store.inventory_folder
        raise InventoryUnwritableError(f"{folder} cannot be written: {error.strerror or error}") from None
