"""Brokers: their runtime info, asked of themselves, and their write permission, changed on name servers."""

from collections.abc import Collection, Iterable, Mapping
from math import isfinite

from namesrv_core.protocol.codes import RequestCode, version_text
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import json_object, text_table
from nsadmin.client.caller import Caller
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.retry import Reader, decoded


class RuntimeInfo:
    """A broker's own account of itself; `table` has everything as text, in the order of keys.

    What a release does not report is None, never 0: 4.x knows nothing of timers and acknowledgements.
    """

    __slots__ = ("table",)

    def __init__(self, table: Mapping[str, str]) -> None:
        self.table = table

    def number(self, key: str) -> float | None:
        """The first number of a value: the TPS keys hold those of 10 s, 1 min and 10 min."""
        words = self.table.get(key, "").split()
        try:
            number = float(words[0]) if words else None
        except ValueError:
            return None
        return number if number is None or isfinite(number) else None

    def integer(self, key: str) -> int | None:
        """`number` without what follows the point."""
        number = self.number(key)
        return None if number is None else int(number)

    @property
    def version(self) -> str | None:
        """ "V5_5_0"."""
        ordinal = self.integer("brokerVersion")
        return self.table.get("brokerVersionDesc") or (None if ordinal is None else version_text(ordinal))

    @property
    def is_active(self) -> bool | None:
        """Whether it takes messages; None before 5.0."""
        text = self.table.get("brokerActive")
        return None if text is None else text == "true"

    @property
    def out_tps(self) -> float | None:
        """Messages handed out per second; 4.x spells the key with one r."""
        found = self.number("getTransferredTps")
        return self.number("getTransferedTps") if found is None else found

    def hours(self, now: float) -> float | None:
        """Age of the oldest message at `now` (seconds since 1970); None for an empty store, which says -1."""
        earliest = self.integer("earliestMessageTimeStamp")
        return None if earliest is None or earliest < 0 else (now * 1000 - earliest) / 3_600_000

    def difference(self, later: str, earlier: str) -> int | None:
        """How far a counter went from one key to another."""
        end, begin = self.integer(later), self.integer(earlier)
        return None if end is None or begin is None else end - begin


class Brokers:
    """`admin.brokers`."""

    def __init__(self, caller: Caller, reader: Reader) -> None:
        self._caller = caller
        self._reader = reader

    def runtime_infos(self, addrs: Iterable[str]) -> list[ServerResult[RuntimeInfo]]:
        """What the brokers at these addresses report (GET_BROKER_RUNTIME_INFO), in the order asked for."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_RUNTIME_INFO)
        return [decoded(answer, _runtime_info) for answer in answers]

    def registered(self, broker_name: str) -> list[ServerResult[bool]]:
        """True on each name server that knows the broker; the others have NotFound as their error."""

        def check(command: Command) -> bool:
            if broker_name not in (json_object(command).get("brokerAddrTable") or {}):
                raise NotFound(f"no broker {broker_name!r} is registered here")
            return True

        return self._reader.each(check, RequestCode.GET_BROKER_CLUSTER_INFO)

    def perms(self, broker_name: str) -> list[ServerResult[dict[str, int]]]:
        """The permission that each name server has for each topic of a broker, by topic, in order.

        Bits are 4 read, 2 write, 1 inherit. NotFound where the broker is unknown. Every topic is asked for.
        """
        # Only a dry run of a change needs routes here.
        from nsadmin.client.perms import perms

        return perms(self._caller, self.registered(broker_name), broker_name)

    def wipe_write_perm(
        self, broker_name: str, addrs: Collection[str] | None = None
    ) -> list[ServerResult[int]]:
        """Take the write permission from all topics of a broker, on every name server or on these.

        It holds until the broker registers anew or changes a topic. The result is how many were touched;
        NotFound where the broker is unknown.
        """
        return self._change_perm(RequestCode.WIPE_WRITE_PERM_OF_BROKER, "wipeTopicCount", broker_name, addrs)

    def add_write_perm(
        self, broker_name: str, addrs: Collection[str] | None = None
    ) -> list[ServerResult[int]]:
        """Give all topics of a broker the perm 6 (read, write), on every name server or on these.

        NotFound where the broker is unknown, else how many topics were touched.
        """
        return self._change_perm(RequestCode.ADD_WRITE_PERM_OF_BROKER, "addTopicCount", broker_name, addrs)

    def _change_perm(
        self, code: RequestCode, count: str, broker_name: str, addrs: Collection[str] | None
    ) -> list[ServerResult[int]]:
        from namesrv_core.protocol import headers

        # The servers answer an unknown broker with "0 topics", so whether it is there is asked first.
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
