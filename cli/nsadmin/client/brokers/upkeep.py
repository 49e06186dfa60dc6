"""`admin.upkeep`: maintenance orders for the files of brokers, which often do not report the outcome."""

from collections.abc import Iterable
from typing import NamedTuple

from namesrv_core.protocol import broker_headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import Header, make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_config_items, parse_json_object
from nsadmin.client.results import NotApplied, ServerResult, ignored_change, read_after

EXPORT_TIMEOUT_SECONDS = 30.0
"""Seconds for an export, if the access has a shorter timeout: a broker answers after it wrote its files."""

TIMER_SETTINGS = ("timerRocksDBEnable", "timerRocksDBStopScan", "timerStopEnqueue")
"""The settings that select the engine for timed messages."""
READ_AHEAD_SETTINGS = ("dataReadAheadEnable",)
"""The setting for the read-ahead of the commit log."""
TIMER_ENGINES = {"R": "RocksDB", "F": "the files of the time wheel"}
BrokerSettings = dict[str, str]


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
        fields = {"configType": "".join(f"{config_kind};" for config_kind in config_kinds)}
        calls = [(a, make_request(RequestCode.EXPORT_ROCKSDB_CONFIG_TO_JSON, fields)) for a in broker_addrs]
        return [answer.then(lambda _: True) for answer in self._caller.send_requests(calls, timeout_seconds)]


def _parse_export_state(config_items: dict[str, str]) -> JsonExportState:
    config_folder = f"{config_items.get('storePathRootDir', '')}/config"
    store_type = config_items.get("storeType", "default")
    if config_items.get("configManagerVersion", "").lower() == "v2":
        return JsonExportState(config_folder, "a broker with configManagerVersion=v2 cannot export it")
    if store_type.lower() != "defaultrocksdb":
        return JsonExportState(config_folder, f"the broker keeps JSON files anyway (storeType={store_type})")
    return JsonExportState(config_folder, None)


class BrokerUpkeep:
    """`admin.upkeep`: maintenance orders for brokers.

    A method that takes several addresses returns one ServerResult per address, in order. True means that the
    broker accepted the order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @property
    def config_stores(self) -> ConfigStores:
        """JSON exports of topics, groups and offsets that brokers store in RocksDB."""
        return ConfigStores(self._caller)

    def clean_unused_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Delete the queues of topics without a configuration (CLEAN_UNUSED_TOPIC, 316).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._send_order(broker_addrs, RequestCode.CLEAN_UNUSED_TOPIC)

    def clean_expired_consume_queues(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Delete consume queue files without messages in the commit log (CLEAN_EXPIRED_CONSUMEQUEUE, 306).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._send_order(broker_addrs, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)

    def delete_expired_commit_logs(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Delete commit log files older than fileReservedTime (DELETE_EXPIRED_COMMITLOG, 329).

        Args:
            broker_addrs: The broker addresses.
        """
        return self._send_order(broker_addrs, RequestCode.DELETE_EXPIRED_COMMITLOG)

    def get_settings(
        self, broker_addrs: Iterable[str], setting_names: Iterable[str]
    ) -> list[ServerResult[BrokerSettings]]:
        """Return some settings of brokers (GET_BROKER_CONFIG, 26).

        Args:
            broker_addrs: The broker addresses.
            setting_names: The settings. Those that the broker's version does not have are omitted.

        Returns:
            One ServerResult per address: name to value. The error is NotApplied if the broker's version has
            none of the settings.
        """
        setting_names = list(setting_names)

        def choose_settings(config_items: dict[str, str]) -> BrokerSettings:
            known_settings = {name: config_items[name] for name in setting_names if name in config_items}
            if not known_settings:
                raise NotApplied(
                    f"this broker has no setting {' or '.join(setting_names)}: its release is older"
                )
            return known_settings

        answers = self._caller.send_to_each(broker_addrs, RequestCode.GET_BROKER_CONFIG)
        return [decode_answer(answer, parse_config_items).then(choose_settings) for answer in answers]

    def set_read_ahead(
        self, broker_addrs: Iterable[str], read_ahead_mode: int
    ) -> list[ServerResult[BrokerSettings]]:
        """Set the read-ahead of the commit log until the next restart (SET_COMMITLOG_READ_MODE, 2004).

        Args:
            broker_addrs: The brokers.
            read_ahead_mode: 0 for the normal read-ahead of files, 1 for none.

        Returns:
            One ServerResult per address: READ_AHEAD_SETTINGS after the change.
        """
        ext_fields = {"READ_AHEAD_MODE": str(read_ahead_mode)}
        return self._order_and_read_settings(
            broker_addrs, RequestCode.SET_COMMITLOG_READ_MODE, ext_fields, READ_AHEAD_SETTINGS
        )

    def switch_timer_engine(
        self, broker_addrs: Iterable[str], engine_letter: str
    ) -> list[ServerResult[BrokerSettings]]:
        """Switch the engine for new timed messages (SWITCH_TIMER_ENGINE, 5001; since 5.5.0).

        Args:
            broker_addrs: The brokers.
            engine_letter: "R" or "F" of TIMER_ENGINES. "R" needs a broker started with timerRocksDBEnable.

        Returns:
            One ServerResult per address: TIMER_SETTINGS after the change.
        """
        return self._order_and_read_settings(
            broker_addrs, RequestCode.SWITCH_TIMER_ENGINE, {"E_T": engine_letter}, TIMER_SETTINGS
        )

    def reset_master_flush_offset(self, broker_addr: str, flush_offset: int) -> ServerResult[bool]:
        """Set the master's flush offset on a slave (RESET_MASTER_FLUSH_OFFSET, 908), and read it back.

        Args:
            broker_addr: The address of the slave.
            flush_offset: The offset in bytes up to which the master's commit log is on disk.

        Returns:
            A ServerResult: True; the error is NotApplied for a master, or if the slave kept its offset.
        """
        slave_check = self.check_slave(broker_addr)
        if slave_check.error is not None:
            return slave_check
        ext_fields = broker_headers.MasterFlushOffset(flush_offset)
        [order_result] = self._send_order([broker_addr], RequestCode.RESET_MASTER_FLUSH_OFFSET, ext_fields)
        if order_result.error is not None:
            return order_result

        def verify_offset(current_offset: int) -> bool:
            if current_offset != flush_offset:
                raise ignored_change(
                    broker_addr, f"the master's flush offset is {current_offset}", "haStatus", broker_addr
                )
            return True

        return self.get_master_flush_offset(broker_addr).then(verify_offset)

    def get_master_flush_offset(self, broker_addr: str) -> ServerResult[int]:
        """Return the master's flush offset in bytes, as a slave knows it (GET_BROKER_HA_STATUS, 907).

        Args:
            broker_addr: The address of the slave.

        Returns:
            A ServerResult: the offset; the error is NotApplied for a master.
        """
        return self._caller.read_one(broker_addr, _parse_flush_offset, RequestCode.GET_BROKER_HA_STATUS)

    def check_slave(self, broker_addr: str) -> ServerResult[bool]:
        """Check that a broker is a slave (GET_BROKER_CONFIG, 26).

        Args:
            broker_addr: The broker address.

        Returns:
            A ServerResult: True; the error is NotApplied for a master, which answers success to orders for
            slaves and ignores them.
        """

        def require_slave(broker_settings: BrokerSettings) -> bool:
            if broker_settings["brokerRole"] != "SLAVE":
                raise NotApplied(
                    "this is a master, which ignores the request and reports success: pass its slave with -b"
                )
            return True

        [settings_result] = self.get_settings([broker_addr], ["brokerRole"])
        return settings_result.then(require_slave)

    def check_rocksdb_queues(
        self, broker_addrs: Iterable[str], topic: str | None, since_ms: int
    ) -> list[ServerResult[int]]:
        """Compare the queues in files with those in RocksDB (CHECK_ROCKSDB_CQ_WRITE_PROGRESS, 354).

        Args:
            broker_addrs: The brokers.
            topic: The topic; None for all topics.
            since_ms: Compare messages stored since this time, in ms since 1970.

        Returns:
            One ServerResult per address: 0 equal, 1 different, 2 the broker checks now and logs the outcome
            (the only answer since 5.3.3), 3 failed. The error is NotApplied for a broker that does not write
            both kinds of queues; it would answer 2.
        """

        def require_both_kinds(settings: BrokerSettings) -> BrokerSettings:
            if settings["rocksdbCQDoubleWriteEnable"] != "true":
                raise NotApplied(
                    "no second consume queue to compare: the broker has rocksdbCQDoubleWriteEnable=false"
                )
            return settings

        return read_after(
            [
                r.then(require_both_kinds)
                for r in self.get_settings(broker_addrs, ["rocksdbCQDoubleWriteEnable"])
            ],
            lambda addrs: self._caller.read_each(
                addrs,
                lambda response: parse_json_object(response).integer("checkStatus"),
                RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS,
                broker_headers.CheckRocksdb(topic or "", since_ms),
            ),
        )

    def _order_and_read_settings(
        self,
        broker_addrs: Iterable[str],
        request_code: RequestCode,
        ext_fields: ExtFields,
        setting_names: Iterable[str],
    ) -> list[ServerResult[BrokerSettings]]:
        orders = self._send_order(broker_addrs, request_code, ext_fields)
        return read_after(orders, lambda addrs: self.get_settings(addrs, setting_names))

    def _send_order(
        self, addrs: Iterable[str], request_code: RequestCode, header: Header | None = None
    ) -> list[ServerResult[bool]]:
        return self._caller.read_each(addrs, lambda _: True, request_code, header)


def _parse_flush_offset(response: RemotingCommand) -> int:
    json_body = parse_json_object(response)
    if json_body.flag("master"):
        raise NotApplied("this is a master, and only a slave has this offset")
    return json_body.child("haClientRuntimeInfo").integer("masterFlushOffset")
