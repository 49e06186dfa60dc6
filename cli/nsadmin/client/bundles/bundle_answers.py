"""BundleAnswers, which answers requests from a support bundle as the servers did."""

from _thread import RLock
from collections.abc import Callable, Sequence
from typing import Any

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.bundles.answer_table import AnswerTable, RecordedAnswer, RequestKey, make_key
from nsadmin.client.bundles.bundle_file import SupportBundle
from nsadmin.client.bundles.derived_answers import derive_answer
from nsadmin.client.connection.answer_source import SendLive

NOT_IN_BUNDLE = "unrecorded"
"""The kind of a CallError for a request that a bundle has no answer to."""

MESSAGE_CODES = frozenset(
    {RequestCode.PULL_MESSAGE, RequestCode.QUERY_MESSAGE, RequestCode.VIEW_MESSAGE_BY_ID}
)
"""Requests whose answers contain messages. A bundle never has them."""

_NOT_ASKED = "bundle create did not collect it, see bundle show for its gaps"


class BundleAnswers:
    """An AnswerSource that reads a bundle. Thread-safe; it reads the answers of a server on first use."""

    is_static = True

    def __init__(self, bundle: SupportBundle) -> None:
        self.bundle = bundle
        self.clock_ms = bundle.manifest.created_ms
        self._tables_by_addr: dict[str, AnswerTable | None] = {}
        self._probes: dict[str, Any] | None = None
        self._lock = RLock()

    def answer_calls(
        self, identity: str, calls: Sequence[tuple[str, RemotingCommand]], send_live: SendLive
    ) -> list[RemotingCommand | CallError]:
        """Answer requests. Nothing is sent."""
        return [self._answer_call(server_addr, make_key(identity, command)) for server_addr, command in calls]

    def answer_probe(self, probe_name: str, server_addr: str, probe_live: Callable[[], Any]) -> Any:
        """Return the recorded result of a probe."""
        with self._lock:
            if self._probes is None:
                self._probes = self.bundle.read_probes()
        outcome = self._probes.get(probe_key(probe_name, server_addr))
        if outcome is None:
            reason = self._explain_absence(server_addr, None)
            raise CallError(server_addr, NOT_IN_BUNDLE, f"the bundle has no {probe_name} of it: {reason}")
        if "reason" in outcome:
            raise CallError(server_addr, outcome["kind"], outcome["reason"])
        return outcome["result"]

    def _answer_call(self, server_addr: str, key: RequestKey) -> RemotingCommand | CallError:
        table = self._load_table(server_addr) or {}
        outcome = table.get(key) or derive_answer(table, key)
        if isinstance(outcome, RecordedAnswer):
            return outcome.to_command()
        if outcome is not None:
            return CallError(server_addr, outcome.kind, outcome.reason)
        if key.code in MESSAGE_CODES:
            return CallError(server_addr, NOT_IN_BUNDLE, "a bundle contains no messages")
        reason = self._explain_absence(server_addr, key.code)
        return CallError(
            server_addr, NOT_IN_BUNDLE, f"the bundle has no answer to {describe_request(key)}: {reason}"
        )

    def _load_table(self, server_addr: str) -> AnswerTable | None:
        with self._lock:
            if server_addr not in self._tables_by_addr:
                self._tables_by_addr[server_addr] = self.bundle.read_answers(server_addr)
            return self._tables_by_addr[server_addr]

    def _explain_absence(self, server_addr: str, code: int | None) -> str:
        if server_addr not in self.bundle.manifest.members_by_server:
            return f"it has nothing from {server_addr}"
        for left_out in self.bundle.manifest.left_out:
            if code is not None and left_out.code == code:
                return left_out.reason
        return _NOT_ASKED


def probe_key(probe_name: str, server_addr: str) -> str:
    """Return the key of a probe in a bundle."""
    return f"{probe_name} {server_addr}"


def describe_code(code: int) -> str:
    """Return a request code with its name, such as "GET_TOPIC_STATS_INFO (202)"."""
    try:
        return f"{RequestCode(code).name} ({code})"
    except ValueError:
        return str(code)


def describe_request(key: RequestKey) -> str:
    """Return a request in one line, such as "GET_TOPIC_STATS_INFO (202) topic=orders"."""
    return " ".join([describe_code(key.code), *(f"{name}={value}" for name, value in key.ext)])
