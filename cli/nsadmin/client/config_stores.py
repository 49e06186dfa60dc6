"""JSON exports of topics, groups and offsets, for brokers that store them in RocksDB."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import request
from nsadmin.client.bodies import config_items
from nsadmin.client.caller import Caller
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import decoded

WRITING = 30.0
"""Seconds for an export, if the access has a shorter timeout: a broker answers after it wrote its files."""


class Kept(NamedTuple):
    """Whether a broker can export JSON files.

    Attributes:
        folder: The folder of the JSON files, on the broker's machine.
        reason: Why the broker does not export: it has no RocksDB and keeps JSON files anyway, or it runs with
            configManagerVersion=v2. None if it can export.
    """

    folder: str
    reason: str | None


class ConfigStores:
    """`admin.upkeep.config_stores`: JSON exports of brokers with RocksDB."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def kept(self, addrs: Iterable[str]) -> list[ServerResult[Kept]]:
        """Check whether brokers can export JSON files, by their settings (GET_BROKER_CONFIG, 26).

        Returns:
            One ServerResult per address, in order.
        """
        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CONFIG)
        return [decoded(answer, config_items).then(_kept) for answer in answers]

    def write_json(self, addrs: Iterable[str], kinds: Iterable[str]) -> list[ServerResult[bool]]:
        """Make brokers export JSON files (EXPORT_ROCKSDB_CONFIG_TO_JSON, 355; since 5.3.2).

        Args:
            broker_addrs: The brokers.
            config_kinds: "topics", "subscriptionGroups", "consumerOffsets".

        Returns:
            One ServerResult per address, in order: True. A broker that cannot export also answers success, so
            call `check_json_export` first.
        """
        timeout = max(WRITING, self._caller.access.timeout)
        # The broker splits the text at semicolons, and requires one at the end.
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
