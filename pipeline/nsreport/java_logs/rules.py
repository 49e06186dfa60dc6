"""Rules: patterns for the log lines that the pipeline understands, and the fields that each pattern finds.

The rules follow the logs and the source code of 4.9.7 and 5.5.0. 4.x and 5.x use different words for the same
thing; the field names are the same for both. A group whose name ends in a number is a second position of the
same field.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Rule(NamedTuple):
    """A message that starts with `message_start`; the rest has to match `rest_pattern`.

    `dialect` is set if only that release writes the message. `file_kind` is the start of the file kinds to
    which the rule applies.
    """

    name: str
    starts: str
    rest: str
    dialect: str | None = None
    of: str = ""


class Measure(NamedTuple):
    """A message with figures: `pairs_pattern` finds (key, value) pairs, `name_pattern` the name of the facts.

    Each minute becomes one fact per key: the greatest value, or the sum if `is_summed`.
    """

    kind: str
    starts: str
    pairs: str
    named: str = "()"
    sums: bool = False


def _queues(prefix: str) -> str:
    return (
        rf"QueueData \[brokerName=(?<{prefix}Broker>.*?), readQueueNums=(?<{prefix}Read>\d+), "
        rf"writeQueueNums=(?<{prefix}Write>\d+), perm=(?<{prefix}Perm>\d+), "
        rf"topicSy[sn]Flag=(?<{prefix}Flag>\d+)\]"
    )


_IDENTITY = r"(?:BrokerIdentityInfo \[clusterName=(?<cluster>.*), brokerAddr=(?<addr>.*)\]|(?<addr2>\S+))"
_NEW = r" \[clusterName=(?<cluster>.*), brokerAddr=(?<addr>.*)\] HAService: .*"
_RESULT = r" (?<result>OK|Failed), "
_ITEM = r"(?<namespace>.*?) Key: (?<key>.*?) Value: (?<value>.*)"
_WHO = r"(?<broker>.*)\], client: (?<client>\S+), (?<value>\d+)"
_CONFLICT = (
    r"(?<cluster>.*), BrokerName:(?<broker>.*), BrokerId:(?<id>\d+), Old BrokerAddr:(?<former>.*), "
    r"Old Version:-?\d+, New BrokerAddr:(?<addr>.*), New Version:-?\d+\."
)
_MOVED = (
    r"(?<cluster>.*)\] brokerName \[(?<broker>.*)\] master address change from (?<former>\S+) to (?<addr>\S+)"
)
_NOTIFIED = r"(?<minId>\d+), notify (?:null|\[(?<value>.*)\]), offline broker addr (?:null|(?<addr>\S+))"
_GONE4 = rf"(?:(?<topic>\S+) (?:null|{_queues('before')})\],|.*\] all queue,) from topicQueueTable, .*"
_NAME4 = r"(?<broker>[^\]]*)\](?:, clusterName\[(?<cluster>.*)\])? from .*"

RULES = (
    # A server starts and stops.
    Rule("started", "kvConfigPath=", r".*", of="namesrv"),
    Rule("ready", "The Name Server boot success.", r"(?:.*, address (?<addr>\S+))?.*"),
    Rule("stopping", "shutdown hook was invoked, 1 times", r".*", of="namesrv"),
    Rule("stopping", "Shutdown hook was invoked, 1", "", of="namesrv"),
    # Brokers register.
    Rule("master", "cluster [", _MOVED, "4.x"),
    Rule("registered", "new broker registered, BrokerIdentityInfo", _NEW, "5.x"),
    Rule("registered4", "new broker registered, ", r"(?<addr>\S+) HAServer: .*", "4.x"),
    Rule(
        "conflict",
        "Registering Broker conflicts with the existed one, just ignore.: Cluster:",
        _CONFLICT,
        "5.x",
    ),
    Rule(
        "conflict",
        "Registered Broker conflicts with the existed one, just ignore.: Cluster:",
        _CONFLICT,
        "5.x",
    ),
    Rule(
        "stranger",
        "Can't register topicConfigWrapper=",
        r".* because broker\[(?<id>\d+)\]=(?<addr>\S+) .*",
        "5.x",
    ),
    # Brokers leave.
    Rule("expired", "The broker channel expired, ", rf"{_IDENTITY} (?<value>\d+)ms"),
    Rule("idle", "NETTY SERVER PIPELINE: IDLE exception [", r"(?<client>.*)\]", of="namesrv"),
    Rule("destroyed", "the broker's channel destroyed, submit the unregister request", r".*", "5.x"),
    Rule("destroyed4", "the broker's channel destroyed, ", r"(?<addr>\S+), clean it's .*", "4.x"),
    Rule("offLive", "unregisterBroker, remove from brokerLiveTable", _RESULT + _IDENTITY),
    Rule("offPlace", "unregisterBroker, remove addr from brokerAddrTable", _RESULT + _IDENTITY),
    Rule("offName", "unregisterBroker, remove name from brokerAddrTable OK, ", r"(?<broker>.*)"),
    Rule("offPlace4", "remove brokerAddr[", r"(?<id>\d+), (?<addr>.*)\] from brokerAddrTable, .*", "4.x"),
    Rule("offName4", "remove brokerName[", _NAME4, "4.x"),
    Rule("minId", "min broker id changed to ", _NOTIFIED, "5.x"),
    # Topics change.
    Rule("topicNew", "new topic registered, ", rf"(?<topic>\S+) {_queues('after')}"),
    Rule(
        "topicChanged", "topic changed, ", rf"(?<topic>\S+) OLD: {_queues('before')} NEW: {_queues('after')}"
    ),
    Rule(
        "topicGone",
        "removeTopicByBrokerName, remove one broker's topic ",
        rf"(?<topic>\S+) {_queues('before')}",
    ),
    Rule("topicGone4", "remove topic[", _GONE4, "4.x"),
    Rule("topicDeleted", "deleteTopic, remove one broker's topic ", rf".* (?<topic>\S+) {_queues('before')}"),
    Rule("topicMade", "Register topic route:", r"(?<topic>[^,]*), .*", "5.x"),
    # Operators send requests.
    Rule("wiped", "wipe write perm of broker[", _WHO),
    Rule("added", "add write perm of broker[", _WHO),
    Rule("kvNew", "putKVConfig create new config item, Namespace: ", _ITEM),
    Rule("kvUpdated", "putKVConfig update config item, Namespace: ", _ITEM),
    Rule("kvDeleted", "deleteKVConfig delete a config item, Namespace: ", _ITEM),
    Rule("kvListed", "configTable NS: ", _ITEM),
    Rule("configCalled", "updateConfig called by ", r"(?<client>\S+)", of="namesrv"),
    Rule("replaced", "Replace, key: ", r"(?<key>.*?), value: (?<former>.*?) -> (?<value>.*)", of="namesrv"),
    # These lines are facts, not events.
    Rule("tick", "start scanNotActiveBroker", "", "5.x"),
    Rule("notReady", "name server not ready. request code ", r"(?<value>\d+).*", "5.x"),
    Rule("kvCounted", "configTable SIZE: ", r"(?<value>\d+)"),
    Rule("badFrame", "decode exception, ", r"(?<key>\S+).*"),
    Rule("badChecksum", "receive registerBroker request,crc32 not match,from ", r"(?<key>.*)"),
    # Brokers write these lines to their own logs.
    Rule("brokerBoot", "The broker[", r"(?<broker>.*), (?<addr>[^\],]*)\] boot success\..*"),
    Rule("brokerStopping", "Shutdown hook was invoked, 1", "", of="broker"),
    Rule("heard", "Registering current broker to name server completed. TargetHost=", r"(?<key>\S+)"),
    Rule("heard4", "register broker", r"(?:\[(?<id>\d+)\])? ?to name server (?<key>\S+) OK"),
    Rule("unheard", "Failed to register current broker to name server. TargetHost=", r"(?<key>\S+).*"),
    Rule("unheard4", "registerBroker Exception, ", r"(?<key>\S+).*", of="broker"),
    Rule(
        "late",
        "Registration to one or more name servers does NOT complete within deadline.",
        r".* (?<value>\d+)ms",
    ),
    Rule("left", "unregisterBroker OK, NamesrvAddr: ", r"(?<key>\S+)"),
    Rule("relisted", "name server address changed, ", r"old: (?<former>.*) new: (?<key>.*)"),
    Rule("behind", "Dispatch task fall behind commit log ", r"(?<value>\d+) ?bytes"),
    Rule("behind4", "dispatch behind commit log ", r"(?<value>\d+) bytes"),
    Rule("slaveBehind", "CommitLog: slave fall behind master ", r"(?<value>\d+) ?bytes"),
    Rule("slaveBehind4", "Slave fall behind master: ", r"(?<value>\d+) bytes"),
)
"""The order matters: the first rule whose start a message has applies."""

FACTS: Mapping[str, str] = {
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
}
"""The kind of fact for a line of each rule. Lines of other rules become events or identify brokers."""

MEASURES = (
    Measure("waterMark", "[WATERMARK] ClientQueueSize", r"(\w+):(\d+)"),
    Measure("waterMark", "[WATERMARK] ", r"(Size|SlowTimeMills): (\d+)", r"(?<=\] )(.*?) Queue Size"),
    Measure("traffic", "Port: ", r"(?<=[{ ])(\d+):(\d+)", r"(Request|Response)Code Distribution", sums=True),
    Measure("storeTps", "[STORETPS]", r"(\w+_tps) ([0-9.E-]+)"),
)
"""The order matters: the first measure whose start a message has applies."""

STATISTIC = r"\[(.*?)\] \[(.*?)\] Stats In One Minute, SUM: (\d+) .*"
"""A broker's statistic for a minute; the groups are its name, key and sum."""

KNOWN_WARNINGS = ("getAllTopicListFromNameserver ",)
"""Starts of warnings that healthy servers log as well: they are not complaints."""

_GROUP = re.compile(r"\(\?<(\w+)>")


def names(rule: Rule) -> list[str]:
    """Return the names of a rule's groups in order."""
    return _GROUP.findall(rule.rest)


PLACES: Mapping[str, list[str]] = {
    field: sorted({name for rule in RULES for name in names(rule) if name.rstrip("0123456789") == field})
    for field in sorted({name.rstrip("0123456789") for rule in RULES for name in names(rule)})
}
"""All fields of all rules, with the names of the groups that may contain each field."""
