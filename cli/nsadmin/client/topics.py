"""Topics: their names, where they live and who consumes them, and taking them away."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

from namesrv_core.protocol import fastjson, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import Command
from nsadmin.client.bodies import topic_names
from nsadmin.client.caller import Caller
from nsadmin.client.clusters import Clusters
from nsadmin.client.results import ServerResult
from nsadmin.client.retry import Reader, decoded
from nsadmin.client.routes import TopicRoute, get_route, route_of

if TYPE_CHECKING:
    from nsadmin.client.deletion import DeletionStep, TopicDeletion
    from nsadmin.client.topic_stats import BrokerTopicStats
    from nsadmin.client.traffic import Traffic
    from nsadmin.client.usage import TopicUsage

# TopicValidator upstream; a broker adds those named after itself and its cluster (304, 305).
SYSTEM_TOPICS = frozenset(
    {
        "BenchmarkTest",
        "OFFSET_MOVED_EVENT",
        "SCHEDULE_TOPIC_XXXX",
        "SELF_TEST_TOPIC",
        "TBW102",
        "TRANS_CHECK_MAX_TIME_TOPIC",
    }
)
SYSTEM_PREFIX = "rmq_sys_"


class Topics:
    """`admin.topics`; what takes a module of its own is loaded when it is asked for."""

    def __init__(self, caller: Caller, reader: Reader, clusters: Clusters) -> None:
        self._caller = caller
        self._reader = reader
        self._clusters = clusters

    def names(self, cluster_name: str | None = None) -> tuple[str, ...]:
        """All topics, or those of one cluster (NotFound if there is no such cluster), in order."""
        code, ext = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, None
        if cluster_name is None:
            return self._reader.read("the list of topics", topic_names, code, ext)
        self._clusters.info().in_cluster(cluster_name)
        code, ext = RequestCode.GET_TOPICS_BY_CLUSTER, headers.write(headers.ClusterName(cluster_name))
        return self._reader.read(f"the topics of {cluster_name!r}", topic_names, code, ext)

    def system_names(self) -> frozenset[str]:
        """Topics that RocketMQ has for itself: built in, told by name servers (304) and by masters (305)."""
        known = self._reader.read(
            "the system topics", topic_names, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS, ask_all=False
        )
        masters = {group.master for group in self._clusters.info().groups if group.master}
        lists = [found.result or () for found in self.system_names_of(masters)]
        return SYSTEM_TOPICS.union(known, *lists)

    def system_names_of(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[str, ...]]]:
        """What each of these brokers says that it has for itself."""
        answers = self._caller.ask_each(broker_addrs, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return [decoded(answer, topic_names) for answer in answers]

    def user_names(self, cluster_name: str | None = None) -> tuple[str, ...]:
        """`names` without the system topics; %RETRY% and %DLQ% topics belong to users."""
        system = self.system_names()
        return tuple(
            name
            for name in self.names(cluster_name)
            if name not in system and not name.lower().startswith(SYSTEM_PREFIX)
        )

    def route(self, topic: str) -> TopicRoute:
        """Where a topic lives; TopicNotExist if no name server knows it."""
        return self._reader.read(
            f"the topic {topic!r}", route_of, RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(topic)
        )

    def route_each(self, topic: str) -> list[ServerResult[TopicRoute]]:
        """Where a topic lives as each name server tells it; TopicNotExist is the error of one without it."""
        return self._reader.each(route_of, RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(topic))

    def routes(self, names: Iterable[str]) -> dict[str, ServerResult[TopicRoute]]:
        """The routes of many topics at once, by topic; TopicNotExist is the error of one that has none."""
        wanted = list(names)
        exts = [get_route(name) for name in wanted]
        routes = self._reader.read_many(route_of, RequestCode.GET_ROUTEINFO_BY_TOPIC, exts)
        return dict(zip(wanted, routes, strict=True))

    def raw_route(self, topic: str) -> str:
        """The route as the name server sent it; the bare keys of releases before 4.9.4 get their quotes."""
        return self._reader.read(
            f"the topic {topic!r}",
            _standard_json,
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            get_route(topic),
            ask_all=False,
        )

    def clusters(self, topic: str) -> tuple[str, ...]:
        """The clusters of all brokers that have the topic, in order."""
        queues = self.route(topic).queues
        info = self._clusters.info()
        named = {queue.cluster_name for queue in queues if queue.cluster_name}
        return tuple(sorted(named.union(*(info.clusters_of(queue.broker_name) for queue in queues))))

    def usage(self, names: tuple[str, ...]) -> "list[TopicUsage]":
        """These topics with their clusters and the consumer groups that any of their brokers knows."""
        from nsadmin.client.usage import usage

        return usage(self._caller, self.routes(names))

    def readers(self, addr: str, names: Iterable[str]) -> "ServerResult[dict[str, tuple[str, ...]]]":
        """The consumer groups that one broker knows of each of these topics."""
        from nsadmin.client.usage import readers

        return readers(self._caller, addr, names)

    def traffic(self, names: tuple[str, ...]) -> "list[Traffic]":
        """What these topics take and their groups read."""
        from nsadmin.client.traffic import traffic

        return traffic(self._caller, self.routes(names))

    def put_rates(self, topic: str, masters: Iterable[str]) -> list[ServerResult[float]]:
        """What these masters take of a topic now: messages per second; 0 for one that never had any."""
        from nsadmin.client.traffic import put_rates

        return put_rates(self._caller, topic, masters)

    def stats(self, topic: str, route_of_topic: str | None = None) -> "list[BrokerTopicStats]":
        """How far the queues of a topic go on each of its brokers; TopicNotExist if it has no route.

        `route_of_topic` is the topic whose brokers to ask for a topic without a route of its own.
        """
        from nsadmin.client.topic_stats import topic_stats

        return topic_stats(self._caller, self.route(route_of_topic or topic), topic)

    def deletion(self, topic: str, cluster_name: str) -> "TopicDeletion":
        """What deleting the topic would do, checked and not yet done; NotFound if it is not there."""
        from nsadmin.client.deletion import TopicDeletion

        return TopicDeletion.plan(self._caller, self._clusters.info(), topic, cluster_name)

    def forget(self, topic: str, addrs: Iterable[str], *, dry_run: bool = False) -> "list[DeletionStep]":
        """Have these name servers forget a topic, in whatever cluster, that no broker has; and look again.

        A broker that has it would only register it again. In a `dry_run` they are only asked what they have.
        """
        from nsadmin.client.deletion import forget

        return forget(self._caller, topic, list(addrs), dry_run=dry_run)

    def delete(self, topic: str, cluster_name: str) -> "list[DeletionStep]":
        """Delete the topic on every master of a cluster, then on every name server; see `TopicDeletion`."""
        return self.deletion(topic, cluster_name).run()


def _standard_json(command: Command) -> str:
    text = command.body.decode("utf-8", "replace")
    value = fastjson.loads(command.body, errors="replace")
    try:
        json.loads(text)
    except ValueError:
        return fastjson.dumps(value, standard=True).decode()
    return text
