"""`admin.topics`: names, routes, consumer groups, statistics and deletion of topics."""

import json
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import fastjson, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand
from nsadmin.client.brokers.clusters import ClusterAdmin
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.name_server_reader import NameServerReader
from nsadmin.client.connection.response_bodies import parse_topic_names
from nsadmin.client.results import NotFound, ServerResult
from nsadmin.client.topic_routes import TopicRoute, parse_route, route_header

if TYPE_CHECKING:
    from nsadmin.client.topics.topic_deletion import DeletionStep, TopicDeletion
    from nsadmin.client.topics.topic_stats import BrokerTopicStats, QueueTimes, TopicStats
    from nsadmin.client.topics.topic_traffic import TopicTraffic
    from nsadmin.client.topics.topic_usage import TopicUsage

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
SYSTEM_TOPIC_PREFIX = "rmq_sys_"


def list_own_names(broker_name: str, cluster_name: str) -> tuple[str, str, str]:
    """The topics that a broker creates for itself and for its cluster, by their names."""
    return (broker_name, cluster_name, f"{cluster_name}_REPLY_TOPIC")


class TopicAdmin:
    """`admin.topics`: names, routes, consumer groups, statistics and deletion of topics."""

    def __init__(self, caller: Caller, reader: NameServerReader, clusters: ClusterAdmin) -> None:
        self._caller, self._reader, self._clusters = caller, reader, clusters

    def list_names(self, cluster_name: str | None = None) -> tuple[str, ...]:
        """Return the names of all topics, or of one cluster's topics, in order.

        Asks one name server (GET_ALL_TOPIC_LIST_FROM_NAMESERVER, 206; or GET_TOPICS_BY_CLUSTER, 224).

        Args:
            cluster_name: The cluster. Default: all topics.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        if cluster_name is None:
            request_code = RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER
            return self._reader.read_first("the list of topics", parse_topic_names, request_code)
        self._clusters.get_info().groups_in_cluster(cluster_name)
        return self._reader.read_first(
            f'the topics of the cluster "{cluster_name}"',
            parse_topic_names,
            RequestCode.GET_TOPICS_BY_CLUSTER,
            headers.ClusterName(cluster_name),
        )

    def list_system_names(self) -> frozenset[str]:
        """Return the names of the topics that RocketMQ creates for itself.

        Joins SYSTEM_TOPICS, the topics named after brokers and clusters, the list of one name server
        (GET_SYSTEM_TOPIC_LIST_FROM_NS, 304), and those of all masters that answer
        (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305).
        """
        namesrv_names = self._reader.read_first(
            "the system topics", parse_topic_names, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS, ask_all=False
        )
        broker_groups = self._clusters.get_info().broker_groups
        master_addrs = {group.master_addr for group in broker_groups if group.master_addr}
        return SYSTEM_TOPICS.union(
            namesrv_names,
            *(list_own_names(group.broker_name, group.cluster_name) for group in broker_groups),
            *(result.result or () for result in self.list_broker_system_names(master_addrs)),
        )

    def list_broker_system_names(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[str, ...]]]:
        """Return the system topics of each broker (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address, in order: topic names in order.
        """
        return self._caller.read_each(
            broker_addrs, parse_topic_names, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER
        )

    def list_user_names(self, cluster_name: str | None = None) -> tuple[str, ...]:
        """Return the names of the users' topics: `list_names` without the system topics.

        The %RETRY% and %DLQ% topics count as users' topics.

        Args:
            cluster_name: The cluster. Default: all topics.

        Raises:
            NotFound: The name server does not know the cluster.
        """
        system_names = self.list_system_names()
        return tuple(
            topic_name
            for topic_name in self.list_names(cluster_name)
            if topic_name not in system_names and not topic_name.lower().startswith(SYSTEM_TOPIC_PREFIX)
        )

    def get_route(self, topic: str) -> TopicRoute:
        """Return the route of a topic from the first name server that has one (GET_ROUTEINFO_BY_TOPIC, 105).

        Args:
            topic: The topic.

        Raises:
            TopicNotExist: No name server has a route of the topic.
        """
        return self._reader.read_first(
            f'the topic "{topic}"', parse_route, RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(topic)
        )

    def get_route_each(self, topic: str) -> list[ServerResult[TopicRoute]]:
        """Return the route of a topic from every name server (GET_ROUTEINFO_BY_TOPIC, 105).

        Args:
            topic: The topic.

        Returns:
            One ServerResult per name server; the error is TopicNotExist if it has no route.
        """
        return self._reader.read_each(parse_route, RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(topic))

    def get_routes(self, topic_names: Iterable[str]) -> dict[str, ServerResult[TopicRoute]]:
        """Return the routes of many topics, all from the first name server that answers.

        Sends one GET_ROUTEINFO_BY_TOPIC (105) per topic, all at once.

        Args:
            topic_names: The topics.

        Returns:
            Topic to ServerResult, in the order of `topic_names`; the error is TopicNotExist without a route.
        """
        wanted_topics = list(topic_names)
        fields_list = [route_header(topic_name) for topic_name in wanted_topics]
        route_results = self._reader.read_batch(parse_route, RequestCode.GET_ROUTEINFO_BY_TOPIC, fields_list)
        return dict(zip(wanted_topics, route_results, strict=True))

    def get_raw_route(self, topic: str) -> str:
        """Return the route of a topic as the JSON text from a name server.

        Sends GET_ROUTEINFO_BY_TOPIC (105). Name servers before 4.9.4 send unquoted keys; these get quotes.

        Args:
            topic: The topic.

        Raises:
            TopicNotExist: No name server has a route of the topic.
        """
        return self._reader.read_first(
            f'the topic "{topic}"',
            _to_standard_json,
            RequestCode.GET_ROUTEINFO_BY_TOPIC,
            route_header(topic),
            ask_all=False,
        )

    def list_clusters(self, topic: str) -> tuple[str, ...]:
        """Return the names of the clusters whose brokers have the topic, in order.

        Reads the route (105) and the cluster list (GET_BROKER_CLUSTER_INFO, 106) of one name server.

        Args:
            topic: The topic.

        Raises:
            TopicNotExist: No name server has a route of the topic.
        """
        routes = self.get_route(topic).queues
        info = self._clusters.get_info()
        route_clusters = {route.cluster_name for route in routes if route.cluster_name}
        return tuple(sorted(route_clusters.union(*(info.clusters_of_broker(r.broker_name) for r in routes))))

    def list_usage(self, topic_names: tuple[str, ...]) -> "list[TopicUsage]":
        """Return the clusters and consumer groups of topics.

        Reads the routes (105) from a name server, then asks every broker of the topics
        (QUERY_TOPIC_CONSUME_BY_WHO, 300).

        Args:
            topic_names: The topics.

        Returns:
            One TopicUsage per topic and cluster, in order. Topics without a route are omitted.
        """
        from nsadmin.client.topics.topic_usage import read_usage

        return read_usage(self._caller, self.get_routes(topic_names))

    def find_consumer_groups(self, topic: str) -> tuple[list[str], list[RocketMQError]]:
        """Return the groups that subscribe to a topic or have offsets of it, on all its brokers.

        Sends the requests of `list_usage`.

        Args:
            topic: The topic.

        Returns:
            A pair: the groups in order; and the errors of brokers, whose groups may be missing.

        Raises:
            NotFound: All brokers answered, and none knows a group.
            TopicNotExist: No name server has a route of the topic.
        """
        usage = self.list_usage((topic,))
        if not usage:
            self.get_route(topic)
        groups = sorted({group for u in usage for group in u.consumer_groups or ()})
        errors = [u.error for u in usage if u.error is not None]
        if not groups and not errors:
            raise NotFound(f'no consumer group subscribes to the topic "{topic}" or has offsets of it')
        return groups, errors

    def list_consumer_groups(
        self, broker_addr: str, topic_names: Iterable[str]
    ) -> "ServerResult[dict[str, tuple[str, ...]]]":
        """Return the consumer groups of each topic at a broker (QUERY_TOPIC_CONSUME_BY_WHO, 300).

        Args:
            broker_addr: The broker address.
            topic_names: The topics. Without any, the result is {} and nothing is sent.

        Returns:
            Topic to group names; one failed request makes the whole result an error.
        """
        from nsadmin.client.topics.topic_usage import read_consumer_groups

        return read_consumer_groups(self._caller, broker_addr, topic_names)

    def get_traffic(
        self, topic_names: tuple[str, ...], *, master_addrs: Collection[str] | None = None
    ) -> "list[TopicTraffic]":
        """Return the message counts of the last 24 hours of topics and their groups, summed over the masters.

        Sends VIEW_BROKER_STATS_DATA (315) and GET_CONSUME_STATS (208) to the masters of each topic.

        Args:
            topic_names: The topics.
            master_addrs: Only these masters. Default: all.

        Returns:
            One TopicTraffic per topic and group, in order. Topics without a route are omitted, and those
            without queues on `master_addrs`.
        """
        from nsadmin.client.topics.topic_traffic import read_traffic

        return read_traffic(self._caller, self._get_routes_to(topic_names, master_addrs))

    def get_put_bytes(
        self, topic_names: Iterable[str], *, master_addrs: Collection[str] | None = None
    ) -> dict[str, int | None]:
        """Return the bytes of the messages that each topic received in 24 hours, summed over its masters.

        Sends VIEW_BROKER_STATS_DATA (315) to the masters of each topic.

        Args:
            topic_names: The topics.
            master_addrs: Only these masters. Default: all.

        Returns:
            Topic to bytes. Topics without a route are omitted. A sum lacks a master that did not answer; None
            if no master answered.
        """
        from nsadmin.client.topics.topic_traffic import read_put_bytes

        return read_put_bytes(self._caller, self._get_routes_to(topic_names, master_addrs))

    def _get_routes_to(
        self, topic_names: Iterable[str], master_addrs: Collection[str] | None
    ) -> dict[str, ServerResult[TopicRoute]]:
        """The routes of topics, with only the queues of these masters; None for all."""
        routes = self.get_routes(topic_names)
        if master_addrs is None:
            return routes
        chosen = {
            topic: result.then(
                lambda route: route._replace(
                    queues=tuple(queue for queue in route.queues if queue.master_addr in master_addrs)
                )
            )
            for topic, result in routes.items()
        }
        return {topic: r for topic, r in chosen.items() if r.result is None or r.result.queues}

    def get_put_rates(self, topic: str, master_addrs: Iterable[str]) -> list[ServerResult[float]]:
        """Return the messages per second (mean of the last minute) that masters receive for a topic.

        Sends VIEW_BROKER_STATS_DATA (315) to each master.

        Args:
            topic: The topic.
            master_addrs: The addresses of the masters.

        Returns:
            One ServerResult per address, in order; 0.0 for a master that never received a message.
        """
        from nsadmin.client.topics.topic_traffic import read_put_rates

        return read_put_rates(self._caller, topic, master_addrs)

    def get_stats(self, topic: str, route_of_topic: str | None = None) -> "list[BrokerTopicStats]":
        """Return the offsets of a topic's queues on each of its brokers (GET_TOPIC_STATS_INFO, 202).

        Args:
            topic: The topic.
            route_of_topic: Use the brokers of this topic, for a topic without its own route.

        Returns:
            One BrokerTopicStats per broker of the route. A broker is asked at its master, else at a slave.

        Raises:
            TopicNotExist: No name server has a route.
        """
        from nsadmin.client.topics.topic_stats import read_topic_stats

        return read_topic_stats(self._caller, self.get_route(route_of_topic or topic), topic)

    def get_stats_at(self, topic_places: Sequence[tuple[str, str]]) -> "list[ServerResult[TopicStats]]":
        """Return the offsets of topics' queues at brokers, with one GET_TOPIC_STATS_INFO (202) each.

        Args:
            topic_places: Pairs of (broker address, topic).

        Returns:
            One ServerResult per pair, in order. The queues are the broker's own, also of a static topic. The
            error is TopicNotExist if the broker does not have the topic.
        """
        from nsadmin.client.topics.topic_stats import read_stats_at

        return read_stats_at(self._caller, topic_places)

    def get_times_at(self, places: Sequence[tuple[str, str, str]]) -> "list[ServerResult[list[QueueTimes]]]":
        """Return when messages of queues were stored, and consumed (QUERY_CONSUME_TIME_SPAN, 303).

        Args:
            places: Triples of (broker address, topic, group).

        Returns:
            One ServerResult per triple, in order: the broker's own queues. The error is TopicNotExist if the
            broker does not have the topic.
        """
        from nsadmin.client.topics.topic_stats import read_times_at

        return read_times_at(self._caller, places)

    def plan_deletion(self, topic: str, cluster_name: str) -> "TopicDeletion":
        """Check a deletion without executing it; see TopicDeletion.

        Args:
            topic: The topic.
            cluster_name: The cluster.

        Raises:
            NotFound: No such cluster, or no such topic in it.
        """
        from nsadmin.client.topics.topic_deletion import TopicDeletion

        return TopicDeletion.plan_for_cluster(self._caller, self._clusters.get_info(), topic, cluster_name)

    def run_deletions(self, deletions: "Sequence[TopicDeletion]") -> "list[list[DeletionStep]]":
        """Run deletions from one cluster. Brokers since 5.5.1 get lists of topics.

        Sends DELETE_TOPIC_IN_BROKER_LIST (5002), or DELETE_TOPIC_IN_BROKER (215) for each topic, then
        DELETE_TOPIC_IN_NAMESRV (216).

        Args:
            deletions: The results of plan_deletion.

        Returns:
            The steps of each deletion.
        """
        from nsadmin.client.topics.topic_deletion import run_deletions

        return run_deletions(deletions)

    def forget_topic(
        self, topic: str, namesrv_addrs: Iterable[str], *, dry_run: bool = False
    ) -> "list[DeletionStep]":
        """Remove a topic from name servers in all clusters (DELETE_TOPIC_IN_NAMESRV, 216), and verify it.

        Use it for a topic that no broker has: a broker that has it registers it again.

        Args:
            topic: The topic.
            namesrv_addrs: The name servers to change.
            dry_run: Only read the routes.

        Returns:
            One DeletionStep per name server, in order.
        """
        from nsadmin.client.topics.topic_deletion import forget_topic

        return forget_topic(self._caller, topic, list(namesrv_addrs), dry_run=dry_run)

    def delete_topic(self, topic: str, cluster_name: str) -> "list[DeletionStep]":
        """Delete a topic on every master of a cluster, then on every name server; see TopicDeletion.

        Sends DELETE_TOPIC_IN_BROKER (215) and DELETE_TOPIC_IN_NAMESRV (216).

        Args:
            topic: The topic.
            cluster_name: The cluster.

        Returns:
            One DeletionStep per server.

        Raises:
            NotFound: No such cluster, or no such topic in it.
        """
        return self.plan_deletion(topic, cluster_name).run_deletion()


def _to_standard_json(response: RemotingCommand) -> str:
    route_text = response.body.decode("utf-8", "replace")
    route_value = fastjson.decode_json(response.body, errors="replace")
    try:
        json.loads(route_text)
    except ValueError:
        return fastjson.encode_json(route_value, is_standard=True).decode()
    return route_text
