"""The DrainEnvironment of a real cluster: reads and changes it through an AdminClient."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from namesrv_core.protocol.codes import MASTER_BROKER_ID
from nsadmin.client import AdminClient, ServerResult
from nsadmin.client.brokers.broker_routes import BrokerRouteView
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.consumers.lag import Lag, sum_lags
from nsadmin.client.messages.delayed_messages import HALF_TOPIC
from nsadmin.client.results import error_text
from nsadmin.client.topic_routes import TopicRoute
from nsadmin.client.topics.topic_configs import BrokerTopicConfig
from nsadmin.client.topics.topics import SYSTEM_TOPICS, list_own_names
from nsadmin.operations.drain.facts import (
    BrokerCounters,
    NameServerFacts,
    OwnTopics,
    QueuesByTopic,
    ServerTopic,
    SlaveGap,
    SlaveProgress,
)
from nsadmin.operations.drain.last_writers import read_last_writers
from nsadmin.operations.drain.risks import is_system_topic
from nsadmin.operations.replicas.takeover import find_takeover_gaps

T = TypeVar("T")
_PERMISSION_KEY = "brokerPermission"


class ClusterEnvironment:
    """The environment of a drain of one broker."""

    def __init__(self, admin: AdminClient, broker: str) -> None:
        self._admin = admin
        self._broker_name = broker
        self._named_topics: tuple[str, ...] | None = None

    def read_system_topics(self, master_addr: str, cluster_name: str) -> frozenset[str]:
        """RocketMQ's system topics, with those that this broker names. It is asked until it has answered."""
        if self._named_topics is None and master_addr:
            [names_result] = self._admin.topics.list_broker_system_names([master_addr])
            self._named_topics = names_result.result
        return SYSTEM_TOPICS.union(list_own_names(self._broker_name, cluster_name), self._named_topics or ())

    def read_servers(self) -> tuple[NameServerFacts, ...]:
        return tuple(
            _server_facts(result, self._broker_name)
            for result in self._admin.broker_routes.get_each(self._broker_name)
        )

    def read_broker(
        self,
        master_addr: str | None,
        slave_addrs: Mapping[int, str],
        previous: BrokerCounters | None,
        with_lag: bool,
    ) -> BrokerCounters:
        if master_addr is None:
            return BrokerCounters(None, "the broker has no master now")
        runtime_results = self._admin.brokers.get_runtime_info([master_addr, *slave_addrs.values()])
        master_result, slave_results = runtime_results[0], runtime_results[1:]
        known_slaves = tuple(
            SlaveProgress(
                slave.addr, None if slave.result is None else slave.result.get_integer("commitLogMaxOffset")
            )
            for slave in slave_results
        )
        if master_result.result is None:
            return BrokerCounters(master_addr, _failure_text(master_result), slaves=known_slaves)
        counters = _broker_counters(master_addr, master_result.result)._replace(slaves=known_slaves)
        if previous is not None and (
            previous.boot_ms != counters.boot_ms or previous.put_count != counters.put_count
        ):
            counters = self._with_recent_puts(counters, master_addr)
        return counters._replace(lag_by_group=self.read_lag(master_addr)) if with_lag else counters

    def _with_recent_puts(self, counters: BrokerCounters, master_addr: str) -> BrokerCounters:
        """Add the recent puts by topic. Called only if the broker's counter moved."""
        cluster_name = self._read_cluster_name(master_addr)
        put_counts = self._admin.put_counts
        user_puts = put_counts.count_user_messages(master_addr, cluster_name).result if cluster_name else None
        configs = self._read_topic_configs(master_addr).result or {}
        system_topics = self.read_system_topics(master_addr, cluster_name or "")
        topic_names = [topic for topic in configs if not is_system_topic(topic, system_topics)]
        count_tables = [
            result.result
            for result in put_counts.count_topic_messages(master_addr, [*topic_names, HALF_TOPIC])
        ]
        recent_puts = dict(table for table in count_tables if table is not None)
        half_messages = recent_puts.pop(HALF_TOPIC, 0)
        return counters._replace(
            recent_puts=recent_puts if len(recent_puts) == len(topic_names) and configs else None,
            user_puts=user_puts,
            has_transactions=bool(half_messages),
            writers=read_last_writers(
                self._admin,
                self._broker_name,
                master_addr,
                {topic: config.write_queue_nums for topic, config in configs.items()},
                recent_puts,
            ),
        )

    def _read_cluster_name(self, master_addr: str) -> str | None:
        [result] = self._admin.broker_configs.get_each([master_addr])
        return (result.result or {}).get("brokerClusterName")

    def read_lag(self, master_addr: str) -> dict[str, Lag] | None:
        """Return the unconsumed messages by group, without RocketMQ's own; None if the broker failed."""
        try:
            group_queues = self._admin.consumers.get_broker_stats(master_addr)
        except RocketMQError:
            return None
        lags_by_group: dict[str, list[Lag]] = {}
        for queue in group_queues:
            if not is_system_group(queue.group):
                lags_by_group.setdefault(queue.group, []).append(queue.lag)
        return {group: sum_lags(lags) for group, lags in lags_by_group.items()}

    def _read_topic_configs(self, master_addr: str) -> ServerResult[dict[str, BrokerTopicConfig]]:
        [result] = self._admin.topic_configs.list_broker_topics([master_addr])
        return result.then(lambda configs: {config.topic_name: config for config in configs})

    def read_own_queues(self, master_addr: str) -> QueuesByTopic | str:
        result = self._read_topic_configs(master_addr)
        if result.result is None:
            return _failure_text(result)
        return {
            topic: QueueData(
                self._broker_name,
                config.read_queue_nums,
                config.write_queue_nums,
                config.perm,
                config.topic_sys_flag,
            )
            for topic, config in result.result.items()
        }

    def read_slave_gaps(
        self, master_addr: str | None, slave_addrs: Mapping[int, str]
    ) -> tuple[SlaveGap, ...]:
        """Return what each slave lacks and will not copy before the broker is stopped.

        A slave that could not be compared is not reported here.
        """
        if master_addr is None or not slave_addrs:
            return ()
        group = BrokerAddrGroup("", self._broker_name, {MASTER_BROKER_ID: master_addr, **slave_addrs})
        return tuple(
            SlaveGap(gap.slave.broker_id, gap.slave.broker_addr, gap.item_names)
            for gap in find_takeover_gaps(self._admin, group, includes_lag=False)
            if gap.item_names
        )

    def read_own_topics(self, master_addr: str) -> OwnTopics | None:
        [result] = self._admin.registrations.get_each([master_addr])
        registrant = result.result
        return None if registrant is None else OwnTopics(registrant.data_version, registrant.topics)

    def read_ordered_topics(self, master_addr: str) -> frozenset[str]:
        """Return the topics with ordered messages; none if the broker does not answer."""
        configs = self._read_topic_configs(master_addr).result or {}
        return frozenset(topic for topic, config in configs.items() if config.order)

    def wipe_write_permission(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        return self._errors_by_addr(addrs, self._admin.brokers.wipe_write_perm(self._broker_name, addrs))

    def add_write_permission(self, addrs: tuple[str, ...]) -> Mapping[str, str | None]:
        return self._errors_by_addr(addrs, self._admin.brokers.add_write_perm(self._broker_name, addrs))

    def _errors_by_addr(
        self, addrs: Iterable[str], results: Sequence[ServerResult[int]]
    ) -> Mapping[str, str | None]:
        known_errors = {result.addr: _result_error(result) for result in results}
        return {addr: known_errors.get(addr) for addr in addrs}

    def restore_queues(self, addr: str, queues: QueuesByTopic) -> Mapping[str, str | None]:
        errors = self._admin.broker_routes.restore_queues(addr, queues)
        return {topic: None if error is None else error_text(error) for topic, error in errors.items()}

    def request_registration(self, master_addr: str) -> str | None:
        return _result_error(self._admin.broker_configs.force_registration(master_addr))

    def read_permission(self, master_addr: str) -> int | str:
        [result] = self._admin.broker_configs.get_each([master_addr])
        if result.result is None:
            return _failure_text(result)
        perm = result.result.get(_PERMISSION_KEY, "")
        return int(perm) if perm.isdecimal() else f"the broker has no setting {_PERMISSION_KEY}"

    def set_permission(self, master_addr: str, perm: int) -> str | None:
        [result] = self._admin.broker_configs.update_item([master_addr], _PERMISSION_KEY, str(perm))
        return _result_error(result)


def _result_error(result: ServerResult[T]) -> str | None:
    return None if result.error is None else error_text(result.error)


def _failure_text(result: ServerResult[T]) -> str:
    return error_text(result.error) if result.error is not None else "the broker did not answer"


def _server_facts(result: ServerResult[BrokerRouteView], broker: str) -> NameServerFacts:
    if result.result is None:
        return NameServerFacts(result.addr, _failure_text(result))
    group, topic_routes, can_register, other_names = result.result
    own_names = {broker, *other_names}
    open_names = {
        queue.broker_name
        for route in topic_routes.values()
        for queue in route.queues
        if queue.broker_name in other_names and queue.is_writable
    }
    return NameServerFacts(
        result.addr,
        None,
        group and group.cluster_name,
        {} if group is None else group.broker_addrs,
        {topic: _server_topic(route, broker, own_names) for topic, route in topic_routes.items()},
        can_register,
        other_names,
        tuple(sorted(open_names)),
        any(
            queue.has_master and queue.broker_name not in own_names
            for route in topic_routes.values()
            for queue in route.queues
            if group is not None and queue.cluster_name == group.cluster_name
        ),
    )


def _server_topic(topic_route: TopicRoute, broker: str, own_names: Collection[str]) -> ServerTopic:
    [own_queue] = [route for route in topic_route.queues if route.broker_name == broker]
    other_queues = [route for route in topic_route.queues if route.broker_name not in own_names]
    return ServerTopic(
        QueueData(
            broker,
            own_queue.read_queue_nums or 0,
            own_queue.write_queue_nums or 0,
            own_queue.perm or 0,
            own_queue.topic_sys_flag or 0,
        ),
        sum(len(route.write_queue_ids) for route in other_queues if route.is_writable),
        sum(1 for route in other_queues if route.has_master),
        topic_route.order_topic_conf,
        bool(own_queue.logical_queues),
        tuple(
            route.broker_name
            for route in other_queues
            if route.has_master and not (route.is_writable and route.write_queue_ids)
        ),
    )


def _broker_counters(broker_addr: str, info: RuntimeInfo) -> BrokerCounters:
    return BrokerCounters(
        broker_addr,
        None,
        info.get_integer("bootTimestamp"),
        info.get_integer("msgPutTotalTodayNow"),
        info.get_integer("commitLogMaxOffset"),
        delayed_count=_count_delayed(info),
    )


def _count_delayed(info: RuntimeInfo) -> int:
    """Count the undelivered messages of delay levels (value "delivered,max") and of the timer wheel."""
    delayed_count = 0
    for info_key, offsets_text in info.table.items():
        delivered_offset, _, max_offset = offsets_text.partition(",")
        if (
            info_key.startswith("scheduleMessageOffset_")
            and delivered_offset.isdecimal()
            and max_offset.isdecimal()
        ):
            delayed_count += max(0, int(max_offset) - int(delivered_offset))
    return delayed_count + max(0, info.get_integer("timerCongestNum") or 0)
