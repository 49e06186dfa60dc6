"""AdminClient, the entry point of the library: one attribute per noun, such as `admin.topics`."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from namesrv_core.errors import RocketMQError
from nsadmin.client.access_nouns import AccessNouns
from nsadmin.client.connection.caller import Caller

if TYPE_CHECKING:
    from nsadmin.client.brokers.broker_configs import BrokerConfigs
    from nsadmin.client.brokers.broker_routes import BrokerRoutes
    from nsadmin.client.brokers.brokers import BrokerAdmin
    from nsadmin.client.brokers.clusters import ClusterAdmin
    from nsadmin.client.brokers.cold_data import ColdDataControl
    from nsadmin.client.brokers.containers import BrokerContainers
    from nsadmin.client.brokers.registrations import BrokerRegistrations
    from nsadmin.client.brokers.replication import ReplicationAdmin
    from nsadmin.client.brokers.upkeep import BrokerUpkeep
    from nsadmin.client.consumers.client_runtime import ClientRuntime
    from nsadmin.client.consumers.consume_modes import ConsumeModes
    from nsadmin.client.consumers.consumer_progress import ConsumerAdmin
    from nsadmin.client.consumers.groups import GroupAdmin
    from nsadmin.client.consumers.offset_moves import OffsetAdmin
    from nsadmin.client.consumers.pop_records import PopRecords
    from nsadmin.client.consumers.producers import ProducerAdmin
    from nsadmin.client.consumers.queue_progress import QueueProgress
    from nsadmin.client.messages.consume_queues import ConsumeQueues
    from nsadmin.client.messages.consume_tracks import ConsumeTracks
    from nsadmin.client.messages.dead_letters import DeadLetters
    from nsadmin.client.messages.delayed_messages import DelayedMessages
    from nsadmin.client.messages.message_delivery import MessageDelivery
    from nsadmin.client.messages.message_queries import MessageAdmin
    from nsadmin.client.messages.message_sender import MessageSender
    from nsadmin.client.messages.message_streams import MessageStreams
    from nsadmin.client.messages.message_traces import MessageTraces
    from nsadmin.client.messages.queue_reader import QueueReader
    from nsadmin.client.messages.send_probes import SendProbes
    from nsadmin.client.name_servers.kv_config import KvAdmin
    from nsadmin.client.name_servers.name_server_configs import NameServerAdmin
    from nsadmin.client.name_servers.name_server_tables import NameServerTables
    from nsadmin.client.name_servers.order_confs import OrderConfs
    from nsadmin.client.proxies.cluster_clients import ClientAdmin
    from nsadmin.client.proxies.proxies import ProxyAdmin
    from nsadmin.client.topics.bulk_changes import BulkAdmin
    from nsadmin.client.topics.lite_topics import LiteTopicAdmin
    from nsadmin.client.topics.put_counts import PutCounts
    from nsadmin.client.topics.queue_mappings import QueueMappings
    from nsadmin.client.topics.topic_configs import TopicConfigs
    from nsadmin.client.topics.topic_views import TopicViews
    from nsadmin.client.topics.topics import TopicAdmin


def _find_broker_addrs(caller: Caller, broker_names: Iterable[str]) -> Mapping[str, str | RocketMQError]:
    # Imported late: most calls name brokers by their addresses.
    from nsadmin.client.brokers.targets import find_broker_addrs

    return find_broker_addrs(caller, broker_names)


class AdminClient(AccessNouns):
    """A blocking client of name servers and brokers. Threads can share it.

    A read asks one name server, and the next one if that server does not answer. A change goes to every name
    server and returns one ServerResult per server. Every failure is a RocketMQError. Up to 16 calls run at
    once, each with its own connections; further calls wait.

    Args:
        namesrv_addr: "a:9876;b:9876", an iterable of such lists, a NameServerList, or a function that returns
            one (called before the first request to it). Default: those in the Kubernetes namespace of
            `access.tunnel`, else NAMESRV_ADDR, else 127.0.0.1:9876.
        timeout: Seconds per request. Replaces `access.timeout`.
        access: Timeout, retries, concurrency, credentials, TLS, address map and tunnel.
        ask_all: Send each read to every name server; fills `unreachable` and `disagreements`.
        observer: Called with an Exchange after each request, by one thread at a time.
        read_only: Refuse requests that change something (ReadOnlyAccess).
        pool: Connections to share with other clients. Default: its own connections.

    Raises:
        BadSettings: A TLS file cannot be used, or the timeout is not positive.
        BadAddress: `namesrv_addr` is not a list of addresses.
    """

    _find_broker_addrs = staticmethod(_find_broker_addrs)

    # Each noun imports its modules on first use, because a command needs only one or two of them.

    @cached_property
    def brokers(self) -> "BrokerAdmin":
        """Runtime information of brokers, and their write permission on name servers."""
        from nsadmin.client.brokers.brokers import BrokerAdmin

        return BrokerAdmin(self._caller, self._reader)

    @cached_property
    def clusters(self) -> "ClusterAdmin":
        """The brokers of each cluster, and the status of each broker."""
        from nsadmin.client.brokers.clusters import ClusterAdmin

        return ClusterAdmin(self._reader, self.brokers)

    @cached_property
    def broker_configs(self) -> "BrokerConfigs":
        """The settings of brokers."""
        from nsadmin.client.brokers.broker_configs import BrokerConfigs

        return BrokerConfigs(self._caller)

    @cached_property
    def broker_routes(self) -> "BrokerRoutes":
        """The routes that each name server gives clients for the topics of one broker."""
        from nsadmin.client.brokers.broker_routes import BrokerRoutes

        return BrokerRoutes(self._caller)

    @cached_property
    def put_counts(self) -> "PutCounts":
        """Counts of the messages that brokers received in the last minute."""
        from nsadmin.client.topics.put_counts import PutCounts

        return PutCounts(self._caller)

    @cached_property
    def replication(self) -> "ReplicationAdmin":
        """The replication lag of slaves."""
        from nsadmin.client.brokers.replication import ReplicationAdmin

        return ReplicationAdmin(self._caller)

    @cached_property
    def registrations(self) -> "BrokerRegistrations":
        """The data that brokers register with on name servers."""
        from nsadmin.client.brokers.registrations import BrokerRegistrations

        return BrokerRegistrations(self._caller)

    @cached_property
    def topics(self) -> "TopicAdmin":
        """Names, routes, statistics and deletion of topics."""
        from nsadmin.client.topics.topics import TopicAdmin

        return TopicAdmin(self._caller, self._reader, self.clusters)

    @cached_property
    def topic_configs(self) -> "TopicConfigs":
        """The configuration of topics on brokers."""
        from nsadmin.client.topics.topic_configs import TopicConfigs

        return TopicConfigs(self._caller)

    @cached_property
    def queue_mappings(self) -> "QueueMappings":
        """The mapping from a static topic's logical queues to the queues of brokers."""
        from nsadmin.client.topics.queue_mappings import QueueMappings

        return QueueMappings(self._caller)

    @cached_property
    def topic_views(self) -> "TopicViews":
        """The answers of each server about one topic."""
        from nsadmin.client.topics.topic_views import TopicViews

        return TopicViews(self._caller)

    @cached_property
    def bulk(self) -> "BulkAdmin":
        """Batch reads and writes of many topics, groups and KV values."""
        from nsadmin.client.topics.bulk_changes import BulkAdmin

        return BulkAdmin(self._caller)

    @cached_property
    def upkeep(self) -> "BrokerUpkeep":
        """Maintenance of the files of brokers: cleaning, read-ahead, timer engine, RocksDB."""
        from nsadmin.client.brokers.upkeep import BrokerUpkeep

        return BrokerUpkeep(self._caller)

    @cached_property
    def pop_records(self) -> "PopRecords":
        """Records of popped, unacknowledged messages on brokers that keep them in RocksDB."""
        from nsadmin.client.consumers.pop_records import PopRecords

        return PopRecords(self._caller)

    @cached_property
    def lite_topics(self) -> "LiteTopicAdmin":
        """Lite topics, their clients and groups."""
        from nsadmin.client.topics.lite_topics import LiteTopicAdmin

        return LiteTopicAdmin(self._caller)

    @cached_property
    def cold_data(self) -> "ColdDataControl":
        """Limits for reads of cold data, which a broker must read from disk."""
        from nsadmin.client.brokers.cold_data import ColdDataControl

        return ColdDataControl(self._caller)

    @cached_property
    def containers(self) -> "BrokerContainers":
        """Broker containers: processes that run several brokers."""
        from nsadmin.client.brokers.containers import BrokerContainers

        return BrokerContainers(self._caller)

    @cached_property
    def consume_modes(self) -> "ConsumeModes":
        """The consume mode (PULL or POP) of groups."""
        from nsadmin.client.consumers.consume_modes import ConsumeModes

        return ConsumeModes(self._caller, self.groups, self.topic_configs)

    @cached_property
    def consume_queues(self) -> "ConsumeQueues":
        """The consume queue entries of brokers."""
        from nsadmin.client.messages.consume_queues import ConsumeQueues

        return ConsumeQueues(self._caller)

    @cached_property
    def groups(self) -> "GroupAdmin":
        """Subscription groups and their settings."""
        from nsadmin.client.consumers.groups import GroupAdmin

        return GroupAdmin(self._caller, self.clusters)

    @cached_property
    def consumers(self) -> "ConsumerAdmin":
        """The lag of consumer groups, and their connected clients."""
        from nsadmin.client.consumers.consumer_progress import ConsumerAdmin

        return ConsumerAdmin(self._caller, self.clusters, self.groups, self.proxies)

    @cached_property
    def proxies(self) -> "ProxyAdmin":
        """Proxies, and the consumers behind those in cluster mode."""
        from nsadmin.client.proxies.proxies import ProxyAdmin

        return ProxyAdmin(self._caller, self.clusters, self.topics, self.queue_reader)

    @cached_property
    def clients(self) -> "ClientAdmin":
        """Every connected client of a cluster, from brokers and proxies."""
        from nsadmin.client.proxies.cluster_clients import ClientAdmin

        return ClientAdmin(self.clusters, self.consumers, self.producers, self.proxies)

    @cached_property
    def offsets(self) -> "OffsetAdmin":
        """Reset and clone of consumer offsets: plan first, then apply."""
        from nsadmin.client.consumers.offset_moves import OffsetAdmin

        return OffsetAdmin(self._caller, self.clusters, self.topics, self.groups)

    @cached_property
    def producers(self) -> "ProducerAdmin":
        """Connected producers."""
        from nsadmin.client.consumers.producers import ProducerAdmin

        return ProducerAdmin(self._caller, self.clusters, self.topics)

    @cached_property
    def queue_progress(self) -> "QueueProgress":
        """Offsets of single queues and groups."""
        from nsadmin.client.consumers.queue_progress import QueueProgress

        return QueueProgress(self._caller)

    @cached_property
    def client_runtime(self) -> "ClientRuntime":
        """The runtime state that consumer clients report."""
        from nsadmin.client.consumers.client_runtime import ClientRuntime

        return ClientRuntime(self._caller, self.consumers, self.topics)

    @cached_property
    def kv(self) -> "KvAdmin":
        """The KV config of name servers."""
        from nsadmin.client.name_servers.kv_config import KvAdmin

        return KvAdmin(self._caller, self._reader)

    @cached_property
    def name_servers(self) -> "NameServerAdmin":
        """The availability and the settings of name servers."""
        from nsadmin.client.name_servers.name_server_configs import NameServerAdmin

        return NameServerAdmin(self._caller, self._reader)

    @cached_property
    def name_server_tables(self) -> "NameServerTables":
        """The complete tables of one name server."""
        from nsadmin.client.name_servers.name_server_tables import NameServerTables

        return NameServerTables(self._caller)

    @cached_property
    def order_confs(self) -> "OrderConfs":
        """Order configurations of topics."""
        from nsadmin.client.name_servers.order_confs import OrderConfs

        return OrderConfs(self.kv, self.name_servers)

    @cached_property
    def messages(self) -> "MessageAdmin":
        """Lookup of messages by key, by id, or by queue offset."""
        from nsadmin.client.messages.message_queries import MessageAdmin

        return MessageAdmin(self._caller, self.topics)

    @cached_property
    def queue_reader(self) -> "QueueReader":
        """Sequential reads of the messages of queues."""
        from nsadmin.client.messages.queue_reader import QueueReader

        return QueueReader(self._caller)

    @cached_property
    def message_sender(self) -> "MessageSender":
        """Send messages on behalf of an operator."""
        from nsadmin.client.messages.message_sender import MessageSender

        return MessageSender(self._caller, self.topics)

    @cached_property
    def traces(self) -> "MessageTraces":
        """The traces that clients wrote about messages."""
        from nsadmin.client.messages.message_traces import MessageTraces

        return MessageTraces(self.messages)

    @cached_property
    def consume_tracks(self) -> "ConsumeTracks":
        """The groups that consumed a message."""
        from nsadmin.client.messages.consume_tracks import ConsumeTracks

        return ConsumeTracks(self._caller, self.topics, self.proxies)

    @cached_property
    def delivery(self) -> "MessageDelivery":
        """Delivery of a stored message to one client, and resends."""
        from nsadmin.client.messages.message_delivery import MessageDelivery

        return MessageDelivery(self._caller, self.consume_tracks, self.message_sender)

    @cached_property
    def message_streams(self) -> "MessageStreams":
        """Many messages at once, sent to a topic or read from it as they come."""
        from nsadmin.client.messages.message_streams import MessageStreams

        return MessageStreams(self._caller, self.topics, self.message_sender)

    @cached_property
    def delayed_messages(self) -> "DelayedMessages":
        """Messages for later delivery, and their cancellation."""
        from nsadmin.client.messages.delayed_messages import DelayedMessages

        return DelayedMessages(self._caller, self.topics, self.broker_configs, self.queue_reader)

    @cached_property
    def dead_letters(self) -> "DeadLetters":
        """The messages that consumer groups failed to consume, and their replay."""
        from nsadmin.client.messages.dead_letters import DeadLetters

        return DeadLetters(
            self._caller, self.topics, self.brokers, self.messages, self.queue_reader, self.message_sender
        )

    @cached_property
    def send_probes(self) -> "SendProbes":
        """Probe messages that measure the send latency of brokers."""
        from nsadmin.client.messages.send_probes import SendProbes

        return SendProbes(self.message_sender)
