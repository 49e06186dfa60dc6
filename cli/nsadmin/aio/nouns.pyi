"""The nouns of AsyncAdminClient, for type checkers. `make generate` writes this file."""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from os import PathLike
from typing import Literal

from namesrv_core.errors import RocketMQError
from namesrv_core.events import QueueData
from namesrv_core.protocol.command import ExtFields, RemotingCommand
from namesrv_core.protocol.stored_messages import StoredMessage
from nsadmin.aio.call_threads import CallThreads
from nsadmin.client.access.acls import AclChange, AclEntries, AclEntry
from nsadmin.client.access.certificates import CertificateSummary
from nsadmin.client.access.exposure import ExposureAnswer
from nsadmin.client.access.plain_acls import AccountChange, AclFile, PlainAccount, PlainAcl
from nsadmin.client.access.users import User, UserChange
from nsadmin.client.brokers.broker_configs import BrokerConfig, ConfigItemChange
from nsadmin.client.brokers.broker_routes import BrokerRouteView
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import BrokerAddrGroup, BrokerStatus, ClusterInfo, HeartbeatListing
from nsadmin.client.brokers.cold_data import ColdData, ThresholdChange
from nsadmin.client.brokers.config_stores import JsonExportState
from nsadmin.client.brokers.containers import ContainedBroker
from nsadmin.client.brokers.controllers import BrokerEpochs, ControllerMeta, ReplicaSet
from nsadmin.client.brokers.registrations import BrokerRegistrant
from nsadmin.client.brokers.replicated_tables import ReplicatedTable
from nsadmin.client.brokers.replication import HaStatus
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.brokers.upkeep import BrokerSettings
from nsadmin.client.bundles.bundle_file import BundleManifest
from nsadmin.client.consumers.client_runtime import ClientNameServers, RunningGroup
from nsadmin.client.consumers.committed_offsets import CommittedOffset, CommittedOffsets
from nsadmin.client.consumers.connected_clients import ConnectedClient, GroupConnections, ProducerClient
from nsadmin.client.consumers.consume_modes import AssignedMode, ConsumeMode, ModeChange
from nsadmin.client.consumers.consume_stats import ConsumeStats, GroupQueueLag
from nsadmin.client.consumers.consumer_progress import GroupProgress
from nsadmin.client.consumers.group_settings import (
    AttributeChanges,
    GroupChange,
    GroupConfigFields,
    GroupSettings,
)
from nsadmin.client.consumers.offset_plans import OffsetMove, OffsetPlan
from nsadmin.client.consumers.producers import ProducerConnections
from nsadmin.client.consumers.queue_progress import OffsetCommit
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.bulk_sender import MessageDraft, SentDraft
from nsadmin.client.messages.consume_queues import QueueEntries
from nsadmin.client.messages.consume_tracks import ConsumeTrack
from nsadmin.client.messages.dead_letter_counts import DeadLetterCounts
from nsadmin.client.messages.dead_letter_replay import BrokerReplay, DeadLetterSpan, ReplayOptions
from nsadmin.client.messages.dead_letter_selection import DeadLetterSelection
from nsadmin.client.messages.dead_letters import DeadLetterPage
from nsadmin.client.messages.delayed_messages import DelayedMessage
from nsadmin.client.messages.message_batches import StoredBatch
from nsadmin.client.messages.message_delivery import DeliveryOutcome, MessageReceiver
from nsadmin.client.messages.message_queries import FoundMessages, LocatedMessage
from nsadmin.client.messages.message_sender import OutgoingMessage, SendQueue, SentMessage
from nsadmin.client.messages.message_traces import FoundTraces
from nsadmin.client.messages.queue_reader import MessagePage, MessagePlace, QueueSpan, SpanResult
from nsadmin.client.messages.replay_memory import ReplayMemory
from nsadmin.client.messages.send_probes import SendProbe
from nsadmin.client.messages.topic_follower import FollowStart, TopicFollower
from nsadmin.client.name_servers.kv_config import KvChange, KvTables
from nsadmin.client.name_servers.name_server_configs import NameServerPulse, NamesrvConfig
from nsadmin.client.name_servers.name_server_tables import NameServerListing, T, TopicQueues
from nsadmin.client.proxies.cluster_clients import ClientList
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyList
from nsadmin.client.results import ServerResult
from nsadmin.client.snapshots import ClusterSnapshot
from nsadmin.client.topic_routes import QueueRoute, TopicRoute
from nsadmin.client.topics.bulk_requests import (
    BrokerTopicTable,
    DesiredConfig,
    KvValue,
    KvValuesByNamespace,
    PermissionsByTopic,
    QueueBounds,
    QueueClosure,
    WireConfig,
)
from nsadmin.client.topics.lite_topics import (
    BrokerLiteInfo,
    LiteClient,
    LiteGroup,
    LiteOffsets,
    LiteTopic,
    ParentTopic,
)
from nsadmin.client.topics.put_counts import MinuteStats
from nsadmin.client.topics.queue_mappings import BrokerQueueShare
from nsadmin.client.topics.topic_configs import BrokerTopicConfig, TopicConfigChange, TopicPatch
from nsadmin.client.topics.topic_deletion import DeletionStep, TopicDeletion
from nsadmin.client.topics.topic_stats import BrokerTopicStats, TopicStats
from nsadmin.client.topics.topic_traffic import MessageCount, TopicTraffic
from nsadmin.client.topics.topic_usage import TopicUsage
from nsadmin.client.topics.topic_views import BrokerTopicView, NameServerTopicView
from nsadmin.library.admin_client import AdminClient
from nsadmin.library.cluster_checks import ClusterCheckReport
from nsadmin.library.cluster_plans import ClusterPlan
from nsadmin.library.cluster_rebalance import RebalanceResult
from nsadmin.library.drain_procedure import DrainResult, RestoredServer
from nsadmin.library.name_server_divergence import Divergence
from nsadmin.library.service_checks import CheckLimits
from nsadmin.operations.backups.archive import BackupKeys, LoadedBackup
from nsadmin.operations.backups.records import ClusterBackup
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.restore_scope import RestoreScope
from nsadmin.operations.checks.findings import CheckFinding
from nsadmin.operations.divergence.observer import DivergenceObservation
from nsadmin.operations.drain.events import EventRecord
from nsadmin.operations.plans.executor import StepOutcome
from nsadmin.operations.rebalance.plan_builder import ProposedPlan
from nsadmin.operations.rebalance.rebalance_plan import RebalancePlan

CLIENT_CLASSES: tuple[type, ...]
NOUN_NAMES: tuple[str, ...]
PROCEDURE_NAMES: tuple[str, ...]

class AsyncNouns:
    """Has an attribute for each noun of an AdminClient, and a coroutine for each procedure."""

    _admin_client: AdminClient
    _call_threads: CallThreads
    def __init__(self, admin_client: AdminClient, call_threads: CallThreads) -> None: ...
    @property
    def brokers(self) -> AsyncBrokerAdmin:
        """Runtime information of brokers, and their write permission on name servers."""

    @property
    def clusters(self) -> AsyncClusterAdmin:
        """The brokers of each cluster, and the status of each broker."""

    @property
    def broker_configs(self) -> AsyncBrokerConfigs:
        """The settings of brokers."""

    @property
    def broker_routes(self) -> AsyncBrokerRoutes:
        """The routes that each name server gives clients for the topics of one broker."""

    @property
    def put_counts(self) -> AsyncPutCounts:
        """Counts of the messages that brokers received in the last minute."""

    @property
    def replication(self) -> AsyncReplicationAdmin:
        """The replication lag of slaves."""

    @property
    def registrations(self) -> AsyncBrokerRegistrations:
        """The data that brokers register with on name servers."""

    @property
    def topics(self) -> AsyncTopicAdmin:
        """Names, routes, statistics and deletion of topics."""

    @property
    def topic_configs(self) -> AsyncTopicConfigs:
        """The configuration of topics on brokers."""

    @property
    def queue_mappings(self) -> AsyncQueueMappings:
        """The mapping from a static topic's logical queues to the queues of brokers."""

    @property
    def topic_views(self) -> AsyncTopicViews:
        """The answers of each server about one topic."""

    @property
    def bulk(self) -> AsyncBulkAdmin:
        """Batch reads and writes of many topics, groups and KV values."""

    @property
    def upkeep(self) -> AsyncBrokerUpkeep:
        """Maintenance of the files of brokers: cleaning, read-ahead, timer engine, RocksDB."""

    @property
    def pop_records(self) -> AsyncPopRecords:
        """Records of popped, unacknowledged messages on brokers that keep them in RocksDB."""

    @property
    def lite_topics(self) -> AsyncLiteTopicAdmin:
        """Lite topics, their clients and groups."""

    @property
    def cold_data(self) -> AsyncColdDataControl:
        """Limits for reads of cold data, which a broker must read from disk."""

    @property
    def containers(self) -> AsyncBrokerContainers:
        """Broker containers: processes that run several brokers."""

    @property
    def consume_modes(self) -> AsyncConsumeModes:
        """The consume mode (PULL or POP) of groups."""

    @property
    def consume_queues(self) -> AsyncConsumeQueues:
        """The consume queue entries of brokers."""

    @property
    def groups(self) -> AsyncGroupAdmin:
        """Subscription groups and their settings."""

    @property
    def consumers(self) -> AsyncConsumerAdmin:
        """The lag of consumer groups, and their connected clients."""

    @property
    def proxies(self) -> AsyncProxyAdmin:
        """Proxies, and the consumers behind those in cluster mode."""

    @property
    def clients(self) -> AsyncClientAdmin:
        """Every connected client of a cluster, from brokers and proxies."""

    @property
    def offsets(self) -> AsyncOffsetAdmin:
        """Reset and clone of consumer offsets: plan first, then apply."""

    @property
    def producers(self) -> AsyncProducerAdmin:
        """Connected producers."""

    @property
    def queue_progress(self) -> AsyncQueueProgress:
        """Offsets of single queues and groups."""

    @property
    def client_runtime(self) -> AsyncClientRuntime:
        """The runtime state that consumer clients report."""

    @property
    def kv(self) -> AsyncKvAdmin:
        """The KV config of name servers."""

    @property
    def name_servers(self) -> AsyncNameServerAdmin:
        """The availability and the settings of name servers."""

    @property
    def name_server_tables(self) -> AsyncNameServerTables:
        """The complete tables of one name server."""

    @property
    def order_confs(self) -> AsyncOrderConfs:
        """Order configurations of topics."""

    @property
    def messages(self) -> AsyncMessageAdmin:
        """Lookup of messages by key, by id, or by queue offset."""

    @property
    def queue_reader(self) -> AsyncQueueReader:
        """Sequential reads of the messages of queues."""

    @property
    def message_sender(self) -> AsyncMessageSender:
        """Send messages on behalf of an operator."""

    @property
    def traces(self) -> AsyncMessageTraces:
        """The traces that clients wrote about messages."""

    @property
    def consume_tracks(self) -> AsyncConsumeTracks:
        """The groups that consumed a message."""

    @property
    def delivery(self) -> AsyncMessageDelivery:
        """Delivery of a stored message to one client, and resends."""

    @property
    def message_streams(self) -> AsyncMessageStreams:
        """Many messages at once, sent to a topic or read from it as they come."""

    @property
    def delayed_messages(self) -> AsyncDelayedMessages:
        """Messages for later delivery, and their cancellation."""

    @property
    def dead_letters(self) -> AsyncDeadLetters:
        """The messages that consumer groups failed to consume, and their replay."""

    @property
    def send_probes(self) -> AsyncSendProbes:
        """Probe messages that measure the send latency of brokers."""

    @property
    def users(self) -> AsyncUserAdmin:
        """The users of brokers (since 5.3)."""

    @property
    def acls(self) -> AsyncAclAdmin:
        """The ACL entries of users (since 5.3)."""

    @property
    def plain_acls(self) -> AsyncPlainAclAdmin:
        """The plain ACL accounts of 4.x brokers."""

    @property
    def controllers(self) -> AsyncControllerAdmin:
        """Controllers and the broker replicas that they manage."""

    @property
    def exposure(self) -> AsyncServerExposure:
        """Checks of the data that servers reveal to any client."""

    @property
    def certificates(self) -> AsyncServerCertificates:
        """The TLS certificates of servers."""

    @property
    def checks(self) -> AsyncClusterChecks:
        """The checks of monitoring systems, one by one or all."""

    @property
    def plans(self) -> AsyncClusterPlans:
        """The desired state of a cluster as a file: export, plan, apply."""

    @property
    def backups(self) -> AsyncClusterBackups:
        """Snapshots of brokers, topics, KV config and settings."""

    @property
    def bundles(self) -> AsyncClusterBundles:
        """Support bundles: the answers of a cluster in one file."""

    @property
    def rebalance(self) -> AsyncClusterRebalance:
        """Plans that level the load of brokers."""

    async def drain(
        self,
        broker_name: str,
        *,
        on_event: Callable[[EventRecord], object] | None = None,
        dry_run: bool = False,
        durable: bool = False,
        force: bool = False,
        allow_unreachable: bool = False,
        for_good: bool = False,
        when_safe: Callable[[str], object] | None = None,
        settle_seconds: float = 30.0,
        interval_seconds: float = 10.0,
        quiet_intervals: int = 3,
        max_messages: int = 0,
    ) -> DrainResult:
        """Stop client writes to a broker, and return when the broker is safe to stop."""

    async def undrain(
        self,
        broker_name: str,
        *,
        on_event: Callable[[EventRecord], object] | None = None,
        dry_run: bool = False,
    ) -> list[RestoredServer]:
        """Allow client writes to a drained broker again, as they were before the drain."""

    async def find_divergence(
        self,
        *,
        settle_seconds: float = 60.0,
        sections: Collection[str] | None = None,
        namespaces: Sequence[str] = (),
        on_waiting: Callable[[DivergenceObservation, float], object] | None = None,
    ) -> Divergence:
        """Compare the state of all name servers, and find the causes of differences."""

class AsyncBrokerAdmin:
    """`admin.brokers`: runtime information of brokers, and their write permission on name servers."""

    async def get_runtime_info(self, broker_addrs: Iterable[str]) -> list[ServerResult[RuntimeInfo]]:
        """Return the runtime information of brokers (GET_BROKER_RUNTIME_INFO, 28)."""

    async def check_registration(self, broker_name: str) -> list[ServerResult[bool]]:
        """Check on every name server whether a broker is registered (GET_BROKER_CLUSTER_INFO, 106)."""

    async def get_topic_permissions(self, broker_name: str) -> list[ServerResult[dict[str, int]]]:
        """Return the permission of each topic of a broker on every name server."""

    async def wipe_write_perm(
        self, broker_name: str, namesrv_addrs: Collection[str] | None = None
    ) -> list[ServerResult[int]]:
        """Remove the write permission from all topics of a broker (WIPE_WRITE_PERM_OF_BROKER, 205)."""

    async def add_write_perm(
        self, broker_name: str, namesrv_addrs: Collection[str] | None = None
    ) -> list[ServerResult[int]]:
        """Set the permission 6 (read and write) on all topics of a broker (ADD_WRITE_PERM_OF_BROKER, 327)."""

class AsyncClusterAdmin:
    """`admin.clusters`: the brokers that name servers list, and the status of each broker."""

    async def get_info(self) -> ClusterInfo:
        """Return all clusters, as one name server lists them (GET_BROKER_CLUSTER_INFO, 106)."""

    async def list_latest_groups(self) -> list[BrokerAddrGroup]:
        """Return the broker groups of all answers to the latest `get_info`; one group per answer."""

    async def get_info_each(self) -> list[ServerResult[ClusterInfo]]:
        """Return all clusters, as every name server lists them (GET_BROKER_CLUSTER_INFO, 106)."""

    async def get_heartbeats_each(self) -> list[ServerResult[HeartbeatListing]]:
        """Return all clusters and heartbeat ages from every name server (GET_BROKER_CLUSTER_INFO, 106)."""

    async def list_masters(self, cluster_name: str | None = None) -> list[str]:
        """Return the addresses of all masters, for a change that must reach every broker."""

    async def list_broker_status(self, cluster_name: str | None = None) -> list[BrokerStatus]:
        """Return the status of every master and slave."""

class AsyncBrokerConfigs:
    """`admin.broker_configs`: the settings of brokers."""

    async def get_each(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerConfig]]:
        """Return all settings of servers (GET_BROKER_CONFIG, 26; controllers:
        GET_CONTROLLER_CONFIG, 1010).
        """

    async def get_change_times(self, broker_addrs: Iterable[str]) -> list[ServerResult[int]]:
        """Return when the settings of servers were last changed by a request (GET_BROKER_CONFIG, 26)."""

    async def plan_update(
        self, broker_addrs: Iterable[str], item_key: str, item_value: str
    ) -> list[ServerResult[ConfigItemChange]]:
        """Plan `update_item` without changing anything."""

    async def update_item(
        self, broker_addrs: Iterable[str], item_key: str, item_value: str
    ) -> list[ServerResult[ConfigItemChange]]:
        """Update one item on servers, and read it back."""

    async def force_registration(self, broker_addr: str) -> ServerResult[str]:
        """Make a broker register all its topics on all its name servers (UPDATE_BROKER_CONFIG, 25)."""

class AsyncBrokerRoutes:
    """`admin.broker_routes`: the routes of one broker's topics. It parses an unchanged route only once."""

    async def get_each(self, broker_name: str) -> list[ServerResult[BrokerRouteView]]:
        """Return the routes of a broker's topics from every name server."""

    async def restore_queues(
        self, namesrv_addr: str, queues_by_topic: Mapping[str, QueueData]
    ) -> list[ServerResult[str]]:
        """Restore queues in the routes of one name server (REGISTER_TOPIC_IN_NAMESRV, 217)."""

class AsyncPutCounts:
    """`admin.put_counts`: message counts of the last minute (VIEW_BROKER_STATS_DATA, 315)."""

    async def count_user_messages(self, broker_addr: str, cluster_name: str) -> ServerResult[int | None]:
        """Count the messages of the last minute to all users' topics of a broker."""

    async def count_topic_messages(
        self, broker_addr: str, topics: Iterable[str]
    ) -> list[ServerResult[tuple[str, int]]]:
        """Count the messages of the last minute to topics on one broker."""

    async def get_topic_counts(
        self, broker_addrs: Iterable[str], topic: str
    ) -> list[ServerResult[MessageCount]]:
        """Return the message counts (last minute and 24 hours) of a topic on brokers."""

    async def get_minute_stats(
        self, broker_addr: str, counters: Sequence[tuple[str, str]]
    ) -> list[ServerResult[MinuteStats | None]]:
        """Return counters of a broker over the last minute, with one request each."""

class AsyncReplicationAdmin:
    """`admin.replication`: the replication state of brokers."""

    @property
    def tables(self) -> AsyncReplicatedTables:
        """The tables that slaves copy from their master."""

    async def get_status(self, broker_addrs: Iterable[str]) -> list[ServerResult[HaStatus]]:
        """Return the replication state of brokers (GET_BROKER_HA_STATUS, 907)."""

class AsyncBrokerRegistrations:
    """`admin.registrations`: the data that brokers register with."""

    async def get_each(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerRegistrant]]:
        """Return the registration data of brokers."""

class AsyncTopicAdmin:
    """`admin.topics`: names, routes, consumer groups, statistics and deletion of topics."""

    async def list_names(self, cluster_name: str | None = None) -> tuple[str, ...]:
        """Return the names of all topics, or of one cluster's topics, in order."""

    async def list_system_names(self) -> frozenset[str]:
        """Return the names of the topics that RocketMQ creates for itself."""

    async def list_broker_system_names(
        self, broker_addrs: Iterable[str]
    ) -> list[ServerResult[tuple[str, ...]]]:
        """Return the system topics of each broker (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305)."""

    async def list_user_names(self, cluster_name: str | None = None) -> tuple[str, ...]:
        """Return the names of the users' topics: `list_names` without the system topics."""

    async def get_route(self, topic: str) -> TopicRoute:
        """Return the route of a topic from the first name server that has one
        (GET_ROUTEINFO_BY_TOPIC, 105).
        """

    async def get_route_each(self, topic: str) -> list[ServerResult[TopicRoute]]:
        """Return the route of a topic from every name server (GET_ROUTEINFO_BY_TOPIC, 105)."""

    async def get_routes(self, topic_names: Iterable[str]) -> dict[str, ServerResult[TopicRoute]]:
        """Return the routes of many topics, all from the first name server that answers."""

    async def get_raw_route(self, topic: str) -> str:
        """Return the route of a topic as the JSON text from a name server."""

    async def list_clusters(self, topic: str) -> tuple[str, ...]:
        """Return the names of the clusters whose brokers have the topic, in order."""

    async def list_usage(self, topic_names: tuple[str, ...]) -> list[TopicUsage]:
        """Return the clusters and consumer groups of topics."""

    async def list_consumer_groups(
        self, broker_addr: str, topic_names: Iterable[str]
    ) -> ServerResult[dict[str, tuple[str, ...]]]:
        """Return the consumer groups of each topic at a broker (QUERY_TOPIC_CONSUME_BY_WHO, 300)."""

    async def get_traffic(self, topic_names: tuple[str, ...]) -> list[TopicTraffic]:
        """Return message counts of topics and of their consumer groups, summed over the masters."""

    async def get_put_rates(self, topic: str, master_addrs: Iterable[str]) -> list[ServerResult[float]]:
        """Return the messages per second (mean of the last minute) that masters receive for a topic."""

    async def get_stats(self, topic: str, route_of_topic: str | None = None) -> list[BrokerTopicStats]:
        """Return the offsets of a topic's queues on each of its brokers (GET_TOPIC_STATS_INFO, 202)."""

    async def get_stats_at(self, topic_places: Sequence[tuple[str, str]]) -> list[ServerResult[TopicStats]]:
        """Return the offsets of topics' queues at brokers, with one GET_TOPIC_STATS_INFO (202) each."""

    async def plan_deletion(self, topic: str, cluster_name: str) -> TopicDeletion:
        """Check a deletion without executing it; see TopicDeletion."""

    async def forget_topic(
        self, topic: str, namesrv_addrs: Iterable[str], *, dry_run: bool = False
    ) -> list[DeletionStep]:
        """Remove a topic from name servers in all clusters (DELETE_TOPIC_IN_NAMESRV, 216), and verify it."""

    async def delete_topic(self, topic: str, cluster_name: str) -> list[DeletionStep]:
        """Delete a topic on every master of a cluster, then on every name server; see TopicDeletion."""

class AsyncTopicConfigs:
    """`admin.topic_configs`: the configuration of topics on brokers."""

    async def get_each(
        self, broker_addrs: Iterable[str], topic: str
    ) -> list[ServerResult[BrokerTopicConfig]]:
        """Return the configuration of a topic on each broker (GET_TOPIC_CONFIG, 351)."""

    async def list_broker_topics(
        self, broker_addrs: Iterable[str]
    ) -> list[ServerResult[tuple[BrokerTopicConfig, ...]]]:
        """Return all topics of each broker (GET_ALL_TOPIC_CONFIG, 21)."""

    async def plan_update(
        self, broker_addrs: Iterable[str], topic: str, patch: TopicPatch, *, create: bool
    ) -> list[TopicConfigChange]:
        """Plan `apply_changes` without changing anything."""

    async def apply_changes(
        self, changes: Sequence[TopicConfigChange], patch: TopicPatch
    ) -> list[TopicConfigChange]:
        """Apply planned changes (UPDATE_AND_CREATE_TOPIC, 17), and read them back."""

    async def update_topic(
        self, broker_addrs: Iterable[str], topic: str, patch: TopicPatch, *, create: bool = True
    ) -> list[TopicConfigChange]:
        """Create or update a topic on masters, and read it back: `plan_update`, then `apply_changes`."""

class AsyncQueueMappings:
    """`admin.queue_mappings`: the queue mappings of static topics."""

    async def get_each(
        self, topic: str, broker_addrs: Iterable[str]
    ) -> list[ServerResult[BrokerQueueShare | None]]:
        """Return the share of each master in a static topic (GET_TOPIC_CONFIG, 351)."""

    async def put_shares(
        self,
        topic: str,
        addressed_shares: Iterable[tuple[str, str, BrokerQueueShare]],
        *,
        force: bool = False,
    ) -> list[ServerResult[RemotingCommand]]:
        """Write shares on masters (UPDATE_AND_CREATE_STATIC_TOPIC, 513)."""

    async def get_queue_ends(self, topic: str, broker_addr: str) -> ServerResult[dict[int, int]]:
        """Return the offset of the next message in each own queue of a broker (GET_TOPIC_STATS_INFO, 202)."""

    async def get_own_ends(
        self, topic: str, broker_addr: str, queue_ids: Iterable[int]
    ) -> list[int | RocketMQError]:
        """Return the offset of the next message in own queues of a broker (GET_MAX_OFFSET, 30)."""

    async def commit_own_offsets(
        self, group: str, topic: str, broker_addr: str, offsets_by_queue: Mapping[int, int]
    ) -> list[RocketMQError | None]:
        """Commit offsets of a group in own queues of a broker, and read them back."""

class AsyncTopicViews:
    """`admin.topic_views`: the answers of each name server and each broker about one topic."""

    async def get_name_server_views(
        self, namesrv_addrs: Iterable[str], topic: str, zone_name: str | None = None
    ) -> list[NameServerTopicView]:
        """Return the answers of name servers about a topic."""

    async def get_broker_views(self, broker_addrs: Iterable[str], topic: str) -> list[BrokerTopicView]:
        """Return the answers of brokers about a topic."""

class AsyncBulkAdmin:
    """`admin.bulk`: reads of whole tables, and batches of changes."""

    async def list_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerTopicTable]]:
        """Return all topics of each broker (GET_ALL_TOPIC_CONFIG, 21)."""

    async def list_groups(self, broker_addrs: Iterable[str]) -> list[ServerResult[dict[str, WireConfig]]]:
        """Return all groups of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201)."""

    async def list_system_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[frozenset[str]]]:
        """Return the system topics of each broker (GET_SYSTEM_TOPIC_LIST_FROM_BROKER, 305)."""

    async def count_messages(
        self, topic_places: Iterable[tuple[str, str]]
    ) -> list[ServerResult[dict[int, int]]]:
        """Return the number of messages in each queue of topics (GET_TOPIC_STATS_INFO, 202)."""

    async def list_queue_bounds(
        self, topic_places: Iterable[tuple[str, str]]
    ) -> list[ServerResult[dict[int, QueueBounds]]]:
        """Return the offsets of each queue of topics (GET_TOPIC_STATS_INFO, 202)."""

    async def list_rates(self, stats_places: Iterable[tuple[str, str, str]]) -> list[ServerResult[float]]:
        """Return rates that brokers measure (VIEW_BROKER_STATS_DATA, 315)."""

    async def read_bodies(
        self, request_code: int, places: Iterable[tuple[str, ExtFields]], timeout_seconds: float | None = None
    ) -> list[ServerResult[bytes]]:
        """Return the undecoded bodies of many reads of one kind, all sent at once."""

    async def list_kv_values(self, namespaces: Sequence[str]) -> list[ServerResult[KvValuesByNamespace]]:
        """Return namespaces of the KV config from every name server (GET_KVLIST_BY_NAMESPACE, 219)."""

    async def list_routed_topics(self, cluster_name: str) -> list[ServerResult[frozenset[str]]]:
        """Return the routed topics of a cluster from every name server (GET_TOPICS_BY_CLUSTER, 224)."""

    async def get_topic_permissions(self, topics: Sequence[str]) -> list[ServerResult[PermissionsByTopic]]:
        """Return the permissions of topics from every name server (GET_ROUTEINFO_BY_TOPIC, 105, per
        topic).
        """

    async def close_queues(
        self, closure_places: Iterable[tuple[str, QueueClosure]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Close the queues of brokers that no longer have a topic (REGISTER_TOPIC_IN_NAMESRV, 217)."""

    async def put_topics(
        self, batches: Sequence[tuple[str, Sequence[DesiredConfig]]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Create or replace topics with one request per batch."""

    async def put_groups(
        self, batches: Sequence[tuple[str, Sequence[DesiredConfig]]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Create or replace groups with one request per batch."""

    async def delete_topics(
        self, topic_places: Iterable[tuple[str, str]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Delete topics and their messages on brokers (DELETE_TOPIC_IN_BROKER, 215)."""

    async def forget_topics(
        self, topic_places: Iterable[tuple[str, str]], cluster_name: str
    ) -> list[ServerResult[RemotingCommand]]:
        """Remove a cluster's queues from the routes of topics (DELETE_TOPIC_IN_NAMESRV, 216)."""

    async def delete_groups(
        self, group_places: Iterable[tuple[str, str]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Delete groups and their offsets on brokers (DELETE_SUBSCRIPTIONGROUP, 207)."""

    async def put_values(
        self, value_places: Iterable[tuple[str, KvValue]]
    ) -> list[ServerResult[RemotingCommand]]:
        """Write or delete KV values (PUT_KV_CONFIG, 100; DELETE_KV_CONFIG, 102)."""

class AsyncBrokerUpkeep:
    """`admin.upkeep`: maintenance orders for brokers."""

    @property
    def config_stores(self) -> AsyncConfigStores:
        """JSON exports of topics, groups and offsets that brokers store in RocksDB."""

    async def clean_unused_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Delete the queues of topics without a configuration (CLEAN_UNUSED_TOPIC, 316)."""

    async def clean_expired_consume_queues(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Delete consume queue files without messages in the commit log (CLEAN_EXPIRED_CONSUMEQUEUE, 306)."""

    async def delete_expired_commit_logs(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Delete commit log files older than fileReservedTime (DELETE_EXPIRED_COMMITLOG, 329)."""

    async def get_settings(
        self, broker_addrs: Iterable[str], setting_names: Iterable[str]
    ) -> list[ServerResult[BrokerSettings]]:
        """Return some settings of brokers (GET_BROKER_CONFIG, 26)."""

    async def set_read_ahead(
        self, broker_addrs: Iterable[str], read_ahead_mode: int
    ) -> list[ServerResult[BrokerSettings]]:
        """Set the read-ahead of the commit log until the next restart (SET_COMMITLOG_READ_MODE, 2004)."""

    async def switch_timer_engine(
        self, broker_addrs: Iterable[str], engine_letter: str
    ) -> list[ServerResult[BrokerSettings]]:
        """Switch the engine for new timed messages (SWITCH_TIMER_ENGINE, 5001; since 5.5.0)."""

    async def reset_master_flush_offset(self, broker_addr: str, flush_offset: int) -> ServerResult[bool]:
        """Set the master's flush offset on a slave (RESET_MASTER_FLUSH_OFFSET, 908), and read it back."""

    async def get_master_flush_offset(self, broker_addr: str) -> ServerResult[int]:
        """Return the master's flush offset in bytes, as a slave knows it (GET_BROKER_HA_STATUS, 907)."""

    async def check_slave(self, broker_addr: str) -> ServerResult[bool]:
        """Check that a broker is a slave (GET_BROKER_CONFIG, 26)."""

    async def check_rocksdb_queues(
        self, broker_addrs: Iterable[str], topic: str | None, since_ms: int
    ) -> list[ServerResult[int]]:
        """Compare the queues in files with those in RocksDB (CHECK_ROCKSDB_CQ_WRITE_PROGRESS, 354)."""

class AsyncPopRecords:
    """`admin.pop_records`: the pop records of brokers."""

    async def check_enabled(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Check whether brokers keep pop records in RocksDB, by their setting (GET_BROKER_CONFIG, 26)."""

    async def move_to_message_store(self, broker_addrs: Iterable[str]) -> list[ServerResult[bool]]:
        """Move the pop records of brokers to topics of their message stores (POP_ROLLBACK, 200056)."""

class AsyncLiteTopicAdmin:
    """`admin.lite_topics`: lite topics. Each method returns one ServerResult per broker address, in order."""

    async def get_broker_info(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerLiteInfo]]:
        """Return the lite topic counts of each broker (GET_BROKER_LITE_INFO, 200074)."""

    async def get_parent_topic(
        self, broker_addrs: Iterable[str], topic: str
    ) -> list[ServerResult[ParentTopic]]:
        """Return a parent topic of each broker (GET_PARENT_TOPIC_INFO, 200075)."""

    async def get_lite_topic(
        self, broker_addrs: Iterable[str], parent_topic: str, lite_topic: str
    ) -> list[ServerResult[LiteTopic]]:
        """Return one lite topic of each broker (GET_LITE_TOPIC_INFO, 200076); see `LiteTopic.is_known`."""

    async def get_client(
        self, broker_addrs: Iterable[str], parent_topic: str, group: str, client_id: str
    ) -> list[ServerResult[LiteClient]]:
        """Return the lite topics of one client on each broker (GET_LITE_CLIENT_INFO, 200077)."""

    async def get_group(
        self, broker_addrs: Iterable[str], group: str, top_count: int
    ) -> list[ServerResult[LiteGroup]]:
        """Return the lag of a group on each broker (GET_LITE_GROUP_INFO, 200078)."""

    async def get_group_offsets(
        self, broker_addrs: Iterable[str], group: str, lite_topic: str
    ) -> list[ServerResult[LiteOffsets]]:
        """Return the offsets of a group on one lite topic (GET_LITE_GROUP_INFO, 200078)."""

    async def trigger_dispatch(
        self, broker_addrs: Iterable[str], group: str, client_id: str | None
    ) -> list[ServerResult[bool]]:
        """Make brokers dispatch the lite topics of a group again (TRIGGER_LITE_DISPATCH, 200079)."""

class AsyncColdDataControl:
    """`admin.cold_data`: limits for cold reads. Each method returns one ServerResult per address."""

    async def get_each(self, broker_addrs: Iterable[str]) -> list[ServerResult[ColdData]]:
        """Return the cold read control of brokers (GET_COLD_DATA_FLOW_CTR_INFO, 2003)."""

    async def plan_change(
        self, broker_addrs: Iterable[str], group: str, threshold: int | None
    ) -> list[ServerResult[ThresholdChange]]:
        """Plan `update_threshold`, or `remove_threshold` for the threshold None. Change nothing."""

    async def update_threshold(
        self, broker_addrs: Iterable[str], group: str, threshold: int
    ) -> list[ServerResult[ThresholdChange]]:
        """Set the cold read limit of a group, and read it back (UPDATE_COLD_DATA_FLOW_CTR_CONFIG, 2001)."""

    async def remove_threshold(
        self, broker_addrs: Iterable[str], group: str
    ) -> list[ServerResult[ThresholdChange]]:
        """Remove the cold read limit of a group, and verify it (REMOVE_COLD_DATA_FLOW_CTR_CONFIG, 2002)."""

class AsyncBrokerContainers:
    """`admin.containers`: broker containers. An order waits at least 60 s for its answer."""

    async def check_container(self, container_addr: str) -> ServerResult[bool]:
        """Check that an address is a broker container (GET_BROKER_CONFIG, 26)."""

    async def add_broker(self, container_addr: str, config_path: str) -> ServerResult[bool]:
        """Start a broker in a container (ADD_BROKER, 902)."""

    async def remove_broker(self, container_addr: str, broker: ContainedBroker) -> ServerResult[bool]:
        """Stop a broker in a container (REMOVE_BROKER, 903)."""

class AsyncConsumeModes:
    """`admin.consume_modes`: consume modes. Each method returns one ServerResult per address, in order."""

    async def list_modes(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[AssignedMode, ...]]]:
        """Return all modes set on brokers, by topic and group (GET_ALL_MESSAGE_REQUEST_MODE, 402)."""

    async def get_defaults(self, broker_addrs: Iterable[str]) -> list[ServerResult[ConsumeMode]]:
        """Return the default mode of brokers (GET_BROKER_CONFIG, 26)."""

    async def plan_change(
        self, broker_addrs: Iterable[str], topic: str, group: str, wanted_mode: ConsumeMode
    ) -> list[ServerResult[ModeChange]]:
        """Plan `set_mode` without changing anything."""

    async def set_mode(
        self, broker_addrs: Iterable[str], topic: str, group: str, wanted_mode: ConsumeMode
    ) -> list[ServerResult[ModeChange]]:
        """Set the mode on masters, and read it back (SET_MESSAGE_REQUEST_MODE, 401)."""

class AsyncConsumeQueues:
    """`admin.consume_queues`: the consume queue entries of brokers."""

    async def read_entries(
        self,
        queue_routes: Sequence[QueueRoute],
        topic: str,
        queue_id: int,
        begin_index: int,
        entry_count: int,
        group: str | None = None,
    ) -> list[ServerResult[QueueEntries]]:
        """Read consume queue entries from brokers (QUERY_CONSUME_QUEUE, 321)."""

    async def read_entries_at(
        self,
        broker_addr: str,
        topic: str,
        queue_id: int,
        begin_index: int,
        entry_count: int,
        group: str | None = None,
    ) -> ServerResult[QueueEntries]:
        """Read consume queue entries from one broker address; otherwise like `read_entries`."""

class AsyncGroupAdmin:
    """`admin.groups`: the subscription groups of brokers."""

    async def list_targets(self, cluster_name: str | None = None) -> list[BrokerTarget]:
        """Return one process per broker group: the master, else the slave with the lowest id."""

    async def list_masters(self, cluster_name: str) -> list[BrokerTarget]:
        """Return the master of each broker group of a cluster; its address is None without a master."""

    async def get_tables(
        self, broker_targets: Iterable[BrokerTarget]
    ) -> list[ServerResult[dict[str, GroupConfigFields]]]:
        """Return all groups of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201)."""

    async def list_names(
        self, cluster_name: str | None = None, *, include_system: bool = False
    ) -> list[ServerResult[list[str]]]:
        """Return the group names of each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201)."""

    async def get_settings(self, group: str, cluster_name: str | None = None) -> list[GroupSettings]:
        """Return the settings of a group on each broker (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201)."""

    async def check_exists(self, group: str, cluster_name: str | None = None) -> None:
        """Check that at least one broker knows a group."""

    async def plan_update(
        self,
        group: str,
        master_targets: Iterable[BrokerTarget],
        setting_changes: GroupConfigFields,
        attribute_changes: AttributeChanges,
    ) -> list[GroupChange]:
        """Plan `update_group` without changing anything."""

    async def update_group(
        self,
        group: str,
        master_targets: Iterable[BrokerTarget],
        setting_changes: GroupConfigFields,
        attribute_changes: AttributeChanges,
    ) -> list[GroupChange]:
        """Create or update a group on masters, and read it back."""

    async def find_holders(
        self, group: str, broker_targets: Iterable[BrokerTarget]
    ) -> list[ServerResult[GroupConfigFields]]:
        """Return the settings of a group on each target (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201)."""

    async def delete_group(
        self, group: str, master_targets: Iterable[BrokerTarget], *, clean_offset: bool = False
    ) -> list[ServerResult[GroupConfigFields]]:
        """Delete a group on masters (DELETE_SUBSCRIPTIONGROUP, 207), and verify it."""

class AsyncConsumerAdmin:
    """`admin.consumers`: the lag of consumer groups, and their connected clients."""

    async def get_progress(
        self, group: str, topic: str | None = None, cluster_name: str | None = None
    ) -> list[ServerResult[ConsumeStats]]:
        """Return the progress of a group on each broker (GET_CONSUME_STATS, 208)."""

    async def get_progress_at(
        self, group: str, broker_addrs: Iterable[str]
    ) -> list[ServerResult[ConsumeStats]]:
        """Return the progress of a group on these brokers (GET_CONSUME_STATS, 208)."""

    async def get_all_progress(
        self, cluster_name: str | None = None, *, include_system: bool = False
    ) -> tuple[list[GroupProgress], dict[str, RocketMQError | None]]:
        """Return the progress of every group that any broker knows."""

    async def get_stats_each(
        self, group_places: Sequence[tuple[str, str]]
    ) -> list[ServerResult[ConsumeStats]]:
        """Return the raw statistics of groups on brokers, with one GET_CONSUME_STATS (208) each."""

    async def get_committed_each(self, broker_addrs: Sequence[str]) -> list[ServerResult[CommittedOffsets]]:
        """Return all committed offsets of each broker (GET_ALL_CONSUMER_OFFSET, 43)."""

    async def get_connections(
        self, group: str, cluster_name: str | None = None, broker_addr: str | None = None
    ) -> GroupConnections:
        """Return the connected clients of a group (GET_CONSUMER_CONNECTION_LIST, 203)."""

    async def list_online_groups(
        self, broker_addrs: Iterable[str]
    ) -> tuple[dict[str, GroupConnections], dict[str, RocketMQError | None]]:
        """Return the groups that brokers know, with the clients that are connected to these brokers."""

    async def get_group_connections(
        self, groups: Iterable[str], broker_addrs: Iterable[str]
    ) -> dict[str, GroupConnections]:
        """Return the clients of groups that are connected to brokers (GET_CONSUMER_CONNECTION_LIST, 203)."""

    async def list_members(
        self, group: str, broker_addrs: Iterable[str]
    ) -> list[ServerResult[tuple[ConnectedClient, ...]]]:
        """Return the clients of a group as each broker lists them (GET_CONSUMER_CONNECTION_LIST, 203)."""

    async def get_broker_stats(
        self, broker_addr: str, *, is_order: bool = False, timeout_seconds: float = ...
    ) -> tuple[GroupQueueLag, ...]:
        """Return every group on every queue of one broker (GET_BROKER_CONSUME_STATS, 317)."""

    async def get_broker_stats_each(
        self, broker_addrs: Iterable[str], *, is_order: bool = False, timeout_seconds: float = ...
    ) -> list[ServerResult[ConsumeStats]]:
        """Return every group on every queue of brokers (GET_BROKER_CONSUME_STATS, 317); all at once."""

class AsyncProxyAdmin:
    """`admin.proxies`: proxies, and the consumers behind those in cluster mode."""

    async def get_heartbeats(self, cluster_name: str | None = None) -> ProxyHeartbeats:
        """Return the last heartbeat of each consumer behind the proxies in cluster mode."""

    async def list_proxies(self, cluster_name: str | None = None) -> ProxyList:
        """Return the proxies that are known from heartbeats, from brokers, or from `access.proxies`."""

    async def get_topic_routes(self, topic: str) -> list[ServerResult[tuple[str, ...]]]:
        """Return the brokers in the route that each proxy gives clients (GET_ROUTEINFO_BY_TOPIC, 105)."""

    async def add_clients(
        self,
        connections_by_group: Mapping[str, GroupConnections],
        cluster_name: str | None = None,
        *,
        heartbeats: ProxyHeartbeats | None = None,
    ) -> dict[str, GroupConnections]:
        """Return the connections of groups together with the clients behind proxies."""

    async def answers_grpc(self, grpc_addr: str, timeout_seconds: float) -> bool | None:
        """Return whether a port answers gRPC in plain text; None without `grpcio`."""

class AsyncClientAdmin:
    """`admin.clients`: every connected client of a cluster."""

    async def list_clients(
        self, cluster_name: str | None = None, *, include_system: bool = False
    ) -> ClientList:
        """Return every connected client once."""

class AsyncOffsetAdmin:
    """`admin.offsets`: resets and clones of consumer offsets."""

    async def plan_reset(
        self,
        group: str,
        topic: str,
        timestamp_ms: int,
        *,
        cluster_name: str | None = None,
        force: bool = True,
    ) -> OffsetPlan:
        """Plan to reset every queue of a topic to the first message stored at a time or later."""

    async def plan_queue_reset(
        self,
        group: str,
        queue: MessageQueue,
        broker_addr: str,
        timestamp_ms: int,
        wanted_offset: int | None = None,
    ) -> OffsetPlan:
        """Plan to reset one queue to a time, or to an offset."""

    async def apply_reset(self, offset_plan: OffsetPlan) -> list[OffsetMove]:
        """Apply a plan of `plan_reset` or `plan_queue_reset`, and read the offsets back. Call it once."""

    async def plan_clone(
        self, source_group: str, group: str, topic: str, *, require_offline: bool = False
    ) -> OffsetPlan:
        """Plan to set every queue of a topic to the offset of another group (QUERY_CONSUMER_OFFSET, 14)."""

    async def apply_clone(self, offset_plan: OffsetPlan) -> list[OffsetMove]:
        """Apply a plan of `plan_clone` queue by queue, and read the offsets back. Call it once."""

    async def has_clients(self, group: str, offset_moves: Sequence[OffsetMove]) -> bool:
        """Return whether clients of a group are connected, which commit their own offsets."""

    async def verify_moves(self, group: str, offset_moves: Sequence[OffsetMove]) -> list[OffsetMove]:
        """Read offsets again after clients committed; see `offset_verification.verify_moves`."""

class AsyncProducerAdmin:
    """`admin.producers`: connected producers."""

    async def get_connections(self, group: str, topic: str | None = None) -> ProducerConnections:
        """Return the connected clients of a producer group (GET_PRODUCER_CONNECTION_LIST, 204)."""

    async def list_all_producers(
        self, broker_addr: str | None = None
    ) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """Return all producers of one broker, or of every master and slave (GET_ALL_PRODUCER_INFO, 328)."""

    async def list_producers(
        self, broker_addrs: Iterable[str]
    ) -> list[ServerResult[tuple[ProducerClient, ...]]]:
        """Return all producers of brokers (GET_ALL_PRODUCER_INFO, 328): one ServerResult per broker."""

class AsyncQueueProgress:
    """`admin.queue_progress`: offsets of single queues and groups."""

    async def get_end_offsets(
        self, queue_places: Sequence[tuple[str, MessageQueue]]
    ) -> list[int | RocketMQError]:
        """Return the offset after the last message of each queue (GET_MAX_OFFSET, 30)."""

    async def get_committed_offsets(
        self, group_queues: Sequence[tuple[str, str, MessageQueue]]
    ) -> list[CommittedOffset]:
        """Return the committed offset of each group on each queue (QUERY_CONSUMER_OFFSET, 14)."""

    async def get_group_stats(
        self, topic: str, group_places: Sequence[tuple[str, str]]
    ) -> list[ServerResult[ConsumeStats]]:
        """Return the progress of groups on one topic (GET_CONSUME_STATS, 208)."""

    async def commit_offsets(
        self, offset_commits: Sequence[OffsetCommit]
    ) -> list[ServerResult[RemotingCommand]]:
        """Commit offsets (UPDATE_CONSUMER_OFFSET, 15). Connected consumers overwrite them."""

class AsyncClientRuntime:
    """`admin.client_runtime`: the runtime state of consumer clients."""

    async def get_group(
        self,
        group: str,
        client_id: str | None = None,
        *,
        cluster_name: str | None = None,
        broker_addr: str | None = None,
        with_jstack: bool = False,
    ) -> RunningGroup:
        """Return the runtime state of a group's clients (GET_CONSUMER_RUNNING_INFO, 307)."""

    async def get_name_servers(
        self, connections_by_group: Mapping[str, GroupConnections]
    ) -> dict[str, list[ClientNameServers]]:
        """Return the name servers that the clients of many groups use (307, all at once)."""

    async def get_queue_owners(self, group: str, cluster_name: str | None = None) -> dict[MessageQueue, str]:
        """Return the clients that consume each queue of a group (307)."""

    async def find_problems(self, running_group: RunningGroup, now_ms: int) -> list[str]:
        """Find problems of a group: different subscriptions, blocked, unlocked or unassigned queues."""

class AsyncKvAdmin:
    """`admin.kv`: the KV config of name servers. A missing key or namespace gives QueryNotFound."""

    async def get_value(self, namespace: str, key: str) -> str:
        """Return the value of a key from the first name server that has one (GET_KV_CONFIG, 101)."""

    async def get_value_each(self, namespace: str, key: str) -> list[ServerResult[str]]:
        """Return the value of a key from every name server (GET_KV_CONFIG, 101)."""

    async def get_entries(self, namespace: str) -> dict[str, str]:
        """Return a namespace from the first name server that has it (GET_KVLIST_BY_NAMESPACE, 219)."""

    async def get_entries_each(self, namespace: str) -> list[ServerResult[dict[str, str]]]:
        """Return a namespace from every name server (GET_KVLIST_BY_NAMESPACE, 219)."""

    async def get_tables_each(
        self, namespaces: Sequence[str], namesrv_addrs: Iterable[str]
    ) -> list[ServerResult[KvTables]]:
        """Return namespaces from name servers, all requested at once (GET_KVLIST_BY_NAMESPACE, 219)."""

    async def apply_changes(self, kv_changes: Sequence[KvChange]) -> list[ServerResult[KvChange]]:
        """Apply changes, each on its name server, and read them back."""

    async def put_value(self, namespace: str, key: str, value: str) -> list[ServerResult[str]]:
        """Write a value on every name server (PUT_KV_CONFIG, 100)."""

    async def delete_key(self, namespace: str, key: str) -> list[ServerResult[str]]:
        """Delete a key on every name server (DELETE_KV_CONFIG, 102)."""

class AsyncNameServerAdmin:
    """`admin.name_servers`: the availability and the configuration of each name server."""

    async def get_pulse_each(self) -> list[ServerResult[NameServerPulse]]:
        """Measure the latency of every name server (GET_KV_CONFIG, 101, for a key that does not exist)."""

    async def check_ready_each(self) -> list[ServerResult[bool]]:
        """Check whether every name server serves routes (GET_ROUTEINFO_BY_TOPIC, 105)."""

    async def find_silent(self, namesrv_addrs: Iterable[str]) -> dict[str, RocketMQError]:
        """Find the name servers that do not answer (GET_KV_CONFIG, 101, for a key that does not exist)."""

    async def get_config_each(self) -> list[ServerResult[NamesrvConfig]]:
        """Return the configuration of every name server (GET_NAMESRV_CONFIG, 319)."""

    async def update_item(self, item_key: str, item_value: str) -> list[ServerResult[str]]:
        """Update one configuration item on every name server (UPDATE_NAMESRV_CONFIG, 318), and read
        it back.
        """

class AsyncNameServerTables:
    """`admin.name_server_tables`: the tables of each name server. No server answers in place of another."""

    async def mark_duplicate_servers(self, answers: Sequence[ServerResult[T]]) -> list[ServerResult[T]]:
        """Replace the answer of a server that occurs under a second address by the error DuplicateServer."""

    async def describe_peer(self, namesrv_addr: str) -> str | None:
        """Return the host and the port that the open connection to a name server leads to."""

    async def get_listing(self, namesrv_addr: str, namespaces: Sequence[str]) -> NameServerListing:
        """Return the tables of one name server without the routes."""

    async def get_listing_each(
        self, namesrv_addrs: Iterable[str], namespaces: Sequence[str]
    ) -> list[ServerResult[NameServerListing]]:
        """Return `get_listing` of several name servers, asked at once: one ServerResult per address."""

    async def get_route_bodies(self, namesrv_addr: str, topics: Iterable[str]) -> list[ServerResult[bytes]]:
        """Return the undecoded routes of topics from one name server (GET_ROUTEINFO_BY_TOPIC, 105)."""

    async def get_queues_each(
        self, topics_by_addr: Mapping[str, Sequence[str]]
    ) -> dict[str, ServerResult[dict[str, TopicQueues]]]:
        """Return the queues of topics from several name servers (GET_ROUTEINFO_BY_TOPIC, 105, per topic)."""

class AsyncOrderConfs:
    """`admin.order_confs`: order configurations of topics. The error for a missing one is QueryNotFound."""

    async def list_all(self) -> dict[str, str]:
        """Return all order configurations of the first name server that has any (219)."""

    async def get_each(self, topic: str) -> list[ServerResult[str]]:
        """Return the order configuration of a topic from every name server (GET_KV_CONFIG, 101)."""

    async def put_conf(self, topic: str, conf_text: str) -> list[ServerResult[str]]:
        """Write the order configuration of a topic on every name server (PUT_KV_CONFIG, 100)."""

    async def delete_conf(self, topic: str) -> list[ServerResult[str]]:
        """Delete the order configuration of a topic on every name server (DELETE_KV_CONFIG, 102)."""

    async def merge_conf(self, topic: str, queues_by_broker: Mapping[str, int]) -> str:
        """Return the order configuration of a topic with changed or added brokers. Change nothing."""

    async def plan_removal(self, topic: str, broker_names: Collection[str]) -> list[KvChange]:
        """Plan to remove brokers from the order configuration of a topic. Change nothing."""

    async def apply_removal(self, planned_changes: Sequence[KvChange]) -> list[ServerResult[KvChange]]:
        """Apply the changes of `plan_removal`, and read them back; see `KvAdmin.apply_changes`."""

    async def find_servers_without(self) -> list[str]:
        """Return the name servers that do not add order configurations to routes (319)."""

class AsyncMessageAdmin:
    """`admin.messages`: lookup of messages by key, by id, or by queue offset."""

    async def find_by_key(
        self,
        topic: str,
        message_key: str,
        *,
        max_num: int = 64,
        begin_ms: int = 0,
        end_ms: int = ...,
        by_tag: bool = False,
        last_key: str | None = None,
        route_topic: str | None = None,
    ) -> FoundMessages:
        """Find messages by business key or by tag (QUERY_MESSAGE, 12)."""

    async def find_by_unique_key(
        self, topic: str, msg_id: str, *, begin_ms: int = 0, end_ms: int = ..., route_topic: str | None = None
    ) -> FoundMessages:
        """Find messages by the unique key that the producer assigned (QUERY_MESSAGE, 12)."""

    async def find_by_id(self, topic: str, msg_id: str, *, route_topic: str | None = None) -> FoundMessages:
        """Find a message by its offset id or its unique key."""

    async def get_at_offset(
        self, topic: str, broker_name: str, queue_id: int, offset: int, *, route_topic: str | None = None
    ) -> LocatedMessage:
        """Return the message at an offset of a queue (PULL_MESSAGE, 11)."""

    async def list_queue_routes(
        self, topic: str, broker_name: str | None = None, route_topic: str | None = None
    ) -> Sequence[QueueRoute]:
        """Return the brokers of a topic's route (GET_ROUTEINFO_BY_TOPIC, 105)."""

class AsyncQueueReader:
    """`admin.queue_reader`: sequential reads of queues."""

    async def get_spans(
        self,
        topic: str,
        queue_routes: Sequence[QueueRoute],
        *,
        queue_id: int | None = None,
        begin_ms: int = 0,
        end_ms: int = ...,
    ) -> list[SpanResult]:
        """Return the offsets of a time range in each readable queue."""

    async def get_end_offset(self, broker_addr: str, topic: str, queue_id: int) -> int:
        """Return the offset after the last message of a queue (GET_MAX_OFFSET, 30)."""

    async def get_store_times(
        self, message_places: Iterable[MessagePlace], *, in_own_queues: bool = False
    ) -> list[ServerResult[int | None]]:
        """Return when messages were stored, in ms since 1970 (PULL_MESSAGE, 11)."""

    async def wait_for_messages(
        self, broker_addr: str, topic: str, queue_id: int, begin_offset: int, max_wait_ms: int
    ) -> tuple[tuple[StoredMessage, ...], int]:
        """Read the next messages of a queue; wait on the broker if there are none yet (PULL_MESSAGE, 11)."""

    def read_pages(
        self, topic: str, queue_spans: Sequence[QueueSpan], wanted_tags: frozenset[str] | None = None
    ) -> AsyncIterator[MessagePage]:
        """Yield the messages of all spans, page by page, taking turns between queues (PULL_MESSAGE, 11)."""

class AsyncMessageSender:
    """`admin.message_sender`: sends of messages."""

    async def choose_queue(
        self, topic: str, broker_name: str | None = None, queue_id: int | None = None
    ) -> SendQueue:
        """Choose a writable queue of a topic, at random among the candidates."""

    async def list_queues(self, topic: str) -> list[SendQueue]:
        """Return all writable queues of a topic, broker by broker."""

    async def send_message(
        self,
        send_queue: SendQueue,
        message_body: bytes,
        *,
        keys: str | None = None,
        tags: str | None = None,
        properties: Mapping[str, str] | None = None,
    ) -> SentMessage:
        """Send a message to a queue (SEND_MESSAGE_V2, 310). The broker does not create a missing topic."""

    async def send_messages(
        self, outgoing_messages: Sequence[OutgoingMessage]
    ) -> list[ServerResult[SentMessage]]:
        """Send messages at once, without waiting for one before the next (SEND_MESSAGE_V2, 310)."""

    async def send_patiently(
        self, outgoing_messages: Sequence[OutgoingMessage]
    ) -> list[ServerResult[SentMessage]]:
        """Send messages like `send_messages`; send again the messages that a busy broker refused."""

    async def send_trace(
        self,
        sent_message: SentMessage,
        body_length: int,
        *,
        message_keys: str,
        message_tags: str,
        began_ms: int,
        cost_ms: int,
    ) -> SentMessage:
        """Send a trace of a sent message to the trace topic (SEND_MESSAGE_V2, 310)."""

class AsyncMessageTraces:
    """`admin.traces`: the traces of messages."""

    async def find_traces(
        self, msg_id: str, *, trace_topic: str = ..., max_num: int = 64, begin_ms: int = 0, end_ms: int = ...
    ) -> FoundTraces:
        """Find the traces of a message in the trace topic (QUERY_MESSAGE, 12)."""

class AsyncConsumeTracks:
    """`admin.consume_tracks`: the groups that consumed a message."""

    async def get_tracks(self, located_message: LocatedMessage) -> tuple[ConsumeTrack, ...]:
        """Return the state of a message in each group of its topic, in the order of groups."""

    async def find_broker_addr(self, located_message: LocatedMessage) -> str:
        """Return the address of the message's broker: from the route, else the store host of the message."""

class AsyncMessageDelivery:
    """`admin.delivery`: delivery of a stored message to one client, and resends."""

    async def find_receiver(
        self, located_message: LocatedMessage, group: str, client_id: str
    ) -> MessageReceiver:
        """Find a client on the broker of a message (GET_CONSUMER_CONNECTION_LIST, 203)."""

    async def deliver_message(self, receiver: MessageReceiver) -> DeliveryOutcome:
        """Make the client consume the message now (CONSUME_MESSAGE_DIRECTLY, 309). No offset changes."""

    async def choose_resend_queue(self, located_message: LocatedMessage) -> SendQueue:
        """Choose the queue for a resend: the message's own queue if it is writable, else any queue."""

    async def resend_message(self, send_queue: SendQueue, message: StoredMessage) -> SentMessage:
        """Send a message again (SEND_MESSAGE_V2, 310), with its body, keys, tag, properties and
        unique key.
        """

class AsyncMessageStreams:
    """`admin.message_streams`: streams of messages."""

    def send_drafts(
        self,
        topic: str,
        drafts: Iterable[MessageDraft | None],
        *,
        broker_name: str | None = None,
        queue_id: int | None = None,
        messages_per_second: float | None = None,
        compression: str | None = None,
        transaction: str | None = None,
        writes_traces: bool = False,
    ) -> AsyncIterator[list[SentDraft]]:
        """Send messages to the queues of a topic in turns (SEND_MESSAGE_V2, 310), and yield the outcomes."""

    async def send_batches(
        self, batches: Sequence[Sequence[OutgoingMessage]]
    ) -> list[ServerResult[StoredBatch]]:
        """Send batches, each to its queue and in order (SEND_BATCH_MESSAGE, 320)."""

    async def open_follower(
        self,
        topic: str,
        follow_start: FollowStart = ...,
        *,
        expression: str = "*",
        expression_type: str = "TAG",
        broker_name: str | None = None,
        queue_id: int | None = None,
    ) -> TopicFollower:
        """Return a reader of all queues of a topic (GET_ROUTEINFO_BY_TOPIC, 105)."""

class AsyncDelayedMessages:
    """`admin.delayed_messages`: messages for later delivery."""

    async def list_pending(
        self, topic: str, now_ms: int
    ) -> tuple[list[DelayedMessage], dict[str, RocketMQError]]:
        """Return the messages of a topic that are not delivered yet, in the order of their delivery."""

    async def cancel_message(self, delayed_message: DelayedMessage, broker_addr: str) -> None:
        """Cancel a timed message (RECALL_MESSAGE, 370; brokers since 5.4)."""

class AsyncDeadLetters:
    """`admin.dead_letters`: the dead letters of consumer groups."""

    async def list_groups(self) -> tuple[str, ...]:
        """Return the groups with a dead-letter topic, sorted (GET_ALL_TOPIC_LIST_FROM_NAMESERVER, 206)."""

    async def count_letters(self, groups: Sequence[str], now_ms: int) -> list[DeadLetterCounts]:
        """Count the dead letters of groups."""

    async def list_spans(
        self, group: str, selection: DeadLetterSelection = ...
    ) -> tuple[list[DeadLetterSpan], dict[str, RocketMQError]]:
        """Return the parts of queues that have the time range of a selection."""

    def read_letters(
        self, group: str, letter_spans: Sequence[DeadLetterSpan], selection: DeadLetterSelection
    ) -> AsyncIterator[DeadLetterPage]:
        """Yield dead letters page by page, taking turns between queues (PULL_MESSAGE, 11)."""

    def replay(
        self,
        group: str,
        letter_spans: Sequence[DeadLetterSpan],
        selection: DeadLetterSelection = ...,
        options: ReplayOptions = ...,
        memory: ReplayMemory | None = None,
    ) -> AsyncIterator[BrokerReplay]:
        """Send dead letters to their group again (SEND_MESSAGE_V2, 310), and yield the progress."""

class AsyncSendProbes:
    """`admin.send_probes`: probe messages that measure the send latency of brokers."""

    async def choose_queue(self, broker_name: str) -> SendQueue:
        """Choose a queue of the topic that a broker creates under its own name, which no group consumes."""

    async def list_queues(self, topic: str) -> list[SendQueue]:
        """Return all writable queues of a topic, broker by broker."""

    def send_probes(
        self, send_queue: SendQueue, body_bytes: int, message_count: int
    ) -> AsyncIterator[SendProbe]:
        """Send probe messages with the tag PROBE, one after another (SEND_MESSAGE_V2, 310)."""

class AsyncUserAdmin:
    """`admin.users`: the users of brokers. Each method returns one ServerResult per address or plan."""

    async def list_users(
        self, broker_addrs: Iterable[str], name_text: str | None = None
    ) -> list[ServerResult[tuple[User, ...]]]:
        """Return the users of brokers, in the order of names (AUTH_LIST_USER, 3005)."""

    async def get_user(self, broker_addrs: Iterable[str], username: str) -> list[ServerResult[User]]:
        """Return one user of brokers (AUTH_GET_USER, 3004); the error is NotFound for an unknown user."""

    async def plan_create(
        self, broker_addrs: Iterable[str], new_user: User
    ) -> list[ServerResult[UserChange]]:
        """Plan to create a user; the error is AlreadyExists for an existing name."""

    async def plan_update(
        self, broker_addrs: Iterable[str], wanted_user: User
    ) -> list[ServerResult[UserChange]]:
        """Plan to update the password, type or status of a user."""

    async def plan_delete(self, broker_addrs: Iterable[str], username: str) -> list[ServerResult[UserChange]]:
        """Plan to delete a user; the error is NotFound for an unknown user."""

    async def plan_copy(self, broker_addr: str, users: Sequence[User]) -> list[ServerResult[UserChange]]:
        """Plan to copy users with all their values to one broker."""

    async def apply_plans(
        self, planned_changes: Sequence[ServerResult[UserChange]]
    ) -> list[ServerResult[UserChange]]:
        """Apply plans, and read the users back."""

class AsyncAclAdmin:
    """`admin.acls`: the ACL entries of brokers. A subject is "User:name"."""

    async def list_entries(
        self, broker_addrs: Iterable[str], subject_text: str | None = None, resource_text: str | None = None
    ) -> list[ServerResult[dict[str, AclEntries]]]:
        """Return the entries of brokers: subject to entries (AUTH_LIST_ACL, 3010)."""

    async def get_entries(self, broker_addrs: Iterable[str], subject: str) -> list[ServerResult[AclEntries]]:
        """Return the entries of one subject (AUTH_GET_ACL, 3009)."""

    async def plan_merge(
        self, broker_addrs: Iterable[str], subject: str, new_entries: Sequence[AclEntry]
    ) -> list[ServerResult[AclChange]]:
        """Plan to add entries to a subject. An entry replaces the one for the same resource."""

    async def plan_delete(
        self,
        broker_addrs: Iterable[str],
        subject: str,
        resources: Sequence[str] = (),
        policy_type: str | None = None,
    ) -> list[ServerResult[AclChange]]:
        """Plan to delete entries of a subject; the error is NotFound if one of them does not exist."""

    async def apply_plans(
        self, planned_changes: Sequence[ServerResult[AclChange]]
    ) -> list[ServerResult[AclChange]]:
        """Apply plans, and read the entries back."""

class AsyncPlainAclAdmin:
    """`admin.plain_acls`: the accounts of 4.x brokers."""

    async def list_accounts(self, broker_addrs: Iterable[str]) -> list[ServerResult[PlainAcl]]:
        """Return the accounts and the white addresses of brokers (GET_BROKER_CLUSTER_ACL_CONFIG, 54)."""

    async def list_files(self, broker_addrs: Iterable[str]) -> list[ServerResult[tuple[AclFile, ...]]]:
        """Return the ACL files of brokers, in the order of paths (GET_BROKER_CLUSTER_ACL_INFO, 52)."""

    async def plan_update(
        self, broker_addrs: Iterable[str], wanted_account: PlainAccount
    ) -> list[ServerResult[AccountChange]]:
        """Plan to create or update an account."""

    async def plan_delete(
        self, broker_addrs: Iterable[str], access_key: str
    ) -> list[ServerResult[AccountChange]]:
        """Plan to delete an account; the error is NotFound for an unknown account."""

    async def apply_plans(
        self, planned_changes: Sequence[ServerResult[AccountChange]]
    ) -> list[ServerResult[AccountChange]]:
        """Apply plans, and read the accounts back."""

    async def set_white_addrs(
        self, broker_addrs: Iterable[str], white_addrs: Sequence[str], file_path: str | None = None
    ) -> list[ServerResult[tuple[str, ...]]]:
        """Replace the global white addresses, and read them back (UPDATE_GLOBAL_WHITE_ADDRS_CONFIG, 53)."""

class AsyncControllerAdmin:
    """`admin.controllers`: controllers. Each method takes the addresses of controllers or of their leader."""

    @property
    def configs(self) -> AsyncBrokerConfigs:
        """The settings of controllers (GET_CONTROLLER_CONFIG, 1010; UPDATE_CONTROLLER_CONFIG, 1009)."""

    async def get_metadata(self, controller_addrs: Iterable[str]) -> list[ServerResult[ControllerMeta]]:
        """Return the metadata of each controller (CONTROLLER_GET_METADATA_INFO, 1005)."""

    async def find_leader(self, controller_addrs: Iterable[str]) -> str:
        """Return the address of the leader (CONTROLLER_GET_METADATA_INFO, 1005)."""

    async def get_replica_sets(self, leader_addr: str, broker_names: Sequence[str]) -> dict[str, ReplicaSet]:
        """Return the replicas of brokers (CONTROLLER_GET_SYNC_STATE_DATA, 1006)."""

    async def get_replica_set(self, leader_addr: str, broker_name: str) -> ReplicaSet:
        """Return the replicas of one broker (CONTROLLER_GET_SYNC_STATE_DATA, 1006)."""

    async def elect_master(
        self, leader_addr: str, cluster_name: str, broker_name: str, broker_id: int, now_ms: int
    ) -> ServerResult[bool]:
        """Make a replica the master (CONTROLLER_ELECT_MASTER, 1002)."""

    async def forget_replicas(
        self,
        leader_addr: str,
        cluster_name: str,
        broker_name: str,
        broker_ids: Sequence[int],
        include_living: bool,
        now_ms: int,
    ) -> ServerResult[bool]:
        """Make the controllers forget replicas of a broker (CLEAN_BROKER_DATA, 1011)."""

    async def get_epochs(self, broker_addrs: Iterable[str]) -> list[ServerResult[BrokerEpochs]]:
        """Return the master epochs that brokers remember (GET_BROKER_EPOCH_CACHE, 1007)."""

class AsyncServerExposure:
    """`admin.exposure`: the answers of servers to harmless reads."""

    async def name_servers(self, namesrv_addrs: Iterable[str]) -> list[ServerResult[ExposureAnswer]]:
        """Request the settings of name servers (GET_NAMESRV_CONFIG, 319)."""

    async def brokers(self, broker_addrs: Iterable[str]) -> list[ServerResult[ExposureAnswer]]:
        """Request the settings of brokers (GET_BROKER_CONFIG, 26)."""

    async def clusters(self, namesrv_addrs: Iterable[str]) -> list[ServerResult[ExposureAnswer]]:
        """Request the broker list of name servers (GET_BROKER_CLUSTER_INFO, 106), without reading it."""

    async def proxies(self, proxy_addrs: Iterable[str]) -> list[ServerResult[ExposureAnswer]]:
        """Request the clients of a group from proxies (GET_CONSUMER_CONNECTION_LIST, 203)."""

    async def check_reachable(self, server_addrs: Iterable[str]) -> dict[str, bool]:
        """Check whether addresses accept connections. Nothing is sent."""

class AsyncServerCertificates:
    """`admin.certificates`: the certificates of servers."""

    async def get_first_expiring(self, server_addrs: Iterable[str]) -> list[ServerResult[CertificateSummary]]:
        """Return the certificate of each server's chain that expires first."""

    async def get_own(self, server_addrs: Iterable[str]) -> list[ServerResult[CertificateSummary]]:
        """Return the own certificate of each server; results and errors are like `get_first_expiring`."""

class AsyncClusterChecks:
    """Checks of a cluster (`admin.checks`). Each returns a CheckFinding with a state of a
    monitoring plugin.
    """

    async def check_name_servers(
        self, *, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check whether every name server answers and serves routes."""

    async def check_brokers(
        self,
        cluster_name: str | None = None,
        *,
        expected_count: int | None = None,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check whether every registered broker answers, each name has a master, and no broker is missing."""

    async def check_divergence(
        self, *, settle_seconds: float = 50.0, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check whether all name servers have the same state."""

    async def check_topic(
        self, topic: str, *, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check whether clients of every name server can write to a topic."""

    async def check_writable_topics(
        self,
        cluster_name: str | None = None,
        *,
        exclude_pattern: str | None = None,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check whether clients of every name server can write to all topics."""

    async def check_lag(
        self,
        group: str,
        *,
        topic: str | None = None,
        cluster_name: str | None = None,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check how many messages a consumer group has not consumed yet."""

    async def check_heartbeats(
        self, *, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check how long ago name servers received the last heartbeat of each broker."""

    async def check_registration_sizes(
        self,
        cluster_name: str | None = None,
        *,
        broker_addr: str | None = None,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check how close brokers are to the largest registration that a name server reads, 16 MiB."""

    async def check_replicas(
        self, cluster_name: str | None = None, *, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check whether slaves have the topics, groups, offsets and settings of their master."""

    async def check_certificates(
        self, *, warning: str | None = None, critical: str | None = None
    ) -> CheckFinding:
        """Check how many days the certificates of servers and of this client are still valid."""

    async def check_journals(
        self,
        journal_folders: Iterable[str | PathLike[str]] = (),
        *,
        since_seconds: float = 86400.0,
        verify_records: bool = False,
        warning: str | None = None,
        critical: str | None = None,
    ) -> CheckFinding:
        """Check whether journals are written and complete."""

    async def check_drains(self, *, warning: str | None = None, critical: str | None = None) -> CheckFinding:
        """Check whether the drained brokers of this machine still are drained."""

    async def run_all(
        self,
        *,
        topics: Sequence[str] = (),
        groups: Sequence[str] = (),
        journal_folders: Iterable[str | PathLike[str]] = (),
        settle_seconds: float = 50.0,
        limits_by_check: Mapping[str, CheckLimits] | None = None,
        expected_count: int | None = None,
        skipped_checks: Collection[str] = (),
    ) -> ClusterCheckReport:
        """Run all checks that apply, at the same time."""

class AsyncClusterPlans:
    """The desired state of a cluster as a file (`admin.plans`): export, plan, apply."""

    async def export_cluster(self, cluster_name: str, namespaces: Sequence[str] = ()) -> str:
        """Return topics, groups, order configurations and KV config of a cluster as YAML. Needs PyYAML."""

    async def plan_changes(self, file: str | PathLike[str], *, prune: bool = False) -> ClusterPlan:
        """Compare a cluster with a file, and return the steps that make it so. Changes nothing."""

    async def apply_plan(
        self, plan: ClusterPlan, *, max_deletes: int = 10, allow_stranded: bool = False
    ) -> list[StepOutcome]:
        """Carry out a plan as far as possible. Safe to interrupt: plan again to go on."""

    async def save_plan(self, plan: ClusterPlan, path: str | PathLike[str]) -> None:
        """Save a plan, for `plan_changes` or `nsadmin apply`. Only the owner can read the file."""

class AsyncClusterBackups:
    """Backups of clusters, and snapshots of name servers (`admin.backups`). `admin.plans` exports YAML."""

    async def create_backup(
        self,
        cluster_name: str,
        path: str | PathLike[str],
        namespaces: Sequence[str] = (),
        keys: BackupKeys = ...,
    ) -> ClusterBackup:
        """Save topics, groups, offsets, users, ACLs, settings and KV config of a cluster in a file."""

    async def load_backup(self, path: str | PathLike[str], keys: BackupKeys = ...) -> LoadedBackup:
        """Load and verify a backup."""

    async def restore_backup(
        self, backup: ClusterBackup, scope: RestoreScope | None = None, *, dry_run: bool = False
    ) -> list[RestoreOutcome]:
        """Create the items of a backup again, and read every change back. Deletes nothing."""

    async def take_snapshot(self, namespaces: Sequence[str] = ()) -> ClusterSnapshot:
        """Read the state of a name server, without secrets: brokers, topics, KV config, settings."""

    async def save_snapshot(self, snapshot: ClusterSnapshot, path: str | PathLike[str]) -> None:
        """Save a snapshot in a new file, which only the owner can read. Needs zstandard."""

    async def load_snapshot(self, path: str | PathLike[str]) -> ClusterSnapshot:
        """Load a snapshot from a file. Needs zstandard."""

class AsyncClusterBundles:
    """Support bundles (`admin.bundles`). `AdminClient.from_context(bundle=FILE)` reads one."""

    async def create_bundle(
        self,
        path: str | PathLike[str],
        *,
        namespaces: Sequence[str] = (),
        journal_folders: Iterable[str | PathLike[str]] = (),
        since_seconds: float = ...,
        anonymise: bool = False,
        anonymise_names: bool = False,
        requests_per_second: int | None = None,
        max_details: int = ...,
        on_step: Callable[[str], object] = ...,
    ) -> BundleManifest:
        """Save the answers of a cluster in one file, without secrets and messages, like `bundle create`."""

class AsyncClusterRebalance:
    """Plans that level the load of brokers, and their runs (`admin.rebalance`)."""

    async def propose_plan(
        self,
        cluster_name: str,
        *,
        added: Sequence[str] = (),
        removed: Sequence[str] = (),
        goal: Literal["load", "queues", "disk"] = "load",
        topic_patterns: Sequence[str] | None = None,
        sample_seconds: float | None = None,
        journal: str | PathLike[str] | None = None,
        queue_counts: Sequence[int] = (4, 8, 16),
        max_topics: int | None = None,
        max_share: float | None = None,
    ) -> ProposedPlan:
        """Propose queue counts for the topics of a cluster that level the load of its brokers."""

    async def save_plan(self, proposed_plan: ProposedPlan, path: str | PathLike[str]) -> None:
        """Write a plan to a file that a person can edit. Needs PyYAML. Replaces the file."""

    async def load_plan(self, path: str | PathLike[str]) -> RebalancePlan:
        """Read a plan of `save_plan` or of `nsadmin rebalance plan`. Needs PyYAML."""

    async def run_plan(
        self,
        plan: RebalancePlan,
        *,
        on_event: Callable[[EventRecord], object] | None = None,
        dry_run: bool = False,
        rollback: bool = False,
        allow_ordered: bool = False,
        ignored_groups: Collection[str] = (),
        max_topics: int = 10,
        max_share: float = 20,
        max_lag: int | None = None,
        max_disk: float = 85,
        max_send_errors: int = 60,
        timeout_seconds: float | None = None,
        settle_seconds: float = 60,
        interval_seconds: float = 5,
    ) -> RebalanceResult:
        """Move queues as a plan says, like `nsadmin rebalance run`. Returns when it is done or paused."""

class AsyncReplicatedTables:
    """`admin.replication.tables`: reads whole tables of masters and slaves."""

    async def get_topics(self, broker_addrs: Iterable[str]) -> list[ServerResult[ReplicatedTable]]:
        """Return the topics of brokers: topic to settings (GET_ALL_TOPIC_CONFIG, 21)."""

    async def get_groups(self, broker_addrs: Iterable[str]) -> list[ServerResult[ReplicatedTable]]:
        """Return the groups of brokers: group to settings (GET_ALL_SUBSCRIPTIONGROUP_CONFIG, 201)."""

    async def get_offsets(self, broker_addrs: Iterable[str]) -> list[ServerResult[ReplicatedTable]]:
        """Return the committed offsets of brokers (GET_ALL_CONSUMER_OFFSET, 43)."""

class AsyncConfigStores:
    """`admin.upkeep.config_stores`: JSON exports of brokers with RocksDB."""

    async def check_json_export(self, broker_addrs: Iterable[str]) -> list[ServerResult[JsonExportState]]:
        """Check whether brokers can export JSON files, by their settings (GET_BROKER_CONFIG, 26)."""

    async def export_json(
        self, broker_addrs: Iterable[str], config_kinds: Iterable[str]
    ) -> list[ServerResult[bool]]:
        """Make brokers export JSON files (EXPORT_ROCKSDB_CONFIG_TO_JSON, 355; since 5.3.2)."""
