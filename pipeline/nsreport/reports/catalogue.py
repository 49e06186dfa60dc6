"""Catalogue: the definitions of all reports, with their input tables and the meaning of their columns.

This module does not load Spark; `report_functions`, which has the functions that make the reports, does.
"""

from collections.abc import Mapping
from typing import NamedTuple


class ReportDefinition(NamedTuple):
    """A report: its name, its input tables, the meaning of its columns, and its partition columns."""

    name: str
    description: str
    input_tables: tuple[str, ...]
    columns: Mapping[str, str]
    partition_columns: tuple[str, ...] = ("date", "cluster")


_BROKER_COLUMNS = {
    "date": "day (UTC)",
    "cluster": "name of the cluster",
    "brokerName": "name of the broker's group; its address where a log does not tell it",
    "brokerId": "0 for a master, more for a slave; null where a log does not tell it",
}

_GROUP_COLUMNS = {
    column_name: _BROKER_COLUMNS[column_name] for column_name in ("date", "cluster", "brokerName")
}
_TOPIC_COLUMNS = {
    "cluster": _BROKER_COLUMNS["cluster"],
    "topic": "name of the topic",
    "brokerName": _BROKER_COLUMNS["brokerName"],
}

_REPORT_DEFINITIONS = (
    ReportDefinition(
        "broker_availability",
        "How long each broker was up, down, drained, or out of everybody's sight.",
        ("told", "coverage"),
        {
            **_BROKER_COLUMNS,
            "upSeconds": "s in which a name server had it",
            "downSeconds": "s in which all name servers missed it",
            "plannedSeconds": "s in which it was drained, running or stopped",
            "unknownSeconds": "s in which nobody looked",
            "partialSeconds": "s of upSeconds in which some name servers missed it",
            "availability": "%: up of up and down",
            "failures": "how often it went down that day",
            "mtbfSeconds": "s up for each failure",
            "mttrSeconds": "s down for each failure",
        },
    ),
    ReportDefinition(
        "broker_flaps",
        "Sessions in which a broker was lost and came back, perhaps again and again.",
        ("told",),
        {
            **_BROKER_COLUMNS,
            "ts": "when it was lost for the first time",
            "endTs": "when it was back for the last time",
            "ongoing": "whether it is not back",
            "servers": "name servers that saw it",
            "outages": "how often it was lost; what several name servers saw at once is one",
            "conflicts": "how often another process came with its name or address",
            "downSeconds": "s in which some name server missed it",
            "longestSeconds": "s of the longest outage",
            "cause": "unregistered, channel closed, expired, not in a snapshot, or address conflict",
        },
    ),
    ReportDefinition(
        "drain_audit",
        "Who closed which broker to writes, where that did not happen, and what undid it.",
        ("told", "coverage"),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster",
            "brokerName": "name of the broker's group",
            "ts": "when the act began, on whichever name server",
            "server": "name server",
            "outcome": "holds, given back, undone, restarted, forgotten, or missed",
            "how": "the request, or brokerPermission",
            "client": "address of the one who asked",
            "closedTs": "when it was closed here",
            "topics": "topics that the broker had",
            "closedTopics": "topics that lost WRITE",
            "heldSeconds": "s until the first of them was open again",
            "openedTs": "when that was",
            "openedTopics": "topics that were opened at once",
            "openedType": "event that opened them",
            "openedCause": "request that did",
            "openedClient": "address of the one who asked for it",
        },
    ),
    ReportDefinition(
        "heartbeat_gaps",
        "How long brokers were silent, and whether it was they, the link or the name server.",
        ("told", "log_fact"),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster; - where the name server paused, or a broker's log tells",
            "brokerName": "name of the broker's group, or of the broker whose log it is; null: a pause",
            "brokerId": "0 for a master, more for a slave; null where a log does not tell it",
            "server": "name server; its address where a broker's log tells",
            "ts": "when it was last heard, or registered",
            "endTs": "when it was heard again, or given up",
            "seconds": "s between these",
            "ended": "resumed, lost, or open",
            "whose": "name server (all its brokers were), broker (all name servers missed it), or link",
            "silentBrokers": "brokers of that name server that were silent at the same time",
        },
    ),
    ReportDefinition(
        "ns_divergence",
        "When name servers said different things of routes, addresses of brokers, or the KV config.",
        ("route_fact", "entry_fact", "coverage"),
        {
            "date": "day (UTC) on which it began",
            "cluster": "name of the cluster; KV config is in that of the name server",
            "topic": "name of the topic; null: no queues",
            "brokerName": "name of the broker's group; null: KV config",
            "key": "id of the broker, or NAMESPACE/KEY of the KV config; null: queues",
            "field": "route (some had no such queues), readQueueNums, writeQueueNums, perm, topicSysFlag, "
            "brokerAddr or kv",
            "ts": "from then on",
            "endTs": "until then",
            "seconds": "s between these",
            "ongoing": "whether it goes on",
            "values": "what each name server said that somebody looked at, as JSON",
        },
    ),
    ReportDefinition(
        "ns_convergence",
        "How long it takes until all name servers say the same after a change.",
        ("route_fact", "coverage"),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster",
            "after": "change (of queues), or name server (one came new)",
            "changes": "changes of a topic's queues on a broker",
            "open": "those that are not everywhere, or were not when a name server was looked at no more",
            "p50Seconds": "s that half of them took at most",
            "p95Seconds": "s that 95 % took at most",
            "maxSeconds": "s of the slowest",
        },
    ),
    ReportDefinition(
        "topic_growth",
        "How many topics each broker registers, and how long that makes a registration.",
        ("route_fact",),
        {
            **_GROUP_COLUMNS,
            "topics": "topics at the end of the day",
            "change": "more than on the day before",
            "bytes": "length of a registration with all of them, as JSON",
        },
    ),
    ReportDefinition(
        "registration_forecast",
        "When a broker's registration will be too long for a frame of 16 MiB.",
        ("route_fact",),
        {
            **_GROUP_COLUMNS,
            "days": "days that the forecast leans on",
            "topics": "topics at the end of the last one",
            "bytes": "length of a registration then",
            "bytesPerDay": "growth: the median of all slopes",
            "lowBytesPerDay": "lower end of an interval of 95 %",
            "highBytesPerDay": "upper end",
            "fullDate": "day of 16 MiB; null: never, or nobody knows",
            "earliestDate": "that day at the upper end",
            "latestDate": "that day at the lower end",
        },
        partition_columns=(),
    ),
    ReportDefinition(
        "orphan_topics",
        "Topics that nobody needs any more, as far as anybody can tell.",
        ("told", "route_fact", "stats_minute", "consumer_lag"),
        {
            "date": "day (UTC) at the end",
            "cluster": "name of the cluster",
            "topic": "name of the topic",
            "brokers": "broker names that it is on",
            "reason": "no broker, no traffic, or no group",
            "knownSince": "since when it is known",
            "lastPut": "the last minute in which something was put, as far as brokers told",
        },
        partition_columns=(),
    ),
    ReportDefinition(
        "hot_brokers",
        "Who takes more of a cluster's messages than his share.",
        ("broker_runtime", "stats_minute"),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster; - where logs do not tell",
            "told": "runtime (to a collector), or log",
            "brokerName": "name of the broker's group, or of the broker whose log it is",
            "puts": "messages put that day",
            "gets": "messages got",
            "putShare": "part of the cluster's puts, 0 to 1",
            "getShare": "part of its gets",
            "fairShare": "the part if all had the same",
            "putRatio": "putShare against fairShare",
            "skew": "puts of the most loaded broker against the mean",
            "gini": "0: all have the same; near 1: one has all",
            "queueSkew": "puts of a topic's most loaded queue against the mean of its queues there (log)",
            "skewedTopic": "the topic of which that is most",
        },
    ),
    ReportDefinition(
        "consumer_lag_trend",
        "Which groups fall behind, which catch up and when, which are stuck.",
        ("consumer_lag",),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster",
            "consumerGroup": "name of the group",
            "topic": "name of the topic",
            "brokerName": "name of the broker's group",
            "samples": "how often a lag was told",
            "lastLag": "messages left to consume, at last",
            "minLag": "the least of the day",
            "maxLag": "the most of the day",
            "lagPerSecond": "messages a second by which it grows, by a line through all",
            "drainSeconds": "s until nothing is left, where it shrinks",
            "stuck": "whether nothing was consumed although something was left",
            "trend": "growing, draining, steady, stuck, caught up, or unknown",
        },
    ),
    ReportDefinition(
        "topic_volume",
        "How many messages a day, topic by topic, and group by group.",
        ("stats_minute",),
        {
            "date": "day (UTC)",
            "topic": "name of the topic",
            "group": "consumer group; null: what was put",
            "messagesIn": "messages put",
            "bytesIn": "bytes put",
            "messagesOut": "messages got by the group",
            "bytesOut": "bytes got by it",
            "sentBack": "messages that it sent back to be tried again",
            "minutes": "minutes of the day of which there are figures",
            "brokers": "brokers that told",
        },
        partition_columns=("date",),
    ),
    ReportDefinition(
        "config_changes",
        "Who changed which setting or KV value of a name server.",
        ("ns_event",),
        {
            "date": "day (UTC)",
            "ts": "when",
            "server": "name server",
            "type": "KvPut, KvDeleted or SettingsChanged",
            "cause": "the request; collector: nobody knows",
            "client": "address of the one who asked",
            "namespace": "namespace of the KV config; null: a setting",
            "key": "key in it, or name of the setting",
            "before": "value before; null: there was none",
            "after": "value now; null: there is none",
        },
        partition_columns=("date",),
    ),
    ReportDefinition(
        "ns_health",
        "How each name server fared: starts, pauses, scans, queues, requests, errors.",
        ("told", "coverage", "log_fact"),
        {
            "date": "day (UTC)",
            "server": "name server",
            "watchedSeconds": "s in which its tables were known",
            "starts": "starts",
            "stops": "ends in order; fewer than starts: it was killed",
            "pauses": "times when it could do nothing",
            "failedPolls": "polls of a collector that failed",
            "eventsLost": "events that its journal could not keep",
            "repairs": "torn journals that were repaired",
            "decodeErrors": "frames that nobody could read (log)",
            "complaints": "warnings and errors that no rule knows (log)",
            "scanHoles": "scans for silent brokers that were late (log)",
            "longestPauseSeconds": "s of the longest pause",
            "longestScanHoleSeconds": "s of the longest hole between scans (log)",
            "waterMarks": "greatest figures of its queues (log)",
            "requests": "requests by code (log)",
        },
        partition_columns=("date",),
    ),
    ReportDefinition(
        "route_as_of",
        "The routes that each name server gave at the end.",
        ("route_fact",),
        {
            "date": "day (UTC) of that moment",
            "cluster": "name of the cluster",
            "server": "name server",
            "topic": "name of the topic",
            "brokerName": "name of the broker's group",
            "readQueueNums": "queues to read from",
            "writeQueueNums": "queues to write to",
            "perm": "4 read, 2 write, 1 inherit, added up",
            "topicSysFlag": "flags of the topic",
            "known": "false: nobody looked, and it is what was known before",
            "validFrom": "since when it is so",
            "fromType": "event that made it so",
            "fromCause": "request that did",
            "fromClient": "address of the one who asked for it",
        },
        partition_columns=(),
    ),
)

REPORTS_BY_NAME: Mapping[str, ReportDefinition] = {report.name: report for report in _REPORT_DEFINITIONS}
"""The reports by name, in the order of a page."""
