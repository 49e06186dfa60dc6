"""Owns whatIf, which predicts the losses if some brokers or name servers stopped."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from time import time_ns
from typing import Annotated

from typer import Option

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.address import split_server_addr
from nsadmin.client.brokers.clusters import describe_shared_addr
from nsadmin.client.connection.addresses import DEFAULT_PROXY_PORT, parse_addrs
from nsadmin.client.results import error_text
from nsadmin.command_line.declarations import RequiredUnless, Values, command
from nsadmin.commands.procedures.proxy_outage_rows import (
    CONNECTION_COLUMNS,
    build_connection_rows,
    describe_proxy_outage,
)
from nsadmin.console.exit_codes import UsageError
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session
from nsadmin.operations.what_if.broker_outage import BrokerOutage, foresee_broker_outage
from nsadmin.operations.what_if.losses import GroupLoss, TopicOutageLoss, WorstLoss
from nsadmin.operations.what_if.name_server_outage import (
    NameServerListLoss,
    NameServerOutage,
    foresee_name_server_outage,
)
from nsadmin.operations.what_if.proxy_outage import foresee_proxy_outage

LOSS_COLUMNS = (
    "what", "name", "count", "finding", "lostRatio", "writeQueues", "writeQueuesLeft", "readQueues",
    "readQueuesLeft", "brokersLost", "topics", "clients", "namesrvAddrs",
)  # fmt: skip
LOSS_TABLE_COLUMNS = (
    "what", "name", "count", "finding", "lostRatio", "writeQueues", "writeQueuesLeft", "clients",
    "namesrvAddrs",
)  # fmt: skip
LIST_COLUMNS = ("what", "name", "count", "finding", "nameServers", "nameServersLeft")


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
    lists of name servers.

    With --down-proxy, the rows are groups and gRPC connections that are connected through these proxies only.
    A client that has several endpoints may connect to another proxy, which nsadmin cannot know.

    The exit code is 1 if something would stop, 3 if some server did not answer, else 0.

    Examples:
        # Before you stop broker-a-0: here some topics would stop (exit code 1)
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
        is_group_stopped = any(group_loss.remaining_count == 0 for group_loss in proxy_outage.group_losses)
        return ResultRows(
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
    broker_words = [
        broker_word.strip() for broker_word in (down_brokers or "").split(",") if broker_word.strip()
    ]
    if not broker_words:
        raise UsageError("invalid value for --down: write BROKER,BROKER")
    now_ms = time_ns() // 1_000_000
    return _outlook_rows(
        foresee_broker_outage(session.admin, broker_words, now_ms, include_system=include_system), show_each
    )


def _outlook_rows(broker_outage: BrokerOutage, show_each: bool) -> ResultRows:
    loss_rows = [
        *_topic_rows(broker_outage.topic_losses, show_each),
        *map(_group_row, broker_outage.lost_groups),
    ]
    stopped_topics = [
        topic_loss for topic_loss in broker_outage.topic_losses if topic_loss.topic_loss.stands_still
    ]
    stopped_groups = [group_loss for group_loss in broker_outage.lost_groups if group_loss.stands_still]
    errors_by_addr = {
        server_addr: error for server_addr, error in broker_outage.errors.items() if error is not None
    }
    notes = [
        f"{len(broker_outage.topic_losses)} of {broker_outage.topic_count} topics lose something: "
        f"{len(stopped_topics)} stop, {len(broker_outage.topic_losses) - len(stopped_topics)} lose "
        f"a part, {len(stopped_groups)} of {len(broker_outage.lost_groups)} groups cannot read a "
        f"topic; {broker_outage.write_share:.0%} of all write queues are lost",
        *(
            f"{describe_shared_addr(broker_addr, broker_names)}: all of them go down"
            for broker_addr, broker_names in broker_outage.shared_addrs.items()
        ),
        *(
            f"unknown state of {server_addr}: {error_text(error)}"
            for server_addr, error in errors_by_addr.items()
        ),
    ]
    return ResultRows(
        LOSS_COLUMNS,
        loss_rows,
        _exit_errors(errors_by_addr.values(), bool(stopped_topics or stopped_groups)),
        notes,
        LOSS_TABLE_COLUMNS,
    )


def _exit_errors(unknown_errors: Iterable[RocketMQError], stands_still: bool) -> list[RocketMQError | None]:
    failures = list(unknown_errors)
    if failures:
        return [None, *failures]
    return [WouldStandStillError("something would stop")] if stands_still else []


def _topic_rows(topic_losses: Sequence[WorstLoss], show_each: bool) -> Iterator[ResultRow]:
    """A row for each topic that would stop; the others grouped by their loss, or one by one with --detail."""
    for loss_key, similar_losses in groupby(
        topic_losses,
        lambda topic_loss: None if show_each or topic_loss.topic_loss.stands_still else _loss_key(topic_loss),
    ):
        if loss_key is None:
            yield from (_topic_row(topic_loss) for topic_loss in similar_losses)
        else:
            yield _combined_topic_row(list(similar_losses))


def _loss_key(topic_loss: WorstLoss) -> tuple[object, ...]:
    return topic_loss.topic_loss.write_share, topic_loss.topic_loss.lost_brokers, topic_loss.namesrv_addrs


def _topic_row(topic_loss: WorstLoss) -> ResultRow:
    loss = topic_loss.topic_loss
    return {
        **_common_cells(topic_loss),
        "what": "topic",
        "name": loss.topic,
        "count": 1,
        "writeQueues": loss.capacity_before.write_queues,
        "writeQueuesLeft": loss.capacity_after.write_queues,
        "readQueues": loss.capacity_before.read_queues,
        "readQueuesLeft": loss.capacity_after.read_queues,
    }


def _combined_topic_row(similar_losses: Sequence[WorstLoss]) -> ResultRow:
    if len(similar_losses) == 1:
        return _topic_row(similar_losses[0])
    return {
        **_common_cells(similar_losses[0]),
        "what": "topics",
        "name": f"{similar_losses[0].topic_loss.topic}, ...",
        "count": len(similar_losses),
    }


def _common_cells(topic_loss: WorstLoss) -> ResultRow:
    return {
        "finding": ", ".join(_finding_texts(topic_loss.topic_loss)),
        "lostRatio": round(topic_loss.topic_loss.write_share, 3),
        "brokersLost": list(topic_loss.topic_loss.lost_brokers),
        "namesrvAddrs": list(topic_loss.namesrv_addrs),
    }


def _finding_texts(loss: TopicOutageLoss) -> list[str]:
    checked_findings = {
        "no writable queue": loss.stops_writes,
        "no master": loss.loses_masters,
        "no readable queue": loss.stops_reads,
        f"its order configuration names {', '.join(loss.ordered_by)}": bool(loss.ordered_by),
        "its static queues stay in use": loss.is_static,
    }
    return [finding_text for finding_text, applies in checked_findings.items() if applies] or ["loses a part"]


def _group_row(group_loss: GroupLoss) -> ResultRow:
    first_topics = ", ".join(
        [*group_loss.stopped_topics[:3], *(["..."] if len(group_loss.stopped_topics) > 3 else [])]
    )
    finding = f"cannot read {first_topics}" if group_loss.stands_still else "reads less"
    return {
        "what": "group",
        "name": group_loss.group,
        "count": len(group_loss.stopped_topics) + len(group_loss.reduced_topics),
        "finding": finding,
        "topics": [*group_loss.stopped_topics, *group_loss.reduced_topics],
        "clients": group_loss.client_count,
    }


def _list_rows(list_losses: NameServerOutage, down_addrs: Sequence[str], show_each: bool) -> ResultRows:
    all_rows = [
        *(
            _lone_broker_row(f"{broker_name}:{broker_id}", down_addrs)
            for broker_name, broker_ids in list_losses.unshared_brokers.items()
            for broker_id in sorted(broker_ids)
        ),
        *(
            _list_row("broker", list_loss, list_loss.list_owner in list_losses.fetching_brokers)
            for list_loss in list_losses.broker_losses
        ),
        *(_list_row("client", list_loss, False) for list_loss in list_losses.client_losses),
    ]
    stranded_rows = [row for row in all_rows if row["finding"] not in _HARMLESS_FINDINGS]
    shown_rows = all_rows if show_each else list(_combine_harmless_rows(all_rows))
    errors_by_addr = {
        server_addr: error for server_addr, error in list_losses.errors_by_addr.items() if error is not None
    }
    broker_count, client_count = list_losses.asked_counts
    notes = [
        f"nsadmin read the lists of {broker_count} brokers and {client_count} consumers; "
        f"{list_losses.producer_count} producers cannot report theirs, "
        f"{list_losses.silent_count} consumers did not answer",
        *(
            f"unknown state of {server_addr}: {error_text(error)}"
            for server_addr, error in errors_by_addr.items()
        ),
    ]
    return ResultRows(
        LIST_COLUMNS, shown_rows, _exit_errors(errors_by_addr.values(), bool(stranded_rows)), notes
    )


_FEWER_LEFT, _FETCHES_NEW_LIST = "fewer remain", "none remain until it fetches a new list"
_HARMLESS_FINDINGS = (_FEWER_LEFT, _FETCHES_NEW_LIST)


def _combine_harmless_rows(rows: Sequence[ResultRow]) -> Iterator[ResultRow]:
    """Combine brokers or clients that keep a name server and have the same list into one row."""
    for (is_harmless, *_), grouped_rows in groupby(
        rows, lambda row: (row["finding"] in _HARMLESS_FINDINGS, *_values_without_name(row))
    ):
        similar_rows = list(grouped_rows)
        if is_harmless and len(similar_rows) > 1:
            yield {
                **similar_rows[0],
                "what": f"{similar_rows[0]['what']}s",
                "name": f"{similar_rows[0]['name']}, ...",
                "count": len(similar_rows),
            }
        else:
            yield from similar_rows


def _values_without_name(row: ResultRow) -> list[object]:
    return [cell_value for column_name, cell_value in row.items() if column_name != "name"]


def _lone_broker_row(broker_name: str, down_addrs: Sequence[str]) -> ResultRow:
    return {
        "what": "broker",
        "name": broker_name,
        "count": 1,
        "finding": "not registered on another name server",
        "nameServers": list(down_addrs),
        "nameServersLeft": [],
    }


def _list_row(client_kind: str, list_loss: NameServerListLoss, fetches_lists: bool) -> ResultRow:
    nothing_left = _FETCHES_NEW_LIST if fetches_lists else "none remain"
    return {
        "what": client_kind,
        "name": list_loss.list_owner,
        "count": 1,
        "finding": _FEWER_LEFT if list_loss.remaining_addrs else nothing_left,
        "nameServers": list(list_loss.listed_addrs),
        "nameServersLeft": list(list_loss.remaining_addrs),
    }


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
