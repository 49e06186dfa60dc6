"""The table of commands: name, module, kind and help of each. It names modules and imports none."""

import re
from typing import Literal, NamedTuple

CommandKind = Literal["read", "change", "delete", "mixed", "local", "check", "batch", "screen", "program"]


class CommandCategory(NamedTuple):
    """A heading of help and documentation; `nsadmin help topics` prints the one with the handle `topics`."""

    handle: str
    title: str
    help: str


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
    category: CommandCategory
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
    "bench": "Throughput and latency of a cluster, measured with a bounded load",
    "check": "Checks for monitoring systems",
    "context": "Clusters that you saved under a name",
    "delayed": "Messages that brokers deliver later",
    "dlq": "Dead letters: the messages that consumer groups failed to consume",
    "inventory": "The brokers that nsadmin expects",
    "journal": "The journal of a name server: every change of its tables",
    "kv": "The KV config of the name servers",
    "message": "One message",
    "repair": "Registrations that name servers and broker disagree about",
    "report": "Availability and drain reports from journals and logs",
    "route": "The route of a topic: why it is missing, and how it changed",
    "snapshot": "The complete state of the name servers, saved in a file",
}
"""The groups of two-word commands, with their help."""

# name, module, kind, help
_COMMANDS_BY_CATEGORY: dict[CommandCategory, tuple[tuple[str, str, CommandKind, str], ...]] = {
    CommandCategory("clusters", "Clusters and brokers", "State, settings and upkeep of brokers"): (
        ("clusterList", "brokers.clusters", "read", "List brokers with their load and state"),
        ("brokerStatus", "brokers.clusters", "read", "Show all runtime figures of a broker"),
        ("haStatus", "brokers.replication", "read", "Show how far slaves are behind their master"),
        ("replicaDiff", "brokers.replica_diff", "read", "Compare slaves with their masters"),
        ("getBrokerConfig", "brokers.broker_configs", "read", "Show the settings of brokers"),
        ("updateBrokerConfig", "brokers.broker_configs", "change", "Change a setting of brokers"),
        ("configDiff", "procedures.config_diff", "read", "Compare settings across brokers and with defaults"),
        ("inventory list", "brokers.inventory", "read", "List expected brokers, also missing ones"),
        ("inventory forget", "brokers.inventory", "read", "Stop expecting a broker"),
        ("inventory pin", "brokers.inventory", "read", "Expect a broker until you forget it"),
        ("sendMsgStatus", "messages.send_probes", "change", "Time test messages to one broker"),
        ("clusterRT", "messages.send_probes", "change", "Time test messages to every master"),
        ("cleanExpiredCQ", "brokers.upkeep", "change", "Delete consume queue files of expired messages"),
        ("deleteExpiredCommitLog", "brokers.upkeep", "delete", "Delete expired commit log files"),
        ("cleanUnusedTopic", "brokers.upkeep", "delete", "Delete consume queues of topics without config"),
        (
            "setCommitLogReadAheadMode",
            "brokers.storage_settings",
            "change",
            "Switch read-ahead of commit logs",
        ),
        ("switchTimerEngine", "brokers.storage_settings", "change", "Choose the store of timed messages"),
        (
            "resetMasterFlushOffset",
            "brokers.storage_settings",
            "delete",
            "Set the master flush offset on a slave",
        ),
        (
            "checkRocksdbCqWriteProgress",
            "brokers.storage_settings",
            "read",
            "Compare file and RocksDB queues",
        ),
        ("getColdDataFlowCtrInfo", "brokers.cold_data", "read", "Show cold-data read limits and use"),
        (
            "updateColdDataFlowCtrGroupConfig",
            "brokers.cold_data",
            "change",
            "Limit a group's cold-data reads",
        ),
        (
            "removeColdDataFlowCtrGroupConfig",
            "brokers.cold_data",
            "change",
            "Remove a group's cold-data limit",
        ),
        ("addBroker", "brokers.containers", "change", "Start a broker in a broker container"),
        ("removeBroker", "brokers.containers", "delete", "Stop a broker in a broker container"),
    ),
    CommandCategory("maintenance", "Drain and restart", "Take brokers out of service without send errors"): (
        ("drain", "procedures.drain", "change", "Stop writes to a broker until it is safe to stop"),
        ("undrain", "procedures.drain", "change", "Restore the permissions from before the drain"),
        ("drainStatus", "procedures.drain", "read", "List open drains and later changes"),
        (
            "rollingRestart",
            "procedures.rolling_restart",
            "change",
            "Restart the brokers of a cluster one by one",
        ),
        ("wipeWritePerm", "brokers.write_permission", "change", "Remove the write permission of a broker"),
        ("addWritePerm", "brokers.write_permission", "change", "Give a broker write permission again"),
        (
            "repair wipe",
            "brokers.registration_repair",
            "change",
            "Restore each topic's permission from the broker",
        ),
        ("repair register", "brokers.registration_repair", "change", "Register all topics of a broker again"),
    ),
    CommandCategory("topics", "Topics", "Routes, queues, traffic and settings of topics"): (
        ("topicList", "topics.topics", "read", "List topics"),
        ("topicRoute", "topics.topics", "read", "Show the brokers and queues of a topic"),
        ("topicStatus", "topics.topic_stats", "read", "Show the offsets of a topic's queues"),
        ("topicClusterList", "topics.topics", "read", "List the clusters of a topic"),
        ("statsAll", "topics.topic_traffic", "read", "Show the traffic of topics and groups"),
        ("route explain", "procedures.route_explain", "read", 'Explain "No route info of this topic"'),
        ("allocateMQ", "consumers.queue_allocation", "read", "Show which client gets which queues"),
        ("updateTopic", "topics.topic_configs", "change", "Create or change a topic"),
        ("updateTopicPerm", "topics.topic_configs", "change", "Change the permission of a topic"),
        ("updateTopicList", "procedures.bulk_update", "change", "Create or change the topics of a file"),
        ("updateOrderConf", "name_servers.order_confs", "mixed", "Show or change a topic's order config"),
        ("deleteTopic", "topics.topics", "delete", "Delete a topic and its messages"),
        ("updateStaticTopic", "topics.static_topics", "change", "Create or enlarge a static topic"),
        ("remappingStaticTopic", "topics.static_topics", "change", "Move queues of a static topic"),
    ),
    CommandCategory("lite-topics", "Lite topics", "Lite topics of RocketMQ 5.5"): (
        ("getBrokerLiteInfo", "topics.lite_topics", "read", "Show the lite topics of brokers"),
        ("getParentTopicInfo", "topics.lite_topics", "read", "Count the lite topics of a parent topic"),
        ("getLiteTopicInfo", "topics.lite_topics", "read", "Show offsets and subscribers of a lite topic"),
        ("getLiteClientInfo", "topics.lite_topics", "read", "List the lite topics of a client"),
        ("getLiteGroupInfo", "topics.lite_topics", "read", "Show a group's backlog on lite topics"),
        ("triggerLiteDispatch", "topics.lite_topics", "change", "Dispatch lite topics to clients again"),
    ),
    CommandCategory(
        "consumers", "Consumers and producers", "Backlog, clients, settings and offsets of groups"
    ): (
        (
            "consumerProgress",
            "consumers.consumer_progress",
            "read",
            "Show the backlog of one group or of all",
        ),
        (
            "consumerConnection",
            "consumers.consumer_progress",
            "read",
            "List a group's clients and subscriptions",
        ),
        ("consumerStatus", "consumers.consumer_status", "read", "Show the state of a group's clients"),
        (
            "brokerConsumeStats",
            "consumers.consumer_progress",
            "read",
            "Show the backlog of all groups on a broker",
        ),
        ("getConsumerConfig", "consumers.groups", "read", "Show the settings of a group"),
        ("updateSubGroup", "consumers.groups", "change", "Create or change a group"),
        ("updateSubGroupList", "procedures.bulk_update", "change", "Create or change the groups of a file"),
        ("deleteSubGroup", "consumers.groups", "delete", "Delete a group"),
        ("getConsumeMode", "consumers.consume_modes", "read", "List groups that are set to pull or pop"),
        ("setConsumeMode", "consumers.consume_modes", "change", "Set a group to pull or pop"),
        ("resetOffsetByTime", "consumers.offset_moves", "delete", "Move a group to a time or an offset"),
        ("skipAccumulatedMessage", "consumers.offset_moves", "delete", "Move a group to the end of a topic"),
        ("cloneGroupOffset", "consumers.offset_moves", "delete", "Copy the offsets of another group"),
        ("producer", "consumers.producers", "read", "List producers"),
        ("producerConnection", "consumers.producers", "read", "List the clients of a producer group"),
    ),
    CommandCategory("messages", "Messages", "Find, read, trace and send messages"): (
        ("queryMsgByKey", "messages.message_queries", "read", "Find messages by key"),
        ("queryMsgByUniqueKey", "messages.message_queries", "mixed", "Find messages by the producer's id"),
        ("queryMsgById", "messages.message_queries", "mixed", "Find a message by an id of either kind"),
        ("queryMsgByOffset", "messages.message_queries", "read", "Show the message at an offset of a queue"),
        ("queryMsgTraceById", "messages.message_traces", "read", "Show who sent and who consumed a message"),
        ("printMsg", "messages.queue_reader", "read", "Print the messages of a topic"),
        (
            "printMsgByQueue",
            "messages.queue_reader",
            "read",
            "Print the messages of one queue, or count tags",
        ),
        ("consumeMessage", "messages.queue_reader", "read", "Print messages from an offset or a time on"),
        ("sendMessage", "messages.message_sender", "change", "Send a text message"),
        ("message track", "messages.message_track", "read", "Show the story of one message"),
        ("produce", "messages.produce", "change", "Send messages from a text, a file or a template"),
        ("consume", "messages.consume", "read", "Print the messages of a topic, also those to come"),
        ("delayed list", "messages.delayed_messages", "read", "List messages that brokers deliver later"),
        ("delayed cancel", "messages.delayed_messages", "delete", "Cancel a timed message"),
        ("bench produce", "bench.bench", "change", "Measure how many messages brokers store"),
        ("bench consume", "bench.bench", "change", "Measure how many messages a client reads"),
        ("bench latency", "bench.bench", "change", "Measure the latency of each broker"),
        ("dlq list", "dead_letters.dlq_list", "read", "Count the dead letters of each group"),
        ("dlq show", "dead_letters.dlq_show", "read", "Print or export the dead letters of a group"),
        ("dlq replay", "dead_letters.dlq_replay", "change", "Deliver dead letters to their group again"),
        ("dlq purge", "dead_letters.dlq_purge", "delete", "Delete the dead letters of a group"),
        ("checkMsgSendRT", "messages.send_probes", "change", "Time test messages to a topic"),
        ("queryCq", "messages.consume_queues", "read", "Show entries of a consume queue"),
        (
            "dumpCompactionLog",
            "messages.compaction_log",
            "read",
            "Print the messages of a compaction log file",
        ),
    ),
    CommandCategory("name-servers", "Name servers", "KV config, settings, and whether they agree"): (
        ("where", "name_servers.where", "read", "Show the effective settings and test the servers"),
        ("divergence", "procedures.divergence", "read", "Compare name servers and explain differences"),
        ("kv get", "name_servers.kv_config", "read", "Show a value of the KV config"),
        ("kv list", "name_servers.kv_config", "read", "List the values of a namespace"),
        ("kv diff", "name_servers.kv_copies", "read", "Compare the KV config of name servers"),
        ("kv sync", "name_servers.kv_copies", "change", "Copy the KV config to the other name servers"),
        ("kv export", "name_servers.kv_copies", "read", "Write the KV config to a file"),
        ("kv import", "name_servers.kv_copies", "change", "Write a file's KV config to every name server"),
        ("updateKvConfig", "name_servers.kv_config", "change", "Set a value of the KV config"),
        ("deleteKvConfig", "name_servers.kv_config", "delete", "Delete a value of the KV config"),
        ("getNamesrvConfig", "name_servers.name_server_configs", "read", "Show the settings of name servers"),
        (
            "updateNamesrvConfig",
            "name_servers.name_server_configs",
            "change",
            "Change a setting of name servers",
        ),
        ("orderConfCheck", "name_servers.order_conf_check", "read", "Compare order configs with brokers"),
    ),
    CommandCategory("plans", "Plan and apply", "A cluster's topics, groups and KV config as a file"): (
        ("export", "procedures.plan_apply", "read", "Write a cluster's configuration as YAML"),
        ("plan", "procedures.plan_apply", "read", "Compare a file with the cluster"),
        ("apply", "procedures.plan_apply", "change", "Change the cluster to match a file"),
    ),
    CommandCategory("capacity", "Capacity and cleanup", "Outages, balance, leftovers and limits"): (
        ("whatIf", "procedures.what_if", "read", "Show what an outage of servers would break"),
        ("spread", "procedures.spread", "read", "List topics that are unbalanced across brokers"),
        ("orphans", "procedures.orphans", "mixed", "Find leftover topics, and delete them"),
        ("registrationSize", "brokers.registration_size", "read", "Compare registrations with their limit"),
    ),
    CommandCategory("access", "Access control", "Users and ACLs, and a security audit"): (
        ("securityAudit", "access.security_audit", "check", "List security risks and how to fix them"),
        ("listUser", "access.users", "read", "List users"),
        ("getUser", "access.users", "read", "Show a user"),
        ("createUser", "access.users", "change", "Create a user"),
        ("updateUser", "access.users", "change", "Change a user's password, type or status"),
        ("copyUser", "access.users", "change", "Copy users to other brokers"),
        ("deleteUser", "access.users", "delete", "Delete a user and its ACL"),
        ("listAcl", "access.acls", "read", "List ACLs"),
        ("getAcl", "access.acls", "read", "Show the ACL of a user"),
        ("createAcl", "access.acls", "change", "Create an ACL"),
        ("updateAcl", "access.acls", "change", "Change an ACL"),
        ("copyAcl", "access.acls", "change", "Copy ACLs to other brokers"),
        ("deleteAcl", "access.acls", "delete", "Delete an ACL or parts of it"),
        ("getAclConfig", "access.plain_acls", "read", "List accounts (brokers of 4.x)"),
        ("clusterAclConfigVersion", "access.plain_acls", "read", "Show versions of ACL files (4.x)"),
        ("updateAclConfig", "access.plain_acls", "change", "Create or change an account (4.x)"),
        ("deleteAclConfig", "access.plain_acls", "delete", "Delete an account (4.x)"),
        (
            "updateGlobalWhiteAddr",
            "access.plain_acls",
            "change",
            "Set addresses that need no signature (4.x)",
        ),
    ),
    CommandCategory("controllers", "Controllers", "Masters, replicas and epochs (controller mode)"): (
        ("getControllerMetaData", "brokers.controllers", "read", "Show the controllers and their leader"),
        ("getSyncStateSet", "brokers.controllers", "read", "List replicas and whether they are in sync"),
        ("getBrokerEpoch", "brokers.controllers", "read", "Show the epochs of brokers"),
        ("getControllerConfig", "brokers.controllers", "read", "Show the settings of controllers"),
        ("updateControllerConfig", "brokers.controllers", "change", "Change a setting of controllers"),
        ("electMaster", "brokers.controllers", "delete", "Make a replica the master"),
        ("cleanBrokerMetadata", "brokers.controllers", "delete", "Remove replicas from the controllers"),
    ),
    CommandCategory("journals", "History", "Journals, past routes, snapshots and the audit log"): (
        ("history", "history.history", "read", "Show past changes of a topic, broker or key"),
        ("route at", "history.route_at", "read", "Show the route of a topic at a past time"),
        ("route diff", "history.route_diff", "read", "Compare routes of two times or places"),
        ("snapshot save", "history.snapshots", "read", "Save the state of the name servers to a file"),
        ("snapshot show", "history.snapshots", "local", "Show the contents of a snapshot"),
        ("snapshot list", "history.snapshots", "local", "List the snapshots of a folder"),
        ("journal cat", "history.journals", "local", "Print the events of a journal"),
        ("journal tail", "history.journals", "local", "Print the last events and follow"),
        ("journal stat", "history.journals", "local", "Count the events of a journal by type"),
        ("journal verify", "history.journals", "local", "Check that a journal is complete"),
        ("collect", "programs.collect", "read", "Record journals of name servers that keep none"),
        ("audit list", "history.audit_list", "local", "List the changes that this account made"),
    ),
    CommandCategory("checks", "Checks", "Plugins for Nagios, and metrics for Prometheus"): (
        ("check all", "checks.check_all", "check", "Run every check that applies"),
        ("check namesrv", "checks.service_checks", "check", "Check that name servers answer"),
        (
            "check brokers",
            "checks.service_checks",
            "check",
            "Check that all brokers answer and have a master",
        ),
        ("check divergence", "checks.service_checks", "check", "Check that name servers agree"),
        ("check topic", "checks.service_checks", "check", "Check that a topic is writable"),
        ("check writable", "checks.service_checks", "check", "Check that all topics are writable"),
        ("check lag", "checks.service_checks", "check", "Check the backlog of a group"),
        ("check heartbeat", "checks.upkeep_checks", "check", "Check the age of broker heartbeats"),
        (
            "check registrationSize",
            "checks.upkeep_checks",
            "check",
            "Check registrations against their limit",
        ),
        ("check certificates", "checks.upkeep_checks", "check", "Check when certificates expire"),
        ("check journal", "checks.upkeep_checks", "check", "Check that journals grow and are complete"),
        ("check replicas", "checks.upkeep_checks", "check", "Check that slaves have what masters have"),
        ("check drain", "checks.upkeep_checks", "check", "Check that drained brokers stay drained"),
        ("startMonitoring", "checks.group_monitor", "check", "Check all consumer groups repeatedly"),
    ),
    CommandCategory("contexts", "Contexts", "Saved clusters: addresses, TLS and credentials"): (
        ("context list", "contexts.saved_contexts", "local", "List the saved contexts"),
        ("context show", "contexts.saved_contexts", "local", "Show a context"),
        ("context use", "contexts.saved_contexts", "local", "Choose the current context"),
        ("context set", "contexts.context_set", "local", "Create or change a context"),
        ("context login", "contexts.context_login", "local", "Store the credentials of a context"),
        ("context delete", "contexts.saved_contexts", "local", "Delete a context"),
    ),
    CommandCategory("exports", "Exports", "mqadmin's exports as JSON"): (
        ("exportConfigs", "brokers.cluster_export", "read", "Export broker settings as JSON"),
        ("exportMetadata", "brokers.cluster_export", "read", "Export topics and groups as JSON"),
        ("exportMetrics", "brokers.cluster_export", "read", "Export load, versions and sizes as JSON"),
        ("exportMetadataInRocksDB", "brokers.rocksdb_export", "read", "Export topics or groups from RocksDB"),
        ("rocksDBConfigToJson", "brokers.rocksdb_export", "mixed", "Export a RocksDB config store as JSON"),
        ("exportPopRecord", "consumers.pop_records", "change", "Move pop records to the message store"),
    ),
    CommandCategory("reports", "Reports", "Availability, drains and incidents from journals"): (
        ("report run", "reports.report_run", "program", "Compute reports from journals and logs"),
        ("report stream", "reports.report_stream", "program", "Compute reports continuously"),
        ("report show", "reports.report_pages", "local", "Show a computed report"),
        ("report html", "reports.report_pages", "local", "Write all reports as one HTML page"),
        ("report markdown", "reports.report_pages", "local", "Write all reports as Markdown"),
    ),
    CommandCategory("programs", "Programs", "Terminal UI, batches, a name server, a test lab"): (
        ("tui", "programs.tui", "screen", "Watch and operate the cluster in the terminal"),
        ("batch", "programs.batch", "batch", "Run many commands over the same connections"),
        ("lab", "programs.lab", "program", "Run a name server with simulated brokers"),
        ("namesrv", "programs.namesrv", "program", "Run a name server"),
        ("completion", "programs.shell_completion", "program", "Print the completion script of a shell"),
        ("mqadminMap", "mqadmin.mqadmin_map", "local", "Show the nsadmin command for an mqadmin command"),
    ),
}

CATEGORIES = tuple(_COMMANDS_BY_CATEGORY)

HIDDEN_COMMANDS = (
    CommandEntry("complete", "programs.tab_completion", CATEGORIES[-1], "program", "Print values for TAB"),
)
"""Commands for other programs: no list of commands contains them."""


def _build_entry(
    category: CommandCategory, typed_name: str, module_name: str, command_kind: CommandKind, help_text: str
) -> CommandEntry:
    group, _, member_name = typed_name.rpartition(" ")
    machine_name = f"{group}{member_name[0].upper()}{member_name[1:]}" if group else member_name
    return CommandEntry(machine_name, module_name, category, command_kind, help_text, group)


COMMANDS = tuple(
    _build_entry(category, *command_fields)
    for category, category_commands in _COMMANDS_BY_CATEGORY.items()
    for command_fields in category_commands
)
