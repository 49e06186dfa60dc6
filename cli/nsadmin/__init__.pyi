"""The public names of `nsadmin`, for type checkers. `make generate` writes this file."""

from namesrv_core import __version__
from namesrv_core.errors import (
    BadRequest,
    BadSettings,
    NoPermission,
    NotSupported,
    OverLimit,
    QueryNotFound,
    RequestError,
    RocketMQError,
    TopicNotExist,
)
from namesrv_core.event_records import Group, MappingInfo, Member, QueueData
from namesrv_core.protocol.command import RemotingCommand
from namesrv_core.protocol.stored_messages import StoredMessage
from namesrv_core.transport.exchange import CallError, Exchange, ExchangeObserver
from nsadmin.aio.async_client import AsyncAdminClient
from nsadmin.client.access.acls import AclChange, AclEntries, AclEntry
from nsadmin.client.access.certificates import CertificateSummary, NoTls
from nsadmin.client.access.exposure import ExposureAnswer
from nsadmin.client.access.plain_acls import AccountChange, AclFile, PlainAccount, PlainAcl
from nsadmin.client.access.users import AlreadyExists, User, UserChange
from nsadmin.client.brokers.broker_configs import BrokerConfig, ConfigItemChange
from nsadmin.client.brokers.broker_routes import BrokerRouteView
from nsadmin.client.brokers.brokers import RuntimeInfo
from nsadmin.client.brokers.clusters import (
    BrokerAddrGroup,
    BrokerStatus,
    ClusterInfo,
    HeartbeatAge,
    HeartbeatListing,
)
from nsadmin.client.brokers.cold_data import ColdData, ColdReads, ThresholdChange
from nsadmin.client.brokers.config_stores import ConfigStores, JsonExportState
from nsadmin.client.brokers.containers import ContainedBroker
from nsadmin.client.brokers.controllers import (
    BrokerEpochs,
    BrokerReplica,
    ControllerMeta,
    MasterEpoch,
    ReplicaSet,
)
from nsadmin.client.brokers.registrations import BrokerRegistrant, WireFields
from nsadmin.client.brokers.replicated_tables import (
    ReplicatedTable,
    ReplicatedTables,
    TableItems,
    TableVersion,
)
from nsadmin.client.brokers.replication import HaStatus, MasterLink, SlaveLink
from nsadmin.client.brokers.targets import BrokerTarget
from nsadmin.client.brokers.upkeep import BrokerSettings
from nsadmin.client.bundles.bundle_file import BundleManifest, LeftOut
from nsadmin.client.connection.access_options import Access, Credentials, Tls
from nsadmin.client.connection.addresses import BadAddress, NameServerFinder, NameServerList
from nsadmin.client.connection.connection_pool import Pool
from nsadmin.client.connection.tunnels.tunnel_targets import KubeTarget, SshTarget, TunnelTarget
from nsadmin.client.consumers.client_runtime import ClientNameServers, RunningClient, RunningGroup
from nsadmin.client.consumers.committed_offsets import CommittedOffset, CommittedOffsets
from nsadmin.client.consumers.connected_clients import (
    ConnectedClient,
    GroupConnections,
    ProducerClient,
    TopicSubscription,
)
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
from nsadmin.client.consumers.running_info import ConsumeStatus, PopQueue, RunningInfo, RunningQueue
from nsadmin.client.message_queues import MessageQueue
from nsadmin.client.messages.bulk_sender import MessageDraft, SentDraft
from nsadmin.client.messages.consume_queues import ConsumeQueueEntry, QueueEntries
from nsadmin.client.messages.consume_tracks import ConsumeTrack
from nsadmin.client.messages.dead_letter_counts import DeadLetterCounts
from nsadmin.client.messages.dead_letter_replay import BrokerReplay, DeadLetterSpan, ReplayOptions
from nsadmin.client.messages.dead_letter_selection import DeadLetter, DeadLetterSelection
from nsadmin.client.messages.dead_letters import DeadLetterPage
from nsadmin.client.messages.delayed_messages import DelayedMessage
from nsadmin.client.messages.message_batches import StoredBatch
from nsadmin.client.messages.message_delivery import DeliveryOutcome, MessageReceiver
from nsadmin.client.messages.message_queries import FoundMessages, LocatedMessage
from nsadmin.client.messages.message_sender import OutgoingMessage, SendQueue, SentMessage
from nsadmin.client.messages.message_traces import FoundTraces, MessageTrace
from nsadmin.client.messages.offset_ranges import OffsetRanges
from nsadmin.client.messages.queue_reader import MessagePage, MessagePlace, QueueSpan, SpanResult
from nsadmin.client.messages.replay_memory import PendingBatch, ReplayMemory, ReplayPlace
from nsadmin.client.messages.send_probes import SendProbe
from nsadmin.client.messages.topic_follower import FollowedPage, FollowStart, TopicFollower
from nsadmin.client.name_servers.kv_config import KvChange, KvTables
from nsadmin.client.name_servers.name_server_configs import NameServerPulse, NamesrvConfig
from nsadmin.client.name_servers.name_server_tables import NameServerListing, NullableTexts, TopicQueues
from nsadmin.client.proxies.client_heartbeats import ClientHeartbeat, ProxyIdentity
from nsadmin.client.proxies.cluster_clients import ClientList, ClusterClient
from nsadmin.client.proxies.heartbeat_reader import ProxyHeartbeats
from nsadmin.client.proxies.proxies import ProxyList, ProxyStatus
from nsadmin.client.results import (
    AlreadyRecreated,
    ClientClosed,
    DuplicateServer,
    NoneReachable,
    NotApplied,
    NotFound,
    ReadOnlyAccess,
    ServerResult,
    error_text,
    is_denied,
    is_not_found,
    is_unreachable,
)
from nsadmin.client.snapshots import ClusterSnapshot, InvalidSnapshotError, TextTable
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
    LiteLag,
    LiteOffsets,
    LiteTopic,
    ParentTopic,
)
from nsadmin.client.topics.put_counts import MinuteStats
from nsadmin.client.topics.queue_mappings import BrokerQueueShare, QueueMappingItem
from nsadmin.client.topics.topic_configs import BrokerTopicConfig, TopicConfigChange, TopicPatch
from nsadmin.client.topics.topic_deletion import DeletionStep, ServerRole, TopicDeletion
from nsadmin.client.topics.topic_stats import BrokerTopicStats, QueueStats, TopicStats
from nsadmin.client.topics.topic_traffic import MessageCount, TopicTraffic
from nsadmin.client.topics.topic_usage import TopicUsage
from nsadmin.client.topics.topic_views import BrokerTopicView, NameServerTopicView
from nsadmin.library.admin_client import AdminClient
from nsadmin.library.cluster_checks import ClusterCheckReport
from nsadmin.library.cluster_plans import ClusterPlan, StrandedMessagesError
from nsadmin.library.cluster_rebalance import RebalanceResult
from nsadmin.library.drain_procedure import DrainResult, RestoredServer
from nsadmin.library.name_server_divergence import Divergence
from nsadmin.library.service_checks import CheckLimits
from nsadmin.operations.backups.archive import BackupKeys, InvalidBackupError, LoadedBackup
from nsadmin.operations.backups.records import (
    BackupSettings,
    BrokerBackup,
    ClusterBackup,
    SavedOffset,
    Section,
)
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.restore_scope import RestoreScope
from nsadmin.operations.backups.signatures import InvalidKeyError
from nsadmin.operations.checks.findings import (
    AlertLimits,
    CheckFinding,
    CheckMeasure,
    CheckSample,
    CheckState,
)
from nsadmin.operations.checks.ranges import AlertRange
from nsadmin.operations.divergence.comparison import (
    ComparedItem,
    ComparedValue,
    ItemDifference,
    SnapshotComparison,
)
from nsadmin.operations.divergence.evidence import DivergenceCause
from nsadmin.operations.divergence.findings import DivergenceVerdict, DriftFinding, FindingState
from nsadmin.operations.divergence.observer import DivergenceObservation
from nsadmin.operations.drain.events import EventRecord
from nsadmin.operations.drain.risks import DrainRisk
from nsadmin.operations.drain.runner import DrainRefused
from nsadmin.operations.drain.state import InvalidStateError
from nsadmin.operations.drain.undo import DrainBusyError
from nsadmin.operations.inventory.records import ExpectedBroker, MissingBroker
from nsadmin.operations.plans.diff import PlanStep, PlanTrouble, StepAction, StepKind
from nsadmin.operations.plans.executor import StepOutcome
from nsadmin.operations.plans.plan_file import SavedPlan
from nsadmin.operations.plans.records import DesiredCluster, ItemSpec
from nsadmin.operations.plans.settings import ItemSettings, SpreadKind
from nsadmin.operations.plans.yaml_reader import InvalidPlanFileError
from nsadmin.operations.rebalance.load_state import LevelResult
from nsadmin.operations.rebalance.plan_builder import ProposedPlan
from nsadmin.operations.rebalance.rebalance_plan import (
    BrokerShares,
    LoadShares,
    QueuePair,
    RebalanceMove,
    RebalancePlan,
)

__all__ = [
    "Access",
    "AccountChange",
    "AclChange",
    "AclEntries",
    "AclEntry",
    "AclFile",
    "AdminClient",
    "AlertLimits",
    "AlertRange",
    "AlreadyExists",
    "AlreadyRecreated",
    "AssignedMode",
    "AsyncAdminClient",
    "AttributeChanges",
    "BackupKeys",
    "BackupSettings",
    "BadAddress",
    "BadRequest",
    "BadSettings",
    "BrokerAddrGroup",
    "BrokerBackup",
    "BrokerConfig",
    "BrokerEpochs",
    "BrokerLiteInfo",
    "BrokerQueueShare",
    "BrokerRegistrant",
    "BrokerReplay",
    "BrokerReplica",
    "BrokerRouteView",
    "BrokerSettings",
    "BrokerShares",
    "BrokerStatus",
    "BrokerTarget",
    "BrokerTopicConfig",
    "BrokerTopicStats",
    "BrokerTopicTable",
    "BrokerTopicView",
    "BundleManifest",
    "CallError",
    "CertificateSummary",
    "CheckFinding",
    "CheckLimits",
    "CheckMeasure",
    "CheckSample",
    "CheckState",
    "ClientClosed",
    "ClientHeartbeat",
    "ClientList",
    "ClientNameServers",
    "ClusterBackup",
    "ClusterCheckReport",
    "ClusterClient",
    "ClusterInfo",
    "ClusterPlan",
    "ClusterSnapshot",
    "ColdData",
    "ColdReads",
    "CommittedOffset",
    "CommittedOffsets",
    "ComparedItem",
    "ComparedValue",
    "ConfigItemChange",
    "ConfigStores",
    "ConnectedClient",
    "ConsumeMode",
    "ConsumeQueueEntry",
    "ConsumeStats",
    "ConsumeStatus",
    "ConsumeTrack",
    "ContainedBroker",
    "ControllerMeta",
    "Credentials",
    "DeadLetter",
    "DeadLetterCounts",
    "DeadLetterPage",
    "DeadLetterSelection",
    "DeadLetterSpan",
    "DelayedMessage",
    "DeletionStep",
    "DeliveryOutcome",
    "DesiredCluster",
    "DesiredConfig",
    "Divergence",
    "DivergenceCause",
    "DivergenceObservation",
    "DivergenceVerdict",
    "DrainBusyError",
    "DrainRefused",
    "DrainResult",
    "DrainRisk",
    "DriftFinding",
    "DuplicateServer",
    "EventRecord",
    "Exchange",
    "ExchangeObserver",
    "ExpectedBroker",
    "ExposureAnswer",
    "FindingState",
    "FollowStart",
    "FollowedPage",
    "FoundMessages",
    "FoundTraces",
    "Group",
    "GroupChange",
    "GroupConfigFields",
    "GroupConnections",
    "GroupProgress",
    "GroupQueueLag",
    "GroupSettings",
    "HaStatus",
    "HeartbeatAge",
    "HeartbeatListing",
    "InvalidBackupError",
    "InvalidKeyError",
    "InvalidPlanFileError",
    "InvalidSnapshotError",
    "InvalidStateError",
    "ItemDifference",
    "ItemSettings",
    "ItemSpec",
    "JsonExportState",
    "KubeTarget",
    "KvChange",
    "KvTables",
    "KvValue",
    "KvValuesByNamespace",
    "LeftOut",
    "LevelResult",
    "LiteClient",
    "LiteGroup",
    "LiteLag",
    "LiteOffsets",
    "LiteTopic",
    "LoadShares",
    "LoadedBackup",
    "LocatedMessage",
    "MappingInfo",
    "MasterEpoch",
    "MasterLink",
    "Member",
    "MessageCount",
    "MessageDraft",
    "MessagePage",
    "MessagePlace",
    "MessageQueue",
    "MessageReceiver",
    "MessageTrace",
    "MinuteStats",
    "MissingBroker",
    "ModeChange",
    "NameServerFinder",
    "NameServerList",
    "NameServerListing",
    "NameServerPulse",
    "NameServerTopicView",
    "NamesrvConfig",
    "NoPermission",
    "NoTls",
    "NoneReachable",
    "NotApplied",
    "NotFound",
    "NotSupported",
    "NullableTexts",
    "OffsetCommit",
    "OffsetMove",
    "OffsetPlan",
    "OffsetRanges",
    "OutgoingMessage",
    "OverLimit",
    "ParentTopic",
    "PendingBatch",
    "PermissionsByTopic",
    "PlainAccount",
    "PlainAcl",
    "PlanStep",
    "PlanTrouble",
    "Pool",
    "PopQueue",
    "ProducerClient",
    "ProducerConnections",
    "ProposedPlan",
    "ProxyHeartbeats",
    "ProxyIdentity",
    "ProxyList",
    "ProxyStatus",
    "QueryNotFound",
    "QueueBounds",
    "QueueClosure",
    "QueueData",
    "QueueEntries",
    "QueueMappingItem",
    "QueuePair",
    "QueueRoute",
    "QueueSpan",
    "QueueStats",
    "ReadOnlyAccess",
    "RebalanceMove",
    "RebalancePlan",
    "RebalanceResult",
    "RemotingCommand",
    "ReplayMemory",
    "ReplayOptions",
    "ReplayPlace",
    "ReplicaSet",
    "ReplicatedTable",
    "ReplicatedTables",
    "RequestError",
    "RestoreOutcome",
    "RestoreScope",
    "RestoredServer",
    "RocketMQError",
    "RunningClient",
    "RunningGroup",
    "RunningInfo",
    "RunningQueue",
    "RuntimeInfo",
    "SavedOffset",
    "SavedPlan",
    "Section",
    "SendProbe",
    "SendQueue",
    "SentDraft",
    "SentMessage",
    "ServerResult",
    "ServerRole",
    "SlaveLink",
    "SnapshotComparison",
    "SpanResult",
    "SpreadKind",
    "SshTarget",
    "StepAction",
    "StepKind",
    "StepOutcome",
    "StoredBatch",
    "StoredMessage",
    "StrandedMessagesError",
    "TableItems",
    "TableVersion",
    "TextTable",
    "ThresholdChange",
    "Tls",
    "TopicConfigChange",
    "TopicDeletion",
    "TopicFollower",
    "TopicNotExist",
    "TopicPatch",
    "TopicQueues",
    "TopicRoute",
    "TopicStats",
    "TopicSubscription",
    "TopicTraffic",
    "TopicUsage",
    "TunnelTarget",
    "User",
    "UserChange",
    "WireConfig",
    "WireFields",
    "__version__",
    "error_text",
    "is_denied",
    "is_not_found",
    "is_unreachable",
]
