"""Former names: what tables and columns were called in the release before this one.

The release after this one removes the entries. This module does not load Spark.
"""

from collections.abc import Mapping

FORMER_TABLES: Mapping[str, str] = {
    "silver/told": "silver/broker_lifecycle",
    "silver/turn": "silver/knowledge_change",
    "silver/coverage": "silver/knowledge_interval",
    "silver/route_fact": "silver/route_interval",
    "silver/entry_fact": "silver/entry_interval",
    "silver/poll": "silver/poll_fact",
}
"""The present names of tables by their former names."""

FORMER_COLUMNS: Mapping[str, Mapping[str, str]] = {
    "silver/broker_lifecycle": {"witness": "observer", "place": "recordOrder"},
    "silver/knowledge_change": {"witness": "observer", "place": "recordOrder", "half": "orderOffset"},
    "silver/knowledge_interval": {"witness": "observer", "tellsRoutes": "isRouteSource"},
    "gold/drain_audit": {"how": "method"},
    "gold/heartbeat_gaps": {"ended": "outcome", "whose": "causedBy"},
    "gold/hot_brokers": {"told": "source"},
    "gold/ns_convergence": {"after": "trigger", "open": "unfinishedChanges"},
    "gold/ns_health": {
        "watchedSeconds": "knownSeconds",
        "complaints": "unparsedWarnings",
        "scanHoles": "scanGaps",
        "longestScanHoleSeconds": "longestScanGapSeconds",
    },
}
"""For each table (by its present name), the present names of columns by their former names."""


def find_present_table(table_name: str) -> str:
    """Return the present name of a table; both names have their layer, such as `silver/told`."""
    return FORMER_TABLES.get(table_name, table_name)


def find_former_table(table_name: str) -> str | None:
    """Return the former name of a table, or None if the table was not renamed."""
    return next((former for former, present in FORMER_TABLES.items() if present == table_name), None)
