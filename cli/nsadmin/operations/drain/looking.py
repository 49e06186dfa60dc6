"""Looking and doing: a drain's world, as the client library reaches it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.broker_routes import Known
from nsadmin.client.brokers import RuntimeInfo
from nsadmin.client.groups import is_system
from nsadmin.client.results import error_text
from nsadmin.client.routes import QueueRoute, TopicRoute
from nsadmin.client.topic_configs import TopicConfig
from nsadmin.client.topics import SYSTEM_TOPICS
from nsadmin.operations.drain.facts import Broker, Place, Queues, Server, Slave
from nsadmin.operations.drain.risks import is_system_topic

T = TypeVar("T")
_PERMISSION = "brokerPermission"
_HALF_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC"


class Cluster:
    """The world of a drain of one broker."""

    def __init__(self, admin: AdminClient, broker: str) -> None:
        self._admin = admin
        self._broker = broker
        self._system: frozenset[str] | None = None

    def system_topics(self, master: str) -> frozenset[str]:
        """RocketMQ's own topics, as this broker names them; asked for once."""
        if self._system is None:
            [told] = self._admin.topics.system_names_of([master])
            [config] = self._admin.broker_configs.each([master])
            if told.result is None or config.result is None:
                return SYSTEM_TOPICS
            cluster = config.result.get("brokerClusterName", "")
            self._system = SYSTEM_TOPICS.union(told.result, (self._broker, cluster))
        return self._system

    def servers(self) -> tuple[Server, ...]:
        return tuple(_server(found, self._broker) for found in self._admin.broker_routes.each(self._broker))

    def broker(
        self, master: str | None, slaves: Mapping[int, str], before: Broker | None, lag: bool
    ) -> Broker:
        if master is None:
            return Broker(None, "it has no master now")
        infos = self._admin.brokers.runtime_infos([master, *slaves.values()])
        own, others = infos[0], infos[1:]
        known = tuple(Slave(found.addr, _integer(found.result, "commitLogMaxOffset")) for found in others)
        if own.result is None:
            return Broker(master, _text(own), slaves=known)
        found = _broker(master, own.result)._replace(slaves=known)
        if before is not None and (before.boot != found.boot or before.puts != found.puts):
            found = self._with_residue(found, master)
        return found._replace(lag=self._lag(master)) if lag else found

    def _with_residue(self, found: Broker, master: str) -> Broker:
        """With what came to which topic, which is asked only where something came."""
        cluster = self._cluster_of(master)
        counts = self._admin.put_counts
        users = counts.of_users(master, cluster).result if cluster else None
        configs = self._configs(master).result or {}
        system = self.system_topics(master)
        names = [name for name in configs if not is_system_topic(name, system)]
        tables = [result.result for result in counts.of_topics(master, [*names, _HALF_TOPIC])]
        residue = dict(table for table in tables if table is not None)
        half = residue.pop(_HALF_TOPIC, 0)
        return found._replace(
            residue=residue if len(residue) == len(names) and configs else None,
            user_puts=users,
            has_transactions=bool(half),
        )

    def _cluster_of(self, master: str) -> str | None:
        [config] = self._admin.broker_configs.each([master])
        return (config.result or {}).get("brokerClusterName")

    def _lag(self, master: str) -> dict[str, int] | None:
        try:
            queues = self._admin.consumers.broker_stats(master)
        except RocketMQError:
            return None
        found: dict[str, int] = {}
        for queue in queues:
            if not is_system(queue.group):
                found[queue.group] = found.get(queue.group, 0) + max(0, queue.diff or 0)
        return found

    def _configs(self, master: str) -> ServerResult[dict[str, TopicConfig]]:
        [found] = self._admin.topic_configs.of_brokers([master])
        return found.then(lambda configs: {config.topic_name: config for config in configs})

    def own_queues(self, master: str) -> Queues | str:
        found = self._configs(master)
        if found.result is None:
            return _text(found)
        return {
            name: QueueData(
                self._broker, item.read_queue_nums, item.write_queue_nums, item.perm, item.topic_sys_flag
            )
            for name, item in found.result.items()
        }

    def ordered(self, master: str) -> frozenset[str]:
        """Topics whose messages have an order, as far as the broker tells."""
        configs = self._configs(master).result or {}
        return frozenset(name for name, item in configs.items() if item.order)

    def wipe(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        return self._told(addrs, self._admin.brokers.wipe_write_perm(self._broker, addrs))

    def add(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        return self._told(addrs, self._admin.brokers.add_write_perm(self._broker, addrs))

    def _told(self, addrs: Iterable[str], results: Sequence[ServerResult[int]]) -> Mapping[str, str | None]:
        errors = {result.addr: _error(result) for result in results}
        return {addr: errors.get(addr) for addr in addrs}

    def put_back(self, addr: str, queues: Queues) -> Mapping[str, str | None]:
        results = self._admin.broker_routes.put_back(addr, queues)
        return {topic: _error(result) for topic, result in zip(queues, results, strict=True)}

    def register_anew(self, master: str) -> str | None:
        return _error(self._admin.broker_configs.register_anew(master))

    def permission(self, master: str) -> int | str:
        [config] = self._admin.broker_configs.each([master])
        if config.result is None:
            return _text(config)
        text = config.result.get(_PERMISSION, "")
        return int(text) if text.isdecimal() else f"it has no {_PERMISSION}"

    def set_permission(self, master: str, perm: int) -> str | None:
        [done] = self._admin.broker_configs.update([master], _PERMISSION, str(perm))
        return _error(done)


def _error(result: ServerResult[T]) -> str | None:
    return None if result.error is None else error_text(result.error)


def _text(result: ServerResult[T]) -> str:
    return error_text(result.error) if result.error is not None else "it has not answered"


def _server(found: ServerResult[Known], broker: str) -> Server:
    if found.result is None:
        return Server(found.addr, _text(found))
    group, topics, may_register = found.result
    return Server(
        found.addr,
        None,
        group and group.cluster_name,
        {} if group is None else group.broker_addrs,
        {topic: _place(route, broker) for topic, route in topics.items()},
        may_register,
    )


def _place(route: TopicRoute, broker: str) -> Place:
    [own] = [queue for queue in route.queues if queue.broker_name == broker]
    others = [queue for queue in route.queues if queue.broker_name != broker]
    return Place(
        _queue_data(own),
        sum(len(queue.write_ids) for queue in others if queue.is_writable),
        sum(1 for queue in others if queue.has_master),
        route.order_topic_conf,
        bool(own.logical_queues),
    )


def _queue_data(queue: QueueRoute) -> QueueData:
    return QueueData(
        queue.broker_name,
        queue.read_queue_nums or 0,
        queue.write_queue_nums or 0,
        queue.perm or 0,
        queue.topic_sys_flag or 0,
    )


def _integer(info: RuntimeInfo | None, key: str) -> int | None:
    return None if info is None else info.integer(key)


def _broker(addr: str, info: RuntimeInfo) -> Broker:
    return Broker(
        addr,
        None,
        info.integer("bootTimestamp"),
        info.integer("msgPutTotalTodayNow"),
        info.integer("commitLogMaxOffset"),
        delayed=_delayed(info),
    )


def _delayed(info: RuntimeInfo) -> int:
    """Messages of delay levels that were not delivered yet ("done,max"), and those of the timer wheel."""
    waiting = 0
    for key, text in info.table.items():
        done, _, end = text.partition(",")
        if key.startswith("scheduleMessageOffset_") and done.isdecimal() and end.isdecimal():
            waiting += max(0, int(end) - int(done))
    return waiting + max(0, info.integer("timerCongestNum") or 0)
