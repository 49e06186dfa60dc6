"""AnswerRecorder, which notes what servers answer, and limits the requests that they get.

Rule: no request is sent twice, so equal reads of several procedures cost one request.
"""

from _thread import RLock, get_ident
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from time import monotonic, sleep
from typing import Any, NamedTuple

from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client import wall_clock
from nsadmin.client.bundles.answer_table import Outcome, RecordedFailure, RequestKey, make_key, record_outcome
from nsadmin.client.bundles.bundle_answers import MESSAGE_CODES, NOT_IN_BUNDLE, probe_key
from nsadmin.client.bundles.derived_answers import derive_answer
from nsadmin.client.connection.answer_source import SendLive

_BATCH_SECONDS = 0.2
"""How long the requests of one batch may take at the limit of the rate."""
_MAX_UNANSWERED = 3
"""After this number of requests without an answer, a server gets no further request."""


class RequestRates(NamedTuple):
    """The limit of requests to one server in a second.

    The default for name servers is higher, because they answer from memory, and have a route of each topic.
    """

    name_server: int = 20_000
    broker: int = 5000


DEFAULT_RATES = RequestRates()


class AnswerRecorder:
    """An AnswerSource that asks the servers, and keeps the answers. Thread-safe; one batch at a time.

    `rates` limits the requests to one server in a second: all but `namesrv_addrs` have the limit of brokers.
    Ages are computed for `clock_ms`. `tables` are answers by address, `probes` results by
    `probe_key`. `skipped_counts` has the requests that the limit of details prevented, by code, and
    `silent_servers` why a server gets no further request.
    """

    is_static = False

    def __init__(
        self,
        rates: RequestRates = DEFAULT_RATES,
        namesrv_addrs: Collection[str] = (),
        pause_seconds: Callable[[float], object] = sleep,
    ) -> None:
        self._rates = rates
        self._namesrv_addrs = frozenset(namesrv_addrs)
        self.clock_ms = int(wall_clock.time() * 1000)
        self._pause_seconds = pause_seconds
        self._lock = RLock()
        self._remaining_details: int | None = None
        self._unanswered_counts: Counter[str] = Counter()
        self._probing_threads: set[int] = set()
        self.tables: dict[str, dict[RequestKey, Outcome]] = {}
        self.probes: dict[str, Any] = {}
        self.skipped_counts: Counter[int] = Counter()
        self.silent_servers: dict[str, RecordedFailure] = {}

    def limit_requests(self, request_count: int) -> None:
        """Send at most this number of further requests; count the others as skipped."""
        self._remaining_details = request_count

    @property
    def is_exhausted(self) -> bool:
        """Whether the limit prevents every further request."""
        return self._remaining_details is not None and self._remaining_details <= 0

    def answer_calls(
        self, identity: str, calls: Sequence[tuple[str, RemotingCommand]], send_live: SendLive
    ) -> list[RemotingCommand | CallError]:
        """Answer requests: known ones from memory, the others from their servers.

        A probe may read messages, because it returns a result without them. They are not kept.
        """
        if get_ident() in self._probing_threads and all(c.code in MESSAGE_CODES for _, c in calls):
            return send_live(range(len(calls)))
        keyed_calls = [(server_addr, make_key(identity, command)) for server_addr, command in calls]
        with self._lock:
            outcomes = self._send_unknown(keyed_calls, send_live)
            return [
                _replay_outcome(a, outcomes.get((a, key)) or self.tables[a][key]) for a, key in keyed_calls
            ]

    def answer_probe(self, probe_name: str, server_addr: str, probe_live: Callable[[], Any]) -> Any:
        """Probe a server, once; raise CallError if the probe failed."""
        key = probe_key(probe_name, server_addr)
        with self._lock:
            outcome = self.probes.get(key)
        if outcome is None:
            thread_id = get_ident()
            self._probing_threads.add(thread_id)
            try:
                outcome = {"result": probe_live()}
            except CallError as error:
                outcome = {"kind": error.kind, "reason": error.reason}
            finally:
                self._probing_threads.discard(thread_id)
            with self._lock:
                self.probes[key] = outcome
        if "reason" in outcome:
            raise CallError(server_addr, outcome["kind"], outcome["reason"])
        return outcome["result"]

    def _send_unknown(
        self, keyed_calls: Sequence[tuple[str, RequestKey]], send_live: SendLive
    ) -> Mapping[tuple[str, RequestKey], Outcome]:
        """Send the requests without a known answer. Return the outcomes of those that are not sent.

        These are derived from other answers, or must not be sent.
        """
        other_outcomes: dict[tuple[str, RequestKey], Outcome] = {}
        indexes_by_addr: dict[str, list[int]] = {}
        planned_calls: set[tuple[str, RequestKey]] = set()
        for index, (server_addr, key) in enumerate(keyed_calls):
            table = self.tables.setdefault(server_addr, {})
            if key in table or (server_addr, key) in planned_calls or (server_addr, key) in other_outcomes:
                continue
            if derived_answer := derive_answer(table, key):
                other_outcomes[server_addr, key] = derived_answer
            elif key.code in MESSAGE_CODES:
                other_outcomes[server_addr, key] = RecordedFailure(NOT_IN_BUNDLE, "it contains messages")
            elif self.is_exhausted:
                self.skipped_counts[key.code] += 1
                other_outcomes[server_addr, key] = RecordedFailure(NOT_IN_BUNDLE, "limit of details")
            else:
                if self._remaining_details is not None:
                    self._remaining_details -= 1
                planned_calls.add((server_addr, key))
                indexes_by_addr.setdefault(server_addr, []).append(index)
        while indexes_by_addr:
            batches = {
                addr: indexes[: max(1, int(self._find_rate(addr) * _BATCH_SECONDS))]
                for addr, indexes in indexes_by_addr.items()
            }
            batch_seconds = max(len(batch) / self._find_rate(addr) for addr, batch in batches.items())
            self._send_batch(keyed_calls, [*chain(*batches.values())], send_live, batch_seconds)
            indexes_by_addr = {
                addr: indexes[len(batches[addr]) :]
                for addr, indexes in indexes_by_addr.items()
                if len(indexes) > len(batches[addr])
            }
        return other_outcomes

    def _find_rate(self, server_addr: str) -> int:
        return self._rates.name_server if server_addr in self._namesrv_addrs else self._rates.broker

    def _send_batch(
        self,
        keyed_calls: Sequence[tuple[str, RequestKey]],
        batch: Sequence[int],
        send_live: SendLive,
        batch_seconds: float,
    ) -> None:
        """Send requests to several servers at once, and wait until the batch has taken this time."""
        began_at = monotonic()
        for index in batch:
            server_addr, key = keyed_calls[index]
            if server_addr in self.silent_servers:
                self.tables[server_addr][key] = self.silent_servers[server_addr]
        live_indexes = [index for index in batch if keyed_calls[index][0] not in self.silent_servers]
        for index, outcome in zip(live_indexes, send_live(live_indexes) if live_indexes else (), strict=True):
            server_addr, key = keyed_calls[index]
            self.tables[server_addr][key] = record_outcome(outcome)
            self._note_liveness(server_addr, outcome)
        self._pause_seconds(max(0.0, began_at + batch_seconds - monotonic()))

    def _note_liveness(self, server_addr: str, outcome: RemotingCommand | CallError) -> None:
        if not isinstance(outcome, CallError):
            self._unanswered_counts[server_addr] = 0
            return
        self._unanswered_counts[server_addr] += 1
        if not outcome.was_sent or self._unanswered_counts[server_addr] >= _MAX_UNANSWERED:
            self.silent_servers.setdefault(server_addr, RecordedFailure(outcome.kind, outcome.reason))


def _replay_outcome(server_addr: str, outcome: Outcome) -> RemotingCommand | CallError:
    if isinstance(outcome, RecordedFailure):
        return CallError(server_addr, outcome.kind, outcome.reason)
    return outcome.to_command()
