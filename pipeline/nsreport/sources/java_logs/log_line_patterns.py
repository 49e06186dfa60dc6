"""Rules: patterns for the log lines that the pipeline understands, and the fields that each pattern finds.

The rules follow the logs and the source code of 4.9.7 and 5.5.0. 4.x and 5.x use different words for the same
thing; the field names are the same for both. A group whose name ends in a number is a second position of the
same field.

Rule: a repetition either cannot match what follows it, or is possessive (`*+`) and stops at the first place
where the following text begins. Otherwise a hostile line of 12 KB keeps a processor busy for half a minute.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple


class LogRule(NamedTuple):
    """A message that starts with `message_start`; the rest has to match `rest_pattern`.

    `dialect` is set if only that release writes the message. `file_kind` is the start of the file kinds to
    which the rule applies.
    """

    rule_name: str
    message_start: str
    rest_pattern: str
    dialect: str | None = None
    file_kind: str = ""


class LogMeasure(NamedTuple):
    """A message with figures: `pairs_pattern` finds (key, value) pairs, `name_pattern` the name of the facts.

    It starts with `message_start`, or is in a file of the kind `file_kind`. Each minute becomes one fact per
    key: the greatest value, or the sum if `is_summed`.
    """

    fact_kind: str
    message_start: str
    pairs_pattern: str
    name_pattern: str = "()"
    is_summed: bool = False
    file_kind: str = ""


def _skip_to(end_text: str) -> str:
    """Match everything up to the first occurrence of a text, and that text."""
    end_pattern = re.escape(end_text)
    return rf"(?:(?!{end_pattern}).)*+{end_pattern}"


def _group_to(group_name: str, end_text: str) -> str:
    """Like `_skip_to`; what precedes the text is a group."""
    end_pattern = re.escape(end_text)
    return rf"(?<{group_name}>(?:(?!{end_pattern}).)*+){end_pattern}"


def _queue_data_pattern(group_prefix: str) -> str:
    return (
        rf"QueueData \[brokerName={_group_to(f'{group_prefix}Broker', ', readQueueNums=')}"
        rf"(?<{group_prefix}Read>\d+), writeQueueNums=(?<{group_prefix}Write>\d+), "
        rf"perm=(?<{group_prefix}Perm>\d+), topicSy[sn]Flag=(?<{group_prefix}Flag>\d+)\]"
    )


# The address ends before a blank or with the message. An IPv6 address contains brackets as well.
_IDENTITY_PATTERN = (
    r"(?:BrokerIdentityInfo \[clusterName="
    + _group_to("cluster", ", brokerAddr=")
    + r"(?<addr>(?:(?!\](?!\S)).)*+)\]|(?<addr2>\S+))"
)
_NEW_BROKER_PATTERN = (
    r" \[clusterName=" + _group_to("cluster", ", brokerAddr=") + _group_to("addr", "] HAService: ") + ".*"
)
_RESULT_PATTERN = r" (?<result>OK|Failed), "
_KV_ITEM_PATTERN = _group_to("namespace", " Key: ") + _group_to("key", " Value: ") + "(?<value>.*)"
_WRITE_PERM_PATTERN = _group_to("broker", "], client: ") + r"(?<client>[^,\s]+), (?<value>\d+)"
_CONFLICT_PATTERN = (
    _group_to("cluster", ", BrokerName:")
    + _group_to("broker", ", BrokerId:")
    + r"(?<id>\d+), Old BrokerAddr:"
    + _group_to("former", ", Old Version:")
    + r"-?\d+, New BrokerAddr:"
    + _group_to("addr", ", New Version:")
    + r"-?\d+\."
)
_MASTER_CHANGE_PATTERN = (
    _group_to("cluster", "] brokerName [")
    + _group_to("broker", "] master address change from ")
    + r"(?<former>\S+) to (?<addr>\S+)"
)
_MIN_ID_PATTERN = (
    r"(?<minId>\d+), notify (?:null, offline broker addr |\["
    + _group_to("value", "], offline broker addr ")
    + r")(?:null|(?<addr>\S+))"
)
_GONE_TOPIC_PATTERN = (
    rf"(?:(?<topic>\S+) (?:null|{_queue_data_pattern('before')})\],|{_skip_to('] all queue,')}) "
    "from topicQueueTable, .*"
)
_GONE_NAME_PATTERN = r"(?<broker>[^\]]*)\](?: from |, clusterName\[" + _group_to("cluster", "] from ") + ").*"
_DELETED_TOPIC_PATTERN = r"(?:(?! \S+ QueueData \[).)*+ (?<topic>\S+) " + _queue_data_pattern("before")
# Another proxy announces a client with a RemoteChannel: it is not a client of this server.
_CLIENT_CHANNEL_PATTERN = (
    r"ClientChannelInfo \[channel=(?:RemoteChannel\{.*|"
    + _skip_to("clientId=")
    + r"(?<client>(?:(?!, |\}|\]).)*+).*)"
)
_LOST_CHANNEL_PATTERN = (
    r"ClientChannelInfo \[channel=(?:RemoteChannel\{(?:(?! group: ).)*+|"
    + _skip_to("clientId=")
    + r"(?<client>(?:(?!, |\}|\]).)*+)(?:(?! group: ).)*+) group: (?<group>.*)"
)
_BOOT_PATTERN = r"(?<broker>(?:(?!, [^\],]*\] boot success\.).)*+), (?<addr>[^\],]*)\] boot success\..*"

LOG_RULES = (
    # A server starts and stops.
    LogRule("started", "kvConfigPath=", r".*", file_kind="namesrv"),
    LogRule("ready", "The Name Server boot success.", rf"(?:{_skip_to(', address ')}(?<addr>\S++))?.*"),
    LogRule("stopping", "shutdown hook was invoked, 1 times", r".*", file_kind="namesrv"),
    LogRule("stopping", "Shutdown hook was invoked, 1", "", file_kind="namesrv"),
    # Brokers register.
    LogRule("master", "cluster [", _MASTER_CHANGE_PATTERN, "4.x"),
    LogRule("registered", "new broker registered, BrokerIdentityInfo", _NEW_BROKER_PATTERN, "5.x"),
    LogRule("registered4", "new broker registered, ", r"(?<addr>\S+) HAServer: .*", "4.x"),
    LogRule(
        "conflict",
        "Registering Broker conflicts with the existed one, just ignore.: Cluster:",
        _CONFLICT_PATTERN,
        "5.x",
    ),
    LogRule(
        "conflict",
        "Registered Broker conflicts with the existed one, just ignore.: Cluster:",
        _CONFLICT_PATTERN,
        "5.x",
    ),
    LogRule(
        "stranger",
        "Can't register topicConfigWrapper=",
        _skip_to(" because broker[") + r"(?<id>\d+)\]=(?<addr>\S+) .*",
        "5.x",
    ),
    # Brokers leave.
    LogRule("expired", "The broker channel expired, ", rf"{_IDENTITY_PATTERN} (?<value>\d+)ms"),
    LogRule(
        "idle",
        "NETTY SERVER PIPELINE: IDLE exception [",
        r"(?<client>(?:(?!\]$).)*+)\]",
        file_kind="namesrv",
    ),
    LogRule("destroyed", "the broker's channel destroyed, submit the unregister request", r".*", "5.x"),
    LogRule("destroyed4", "the broker's channel destroyed, ", r"(?<addr>[^,\s]+), clean it's .*", "4.x"),
    LogRule("offLive", "unregisterBroker, remove from brokerLiveTable", _RESULT_PATTERN + _IDENTITY_PATTERN),
    LogRule(
        "offPlace", "unregisterBroker, remove addr from brokerAddrTable", _RESULT_PATTERN + _IDENTITY_PATTERN
    ),
    LogRule("offName", "unregisterBroker, remove name from brokerAddrTable OK, ", r"(?<broker>.*)"),
    LogRule(
        "offPlace4",
        "remove brokerAddr[",
        rf"(?<id>\d+), {_group_to('addr', '] from brokerAddrTable, ')}.*",
        "4.x",
    ),
    LogRule("offName4", "remove brokerName[", _GONE_NAME_PATTERN, "4.x"),
    LogRule("minId", "min broker id changed to ", _MIN_ID_PATTERN, "5.x"),
    # Topics change.
    LogRule("topicNew", "new topic registered, ", rf"(?<topic>\S+) {_queue_data_pattern('after')}"),
    LogRule(
        "topicChanged",
        "topic changed, ",
        rf"(?<topic>\S+) OLD: {_queue_data_pattern('before')} NEW: {_queue_data_pattern('after')}",
    ),
    LogRule(
        "topicGone",
        "removeTopicByBrokerName, remove one broker's topic ",
        rf"(?<topic>\S+) {_queue_data_pattern('before')}",
    ),
    LogRule("topicGone4", "remove topic[", _GONE_TOPIC_PATTERN, "4.x"),
    LogRule("topicDeleted", "deleteTopic, remove one broker's topic ", _DELETED_TOPIC_PATTERN),
    LogRule("topicMade", "Register topic route:", r"(?<topic>[^,]*), .*", "5.x"),
    # Operators send requests.
    LogRule("wiped", "wipe write perm of broker[", _WRITE_PERM_PATTERN),
    LogRule("added", "add write perm of broker[", _WRITE_PERM_PATTERN),
    LogRule("kvNew", "putKVConfig create new config item, Namespace: ", _KV_ITEM_PATTERN),
    LogRule("kvUpdated", "putKVConfig update config item, Namespace: ", _KV_ITEM_PATTERN),
    LogRule("kvDeleted", "deleteKVConfig delete a config item, Namespace: ", _KV_ITEM_PATTERN),
    LogRule("kvListed", "configTable NS: ", _KV_ITEM_PATTERN),
    LogRule("configCalled", "updateConfig called by ", r"(?<client>\S+)", file_kind="namesrv"),
    LogRule(
        "replaced",
        "Replace, key: ",
        _group_to("key", ", value: ") + _group_to("former", " -> ") + "(?<value>.*)",
        file_kind="namesrv",
    ),
    # These lines are facts, not events.
    LogRule("tick", "start scanNotActiveBroker", "", "5.x"),
    LogRule("notReady", "name server not ready. request code ", r"(?<value>\d++).*", "5.x"),
    LogRule("kvCounted", "configTable SIZE: ", r"(?<value>\d+)"),
    LogRule("badFrame", "decode exception, ", r"(?<key>\S++).*"),
    LogRule("badChecksum", "receive registerBroker request,crc32 not match,from ", r"(?<key>.*)"),
    # Brokers write these lines to their own logs.
    LogRule("brokerBoot", "The broker[", _BOOT_PATTERN),
    LogRule("brokerStopping", "Shutdown hook was invoked, 1", "", file_kind="broker"),
    LogRule("heard", "Registering current broker to name server completed. TargetHost=", r"(?<key>\S+)"),
    LogRule("heard4", "register broker", r"(?:\[(?<id>\d+)\])? ?to name server (?<key>\S+) OK"),
    LogRule("unheard", "Failed to register current broker to name server. TargetHost=", r"(?<key>\S++).*"),
    LogRule("unheard4", "registerBroker Exception, ", r"(?<key>\S++).*", file_kind="broker"),
    LogRule(
        "late",
        "Registration to one or more name servers does NOT complete within deadline.",
        r"\D*(?<value>\d+)ms",
    ),
    LogRule("left", "unregisterBroker OK, NamesrvAddr: ", r"(?<key>\S+)"),
    LogRule("relisted", "name server address changed, ", f"old: {_group_to('former', ' new: ')}(?<key>.*)"),
    LogRule("behind", "Dispatch task fall behind commit log ", r"(?<value>\d+) ?bytes"),
    LogRule("behind4", "dispatch behind commit log ", r"(?<value>\d+) bytes"),
    LogRule("slaveBehind", "CommitLog: slave fall behind master ", r"(?<value>\d+) ?bytes"),
    LogRule("slaveBehind4", "Slave fall behind master: ", r"(?<value>\d+) bytes"),
    # Brokers and proxies write these lines about their clients to broker.log.
    LogRule(
        "consumerCame",
        "new consumer connected, group: ",
        r"(?<group>\S+) \S+ \S+ channel: " + _CLIENT_CHANNEL_PATTERN,
        file_kind="broker",
    ),
    LogRule(
        "producerCame",
        "new producer connected, group: ",
        r"(?<group>\S+) channel: " + _CLIENT_CHANNEL_PATTERN,
        file_kind="broker",
    ),
    LogRule(
        "consumerLeft",
        "unregister a consumer[",
        _group_to("group", "] from consumerGroupInfo ") + _CLIENT_CHANNEL_PATTERN,
        file_kind="broker",
    ),
    LogRule(
        "producerLeft",
        "unregister a producer[",
        _group_to("group", "] from groupChannelTable ") + _CLIENT_CHANNEL_PATTERN,
        file_kind="broker",
    ),
    LogRule(
        "consumerLost",
        "NETTY EVENT: remove not active channel[",
        _LOST_CHANNEL_PATTERN,
        file_kind="broker",
    ),
    LogRule("producerLost", "NETTY EVENT: remove channel[", _LOST_CHANNEL_PATTERN, file_kind="broker"),
    LogRule(
        "consumerExpired",
        "SCAN: remove expired channel from ConsumerManager consumerTable. channel=",
        _group_to("client", ", consumerGroup=") + "(?<group>.*)",
        file_kind="broker",
    ),
    LogRule(
        "producerExpired",
        "ProducerManager#scanNotActiveChannel: remove expired channel[",
        _group_to("client", "] from ProducerManager groupChannelTable, producer group name: ")
        + "(?<group>.*)",
        file_kind="broker",
    ),
    # Proxies write these lines to proxy.log.
    LogRule("proxyReady", "grpc server start successfully.", "", file_kind="proxy"),
    LogRule("proxyStopping", "try to shutdown server", "", file_kind="proxy"),
    LogRule(
        "routeFailed",
        "reload topic route from namesrv. topic: ",
        r"(?<topic>\S+)(?:\n.*)?",
        file_kind="proxy",
    ),
    LogRule("syncFailed", "send system message failed. data: ", ".*", file_kind="proxy"),
    LogRule("requestFailed", "internal server error", ".*", file_kind="proxy"),
    LogRule("requestFailed", "grpc server has exception. errorMsg:", ".*", file_kind="proxy"),
)
"""The order matters: the first rule whose start a message has applies."""

FACT_KINDS: Mapping[str, str] = {
    "ready": "boot",
    "stopping": "shutdown",
    "master": "registration",
    "tick": "scan",
    "expired": "expiry",
    "idle": "channelIdle",
    "destroyed": "channelDestroyed",
    "destroyed4": "channelDestroyed",
    "topicMade": "topicRegistered",
    "configCalled": "configCall",
    "notReady": "notReady",
    "kvCounted": "configTable",
    "badFrame": "decodeError",
    "badChecksum": "checksumError",
    "brokerBoot": "boot",
    "brokerStopping": "shutdown",
    "heard": "registered",
    "heard4": "registered",
    "unheard": "notRegistered",
    "unheard4": "notRegistered",
    "late": "registrationLate",
    "left": "unregistered",
    "relisted": "namesrvList",
    "behind": "dispatchBehind",
    "behind4": "dispatchBehind",
    "slaveBehind": "slaveBehind",
    "slaveBehind4": "slaveBehind",
    "consumerCame": "clientConnected",
    "producerCame": "clientConnected",
    "consumerLeft": "clientLeft",
    "producerLeft": "clientLeft",
    "consumerLost": "clientLost",
    "producerLost": "clientLost",
    "consumerExpired": "clientLost",
    "producerExpired": "clientLost",
    "proxyReady": "proxyBoot",
    "proxyStopping": "proxyShutdown",
    "routeFailed": "routeFailed",
    "syncFailed": "syncFailed",
    "requestFailed": "requestFailed",
}
"""The kind of fact for a line of each rule. Lines of other rules become events or identify brokers."""

LOG_MEASURES = (
    LogMeasure("waterMark", "[WATERMARK] ClientQueueSize", r"\b(\w++):(\d+)"),
    LogMeasure(
        "waterMark",
        "[WATERMARK] ",
        r"(Size|SlowTimeMills): (\d+)",
        r"^\[WATERMARK\] ((?:(?! Queue Size).)*+) Queue Size",
    ),
    LogMeasure(
        "traffic", "Port: ", r"(?<=[{ ])(\d+):(\d+)", r"(Request|Response)Code Distribution", is_summed=True
    ),
    LogMeasure("storeTps", "[STORETPS]", r"\b((?:(?!_tps )\w)++_tps) ([0-9.E-]+)"),
    LogMeasure("waterMark", "", r"\t(\w++)\t([0-9.E-]+)", r"^([^\t]++)\t", file_kind="proxy_watermark"),
)
"""The order matters: the first measure whose start a message has applies."""

# The decimal separator is that of the locale of the broker: a point, a comma, or U+066B.
STATISTIC_PATTERN = (
    r"^\[((?:(?!\] \[).)*+)\] \[((?:(?!\] Stats ).)*+)\] Stats (?:"
    r"In One Minute, (?:SUM: (\d++) TPS: [0-9.,\u066b]++ AVGPT: ([0-9.,\u066b]++)"
    r"|TIMES: (\d++) AVGRT: ([0-9.,\u066b]++))"
    r"|Every 5 Minutes, Value: (-?\d++)).*$"
)
"""A broker's statistic; the groups are its name, its key, and the figures of the three forms.

The forms are sum and mean of a minute, times and mean of a minute (latencies), and the value of a moment.
"""

STATISTICS_KIND = "stats"
"""The kind of the log that has nothing but statistics."""

SKIPPED_STATISTICS = ("] Stats In One Hour, ", "] Stats In One Day, ")
"""What statistics contain that are skipped: the sums of hours and days are wrong (apache/rocketmq#3190)."""

KNOWN_WARNINGS = (
    "getAllTopicListFromNameserver ",
    # The gRPC client of a proxy ended its stream or a long poll; a lost client has its own line.
    "telemetry on error",
    "handleGrpcCancel clientId:",
    "client has cancelled the request. response to write: ",
)
"""Starts of warnings that healthy servers log as well: they are not complaints."""

_GROUP_PATTERN = re.compile(r"\(\?<(\w+)>")


def group_names(rule: LogRule) -> list[str]:
    """Return the names of a rule's groups in order."""
    return _GROUP_PATTERN.findall(rule.rest_pattern)


GROUPS_BY_FIELD: Mapping[str, list[str]] = {
    field_name: sorted(
        {
            group_name
            for rule in LOG_RULES
            for group_name in group_names(rule)
            if group_name.rstrip("0123456789") == field_name
        }
    )
    for field_name in sorted(
        {group_name.rstrip("0123456789") for rule in LOG_RULES for group_name in group_names(rule)}
    )
}
"""All fields of all rules, with the names of the groups that may contain each field."""
