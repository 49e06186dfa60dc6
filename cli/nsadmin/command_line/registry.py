"""The table of contents: the name, module, kind and summary of each command. It imports none of them.

A command declares the rest beside its function: parameters, columns, help, examples.
"""

import re
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Literal, NamedTuple

from nsadmin.client.did_you_mean import find_similar_names
from nsadmin.operations.checks.check_table import CHECK_TABLE

CommandKind = Literal["read", "change", "delete", "mixed", "local", "check", "batch", "screen", "program"]
"""What a command does to servers: the effect of "change" can be undone, that of "delete" cannot.

"local" sends no request. "mixed" reads or changes, depending on its arguments, and calls
`Session.require_writable` itself before it changes. A "check" reads, and its exit codes are those of
monitoring plugins. "batch" runs other commands. A "screen" occupies the whole terminal. A "program" is a
server or a job without a session.
"""


class Category(NamedTuple):
    """A heading of help and documentation; `nsadmin help topics` prints the one with the handle `topics`."""

    handle: str
    title: str
    help: str


class CommandEntry(NamedTuple):
    """One command.

    `name` is the machine name, such as `kvGet`: audit records and JSON contain it, and it is accepted as an
    alias. `group` is the first word of a two-word command, "" for all others.
    """

    name: str
    module_name: str
    category: Category
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
        """The name of its function: topic_route for topicRoute."""
        return re.sub(r"(?<=[a-z])([A-Z]+)", r"_\1", self.name).lower()

    def load_function(self) -> Callable[..., Any]:
        """Import the command's module and return its function."""
        function: Callable[..., Any] = getattr(
            import_module(f"nsadmin.commands.{self.module_name}"), self.function_name
        )
        return function


COMMAND_GROUPS = {
    "acl": "ACLs of brokers",
    "audit": "The record of changes made from this account",
    "backup": "Backups of a cluster, and how to restore them",
    "bench": "Throughput and latency of a cluster, measured with a bounded load",
    "broker": "Brokers: their state and settings, and why one refuses messages",
    "bundle": "Support bundles: the answers of a cluster in a file",
    "check": "Checks for monitoring systems",
    "client": "The clients that are connected to brokers and proxies",
    "context": "Clusters that you saved under a name",
    "delayed": "Messages that brokers deliver later",
    "discovery": "The servers of a cluster, for other programs",
    "dlq": "Dead letters: the messages that consumer groups failed to consume",
    "group": "Consumer groups: their lag and settings, and why one does not consume",
    "inventory": "The brokers that nsadmin expects",
    "journal": "The journal of a name server: every change of its tables",
    "kube": "RocketMQ in a Kubernetes namespace",
    "kv": "The KV config of the name servers",
    "lab": "Simulated clusters on this machine, and faults in them",
    "message": "Messages: find, send and track one",
    "messages": "The messages of topics in files",
    "proxy": "The proxies of RocketMQ 5",
    "rebalance": "Queues of topics moved between brokers: scale out, scale in, level the load",
    "repair": "Registrations that name servers and broker disagree about",
    "report": "Availability and drain reports from journals and logs",
    "route": "The route of a topic: why it is missing, and how it changed",
    "snapshot": "The complete state of the name servers, saved in a file",
    "topic": "Topics: routes, queues and settings",
    "transaction": "Half messages: the messages of transactions that have not ended",
    "transfer": "A cluster's contents copied to another cluster",
    "user": "Users of brokers",
}
"""The groups of two-word commands, with their help."""

# typed name, module, kind, summary
_COMMANDS_BY_CATEGORY: dict[Category, tuple[tuple[str, str, CommandKind, str], ...]] = {
    Category("clusters", "Clusters and brokers", "State, settings and upkeep of brokers"): (
        ("clusterList", "brokers.clusters", "read", "List brokers with their load and state"),
        ("brokerStatus", "brokers.clusters", "read", "Show all runtime figures of a broker"),
        ("proxy list", "proxies.proxy_list", "read", "List proxies with their mode and state"),
        ("broker explain", "procedures.broker_explain", "read", 'Explain "system busy" and slow sends'),
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
        ("setCommitLogReadAheadMode", "brokers.storage_settings", "change", "Switch commit log read-ahead"),
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
    Category("maintenance", "Drain and restart", "Take brokers out of service without send errors"): (
        ("drain", "procedures.drain", "change", "Stop writes to a broker until it is safe to stop"),
        ("undrain", "procedures.drain", "change", "Restore the permissions from before the drain"),
        ("drainStatus", "procedures.drain", "read", "List open drains and later changes"),
        (
            "rollingRestart",
            "procedures.rolling_restart",
            "change",
            "Restart the brokers of a cluster one by one",
        ),
        (
            "rebalance plan",
            "procedures.rebalance_plan",
            "read",
            "Propose queues that level the load of brokers",
        ),
        (
            "rebalance run",
            "procedures.rebalance_run",
            "change",
            "Move queues as a plan says, or move them back",
        ),
        ("rebalance status", "procedures.rebalance_status", "read", "List runs of rebalance plans"),
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
    Category("topics", "Topics", "Routes, queues, traffic and settings of topics"): (
        ("topicList", "topics.topics", "read", "List topics"),
        ("topicRoute", "topics.topics", "read", "Show the brokers and queues of a topic"),
        ("topicStatus", "topics.topic_stats", "read", "Show the offsets of a topic's queues"),
        ("topicClusterList", "topics.topics", "read", "List the clusters of a topic"),
        ("statsAll", "topics.topic_traffic", "read", "Show the traffic of topics and groups"),
        ("route explain", "procedures.route_explain", "read", 'Explain "No route info of this topic"'),
        ("allocateMQ", "consumers.queue_allocation", "read", "Compute how clients would share queues"),
        ("updateTopic", "topics.topic_configs", "change", "Create or change a topic"),
        ("updateTopicPerm", "topics.topic_configs", "change", "Change the permission of a topic"),
        ("updateTopicList", "procedures.bulk_update", "change", "Create or change the topics of a file"),
        ("updateOrderConf", "name_servers.order_confs", "mixed", "Show or change a topic's order config"),
        ("deleteTopic", "topics.topics", "delete", "Delete a topic and its messages"),
        ("updateStaticTopic", "topics.static_topics", "change", "Create or enlarge a static topic"),
        ("remappingStaticTopic", "topics.static_topics", "change", "Move queues of a static topic"),
    ),
    Category("lite-topics", "Lite topics", "Lite topics of RocketMQ 5.5"): (
        ("getBrokerLiteInfo", "topics.lite_topics", "read", "Show the lite topics of brokers"),
        ("getParentTopicInfo", "topics.lite_topics", "read", "Count the lite topics of a parent topic"),
        ("getLiteTopicInfo", "topics.lite_topics", "read", "Show offsets and subscribers of a lite topic"),
        ("getLiteClientInfo", "topics.lite_topics", "read", "List the lite topics of a client"),
        ("getLiteGroupInfo", "topics.lite_topics", "read", "Show a group's lag on lite topics"),
        ("triggerLiteDispatch", "topics.lite_topics", "change", "Dispatch lite topics to clients again"),
    ),
    Category("consumers", "Consumers and producers", "Lag, clients, settings and offsets of groups"): (
        (
            "consumerProgress",
            "consumers.consumer_progress",
            "read",
            "Show the lag of one group or of all",
        ),
        (
            "consumerConnection",
            "consumers.consumer_progress",
            "read",
            "List a group's clients and subscriptions",
        ),
        ("consumerStatus", "consumers.consumer_status", "read", "Show the state of a group's clients"),
        ("group explain", "consumers.group_explain", "read", "Explain why a group does not consume"),
        (
            "brokerConsumeStats",
            "consumers.consumer_progress",
            "read",
            "Show the lag of all groups on a broker",
        ),
        ("getConsumerConfig", "consumers.groups", "read", "Show the settings of a group"),
        ("updateSubGroup", "consumers.groups", "change", "Create or change a group"),
        ("updateSubGroupList", "procedures.bulk_update", "change", "Create or change the groups of a file"),
        ("deleteSubGroup", "consumers.groups", "delete", "Delete a group"),
        ("getConsumeMode", "consumers.consume_modes", "read", "List groups that are set to pull or pop"),
        ("setConsumeMode", "consumers.consume_modes", "change", "Set a group to pull or pop"),
        ("resetOffsetByTime", "consumers.offset_moves", "change", "Move a group to a time or an offset"),
        (
            "skipAccumulatedMessage",
            "consumers.offset_moves",
            "change",
            "Move a group to the end of its topics",
        ),
        ("cloneGroupOffset", "consumers.offset_moves", "change", "Copy the offsets of another group"),
        ("client list", "proxies.client_list", "read", "List every connected client"),
        ("producer", "consumers.producers", "read", "List producers"),
        ("producerConnection", "consumers.producers", "read", "List the clients of a producer group"),
    ),
    Category("messages", "Messages", "Find, read, trace and send messages"): (
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
        ("message track", "messages.message_track", "read", "Show where a message went, and who consumed it"),
        ("produce", "messages.produce", "change", "Send messages from a text, a file or a template"),
        ("consume", "messages.consume", "read", "Print the messages of a topic, also those to come"),
        ("messages export", "messages.message_export", "read", "Write the messages of topics to files"),
        ("messages import", "messages.message_import", "change", "Send the messages of files"),
        ("delayed list", "messages.delayed_messages", "read", "List messages that brokers deliver later"),
        ("delayed cancel", "messages.delayed_messages", "delete", "Cancel a timed message"),
        ("transaction list", "messages.transactions", "read", "List half messages and their producers"),
        ("transaction discarded", "messages.transactions", "read", "List half messages that brokers gave up"),
        ("transaction resume", "messages.transactions", "change", "Have a discarded message checked again"),
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
    Category("name-servers", "Name servers", "KV config, settings, and whether they agree"): (
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
    Category("plans", "Plan and apply", "A cluster's topics, groups and KV config as a file"): (
        ("export", "procedures.plan_apply", "read", "Write a cluster's settings as YAML"),
        ("plan", "procedures.plan_apply", "read", "Compare a file with the cluster"),
        ("apply", "procedures.plan_apply", "change", "Change the cluster to match a file"),
    ),
    Category("backups", "Backups", "A cluster in a file, with its offsets, users and ACLs"): (
        ("backup create", "backups.backup_create", "read", "Save a cluster in one file"),
        ("backup show", "backups.backup_contents", "local", "Verify a backup and list its items"),
        ("backup diff", "backups.backup_contents", "read", "Compare a backup with the cluster"),
        ("backup restore", "backups.backup_restore", "change", "Create the items of a backup again"),
    ),
    Category("transfers", "Transfers", "Metadata and messages copied to another cluster"): (
        (
            "transfer topics",
            "transfer.transfer_metadata",
            "mixed",
            "Create, change topics in another cluster",
        ),
        (
            "transfer groups",
            "transfer.transfer_metadata",
            "mixed",
            "Create, change groups in another cluster",
        ),
        ("transfer acl", "transfer.transfer_metadata", "mixed", "Create users and ACLs in another cluster"),
        ("transfer messages", "transfer.transfer_messages", "mixed", "Copy messages to another cluster"),
        ("transfer verify", "transfer.transfer_verify", "read", "Compare messages with their copies"),
        ("transfer offsets", "transfer.transfer_offsets", "mixed", "Move a group to copied messages"),
    ),
    Category("bundles", "Support bundles", "A cluster's answers in a file, to analyse elsewhere"): (
        ("bundle create", "bundles.bundle_create", "read", "Save the answers of a cluster in one file"),
        ("bundle show", "bundles.bundle_contents", "local", "List the contents of a bundle, and its gaps"),
        ("bundle diff", "bundles.bundle_contents", "local", "Compare two bundles"),
    ),
    Category("capacity", "Capacity and cleanup", "Outages, balance, orphans and limits"): (
        ("whatIf", "procedures.what_if", "read", "Show what an outage of servers would break"),
        ("spread", "procedures.spread", "read", "List topics that are unbalanced across brokers"),
        ("orphans", "procedures.orphans", "mixed", "Find orphaned topics, and delete them"),
        ("registrationSize", "brokers.registration_size", "read", "Compare registrations with their limit"),
    ),
    Category("access", "Access control", "Users and ACLs, and a security audit"): (
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
    Category("controllers", "Controllers", "Masters, replicas and epochs (controller mode)"): (
        ("getControllerMetaData", "brokers.controllers", "read", "Show the controllers and their leader"),
        ("getSyncStateSet", "brokers.controllers", "read", "List replicas and whether they are in sync"),
        ("getBrokerEpoch", "brokers.controllers", "read", "Show the epochs of brokers"),
        ("getControllerConfig", "brokers.controllers", "read", "Show the settings of controllers"),
        ("updateControllerConfig", "brokers.controllers", "change", "Change a setting of controllers"),
        ("electMaster", "brokers.replica_changes", "delete", "Make a replica the master"),
        ("cleanBrokerMetadata", "brokers.replica_changes", "delete", "Remove replicas from the controllers"),
    ),
    Category("journals", "History", "Journals, past routes, snapshots and the audit log"): (
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
    Category("checks", "Checks", "Plugins for Nagios, and metrics for Prometheus"): (
        ("check all", "checks.check_all", "check", "Run every check that applies"),
        *(
            (f"check {check.name}", f"checks.{check.command_module}", "check", check.summary)
            for check in CHECK_TABLE
        ),
        ("kube doctor", "checks.kube_doctor", "check", "Examine RocketMQ in a Kubernetes namespace"),
        ("startMonitoring", "checks.group_monitor", "check", "Check all consumer groups repeatedly"),
        ("exporter", "programs.exporter", "read", "Serve metrics of a cluster for Prometheus"),
        ("discovery prometheus", "programs.discovery", "read", "Print all servers as targets for Prometheus"),
    ),
    Category("contexts", "Contexts", "Saved clusters: addresses, TLS and credentials"): (
        ("context list", "contexts.saved_contexts", "local", "List the saved contexts"),
        ("context show", "contexts.saved_contexts", "local", "Show a context"),
        ("context use", "contexts.saved_contexts", "local", "Choose the current context"),
        ("context set", "contexts.context_set", "local", "Save a cluster as a context, or change one"),
        ("context login", "contexts.context_login", "local", "Store the credentials of a context"),
        ("context delete", "contexts.saved_contexts", "local", "Delete a context"),
    ),
    Category("exports", "Exports", "mqadmin's exports as JSON"): (
        ("exportConfigs", "brokers.cluster_export", "read", "Export broker settings as JSON"),
        ("exportMetadata", "brokers.cluster_export", "read", "Export topics and groups as JSON"),
        ("exportMetrics", "brokers.cluster_export", "read", "Export load, versions and sizes as JSON"),
        ("exportMetadataInRocksDB", "brokers.rocksdb_export", "read", "Export topics or groups from RocksDB"),
        ("rocksDBConfigToJson", "brokers.rocksdb_export", "mixed", "Export a RocksDB config store as JSON"),
        ("exportPopRecord", "consumers.pop_records", "change", "Move pop records to the message store"),
    ),
    Category("reports", "Reports", "Availability, drains and incidents from journals"): (
        ("report run", "reports.report_run", "program", "Compute reports from journals and logs"),
        ("report stream", "reports.report_run", "program", "Compute reports continuously"),
        ("report show", "reports.report_pages", "local", "Show a computed report"),
        ("report schema", "reports.report_tables", "local", "Show the columns of tables with units"),
        ("report export", "reports.report_tables", "local", "Write a table as CSV, Parquet or Excel"),
        ("report html", "reports.report_pages", "local", "Write all reports as one HTML page"),
        ("report markdown", "reports.report_pages", "local", "Write all reports as Markdown"),
    ),
    Category("programs", "Programs", "Terminal UI, batches, a name server, a test lab"): (
        ("tui", "programs.tui", "screen", "Watch and operate the cluster in the terminal"),
        ("mcp", "mcp.mcp_command", "screen", "Serve the commands as tools to MCP clients"),
        ("batch", "programs.batch", "batch", "Run many commands over the same connections"),
        ("lab up", "programs.lab", "program", "Run name servers with simulated brokers"),
        ("lab run", "programs.lab", "program", "Play a scenario and check the journals"),
        ("lab list", "programs.lab", "program", "List the built-in scenarios"),
        ("namesrv", "programs.namesrv", "program", "Run a name server"),
        ("completion", "programs.shell_completion", "program", "Print the completion script of a shell"),
        ("guide", "programs.guide", "local", "Show a page of the documentation"),
        ("errors", "programs.errors", "local", "Explain a response code or a client's exception"),
        ("mqadminMap", "mqadmin.mqadmin_map", "local", "Show the nsadmin command for an mqadmin command"),
    ),
}


def _build_entry(
    category: Category, typed_name: str, module_name: str, kind: CommandKind, summary: str
) -> CommandEntry:
    group, _, member_name = typed_name.rpartition(" ")
    machine_name = f"{group}{member_name[0].upper()}{member_name[1:]}" if group else member_name
    return CommandEntry(machine_name, module_name, category, kind, summary, group)


CATEGORIES = tuple(_COMMANDS_BY_CATEGORY)
COMMANDS = tuple(_build_entry(c, *fields) for c, rows in _COMMANDS_BY_CATEGORY.items() for fields in rows)


NOUN_AND_VERB = {
    "topic list": "topicList",
    "topic show": "topicRoute",
    "topic status": "topicStatus",
    "topic create": "updateTopic",
    "topic update": "updateTopic",
    "topic delete": "deleteTopic",
    "group list": "consumerProgress",
    "group show": "getConsumerConfig",
    "group create": "updateSubGroup",
    "group update": "updateSubGroup",
    "group delete": "deleteSubGroup",
    "group reset": "resetOffsetByTime",
    "broker list": "clusterList",
    "broker show": "brokerStatus",
    "broker config": "getBrokerConfig",
    "broker update": "updateBrokerConfig",
    "user list": "listUser",
    "user show": "getUser",
    "user create": "createUser",
    "user update": "updateUser",
    "user delete": "deleteUser",
    "acl list": "listAcl",
    "acl show": "getAcl",
    "acl create": "createAcl",
    "acl update": "updateAcl",
    "acl delete": "deleteAcl",
    "message find": "queryMsgByKey",
    "message show": "queryMsgById",
    "message send": "sendMessage",
    "kv set": "updateKvConfig",
    "kv delete": "deleteKvConfig",
}
"""The commands with mqadmin's names, as a noun and a verb."""


def plain_name(command_name: str) -> str:
    return command_name.replace("-", "").replace("_", "").lower()


_ENTRIES_BY_NAME = {plain_name(entry.name): entry for entry in COMMANDS}
_ENTRIES_BY_ALIAS = {
    alias.replace(" ", ""): _ENTRIES_BY_NAME[plain_name(name)] for alias, name in NOUN_AND_VERB.items()
}


def find_command(command_word: str) -> CommandEntry | None:
    """Find a command by a name in one word: topicRoute, TOPICROUTE, topic-route, topic_route, topicShow."""
    plain_word = plain_name(command_word)
    return _ENTRIES_BY_NAME.get(plain_word) or _ENTRIES_BY_ALIAS.get(plain_word)


def find_group(command_word: str) -> str | None:
    group_name = command_word.lower()
    return group_name if group_name in COMMAND_GROUPS else None


def take_command(command_words: Sequence[str]) -> tuple[CommandEntry | None, list[str]]:
    """Return the command that a line begins with, named in one word or two, and the words after it."""
    command_entry = find_command(command_words[0])
    if command_entry is None and len(command_words) > 1 and command_words[1][:1].isalpha():
        command_entry = find_command(command_words[0] + command_words[1])
        if command_entry is not None:
            return command_entry, list(command_words[2:])
    return command_entry, list(command_words[1:])


def list_group_members(group_name: str) -> list[CommandEntry]:
    return [command_entry for command_entry in COMMANDS if command_entry.group == group_name]


def list_group_words(group_name: str) -> dict[str, str]:
    """Return the words that can follow a group's name, with their help."""
    words = {entry.member_name: entry.help for entry in list_group_members(group_name)}
    for alias, name in NOUN_AND_VERB.items():
        group, verb = alias.split()
        if group == group_name:
            words[verb] = _ENTRIES_BY_NAME[plain_name(name)].help
    return words


def list_aliases(entry: CommandEntry) -> list[str]:
    return [alias for alias, name in NOUN_AND_VERB.items() if name == entry.name]


def find_category(handle: str) -> Category | None:
    return next((category for category in CATEGORIES if category.handle == handle.lower()), None)


def list_category_members(category: Category) -> list[CommandEntry]:
    return [command_entry for command_entry in COMMANDS if command_entry.category == category]


def list_top_level_names() -> dict[str, str]:
    """Return the words that can follow `nsadmin`, with their help: groups, and commands that have none."""
    top_level_names = dict(COMMAND_GROUPS)
    for command_entry in COMMANDS:
        if not command_entry.group:
            top_level_names[command_entry.name] = command_entry.help
    return top_level_names


_NEAR_RATIO = 0.85
"""Similarity (`difflib`) of a slip of the finger."""
_MIN_PREFIX_LENGTH = 3
_LOCAL_CHANGES = frozenset(
    ("contextDelete", "contextLogin", "contextSet", "contextUse", "inventoryForget", "inventoryPin")
)
"""Commands that change no server, but files of this account."""


def suggest_commands(command_words: Sequence[str]) -> list[str]:
    """Return up to three commands that the first words probably mean.

    The order of preference: a synonym, a spelling mistake in a name, a spelling mistake in a synonym, the
    beginning of a name. For the last two, only commands that change nothing are suggested.
    """
    return (
        _commands_of_synonym(command_words)
        or _similar_commands(command_words[0])
        or _similar_commands("".join(command_words[:2]))
        or find_similar_names(command_words[0], COMMAND_GROUPS, 0.8, max_names=1)
        or _commands_of_similar_synonym(command_words[0])
        or _commands_with_prefix(command_words[0])
    )


def suggest_members(group_name: str, member_word: str) -> list[str]:
    """Return the commands of a group that are spelled similarly, or that a synonym means."""
    synonym_commands = _commands_of_synonym([group_name, member_word])
    if synonym_commands != _commands_of_synonym([group_name]):
        return synonym_commands
    similar_words = find_similar_names(member_word, list_group_words(group_name), 0.6)
    return [f"{group_name} {word}" for word in similar_words]


def _commands_of_synonym(command_words: Sequence[str]) -> list[str]:
    # Imported late: few command lines need it.
    from nsadmin.command_line.command_synonyms import COMMANDS_BY_SYNONYM, VERBS

    plain_words = [plain_name(command_word) for command_word in command_words[:2]]
    candidates = ["".join(plain_words), *(plain_words[1:] if plain_words[0] in VERBS else ()), plain_words[0]]
    return next(
        (list(COMMANDS_BY_SYNONYM[c]) for c in candidates if c in COMMANDS_BY_SYNONYM),
        [],
    )


def _is_harmless(command_entry: CommandEntry) -> bool:
    return not command_entry.may_change and command_entry.name not in _LOCAL_CHANGES


def _commands_of_similar_synonym(command_word: str) -> list[str]:
    from nsadmin.command_line.command_synonyms import COMMANDS_BY_SYNONYM

    suggested_entries = (
        take_command(command_name.split())[0]
        for synonym in find_similar_names(plain_name(command_word), COMMANDS_BY_SYNONYM, _NEAR_RATIO)
        for command_name in COMMANDS_BY_SYNONYM[synonym]
    )
    return [entry.typed_name for entry in suggested_entries if entry and _is_harmless(entry)][:3]


def _similar_commands(command_word: str) -> list[str]:
    return [
        _ENTRIES_BY_NAME[name].typed_name
        for name in find_similar_names(plain_name(command_word), _ENTRIES_BY_NAME, _NEAR_RATIO)
    ]


def _commands_with_prefix(command_word: str) -> list[str]:
    plain_word = plain_name(command_word)
    if len(plain_word) < _MIN_PREFIX_LENGTH:
        return []
    return [
        e.typed_name for n, e in _ENTRIES_BY_NAME.items() if n.startswith(plain_word) and _is_harmless(e)
    ][:3]
