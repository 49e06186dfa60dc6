"""Which lines of Java's logs mean something: patterns, each with the fields that it finds.

Written after lines of released 4.9.7 and 5.5.0 servers, and after their sources. 4.x and 5.x say the same in
different words; fields have the same names in both. A group whose name ends in a number is another place of
the same field.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple


class Rule(NamedTuple):
    """A message that begins with `starts`; what follows has to match `rest`.

    `dialect` is what only that release says, `of` the kinds of files (their first letters) where it counts.
    """

    name: str
    starts: str
    rest: str
    dialect: str | None = None
    of: str = ""


class Measure(NamedTuple):
    """A message with figures: a fact for each (key, value) that `pairs` finds; `named` finds its name.

    A minute is one row: the greatest value, or the sum.
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
    # A server's own life.
    Rule("started", "kvConfigPath=", r".*", of="namesrv"),
    Rule("ready", "The Name Server boot success.", r"(?:.*, address (?<addr>\S+))?.*"),
    Rule("stopping", "shutdown hook was invoked, 1 times", r".*", of="namesrv"),
    Rule("stopping", "Shutdown hook was invoked, 1", "", of="namesrv"),
    # Brokers come.
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
    # Brokers go.
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
    # Topics.
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
    # What operators do.
    Rule("wiped", "wipe write perm of broker[", _WHO),
    Rule("added", "add write perm of broker[", _WHO),
    Rule("kvNew", "putKVConfig create new config item, Namespace: ", _ITEM),
    Rule("kvUpdated", "putKVConfig update config item, Namespace: ", _ITEM),
    Rule("kvDeleted", "deleteKVConfig delete a config item, Namespace: ", _ITEM),
    Rule("kvListed", "configTable NS: ", _ITEM),
    Rule("configCalled", "updateConfig called by ", r"(?<client>\S+)", of="namesrv"),
    Rule("replaced", "Replace, key: ", r"(?<key>.*?), value: (?<former>.*?) -> (?<value>.*)", of="namesrv"),
    # Nothing that happened, but worth a fact.
    Rule("tick", "start scanNotActiveBroker", "", "5.x"),
    Rule("notReady", "name server not ready. request code ", r"(?<value>\d+).*", "5.x"),
    Rule("kvCounted", "configTable SIZE: ", r"(?<value>\d+)"),
    Rule("badFrame", "decode exception, ", r"(?<key>\S+).*"),
    Rule("badChecksum", "receive registerBroker request,crc32 not match,from ", r"(?<key>.*)"),
    # Brokers tell the other half.
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
"""In their order: of several that fit, the first one counts."""

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
"""The kind of fact that a rule's line is; lines of other rules are events, or only tell who somebody is."""

MEASURES = (
    Measure("waterMark", "[WATERMARK] ClientQueueSize", r"(\w+):(\d+)"),
    Measure("waterMark", "[WATERMARK] ", r"(Size|SlowTimeMills): (\d+)", r"(?<=\] )(.*?) Queue Size"),
    Measure("traffic", "Port: ", r"(?<=[{ ])(\d+):(\d+)", r"(Request|Response)Code Distribution", sums=True),
    Measure("storeTps", "[STORETPS]", r"(\w+_tps) ([0-9.E-]+)"),
)
"""In their order: of several that fit, the first one counts."""

STATISTIC = r"\[(.*?)\] \[(.*?)\] Stats In One Minute, SUM: (\d+) .*"
"""Name, key and sum of a minute."""

KNOWN_WARNINGS = ("getAllTopicListFromNameserver ",)
"""What servers warn of in all their days."""

_GROUP = re.compile(r"\(\?<(\w+)>")


def names(rule: Rule) -> list[str]:
    """The names of a rule's groups, in their order."""
    return _GROUP.findall(rule.rest)


PLACES: Mapping[str, list[str]] = {
    field: sorted({name for rule in RULES for name in names(rule) if name.rstrip("0123456789") == field})
    for field in sorted({name.rstrip("0123456789") for rule in RULES for name in names(rule)})
}
"""All fields that some rule finds, and the groups that may be it."""
