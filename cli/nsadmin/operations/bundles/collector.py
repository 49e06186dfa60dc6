"""Reads everything that a bundle contains: tables first, then details of topics and groups within a limit.

Rule: a step that fails does not stop the others. Its error is an answer, so the bundle has it, too.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from time import monotonic
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.transport.multiplexed_client import MAX_SOCKETS
from nsadmin.client import AdminClient
from nsadmin.client.connection.access_options import Access, Tls
from nsadmin.client.consumers.connected_clients import GroupConnections, merge_clients
from nsadmin.client.consumers.groups import is_system_group
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE
from nsadmin.client.results import ClientClosed
from nsadmin.operations.bundles.answer_recorder import AnswerRecorder
from nsadmin.operations.bundles.broker_table_reader import BrokerTableReader, merge_names

DEFAULT_MAX_DETAILS = 20_000
_ITEMS_AT_ONCE = 20
_MAX_DETAIL_SECONDS = 30.0
"""The longest time for details, because a large cluster has millions of pairs of topics and brokers."""
_MAX_COLLECTION_SECONDS, _MIN_DETAIL_SECONDS = 42.0, 5.0
"""Details end at this time after the begin, so that a bundle of 1,000 brokers takes less than a minute.

But they get the minimum of seconds, however long the tables took.
"""
_TOPICS_AT_ONCE = 100
"""Most topics are on one broker, so more of them are needed to ask many brokers at once."""
_CHECKS_OF_TABLES = ("writable", "replicas", "registrationSize", "drain")
"""Checks that need nothing but the tables. They would take long here, and record nothing new."""
_BROKERS_AT_ONCE = MAX_SOCKETS - 4
"""All tables of these brokers are read before those of the next ones. So each keeps its connection."""


class CollectionPlan(NamedTuple):
    """What to collect. `max_details` limits the requests about single topics, groups and clients."""

    namespaces: tuple[str, ...]
    max_details: int


class CollectionSummary(NamedTuple):
    """The items of the cluster, and how many of them have no details."""

    cluster_names: tuple[str, ...]
    topic_count: int
    group_count: int
    topics_without_details: int
    groups_without_details: int


def list_namespaces(namespaces: Iterable[str]) -> tuple[str, ...]:
    """Return the KV namespaces of a bundle: that of order configurations, and these."""
    return tuple(dict.fromkeys((ORDER_CONF_NAMESPACE, *namespaces)))


OpenClient = Callable[[Access], AdminClient]
"""Opens a client of the name servers with these connection options."""


def collect_answers(
    open_client: OpenClient,
    access: Access,
    recorder: AnswerRecorder,
    plan: CollectionPlan,
    on_step: Callable[[str], object] = lambda step_name: None,
) -> CollectionSummary:
    """Read the cluster through the recorder. Calls `on_step` with the name of each step before it.

    Raises:
        NoneReachable: No name server answers.
        ClientClosed: A client was closed.
    """
    recorded_access, began_at = access._replace(answers=recorder), monotonic()
    with open_client(recorded_access) as admin:
        admin.clusters.get_info()
        collection = _Collection(admin, plan, BrokerTableReader(admin, access.timeout))
        for step_name, step in collection.list_table_steps():
            on_step(step_name)
            with _ignore_failures():
                step()
        on_step("checks")
        _run_procedures(open_client, recorded_access, collection)
        recorder.limit_requests(plan.max_details)
        ends_at = _end_details(began_at)

        def has_time() -> bool:
            return not recorder.is_exhausted and monotonic() < ends_at

        on_step("producers")
        _read_details(collection.list_producer_groups(), collection.read_producers, has_time)
        on_step("groups")
        groups_left = _read_details(collection.groups, collection.read_groups, has_time)
        on_step("topics")
        topics_left = _read_details(collection.topics, collection.read_topics, has_time, _TOPICS_AT_ONCE)
    return CollectionSummary(
        tuple(collection.cluster_names),
        len(collection.topics),
        len(collection.groups),
        topics_left,
        groups_left,
    )


def _end_details(began_at: float) -> float:
    """When the time for details ends. They get less of it in a cluster whose tables took long."""
    now_seconds = monotonic()
    left_seconds = began_at + _MAX_COLLECTION_SECONDS - now_seconds
    return now_seconds + min(_MAX_DETAIL_SECONDS, max(_MIN_DETAIL_SECONDS, left_seconds))


def _read_details(
    names: Sequence[str],
    read_names: Callable[[Sequence[str]], None],
    has_time: Callable[[], bool],
    items_at_once: int = _ITEMS_AT_ONCE,
) -> int:
    """Read the details of names in batches; return how many were left out."""
    done_count = 0
    while done_count < len(names) and has_time():
        read_names(names[done_count : done_count + items_at_once])
        done_count += items_at_once
    return max(0, len(names) - done_count)


@contextmanager
def _ignore_failures() -> Iterator[None]:
    """Ignore the errors of servers, which the recorder has noted; not those of the client."""
    try:
        yield
    except ClientClosed:
        raise
    except RocketMQError:
        pass


class _Collection:
    """The reads of one cluster. Its tables list all topics, groups and clients."""

    def __init__(self, admin: AdminClient, plan: CollectionPlan, tables: BrokerTableReader) -> None:
        self._admin = admin
        self._tables = tables
        self._plan = plan
        self._broker_addrs: list[str] = []
        self._target_addrs: list[str] = []
        self.cluster_names: list[str] = []
        self.topics: list[str] = []
        self.groups: list[str] = []

    def list_table_steps(self) -> Iterator[tuple[str, Callable[[], object]]]:
        yield "name servers", self._read_name_servers
        yield "routes", self._read_routes
        for first_index in range(0, len(self._broker_addrs), _BROKERS_AT_ONCE):
            addrs = self._broker_addrs[first_index : first_index + _BROKERS_AT_ONCE]
            for read_table in self._tables.list_reads():
                yield "tables of brokers", partial(read_table, addrs)
        yield "tables of brokers", self._read_users
        yield "tables of brokers", self._list_groups

    def _read_name_servers(self) -> None:
        admin = self._admin
        namesrv_addrs = admin.addresses.addrs
        cluster_results = admin.clusters.get_info_each()
        self._broker_addrs += dict.fromkeys(
            broker_addr
            for cluster_result in cluster_results
            if cluster_result.result is not None
            for broker_group in cluster_result.result.broker_groups
            for broker_addr in broker_group.broker_addrs.values()
        )
        self.cluster_names += sorted(
            {g.cluster_name for r in cluster_results if r.result is not None for g in r.result.broker_groups}
        )
        admin.clusters.get_heartbeats_each()
        admin.name_server_tables.get_listing_each(namesrv_addrs, self._plan.namespaces)
        admin.name_servers.check_ready_each()
        admin.name_servers.find_silent(namesrv_addrs)
        self.topics += admin.topics.list_names()
        with _ignore_failures():
            admin.topics.list_system_names()
        for cluster_name in self.cluster_names:
            admin.bulk.list_routed_topics(cluster_name)

    def _read_routes(self) -> None:
        """Each topic's route from each name server; the topics of all, because one may lack some."""
        admin = self._admin
        listings = admin.name_server_tables.get_listing_each(admin.addresses.addrs, self._plan.namespaces)
        all_topics = sorted({topic for _, listing, _ in listings if listing for topic in listing.topics})
        self.topics[:] = all_topics or self.topics
        admin.name_server_tables.get_queues_each({listing.addr: self.topics for listing in listings})

    def _read_users(self) -> None:
        """Each user and ACL by name: brokers answer these requests in another form than the lists."""
        admin = self._admin
        usernames = merge_names(
            user_result.then(lambda users: [user.username for user in users])
            for user_result in admin.users.list_users(self._broker_addrs)
        )
        subjects = merge_names(
            result.then(lambda entries: [*entries]) for result in admin.acls.list_entries(self._broker_addrs)
        )
        for username in usernames:
            admin.users.get_user(self._broker_addrs, username)
        for subject in subjects:
            admin.acls.get_entries(self._broker_addrs, subject)

    def list_producer_groups(self) -> list[str]:
        """Return the groups of connected producers; their table is known already."""
        return merge_names(
            producer_result.then(lambda producers: [producer.producer_group for producer in producers])
            for producer_result in self._admin.producers.list_producers(self._broker_addrs)
        )

    def _list_groups(self) -> None:
        name_results = self._admin.groups.list_names(include_system=True)
        self.groups += merge_names(name_results)
        self._target_addrs += [name_result.addr for name_result in name_results]

    def read_groups(self, groups: Sequence[str]) -> None:
        admin = self._admin
        self._tables.record_of_groups(RequestCode.GET_CONSUME_STATS, groups, self._target_addrs)
        self._tables.record_of_groups(RequestCode.GET_CONSUMER_CONNECTION_LIST, groups, self._broker_addrs)
        for group in groups if self._tables.has_queues_to_ask else ():
            with _ignore_failures():
                admin.consumers.get_progress(group)
        with _ignore_failures():
            admin.client_runtime.get_name_servers(admin.proxies.add_clients(self._list_members(groups)))

    def _list_members(self, groups: Sequence[str]) -> dict[str, GroupConnections]:
        """The connected clients of groups, without their subscriptions, which take long to decode."""
        consumers = self._admin.consumers
        no_connections = consumers.get_group_connections(groups, ())
        return {
            group: no_connections[group]._replace(
                clients=merge_clients(
                    c for r in consumers.list_members(group, self._broker_addrs) for c in r.result or ()
                )
            )
            for group in groups
        }

    def read_producers(self, groups: Sequence[str]) -> None:
        for group in groups:
            with _ignore_failures():
                self._admin.producers.get_connections(group)

    def read_topics(self, topics: Sequence[str]) -> None:
        admin = self._admin
        route_results = admin.topics.get_routes(topics)
        # A broker that was renamed has two names with one address.
        topic_places = dict.fromkeys(
            (queue_route.any_addr, topic)
            for topic, route_result in route_results.items()
            for queue_route in (route_result.result.queues if route_result.result else ())
            if queue_route.any_addr is not None
        )
        admin.bulk.read_bodies(
            RequestCode.GET_TOPIC_STATS_INFO,
            [(addr, headers.write_header(headers.TopicName(topic))) for addr, topic in topic_places],
        )
        admin.bulk.list_rates((broker_addr, "TOPIC_PUT_SIZE", topic) for broker_addr, topic in topic_places)
        for topic, route_result in route_results.items():
            queues = route_result.result.queues if route_result.result else ()
            # The offsets of a static topic depend on further requests.
            if any(queue_route.logical_queues is not None for queue_route in queues):
                with _ignore_failures():
                    admin.topics.get_stats(topic)
        with _ignore_failures():
            admin.topics.get_traffic(tuple(topics))

    def read_clients(self) -> None:
        """Every connected client, also those behind proxies."""
        proxies = self._admin.proxies
        heartbeats = proxies.list_proxies().heartbeats
        user_groups = [g for g in self.groups if not is_system_group(g)]
        self._tables.record_of_groups(
            RequestCode.GET_CONSUMER_CONNECTION_LIST, user_groups, self._broker_addrs
        )
        proxied_groups = {heartbeat.group for heartbeat in heartbeats.of_connected_clients}
        proxies.add_clients(
            self._admin.consumers.get_group_connections(sorted({*user_groups, *proxied_groups}), ()),
            heartbeats=heartbeats,
        )
        for cluster_name in self.cluster_names:
            proxies.list_proxies(cluster_name)

    def count_dead_letters(self) -> None:
        letters = self._admin.dead_letters
        letters.count_letters(letters.list_groups(), self._admin.clock_ms)


def _run_procedures(open_client: OpenClient, access: Access, collection: _Collection) -> None:
    """Run the procedures that ask more than tables: checks, and the security audit as a stranger."""
    from nsadmin.operations.checks import check_suite
    from nsadmin.operations.checks.check import CheckScope
    from nsadmin.operations.security import observer

    check_suite.run_checks(
        lambda: open_client(access),
        check_suite.CheckPlan(CheckScope(tls=access.tls, settle_seconds=0), skipped=_CHECKS_OF_TABLES),
    )
    unauthenticated_access = access._replace(credentials=None, tls=None, retries=0)
    with (
        open_client(access) as own_client,
        open_client(unauthenticated_access) as plain_client,
        open_client(unauthenticated_access._replace(tls=Tls(verify=False))) as tls_client,
        _ignore_failures(),
    ):
        observer.observe_servers(
            observer.AuditClients(own_client, plain_client, tls_client), own_client.clock_ms / 1000
        )
    for read_all in (collection.count_dead_letters, collection.read_clients):
        with _ignore_failures():
            read_all()
