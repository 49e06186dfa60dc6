"""AdminClient, the client of commands: one attribute per noun, such as `admin.topics`."""

from collections.abc import Iterable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Self

from namesrv_core.errors import RocketMQError
from namesrv_core.transport.multiplexed_client import ExchangeObserver
from nsadmin.client.connection.access_options import DEFAULT_ACCESS, Access
from nsadmin.client.connection.addresses import NameServerFinder, NameServerList
from nsadmin.client.connection.caller import Caller, NamedAddrs
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.connection.name_server_reader import NameServerReader

if TYPE_CHECKING:
    from nsadmin.client.access.acls import AclAdmin
    from nsadmin.client.access.certificates import ServerCertificates
    from nsadmin.client.access.exposure import ServerExposure
    from nsadmin.client.access.plain_acls import PlainAclAdmin
    from nsadmin.client.access.users import UserAdmin
    from nsadmin.client.brokers.broker_configs import BrokerConfigs
    from nsadmin.client.brokers.broker_routes import BrokerRoutes
    from nsadmin.client.brokers.brokers import BrokerAdmin
    from nsadmin.client.brokers.clusters import ClusterAdmin
    from nsadmin.client.brokers.cold_data import ColdDataControl
    from nsadmin.client.brokers.containers import BrokerContainers
    from nsadmin.client.brokers.controllers import ControllerAdmin
    from nsadmin.client.brokers.registrations import BrokerRegistrations
    from nsadmin.client.brokers.replication import ReplicationAdmin
    from nsadmin.client.brokers.upkeep import BrokerUpkeep
    from nsadmin.client.connection.tunnels.tunnel_targets import TunnelTarget
    from nsadmin.client.consumers.client_runtime import ClientRuntime
    from nsadmin.client.consumers.committed_offsets import QueueProgress
    from nsadmin.client.consumers.consume_modes import ConsumeModes
    from nsadmin.client.consumers.consumer_progress import ConsumerAdmin
    from nsadmin.client.consumers.groups import GroupAdmin
    from nsadmin.client.consumers.offset_moves import OffsetAdmin
    from nsadmin.client.consumers.pop_records import PopRecords
    from nsadmin.client.consumers.producers import ProducerAdmin
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
    from nsadmin.client.messages.transactions import TransactionAdmin
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


# Not a method: a caller that refers to its client would keep an unclosed client alive.
def _find_broker_addrs(caller: Caller, broker_names: Iterable[str]) -> NamedAddrs:
    # Imported late: most calls name brokers by their addresses.
    from nsadmin.client.brokers.targets import find_broker_addrs

    return find_broker_addrs(caller, broker_names)


class AdminClient:
    """The connections and the nouns of `nsadmin.AdminClient`, which adds the audit and the procedures.

    The arguments are those of `nsadmin.AdminClient`.
    """

    _caller_class: type[Caller] = Caller

    def __init__(
        self,
        namesrv_addr: str | Iterable[str] | NameServerList | NameServerFinder | None = None,
        *,
        timeout: float | None = None,
        access: Access = DEFAULT_ACCESS,
        ask_all: bool = False,
        observer: ExchangeObserver | None = None,
        read_only: bool = False,
        pool: Pool | None = None,
    ) -> None:
        if timeout is not None:
            access = access._replace(timeout=timeout)
        tunnel_target = access.tunnel
        if namesrv_addr is None and tunnel_target is not None:
            # Imported late: most clients connect directly.
            from nsadmin.client.connection.tunnels.tunnel_leases import list_name_servers

            namesrv_addr = partial(list_name_servers, tunnel_target)
        self._caller = self._caller_class(
            namesrv_addr,
            access,
            observer,
            read_only=read_only,
            pool=pool,
            find_broker_addrs=_find_broker_addrs,
        )
        self._reader = NameServerReader(self._caller, ask_all)

    @property
    def is_read_only(self) -> bool:
        """Whether the client refuses requests that change something."""
        return self._caller.read_only

    @property
    def is_static(self) -> bool:
        """Whether the client reads a bundle, so that the same request always gets the same answer."""
        answers = self._caller.access.answers
        return answers is not None and answers.is_static

    @property
    def clock_ms(self) -> int:
        """The moment that ages are computed for, in ms since 1970 (UTC).

        It is now. For a client that reads a bundle, it is the moment when the bundle was made.
        """
        return self._caller.clock_ms

    @property
    def addresses(self) -> NameServerList:
        """The configured name servers in request order, and the source of that list."""
        return self._caller.name_servers

    @property
    def tunnel(self) -> "TunnelTarget | None":
        """The tunnel that all connections lead through; None for direct connections."""
        return self._caller.access.tunnel

    @property
    def unreachable(self) -> Mapping[str, RocketMQError]:
        """Name servers that failed to answer a read so far: address to error."""
        # A copy, because another thread may add to the original.
        return dict(self._reader.unreachable)

    @property
    def disagreements(self) -> list[str]:
        """One line per difference between name servers. Empty unless `ask_all` is set."""
        return self._reader.disagreements

    def forget_failures(self) -> None:
        """Empty `unreachable` and `disagreements`, after a procedure that waited for every name server."""
        self._reader.unreachable.clear()
        self._reader.disagreements.clear()

    def close(self) -> None:
        """Close the client's own connections. A `pool` stays open.

        Pending calls of other threads, and later calls, raise ClientClosed. A call that looks for name
        servers, or at certificates, raises it when that step ends.
        """
        self._caller.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception_info: object) -> None:
        self.close()

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
        """The settings of topics on brokers."""
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
        from nsadmin.client.consumers.committed_offsets import QueueProgress

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
    def transactions(self) -> "TransactionAdmin":
        """Half messages of transactions, and discarded ones."""
        from nsadmin.client.messages.transactions import TransactionAdmin

        return TransactionAdmin(self._caller, self.broker_configs, self.messages, self.queue_reader)

    @cached_property
    def dead_letters(self) -> "DeadLetters":
        """The messages that consumer groups failed to consume, and their replay."""
        from nsadmin.client.messages.dead_letters import DeadLetters

        return DeadLetters(
            self._caller, self.topics, self.groups, self.brokers, self.queue_reader, self.message_sender
        )

    @cached_property
    def send_probes(self) -> "SendProbes":
        """Probe messages that measure the send latency of brokers."""
        from nsadmin.client.messages.send_probes import SendProbes

        return SendProbes(self.message_sender)

    @cached_property
    def users(self) -> "UserAdmin":
        """The users of brokers (since 5.3)."""
        from nsadmin.client.access.users import UserAdmin

        return UserAdmin(self._caller)

    @cached_property
    def acls(self) -> "AclAdmin":
        """The ACL entries of users (since 5.3)."""
        from nsadmin.client.access.acls import AclAdmin

        return AclAdmin(self._caller)

    @cached_property
    def plain_acls(self) -> "PlainAclAdmin":
        """The plain ACL accounts of 4.x brokers."""
        from nsadmin.client.access.plain_acls import PlainAclAdmin

        return PlainAclAdmin(self._caller)

    @cached_property
    def controllers(self) -> "ControllerAdmin":
        """Controllers and the broker replicas that they manage."""
        from nsadmin.client.brokers.controllers import ControllerAdmin

        return ControllerAdmin(self._caller)

    @cached_property
    def exposure(self) -> "ServerExposure":
        """Checks of the data that servers reveal to any client."""
        from nsadmin.client.access.exposure import ServerExposure

        return ServerExposure(self._caller)

    @cached_property
    def certificates(self) -> "ServerCertificates":
        """The TLS certificates of servers."""
        from nsadmin.client.access.certificates import ServerCertificates

        return ServerCertificates(self._caller)
