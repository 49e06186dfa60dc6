"""Words of operators: commands that they mean, and the words of our documentation for them."""

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
    ("clients connected connection connections", ("client list", "consumerConnection")),
    ("proxies", ("proxy list",)),
    ("producers", ("producer", "producerConnection")),
    ("message messages msg msgs find search", ("queryMsgByKey", "queryMsgById")),
    ("read", ("consume", "printMsg")),
    ("dead deadletter deadletters", ("dlq list", "dlq show")),
    ("trace traces", ("queryMsgTraceById",)),
    ("send publish", ("produce", "sendMessage")),
    ("sender senders whosends whoproduces", ("client list", "producer")),
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
    ("busy slow", ("broker explain",)),
    ("transactions half", ("transaction list",)),
    ("explain why not", ("route explain", "group explain", "broker explain")),
    ("diff compare", ("divergence", "configDiff")),
    ("event events log logs", ("history", "journal cat")),
    ("journals", ("journal cat", "journal tail")),
    ("snapshots", ("snapshot list",)),
    ("changes", ("audit list", "history")),
    ("reports", ("report show",)),
    ("users user", ("listUser",)),
    ("acl acls permission permissions", ("listAcl", "createAcl")),
    ("password resetpassword changepassword", ("updateUser",)),
    ("master masters slave slaves role", ("clusterList",)),
    ("audits security", ("securityAudit", "audit list")),
    ("drains", ("drainStatus",)),
    ("ui dashboard console top watch screen", ("tui",)),
    ("server start", ("namesrv", "lab up")),
    ("demo sandbox playground", ("lab up",)),
    ("mqadmin", ("mqadminMap",)),
    ("reset seek rewind again reread reprocess", ("resetOffsetByTime",)),
    ("wipe", ("wipeWritePerm", "drain")),
    ("stop shutdown reboot", ("drain", "rollingRestart")),
    ("replay redeliver resend", ("dlq replay",)),
    ("undelete recover getback", ("backup restore",)),
    ("tail follow", ("consume", "journal tail")),
    ("stuck hang stack jstack", ("group explain", "consumerStatus")),
    ("skip jump newest worthless", ("skipAccumulatedMessage",)),
    ("pause suspend freeze reading disable", ("updateSubGroup", "updateUser")),
    ("restart", ("rollingRestart", "history")),
    ("disk full", ("clusterList", "check disk")),
    ("space", ("check disk", "statsAll")),
    ("tps traffic throughput busiest hot", ("statsAll", "clusterList")),
    ("versions release upgrade", ("clusterList", "client list", "consumerConnection")),
    ("deleted removed changed who whodeleted whoremoved whochanged", ("history", "audit list")),
    ("alert alerts prometheus grafana", ("exporter", "check all")),
    ("copy move migrate", ("transfer topics", "transfer messages", "kv sync")),
    ("access canuser canread canwrite userread userwrite", ("getAcl", "listAcl")),
    ("createtopic addtopic", ("updateTopic",)),
    ("creategroup addgroup", ("updateSubGroup",)),
    ("deletegroup", ("deleteSubGroup",)),
    ("kvput", ("updateKvConfig",)),
    ("kvrm", ("deleteKvConfig",)),
)

COMMANDS_BY_SYNONYM = {synonym: names for synonyms, names in _SYNONYMS for synonym in synonyms.split()}
"""The commands by word, in lower case and without hyphens; also for two words that are joined."""

VERBS = frozenset({"list", "ls", "get", "show", "describe", "desc", "info", "status"})
"""Words before a noun that say more than they do: for `describe topic`, the noun decides."""

_ASKED = """
clusterList: is any broker down; are all brokers up; which version do we run; overview of the brokers
clusterList: what is the cluster doing now; how busy is each broker; which node is the master
brokerStatus: uptime; size of thread pools; queue of requests; puts per second; statistics of one broker
broker explain: slow writes, sends; timeout; rejected requests; flow control; thread pool queue; page cache
haStatus: replication lag; slave behind; is replication healthy
replicaDiff: topics missing on a slave; is the slave identical to its master
getBrokerConfig: show broker.conf; value of a setting; properties of a running broker; store path; retention
updateBrokerConfig: change broker.conf at runtime; keep messages for days; enable a feature
configDiff: do all brokers have the same config; config drift; settings that somebody changed on a broker
inventory list: which broker is missing; brokers we should have
inventory forget: retired broker still reported missing; removed broker still alarms; broker is gone
clusterRT: test send to every broker; response time of all brokers; ping all brokers; smoke test of a cluster
deleteExpiredCommitLog: disk full; free space now; remove old log files
drain: maintenance of a broker; shut down without errors; exclude it from traffic; stop producers
undrain, addWritePerm: enable writes; put a broker back into service; maintenance is finished; broker repaired
drainStatus: brokers in maintenance; what did we forget to undo
rollingRestart: upgrade without downtime; reboot all brokers; patch all machines; updates on all hosts
rebalance plan: take queues of a topic away from a broker; move load from a hot broker; reassign partitions
rebalance plan: new broker gets no traffic; even out load; shift queues to new brokers
rebalance run: execute a reassignment; undo a rebalance; go back
wipeWritePerm, drain: make a broker read-only; disable writes to a broker; broker receives no new messages
repair wipe: topics still read-only; wrong permissions on a name server
repair register: name server does not know topics of a broker; broker lost its registration
topicList: search topics by part of the name; topics that start with a prefix; how many topics
topicList: does a topic exist; topics without consumer groups; topics without subscribers
topicRoute: how many queues has a topic; queue count; where is a topic; servers that have a topic; describe
topicStatus: is anybody writing to a topic; last or oldest message of a topic; minimum and maximum offset
topicStatus: how many messages are in a topic; number of messages; is a topic dead
statsAll: messages per second, hour or day of each topic; traffic of each topic; which topic is the busiest
statsAll: who causes the load; who floods the cluster; most used topics
route explain: topic does not exist; producer cannot find the topic; sends fail
allocateMQ: who reads which queue; owner of a partition; uneven assignment of queues; one consumer is idle
updateTopic: new topic; add a topic; more queues; number of queues; FIFO topic; delay topic; alter a topic
updateTopicPerm: topic read-only; disable, lock, freeze a topic; only reads; reject messages of one topic
updateTopicList, updateSubGroupList: create many at once; import topics from JSON; import groups from JSON
deleteTopic: drop a topic; get rid of topics; throw a topic away
consumerProgress: are consumers behind; messages that wait for a consumer; queue depth; unacked messages
consumerProgress: how long until a consumer has caught up, is finished; delay of consumers; slowest group
consumerConnection: members of a group; addresses of consumers; who consumes; is a consumer online; filter
consumerStatus: what do consumers do; thread dump; consumer hangs; inconsistent subscriptions
group explain: consumer receives no messages; consumer receives some messages only; consumer hangs
group explain: nothing is consumed; slow consumer; lag grows; inconsistent subscriptions; wrong filter
group explain, consumerConnection: two applications use one group
brokerConsumeStats: lag on one broker; who is behind on a broker
updateSubGroup: new consumer group; number of retries; pause a group; stop consumption; start consumption
deleteSubGroup: drop a consumer group; unused group; get rid of a group
resetOffsetByTime: reset, set or seek an offset; rewind a group; consume messages again; last hours again
resetOffsetByTime: go back to a time; replay messages; consume from the first message
skipAccumulatedMessage: throw away, drop, drain the backlog; ignore, forget, drop messages; continue with new
cloneGroupOffset: new group at the position of another group; rename a consumer group
client list: who is connected; IP addresses of clients; languages and versions of clients; who uses a topic
producer: which machines write to a topic; applications that send to a topic; who publishes; publishers
producerConnection: connections, addresses of a producer group; is a producer connected
queryMsgByKey: message with a business key; message of an order
queryMsgById, queryMsgByUniqueKey: sender of a message; look up a message; read the content of a message
message track: follow a message; what happened to a message; message lost; message did not arrive
message track, queryMsgTraceById: who consumed a message; was a message sent, by whom; duplicate messages
printMsg: peek at messages; first, last messages of a topic; search in bodies; messages between two times
printMsgByQueue: messages of one partition; messages with a tag
consume: watch, tail, stream messages as they arrive; live view of a topic; console consumer; subscribe
sendMessage: publish a message; send a test message; console producer
produce: send many messages; messages from a file; generate traffic, test data; console producer
messages export: dump, save, archive messages; messages on disk
messages import: load exported messages; put messages back; copy messages from Kafka
delayed list: scheduled messages; messages in the future; messages due tomorrow
delayed cancel: abort, remove a scheduled message
transaction list: open, prepared, pending transactions; message without commit; transaction hangs
transaction resume: recover a lost transaction
bench produce, bench consume: load test; performance test; throughput; how many messages a second; maximum
bench latency: percentiles; p99; response time
dlq list, dlq show: dead letter queue; error queue; failed messages; messages not consumed; retries
dlq show: why did a message fail; read failed messages
dlq replay: retry failed messages; requeue, resend, reprocess dead letters
dlq purge: empty, clean up, clear the dead letter queue
where: name server address; which cluster, environment am I connected to; test the connection
divergence: split brain; name servers show different routes or brokers; topic missing on one name server
kv sync: new name server without KV config; replicate the KV config
getNamesrvConfig: namesrv.conf; config value; properties of a name server
export: save topics as YAML; current state as a file
plan: drift from a file; dry run; what would change; compare two clusters
guide:plan-and-apply: GitOps; infrastructure as code; declarative config; topics in Git; version control
backup create: nightly backup; save all topics, groups and users; metadata of a cluster
backup restore: disaster recovery; bring back, recover a deleted topic, group; deleted by mistake
backup diff: what changed since the backup
guide:migrate-a-cluster: move to a new cluster; another data center; DR site; replicate between two clusters
transfer messages: mirror messages to a second cluster
transfer offsets: translate offsets after a migration
whatIf: what breaks; what happens if a broker fails; can I switch off a machine; single point of failure
whatIf: redundancy; capacity for an outage
spread: topics on one broker only; uneven queues; number of queues differs
orphans: unused topics; leftover topics; topics that nobody uses; old test topics
securityAudit: security holes; weak passwords; open ports and permissions
createUser: add a user; new account
updateUser: rotate, reset a password; lock an account
createAcl: grant permission; allow a user to read; authorize a producer, consumer
deleteAcl, updateAcl: revoke permission; revoke access; take away rights
getAcl: permissions of a user; access denied; no permission
listAcl: who may write; who may read
electMaster: promote a slave; planned failover; change of leader; switch master and slave
history: who deleted a topic; when was a topic created; when did a broker go away; what changed; timeline
check all: is the cluster ok; is everything ok; check everything every minute
context list, context use: my clusters; saved clusters; several clusters
guide:make-reports: capacity planning; growth; weekly report
errors: what does an exception mean; what does a code mean
"""
PHRASES_BY_PAGE: dict[str, list[str]] = {}
"""What operators ask, in their words, by the command or guide:NAME that answers."""
for _pages, _, _phrases in (line.partition(": ") for line in _ASKED.strip().splitlines()):
    for _page in _pages.split(", "):
        PHRASES_BY_PAGE.setdefault(_page, []).extend(_phrases.split("; "))

WRITTEN_WORDS = (
    ("nameserver namesrv", "name server"),
    ("machine node instance host box vm server", "broker, server"),
    ("account login people employee team admin administrator", "user"),
    ("partition", "queue"),
    (
        "subscriber subscribe listen subscription reader receive process handle",
        "consumer, consume, consumption",
    ),
    ("application app service worker", "client, consumer, user"),
    ("sender publisher publish write post emit transmit fire push", "producer, produce, send"),
    ("parameter option property configuration config", "setting"),
    ("drop takeaway rid erase destroy purge clear uninstall obsolete", "delete, remove"),
    ("remove delete leave", "delete, remove"),
    ("add new setup provision make", "create"),
    ("action touch modify alter adjust edit tune rename configure", "change, update"),
    (
        "double twice increase raise grow enlarge extend more bigger larger longer maximum",
        "change, update, more",
    ),
    ("halve reduce decrease lower smaller fewer shorter shorten throttle", "change, update, limit"),
    ("turnoff switchoff disable forbid prohibit deny lock close", "disable, turn off"),
    ("turnon switchon enable permit", "change, allow"),
    ("halt pause suspend freeze prevent block", "stop, lock"),
    ("cancel undo revert rollback reverse", "back, undo, restore"),
    ("break redundancy lose lost dies die dead crash failure fails down whatif", "outage"),
    ("rack datacenter zone dark blackout happens impact consequence survive poweroff", "outage"),
    ("alive reachable healthy", "answer, state"),
    ("backlog behind piling pileup accumulate slow slower hang stuck", "lag, explain"),
    ("resume continue reactivate activate", "again, back"),
    ("count amount number", "how many"),
    ("latest newest recent last", "last, newest"),
    ("earliest oldest beginning first", "first, oldest"),
    ("shift relocate migrate move switch", "move, to another cluster"),
    ("rising growing increasing grow", "grows"),
    ("deliver delivered", "consumed, arrive"),
    ("position progress pointer cursor", "offset"),
    ("rewind reread reprocess replay", "move, time, again"),
    ("yesterday last earlier ago previously past happened", "past, history"),
    ("nightly daily hourly weekly regularly periodic schedule night", "cron"),
    ("dump archive save extract download backup", "save, backup"),
    ("disaster recovery dr rebuild mistake accident", "backup, restore, another cluster"),
    ("clone duplicate mirror copy", "copy"),
    ("replication sync", "haStatus, in sync"),
    ("load reload", "import"),
    ("chat slack teams webhook mail email pager pagerduty oncall sms page", "alert, cron, notify"),
    ("alarm alerting notify notification notices warn", "alert, check, monitor"),
    ("zabbix icinga sensu datadog", "Nagios, monitor, metrics"),
    ("tries attempts giveup retry redelivery", "retries"),
    ("poison undeliverable failed", "dead letter, dead letters"),
    ("scheduled timer timed postponed deferred later due tomorrow future", "delayed, timed"),
    ("unused abandoned stale zombie garbage junk inactive forgotten", "orphaned, unused, nobody"),
    (
        "hottest hot hotspot top tps qps throughput volume rate",
        "traffic, load, busiest, throughput, per second",
    ),
    ("even equalize evenly uneven unequal skew imbalance distributed", "unbalanced, balance, level"),
    ("shrink downsize decommission scalein retire", "take a broker out"),
    ("expand scaleout", "new broker"),
    ("git gitops code infrastructure declarative terraform desired review", "file, YAML, plan"),
    ("differ drift mismatch unequal consistent disagree outofsync splitbrain", "compare, agree"),
    ("simulate fake try sandbox playground local laptop practise practice play exercise", "lab, simulated"),
    ("loadtest stress benchmark performance", "bench"),
    ("password secret credential username token", "credentials"),
    ("rights privilege grant authorize authorise revoke withdraw denied", "ACL, permission"),
    ("maywrite mayread whomay", "listAcl, getAcl"),
    ("whoconsumes whichclients", "client list"),
    ("whitelist allowlist ip", "addresses"),
    ("tls ssl https encrypt mtls plain", "TLS, certificate"),
    ("k8s container helm", "Kubernetes"),
    ("bastion jumphost tunnel firewall", "SSH, reach"),
    ("vendor support ticket diagnostics", "support, bundle"),
    ("uptime percent sla", "availability"),
    ("management boss week month monthly january march incidents", "report"),
    ("excel spreadsheet sheet", "Excel, CSV"),
    ("patch upgrade reboot maintenance kernel", "restart, drain"),
    ("promote failover takeover", "elect, master, replace"),
    ("rebalances rebalancing assignment owner owns samequeue", "allocateMQ, group explain"),
    ("notconsuming notreceive notreceiving", "group explain"),
    ("toomany toolarge toobig", "limit, registration"),
    ("damaged corrupt broken", "complete, verify"),
    ("holes vulnerabilities cve hardening", "security, risks"),
    ("production prod staging several", "context"),
    ("refresh repeat continuously", "watch"),
    ("interactive gui", "terminal, screen"),
    ("autocomplete tab powershell zsh fish", "completion"),
    ("standby secondary replica", "slave"),
    ("primary leader", "master"),
    ("payload content data", "body, bodies"),
    ("inspect view look examine", "print, content"),
    ("misconfigured wrong", "differ, not equal"),
    ("stopped nomore nolonger anymore", "explain"),
    ("slowest worst", "slow, lag"),
    ("vanish gone", "missing, disappeared"),
    ("finish end", "finished, after"),
    ("bootstrap url endpoint", "address"),
    ("ack unacked unconsumed unprocessed unread", "consumed, lag"),
    ("uncommitted undecided prepared", "transaction"),
    ("sdk library driver", "client, release"),
    ("fine okay green", "ok, healthy"),
    ("ai llm agent chatgpt claude", "MCP, agents"),
)
"""What operators say, in any form and two words joined, and the words of the documentation for it."""
