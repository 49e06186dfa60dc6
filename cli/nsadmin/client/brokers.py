"""`admin.brokers`: runtime information of brokers, and their write permission on name servers."""

from collections.abc import Collection, Iterable, Mapping
from math import isfinite

from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import json_object, text_table
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import Reader, decoded


class RuntimeInfo:
    """The runtime information that a broker reports.

    A value that the broker's release does not report is None, never 0: 4.x reports no timers, for example.

    Attributes:
        table: All reported values as text, by key, in the order of keys.
    """

    __slots__ = ("table",)

    def __init__(self, table: Mapping[str, str]) -> None:
        self.table = table

    def number(self, key: str) -> float | None:
        """Return the first number of a value; None if the key is missing or has no finite number.

        A TPS key has three numbers: the rates of the last 10 s, 1 min and 10 min.
        """
        words = self.table.get(key, "").split()
        try:
            number = float(words[0]) if words else None
        except ValueError:
            return None
        return number if number is None or isfinite(number) else None

    def integer(self, key: str) -> int | None:
        """Return `get_number` without its fraction."""
        number = self.number(key)
        return None if number is None else int(number)

    @property
    def version(self) -> str | None:
        """The release of the broker, such as "V5_5_0"; None if it is not reported."""
        ordinal = self.integer("brokerVersion")
        return self.table.get("brokerVersionDesc") or (None if ordinal is None else version_text(ordinal))

    @property
    def is_active(self) -> bool | None:
        """Whether the broker accepts messages; None before 5.0."""
        text = self.table.get("brokerActive")
        return None if text is None else text == "true"

    @property
    def out_tps(self) -> float | None:
        """Messages delivered per second (last 10 s). 4.x spells the key "getTransferedTps"."""
        found = self.number("getTransferredTps")
        return self.number("getTransferedTps") if found is None else found

    def hours(self, now: float) -> float | None:
        """Return the age of the oldest message in hours; None for an empty store, which reports -1.

        Args:
            now_seconds: The current time in seconds since 1970 (UTC).
        """
        earliest = self.integer("earliestMessageTimeStamp")
        return None if earliest is None or earliest < 0 else (now * 1000 - earliest) / 3_600_000

    def difference(self, later: str, earlier: str) -> int | None:
        """Return the value of `later_key` minus the value of `earlier_key`; None if one is not reported."""
        end, begin = self.integer(later), self.integer(earlier)
        return None if end is None or begin is None else end - begin


class Brokers:
    """`admin.brokers`: runtime information of brokers, and their write permission on name servers."""

    def __init__(self, caller: Caller, reader: Reader) -> None:
        self._caller = caller
        self._reader = reader

    def runtime_infos(self, addrs: Iterable[str]) -> list[ServerResult[RuntimeInfo]]:
        """Return the runtime information of brokers (GET_BROKER_RUNTIME_INFO, 28).

        Returns:
            One ServerResult per address, in the order of `broker_addrs`.
        """
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_RUNTIME_INFO)
        return [decoded(answer, _runtime_info) for answer in answers]

    def registered(self, broker_name: str) -> list[ServerResult[bool]]:
        """Check on every name server whether a broker is registered (GET_BROKER_CLUSTER_INFO, 106).

        Returns:
            One ServerResult per name server: True, or the error NotFound.
        """

        def check(command: Command) -> bool:
            if broker_name not in (json_object(command).get("brokerAddrTable") or {}):
                raise NotFound(f"no broker {broker_name!r} is registered here")
            return True

        return self._reader.each(check, RequestCode.GET_BROKER_CLUSTER_INFO)

    def perms(self, broker_name: str) -> list[ServerResult[dict[str, int]]]:
        """Return the permission of each topic of a broker on every name server.

        Reads the topic list (206), then the route of every topic (GET_ROUTEINFO_BY_TOPIC, 105).

        Returns:
            One ServerResult per name server: topic to permission bits (4 read, 2 write, 1 inherit), in order.
            The error is NotFound if the broker is not registered there.
        """
        # Imported here because only the dry run of a change reads routes.
        from nsadmin.client.perms import perms

        return perms(self._caller, self.registered(broker_name), broker_name)

    def wipe_write_perm(
        self, broker_name: str, addrs: Collection[str] | None = None
    ) -> list[ServerResult[int]]:
        """Remove the write permission from all topics of a broker (WIPE_WRITE_PERM_OF_BROKER, 205).

        The change lasts until the broker registers anew (after a restart, for example) or changes a topic.

        Args:
            broker_name: The broker.
            namesrv_addrs: The name servers to change. Default: all.

        Returns:
            One ServerResult per name server: the number of changed topics, or NotFound for an unknown broker.
        """
        return self._change_perm(RequestCode.WIPE_WRITE_PERM_OF_BROKER, "wipeTopicCount", broker_name, addrs)

    def add_write_perm(
        self, broker_name: str, addrs: Collection[str] | None = None
    ) -> list[ServerResult[int]]:
        """Set the permission 6 (read and write) on all topics of a broker (ADD_WRITE_PERM_OF_BROKER, 327).

        Args:
            broker_name: The broker.
            namesrv_addrs: The name servers to change. Default: all.

        Returns:
            One ServerResult per name server: the number of changed topics, or NotFound for an unknown broker.
        """
        return self._change_perm(RequestCode.ADD_WRITE_PERM_OF_BROKER, "addTopicCount", broker_name, addrs)

    def _change_perm(
        self, code: RequestCode, count: str, broker_name: str, addrs: Collection[str] | None
    ) -> list[ServerResult[int]]:
        from namesrv_core.protocol import headers

        # Name servers answer "0 topics" for an unknown broker, so check the registration first.
        results = {found.addr: found.then(int) for found in self.registered(broker_name)}
        known = [
            addr
            for addr, result in results.items()
            if result.error is None and (addrs is None or addr in addrs)
        ]
        ext = headers.write(headers.BrokerName(broker_name))
        for answer in self._caller.ask_each(known, code, ext):
            results[answer.addr] = decoded(answer, lambda command: int((command.ext or {}).get(count) or 0))
        return [result for addr, result in results.items() if addrs is None or addr in addrs]


def _runtime_info(command: Command) -> RuntimeInfo:
    return RuntimeInfo(text_table(command))
