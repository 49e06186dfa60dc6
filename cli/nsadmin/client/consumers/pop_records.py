"""`admin.pop_records`: the records of popped, unacknowledged messages that brokers keep in RocksDB."""

from collections.abc import Iterable

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import parse_config_items
from nsadmin.client.results import ServerResult

MOVE_TIMEOUT_SECONDS = 30.0
"""Seconds to move all records, if the access has a shorter timeout: a broker answers at the end."""
_POP_KV_SETTING = "popConsumerKVServiceInit"


class PopRecords:
    """`admin.pop_records`: the pop records of brokers."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def check_enabled(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Check whether brokers keep pop records in RocksDB, by their setting (GET_BROKER_CONFIG, 26).

        Returns:
            One ServerResult per address, in order; False for a broker before 5.3.2.
        """
        return self._caller.read_each(
            broker_addrs,
            lambda r: parse_config_items(r).get(_POP_KV_SETTING) == "true",
            RequestCode.GET_BROKER_CONFIG,
        )

    def move_to_message_store(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Move the pop records of brokers to topics of their message stores (POP_ROLLBACK, 200056).

        Returns:
            One ServerResult per address, in order: True. Brokers do not report the number of records, and a
            broker without such records also answers success.
        """
        timeout_seconds = max(MOVE_TIMEOUT_SECONDS, self._caller.access.timeout)
        calls = [(broker_addr, make_request(RequestCode.POP_ROLLBACK)) for broker_addr in broker_addrs]
        return [answer.then(lambda _: True) for answer in self._caller.send_requests(calls, timeout_seconds)]
