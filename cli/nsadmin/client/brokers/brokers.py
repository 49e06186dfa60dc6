"""`admin.brokers`: runtime information of brokers, and their write permission on name servers."""

import re
from collections.abc import Collection, Iterable, Mapping
from time import sleep

from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers.broker_numbers import parse_broker_number
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.name_server_reader import NameServerReader
from nsadmin.client.connection.response_bodies import (
    decode_answer,
    parse_json_object,
    parse_text_table,
    read_ext_fields,
)
from nsadmin.client.results import NotFound, ServerResult

_ATTEMPTS, _PAUSE_SECONDS = 50, 0.1
# After 1,000 days, Java separates thousands.
_RUNTIME = re.compile(
    r"\[ ([\d.,\s-]{1,15}) days, (-?\d{1,2}) hours, (-?\d{1,2}) minutes, (-?\d{1,2}) seconds \]"
)
_THOUSANDS = re.compile(r"[.,\s]")
_SECONDS_PER_UNIT = (86_400, 3_600, 60, 1)


class RuntimeInfo:
    """The runtime information that a broker reports.

    A value that the broker's version does not report is None instead of 0. For example, 4.x has no timers.

    Attributes:
        table: All reported values as text, by key, in the order of keys.
    """

    __slots__ = ("table",)

    def __init__(self, table: Mapping[str, str]) -> None:
        self.table = table

    def get_number(self, table_key: str) -> float | None:
        """Return the first number of a value; None if the key is missing or has no finite number.

        A TPS key has three numbers: the rates of the last 10 s, 1 min and 10 min.

        Args:
            table_key: The key, such as "putTps".
        """
        value_words = self.table.get(table_key, "").split()
        return parse_broker_number(value_words[0]) if value_words else None

    def get_integer(self, table_key: str) -> int | None:
        """Return `get_number` without its fraction.

        Args:
            table_key: The key.

        Returns:
            The truncated number; None as for `get_number`.
        """
        number = self.get_number(table_key)
        return None if number is None else int(number)

    @property
    def version(self) -> str | None:
        """The version of the broker, such as "V5_5_0"; None if it is not reported."""
        ordinal = self.get_integer("brokerVersion")
        return self.table.get("brokerVersionDesc") or (None if ordinal is None else version_text(ordinal))

    @property
    def release(self) -> str | None:
        """The release without its prefix, such as "5.5.0"; None if it is not reported."""
        return (self.version or "").removeprefix("V").replace("_", ".") or None

    @property
    def is_active(self) -> bool | None:
        """Whether the broker accepts messages; None before 5.0."""
        active_text = self.table.get("brokerActive")
        return None if active_text is None else active_text == "true"

    @property
    def out_tps(self) -> float | None:
        """Messages delivered per second (last 10 s). 4.x spells the key "getTransferedTps"."""
        transferred_tps = self.get_number("getTransferredTps")
        return self.get_number("getTransferedTps") if transferred_tps is None else transferred_tps

    @property
    def clock_ms(self) -> int | None:
        """The broker's time when it answered, in ms since 1970 (UTC), to within half a second.

        It is when the broker started plus how long it has been running, by its own clock. None if it does not
        report them.
        """
        booted_ms, runtime = self.get_integer("bootTimestamp"), _RUNTIME.match(self.table.get("runtime", ""))
        if booted_ms is None or runtime is None:
            return None
        try:
            counts = [int(_THOUSANDS.sub("", count)) for count in runtime.groups()]
        except ValueError:
            return None
        # The seconds are rounded down.
        return booted_ms + sum(n * s for n, s in zip(counts, _SECONDS_PER_UNIT, strict=True)) * 1000 + 500

    def oldest_message_hours(self, now_seconds: float) -> float | None:
        """Return the age of the oldest message in hours; None for an empty store, which reports -1.

        Args:
            now_seconds: The current time in seconds since 1970 (UTC).

        Returns:
            The hours; None also if the broker does not report the time of its oldest message.
        """
        earliest_ms = self.get_integer("earliestMessageTimeStamp")
        return (
            None if earliest_ms is None or earliest_ms < 0 else (now_seconds * 1000 - earliest_ms) / 3_600_000
        )

    def get_difference(self, later_key: str, earlier_key: str) -> int | None:
        """Return the value of `later_key` minus the value of `earlier_key`; None if one is not reported.

        Args:
            later_key: The key of the value to subtract from.
            earlier_key: The key of the value to subtract.
        """
        later_value, earlier_value = self.get_integer(later_key), self.get_integer(earlier_key)
        return None if later_value is None or earlier_value is None else later_value - earlier_value


class BrokerAdmin:
    """`admin.brokers`: runtime information of brokers, and their write permission on name servers."""

    def __init__(self, caller: Caller, reader: NameServerReader) -> None:
        self._caller, self._reader = caller, reader

    def get_runtime_info(self, broker_addrs: Iterable[str]) -> list[ServerResult[RuntimeInfo]]:
        """Return the runtime information of brokers (GET_BROKER_RUNTIME_INFO, 28).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address, in order.
        """
        return self._caller.read_each(
            broker_addrs, lambda r: RuntimeInfo(parse_text_table(r)), RequestCode.GET_BROKER_RUNTIME_INFO
        )

    def check_registration(self, broker_name: str) -> list[ServerResult[bool]]:
        """Check on every name server whether a broker is registered (GET_BROKER_CLUSTER_INFO, 106).

        Args:
            broker_name: The broker name.

        Returns:
            One ServerResult per name server: True, or the error NotFound.
        """

        def require_broker(response: RemotingCommand) -> bool:
            if broker_name not in parse_json_object(response).child("brokerAddrTable"):
                raise NotFound(f'no broker "{broker_name}" is registered here')
            return True

        return self._reader.read_each(require_broker, RequestCode.GET_BROKER_CLUSTER_INFO)

    def wipe_write_perm(
        self, broker_name: str, namesrv_addrs: Collection[str] | None = None
    ) -> list[ServerResult[int]]:
        """Remove the write permission from all topics of a broker (WIPE_WRITE_PERM_OF_BROKER, 205).

        The change lasts until the broker registers again (for example after a restart) or changes a topic.

        Args:
            broker_name: The broker name.
            namesrv_addrs: The name servers to change, from those of the client. Default: None for all.

        Returns:
            One ServerResult per name server: the number of changed topics, or NotFound for an unknown broker.
        """
        return self._change_write_perm(
            RequestCode.WIPE_WRITE_PERM_OF_BROKER, "wipeTopicCount", broker_name, namesrv_addrs
        )

    def add_write_perm(
        self, broker_name: str, namesrv_addrs: Collection[str] | None = None
    ) -> list[ServerResult[int]]:
        """Set the permission 6 (read and write) on all topics of a broker (ADD_WRITE_PERM_OF_BROKER, 327).

        Args:
            broker_name: The broker name.
            namesrv_addrs: The name servers to change, from those of the client. Default: None for all.

        Returns:
            One ServerResult per name server: the number of changed topics, or NotFound for an unknown broker.
        """
        return self._change_write_perm(
            RequestCode.ADD_WRITE_PERM_OF_BROKER, "addTopicCount", broker_name, namesrv_addrs
        )

    def _change_write_perm(
        self, request_code: RequestCode, field: str, broker_name: str, addrs: Collection[str] | None
    ) -> list[ServerResult[int]]:
        from namesrv_core.protocol import headers

        # Name servers answer "0 topics" for an unknown broker, so check the registration first.
        results_by_addr = {r.addr: r.then(int) for r in self.check_registration(broker_name)}
        knowing_addrs = [
            namesrv_addr
            for namesrv_addr, result in results_by_addr.items()
            if result.error is None and (addrs is None or namesrv_addr in addrs)
        ]
        for answer in self._caller.send_to_each(knowing_addrs, request_code, headers.BrokerName(broker_name)):
            results_by_addr[answer.addr] = decode_answer(
                answer, lambda response: read_ext_fields(response).integer(field, 0)
            )
        return [result for a, result in results_by_addr.items() if addrs is None or a in addrs]


def wait_for_dispatch(brokers: BrokerAdmin, broker_addr: str) -> None:
    """Wait until the broker has stored every message that it received, and its queues show them.

    It waits 5 seconds at most, because a broker that other clients use may always be busy.
    """
    for _ in range(_ATTEMPTS):
        # At first too: requests of a killed process can still be on their way.
        sleep(_PAUSE_SECONDS)
        [runtime_result] = brokers.get_runtime_info([broker_addr])
        runtime_info = runtime_result.value()
        if not any(runtime_info.get_integer(k) for k in ("sendThreadPoolQueueSize", "dispatchBehindBytes")):
            return
