"""The state of each observed server: its last answer, its error, and the time since when it is silent.

Rule: it changes only by polls. It reads no clock and asks no server.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeGuard, TypeVar

from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.tui.polling.poll_records import BrokerPolled, NameServerPolled

P = TypeVar("P")
R = TypeVar("R")

_SPARKLINE_POINTS = 60
_MAX_NUMBER = 1e100


def is_number(value: float | None) -> TypeGuard[float]:
    """Whether a figure of a server can be shown: no NaN, no infinity, no number of 400 digits."""
    return value is not None and abs(value) <= _MAX_NUMBER


class BrokerProcessKey(NamedTuple):
    name: str
    id: int
    addr: str

    @property
    def role(self) -> str:
        return "master" if self.id == 0 else f"slave {self.id}"


class Silence(NamedTuple):
    """Why data is missing or old, and since when. `since_ms` is None before the first answer."""

    reason: str
    since_ms: int | None = None


class LatestAnswer(Generic[P]):
    """The last answer to one kind of poll, and its error. `silent_since_ms` is None while it is answered.

    `miss_count` counts the polls that failed since the last answer.
    """

    def __init__(self) -> None:
        self.last_poll: P | None = None
        self.error_text: str | None = None
        self.error_kind: str | None = None
        self.silent_since_ms: int | None = None
        self.miss_count = 0

    def record_answer(self, poll: P) -> None:
        self.last_poll, self.error_text, self.error_kind, self.silent_since_ms = poll, None, None, None
        self.miss_count = 0

    def record_failure(self, failed_at_ms: int, error_text: str, error_kind: str | None = None) -> None:
        self.error_text, self.error_kind = error_text, error_kind
        self.miss_count += 1
        if self.silent_since_ms is None:
            self.silent_since_ms = failed_at_ms

    @property
    def is_fresh(self) -> bool:
        return self.last_poll is not None and self.error_text is None

    @property
    def current_silence(self) -> Silence | None:
        return None if self.error_text is None else Silence(self.error_text, self.silent_since_ms)


def last_poll_of(answer: LatestAnswer[P] | None) -> P | None:
    """The last poll that was answered; None if there is none, or if nothing was asked yet."""
    return None if answer is None else answer.last_poll


class ObservedNameServer(LatestAnswer[NameServerPolled]):
    """A name server. Fields that a poll omits as unchanged keep the values of earlier polls."""

    def __init__(self, namesrv_addr: str) -> None:
        super().__init__()
        self.addr = namesrv_addr
        self.reported_topics: Sequence[str] = ()
        self.topic_set: frozenset[str] = frozenset()
        self.settings: Mapping[str, str] = {}
        self.kv_tables: Mapping[str, Mapping[str, str | None]] = {}
        self.unreported: Mapping[str, str] = {}
        self.latencies_ms: deque[float | None] = deque(maxlen=_SPARKLINE_POINTS)

    @property
    def peer_addr(self) -> str:
        """The address that the connection leads to; the name server's own, if it is unknown."""
        return (self.last_poll and self.last_poll.peer) or self.addr

    def apply_poll(self, poll: NameServerPolled) -> None:
        self.latencies_ms.append(None if poll.error is not None else poll.millis)
        if poll.error is not None:
            self.record_failure(poll.at, poll.error)
            return
        self.record_answer(poll)
        self.unreported = poll.unreported
        if poll.topics is not None and poll.topics != self.reported_topics:
            # Keep the same object while nothing changes, so that `compute_once` finds its cached results.
            self.reported_topics, self.topic_set = poll.topics, frozenset(poll.topics)
        if poll.settings is not None:
            self.settings = poll.settings
        if poll.kv is not None:
            self.kv_tables = poll.kv


class ObservedBroker(LatestAnswer[BrokerPolled]):
    """A broker process and the name servers that list it.

    `gone_since_ms` is the time since when no name server lists it. `heartbeat_silences` has for each name
    server: the time of the last heartbeat, the expiry time in ms, and the time of the poll.
    """

    def __init__(self, cluster_name: str, key: BrokerProcessKey) -> None:
        super().__init__()
        self.cluster_name = cluster_name
        self.key = key
        self.listed_by: set[str] = set()
        self.gone_since_ms: int | None = None
        self.answer_ms: float | None = None
        self.heartbeat_silences: dict[str, tuple[int, int, int]] = {}
        self.poll_times_ms: deque[int] = deque(maxlen=_SPARKLINE_POINTS)
        self.put_rates: deque[float | None] = deque(maxlen=_SPARKLINE_POINTS)
        self.get_rates: deque[float | None] = deque(maxlen=_SPARKLINE_POINTS)
        self._computed_results: dict[object, Any] = {}

    @property
    def is_fresh(self) -> bool:
        """Whether the broker answers. nsadmin does not ask a broker that no name server lists."""
        return self.gone_since_ms is None and super().is_fresh

    def apply_poll(self, poll: BrokerPolled) -> None:
        self.answer_ms = poll.millis
        self._computed_results = {}
        if poll.table is None:
            self.record_failure(poll.at, poll.error or "", poll.kind)
        else:
            self.record_answer(poll)
        self.poll_times_ms.append(poll.at)
        self.put_rates.append(self.put_rate)
        self.get_rates.append(self.get_rate)

    @property
    def put_rate(self) -> float | None:
        return self.read_now("putTps")

    @property
    def get_rate(self) -> float | None:
        return self.read_now("getTransferredTps", "getTransferedTps")

    def read_now(self, *figure_keys: str) -> float | None:
        """As `read_number`; None if the broker does not answer any more."""
        return self.read_number(*figure_keys) if self.is_fresh else None

    def read_number(self, *figure_keys: str) -> float | None:
        """The first number of the first of these figures that its last answer has. NaN is no number."""
        # Each redraw reads the number.
        return self.compute_once(figure_keys, lambda: self._parse_number(figure_keys))

    def compute_once(self, result_key: object, compute_result: Callable[[], R]) -> R:
        """Cache a result that depends only on the last poll."""
        if result_key not in self._computed_results:
            self._computed_results[result_key] = compute_result()
        result: R = self._computed_results[result_key]
        return result

    def _parse_number(self, figure_keys: Sequence[str]) -> float | None:
        for key in figure_keys:
            text = self.read_text(key) or ""
            if text.strip():
                return RuntimeInfo({key: text}).get_number(key)
        return None

    def read_text(self, key: str) -> str | None:
        table = self.last_poll.table if self.last_poll is not None else None
        return None if table is None else table.get(key)
