"""JSON exports of topics, groups and offsets, for brokers that store them in RocksDB."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol.codes import RequestCode
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_config_items
from nsadmin.client.results import ServerResult

EXPORT_TIMEOUT_SECONDS = 30.0
"""Seconds for an export, if the access has a shorter timeout: a broker answers after it wrote its files."""


class JsonExportState(NamedTuple):
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

    def check_json_export(self, broker_addrs: Iterable[str]) -> list[ServerResult[JsonExportState]]:
        """Check whether brokers can export JSON files, by their settings (GET_BROKER_CONFIG, 26).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address, in order.
        """
        answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_BROKER_CONFIG)
        return [decode_answer(answer, parse_config_items).then(_parse_export_state) for answer in answers]

    def export_json(
        self, broker_addrs: Iterable[str], config_kinds: Iterable[str]
    ) -> list[ServerResult[bool]]:
        """Make brokers export JSON files (EXPORT_ROCKSDB_CONFIG_TO_JSON, 355; since 5.3.2).

        Args:
            broker_addrs: The broker addresses.
            config_kinds: The files to write: "topics", "subscriptionGroups", "consumerOffsets".

        Returns:
            One ServerResult per address, in order: True. A broker that cannot export also answers success, so
            call `check_json_export` first.
        """
        timeout_seconds = max(EXPORT_TIMEOUT_SECONDS, self._caller.access.timeout)
        # The broker splits the text at semicolons, and requires one at the end.
        ext_fields = {"configType": "".join(f"{config_kind};" for config_kind in config_kinds)}
        calls = [
            (a, make_request(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, ext_fields)) for a in broker_addrs
        ]
        return [answer.then(lambda _: True) for answer in self._caller.send_requests(calls, timeout_seconds)]


def _parse_export_state(config_items: dict[str, str]) -> JsonExportState:
    config_folder = f"{config_items.get('storePathRootDir', '')}/config"
    store_type = config_items.get("storeType", "default")
    if config_items.get("configManagerVersion", "").lower() == "v2":
        return JsonExportState(config_folder, "a broker with configManagerVersion=v2 cannot export it")
    if store_type.lower() != "defaultrocksdb":
        return JsonExportState(config_folder, f"the broker keeps JSON files anyway (storeType={store_type})")
    return JsonExportState(config_folder, None)
