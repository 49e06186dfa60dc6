"""Table definitions: the tables below bronze/ and silver/, and the meaning of their columns.

This module does not load Spark. `nsreport.reports.catalogue` defines the tables below gold/.
"""

from collections.abc import Mapping
from typing import NamedTuple

from nsreport.dictionary.column_types import find_column_type, find_column_unit


class ColumnDefinition(NamedTuple):
    """A column: its name, SQL type, unit (None: no unit) and meaning."""

    name: str
    type_name: str
    unit: str | None
    meaning: str


class TableDefinition(NamedTuple):
    """A table: its name with its layer, the meaning of a row, and its columns."""

    name: str
    description: str
    columns: tuple[ColumnDefinition, ...]


def define_table(table_name: str, description: str, meanings: Mapping[str, str]) -> TableDefinition:
    """Define a table by the meanings of its columns; types and units follow from the names."""
    columns = []
    for column_name, meaning in meanings.items():
        type_name = find_column_type(table_name, column_name)
        columns.append(
            ColumnDefinition(column_name, type_name, find_column_unit(column_name, type_name), meaning)
        )
    return TableDefinition(table_name, description, tuple(columns))


SHARED_MEANINGS: Mapping[str, str] = {
    "date": "day of the row",
    "cluster": "name of the cluster; - if it is unknown, or if the row concerns no cluster",
    "server": "name server, or the server that wrote the log",
    "observer": "source about a name server: its own journal (its name), its collector or its log",
    "isLog": "whether the observer is a log of Apache's name server",
    "recordOrder": "order of the rows of an observer: the record number, or time and line of a log",
    "brokerName": "name of the broker group",
    "brokerId": "0 for a master, higher for a slave; null if a log lacks it",
    "brokerAddr": "address of the broker",
    "topic": "name of the topic",
    "ts": "time of the row",
    "time": "time of the row",
    "type": "type of the event",
    "reason": "reason of the event, in the words of the journal",
    "cause": "request that caused the event, such as REGISTER_BROKER",
    "client": "address that sent the request",
    "validFrom": "start of the state",
    "validTo": "end of the state; null: it lasts",
    "endDate": "day of validTo; null: the state lasts",
    "known": "whether the state is known; false: this is the last known state",
    "file": "file of the line",
    "line": "number of the line in its file, or the offset of its block",
    "kind": "journal, or the kind of the log",
    "text": "text of the line",
}
"""Meanings of columns that several tables have."""

QUEUE_MEANINGS: Mapping[str, str] = {
    "readQueueNums": "queues to read from",
    "writeQueueNums": "queues to write to",
    "perm": "sum of 4 (read), 2 (write) and 1 (inherit)",
    "topicSysFlag": "flags of the topic",
}

_LIFECYCLE_MEANINGS = {
    "seq": "number of the record in its journal; null in a log",
    "topics": "number of topics in the registration, or of the changed topics",
    "changes": "changed queues of topics, before and after",
    "groups": "brokers of a snapshot, by group",
    "pauseMillis": "time during which the process did not run",
    "silentMillis": "silence of the broker so far",
    "resumed": "whether the silence is over",
    "brokers": "number of brokers",
    "lost": "number of events that the journal lost",
}
_RUNTIME_MEANINGS = {
    "brokerVersion": "version of the broker",
    "bootTime": "start of the broker",
    "brokerActive": "whether the broker serves requests",
    "putTps": "stored messages per second",
    "getTps": "delivered messages per second",
    "putTotal": "messages stored since the start",
    "getTotal": "messages delivered since the start",
    "commitLogDiskRatio": "used share of the disk",
    "commitLogMinOffset": "first offset of the commit log",
    "commitLogMaxOffset": "end of the commit log",
    "dispatchBehindBytes": "bytes of the commit log without an index",
    "sendQueueSize": "waiting send requests",
    "sendQueueWaitMillis": "age of the first waiting send request",
    "pullQueueSize": "waiting pull requests",
    "pageCacheLockMillis": "how long the page cache is locked",
    "earliestMessageTime": "time of the oldest message",
}
_LAG_MEANINGS = {
    "queueCount": "queues of the topic on the broker",
    "uncommittedQueues": "queues without an offset of the group",
    "brokerOffset": "sum of the ends of the queues",
    "consumerOffset": "sum of the consumer offsets",
    "lag": "messages to consume",
    "inflight": "messages that were delivered and not acknowledged",
    "consumedTime": "time of the last consumed message",
}


def _pick_meanings(*column_names: str) -> dict[str, str]:
    return {column_name: SHARED_MEANINGS[column_name] for column_name in column_names}


def _cause_meanings(prefix: str, verb: str) -> dict[str, str]:
    return {
        f"{prefix}Type": f"type of the record that {verb} the state",
        f"{prefix}Cause": f"request that {verb} the state",
        f"{prefix}Client": "address that sent that request",
    }


_BROKER_COLUMNS = _pick_meanings("server", "ts", "brokerName", "brokerId", "brokerAddr")

_DEFINITIONS = (
    define_table(
        "bronze/files",
        "A file that a run read, in its state at that time.",
        {
            "path": "path or URL of the file",
            "server": "name of its server, if you gave one",
            "length": "size of the file",
            "modified": "time of its last change",
        },
    ),
    define_table(
        "bronze/lines",
        "A line of a journal, or a message of a log. The same line is stored once.",
        {
            **_pick_meanings("file", "line"),
            "hash": "identifies the line of a server in any file",
            "ingestTime": "time of the run that read the line",
            "text": "text of the line",
            "server": "name of its server, if you gave one",
            "kind": SHARED_MEANINGS["kind"],
            "date": "day of the line; 1970-01-01 if the line has no time",
        },
    ),
    define_table(
        "silver/agreement_interval",
        "When the name servers of a cluster had equal, or different, queues of a topic on a broker.",
        {
            **_pick_meanings("cluster", "topic", "brokerName"),
            "differ": "whether the name servers whose tables were known had different queues",
            "isWatchChange": "whether the tables of a name server became known or unknown at validFrom",
            **_pick_meanings("validFrom", "validTo", "date", "endDate"),
        },
    ),
    define_table(
        "silver/broker_cluster",
        "A cluster that an observer named for a broker on a day.",
        {
            **_pick_meanings("date", "observer", "server", "brokerName"),
            "clusterName": "name of the cluster",
            "time": "time of the last record that named it on that day",
        },
    ),
    define_table(
        "silver/broker_lifecycle",
        "An event about a broker, its write permission, or a name server itself.",
        {
            **_pick_meanings("type", "cause", "client"),
            "seq": _LIFECYCLE_MEANINGS["seq"],
            **_pick_meanings("time", "reason", "brokerName", "brokerId", "brokerAddr"),
            **{name: meaning for name, meaning in _LIFECYCLE_MEANINGS.items() if name != "seq"},
            **_pick_meanings("cluster", "server", "observer", "isLog", "recordOrder", "date"),
        },
    ),
    define_table(
        "silver/broker_runtime",
        "The figures that a broker reported to a collector.",
        {**_BROKER_COLUMNS, **_RUNTIME_MEANINGS, **_pick_meanings("date", "cluster")},
    ),
    define_table(
        "silver/consumer_lag",
        "The lag of a group on a topic and broker, as a collector read it.",
        {
            **_BROKER_COLUMNS,
            "consumerGroup": "name of the group",
            **_pick_meanings("topic"),
            **_LAG_MEANINGS,
            **_pick_meanings("date", "cluster"),
        },
    ),
    define_table(
        "silver/entry_interval",
        "A broker address or a KV value that a name server had, from when to when.",
        {
            **_pick_meanings("server", "cluster"),
            "field": "brokerAddr or kv",
            "name": "name of the broker group, or the namespace",
            "key": "id of the broker, or the key",
            "value": "address or value",
            **_pick_meanings("validFrom", "validTo", "date", "endDate"),
        },
    ),
    define_table(
        "silver/knowledge_change",
        "A record, or a gap between records, at which the knowledge about a name server can change.",
        {
            **_pick_meanings("observer", "server", "isLog", "time"),
            "type": "type of the record, or hole, twice, ended, silent, heard, paused, last or late",
            **_pick_meanings("recordOrder"),
            "orderOffset": "-1 just before the record, 0 at the record, 1 just after it",
            "since": "time from which the row counts, never earlier than the rows before it",
            **_pick_meanings("reason", "cause", "client", "date"),
        },
    ),
    define_table(
        "silver/knowledge_interval",
        "When an observer knew, or did not know, the tables of a name server.",
        {
            **_pick_meanings("observer", "server"),
            "isRouteSource": "whether route_interval comes from this observer",
            "known": "whether the tables were known",
            **_pick_meanings("validFrom", "validTo"),
            "fromType": "type of the knowledge_change that began the interval",
            "toType": "type of the knowledge_change that ended the interval",
        },
    ),
    define_table(
        "silver/log_fact",
        "A fact from a log that is not an event.",
        {
            **_pick_meanings("server", "time", "ts"),
            "kind": "scan, waterMark, traffic, registered, decodeError, complaint and others",
            "name": "name of a broker, or of the measure",
            "key": "address, or the subject of the line",
            "value": "number in the line",
            **_pick_meanings("text", "file", "line", "date"),
        },
    ),
    define_table(
        "silver/observer_day",
        "The records of an observer on a day.",
        {
            **_pick_meanings("date", "observer", "server", "isLog"),
            "hasSnapshot": "whether there is a snapshot among them",
            "firstOrder": "lowest recordOrder",
            "lastOrder": "highest recordOrder",
            "lastTime": "latest time",
            "lastType": "type of the last record",
        },
    ),
    define_table(
        "silver/poll_fact",
        "A poll of a collector, a failure, or a number of equal polls.",
        {
            **_pick_meanings("server", "ts"),
            "ok": "whether all answers came",
            "error": "error of a failed poll",
            "polls": "number of polls in the record",
            "brokers": "number of brokers in the answer",
            "topics": "number of topics in the answer",
            "millis": "time of the longest poll",
            **_pick_meanings("date", "cluster"),
        },
    ),
    define_table(
        "silver/quarantine",
        "A line that could not be read.",
        {
            **_pick_meanings("file", "line"),
            "text": "first 500 characters of the line",
            "reason": "why the line could not be read",
            **_pick_meanings("kind", "date"),
        },
    ),
    define_table(
        "silver/route_interval",
        "The queues of a topic on a broker, for each name server, from when to when.",
        {
            **_pick_meanings("server", "topic", "brokerName"),
            **QUEUE_MEANINGS,
            **_pick_meanings("validFrom", "validTo"),
            **_cause_meanings("from", "began"),
            **_cause_meanings("to", "ended"),
            **_pick_meanings("known", "date", "endDate", "cluster"),
        },
    ),
    define_table(
        "silver/route_server",
        "A cluster whose routes a name server began to report on a day.",
        _pick_meanings("date", "server", "cluster"),
    ),
    define_table(
        "silver/stats_minute",
        "A statistic that a broker logged for a minute, or every five minutes.",
        {
            "broker": "broker that wrote the log",
            "ts": "start of the minute",
            "name": "name of the statistic, such as TOPIC_PUT_NUMS; *_LATENCY_TIMES: number of operations",
            "key": "key of the statistic",
            "topic": "name of the topic, if the key has one",
            "group": "name of the group, if the key has one",
            "sum": "sum of the minute: messages, bytes or ms; for GROUP_GET_FALL_*: the last value",
            "date": SHARED_MEANINGS["date"],
        },
    ),
)

DEFINITIONS_BY_NAME: Mapping[str, TableDefinition] = {
    definition.name: definition for definition in _DEFINITIONS
}
"""The tables below bronze/ and silver/, without `silver/ns_event`, whose columns follow from the journal."""

DATA_QUALITY_TABLE = define_table(
    "gold/data_quality",
    "How complete the input of a source is, day by day.",
    {
        "date": "day of the lines; 1970-01-01 for lines without a time",
        "source": "name server, or server that wrote the log; the folder of the file if it is unknown",
        "kind": "journal, or the kind of the log",
        "lines": "lines that were read",
        "quarantinedLines": "lines that could not be read",
        "quarantineShare": "quarantinedLines divided by lines",
        "lateLines": "lines that were read more than a day after the end of their day",
        "gaps": "times of that day in which the tables of the name server were unknown",
        "unknownSeconds": "s of these gaps, without the time after the last known moment",
        "lastTs": "time of the run that read the last of these lines",
    },
)
"""A report that no run writes: it is computed when it is read."""
