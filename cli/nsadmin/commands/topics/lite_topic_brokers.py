"""Asks the brokers of a lite topic, and makes rows of their answers."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from namesrv_core.errors import RocketMQError
from nsadmin.client import NotFound, ServerResult
from nsadmin.client.brokers.targets import target_at_addr
from nsadmin.client.results import error_text, is_not_found
from nsadmin.console.output import ResultRow, ResultRows
from nsadmin.console.session import Session

ResultT = TypeVar("ResultT")


class _RouteBroker(NamedTuple):
    """A broker of a route; `error` is the reason why it is not asked, None if it can be asked."""

    broker_name: str
    broker_addr: str | None
    error: RocketMQError | None = None

    def identity_row(self) -> ResultRow:
        return {"brokerName": self.broker_name, "brokerAddr": self.broker_addr}


def find_route_brokers(session: Session, parent_topic: str) -> list[_RouteBroker]:
    """The brokers of the topic's route, each with its master's address, or a slave's if it has no master."""
    return [
        _RouteBroker(
            queue_route.broker_name,
            queue_route.any_addr,
            None if queue_route.any_addr else NotFound("the broker is not registered now"),
        )
        for queue_route in session.admin.topics.get_route(parent_topic).queues
    ]


def find_holding_brokers(session: Session, parent_topic: str, group: str) -> list[_RouteBroker]:
    """The brokers of the route, with an error for each that lacks the group; NotFound if no broker has it.

    The commands check this first: brokers create a missing group on request (autoCreateSubscriptionGroup).
    """
    route_brokers = find_route_brokers(session, parent_topic)
    holder_results = ask_brokers(
        route_brokers,
        lambda broker_addrs: session.admin.groups.find_holders(group, map(target_at_addr, broker_addrs)),
    )
    if all(isinstance(holder_result.error, NotFound) for holder_result in holder_results):
        raise NotFound(f'no broker of "{parent_topic}" has the consumer group "{group}"')
    return [
        route_broker._replace(error=holder_result.error)
        for route_broker, holder_result in zip(route_brokers, holder_results, strict=True)
    ]


def ask_brokers(
    route_brokers: Sequence[_RouteBroker], ask_addrs: Callable[[list[str]], list[ServerResult[ResultT]]]
) -> list[ServerResult[ResultT]]:
    """One result for each broker: its answer, or the reason why it was not asked."""
    remaining_results = iter(
        ask_addrs(
            [
                route_broker.broker_addr
                for route_broker in route_brokers
                if route_broker.broker_addr and not route_broker.error
            ]
        )
    )
    return [
        ServerResult(route_broker.broker_addr or "", None, route_broker.error)
        if route_broker.error or not route_broker.broker_addr
        else next(remaining_results)
        for route_broker in route_brokers
    ]


def build_broker_rows(
    row_columns: Sequence[str],
    route_brokers: Sequence[_RouteBroker],
    server_results: Sequence[ServerResult[ResultT]],
    make_cells: Callable[[ResultT], ResultRow],
) -> ResultRows:
    broker_rows = [
        {**route_broker.identity_row(), **result_cells(server_result, make_cells)}
        for route_broker, server_result in zip(route_brokers, server_results, strict=True)
    ]
    return ResultRows(row_columns, broker_rows, [server_result.error for server_result in server_results])


def result_cells(
    server_result: ServerResult[ResultT], make_cells: Callable[[ResultT], ResultRow]
) -> ResultRow:
    if server_result.result is None:
        return {"error": None if server_result.error is None else error_text(server_result.error)}
    return make_cells(server_result.result)


def forgive_not_found(broker_rows: ResultRows) -> ResultRows:
    """If at least one broker succeeded, ignore "not found" errors of the others."""
    if None not in broker_rows.errors:
        return broker_rows
    return broker_rows._replace(
        errors=[None if is_not_found(broker_error) else broker_error for broker_error in broker_rows.errors]
    )
