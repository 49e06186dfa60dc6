"""A cluster for drains in virtual time: name servers, a broker, clients that look at routes every 30 s."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import Perm
from nsadmin.client.consumers.lag import Lag
from nsadmin.operations.drain.facts import (
    BrokerCounters,
    NameServerFacts,
    OwnTopics,
    QueuesByTopic,
    ServerTopic,
    SlaveGap,
    SlaveProgress,
)
from nsadmin.operations.drain.risks import find_master_addr
from nsadmin.operations.drain.runner import DrainPlan, DrainRun, check_plan
from nsadmin.operations.drain.safety import SafetyRules
from nsadmin.operations.drain.state import DrainFolder
from nsadmin.operations.drain.undo import UndoRun
from nsadmin.operations.procedure_clock import ProcedureClock
from nsadmin.operations.run_folder import EventRecord

BROKER, MASTER, SLAVE = "broker-a", "127.0.0.1:10911", "127.0.0.1:10921"
POLL = 30_000
RW, R, RWI = 6, 4, 7
PERMS = {"orders": RW, "payments": RW, "history": R, "TBW102": RWI, "%RETRY%billing": RW}
SYSTEM = frozenset({"TBW102", BROKER})


def make_queue(perm: int, queues: int = 8) -> QueueData:
    return QueueData(BROKER, queues, queues, perm, 0)


class DrainKilled(BaseException):
    """The process ends here."""


class SimServer:
    """A name server: what it has of the broker's topics."""

    def __init__(self, addr: str, *, is_old: bool = False) -> None:
        self.addr = addr
        self.is_old = is_old
        self.is_up = True
        self.is_registered = True
        self.topics: dict[str, QueueData] = {}

    @property
    def is_open(self) -> bool:
        return self.is_registered and any(queue.perm & Perm.WRITE for queue in self.topics.values())

    def describe_server(self, others: int, slave_runs: bool = True) -> NameServerFacts:
        if not self.is_up:
            return NameServerFacts(self.addr, "connection refused, no server listens on this port")
        places = {topic: ServerTopic(item, others, int(others > 0)) for topic, item in self.topics.items()}
        members = {0: MASTER, 1: SLAVE} if self.is_registered else {}
        if not slave_runs:
            members.pop(1, None)
        return NameServerFacts(
            self.addr, None, "C", members, places if self.is_registered else {}, not self.is_old
        )


class DrainCluster:
    """The world of a drain. `calls` counts what the drain asks and does; at `kill_at` the process ends."""

    def __init__(
        self, servers: int = 2, *, old: Iterable[int] = (), perms: Mapping[str, int] = PERMS
    ) -> None:
        self.now = 1_700_000_000_000
        self.own = {topic: make_queue(perm) for topic, perm in perms.items()}
        self.nodes = [SimServer(f"127.0.0.1:{9876 + at}", is_old=at in set(old)) for at in range(servers)]
        self.others = 8
        self.brokers_perm = 6
        self.ordered: set[str] = set()
        self.version = 0
        self.refuses_topics = False
        self.boot = self.slave_boot = self.now - 1000
        self.slave_runs = True
        self.is_running = True
        self.puts = 0
        self.rate = 600
        self.residue: dict[str, int] = {}
        self.slave_gaps: tuple[SlaveGap, ...] = ()
        self.lag: dict[str, Lag] | None = {"billing": Lag(0)}
        self.slave_is_behind = False
        self._slave_end = 0
        self.refuses_config: str | None = None
        self.last_open = self.now
        self.script: dict[int, Callable[[], None]] = {}
        self.kill_at: int | None = None
        self.calls = 0
        self.register_broker()

    # What may happen

    def registered_queues(self) -> dict[str, QueueData]:
        return (
            {
                topic: item._replace(perm=item.perm & self.brokers_perm | item.perm & 1)
                for topic, item in self.own.items()
            }
            if self.brokers_perm != 6
            else dict(self.own)
        )

    def register_broker(self) -> None:
        """All that the broker has, with every name server that is there."""
        for node in self.nodes:
            if node.is_up:
                node.is_registered, node.topics = True, self.registered_queues()

    def create_topic(self, topic: str, perm: int = RW, queues: int = 8) -> None:
        self.own[topic] = make_queue(perm, queues)
        self.version += 1
        for node in self.nodes:
            if node.is_up and node.is_registered:
                node.topics[topic] = self.registered_queues()[topic]

    def delete_topic(self, topic: str) -> None:
        """On the broker and on name servers; the broker's next registration opens the rest."""
        del self.own[topic]
        self.version += 1
        self.register_broker()

    def flip_order(self, topic: str, times: int = 1) -> None:
        """As a failing consumer does with its retry topic; the next registration opens the rest."""
        for _ in range(times):
            self.ordered ^= {topic}
            self.version += 1
        self.register_broker()

    def restart_broker(self) -> None:
        self.boot, self.puts, self.is_running = self.now, 0, True
        self.register_broker()

    def stop_broker(self) -> None:
        self.is_running = False
        for node in self.nodes:
            node.is_registered, node.topics = False, {}

    def kill_server(self, at: int) -> None:
        self.nodes[at].is_up = False

    def restart_server(self, at: int) -> None:
        node = self.nodes[at]
        node.is_up = node.is_registered = True
        node.topics = self.registered_queues()

    # Time

    def pass_time(self, seconds: float) -> None:
        """Second by second; clients write as long as one of them may have seen a queue to write to."""
        for _ in range(max(1, round(seconds))):
            self.now += 1000
            happens = self.script.pop((self.now - 1_700_000_000_000) // 1000, None)
            if happens is not None:
                happens()
            if self.is_running and any(node.is_open for node in self.nodes):
                self.last_open = self.now
            if self.is_running and self.now - self.last_open < POLL:
                self.puts += self.rate // 60

    @property
    def is_written(self) -> bool:
        """Whether a client may write now."""
        return self.is_running and (self.now - self.last_open < POLL or any(n.is_open for n in self.nodes))

    @property
    def clock(self) -> ProcedureClock:
        return ProcedureClock(lambda: self.now, self.pass_time, lambda: self.now / 1000)

    def _call(self) -> None:
        self.calls += 1
        if self.calls == self.kill_at:
            raise DrainKilled

    # The world of a drain

    def read_system_topics(self, master: str, cluster: str) -> frozenset[str]:
        return SYSTEM

    def read_servers(self) -> tuple[NameServerFacts, ...]:
        self._call()
        return tuple(node.describe_server(self.others, self.slave_runs) for node in self.nodes)

    def read_broker(
        self, master: str | None, slaves: Mapping[int, str], before: BrokerCounters | None, lag: bool
    ) -> BrokerCounters:
        self._call()
        if master == SLAVE and self.slave_runs:
            return BrokerCounters(SLAVE, None, self.slave_boot, 0, 1000 * self.puts)
        if master != MASTER or not self.is_running:
            return BrokerCounters(master, "connection refused, no server listens on this port")
        end = 1000 * self.puts
        # One that is behind stays where it is.
        self._slave_end = min(self._slave_end, end - 500) if self.slave_is_behind else end
        return BrokerCounters(
            master,
            None,
            self.boot,
            self.puts,
            end,
            self.residue if before is not None and before.put_count != self.puts else None,
            lag_by_group=self.lag if lag else None,
            slaves=(SlaveProgress(SLAVE, self._slave_end),),
            user_puts=self.rate if before is not None and before.put_count != self.puts else None,
        )

    def read_slave_gaps(self, master: str | None, slaves: Mapping[int, str]) -> tuple[SlaveGap, ...]:
        return self.slave_gaps

    def read_own_queues(self, master: str) -> QueuesByTopic | str:
        self._call()
        return (
            dict(self.own)
            if self.is_running and master
            else "connection refused, no server listens on this port"
        )

    def read_own_topics(self, master: str) -> OwnTopics | None:
        self._call()
        if self.refuses_topics or not self.is_running:
            return None
        return OwnTopics(
            {"counter": self.version},
            {
                topic: {
                    "readQueueNums": item.read_queue_nums,
                    "writeQueueNums": item.write_queue_nums,
                    "perm": item.perm,
                    "order": topic in self.ordered,
                }
                for topic, item in self.own.items()
            },
        )

    def _each(self, addrs: tuple[str, ...], act: Callable[[SimServer], None]) -> dict[str, str | None]:
        self._call()
        done: dict[str, str | None] = {}
        for node in self.nodes:
            if node.addr in addrs:
                done[node.addr] = None if node.is_up else "connection refused"
                if node.is_up:
                    act(node)
        # What was done may never be heard of.
        self._call()
        return done

    def wipe_write_permission(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        return self._each(addrs, lambda node: _set(node, lambda perm: perm & ~Perm.WRITE))

    def add_write_permission(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        return self._each(addrs, lambda node: _set(node, lambda _: RW))

    def restore_queues(self, addr: str, queues: QueuesByTopic) -> Mapping[str, str | None]:
        done: dict[str, str | None] = {}
        for topic, item in queues.items():
            self._call()
            [node] = [node for node in self.nodes if node.addr == addr]
            assert not node.is_old, "4.x never answers that"
            if topic in node.topics:
                node.topics[topic] = item
                done[topic] = None
        return done

    def request_registration(self, master: str) -> str | None:
        assert master == MASTER
        self._call()
        if self.refuses_config is None:
            self.register_broker()
        return self.refuses_config

    def read_permission(self, master: str) -> int | str:
        assert master == MASTER
        self._call()
        return self.brokers_perm

    def set_permission(self, master: str, perm: int) -> str | None:
        assert master == MASTER
        self._call()
        self.brokers_perm = perm
        self.register_broker()
        return None

    # Running drains

    def make_plan(self, **more: Any) -> DrainPlan:
        return DrainPlan(BROKER, **{"rules": SafetyRules(), "interval": 10.0, **more})

    def run_drain(self, folder: Path, limit: int = 2000, **more: Any) -> list[EventRecord]:
        """Drain until it is safe; what was told. With `hold` until `limit` records."""
        plan, keeping = self.make_plan(**more), DrainFolder(folder)
        servers = self.read_servers()
        is_new = keeping.load() is None
        checked = check_plan(plan, servers, SYSTEM, frozenset(), self.now) if is_new else None
        records: list[EventRecord] = []
        for record in DrainRun(plan, self, keeping, self.clock).run_drain(checked, servers):
            records.append(record)
            if len(records) >= limit:
                break
        return records

    def run_undrain(self, folder: Path) -> list[EventRecord]:
        return list(UndoRun(BROKER, self, DrainFolder(folder), self.clock).run_undo())

    def topics_by_server(self) -> list[dict[str, QueueData]]:
        """What each name server tells of the broker's topics."""
        return [dict(sorted(node.topics.items())) for node in self.nodes]


def _set(node: SimServer, change: Callable[[int], int]) -> None:
    node.topics = {t: item._replace(perm=int(change(item.perm))) for t, item in node.topics.items()}


def select_events(told: Iterable[EventRecord], *names: str) -> list[EventRecord]:
    """The records of these events."""
    return [record for record in told if record["event"] in names]


__all__ = ["MASTER", "DrainCluster", "DrainKilled", "find_master_addr", "make_queue", "select_events"]
