"""Words that operators type for a command, from other tools and everyday speech, with what they mean here."""

_SYNONYMS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("lag backlog behind progress", ("consumerProgress", "check lag")),
    ("broker brokers node nodes cluster clusters", ("clusterList", "brokerStatus")),
    ("topic topics", ("topicList", "topicRoute")),
    ("queue queues offset offsets", ("topicStatus", "consumerProgress")),
    ("partition partitions", ("topicRoute", "topicStatus")),
    (
        "consumer consumers group groups subscription subscriptions",
        ("consumerProgress", "consumerConnection"),
    ),
    ("clients connection connections", ("client list", "consumerConnection")),
    ("proxies", ("proxy list",)),
    ("producers", ("producer", "producerConnection")),
    ("message messages msg msgs find search", ("queryMsgByKey", "queryMsgById")),
    ("read", ("consume", "printMsg")),
    ("dead deadletter deadletters", ("dlq list", "dlq show")),
    ("trace traces", ("queryMsgTraceById",)),
    ("send publish", ("produce", "sendMessage")),
    ("list ls", ("clusterList", "topicList")),
    ("get show describe desc info", ("topicRoute", "brokerStatus")),
    ("status state", ("clusterList", "brokerStatus")),
    ("health healthcheck ping", ("check all", "check namesrv")),
    ("monitor monitoring", ("check all", "startMonitoring")),
    ("stat stats metrics", ("statsAll", "brokerStatus")),
    ("config configs configuration settings", ("getBrokerConfig", "getNamesrvConfig")),
    ("ctx contexts profile profiles", ("context list", "context use")),
    ("login", ("context login",)),
    ("use", ("context use",)),
    ("namesrvs nameserver nameservers ns", ("where", "divergence")),
    ("whoami", ("where", "context show")),
    ("routes", ("topicRoute", "route explain")),
    ("explain why", ("route explain",)),
    ("diff compare", ("divergence", "configDiff")),
    ("event events log logs", ("history", "journal cat")),
    ("journals", ("journal cat", "journal tail")),
    ("snapshots", ("snapshot list",)),
    ("changes", ("audit list", "history")),
    ("reports", ("report show",)),
    ("users user", ("listUser",)),
    ("acl acls permission permissions", ("listAcl",)),
    ("audits security", ("securityAudit", "audit list")),
    ("drains", ("drainStatus",)),
    ("ui dashboard console top watch screen", ("tui",)),
    ("server start", ("namesrv", "lab up")),
    ("demo sandbox playground", ("lab up",)),
    ("mqadmin", ("mqadminMap",)),
    ("reset seek rewind", ("resetOffsetByTime",)),
    ("wipe", ("wipeWritePerm", "drain")),
    ("skip", ("skipAccumulatedMessage",)),
    ("restart", ("rollingRestart",)),
    ("createtopic addtopic", ("updateTopic",)),
    ("creategroup addgroup", ("updateSubGroup",)),
    ("deletegroup", ("deleteSubGroup",)),
    ("kvput kvset", ("updateKvConfig",)),
    ("kvdelete kvrm", ("deleteKvConfig",)),
)

COMMANDS_BY_SYNONYM = {
    synonym: command_names for synonyms, command_names in _SYNONYMS for synonym in synonyms.split()
}
"""The commands by word, in lower case and without hyphens; also for two words that are joined."""

VERBS = frozenset({"list", "ls", "get", "show", "describe", "desc", "info", "status"})
"""Words before a noun that say more than they do: for `describe topic`, the noun decides."""
