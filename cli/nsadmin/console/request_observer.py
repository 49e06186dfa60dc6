"""Observes the requests of a command: prints them for --debug, and records the changes that were sent.

It shows code, address, outcome and size of a request, and no field or body, because these may be secret.
"""

from collections.abc import Sequence

from namesrv_core.errors import ResponseCode
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport.multiplexed_client import CallError, Exchange, ExchangeObserver
from nsadmin.console import stderr


def combine_observers(observers: Sequence[ExchangeObserver]) -> ExchangeObserver | None:
    """Combine observers into one; None without any."""
    if len(observers) < 2:
        return observers[0] if observers else None

    def notify_all(exchange: Exchange) -> None:
        for observer in observers:
            observer(exchange)

    return notify_all


def create_tracer(started_at: float) -> ExchangeObserver:
    """Create an observer that prints a line per request; times count from `started_at` (`time.monotonic`)."""
    return lambda exchange: stderr.write_stderr_line(format_trace_line(exchange, started_at))


def format_trace_line(exchange: Exchange, started_at: float) -> str:
    """Format a request: time, address, code, outcome, milliseconds, bytes."""
    via_suffix = f" via {exchange.via}" if exchange.via else ""
    return (
        f"+{(exchange.began - started_at) * 1000:.0f} ms {exchange.addr}{via_suffix}"
        f" {request_name(exchange.code)} ({exchange.code}): {outcome_text(exchange)},"
        f" {exchange.seconds * 1000:.1f} ms, {exchange.bytes_out} bytes out, {exchange.bytes_in} in"
    )


def request_name(request_code: int) -> str:
    try:
        return RequestCode(request_code).name
    except ValueError:
        return "request"


def outcome_text(exchange: Exchange) -> str:
    return describe_outcome(exchange.outcome)


def describe_outcome(outcome: int | CallError) -> str:
    if isinstance(outcome, CallError):
        return outcome.reason
    try:
        return f"{ResponseCode(outcome).name} ({outcome})"
    except ValueError:
        return f"response code ({outcome})"


class SentChanges:
    """Records the requests that change something, and their outcomes.

    Equal requests to one server with the same outcome are counted, because a command can run for days.
    """

    def __init__(self) -> None:
        self._counts_by_kind: dict[tuple[str, int, str], tuple[Exchange, int]] = {}
        self._latest_request: tuple[str, int, float] | None = None

    def __call__(self, exchange: Exchange) -> None:
        request_key = (exchange.addr, exchange.code, exchange.began)
        # After an interruption, the client may report the latest request again.
        is_repeated = _is_interrupted(exchange) and request_key == self._latest_request
        if RequestCode.is_change(exchange.code) and not is_repeated:
            change_kind = (exchange.addr, exchange.code, outcome_text(exchange))
            first_exchange, repeat_count = self._counts_by_kind.get(change_kind, (exchange, 0))
            self._counts_by_kind[change_kind] = first_exchange, repeat_count + 1
            self._latest_request = request_key

    @property
    def first_exchanges(self) -> list[Exchange]:
        """The first request of each kind, in order."""
        return [first_exchange for first_exchange, _ in self._counts_by_kind.values()]

    @property
    def counted_exchanges(self) -> list[tuple[Exchange, int]]:
        """The first request of each kind, and the number of equal ones."""
        return list(self._counts_by_kind.values())

    def describe_outcomes(self) -> str:
        done_places = [_request_place(exchange) for exchange in self.first_exchanges if exchange.outcome == 0]
        unsure_places = [
            _request_place(exchange)
            for exchange in self.first_exchanges
            if isinstance(exchange.outcome, CallError) and exchange.outcome.was_sent
        ]
        outcome_parts = [(done_places, "done"), (unsure_places, "may have been done")]
        return "; ".join(f"{words}: {', '.join(places)}" for places, words in outcome_parts if places)


def _is_interrupted(exchange: Exchange) -> bool:
    return isinstance(exchange.outcome, CallError) and exchange.outcome.kind == "interrupted"


def _request_place(exchange: Exchange) -> str:
    return f"{request_name(exchange.code)} on {exchange.addr}"
