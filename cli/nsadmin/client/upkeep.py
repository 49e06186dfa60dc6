"""Upkeep: what a broker does about its files when it is told to, without saying what came of it."""

from collections.abc import Iterable

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult


class Upkeep:
    """`admin.upkeep`; True stands for a broker that took the order."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def clean_unused_topics(self, addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have these brokers delete the queues of topics that they have no config of any more."""
        return self._order(addrs, RequestCode.CLEAN_UNUSED_TOPIC)

    def clean_expired_consume_queues(self, addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have these brokers delete the parts of queues whose messages their commit logs have no more."""
        return self._order(addrs, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)

    def _order(self, addrs: Iterable[str], code: RequestCode) -> list[ServerResult[bool]]:
        return [answer.then(lambda _: True) for answer in self._caller.ask_each(addrs, code)]
