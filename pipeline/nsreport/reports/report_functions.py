"""Report functions: the function that makes each report. This module loads Spark.

The function, its module and the report have the same name.
"""

from collections.abc import Callable, Mapping
from typing import cast

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from nsreport.reports.broker_availability import broker_availability
from nsreport.reports.broker_flaps import broker_flaps
from nsreport.reports.config_changes import config_changes
from nsreport.reports.consumer_lag_trend import consumer_lag_trend
from nsreport.reports.drain_audit import drain_audit
from nsreport.reports.heartbeat_gaps import heartbeat_gaps
from nsreport.reports.hot_brokers import hot_brokers
from nsreport.reports.ns_convergence import ns_convergence
from nsreport.reports.ns_divergence import ns_divergence
from nsreport.reports.ns_health import ns_health
from nsreport.reports.orphan_topics import orphan_topics
from nsreport.reports.proxy_health import proxy_health
from nsreport.reports.registration_forecast import registration_forecast
from nsreport.reports.route_as_of import route_as_of
from nsreport.reports.table_catalogue import find_table
from nsreport.reports.topic_growth import topic_growth
from nsreport.reports.topic_volume import topic_volume

ReportFunction = Callable[..., DataFrame]
"""Takes a DataFrame for each input table of the report, then `since_ms` and `until_ms` (ms since 1970).

The inputs must contain all rows before `until_ms`, also those before `since_ms`: a state may have begun long
before the report does.
"""

FUNCTIONS_BY_REPORT: Mapping[str, ReportFunction] = {
    "broker_availability": broker_availability,
    "broker_flaps": broker_flaps,
    "drain_audit": drain_audit,
    "heartbeat_gaps": heartbeat_gaps,
    "ns_divergence": ns_divergence,
    "ns_convergence": ns_convergence,
    "topic_growth": topic_growth,
    "registration_forecast": registration_forecast,
    "orphan_topics": orphan_topics,
    "hot_brokers": hot_brokers,
    "consumer_lag_trend": consumer_lag_trend,
    "topic_volume": topic_volume,
    "config_changes": config_changes,
    "ns_health": ns_health,
    "proxy_health": proxy_health,
    "route_as_of": route_as_of,
}
"""The functions by the names of their reports, in the order of the catalogue."""


def build_report_schema(report_name: str) -> StructType:
    """Build the schema of a report from the definitions of its columns."""
    report_table = find_table(f"gold/{report_name}")
    assert report_table is not None, report_name
    columns = ", ".join(f"`{column.name}` {column.type_name}" for column in report_table.columns)
    return cast(StructType, StructType.fromDDL(columns))
