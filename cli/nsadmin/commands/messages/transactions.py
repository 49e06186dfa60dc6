"""Owns the commands about half messages, the messages of transactions that have not ended."""

from collections.abc import Callable, Sequence
from typing import Annotated, NamedTuple

from typer import Argument, Option

from namesrv_core.errors import RequestError, ResponseCode, RocketMQError
from nsadmin.client import NotApplied, NotFound, ServerResult
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.messages.transactions import DEFAULT_READ_LIMIT, HalfMessage, HalfMessages
from nsadmin.client.results import OverReadLimit
from nsadmin.client.wall_clock import time
from nsadmin.command_line.broker_targets import (
    ClusterMastersOption,
    ReadBrokerOption,
    distinct_addrs,
    list_masters,
    match_results,
)
from nsadmin.command_line.declarations import Flags, command
from nsadmin.commands.columns.brokers import BROKER_ADDR, BROKER_NAME
from nsadmin.commands.columns.changes import RESULT
from nsadmin.commands.columns.messages import (
    BORN_HOST,
    BORN_TIME,
    KEYS,
    MSG_ID,
    OFFSET_MSG_ID,
    STORE_TIME,
    TAGS,
)
from nsadmin.commands.columns.servers import ERROR, failure_notes, outcome_word
from nsadmin.commands.columns.topics import TOPIC
from nsadmin.commands.consumers.producers import PRODUCER_GROUP
from nsadmin.console.output import AnyColumn, Column, Columns, ResultRows, of_part
from nsadmin.console.output.quantities import to_millis
from nsadmin.console.phrases import count_noun
from nsadmin.console.session import Session

NameArgument = Annotated[
    str | None,
    Argument(metavar="TOPIC|GROUP", help="Only the messages for this topic, or of this producer group."),
    Flags("--name"),
]
LimitOption = Annotated[
    int, Option("--limit", metavar="N", help="Examine at most N messages of each broker.", min=1)
]


class FoundHalf(NamedTuple):
    """A half message on its broker. `connected` and `max_checks` are None if the broker did not tell."""

    target: BrokerTarget
    half: HalfMessage
    age_ms: int
    connected: bool | None
    max_checks: int | None

    @property
    def group_place(self) -> tuple[str, str]:
        return self.target.broker_addr or "", self.half.producer_group or ""


def _make_columns(checks: str, store_time: AnyColumn) -> Columns[FoundHalf]:
    return (
        *of_part(lambda f: f.half.message, (MSG_ID,)),
        *of_part(
            lambda f: f.half,
            (
                TOPIC.means("topic that the message is for"),
                PRODUCER_GROUP.means("producer group that the broker asks about the transaction"),
            ),
        ),
        Column(
            "connected", "whether a client of the group is connected to the broker", lambda f: f.connected
        ),
        *of_part(lambda f: f.target, (BROKER_NAME,)),
        Column("checks", checks, lambda f: f.half.check_count),
        Column("maxChecks", "checks after which the broker discards it", lambda f: f.max_checks, wide=True),
        Column("ageMs", "ms since the producer sent it, by both clocks", lambda f: to_millis(f.age_ms)),
        *of_part(
            lambda f: f.half.message,
            (KEYS, store_time, *(c.in_wide() for c in (BORN_TIME, BORN_HOST, TAGS, OFFSET_MSG_ID))),
        ),
        *of_part(lambda f: f.target, (BROKER_ADDR.in_wide(),)),
    )


HALF_COLUMNS = _make_columns(
    "checks until now", STORE_TIME.means("when the broker stored it, again with each check (UTC)").in_wide()
)
DISCARDED_COLUMNS = _make_columns(
    "checks before", Column("discardTime", "when the broker discarded it (UTC)", STORE_TIME.read)
)


class Resumption(NamedTuple):
    """What became of the request to check a discarded message again."""

    found: FoundHalf
    error: RocketMQError | None
    result: str


RESUME_COLUMNS: Columns[Resumption] = (
    *of_part(
        lambda r: r.found,
        tuple(c for c in DISCARDED_COLUMNS if c.key in ("msgId", "topic", "producerGroup", "connected")),
    ),
    *of_part(lambda r: r.found.target, (BROKER_NAME, BROKER_ADDR)),
    RESULT.means("done, dry-run or failed"),
    ERROR,
)


@command(
    columns=HALF_COLUMNS,
    examples=("elsewhere", "simulated brokers take no messages"),
    nothing="no half messages",
)
def transaction_list(
    session: Session,
    name: NameArgument = None,
    broker_text: ReadBrokerOption = None,
    cluster_name: ClusterMastersOption = None,
    read_limit: LimitOption = DEFAULT_READ_LIMIT,
) -> ResultRows:
    """List half messages: the messages of transactions that have not ended, the oldest first.

    A broker hides a half message from consumers until its producer commits it. After transactionTimeOut, the
    broker asks a connected client of the producer group. This counts as a check even if no client is
    connected. After transactionCheckMax checks, the broker discards the message. Brokers since 5.0 note the
    end of a transaction up to 3 seconds late.

    Examples:
        # How many half messages are open: all pending transactions of all topics, the oldest first
        nsadmin transaction list
        # Half messages of one topic, or of one producer group
        nsadmin transaction list payments
        # Half messages of producers that are not connected, so that nobody commits them
        nsadmin transaction list --filter connected=false
    """
    return _list_rows(
        session, HALF_COLUMNS, session.admin.transactions.list_half_messages,
        list_masters(session, broker_text, cluster_name), name, read_limit, warns=True,
    )  # fmt: skip


@command(
    columns=DISCARDED_COLUMNS,
    examples=("elsewhere", "simulated brokers take no messages"),
    nothing="no discarded half messages",
)
def transaction_discarded(
    session: Session,
    name: NameArgument = None,
    broker_text: ReadBrokerOption = None,
    cluster_name: ClusterMastersOption = None,
    read_limit: LimitOption = DEFAULT_READ_LIMIT,
) -> ResultRows:
    """List the half messages that brokers discarded after too many checks, the oldest first.

    No consumer gets a discarded message. The broker keeps it in the topic TRANS_CHECK_MAX_TIME_TOPIC until it
    deletes the file of the commit log. A message stays in the list after `nsadmin transaction resume`.

    Examples:
        # Half messages that ran out of checks: all that brokers gave up
        nsadmin transaction discarded
        # Discarded messages of a producer group
        nsadmin transaction discarded payments-producer
    """
    return _list_rows(
        session, DISCARDED_COLUMNS, session.admin.transactions.list_discarded,
        list_masters(session, broker_text, cluster_name), name, read_limit,
    )  # fmt: skip


@command(columns=RESUME_COLUMNS, examples=("elsewhere", "its id is that of a discarded message"))
def transaction_resume(
    session: Session,
    msg_id: Annotated[
        str,
        Argument(metavar="MSGID", help="msgId or offsetMsgId of `transaction discarded`."),
        Flags("-i", "--msgId"),
    ],
    broker_text: ReadBrokerOption = None,
    cluster_name: ClusterMastersOption = None,
    read_limit: LimitOption = DEFAULT_READ_LIMIT,
) -> ResultRows:
    """Have the broker check a discarded half message again, with no checks counted.

    The broker stores it as a half message, and asks the producer group for the outcome. Start a producer of
    the group first. nsadmin refuses if the broker checks the message already, if it is older than
    fileReservedTime, or if its topic has it.

    Examples:
        # Have a message checked again that ran out of checks: its id is in nsadmin transaction discarded
        nsadmin transaction resume 7F0000010B4B18B4AAC2910F8A1E0000 --yes
    """
    targets = list_masters(session, broker_text, cluster_name)
    results = session.admin.transactions.list_discarded(distinct_addrs(targets), read_limit)
    matches = (
        found
        for found in _list_found(session, targets, results)
        if msg_id in (found.half.message.msg_id, found.half.message.offset_msg_id)
    )
    found = next(matches, None)
    if found is None:
        for result in results:
            if result.error is not None:
                raise result.error
        raise NotFound(
            f'no discarded half message "{msg_id}" on {count_noun(len(results), "broker")}'
            + "".join(f"; {note}" for note in _unread_notes(targets, results))
        )
    session.confirm_change(
        f"Have {found.target.broker_name or found.target.broker_addr} check message {msg_id} again, "
        f"for topic {found.half.topic}?"
    )
    error = _resume(session, found)
    resumption = Resumption(found, error, outcome_word(error, "dry-run" if session.is_dry_run else "done"))
    notes = failure_notes([(found.target.broker_addr or "", error)])
    if error is None and found.connected is False:
        limit = f" after {count_noun(found.max_checks, 'check')}" if found.max_checks else ""
        notes.append(
            f"no client of {found.half.producer_group} is connected to the broker: start one, or the broker "
            f"discards the message again{limit}"
        )
    return ResultRows.from_records(RESUME_COLUMNS, [resumption], [error], notes)


def _resume(session: Session, found: FoundHalf) -> RocketMQError | None:
    transactions, addr = session.admin.transactions, found.target.broker_addr or ""
    try:
        transactions.preview_resume(addr, found.half, int(time() * 1000))
        if not session.is_dry_run:
            transactions.resume_check(addr, found.half)
    except RequestError as error:
        if error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED:
            return NotApplied(
                "the broker cannot check a discarded message again: its version does not know request 323"
            )
        return error
    except RocketMQError as error:
        return error
    return None


def _list_rows(
    session: Session,
    columns: Columns[FoundHalf],
    read: Callable[[Sequence[str], int], list[ServerResult[HalfMessages]]],
    targets: Sequence[BrokerTarget],
    name: str | None,
    read_limit: int,
    *,
    warns: bool = False,
) -> ResultRows:
    results = match_results(targets, read(distinct_addrs(targets), read_limit))
    found = [
        f
        for f in _list_found(session, targets, results)
        if name is None or name in (f.half.topic, f.half.producer_group)
    ]
    found.sort(key=lambda f: f.half.message.born_timestamp)
    failures = failure_notes(
        (t.broker_addr or t.broker_name or "", r.error) for t, r in zip(targets, results, strict=True)
    )
    notes = [*failures, *_unread_notes(targets, results)]
    if found:
        at_least = "at least " if notes else ""
        groups = {f.half.producer_group for f in found}
        session.write_remark(
            f"{at_least}{count_noun(len(found), 'message')} of {count_noun(len(groups), 'producer group')}"
        )
    silent_places: dict[tuple[str, str], list[FoundHalf]] = {}
    for f in found:
        if warns and f.connected is False:
            silent_places.setdefault(f.group_place, []).append(f)
    notes += [
        f"{group}: no client is connected to {halves[0].target.broker_name or addr}, so nobody answers for "
        f"{count_noun(len(halves), 'half message')}: start a producer of the group"
        for (addr, group), halves in silent_places.items()
    ]
    return ResultRows.from_records(columns, found, [r.error for r in results], notes)


def _list_found(
    session: Session, targets: Sequence[BrokerTarget], results: Sequence[ServerResult[HalfMessages]]
) -> list[FoundHalf]:
    now_ms = int(time() * 1000)
    found = [
        FoundHalf(target, half, now_ms - half.message.born_timestamp, None, None)
        for target, result in zip(targets, results, strict=True)
        for half in (result.result.messages if result.result is not None else ())
    ]
    places = list(dict.fromkeys(f.group_place for f in found))
    connected = {
        place: result.result
        for place, result in zip(places, session.admin.producers.find_connected(places), strict=True)
    }
    configs = session.admin.broker_configs.get_each(dict.fromkeys(addr for addr, _ in places))
    max_checks = {config.addr: (config.result or {}).get("transactionCheckMax", "") for config in configs}
    return [
        f._replace(
            connected=connected[f.group_place],
            max_checks=int(count_text) if (count_text := max_checks[f.group_place[0]]).isdecimal() else None,
        )
        for f in found
    ]


def _unread_notes(
    targets: Sequence[BrokerTarget], results: Sequence[ServerResult[HalfMessages]]
) -> list[str]:
    return [
        f"{target.broker_name or target.broker_addr}: "
        + (f"{count_noun(result.result.unread_count, 'message')} not examined: " if result.result else "")
        + "pass a larger --limit N"
        for target, result in zip(targets, results, strict=True)
        if isinstance(result.error, OverReadLimit)
        or (result.result is not None and result.result.unread_count)
    ]
