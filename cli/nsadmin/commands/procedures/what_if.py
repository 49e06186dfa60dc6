"""Owns whatIf, which predicts the losses if some brokers or name servers stopped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from time import time_ns
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.address import split_server_addr
from nsadmin.client.advised_command import quote_command
from nsadmin.client.brokers.clusters import describe_shared_addr
from nsadmin.client.connection.addresses import DEFAULT_PROXY_PORT, parse_addrs
from nsadmin.client.results import error_text
from nsadmin.command_line.argument_values import parse_name_list
from nsadmin.command_line.declarations import RequiredUnless, Values, command
from nsadmin.commands.procedures.outage_rows import (
    CONNECTION_COLUMNS,
    LIST_COLUMNS,
    LOSS_COLUMNS,
    OutageRow,
    build_connection_rows,
    describe_proxy_outage,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRows
from nsadmin.console.phrases import abbreviate_names, count_noun, part_is
from nsadmin.console.session import Session
from nsadmin.operations.broker_identity import remark_twins
from nsadmin.operations.slave_reads import CUT_OFF_GROUPS_COMMAND, describe_refusal
from nsadmin.operations.what_if.broker_outage import BrokerOutage, foresee_broker_outage
from nsadmin.operations.what_if.losses import GroupLoss, TopicOutageLoss, WorstLoss
from nsadmin.operations.what_if.name_server_outage import (
    NameServerListLoss,
    NameServerOutage,
    foresee_name_server_outage,
)
from nsadmin.operations.what_if.proxy_outage import foresee_proxy_outage


class WouldStandStillError(RocketMQError):
    """Some topic, group or client would stop working."""


@command(columns=(*LOSS_COLUMNS, *LIST_COLUMNS, *CONNECTION_COLUMNS))
def what_if(
    session: Session,
    down_brokers: Annotated[
        str | None,
        Option(
            "--down",
            metavar="BROKERS",
            help="Broker names, separated by commas. broker-a:0 is only its master.",
        ),
        Values("brokers"),
        RequiredUnless("down_namesrv", "down_proxy"),
    ] = None,
    down_namesrv: Annotated[
        str | None,
        Option("--down-namesrv", metavar="ADDRS", help="Addresses of name servers, separated by commas."),
    ] = None,
    down_proxy: Annotated[
        str | None,
        Option("--down-proxy", metavar="ADDRS", help="Addresses of proxies, separated by commas."),
        Values("proxies"),
    ] = None,
    show_each: Annotated[
        bool, Option("--detail", help="Show each topic, broker and client, also those with a partial loss.")
    ] = False,
    include_system: Annotated[
        bool,
        Option("--system", help="Include RocketMQ's own topics, and topics of retries and dead letters."),
    ] = False,
) -> ResultRows:
    """Predict the losses of topics, groups and clients without some brokers, name servers or proxies.

    Nothing changes. nsadmin examines the topics on each name server. The first rows are topics that would
    stop, because they would have no writable queue, no readable queue or no master. Topics also stop if an
    order configuration or static queues make clients send to a missing broker. Other topics lose lostRatio of
    their write queues. Groups are those that read topics of these brokers now. Only consumers report their
    lists of name servers. A slave counts as readable only if its slaveReadEnable is true. If it is not,
    nsadmin prints the command that turns it on.

    With --down-proxy, the rows are groups and gRPC connections that are connected through these proxies only.
    A client that has several endpoints may connect to another proxy, which nsadmin cannot know.

    The exit code is 1 if something would stop, 3 if some server did not answer, else 0.

    Examples:
        # If broker-a-0 stops, dies or is lost: here some topics would stop (exit code 1)
        nsadmin whatIf --down broker-a-0
        # While its master restarts: which topics would stop? (exit code 1)
        nsadmin whatIf --down broker-a-0:0 --detail --filter what=topic
        # Clients that would have no name server left (exit code 1)
        nsadmin whatIf --down-namesrv 127.0.0.1:9876
    """
    given_count = sum(option is not None for option in (down_brokers, down_namesrv, down_proxy))
    if given_count != 1:
        raise UsageError("pass exactly one of --down BROKERS, --down-namesrv ADDRS and --down-proxy ADDRS")
    if down_proxy is not None:
        proxy_outage = foresee_proxy_outage(
            session.admin, parse_addrs(down_proxy, DEFAULT_PROXY_PORT), _address_matcher()
        )
        is_group_stopped = any(loss.remaining_count == 0 for loss in proxy_outage.group_losses)
        return ResultRows.from_records(
            CONNECTION_COLUMNS,
            build_connection_rows(proxy_outage, show_each),
            _exit_errors(proxy_outage.errors.values(), is_group_stopped),
            describe_proxy_outage(proxy_outage),
        )
    if down_namesrv is not None:
        down_addrs = parse_addrs(down_namesrv)
        return _list_rows(
            foresee_name_server_outage(session.admin, down_addrs, _address_matcher()), down_addrs, show_each
        )
    broker_words = parse_name_list("--down", down_brokers)
    now_ms = time_ns() // 1_000_000
    outage = foresee_broker_outage(session.admin, broker_words, now_ms, include_system=include_system)
    remark_twins(session)
    return _outlook_rows(outage, show_each)


def _outlook_rows(outage: BrokerOutage, show_each: bool) -> ResultRows:
    losses, groups = outage.topic_losses, outage.lost_groups
    rows = [*_topic_rows(losses, show_each), *map(_group_row, groups)]
    stopped_count = sum(loss.topic_loss.stands_still for loss in losses)
    stopped_groups = sum(group.stands_still for group in groups)
    errors = {addr: error for addr, error in outage.errors.items() if error is not None}
    notes = [
        *(
            f"{name} has no master now, so what its death broke is not in this list. Topics that it no "
            f"longer takes: `{quote_command('check', 'writable')}`. Groups that cannot read: "
            f"`{quote_command(*CUT_OFF_GROUPS_COMMAND)}`"
            for name in outage.masterless_brokers
        ),
        *(
            f"taken as down: {', '.join(f'{name}:{broker_id}' for broker_id in ids)}; for the master alone: "
            f"--down {name}:{ids[0]}"
            for name, ids in outage.down_groups.items()
        ),
        f"{part_is(len(losses), outage.topic_count, 'topic')} affected: {stopped_count} would fail for "
        f"clients, {len(losses) - stopped_count} would lose a part of their queues",
        f"{_describe_groups(len(groups), stopped_groups, list(errors))}; "
        f"{outage.write_share:.0%} of all write queues would be lost",
        *(
            [
                f"{abbreviate_names(outage.groupless_addrs, 4)} returned no groups: groups that no other "
                f"broker knows are missing. To see which groups cannot read now, run "
                f"{quote_command(*CUT_OFF_GROUPS_COMMAND)}"
            ]
            if outage.groupless_addrs
            else []
        ),
        *(
            f"{describe_shared_addr(addr, names)}: all of them go down"
            for addr, names in outage.shared_addrs.items()
        ),
        *map(describe_refusal, outage.refusing_slaves),
        *(f"unknown state of {addr}: {error_text(error)}" for addr, error in errors.items()),
    ]
    is_stopped = bool(stopped_count or stopped_groups)
    return ResultRows.from_records(LOSS_COLUMNS, rows, _exit_errors(errors.values(), is_stopped), notes)


def _describe_groups(group_count: int, stopped_count: int, silent_addrs: Sequence[str]) -> str:
    if group_count:
        return f"{stopped_count} of {count_noun(group_count, 'affected group')} would stop reading a topic"
    if silent_addrs:
        return f"affected groups are unknown, because {abbreviate_names(silent_addrs, 4)} did not answer"
    return "no group is affected"


def _exit_errors(unknown_errors: Iterable[RocketMQError], stands_still: bool) -> list[RocketMQError | None]:
    failures = list(unknown_errors)
    if failures:
        return [None, *failures]
    return [WouldStandStillError("something would stop")] if stands_still else []


def _topic_rows(losses: Sequence[WorstLoss], show_each: bool) -> Iterator[OutageRow]:
    """A row for each topic that would stop; the others grouped by their loss, or one by one with --detail."""

    def loss_key(loss: WorstLoss) -> object:
        topic_loss = loss.topic_loss
        if show_each or topic_loss.stands_still:
            return None
        part = _describe_part(topic_loss)
        return topic_loss.write_share, part, topic_loss.lost_brokers, loss.namesrv_addrs

    for key, group in groupby(losses, loss_key):
        rows = [_topic_row(loss) for loss in group]
        if key is None or len(rows) == 1:
            yield from rows
        else:
            yield rows[0]._replace(
                what="topics",
                name=f"{rows[0].name}, ...",
                item_count=len(rows),
                write_queues=None,
                read_queues=None,
            )


def _topic_row(worst_loss: WorstLoss) -> OutageRow:
    loss = worst_loss.topic_loss
    before, after = loss.capacity_before, loss.capacity_after
    return OutageRow(
        "topic",
        loss.topic,
        1,
        ", ".join(_finding_texts(loss)),
        round(loss.write_share, 3) if before.write_queues else None,
        (before.write_queues, after.write_queues),
        (before.read_queues, after.read_queues),
        list(loss.lost_brokers),
        namesrv_addrs=list(worst_loss.namesrv_addrs),
    )


def _finding_texts(loss: TopicOutageLoss) -> list[str]:
    findings = {
        "no writable queue": loss.stops_writes,
        "no master": loss.loses_masters,
        "no readable queue": loss.stops_reads,
        f"its order configuration names {', '.join(loss.ordered_by)}": bool(loss.ordered_by),
        "its static queues stay in use": loss.is_static,
    }
    return [text for text, applies in findings.items() if applies] or [_describe_part(loss)]


def _describe_part(loss: TopicOutageLoss) -> str:
    if loss.write_share:
        return "loses a part of its write queues"
    loses_reads = loss.capacity_after.read_queues < loss.capacity_before.read_queues
    return "loses read queues, but no write queue" if loses_reads else "loses a master, but no queue"


def _group_row(loss: GroupLoss) -> OutageRow:
    topics = [*loss.stopped_topics, *loss.reduced_topics]
    first = ", ".join([*loss.stopped_topics[:3], *(["..."] if len(loss.stopped_topics) > 3 else [])])
    finding = f"cannot read {first}" if loss.stands_still else "reads from fewer queues"
    return OutageRow("group", loss.group, len(topics), finding, topics=topics, clients=loss.client_count)


def _list_rows(outage: NameServerOutage, down_addrs: Sequence[str], show_each: bool) -> ResultRows:
    rows = [
        *(
            OutageRow(
                "broker",
                f"{broker_name}:{broker_id}",
                1,
                "not registered on another name server",
                namesrv_addrs=list(down_addrs),
                namesrv_addrs_left=[],
            )
            for broker_name, broker_ids in outage.unshared_brokers.items()
            for broker_id in sorted(broker_ids)
        ),
        *(
            _list_row("broker", loss, loss.list_owner in outage.fetching_brokers)
            for loss in outage.broker_losses
        ),
        *(_list_row("client", loss, False) for loss in outage.client_losses),
    ]
    is_stranded = any(row.finding not in _HARMLESS_FINDINGS for row in rows)
    errors = {addr: error for addr, error in outage.errors_by_addr.items() if error is not None}
    broker_count, client_count = outage.asked_counts
    producers = count_noun(outage.producer_count, "producer")
    notes = [
        f"compared the name server lists of {count_noun(broker_count, 'broker')} and "
        f"{count_noun(client_count, 'consumer')}"
        + (
            f"; producers do not report theirs: check namesrvAddr of {producers}"
            if outage.producer_count
            else ""
        ),
        *(
            [f"{count_noun(outage.silent_count, 'consumer')} did not report theirs"]
            if outage.silent_count
            else []
        ),
        *(f"unknown state of {addr}: {error_text(error)}" for addr, error in errors.items()),
    ]
    shown = rows if show_each else _combine_harmless_rows(rows)
    return ResultRows.from_records(LIST_COLUMNS, shown, _exit_errors(errors.values(), is_stranded), notes)


_FEWER_LEFT = "fewer name servers remain"
_FETCHES_NEW_LIST = "no name server remains until it fetches a new list"
_HARMLESS_FINDINGS = (_FEWER_LEFT, _FETCHES_NEW_LIST)


def _combine_harmless_rows(rows: Sequence[OutageRow]) -> Iterator[OutageRow]:
    """Combine brokers or clients that keep a name server and have the same list into one row."""
    for unnamed_row, group in groupby(rows, lambda row: row._replace(name=None)):
        alike = list(group)
        if unnamed_row.finding in _HARMLESS_FINDINGS and len(alike) > 1:
            yield alike[0]._replace(
                what=f"{alike[0].what}s", name=f"{alike[0].name}, ...", item_count=len(alike)
            )
        else:
            yield from alike


def _list_row(what: str, loss: NameServerListLoss, fetches_lists: bool) -> OutageRow:
    nothing_left = _FETCHES_NEW_LIST if fetches_lists else "no name server remains"
    return OutageRow(
        what,
        loss.list_owner,
        1,
        _FEWER_LEFT if loss.remaining_addrs else nothing_left,
        namesrv_addrs=list(loss.listed_addrs),
        namesrv_addrs_left=list(loss.remaining_addrs),
    )


def _address_matcher() -> Callable[[str, str], bool]:
    """A predicate for two addresses of the same server: one list can have a host name, another its IP."""
    from functools import cache
    from socket import SOCK_STREAM, getaddrinfo

    @cache
    def resolve_addr(server_addr: str) -> frozenset[object]:
        host_and_port = split_server_addr(server_addr)
        try:
            address_infos = getaddrinfo(*host_and_port, type=SOCK_STREAM) if host_and_port else ()
            return frozenset(address_info[4] for address_info in address_infos)
        except (OSError, ValueError):
            return frozenset()

    return lambda first_addr, second_addr: (
        first_addr == second_addr or not resolve_addr(first_addr).isdisjoint(resolve_addr(second_addr))
    )
