"""The RebalanceEnvironment of a real cluster: reads and changes it through an AdminClient."""

from collections.abc import Iterable, Mapping, Sequence

from namesrv_core.errors import RocketMQError, TopicNotExist
from nsadmin.client import AdminClient
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.results import NotFound, ServerResult, error_text
from nsadmin.client.topic_routes import TopicRoute
from nsadmin.client.topics.bulk_changes import BrokerTopicTable
from nsadmin.client.topics.topic_configs import BrokerTopicConfig
from nsadmin.operations.rebalance.change_sender import ChangeSender
from nsadmin.operations.rebalance.group_progress import GroupReader
from nsadmin.operations.rebalance.pending_deliveries import count_undelivered
from nsadmin.operations.rebalance.rebalance_plan import QueuePair
from nsadmin.operations.rebalance.run_facts import (
    BrokerHealth,
    MovingTopicFacts,
    RoutedQueues,
    RunAction,
    RunObservation,
    RunQuestions,
    TopicAtServer,
    TopicOnBroker,
    TopicQuestion,
)

NO_MASTER = "it has no master now"


class RunEnvironment:
    """The environment of a rebalance of one cluster."""

    def __init__(self, admin: AdminClient, cluster: str) -> None:
        self._admin = admin
        self._cluster_name = cluster
        self._master_addrs: dict[str, str] = {}

    def observe(self, questions: RunQuestions, now_ms: int) -> RunObservation:
        self._refresh_masters()
        return RunObservation(
            now_ms,
            {question.topic: self._read_topic(question, now_ms) for question in questions.topics},
            self._read_groups(questions.group_brokers),
            self._read_health(questions.health_brokers),
        )

    def carry_out(self, actions: Sequence[RunAction]) -> list[str | None]:
        sender = ChangeSender(self._admin, self._master_addrs)
        return [sender.send_change(action) for action in actions]

    def list_masters(self) -> dict[str, str]:
        """Return the master addresses of the cluster by broker name.

        Raises:
            NoneReachable: No name server answers.
        """
        self._refresh_masters()
        if not self._master_addrs:
            self._admin.clusters.get_info()
        return dict(self._master_addrs)

    def read_topics(self, brokers: Iterable[str]) -> dict[str, ServerResult[BrokerTopicTable]]:
        """Return all topics of these brokers, by broker name."""
        masters = self.list_masters()
        addrs = {broker: masters[broker] for broker in brokers if broker in masters}
        unknown = {
            b: ServerResult(b, None, NotFound(f"{b}: {NO_MASTER}")) for b in brokers if b not in masters
        }
        return {**dict(zip(addrs, self._admin.bulk.list_topics(addrs.values()), strict=True)), **unknown}

    def _refresh_masters(self) -> None:
        """Add the masters that name servers list. A name server that just started may not list all."""
        for info_result in self._admin.clusters.get_info_each():
            broker_groups = info_result.result.broker_groups if info_result.result is not None else ()
            self._master_addrs |= {
                group.broker_name: group.master_addr
                for group in broker_groups
                if group.cluster_name == self._cluster_name and group.master_addr is not None
            }

    def _read_groups(self, brokers: Sequence[str]) -> dict[str, frozenset[str] | None]:
        known_brokers = [broker for broker in brokers if broker in self._master_addrs]
        tables = self._admin.bulk.list_groups([self._master_addrs[broker] for broker in known_brokers])
        groups: dict[str, frozenset[str] | None] = dict.fromkeys(brokers)
        for broker, table_result in zip(known_brokers, tables, strict=True):
            groups[broker] = None if table_result.result is None else frozenset(table_result.result)
        return groups

    def _read_health(self, brokers: Sequence[str]) -> dict[str, BrokerHealth]:
        known_brokers = [broker for broker in brokers if broker in self._master_addrs]
        runtime_results = self._admin.brokers.get_runtime_info(
            [self._master_addrs[broker] for broker in known_brokers]
        )
        return {b: _health_of_result(r) for b, r in zip(known_brokers, runtime_results, strict=True)}

    def _read_topic(self, question: TopicQuestion, now_ms: int) -> MovingTopicFacts:
        addrs = {b: self._master_addrs[b] for b in question.brokers if b in self._master_addrs}
        config_results = self._admin.topic_configs.get_each(list(addrs.values()), question.topic)
        results_by_addr = {result.addr: result for result in config_results}
        on_brokers = {
            broker: _topic_on_broker(results_by_addr[addrs[broker]])
            if broker in addrs
            else TopicOnBroker(NO_MASTER)
            for broker in question.brokers
        }
        at_servers = {
            result.addr: _topic_at_server(result)
            for result in self._admin.topics.get_route_each(question.topic)
        }
        facts = MovingTopicFacts(on_brokers, at_servers)
        if not question.closing_queues and not question.new_queues:
            return facts
        return self._add_groups(question, facts, addrs, now_ms)

    def _add_groups(
        self, question: TopicQuestion, facts: MovingTopicFacts, addrs: Mapping[str, str], now_ms: int
    ) -> MovingTopicFacts:
        """Add the progress of the groups, on the brokers that have the topic."""
        topic_addrs = {b: addrs[b] for b, on in facts.on_brokers.items() if on.error is None and on.exists}
        silent = [broker for broker, on_broker in facts.on_brokers.items() if on_broker.error is not None]
        if silent or not {*question.closing_queues, *question.new_queues} <= topic_addrs.keys():
            return facts._replace(undelivered=None, error="the brokers to report their consumer groups")
        reader = GroupReader(self._admin, self._cluster_name, question, topic_addrs)
        try:
            groups = reader.list_groups()
            if question.new_queues:
                facts = facts._replace(new_queue_use=reader.read_new_queue_use(groups))
            if question.closing_queues:
                facts = facts._replace(
                    queue_ends=reader.read_queue_ends(),
                    group_lags={group: reader.read_group_lag(group) for group in groups},
                    undelivered=count_undelivered(
                        self._admin, question.topic, question.closing_queues, topic_addrs, now_ms
                    ),
                )
        except RocketMQError as error:
            return facts._replace(
                undelivered=None, error=f"the brokers to report their consumer groups ({error_text(error)})"
            )
        return facts


def _health_of_result(result: ServerResult[RuntimeInfo]) -> BrokerHealth:
    if result.result is None:
        return BrokerHealth(_describe_failure(result.error))
    disk_ratio = result.result.get_number("commitLogDiskRatio")
    return BrokerHealth(None, disk_ratio, result.result.get_integer("putMessageFailedTimes"))


def _topic_on_broker(result: ServerResult[BrokerTopicConfig]) -> TopicOnBroker:
    if isinstance(result.error, TopicNotExist):
        return TopicOnBroker(None)
    topic_config = result.result
    if topic_config is None:
        return TopicOnBroker(_describe_failure(result.error))
    queues = QueuePair(topic_config.read_queue_nums, topic_config.write_queue_nums)
    return TopicOnBroker(None, True, queues, topic_config.perm, topic_config.order)


def _topic_at_server(result: ServerResult[TopicRoute]) -> TopicAtServer:
    if isinstance(result.error, TopicNotExist):
        return TopicAtServer(None)
    if result.result is None:
        return TopicAtServer(_describe_failure(result.error))
    routed_queues = {
        route.broker_name: RoutedQueues(
            QueuePair(route.read_queue_nums or 0, route.write_queue_nums or 0), route.perm or 0
        )
        for route in result.result.queues
    }
    return TopicAtServer(None, routed_queues, result.result.order_topic_conf or "")


def _describe_failure(error: RocketMQError | None) -> str:
    return "no answer" if error is None else error_text(error)
