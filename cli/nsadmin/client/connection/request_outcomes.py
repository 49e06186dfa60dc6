"""Turns answers into results, refuses changes of read-only clients, names servers by their own addresses."""

from collections.abc import Container, Iterable

from namesrv_core.errors import build_request_error
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError, ExchangeObserver
from nsadmin.client.connection.change_codes import CHANGE_CODES
from nsadmin.client.results import ReadOnlyAccess, ServerResult


def refuse_changes(calls: Iterable[tuple[str, RemotingCommand]]) -> None:
    """Refuse requests that change something."""
    for addr, command in calls:
        if command.code in CHANGE_CODES:
            raise ReadOnlyAccess(f"not sent to {addr}: {RequestCode(command.code).name} changes the server")


def judge_answer(
    server_addr: str,
    command: RemotingCommand,
    answer: RemotingCommand | CallError,
    accepted_codes: Container[int],
) -> ServerResult[RemotingCommand]:
    """Turn an answer into a success or a failure."""
    if isinstance(answer, CallError):
        if answer.addr != server_addr:
            answer = CallError(server_addr, answer.kind, f"through {answer.addr}: {answer.reason}")
        if answer.was_sent and command.code in CHANGE_CODES:
            answer = CallError(server_addr, answer.kind, f"{answer.reason}; the change is possibly done")
        return ServerResult(server_addr, None, answer)
    if answer.code not in accepted_codes:
        error = build_request_error(answer.code, answer.remark)
        error.addr = server_addr
        return ServerResult(server_addr, None, error)
    return ServerResult(server_addr, answer, None)


def report_original_addrs(
    observer: ExchangeObserver,
    calls: Iterable[tuple[str, RemotingCommand]],
    mapped_calls: Iterable[tuple[str, RemotingCommand]],
) -> ExchangeObserver:
    """Wrap an observer so that an Exchange names a mapped broker by its original address."""
    original_addrs = {a: addr for (addr, _), (a, _) in zip(calls, mapped_calls, strict=True) if a != addr}
    if not original_addrs:
        return observer
    return lambda e: observer(
        e._replace(addr=original_addrs[e.addr], via=e.addr) if e.addr in original_addrs else e
    )
