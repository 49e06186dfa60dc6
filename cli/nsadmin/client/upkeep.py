"""Upkeep: what a broker does about its files when it is told to, often without saying what came of it."""

from collections.abc import Iterable

from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command, ExtFields
from nsadmin.client.bodies import config_items, json_object
from nsadmin.client.caller import Caller
from nsadmin.client.config_stores import ConfigStores
from nsadmin.client.results import NotApplied, ServerResult
from nsadmin.client.retry import decoded

TIMER_SETTINGS = ("timerRocksDBEnable", "timerRocksDBStopScan", "timerStopEnqueue")
"""Settings of a broker that say which engine has its timed messages."""
READ_AHEAD = ("dataReadAheadEnable",)
"""The setting that says how a broker has its commit log read."""
ENGINES = {"R": "RocksDB", "F": "the files of the time wheel"}

Settings = dict[str, str]


class Upkeep:
    """`admin.upkeep`; True stands for a broker that took the order."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    @property
    def config_stores(self) -> ConfigStores:
        """Topics, groups and offsets, where brokers keep them in RocksDB."""
        return ConfigStores(self._caller)

    def clean_unused_topics(self, addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have these brokers delete the queues of topics that they have no config of any more."""
        return self._order(addrs, RequestCode.CLEAN_UNUSED_TOPIC)

    def clean_expired_consume_queues(self, addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have these brokers delete the parts of queues whose messages their commit logs have no more."""
        return self._order(addrs, RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)

    def delete_expired_commit_logs(self, addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Have these brokers delete the files of their commit logs that are older than fileReservedTime."""
        return self._order(addrs, RequestCode.DELETE_EXPIRED_COMMITLOG)

    def settings(self, addrs: Iterable[str], names: Iterable[str]) -> list[ServerResult[Settings]]:
        """Settings of brokers by these names; NotApplied for a broker whose release has none of them."""
        names = list(names)

        def chosen(items: dict[str, str]) -> Settings:
            found = {name: items[name] for name in names if name in items}
            if not found:
                raise NotApplied(f"this broker has no setting {' or '.join(names)}: its release is older")
            return found

        answers = self._caller.ask_each(addrs, RequestCode.GET_BROKER_CONFIG)
        return [decoded(answer, config_items).then(chosen) for answer in answers]

    def set_read_ahead(self, addrs: Iterable[str], mode: int) -> list[ServerResult[Settings]]:
        """Have brokers read their commit logs ahead as files usually are (0), or not at all (1).

        Until they are started anew. The result is READ_AHEAD afterwards.
        """
        ext = {"READ_AHEAD_MODE": str(mode)}
        return self._switched(addrs, RequestCode.SET_COMMITLOG_READ_MODE, ext, READ_AHEAD)

    def switch_timer_engine(self, addrs: Iterable[str], engine: str) -> list[ServerResult[Settings]]:
        """Have brokers of 5.5.0 keep timed messages from now on in the engine "R" or "F" of ENGINES.

        A broker can take "R" that was started with timerRocksDBEnable. The result is TIMER_SETTINGS then.
        """
        return self._switched(addrs, RequestCode.SWITCH_TIMER_ENGINE, {"E_T": engine}, TIMER_SETTINGS)

    def reset_master_flush_offset(self, addr: str, offset: int) -> ServerResult[bool]:
        """Tell a slave that its master's commit log is on the disk up to there (bytes), and look again.

        See `slave`.
        """
        is_slave = self.slave(addr)
        if is_slave.error is not None:
            return is_slave
        ext = headers.write(broker_headers.MasterFlushOffset(offset))
        [done] = self._order([addr], RequestCode.RESET_MASTER_FLUSH_OFFSET, ext)
        if done.error is not None:
            return done

        def check(now: int) -> bool:
            if now != offset:
                raise NotApplied(f"ignored: it is still {now}")
            return True

        return self.master_flush_offset(addr).then(check)

    def master_flush_offset(self, addr: str) -> ServerResult[int]:
        """Up to where its master's commit log is on the disk (bytes), as a slave has it."""
        [answer] = self._caller.ask_each([addr], RequestCode.GET_BROKER_HA_STATUS)
        return decoded(answer, _flushed)

    def slave(self, addr: str) -> ServerResult[bool]:
        """Whether it is a slave: NotApplied for a master, which says done and ignores what is for slaves."""

        def check(items: Settings) -> bool:
            if items["brokerRole"] != "SLAVE":
                raise NotApplied("this is a master, which says done and ignores it: name its slave")
            return True

        [config] = self.settings([addr], ["brokerRole"])
        return config.then(check)

    def check_rocksdb_queues(
        self, addrs: Iterable[str], topic: str | None, since: int
    ) -> list[ServerResult[int]]:
        """Have brokers compare their queues in files with those in RocksDB, of messages stored since (ms).

        The result is what they answer: 0 all is equal, 1 it is not, 2 they look now and write what they find
        into their own logs (the only answer since 5.3.3), 3 it failed. NotApplied for a broker that does not
        write both, and would answer 2 all the same.
        """
        configs = self.settings(addrs, ["rocksdbCQDoubleWriteEnable"])
        able = {
            item.addr for item in configs if (item.result or {}).get("rocksdbCQDoubleWriteEnable") == "true"
        }
        ext = headers.write(broker_headers.CheckRocksdb(topic or "", since))
        code = RequestCode.CHECK_ROCKSDB_CQ_WRITE_PROGRESS
        asked = self._caller.ask_each([item.addr for item in configs if item.addr in able], code, ext)
        answers = {
            answer.addr: decoded(answer, lambda command: int(json_object(command)["checkStatus"]))
            for answer in asked
        }
        refusal = NotApplied("there is nothing to compare: it has rocksdbCQDoubleWriteEnable=false")
        return [
            answers[item.addr] if item.addr in able else ServerResult(item.addr, None, item.error or refusal)
            for item in configs
        ]

    def _switched(
        self, addrs: Iterable[str], code: RequestCode, ext: ExtFields, names: Iterable[str]
    ) -> list[ServerResult[Settings]]:
        done = self._order(addrs, code, ext)
        now = {
            item.addr: item
            for item in self.settings([item.addr for item in done if item.error is None], names)
        }
        return [now.get(item.addr, ServerResult(item.addr, None, item.error)) for item in done]

    def _order(
        self, addrs: Iterable[str], code: RequestCode, ext: ExtFields | None = None
    ) -> list[ServerResult[bool]]:
        return [answer.then(lambda _: True) for answer in self._caller.ask_each(addrs, code, ext)]


def _flushed(command: Command) -> int:
    body = json_object(command)
    if body.get("master"):
        raise NotApplied("this is a master, which knows of no other")
    return int(body["haClientRuntimeInfo"]["masterFlushOffset"])
