"""The table of commands: name, module, kind and help of each. It names modules and imports none."""

import re
from typing import Literal, NamedTuple

CommandKind = Literal["read", "change", "delete", "mixed", "local", "check", "batch", "screen", "program"]


class CommandEntry(NamedTuple):
    """One command.

    `name` is the machine name, such as `kvGet`: audit records and JSON contain it, and it is accepted as an
    alias. `category` is the heading in help and documentation. `group` is the first word of a two-word
    command, "" for all others.

    `kind` says what the command does to servers: the effect of "change" can be undone, that of "delete"
    cannot. "local" sends no request. "mixed" reads or changes, depending on its arguments, and calls
    `Session.require_writable` itself before it changes. A "check" reads, and its exit codes are those of
    monitoring plugins. "batch" runs other commands. A "screen" occupies the whole terminal. A "program"
    parses its own arguments.
    """

    name: str
    module_name: str
    category: str
    kind: CommandKind
    help: str
    group: str = ""

    @property
    def typed_name(self) -> str:
        """The name as help and documentation write it: `kv get`, `topicRoute`."""
        return f"{self.group} {self.member_name}" if self.group else self.name

    @property
    def member_name(self) -> str:
        """The word after the group's name: the `get` of `kv get`."""
        member_name = self.name[len(self.group) :]
        return member_name[:1].lower() + member_name[1:]

    @property
    def may_change(self) -> bool:
        return self.kind in ("change", "delete", "mixed")

    @property
    def function_name(self) -> str:
        """The name of the command's function: topic_route for topicRoute."""
        return re.sub(r"(?<=[a-z])([A-Z]+)", r"_\1", self.name).lower()


COMMAND_GROUPS = {
    "audit": "The record of changes made from this account",
    "check": "Checks for monitoring systems",
    "context": "Clusters that you saved under a name",
    "inventory": "The brokers that nsadmin expects",
    "journal": "The journal of a name server: every change of its tables",
    "kv": "The KV config of the name servers",
    "repair": "Registrations that name servers and broker disagree about",
    "report": "Availability and drain reports from journals and logs",
    "route": "The route of a topic: why it is missing, and how it changed",
    "snapshot": "The complete state of the name servers, saved in a file",
}
"""The groups of two-word commands, with their help."""

# name, module, kind, help
_COMMANDS_BY_CATEGORY: dict[str, tuple[tuple[str, str, CommandKind, str], ...]] = {
    "Clusters": (
        ("clusterList", "brokers.clusters", "read", "Brokers with their load and state"),
        ("brokerStatus", "brokers.clusters", "read", "All that a broker tells about itself"),
        ("inventory list", "brokers.inventory", "read", "Brokers that should be there, and missing ones"),
        ("inventory forget", "brokers.inventory", "read", "Expect a broker no longer"),
        ("inventory pin", "brokers.inventory", "read", "Expect a broker until it is forgotten"),
    ),
    "Brokers": (
        ("wipeWritePerm", "brokers.write_permission", "change", "Stop writes to a broker"),
        ("addWritePerm", "brokers.write_permission", "change", "Allow writes to a broker again"),
        (
            "repair wipe",
            "brokers.registration_repair",
            "change",
            "Give topics the broker's own permissions again",
        ),
        (
            "repair register",
            "brokers.registration_repair",
            "change",
            "Make a broker register all of its topics",
        ),
        ("haStatus", "brokers.replication", "read", "How far slaves are behind"),
        ("getBrokerConfig", "brokers.broker_configs", "read", "Settings in force on brokers"),
        ("updateBrokerConfig", "brokers.broker_configs", "change", "Set one item on brokers"),
        ("sendMsgStatus", "messages.send_probes", "change", "Write test messages to a broker, and time each"),
        ("clusterRT", "messages.send_probes", "change", "Write test messages to all masters, and time them"),
        ("cleanExpiredCQ", "brokers.upkeep", "change", "Delete parts of queues whose messages expired"),
        (
            "deleteExpiredCommitLog",
            "brokers.upkeep",
            "delete",
            "Delete files of the commit log that have expired",
        ),
        ("cleanUnusedTopic", "brokers.upkeep", "delete", "Delete queues of topics without config"),
        (
            "setCommitLogReadAheadMode",
            "brokers.storage_settings",
            "change",
            "Say whether commit logs are read ahead",
        ),
        ("switchTimerEngine", "brokers.storage_settings", "change", "Choose what keeps timed messages"),
        (
            "resetMasterFlushOffset",
            "brokers.storage_settings",
            "delete",
            "Tell a slave what its master has on its disk",
        ),
        (
            "checkRocksdbCqWriteProgress",
            "brokers.storage_settings",
            "read",
            "Compare queues in files and in RocksDB",
        ),
        ("getColdDataFlowCtrInfo", "brokers.cold_data", "read", "How much cold data groups may read, and do"),
        (
            "updateColdDataFlowCtrGroupConfig",
            "brokers.cold_data",
            "change",
            "Let a group read so much cold data",
        ),
        (
            "removeColdDataFlowCtrGroupConfig",
            "brokers.cold_data",
            "change",
            "Let a group read as much as all",
        ),
        ("addBroker", "brokers.containers", "change", "Start a broker in a container"),
        ("removeBroker", "brokers.containers", "delete", "Stop a broker in a container"),
    ),
    "Draining": (
        ("drain", "procedures.drain", "change", "Stop writes to a broker until it can be stopped safely"),
        ("undrain", "procedures.drain", "change", "Allow writes again, exactly as before the drain"),
        (
            "rollingRestart",
            "procedures.rolling_restart",
            "change",
            "Restart a cluster, one broker after another",
        ),
        ("drainStatus", "procedures.drain", "read", "Drains that are not undone, and what differs now"),
    ),
    "Plan and apply": (
        ("export", "procedures.plan_apply", "read", "A cluster's topics, groups and KV config as YAML"),
        ("plan", "procedures.plan_apply", "read", "What differs from such a file"),
        ("apply", "procedures.plan_apply", "change", "Make a cluster what such a file says"),
    ),
    "Topics": (
        ("topicList", "topics.topics", "read", "Names of topics, or who consumes them"),
        ("topicRoute", "topics.topics", "read", "Brokers and queues of a topic"),
        ("topicClusterList", "topics.topics", "read", "Clusters that have a topic"),
        ("topicStatus", "topics.topic_stats", "read", "Offsets of a topic's queues"),
        ("statsAll", "topics.topic_traffic", "read", "What topics take and groups read"),
        ("allocateMQ", "consumers.queue_allocation", "read", "Which client gets which queues"),
        ("updateTopic", "topics.topic_configs", "change", "Create or change a topic"),
        ("updateTopicList", "procedures.bulk_update", "change", "Create or change the topics of a file"),
        ("updateTopicPerm", "topics.topic_configs", "change", "Change a topic's permission"),
        ("updateStaticTopic", "topics.static_topics", "change", "Create or enlarge a topic of mapped queues"),
        ("remappingStaticTopic", "topics.static_topics", "change", "Move such queues to other brokers"),
        (
            "updateOrderConf",
            "name_servers.order_confs",
            "mixed",
            "Show or write a topic's order configuration",
        ),
        ("deleteTopic", "topics.topics", "delete", "Delete a topic with its messages"),
    ),
    "Lite topics": (
        ("getBrokerLiteInfo", "topics.lite_topics", "read", "What brokers have of lite topics"),
        ("getParentTopicInfo", "topics.lite_topics", "read", "How many lite topics a parent topic has"),
        ("getLiteTopicInfo", "topics.lite_topics", "read", "Offsets and subscribers of a lite topic"),
        ("getLiteClientInfo", "topics.lite_topics", "read", "Lite topics that a client subscribes to"),
        ("getLiteGroupInfo", "topics.lite_topics", "read", "How far a group is behind on lite topics"),
        (
            "triggerLiteDispatch",
            "topics.lite_topics",
            "change",
            "Have brokers look anew what clients can get",
        ),
    ),
    "Planning": (
        ("whatIf", "procedures.what_if", "read", "What is lost without some brokers or name servers"),
        ("spread", "procedures.spread", "read", "Topics that not all brokers have evenly"),
        ("orphans", "procedures.orphans", "mixed", "Topics without a broker, a name server or a group"),
        (
            "registrationSize",
            "brokers.registration_size",
            "read",
            "How near registrations are to their limit",
        ),
    ),
    "Consumers": (
        (
            "consumerProgress",
            "consumers.consumer_progress",
            "read",
            "How far a group is behind, or all groups",
        ),
        (
            "consumerConnection",
            "consumers.consumer_progress",
            "read",
            "Clients of a group, and what they subscribe to",
        ),
        (
            "consumerStatus",
            "consumers.consumer_status",
            "read",
            "What the clients of a group tell about themselves",
        ),
        (
            "brokerConsumeStats",
            "consumers.consumer_progress",
            "read",
            "How far all groups are behind on one broker",
        ),
        ("getConsumerConfig", "consumers.groups", "read", "Settings of a group"),
        ("updateSubGroup", "consumers.groups", "change", "Create or change a group"),
        ("updateSubGroupList", "procedures.bulk_update", "change", "Create or change the groups of a file"),
        ("deleteSubGroup", "consumers.groups", "delete", "Delete a group"),
        ("getConsumeMode", "consumers.consume_modes", "read", "Which groups were told to pull or to pop"),
        ("setConsumeMode", "consumers.consume_modes", "change", "Have a group pull, or pop"),
        ("resetOffsetByTime", "consumers.offset_moves", "delete", "Move a group to a time or an offset"),
        ("skipAccumulatedMessage", "consumers.offset_moves", "delete", "Move a group to the end of a topic"),
        ("cloneGroupOffset", "consumers.offset_moves", "delete", "Move a group to where another one is"),
    ),
    "Diagnosis": (
        (
            "route explain",
            "procedures.route_explain",
            "read",
            'Why a client gets "No route info of this topic"',
        ),
    ),
    "Producers": (
        ("producer", "consumers.producers", "read", "All producers of a broker, or of all"),
        ("producerConnection", "consumers.producers", "read", "Clients of a group"),
    ),
    "Messages": (
        ("queryMsgByKey", "messages.message_queries", "read", "Messages with a business key"),
        (
            "queryMsgByUniqueKey",
            "messages.message_queries",
            "mixed",
            "Messages by the id in a producer's log",
        ),
        ("queryMsgById", "messages.message_queries", "mixed", "A message by an id of either kind"),
        ("queryMsgByOffset", "messages.message_queries", "read", "The message at one place of a queue"),
        ("printMsgByQueue", "messages.queue_reader", "read", "Messages in one queue, or its tags"),
        ("printMsg", "messages.queue_reader", "read", "Messages in all queues of a topic"),
        ("consumeMessage", "messages.queue_reader", "read", "Messages from an offset or a time on"),
        ("dumpCompactionLog", "messages.compaction_log", "read", "Messages in a file of a broker"),
        ("queryCq", "messages.consume_queues", "read", "Entries of a queue as brokers have them"),
        ("checkMsgSendRT", "messages.send_probes", "change", "Write test messages to a topic, and time each"),
        ("sendMessage", "messages.message_sender", "change", "Send one text message to a topic"),
        ("queryMsgTraceById", "messages.message_traces", "read", "Who sent and who consumed a message"),
    ),
    "Access control": (
        ("listUser", "access.users", "read", "Users of brokers, and where brokers differ"),
        ("getUser", "access.users", "read", "One user of brokers"),
        ("createUser", "access.users", "change", "Make a user"),
        ("updateUser", "access.users", "change", "Change a user's password, type or status"),
        ("copyUser", "access.users", "change", "Copy users from one broker to another"),
        ("deleteUser", "access.users", "delete", "Delete a user with his ACL"),
        ("listAcl", "access.acls", "read", "What users may do on brokers"),
        ("getAcl", "access.acls", "read", "What one user may do on brokers"),
        ("createAcl", "access.acls", "change", "Allow or deny a user something"),
        ("updateAcl", "access.acls", "change", "Allow or deny a user something else"),
        ("copyAcl", "access.acls", "change", "Copy ACLs from one broker to another"),
        ("deleteAcl", "access.acls", "delete", "Delete an ACL, or what it says of resources"),
        ("getAclConfig", "access.plain_acls", "read", "Accounts of 4.x brokers"),
        ("clusterAclConfigVersion", "access.plain_acls", "read", "When the ACL files of 4.x brokers changed"),
        ("updateAclConfig", "access.plain_acls", "change", "Make or change an account of 4.x brokers"),
        ("deleteAclConfig", "access.plain_acls", "delete", "Delete an account of 4.x brokers"),
        ("updateGlobalWhiteAddr", "access.plain_acls", "change", "Who need not sign to 4.x brokers"),
    ),
    "Controllers": (
        ("getControllerMetaData", "brokers.controllers", "read", "Who leads the controllers"),
        ("getSyncStateSet", "brokers.controllers", "read", "Replicas of brokers, and which are in sync"),
        ("getBrokerEpoch", "brokers.controllers", "read", "Epochs of brokers under a controller"),
        ("getControllerConfig", "brokers.controllers", "read", "Settings of controllers"),
        ("updateControllerConfig", "brokers.controllers", "change", "Set one item on controllers"),
        ("electMaster", "brokers.controllers", "delete", "Make a replica the master"),
        ("cleanBrokerMetadata", "brokers.controllers", "delete", "Have controllers forget replicas"),
    ),
    "Name servers": (
        ("where", "name_servers.where", "read", "Which are asked, who said so, and whether they answer"),
        ("kv get", "name_servers.kv_config", "read", "One value of the KV config"),
        ("kv list", "name_servers.kv_config", "read", "All values of a KV namespace"),
        ("updateKvConfig", "name_servers.kv_config", "change", "Write a value of the KV config"),
        ("deleteKvConfig", "name_servers.kv_config", "delete", "Delete a value of the KV config"),
        ("getNamesrvConfig", "name_servers.name_server_configs", "read", "Settings in force"),
        ("updateNamesrvConfig", "name_servers.name_server_configs", "change", "Set one item"),
    ),
    "Comparing": (
        ("divergence", "procedures.divergence", "read", "Do the name servers agree, and why not"),
        (
            "kv diff",
            "name_servers.kv_copies",
            "read",
            "What name servers have differently in their KV config",
        ),
        ("kv sync", "name_servers.kv_copies", "change", "Copy KV config from one name server to the others"),
        ("kv export", "name_servers.kv_copies", "read", "KV config as a file"),
        (
            "kv import",
            "name_servers.kv_copies",
            "change",
            "Write the KV config of a file on every name server",
        ),
        (
            "orderConfCheck",
            "name_servers.order_conf_check",
            "read",
            "Whether order configurations fit what is there",
        ),
        (
            "configDiff",
            "procedures.config_diff",
            "read",
            "Settings that are not everywhere the same, or not the default",
        ),
    ),
    "Exports": (
        ("exportConfigs", "brokers.cluster_export", "read", "Settings of brokers as JSON"),
        ("exportMetadata", "brokers.cluster_export", "read", "Topics and groups as JSON"),
        ("exportMetrics", "brokers.cluster_export", "read", "Load, versions and sizes as JSON"),
        (
            "exportMetadataInRocksDB",
            "brokers.rocksdb_export",
            "read",
            "Topics or groups that a broker keeps in RocksDB",
        ),
        ("rocksDBConfigToJson", "brokers.rocksdb_export", "mixed", "What a broker keeps in RocksDB, as JSON"),
        (
            "exportPopRecord",
            "consumers.pop_records",
            "change",
            "Have brokers move pop records to their message stores",
        ),
    ),
    "Contexts": (
        ("context list", "contexts.saved_contexts", "local", "Clusters that are known by name"),
        ("context show", "contexts.saved_contexts", "local", "One of them"),
        ("context use", "contexts.saved_contexts", "local", "Choose one for all commands"),
        ("context set", "contexts.context_set", "local", "Make or change one"),
        ("context login", "contexts.context_login", "local", "Store its credentials"),
        ("context delete", "contexts.saved_contexts", "local", "Forget one"),
    ),
    "History": (
        ("history", "history.history", "read", "What happened to a topic, a broker or a key"),
        ("route at", "history.route_at", "read", "The route of a topic at a moment of the past"),
        ("route diff", "history.route_diff", "read", "What differs between two moments or places"),
        ("snapshot save", "history.snapshots", "read", "All that name servers know, in a file"),
        ("snapshot show", "history.snapshots", "local", "What is in such a file"),
        ("snapshot list", "history.snapshots", "local", "Such files in a folder"),
    ),
    "Checks": (
        ("check namesrv", "checks.service_checks", "check", "Whether name servers answer"),
        ("check brokers", "checks.service_checks", "check", "Whether brokers answer, and have their masters"),
        ("check divergence", "checks.service_checks", "check", "Whether name servers know the same"),
        ("check topic", "checks.service_checks", "check", "Whether a topic can be written"),
        ("check writable", "checks.service_checks", "check", "Whether all topics can be written"),
        ("check lag", "checks.service_checks", "check", "How far a group is behind"),
        ("check heartbeat", "checks.upkeep_checks", "check", "How long ago brokers were heard of"),
        (
            "check registrationSize",
            "checks.upkeep_checks",
            "check",
            "How near brokers are to the largest registration",
        ),
        ("check certificates", "checks.upkeep_checks", "check", "How long certificates are still valid"),
        ("check journal", "checks.upkeep_checks", "check", "Whether journals go on and are whole"),
        ("check drain", "checks.upkeep_checks", "check", "Whether drained brokers still are"),
        ("check all", "checks.check_all", "check", "Every check that applies"),
        ("securityAudit", "access.security_audit", "check", "What stands open, and what to do about it"),
        ("startMonitoring", "checks.group_monitor", "check", "Every consumer group, again and again"),
    ),
    "Journals": (
        ("journal cat", "history.journals", "local", "What a name server's journal says"),
        ("journal tail", "history.journals", "local", "The end of it, and what comes"),
        ("journal stat", "history.journals", "local", "What is in it, by type of event"),
        ("journal verify", "history.journals", "local", "Whether it is whole"),
        ("collect", "programs.collect", "read", "Write journals of name servers that keep none"),
    ),
    "Reports": (
        ("report run", "reports.report_run", "program", "Tables of what happened, out of journals and logs"),
        ("report stream", "reports.report_stream", "program", "The same, again and again"),
        ("report show", "reports.report_pages", "local", "A report that was made"),
        ("report html", "reports.report_pages", "local", "All reports on one page, with pictures"),
        ("report markdown", "reports.report_pages", "local", "All reports as Markdown"),
    ),
    "Audit": (("audit list", "history.audit_list", "local", "Changes that were made from this account"),),
    "Help": (("mqadminMap", "mqadmin.mqadmin_map", "local", "What to type instead of a command of mqadmin"),),
    "Programs": (
        ("tui", "programs.tui", "screen", "The cluster, live, on the whole terminal"),
        ("batch", "programs.batch", "batch", "Run many commands, one a line"),
        ("namesrv", "programs.namesrv", "program", "Run a name server here"),
        ("lab", "programs.lab", "program", "Run a name server and simulated brokers, to play with"),
        ("completion", "programs.shell_completion", "program", "Write the completion of a shell"),
    ),
}

HIDDEN_COMMANDS = (
    CommandEntry("complete", "programs.tab_completion", "Programs", "program", "Values for a TAB"),
)
"""Commands for other programs: no list of commands contains them."""


def _build_entry(
    category: str, typed_name: str, module_name: str, command_kind: CommandKind, help_text: str
) -> CommandEntry:
    group, _, member_name = typed_name.rpartition(" ")
    machine_name = f"{group}{member_name[0].upper()}{member_name[1:]}" if group else member_name
    return CommandEntry(machine_name, module_name, category, command_kind, help_text, group)


COMMANDS = tuple(
    _build_entry(category, *command_fields)
    for category, category_commands in _COMMANDS_BY_CATEGORY.items()
    for command_fields in category_commands
)
