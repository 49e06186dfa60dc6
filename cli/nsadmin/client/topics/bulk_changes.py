"""`admin.bulk`: reads of whole tables, and batches of many changes.

Nothing is read back here. After a batch, read the whole tables again, with one request per server.
"""

from collections.abc import Iterable, Sequence

from namesrv_core.protocol import broker_headers, headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from nsadmin.client.connection.caller import Caller
from nsadmin.client.connection.requests import make_request
from nsadmin.client.connection.response_bodies import decode_answer, parse_json_object, parse_topic_names
from nsadmin.client.results import ServerResult
from nsadmin.client.topic_routes import route_header
from nsadmin.client.topics.bulk_requests import (
    BrokerTopicTable,
    DesiredConfig,
    KvValue,
    KvValuesByNamespace,
    PermissionsByTopic,
    QueueBounds,
    QueueClosure,
    WireConfig,
    build_closure_request,
    build_groups_request,
    build_topics_request,
    build_value_request,
    combine_namespaces,
    combine_permissions,
    parse_group_table,
    parse_queue_bounds,
    parse_rate,
    parse_topic_table,
    require_version_5,
)
from nsadmin.client.topics.topic_traffic import accept_uncounted

READ_TIMEOUT_SECONDS, WRITE_TIMEOUT_SECONDS = 15.0, 60.0
"""Seconds for whole tables and for batches of changes, if the access has a shorter timeout."""


class BulkAdmin:
    """`admin.bulk`: reads of whole tables, and batches of changes.

    Each method returns one ServerResult per address or per given pair, in the same order.
    """

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._read_timeout_seconds = max(READ_TIMEOUT_SECONDS, caller.access.timeout)
        self._write_timeout_seconds = max(WRITE_TIMEOUT_SECONDS, caller.access.timeout)

    def list_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerTopicTable]]:
        """Return all topics of each broker (GET_ALL_TOPIC_CONFIG, 21).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address: the configurations and the names of the static topics.
        """
        answers = self._send_reads(broker_addrs, RequestCode.GET_ALL_TOPIC_CONFIG)
        return [decode_answer(answer, parse_topic_table) for answer in answers]

    def list_groups(self, broker_addrs: Iterable[str]) -> list[ServerResult[dict[str, WireConfig]]]:
        """Return all groups of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address: group name to settings, in the order of names.
        """
        answers = self._send_reads(broker_addrs, RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG)
        return [decode_answer(answer, parse_group_table) for answer in answers]

    def list_system_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[frozenset[str]]]:
        """Return the system topics of each broker (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305).

        Args:
            broker_addrs: The broker addresses.

        Returns:
            One ServerResult per address: topic names.
        """
        answers = self._send_reads(broker_addrs, RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER)
        return [
            decode_answer(answer, lambda response: frozenset(parse_json_object(response).texts("topicList")))
            for answer in answers
        ]

    def count_messages(self, topic_places: Iterable[tuple[str, str]]) -> list[ServerResult[dict[int, int]]]:
        """Return the number of messages in each queue of topics (GET_TOPIC_STATS_INFO, 202).

        Args:
            topic_places: Pairs of (broker address, topic).

        Returns:
            One ServerResult per pair: queue id to number of messages.
        """
        return [result.then(_count_held_messages) for result in self.list_queue_bounds(topic_places)]

    def list_queue_bounds(
        self, topic_places: Iterable[tuple[str, str]]
    ) -> list[ServerResult[dict[int, QueueBounds]]]:
        """Return the offsets of each queue of topics (GET_TOPIC_STATS_INFO, 202).

        Args:
            topic_places: Pairs of (broker address, topic).

        Returns:
            One ServerResult per pair: queue id to the oldest offset and the offset of the next message.
        """
        request_code = RequestCode.GET_TOPIC_STATS_INFO
        calls = [
            (broker_addr, make_request(request_code, headers.TopicName(topic)))
            for broker_addr, topic in topic_places
        ]
        return [
            decode_answer(answer, parse_queue_bounds)
            for answer in self._caller.send_requests(calls, self._read_timeout_seconds)
        ]

    def list_rates(self, stats_places: Iterable[tuple[str, str, str]]) -> list[ServerResult[float]]:
        """Return rates that brokers measure (VIEW_BROKER_STATS_DATA, 315).

        Args:
            stats_places: Tuples of (broker address, name of the statistics, key), such as
                ("10.0.0.1:10911", "TOPIC_PUT_SIZE", "payments").

        Returns:
            One ServerResult per tuple: the mean per second (messages or bytes) of the longest span that has
            samples: day, hour or minute. 0.0 if the broker never counted anything.
        """
        calls = [
            (
                broker_addr,
                make_request(
                    RequestCode.VIEW_BROKER_STATS_DATA, broker_headers.ViewBrokerStats(stats_name, stats_key)
                ),
            )
            for broker_addr, stats_name, stats_key in stats_places
        ]
        return [
            decode_answer(accept_uncounted(answer), parse_rate)
            for answer in self._caller.send_requests(calls, self._read_timeout_seconds)
        ]

    def read_bodies(
        self, request_code: int, places: Iterable[tuple[str, ExtFields]], timeout_seconds: float | None = None
    ) -> list[ServerResult[bytes]]:
        """Return the undecoded bodies of many reads of one kind, all sent at once.

        Args:
            request_code: The request code.
            places: Pairs of (server address, header fields).
            timeout_seconds: The time limit per request. Default: that of the access.

        Returns:
            One ServerResult per pair, in order.
        """
        calls = [(server_addr, make_request(request_code, ext_fields)) for server_addr, ext_fields in places]
        answers = self._caller.send_requests(calls, timeout_seconds)
        return [answer.then(lambda response: response.body) for answer in answers]

    def list_kv_values(self, namespaces: Sequence[str]) -> list[ServerResult[KvValuesByNamespace]]:
        """Return namespaces of the KV config from every name server (GET_KVLIST_BY_NAMESPACE, 219).

        Args:
            namespaces: The KV namespaces.

        Returns:
            One ServerResult per name server: namespace to key to value; {} for a missing namespace. Any other
            error makes the whole result an error.
        """
        namesrv_addrs = self._caller.name_servers.addrs
        request_code = RequestCode.GET_KVLIST_BY_NAMESPACE
        kv_requests = [make_request(request_code, headers.KvNamespace(n)) for n in namespaces]
        answers = iter(self._caller.send_requests((addr, r) for addr in namesrv_addrs for r in kv_requests))
        return [
            combine_namespaces(namesrv_addr, {namespace: next(answers) for namespace in namespaces})
            for namesrv_addr in namesrv_addrs
        ]

    def list_routed_topics(self, cluster_name: str) -> list[ServerResult[frozenset[str]]]:
        """Return the routed topics of a cluster from every name server (GET_TOPICS_BY_CLUSTER, 224).

        Args:
            cluster_name: The cluster.

        Returns:
            One ServerResult per name server: topic names.
        """
        ext_fields = headers.ClusterName(cluster_name)
        answers = self._caller.send_to_name_servers(RequestCode.GET_TOPICS_BY_CLUSTER, ext_fields)
        return [decode_answer(a, lambda response: frozenset(parse_topic_names(response))) for a in answers]

    def get_topic_permissions(self, topics: Sequence[str]) -> list[ServerResult[PermissionsByTopic]]:
        """Return the permissions of topics from every name server (GET_ROUTEINFO_BY_TOPIC, 105, per topic).

        Args:
            topics: The topics.

        Returns:
            One ServerResult per name server: topic to broker name to bits; {} for a topic without a route.
            Any other error makes the whole result an error.
        """
        addrs = self._caller.name_servers.addrs
        request_code = RequestCode.GET_ROUTEINFO_BY_TOPIC
        route_requests = [make_request(request_code, route_header(topic)) for topic in topics]
        answers = iter(self._caller.send_requests((addr, r) for addr in addrs for r in route_requests))
        return [combine_permissions(a, {topic: next(answers) for topic in topics}) for a in addrs]

    def close_queues(
        self, closure_places: Iterable[tuple[str, QueueClosure]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Close the queues of brokers that no longer have a topic (REGISTER_TOPIC_IN_NAMESRV, 217).

        The route then lists these brokers without queues and without permission, until they restart.

        Args:
            closure_places: Pairs of (name server address, QueueClosure).

        Returns:
            One ServerResult per pair. The error is NotApplied for a name server before 5.0, where only a
            restart of the broker helps.
        """
        closure_places = list(closure_places)
        route_answers = self._caller.send_requests(
            (namesrv_addr, make_request(RequestCode.GET_ROUTEINFO_BY_TOPIC, route_header(closure.topic)))
            for namesrv_addr, closure in closure_places
        )
        capable_answers = [answer.then(require_version_5) for answer in route_answers]
        places_to_close = [p for p, a in zip(closure_places, capable_answers, strict=True) if a.error is None]
        closure_answers = iter(
            self._send_writes((addr, build_closure_request(closure)) for addr, closure in places_to_close)
        )
        return [answer if answer.error is not None else next(closure_answers) for answer in capable_answers]

    def put_topics(
        self, batches: Sequence[tuple[str, Sequence[DesiredConfig]]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Create or replace topics with one request per batch.

        A batch of one topic uses UPDATE_AND_CREATE_TOPIC (17), a larger one UPDATE_AND_CREATE_TOPIC_LIST (18)
        of 5.3.0 (NotSupported before). If the broker already has one of the topics exactly like this, it
        ignores the whole list, but answers success.

        Args:
            batches: Pairs of (broker address, topics), each with at least one topic.

        Returns:
            One ServerResult per batch: the broker's answer.
        """
        return self._send_writes((addr, build_topics_request(configs)) for addr, configs in batches)

    def put_groups(
        self, batches: Sequence[tuple[str, Sequence[DesiredConfig]]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Create or replace groups with one request per batch.

        A batch of one group uses UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200), a larger one
        UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST (225) of 5.3.1.

        Args:
            batches: Pairs of (broker address, groups), each with at least one group.

        Returns:
            One ServerResult per batch: the broker's answer.
        """
        return self._send_writes((addr, build_groups_request(configs)) for addr, configs in batches)

    def delete_topics(self, topic_places: Iterable[tuple[str, str]]) -> list[ServerResult[RemotingCommand]]:
        """Delete topics and their messages on brokers (DELETE_TOPIC_IN_BROKER, 215).

        A missing topic also gives success.

        Args:
            topic_places: Pairs of (broker address, topic).

        Returns:
            One ServerResult per pair: the broker's answer.
        """
        request_code = RequestCode.DELETE_TOPIC_IN_BROKER
        return self._send_writes(
            (addr, make_request(request_code, headers.DeleteTopic(name))) for addr, name in topic_places
        )

    def forget_topics(
        self, topic_places: Iterable[tuple[str, str]], cluster_name: str
    ) -> list[ServerResult[RemotingCommand]]:
        """Remove a cluster's queues from the routes of topics (DELETE_TOPIC_IN_NAMESRV, 216).

        Args:
            topic_places: Pairs of (name server address, topic).
            cluster_name: The cluster.

        Returns:
            One ServerResult per pair: the name server's answer.
        """
        request_code = RequestCode.DELETE_TOPIC_IN_NAMESRV
        return self._send_writes(
            (a, make_request(request_code, headers.DeleteTopic(n, cluster_name))) for a, n in topic_places
        )

    def delete_groups(self, group_places: Iterable[tuple[str, str]]) -> list[ServerResult[RemotingCommand]]:
        """Delete groups and their offsets on brokers (DELETE_SUBSCRIPTIONGROUP, 207).

        A missing group also gives success.

        Args:
            group_places: Pairs of (broker address, group).

        Returns:
            One ServerResult per pair: the broker's answer.
        """
        request_code = RequestCode.DELETE_SUBSCRIPTIONGROUP
        return self._send_writes(
            (addr, make_request(request_code, broker_headers.DeleteGroup(name, True)))
            for addr, name in group_places
        )

    def put_values(self, value_places: Iterable[tuple[str, KvValue]]) -> list[ServerResult[RemotingCommand]]:
        """Write or delete KV values (PUT_KV_CONFIG, 100; DELETE_KV_CONFIG, 102).

        Args:
            value_places: Pairs of (name server address, KvValue).

        Returns:
            One ServerResult per pair: the name server's answer.
        """
        return self._send_writes((addr, build_value_request(kv_value)) for addr, kv_value in value_places)

    def _send_reads(self, addrs: Iterable[str], request_code: int) -> list[ServerResult[RemotingCommand]]:
        return self._caller.send_requests(
            [(addr, make_request(request_code)) for addr in addrs], self._read_timeout_seconds
        )

    def _send_writes(
        self, calls: Iterable[tuple[str, RemotingCommand]]
    ) -> list[ServerResult[RemotingCommand]]:
        return self._caller.send_requests(calls, self._write_timeout_seconds)


def _count_held_messages(queue_bounds: dict[int, QueueBounds]) -> dict[int, int]:
    return {queue_id: bounds.max_offset - bounds.min_offset for queue_id, bounds in queue_bounds.items()}
