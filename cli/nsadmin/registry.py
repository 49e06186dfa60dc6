"""The table of commands: what there is, where it lives, what it is for. No command is imported here."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from nsadmin.likeness import like

Kind = Literal["read", "change", "delete", "mixed", "local", "check", "batch", "screen", "program"]


class Entry(NamedTuple):
    """One command.

    `kind` says what it does to servers: "change" can be undone, "delete" cannot, "local" has to do with none.
    "mixed" reads or changes, as its words say, and asks `Session.require_writable` itself where it changes.
    A "check" reads, and exits as a plugin of a monitoring system does. "batch" runs other commands. A
    "screen" takes the whole terminal until one leaves it. A "program" gets the words behind its name as they
    are.
    """

    name: str
    module: str
    group: str
    kind: Kind
    help: str

    @property
    def may_change(self) -> bool:
        return self.kind in ("change", "delete", "mixed")

    @property
    def function(self) -> str:
        """The command's name as Python has it: topicRoute is topic_route."""
        return re.sub(r"(?<=[a-z])([A-Z]+)", r"_\1", self.name).lower()


# name, module, kind, help
_GROUPS: dict[str, tuple[tuple[str, str, Kind, str], ...]] = {
    "Clusters": (
        ("clusterList", "clusters", "read", "Brokers with their load and state"),
        ("brokerStatus", "clusters", "read", "All that a broker tells about itself"),
    ),
    "Brokers": (
        ("wipeWritePerm", "brokers", "change", "Stop writes to a broker"),
        ("addWritePerm", "brokers", "change", "Allow writes to a broker again"),
        ("haStatus", "replication", "read", "How far slaves are behind"),
        ("getBrokerConfig", "broker_configs", "read", "Settings in force on brokers"),
        ("updateBrokerConfig", "broker_configs", "change", "Set one item on brokers"),
        ("sendMsgStatus", "probing", "change", "Write test messages to a broker, and time each"),
        ("clusterRT", "probing", "change", "Write test messages to all masters, and time them"),
        ("cleanExpiredCQ", "upkeep", "change", "Delete parts of queues whose messages expired"),
        ("deleteExpiredCommitLog", "upkeep", "delete", "Delete files of the commit log that have expired"),
        ("cleanUnusedTopic", "upkeep", "delete", "Delete queues of topics without config"),
        ("setCommitLogReadAheadMode", "broker_orders", "change", "Say whether commit logs are read ahead"),
        ("switchTimerEngine", "broker_orders", "change", "Choose what keeps timed messages"),
        ("resetMasterFlushOffset", "broker_orders", "delete", "Tell a slave what its master has on its disk"),
        ("checkRocksdbCqWriteProgress", "broker_orders", "read", "Compare queues in files and in RocksDB"),
        ("getColdDataFlowCtrInfo", "cold_data", "read", "How much cold data groups may read, and do"),
        ("updateColdDataFlowCtrGroupConfig", "cold_data", "change", "Let a group read so much cold data"),
        ("removeColdDataFlowCtrGroupConfig", "cold_data", "change", "Let a group read as much as all"),
        ("addBroker", "containers", "change", "Start a broker in a container"),
        ("removeBroker", "containers", "delete", "Stop a broker in a container"),
    ),
    "Draining": (
        ("drain", "drains", "change", "Stop writes to a broker until it can be stopped safely"),
        ("undrain", "drains", "change", "Allow writes again, exactly as before the drain"),
        ("rollingRestart", "restarts", "change", "Restart a cluster, one broker after another"),
        ("drainStatus", "drains", "read", "Drains that are not undone, and what differs now"),
    ),
    "Plan and apply": (
        ("export", "plans", "read", "A cluster's topics, groups and KV config as YAML"),
        ("plan", "plans", "read", "What differs from such a file"),
        ("apply", "plans", "change", "Make a cluster what such a file says"),
    ),
    "Topics": (
        ("topicList", "topics", "read", "Names of topics, or who consumes them"),
        ("topicRoute", "topics", "read", "Brokers and queues of a topic"),
        ("topicClusterList", "topics", "read", "Clusters that have a topic"),
        ("topicStatus", "topic_stats", "read", "Offsets of a topic's queues"),
        ("statsAll", "traffic", "read", "What topics take and groups read"),
        ("allocateMQ", "allocation", "read", "Which client gets which queues"),
        ("updateTopic", "topic_configs", "change", "Create or change a topic"),
        ("updateTopicList", "listed", "change", "Create or change the topics of a file"),
        ("updateTopicPerm", "topic_configs", "change", "Change a topic's permission"),
        ("updateStaticTopic", "static_topics", "change", "Create or enlarge a topic of mapped queues"),
        ("remappingStaticTopic", "static_topics", "change", "Move such queues to other brokers"),
        ("updateOrderConf", "order_conf", "mixed", "Show or write a topic's order configuration"),
        ("deleteTopic", "topics", "delete", "Delete a topic with its messages"),
    ),
    "Lite topics": (
        ("getBrokerLiteInfo", "lite_topics", "read", "What brokers have of lite topics"),
        ("getParentTopicInfo", "lite_topics", "read", "How many lite topics a parent topic has"),
        ("getLiteTopicInfo", "lite_topics", "read", "Offsets and subscribers of a lite topic"),
        ("getLiteClientInfo", "lite_topics", "read", "Lite topics that a client subscribes to"),
        ("getLiteGroupInfo", "lite_topics", "read", "How far a group is behind on lite topics"),
        ("triggerLiteDispatch", "lite_topics", "change", "Have brokers look anew what clients can get"),
    ),
    "Planning": (
        ("whatIf", "what_if", "read", "What is lost without some brokers or name servers"),
        ("spread", "spread", "read", "Topics that not all brokers have evenly"),
        ("orphans", "orphans", "mixed", "Topics without a broker, a name server or a group"),
        ("registrationSize", "registration_size", "read", "How near registrations are to their limit"),
    ),
    "Consumers": (
        ("consumerProgress", "consumers", "read", "How far a group is behind, or all groups"),
        ("consumerConnection", "consumers", "read", "Clients of a group, and what they subscribe to"),
        ("consumerStatus", "consumer_status", "read", "What the clients of a group tell about themselves"),
        ("brokerConsumeStats", "consumers", "read", "How far all groups are behind on one broker"),
        ("getConsumerConfig", "groups", "read", "Settings of a group"),
        ("updateSubGroup", "groups", "change", "Create or change a group"),
        ("updateSubGroupList", "listed", "change", "Create or change the groups of a file"),
        ("deleteSubGroup", "groups", "delete", "Delete a group"),
        ("getConsumeMode", "consume_modes", "read", "Which groups were told to pull or to pop"),
        ("setConsumeMode", "consume_modes", "change", "Have a group pull, or pop"),
        ("resetOffsetByTime", "offsets", "delete", "Move a group to a time or an offset"),
        ("skipAccumulatedMessage", "offsets", "delete", "Move a group to the end of a topic"),
        ("cloneGroupOffset", "offsets", "delete", "Move a group to where another one is"),
    ),
    "Diagnosis": (
        ("routeExplain", "route_explain", "read", 'Why a client gets "No route info of this topic"'),
    ),
    "Producers": (
        ("producer", "producers", "read", "All producers of a broker, or of all"),
        ("producerConnection", "producers", "read", "Clients of a group"),
    ),
    "Messages": (
        ("queryMsgByKey", "messages", "read", "Messages with a business key"),
        ("queryMsgByUniqueKey", "messages", "mixed", "Messages by the id in a producer's log"),
        ("queryMsgById", "messages", "mixed", "A message by an id of either kind"),
        ("queryMsgByOffset", "messages", "read", "The message at one place of a queue"),
        ("printMsgByQueue", "queue_reading", "read", "Messages in one queue, or its tags"),
        ("printMsg", "queue_reading", "read", "Messages in all queues of a topic"),
        ("consumeMessage", "queue_reading", "read", "Messages from an offset or a time on"),
        ("dumpCompactionLog", "compaction_log", "read", "Messages in a file of a broker"),
        ("queryCq", "consume_queues", "read", "Entries of a queue as brokers have them"),
        ("checkMsgSendRT", "probing", "change", "Write test messages to a topic, and time each"),
        ("sendMessage", "sending", "change", "Send one text message to a topic"),
        ("queryMsgTraceById", "traces", "read", "Who sent and who consumed a message"),
    ),
    "Access control": (
        ("listUser", "users", "read", "Users of brokers, and where brokers differ"),
        ("getUser", "users", "read", "One user of brokers"),
        ("createUser", "users", "change", "Make a user"),
        ("updateUser", "users", "change", "Change a user's password, type or status"),
        ("copyUser", "users", "change", "Copy users from one broker to another"),
        ("deleteUser", "users", "delete", "Delete a user with his ACL"),
        ("listAcl", "acls", "read", "What users may do on brokers"),
        ("getAcl", "acls", "read", "What one user may do on brokers"),
        ("createAcl", "acls", "change", "Allow or deny a user something"),
        ("updateAcl", "acls", "change", "Allow or deny a user something else"),
        ("copyAcl", "acls", "change", "Copy ACLs from one broker to another"),
        ("deleteAcl", "acls", "delete", "Delete an ACL, or what it says of resources"),
        ("getAclConfig", "plain_acls", "read", "Accounts of 4.x brokers"),
        ("clusterAclConfigVersion", "plain_acls", "read", "When the ACL files of 4.x brokers changed"),
        ("updateAclConfig", "plain_acls", "change", "Make or change an account of 4.x brokers"),
        ("deleteAclConfig", "plain_acls", "delete", "Delete an account of 4.x brokers"),
        ("updateGlobalWhiteAddr", "plain_acls", "change", "Who need not sign to 4.x brokers"),
    ),
    "Controllers": (
        ("getControllerMetaData", "controllers", "read", "Who leads the controllers"),
        ("getSyncStateSet", "controllers", "read", "Replicas of brokers, and which are in sync"),
        ("getBrokerEpoch", "controllers", "read", "Epochs of brokers under a controller"),
        ("getControllerConfig", "controllers", "read", "Settings of controllers"),
        ("updateControllerConfig", "controllers", "change", "Set one item on controllers"),
        ("electMaster", "controllers", "delete", "Make a replica the master"),
        ("cleanBrokerMetadata", "controllers", "delete", "Have controllers forget replicas"),
    ),
    "Name servers": (
        ("where", "where", "read", "Which are asked, who said so, and whether they answer"),
        ("kvGet", "kv", "read", "One value of the KV config"),
        ("kvList", "kv", "read", "All values of a KV namespace"),
        ("updateKvConfig", "kv", "change", "Write a value of the KV config"),
        ("deleteKvConfig", "kv", "delete", "Delete a value of the KV config"),
        ("getNamesrvConfig", "name_servers", "read", "Settings in force"),
        ("updateNamesrvConfig", "name_servers", "change", "Set one item"),
    ),
    "Comparing": (
        ("divergence", "divergence", "read", "Do the name servers agree, and why not"),
        ("kvDiff", "kv_copies", "read", "What name servers have differently in their KV config"),
        ("kvSync", "kv_copies", "change", "Copy KV config from one name server to the others"),
        ("kvExport", "kv_copies", "read", "KV config as a file"),
        ("kvImport", "kv_copies", "change", "Write the KV config of a file on every name server"),
        ("orderConfCheck", "order_checks", "read", "Whether order configurations fit what is there"),
        (
            "configDiff",
            "config_diff",
            "read",
            "Settings that are not everywhere the same, or not the default",
        ),
    ),
    "Exports": (
        ("exportConfigs", "exports", "read", "Settings of brokers as JSON"),
        ("exportMetadata", "exports", "read", "Topics and groups as JSON"),
        ("exportMetrics", "exports", "read", "Load, versions and sizes as JSON"),
        ("exportMetadataInRocksDB", "rocksdb", "read", "Topics or groups that a broker keeps in RocksDB"),
        ("rocksDBConfigToJson", "rocksdb", "mixed", "What a broker keeps in RocksDB, as JSON"),
        ("exportPopRecord", "pop_records", "change", "Have brokers move pop records to their message stores"),
    ),
    "Contexts": (
        ("contextList", "contexts", "local", "Clusters that are known by name"),
        ("contextShow", "contexts", "local", "One of them"),
        ("contextUse", "contexts", "local", "Choose one for all commands"),
        ("contextSet", "context_set", "local", "Make or change one"),
        ("contextLogin", "credentials", "local", "Store its credentials"),
        ("contextDelete", "contexts", "local", "Forget one"),
    ),
    "History": (
        ("history", "history", "read", "What happened to a topic, a broker or a key"),
        ("routeAt", "past_routes", "read", "The route of a topic at a moment of the past"),
        ("routeDiff", "route_diff", "read", "What differs between two moments or places"),
        ("snapshotSave", "snapshots", "read", "All that name servers know, in a file"),
        ("snapshotShow", "snapshots", "local", "What is in such a file"),
        ("snapshotList", "snapshots", "local", "Such files in a folder"),
    ),
    "Checks": (
        ("checkNamesrv", "checks", "check", "Whether name servers answer"),
        ("checkBrokers", "checks", "check", "Whether brokers answer, and have their masters"),
        ("checkDivergence", "checks", "check", "Whether name servers know the same"),
        ("checkTopic", "checks", "check", "Whether a topic can be written"),
        ("checkWritable", "checks", "check", "Whether all topics can be written"),
        ("checkLag", "checks", "check", "How far a group is behind"),
        ("checkHeartbeat", "upkeep_checks", "check", "How long ago brokers were heard of"),
        (
            "checkRegistrationSize",
            "upkeep_checks",
            "check",
            "How near brokers are to the largest registration",
        ),
        ("checkCertificates", "upkeep_checks", "check", "How long certificates are still valid"),
        ("checkJournal", "upkeep_checks", "check", "Whether journals go on and are whole"),
        ("checkDrain", "upkeep_checks", "check", "Whether drained brokers still are"),
        ("checkAll", "check_all", "check", "Every check that applies"),
        ("securityAudit", "security", "check", "What stands open, and what to do about it"),
        ("startMonitoring", "monitoring", "check", "Every consumer group, again and again"),
    ),
    "Journals": (
        ("journalCat", "journal", "local", "What a name server's journal says"),
        ("journalTail", "journal", "local", "The end of it, and what comes"),
        ("journalStat", "journal", "local", "What is in it, by type of event"),
        ("journalVerify", "journal", "local", "Whether it is whole"),
        ("collect", "collect", "read", "Write journals of name servers that keep none"),
    ),
    "Reports": (
        ("reportRun", "report_run", "program", "Tables of what happened, out of journals and logs"),
        ("reportStream", "report_stream", "program", "The same, again and again"),
        ("reportShow", "report_pages", "local", "A report that was made"),
        ("reportHtml", "report_pages", "local", "All reports on one page, with pictures"),
        ("reportMarkdown", "report_pages", "local", "All reports as Markdown"),
    ),
    "Audit": (("auditList", "audit", "local", "Changes that were made from this account"),),
    "Help": (("mqadminMap", "mqadmin_map", "local", "What to type instead of a command of mqadmin"),),
    "Programs": (
        ("tui", "tui", "screen", "The cluster, live, on the whole terminal"),
        ("batch", "batch", "batch", "Run many commands, one a line"),
        ("namesrv", "namesrv", "program", "Run a name server here"),
        ("lab", "lab", "program", "Run a name server and simulated brokers, to play with"),
        ("completion", "completion", "program", "Write the completion of a shell"),
    ),
}

_HIDDEN = (Entry("complete", "complete", "Programs", "program", "Values for a TAB"),)
"""For other programs: named in no list of commands."""

COMMANDS = tuple(
    Entry(name, module, group, kind, text)
    for group, entries in _GROUPS.items()
    for name, module, kind, text in entries
)


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


_BY_NAME = {_plain(entry.name): entry for entry in COMMANDS}
_ALL = {**_BY_NAME, **{_plain(entry.name): entry for entry in _HIDDEN}}


def find(word: str) -> Entry | None:
    """The command of that name: topicRoute, TOPICROUTE, topic-route and topic_route are the same."""
    return _ALL.get(_plain(word))


def take(words: Sequence[str]) -> tuple[Entry | None, list[str]]:
    """The command that a line begins with, its name in one word or in two, and what stands behind it."""
    entry = find(words[0])
    if entry is None and len(words) > 1 and words[1][:1].isalpha():
        entry = find(words[0] + words[1])
        if entry is not None:
            return entry, list(words[2:])
    return entry, list(words[1:])


def checks() -> list[str]:
    """What stands behind `check`."""
    return [entry.name[5:6].lower() + entry.name[6:] for entry in named_checks()]


def named_checks() -> list[Entry]:
    """The commands that are also typed as `check NAME`."""
    return [entry for entry in COMMANDS if entry.kind == "check" and entry.name.startswith("check")]


def nearest(word: str) -> list[str]:
    """Up to three command names that look like this one."""
    return [_BY_NAME[name].name for name in like(_plain(word), _BY_NAME, 0.5)]
