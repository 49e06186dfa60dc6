"""Column types: the SQL type and the unit of each column, by its name. This module does not load Spark.

A column has the same type in all tables, except those of EXCEPTIONS.
"""

import re

_COLUMNS_BY_TYPE = {
    "date": "date endDate fullDate earliestDate latestDate",
    "timestamp": "ts endTs closedTs openedTs validFrom validTo ingestTime knownSince lastPut lastTs",
    "double": "seconds availability putShare getShare fairShare putRatio skew gini queueSkew bytesPerDay "
    "lowBytesPerDay highBytesPerDay lagPerSecond sum putTps getTps commitLogDiskRatio quarantineShare "
    "confidence putMillis getMillis",
    "boolean": "ongoing stuck known isLog isRouteSource resumed ok brokerActive changesWrite "
    "differ isWatchChange hasSnapshot",
    "int": "orderOffset days",
    "array<string>": "servers unreachableServers",
    "map<string,double>": "waterMarks requests responses",
    "bigint": "brokerId failures outages conflicts topics change bytes puts gets samples lastLag minLag "
    "maxLag messagesIn bytesIn messagesOut bytesOut sentBack minutes brokers starts stops pauses failedPolls "
    "eventsLost repairs decodeErrors unparsedWarnings scanGaps silentBrokers closedTopics openedTopics "
    "changes unfinishedChanges readQueueNums writeQueueNums perm topicSysFlag line length modified seq "
    "time lastTime since recordOrder firstOrder lastOrder lost polls bootTime putTotal getTotal "
    "commitLogMinOffset commitLogMaxOffset "
    "dispatchBehindBytes sendQueueSize pullQueueSize earliestMessageTime queueCount uncommittedQueues "
    "brokerOffset consumerOffset lag inflight consumedTime millis lines quarantinedLines lateLines gaps "
    "clients peakClients clientsLeft clientsLost routeFailures failedTopics nameServerFailures syncFailures "
    "requestErrors",
}
_TYPE_BY_COLUMN = {
    column_name: type_name
    for type_name, column_names in _COLUMNS_BY_TYPE.items()
    for column_name in column_names.split()
}
_EXCEPTIONS = {
    ("gold/drain_audit", "topics"): "int",
    ("gold/drain_audit", "closedTopics"): "int",
    ("gold/drain_audit", "openedTopics"): "int",
    ("gold/consumer_lag_trend", "drainSeconds"): "bigint",
    ("gold/orphan_topics", "brokers"): "array<string>",
    ("silver/log_fact", "value"): "double",
}

_UNIT_BY_COLUMN = {
    "availability": "%",
    "lag": "messages", "lastLag": "messages", "minLag": "messages", "maxLag": "messages",
    "inflight": "messages", "puts": "messages", "gets": "messages", "putTotal": "messages",
    "getTotal": "messages", "messagesIn": "messages", "messagesOut": "messages", "sentBack": "messages",
    "putTps": "messages/s", "getTps": "messages/s", "lagPerSecond": "messages/s",
    "length": "bytes", "bytesIn": "bytes", "bytesOut": "bytes", "bytes": "bytes", "minutes": "minutes",
    "time": "ms since 1970", "lastTime": "ms since 1970", "since": "ms since 1970",
    "bootTime": "ms since 1970",
    "earliestMessageTime": "ms since 1970", "consumedTime": "ms since 1970", "modified": "ms since 1970",
    "seconds": "s", "millis": "ms", "days": "days", "commitLogMinOffset": "bytes",
    "commitLogMaxOffset": "bytes", "confidence": "0 to 1", "fairShare": "0 to 1",
    "commitLogDiskRatio": "0 to 1",
}  # fmt: skip
_UNIT_BY_SUFFIX = {
    "Seconds": "s",
    "Millis": "ms",
    "BytesPerDay": "bytes/day",
    "bytesPerDay": "bytes/day",
    "Bytes": "bytes",
    "Share": "0 to 1",
}
_TYPE_UNITS = {"timestamp": "UTC", "date": "day (UTC)"}


def find_column_type(table_name: str, column_name: str) -> str:
    """Return the SQL type of a column; `table_name` has its layer, such as `gold/drain_audit`."""
    exception_type = _EXCEPTIONS.get((table_name, column_name))
    if exception_type is not None:
        return exception_type
    if column_name in _TYPE_BY_COLUMN:
        return _TYPE_BY_COLUMN[column_name]
    if column_name.endswith("Seconds"):
        return "double"
    return "bigint" if column_name.endswith("Millis") else "string"


def find_column_unit(column_name: str, type_name: str) -> str | None:
    if type_name in _TYPE_UNITS:
        return _TYPE_UNITS[type_name]
    if column_name in _UNIT_BY_COLUMN:
        return _UNIT_BY_COLUMN[column_name]
    suffix_match = re.search(f"({'|'.join(_UNIT_BY_SUFFIX)})$", column_name)
    return _UNIT_BY_SUFFIX[suffix_match[1]] if suffix_match else None
