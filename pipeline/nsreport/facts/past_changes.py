"""Past changes: what makes new rows change what tables say about earlier days. Pure.

Each function returns rows if the rows of a day and later ones do so. This is rare: then a table is made from
nothing. Everything else follows from these rows and from the states that last until that day.
"""

from datetime import date
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql.functions import col, lit, when
from pyspark.sql.functions import min as lowest

from nsreport.sources import journals


def find_new_logs(observer_days: DataFrame, first_day: date) -> DataFrame:
    """Return the new logs of name servers. Facts of such a log count from its first event on, or before."""
    new_logs = observer_days.where("isLog").groupBy("observer").agg(lowest("date").alias("date"))
    return new_logs.where(col("date") >= first_day)


def find_new_observers(observer_days: DataFrame, first_day: date) -> DataFrame:
    """Return the known name servers whose best observer (`select_route_records`) is another one now."""
    snapshot_observer = when(col("hasSnapshot"), col("observer"))
    best_observers = observer_days.groupBy("server").agg(
        lowest("date").alias("date"),
        lowest(when(_is_before(first_day), snapshot_observer)).alias("before"),
        lowest(snapshot_observer).alias("now"),
    )
    return best_observers.where(_is_before(first_day) & ~col("before").eqNullSafe(col("now"))).select(
        "server"
    )


def find_new_clusters(
    observer_days: DataFrame, broker_clusters: DataFrame, route_intervals: DataFrame, first_day: date
) -> DataFrame:
    """Return the name servers that have another best observer, or a known broker in another cluster."""
    servers = observer_days.where(_is_before(first_day)).select("server").distinct()
    clusters_before, clusters_now = (
        journals.find_broker_clusters(named_clusters)
        .crossJoin(servers)
        .select(
            "server",
            "brokerName",
            journals.known_cluster().alias(column_name),
            col("byServer")[col("server")].isNotNull().alias("isOwn"),
        )
        for named_clusters, column_name in (
            (broker_clusters.where(_is_before(first_day)), "before"),
            (broker_clusters, "now"),
        )
    )
    # Routes of a broker without a known cluster are there only if none of its registrations is.
    homeless_routes = route_intervals.where(col("cluster") == journals.NO_CLUSTER)
    homeless_brokers = homeless_routes.select(
        "server", "brokerName", lit(journals.NO_CLUSTER).alias("before")
    )
    names_before = clusters_before.drop("isOwn").unionByName(homeless_brokers)
    moved_brokers = names_before.join(clusters_now, ["server", "brokerName"]).where("before <> now")
    # A broker that moved, and moved back: the rows of the days before may have the cluster between.
    later_names = broker_clusters.where(~_is_before(first_day)).select(
        col("server").alias("namedBy"), "brokerName", "clusterName"
    )
    returned_brokers = later_names.join(clusters_now, "brokerName").where(
        "clusterName <> now and (namedBy = server or not isOwn)"
    )
    changed_servers = (moved_brokers.select("server"), returned_brokers.select("server"))
    return reduce(DataFrame.unionByName, changed_servers, find_new_observers(observer_days, first_day))


def find_new_route_servers(
    route_servers: DataFrame, knowledge_intervals: DataFrame, first_day: date
) -> DataFrame:
    """Return the known name servers that report a known cluster for the first time."""
    first_days = route_servers.groupBy("server", "cluster").agg(lowest("date").alias("date"))
    known_clusters = route_servers.where(_is_before(first_day)).select("cluster").distinct()
    known_servers = knowledge_intervals.where(col("validFrom") < lit(first_day)).select("server")
    new_servers = first_days.where(~_is_before(first_day)).join(known_clusters, "cluster", "left_semi")
    return new_servers.join(known_servers, "server", "left_semi")


def _is_before(first_day: date) -> Column:
    return col("date") < first_day
