"""Pop records: what brokers remember of messages that were popped and not acknowledged, in RocksDB."""

from collections.abc import Iterable

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import parse_config_items
from nsadmin.client.results import ServerResult

MOVE_TIMEOUT_SECONDS = 30.0
"""Seconds that a broker may take, where the access has fewer: it answers when all are moved."""
_POP_KV_SETTING = "popConsumerKVServiceInit"


class PopRecords:
    """`admin.pop_records`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def check_enabled(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Whether each broker keeps such records at all, by its setting; before 5.3.2 none has it."""
        answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_BROKER_CONFIG)
        return [
            decode_answer(
                answer, lambda response: parse_config_items(response).get(_POP_KV_SETTING) == "true"
            )
            for answer in answers
        ]

    def move_to_message_store(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have brokers move them to topics of their message stores (POP_ROLLBACK); they do not say how many.

        True from a broker that did. One that keeps no such records answers the same.
        """
        timeout_seconds = max(MOVE_TIMEOUT_SECONDS, self._caller.access.timeout)
        calls = [(broker_addr, build_request(RequestCode.POP_ROLLBACK)) for broker_addr in broker_addrs]
        return [answer.then(lambda _: True) for answer in self._caller.send_requests(calls, timeout_seconds)]
