"""`admin.topics`: names, routes, consumer groups, statistics and deletion of topics."""

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

# From TopicValidator upstream. A broker adds topics named after itself and its cluster (codes 304, 305).
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
    """`admin.topics`: names, routes, consumer groups, statistics and deletion of topics."""

    def __init__(self, caller: Caller, reader: Reader, clusters: Clusters) -> None:
        self._caller = caller
        self._reader = reader
        self._clusters = clusters

    def names(self, cluster_name: str | None = None) -> tuple[str, ...]:
        """Return the names of all topics, or of one cluster's topics, in order.

        Asks one name server (GET_ALL_TOPIC_LIST_FROM_NAMESERVER, 206; or GET_TOPICS_BY_CLUSTER, 224).

        Args:
            cluster_name: The cluster. Default: all topics.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        code, ext = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, None
        if cluster_name is None:
            return self._reader.read("the list of topics", topic_names, code, ext)
        self._clusters.info().in_cluster(cluster_name)
        code, ext = RequestCode.GET_TOPICS_BY_CLUSTER, headers.write(headers.ClusterName(cluster_name))
        return self._reader.read(f"the topics of {cluster_name!r}", topic_names, code, ext)

    def system_names(self) -> frozenset[str]:
        """Return the names of the topics that RocketMQ creates for itself.

        Joins SYSTEM_TOPICS, the list of one name server (GET_SYSTEM_TOPIC_LIST_FROM_NS, 304) and those of all
        masters (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305). A master that does not answer is left out.
        """
        known = self._reader.read(
            "the system topics", topic_names, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS, ask_all=False
        )
        masters = {group.master for group in self._clusters.info().groups if group.master}
        lists = [found.result or () for found in self.system_names_of(masters)]
        return SYSTEM_TOPICS.union(known, *lists)

    def system_names_of(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[str, ...]]]:
        """Return the system topics of each broker (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305).

        Returns:
            One ServerResult per address, in order: topic names in order.
        """
        answers = self._caller.ask_each(broker_addrs, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return [decoded(answer, topic_names) for answer in answers]

    def user_names(self, cluster_name: str | None = None) -> tuple[str, ...]:
        """Return the names of the users' topics: `list_names` without the system topics.

        The %RETRY% and %DLQ% topics count as users' topics.

        Args:
            cluster_name: The cluster. Default: all topics.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        system = self.system_names()
        return tuple(
            name
            for name in self.names(cluster_name)
            if name not in system and not name.lower().startswith(SYSTEM_PREFIX)
        )

    def route(self, topic: str) -> TopicRoute:
        """Return the route of a topic from the first name server that has one (GET_ROUTEINFO_BY_TOPIC, 105).

        Raises:
            TopicNotExist: No name server has a route of the topic.
        """
        return self._reader.read(
            f"the topic {topic!r}", route_of, RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(topic)
        )

    def route_each(self, topic: str) -> list[ServerResult[TopicRoute]]:
        """Return the route of a topic from every name server (GET_ROUTEINFO_BY_TOPIC, 105).

        Returns:
            One ServerResult per name server; the error is TopicNotExist if it has no route.
        """
        return self._reader.each(route_of, RequestCode.GET_ROUTEINFO_BY_TOPIC, get_route(topic))

    def routes(self, names: Iterable[str]) -> dict[str, ServerResult[TopicRoute]]:
        """Return the routes of many topics, all from the first name server that answers.

        Sends one GET_ROUTEINFO_BY_TOPIC (105) per topic, all at once.

        Returns:
            Topic to ServerResult, in the order of `topic_names`; the error is TopicNotExist without a route.
        """
        wanted = list(names)
        exts = [get_route(name) for name in wanted]
        routes = self._reader.read_many(route_of, RequestCode.GET_ROUTEINFO_BY_TOPIC, exts)
        return dict(zip(wanted, routes, strict=True))

    def raw_route(self, topic: str) -> str:
        """Return the route of a topic as the JSON text that one name server sent.

        Sends GET_ROUTEINFO_BY_TOPIC (105). Name servers before 4.9.4 send unquoted keys; these get quotes.

        Raises:
            TopicNotExist: No name server has a route of the topic.
        """
        return self._reader.read(
            f"the topic {topic!r}",
            _standard_json,
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            get_route(topic),
            ask_all=False,
        )

    def clusters(self, topic: str) -> tuple[str, ...]:
        """Return the names of the clusters whose brokers have the topic, in order.

        Reads the route (105) and the cluster list (GET_BROKER_CLUSTER_INFO, 106) of one name server.

        Raises:
            TopicNotExist: No name server has a route of the topic.
        """
        queues = self.route(topic).queues
        info = self._clusters.info()
        named = {queue.cluster_name for queue in queues if queue.cluster_name}
        return tuple(sorted(named.union(*(info.clusters_of(queue.broker_name) for queue in queues))))

    def usage(self, names: tuple[str, ...]) -> "list[TopicUsage]":
        """Return the clusters and consumer groups of topics.

        Reads the routes (105) from a name server, then asks every broker of the topics
        (QUERY_TOPIC_CONSUME_BY_WHO, 300).

        Returns:
            One TopicUsage per topic and cluster, in order. Topics without a route are left out.
        """
        from nsadmin.client.usage import usage

        return usage(self._caller, self.routes(names))

    def readers(self, addr: str, names: Iterable[str]) -> "ServerResult[dict[str, tuple[str, ...]]]":
        """Return the consumer groups that one broker knows for each topic (QUERY_TOPIC_CONSUME_BY_WHO, 300).

        Returns:
            Topic to group names; one failed request makes the whole result an error.
        """
        from nsadmin.client.usage import readers

        return readers(self._caller, addr, names)

    def traffic(self, names: tuple[str, ...]) -> "list[Traffic]":
        """Return message counts of topics and of their consumer groups, summed over the masters.

        Sends VIEW_BROKER_STATS_DATA (315) and GET_CONSUME_STATS (208) to the masters of each topic.

        Returns:
            One TopicTraffic per topic and group, in order. Topics without a route are left out.
        """
        from nsadmin.client.traffic import traffic

        return traffic(self._caller, self.routes(names))

    def put_rates(self, topic: str, masters: Iterable[str]) -> list[ServerResult[float]]:
        """Return the messages per second (mean of the last minute) that masters receive for a topic.

        Sends VIEW_BROKER_STATS_DATA (315) to each master.

        Args:
            topic: The topic.
            master_addrs: The addresses of the masters.

        Returns:
            One ServerResult per address, in order; 0.0 for a master that never received a message.
        """
        from nsadmin.client.traffic import put_rates

        return put_rates(self._caller, topic, masters)

    def stats(self, topic: str, route_of_topic: str | None = None) -> "list[BrokerTopicStats]":
        """Return the offsets of a topic's queues on each of its brokers (GET_TOPIC_STATS_INFO, 202).

        Args:
            topic: The topic.
            route_of_topic: Use the brokers of this topic, for a topic without a route of its own.

        Returns:
            One BrokerTopicStats per broker of the route. A broker is asked at its master, else at a slave.

        Raises:
            TopicNotExist: No name server has a route.
        """
        from nsadmin.client.topic_stats import topic_stats

        return topic_stats(self._caller, self.route(route_of_topic or topic), topic)

    def deletion(self, topic: str, cluster_name: str) -> "TopicDeletion":
        """Check a deletion without executing it; see TopicDeletion.

        Raises:
            NotFound: No such cluster, or no such topic in it.
        """
        from nsadmin.client.deletion import TopicDeletion

        return TopicDeletion.plan(self._caller, self._clusters.info(), topic, cluster_name)

    def forget(self, topic: str, addrs: Iterable[str], *, dry_run: bool = False) -> "list[DeletionStep]":
        """Remove a topic from name servers in all clusters (DELETE_TOPIC_IN_NAMESRV, 216), and verify it.

        Use it for a topic that no broker has: a broker that has it registers it again.

        Args:
            topic: The topic.
            namesrv_addrs: The name servers to change.
            dry_run: Only read the routes.

        Returns:
            One DeletionStep per name server, in order.
        """
        from nsadmin.client.deletion import forget

        return forget(self._caller, topic, list(addrs), dry_run=dry_run)

    def delete(self, topic: str, cluster_name: str) -> "list[DeletionStep]":
        """Delete a topic on every master of a cluster, then on every name server; see TopicDeletion.

        Sends DELETE_TOPIC_IN_BROKER (215) and DELETE_TOPIC_IN_NAMESRV (216).

        Returns:
            One DeletionStep per server.

        Raises:
            NotFound: No such cluster, or no such topic in it.
        """
        return self.deletion(topic, cluster_name).run()


def _standard_json(command: Command) -> str:
    text = command.body.decode("utf-8", "replace")
    value = fastjson.loads(command.body, errors="replace")
    try:
        json.loads(text)
    except ValueError:
        return fastjson.dumps(value, standard=True).decode()
    return text
