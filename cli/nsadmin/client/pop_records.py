"""Pop records: what brokers remember of messages that were popped and not acknowledged, in RocksDB."""

from collections.abc import Iterable

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import request
from nsadmin.client.bodies import config_items
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded

MOVING = 30.0
"""Seconds that a broker may take, where the access has fewer: it answers when all are moved."""
_SWITCH = "popConsumerKVServiceInit"


class PopRecords:
    """`admin.pop_records`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def kept(self, addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Whether each broker keeps such records at all, by its setting; before 5.3.2 none has it."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CONFIG)
        return [
            decoded(answer, lambda command: config_items(command).get(_SWITCH) == "true")
            for answer in answers
        ]

    def to_message_store(self, addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have brokers move them to topics of their message stores (POP_ROLLBACK); they do not say how many.

        True from a broker that did. One that keeps no such records answers the same.
        """
        timeout = max(MOVING, self._caller.access.timeout)
        calls = [(addr, request(RequestCode.POP_ROLLBACK)) for addr in addrs]
        return [answer.then(lambda _: True) for answer in self._caller.ask(calls, timeout)]
