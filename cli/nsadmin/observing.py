"""Observing: what is made of each request while a command runs: a line of --debug, the changes sent.

Law: of a request its code, place, outcome and size are told; no field and no body, which may be secret.
"""

from collections.abc import Sequence

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport.multiplexed_client import CallError, Exchange, ExchangeObserver
from nsadmin import diagnostics
from nsadmin.client.connection.caller import CHANGE_CODES


def together(observers: Sequence[ExchangeObserver]) -> ExchangeObserver | None:
    """One observer for all of them; None, which costs nothing, for none."""
    if len(observers) < 2:
        return observers[0] if observers else None

    def tell_all(exchange: Exchange) -> None:
        for observer in observers:
            observer(exchange)

    return tell_all


def tracer(started: float) -> ExchangeObserver:
    """Says each request in a line; times are counted from `started` (`time.monotonic`)."""
    return lambda exchange: diagnostics.say(line(exchange, started))


def line(exchange: Exchange, started: float) -> str:
    """When, where, what, outcome, milliseconds, bytes."""
    via = f" via {exchange.via}" if exchange.via else ""
    return (
        f"+{(exchange.began - started) * 1000:.0f} ms {exchange.addr}{via} {request_name(exchange.code)}"
        f" ({exchange.code}): {outcome(exchange)}, {exchange.seconds * 1000:.1f} ms,"
        f" {exchange.bytes_out} bytes out, {exchange.bytes_in} in"
    )


def request_name(code: int) -> str:
    try:
        return RequestCode(code).name
    except ValueError:
        return "request"


def outcome(exchange: Exchange) -> str:
    """The name and number of the answer's code, or why there is no answer."""
    if isinstance(exchange.outcome, CallError):
        return exchange.outcome.reason
    try:
        return f"{ResponseCode(exchange.outcome).name} ({exchange.outcome})"
    except ValueError:
        return f"response code ({exchange.outcome})"


class SentChanges:
    """Remembers the requests that change something: those that were done, and those that may have been.

    What is sent again and again to one server with one outcome is counted: a command may go on for days.
    """

    def __init__(self) -> None:
        self._by_kind: dict[tuple[str, int, str], tuple[Exchange, int]] = {}

    def __call__(self, exchange: Exchange) -> None:
        if exchange.code in CHANGE_CODES:
            kind = (exchange.addr, exchange.code, outcome(exchange))
            first, times = self._by_kind.get(kind, (exchange, 0))
            self._by_kind[kind] = first, times + 1

    @property
    def exchanges(self) -> list[Exchange]:
        """The first of each kind, in order."""
        return [first for first, _ in self._by_kind.values()]

    @property
    def counted(self) -> list[tuple[Exchange, int]]:
        """The same, and how often."""
        return list(self._by_kind.values())

    def story(self) -> str:
        """What was done and what may have been, for who interrupted it."""
        done = [_place(exchange) for exchange in self.exchanges if exchange.outcome == 0]
        unsure = [
            _place(exchange)
            for exchange in self.exchanges
            if isinstance(exchange.outcome, CallError) and exchange.outcome.was_sent
        ]
        parts = [(done, "done"), (unsure, "may have been done")]
        return "; ".join(f"{what}: {', '.join(places)}" for places, what in parts if places)


def _place(exchange: Exchange) -> str:
    return f"{request_name(exchange.code)} on {exchange.addr}"
