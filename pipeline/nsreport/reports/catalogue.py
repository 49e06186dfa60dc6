"""Catalogue: the definitions of all reports, with their input tables and the meaning of their columns.

This module does not load Spark. A report's function does; it is in the module of the report's name.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

ReportFunction = Callable[..., "DataFrame"]
"""Takes a DataFrame for each input table of the report, then `since_ms` and `until_ms` (ms since 1970).

The inputs must contain all rows before `until_ms`, also those before `since_ms`: a state may have begun long
before the report does.
"""


class ReportDefinition(NamedTuple):
    """A report: its name, its input tables, the meaning of its columns, and its partition columns.

    An input table can be another report (`gold/topic_growth`). `limiting_tables` are input tables that only
    limit the rows that the others give.

    A report with `final_after_days` is made by day: the rows of a day follow from the input rows of the day
    before, of that day, and of so many days after it, and from states that lasted then. None: it is made as a
    whole.
    """

    name: str
    description: str
    input_tables: tuple[str, ...]
    columns: Mapping[str, str]
    partition_columns: tuple[str, ...] = ("date", "cluster")
    limiting_tables: tuple[str, ...] = ()
    final_after_days: int | None = None

    @property
    def subject_tables(self) -> tuple[str, ...]:
        """The input tables that give the report its rows: if all of them are empty, so is the report."""
        return tuple(table for table in self.input_tables if table not in self.limiting_tables)

    def load_function(self) -> ReportFunction:
        """The function that makes the report: it has its name, in a module of its name. Loads Spark."""
        module = import_module(f"nsreport.reports.{self.name}")
        return cast(ReportFunction, getattr(module, self.name))


_BROKER_COLUMNS = {
    "date": "day (UTC)",
    "cluster": "name of the cluster",
    "brokerName": "name of the broker group; its address if a log lacks the name",
    "brokerId": "0 for a master, higher for a slave; null if a log lacks it",
}

_GROUP_COLUMNS = {
    column_name: _BROKER_COLUMNS[column_name] for column_name in ("date", "cluster", "brokerName")
}
_REPORT_DEFINITIONS = (
    ReportDefinition(
        "broker_availability",
        "How long each broker was up, down, drained, or unknown.",
        ("silver/broker_lifecycle", "silver/knowledge_interval"),
        {
            **_BROKER_COLUMNS,
            "upSeconds": "s in which a name server listed it",
            "downSeconds": "s in which no name server listed it",
            "plannedSeconds": "s in which it was drained, running or stopped",
            "unknownSeconds": "s without data",
            "partialSeconds": "s of upSeconds in which some name servers did not list it",
            "availability": "upSeconds in percent of up and down",
            "failures": "how often it went down that day",
            "mtbfSeconds": "s up for each failure",
            "mttrSeconds": "s down for each failure",
        },
        limiting_tables=("silver/knowledge_interval",),
    ),
    ReportDefinition(
        "broker_flaps",
        "Sessions in which a broker was lost and came back, possibly several times.",
        ("silver/broker_lifecycle",),
        {
            **_BROKER_COLUMNS,
            "ts": "time when it was first lost",
            "endTs": "time when it was finally back",
            "ongoing": "whether it is still lost",
            "servers": "name servers that saw it",
            "outages": "how often it was lost; a loss that several name servers saw counts once",
            "conflicts": "how often another process registered its name or address",
            "downSeconds": "s in which some name server did not list it",
            "longestSeconds": "s of the longest outage",
            "cause": "unregistered, channel closed, expired, not in a snapshot, or address conflict",
        },
    ),
    ReportDefinition(
        "drain_audit",
        "Which brokers were closed to writes, on which name servers that failed, and which event undid it.",
        ("silver/broker_lifecycle", "silver/knowledge_interval"),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster",
            "brokerName": "name of the broker group",
            "ts": "time when the closing began on the first name server",
            "server": "name server",
            "outcome": "holds, given back, undone, restarted, forgotten, or missed",
            "method": "the request, or brokerPermission",
            "client": "address that sent the request",
            "closedTs": "time when it was closed on this name server",
            "topics": "topics of the broker",
            "closedTopics": "topics that lost WRITE",
            "heldSeconds": "s until the first of these topics was open again",
            "openedTs": "time of that",
            "openedTopics": "topics that were opened by that event",
            "openedType": "type of the event that opened them",
            "openedCause": "request that caused it",
            "openedClient": "address that sent that request",
        },
        limiting_tables=("silver/knowledge_interval",),
    ),
    ReportDefinition(
        "heartbeat_gaps",
        "How long brokers were silent, and whether the broker, the link or the name server caused it.",
        ("silver/broker_lifecycle", "silver/log_fact", "silver/knowledge_interval"),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster; - for a pause of the name server, and for the log of a broker",
            "brokerName": "name of the broker group, or of the broker with the log; null: a pause",
            "brokerId": "0 for a master, higher for a slave; null if a log lacks it",
            "server": "name server; its address in the log of a broker",
            "ts": "time of its last heartbeat or registration",
            "endTs": "time of its next heartbeat, or when it was removed",
            "seconds": "s between ts and endTs",
            "outcome": "resumed, lost, or open",
            "causedBy": "name server (all its brokers were silent, or it was paused), "
            "broker (silent on all of them), or link",
            "silentBrokers": "brokers of that name server that were silent at the same time",
        },
    ),
    ReportDefinition(
        "ns_divergence",
        "When name servers had different routes, broker addresses or KV config.",
        (
            "silver/route_interval",
            "silver/entry_interval",
            "silver/agreement_interval",
            "silver/route_server",
            "silver/knowledge_interval",
        ),
        {
            "date": "day (UTC) of its start",
            "cluster": "name of the cluster; for KV config, the cluster of the name server",
            "topic": "name of the topic; null: no queues",
            "brokerName": "name of the broker group; null: KV config",
            "key": "id of the broker, or NAMESPACE/KEY of the KV config; null: queues",
            "field": "route (some had no such queues), readQueueNums, writeQueueNums, perm, topicSysFlag, "
            "brokerAddr or kv",
            "ts": "time when the difference began",
            "endTs": "time when it ended",
            "seconds": "s between ts and endTs",
            "ongoing": "whether it still exists",
            "values": "value on each name server with data, as JSON",
        },
        limiting_tables=("silver/route_server", "silver/knowledge_interval"),
    ),
    ReportDefinition(
        "ns_convergence",
        "How long it takes until all name servers agree after a change.",
        ("silver/agreement_interval",),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster",
            "trigger": "change (of queues), or name server (a new one)",
            "changes": "changes of a topic's queues on a broker",
            "unfinishedChanges": "changes that did not reach every name server with data within a day",
            "p50Seconds": "median time, in s",
            "p95Seconds": "95th percentile, in s",
            "maxSeconds": "longest time, in s",
        },
        final_after_days=1,
    ),
    ReportDefinition(
        "topic_growth",
        "How many topics each broker registers, and the size of the registration.",
        ("silver/route_interval",),
        {
            **_GROUP_COLUMNS,
            "topics": "topics at the end of the day",
            "change": "change since the day before; null: it had no topics then",
            "bytes": "size of a registration with all of them, as JSON",
        },
        final_after_days=0,
    ),
    ReportDefinition(
        "registration_forecast",
        "When the registration of a broker will exceed a frame of 16 MiB.",
        ("gold/topic_growth",),
        {
            **_GROUP_COLUMNS,
            "days": "days of data behind the forecast",
            "topics": "topics at the end of the last day",
            "bytes": "size of a registration then",
            "bytesPerDay": "growth: the median of all slopes",
            "lowBytesPerDay": "lower end of the 95 % interval",
            "highBytesPerDay": "upper end of the 95 % interval",
            "fullDate": "day on which 16 MiB are reached; null: never, or unknown",
            "earliestDate": "that day at the upper end",
            "latestDate": "that day at the lower end",
        },
        partition_columns=(),
    ),
    ReportDefinition(
        "orphan_topics",
        "Topics that are probably not needed any more.",
        ("silver/broker_lifecycle", "silver/route_interval", "silver/stats_minute", "silver/consumer_lag"),
        {
            "date": "day (UTC) at the end",
            "cluster": "name of the cluster",
            "topic": "name of the topic",
            "brokers": "brokers that have it",
            "reason": "no broker, no traffic, or no group",
            "knownSince": "time since which it is known",
            "lastPut": "last minute with a message, as far as brokers reported it",
        },
        partition_columns=(),
        limiting_tables=("silver/broker_lifecycle", "silver/stats_minute", "silver/consumer_lag"),
    ),
    ReportDefinition(
        "hot_brokers",
        "Brokers with more than their share of the cluster's messages.",
        ("silver/broker_runtime", "silver/stats_minute"),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster; - if the log lacks it",
            "source": "source of the figures: runtime (a collector) or log",
            "brokerName": "name of the broker group, or of the broker with the log",
            "puts": "messages stored that day",
            "gets": "messages delivered that day",
            "putShare": "share of the cluster's stored messages, 0 to 1",
            "getShare": "share of its delivered messages, 0 to 1",
            "fairShare": "share if all brokers had the same",
            "putRatio": "putShare divided by fairShare",
            "skew": "stored messages of the busiest broker, divided by the mean",
            "gini": "0: all brokers have the same; near 1: one broker has everything",
            "queueSkew": "stored messages of a topic's busiest queue, divided by the mean of all (log)",
            "skewedTopic": "topic with the highest queueSkew",
        },
        final_after_days=0,
    ),
    ReportDefinition(
        "consumer_lag_trend",
        "Groups that fall behind, that catch up (and when), and that are stuck.",
        ("silver/consumer_lag",),
        {
            "date": "day (UTC)",
            "cluster": "name of the cluster",
            "consumerGroup": "name of the group",
            "topic": "name of the topic",
            "brokerName": "name of the broker group",
            "samples": "number of reported lags",
            "lastLag": "messages to consume, at the end of the day",
            "minLag": "lowest lag of the day",
            "maxLag": "highest lag of the day",
            "lagPerSecond": "growth of the lag in messages per second, by linear regression",
            "drainSeconds": "s until the lag is 0, if it shrinks",
            "stuck": "whether no message was consumed although messages were waiting",
            "trend": "growing, draining, steady, stuck, caught up, or unknown",
        },
        final_after_days=0,
    ),
    ReportDefinition(
        "topic_volume",
        "Messages, bytes and latencies per day, for each topic and group.",
        ("silver/stats_minute",),
        {
            "date": "day (UTC)",
            "topic": "name of the topic",
            "group": "consumer group; null: stored messages",
            "messagesIn": "messages stored",
            "bytesIn": "bytes stored",
            "messagesOut": "messages delivered to the group",
            "bytesOut": "bytes delivered to the group",
            "sentBack": "messages that the group sent back for a retry",
            "putMillis": "mean time to store a message, in ms",
            "getMillis": "mean time to read messages for the group, in ms",
            "behindSeconds": "greatest age of messages that the group read late, in s (every five minutes)",
            "minutes": "minutes of the day with figures",
            "brokers": "brokers that reported",
        },
        partition_columns=("date",),
        final_after_days=0,
    ),
    ReportDefinition(
        "config_changes",
        "Changes of settings and KV values of name servers.",
        ("silver/ns_event",),
        {
            "date": "day (UTC)",
            "ts": "time of the change",
            "server": "name server",
            "type": "KvPut, KvDeleted or SettingsChanged",
            "cause": "the request; collector: unknown",
            "client": "address that sent the request",
            "namespace": "namespace of the KV config; null: a setting",
            "key": "key in it, or name of the setting",
            "before": "value before; null: no value",
            "after": "value after; null: no value",
        },
        partition_columns=("date",),
        final_after_days=0,
    ),
    ReportDefinition(
        "ns_health",
        "Starts, pauses, scans, queues, requests and errors of each name server.",
        ("silver/broker_lifecycle", "silver/knowledge_interval", "silver/log_fact"),
        {
            "date": "day (UTC)",
            "server": "name server",
            "knownSeconds": "s in which its tables were known",
            "starts": "starts",
            "stops": "orderly stops; fewer than starts means that it was killed",
            "pauses": "times when the process did not run",
            "failedPolls": "failed polls of a collector",
            "eventsLost": "events that its journal lost",
            "repairs": "repaired journals",
            "decodeErrors": "unreadable frames (log)",
            "unparsedWarnings": "warnings and errors without a parsing rule (log)",
            "scanGaps": "late scans for silent brokers (log)",
            "longestPauseSeconds": "s of the longest pause",
            "longestScanGapSeconds": "s of the longest time between scans (log)",
            "waterMarks": "highest lengths of its queues (log)",
            "requests": "requests by code (log)",
        },
        partition_columns=("date",),
    ),
    ReportDefinition(
        "proxy_health",
        "Starts, clients, failed routes, requests and errors of each proxy.",
        ("silver/log_fact",),
        {
            "date": "day (UTC)",
            "server": "proxy",
            "starts": "starts",
            "stops": "orderly stops; fewer than starts means that it was killed",
            "clients": "clients that connected",
            "peakClients": "most consumers and producers at the same time; null: none came or went that day",
            "clientsLeft": "consumers and producers that unregistered",
            "clientsLost": "consumers and producers whose connection was closed, or that were silent",
            "routeFailures": "failed updates of routes",
            "failedTopics": "topics with such an update",
            "nameServerFailures": "failed updates without a connection to a name server",
            "unreachableServers": "addresses of these name servers",
            "syncFailures": "failed messages to other proxies about clients",
            "requestErrors": "requests that failed with an error of the proxy",
            "unparsedWarnings": "warnings and errors without a parsing rule",
            "requests": "requests of remoting clients by code",
            "responses": "responses to remoting clients by code",
            "waterMarks": "highest lengths of its queues (queueSize), and waiting times in ms (headSlow)",
        },
        partition_columns=("date",),
    ),
    ReportDefinition(
        "route_as_of",
        "The routes of each name server at the end.",
        ("silver/route_interval",),
        {
            "date": "day (UTC) of that moment",
            "cluster": "name of the cluster",
            "server": "name server",
            "topic": "name of the topic",
            "brokerName": "name of the broker group",
            "readQueueNums": "queues to read from",
            "writeQueueNums": "queues to write to",
            "perm": "sum of 4 (read), 2 (write) and 1 (inherit)",
            "topicSysFlag": "flags of the topic",
            "known": "false: no data at that time, so this is the last known state",
            "validFrom": "start of this state",
            "fromType": "type of the event that caused it",
            "fromCause": "request that caused it",
            "fromClient": "address that sent that request",
        },
        partition_columns=(),
    ),
)

REPORTS_BY_NAME: Mapping[str, ReportDefinition] = {report.name: report for report in _REPORT_DEFINITIONS}
"""The reports by name, in the order of a page."""


def add_source_reports(report_names: Iterable[str]) -> list[str]:
    """Return these reports and the reports that they read, in the order of a page."""
    wanted_names = set(report_names)
    source_tables = list_input_tables(wanted_names)
    return [name for name in REPORTS_BY_NAME if name in wanted_names or f"gold/{name}" in source_tables]


def list_input_tables(report_names: Iterable[str]) -> set[str]:
    return {
        table_name for report_name in report_names for table_name in REPORTS_BY_NAME[report_name].input_tables
    }
