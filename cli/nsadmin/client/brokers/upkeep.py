"""Upkeep: what a broker does about its files when it is told to, often without saying what came of it."""

from collections.abc import Iterable

from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from nsadmin.client.brokers.config_stores import ConfigStores
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.read_retry import decode_answer
from nsadmin.client.connection.response_bodies import parse_config_items, parse_json_object
from nsadmin.client.results import NotApplied, ServerResult

TIMER_SETTINGS = ("timerRocksDBEnable", "timerRocksDBStopScan", "timerStopEnqueue")
"""Settings of a broker that say which engine has its timed messages."""
READ_AHEAD_SETTINGS = ("dataReadAheadEnable",)
"""The setting that says how a broker has its commit log read."""
TIMER_ENGINES = {"R": "RocksDB", "F": "the files of the time wheel"}

BrokerSettings = dict[str, str]


class BrokerUpkeep:
    """`admin.upkeep`; True stands for a broker that took the order."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @property
    def config_stores(self) -> ConfigStores:
        """Topics, groups and offsets, where brokers keep them in RocksDB."""
        return ConfigStores(self._caller)

    def clean_unused_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have these brokers delete the queues of topics that they have no config of any more."""
        return self._send_order(broker_addrs, RequestCode.CLEAN_UNUSED_TOPIC)

    def clean_expired_consume_queues(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have these brokers delete the parts of queues whose messages their commit logs have no more."""
        return self._send_order(broker_addrs, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)

    def delete_expired_commit_logs(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have these brokers delete the files of their commit logs that are older than fileReservedTime."""
        return self._send_order(broker_addrs, RequestCode.DELETE_EXPIRED_COMMITLOG)

    def get_settings(
        self, broker_addrs: Iterable[str], setting_names: Iterable[str]
    ) -> list[ServerResult[BrokerSettings]]:
        """Settings of brokers by these names; NotApplied for a broker whose release has none of them."""
        setting_names = list(setting_names)

        def choose_settings(config_items: dict[str, str]) -> BrokerSettings:
            known_settings = {
                setting_name: config_items[setting_name]
                for setting_name in setting_names
                if setting_name in config_items
            }
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
        """Have brokers read their commit logs ahead as files usually are (0), or not at all (1).

        Until they are started anew. The result is READ_AHEAD afterwards.
        """
        ext_fields = {"READ_AHEAD_MODE": str(read_ahead_mode)}
        return self._order_and_read_settings(
            broker_addrs, RequestCode.SET_COMMITLOG_READ_MODE, ext_fields, READ_AHEAD_SETTINGS
        )

    def switch_timer_engine(
        self, broker_addrs: Iterable[str], engine_letter: str
    ) -> list[ServerResult[BrokerSettings]]:
        """Have brokers of 5.5.0 keep timed messages from now on in the engine "R" or "F" of ENGINES.

        A broker can take "R" that was started with timerRocksDBEnable. The result is TIMER_SETTINGS then.
        """
        return self._order_and_read_settings(
            broker_addrs, RequestCode.SWITCH_TIMER_ENGINE, {"E_T": engine_letter}, TIMER_SETTINGS
        )

    def reset_master_flush_offset(self, broker_addr: str, flush_offset: int) -> ServerResult[bool]:
        """Tell a slave that its master's commit log is on the disk up to there (bytes), and look again.

        See `slave`.
        """
        slave_check = self.check_slave(broker_addr)
        if slave_check.error is not None:
            return slave_check
        ext_fields = headers.write_header(broker_headers.MasterFlushOffset(flush_offset))
        [order_result] = self._send_order([broker_addr], RequestCode.RESET_MASTER_FLUSH_OFFSET, ext_fields)
        if order_result.error is not None:
            return order_result

        def verify_offset(current_offset: int) -> bool:
            if current_offset != flush_offset:
                raise NotApplied(f"ignored: it is still {current_offset}")
            return True

        return self.get_master_flush_offset(broker_addr).then(verify_offset)

    def get_master_flush_offset(self, broker_addr: str) -> ServerResult[int]:
        """Up to where its master's commit log is on the disk (bytes), as a slave has it."""
        [answer] = self._caller.send_to_each([broker_addr], RequestCode.GET_BROKER_HA_STATUS)
        return decode_answer(answer, _parse_flush_offset)

    def check_slave(self, broker_addr: str) -> ServerResult[bool]:
        """Whether it is a slave: NotApplied for a master, which says done and ignores what is for slaves."""

        def require_slave(broker_settings: BrokerSettings) -> bool:
            if broker_settings["brokerRole"] != "SLAVE":
                raise NotApplied("this is a master, which says done and ignores it: name its slave")
            return True

        [settings_result] = self.get_settings([broker_addr], ["brokerRole"])
        return settings_result.then(require_slave)

    def check_rocksdb_queues(
        self, broker_addrs: Iterable[str], topic: str | None, since_ms: int
    ) -> list[ServerResult[int]]:
        """Have brokers compare their queues in files with those in RocksDB, of messages stored since (ms).

        The result is what they answer: 0 all is equal, 1 it is not, 2 they look now and write what they find
        into their own logs (the only answer since 5.3.3), 3 it failed. NotApplied for a broker that does not
        write both, and would answer 2 all the same.
        """
        settings_results = self.get_settings(broker_addrs, ["rocksdbCQDoubleWriteEnable"])
        comparable_addrs = {
            settings_result.addr
            for settings_result in settings_results
            if (settings_result.result or {}).get("rocksdbCQDoubleWriteEnable") == "true"
        }
        ext_fields = headers.write_header(broker_headers.CheckRocksdb(topic or "", since_ms))
        request_code = RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS
        check_answers = self._caller.send_to_each(
            [
                settings_result.addr
                for settings_result in settings_results
                if settings_result.addr in comparable_addrs
            ],
            request_code,
            ext_fields,
        )
        statuses_by_addr = {
            answer.addr: decode_answer(
                answer, lambda response: int(parse_json_object(response)["checkStatus"])
            )
            for answer in check_answers
        }
        refusal = NotApplied("there is nothing to compare: it has rocksdbCQDoubleWriteEnable=false")
        return [
            statuses_by_addr[settings_result.addr]
            if settings_result.addr in comparable_addrs
            else ServerResult(settings_result.addr, None, settings_result.error or refusal)
            for settings_result in settings_results
        ]

    def _order_and_read_settings(
        self,
        broker_addrs: Iterable[str],
        request_code: RequestCode,
        ext_fields: ExtFields,
        setting_names: Iterable[str],
    ) -> list[ServerResult[BrokerSettings]]:
        order_results = self._send_order(broker_addrs, request_code, ext_fields)
        settings_by_addr = {
            server_result.addr: server_result
            for server_result in self.get_settings(
                [server_result.addr for server_result in order_results if server_result.error is None],
                setting_names,
            )
        }
        return [
            settings_by_addr.get(
                server_result.addr, ServerResult(server_result.addr, None, server_result.error)
            )
            for server_result in order_results
        ]

    def _send_order(
        self, broker_addrs: Iterable[str], request_code: RequestCode, ext_fields: ExtFields | None = None
    ) -> list[ServerResult[bool]]:
        return [
            answer.then(lambda _: True)
            for answer in self._caller.send_to_each(broker_addrs, request_code, ext_fields)
        ]


def _parse_flush_offset(response: RemotingCommand) -> int:
    json_body = parse_json_object(response)
    if json_body.get("master"):
        raise NotApplied("this is a master, which knows of no other")
    return int(json_body["haClientRuntimeInfo"]["masterFlushOffset"])
