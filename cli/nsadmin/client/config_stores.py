"""Topics, groups and offsets of brokers that keep them in RocksDB, and not in JSON files."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import request
from nsadmin.client.bodies import config_items
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded

WRITING = 30.0
"""Seconds that a broker may take, where the access has fewer: it answers when its files are written."""


class Kept(NamedTuple):
    """`folder` is where a broker has its JSON files, on its machine; `reason` says why it writes none.

    A broker without RocksDB has them anyway; none can be written with configManagerVersion=v2.
    """

    folder: str
    reason: str | None


class ConfigStores:
    """`admin.upkeep.config_stores`."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def kept(self, addrs: Iterable[str]) -> list[ServerResult[Kept]]:
        """Whether each broker could write JSON files of what it keeps in RocksDB, by its settings."""
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CONFIG)
        return [decoded(answer, config_items).then(_kept) for answer in answers]

    def write_json(self, addrs: Iterable[str], kinds: Iterable[str]) -> list[ServerResult[bool]]:
        """Have brokers write them (EXPORT_ROCKSDB_CONFIG_TO_JSON; brokers since 5.3.2 can).

        `kinds` are topics, subscriptionGroups and consumerOffsets. True from a broker that did; one that can
        write none answers the same.
        """
        timeout = max(WRITING, self._caller.access.timeout)
        # The broker splits at each semicolon, and wants one at the end.
        ext = {"configType": "".join(f"{kind};" for kind in kinds)}
        calls = [(addr, request(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, ext)) for addr in addrs]
        return [answer.then(lambda _: True) for answer in self._caller.ask(calls, timeout)]


def _kept(items: dict[str, str]) -> Kept:
    folder = f"{items.get('storePathRootDir', '')}/config"
    store = items.get("storeType", "default")
    if items.get("configManagerVersion", "").lower() == "v2":
        return Kept(folder, "with configManagerVersion=v2 it cannot")
    if store.lower() != "defaultrocksdb":
        return Kept(folder, f"it keeps JSON files anyway (storeType={store})")
    return Kept(folder, None)
