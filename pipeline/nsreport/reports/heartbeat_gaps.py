"""heartbeat_gaps: silences of brokers, attributed to the broker, the link or the name server. Pure."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql.functions import (
    coalesce,
    col,
    collect_set,
    last,
    lead,
    lit,
    max,
    round,
    size,
    sum,
    timestamp_millis,
    to_date,
    when,
)

from nsreport.presence import BROKER, SEAT
from nsreport.registrations import silences_of_brokers
from nsreport.spans import number

_SILENCES = ("HeartbeatGap", "ServerPaused")
_ENDS = ("BrokerUnregistered", "BrokerRegistered", "ServerStarted")
_COLUMNS = (*SEAT, "type", "place", "time", "silentMillis", "resumed", "pauseMillis")


def heartbeat_gaps(told: DataFrame, log_fact: DataFrame, since: int, until: int) -> DataFrame:
    """Return a row for each silence of a broker at a name server that is not over at `since_ms` (since 1970).

    A name server reports silences that last three quarters of the broker expiry time. `whose` is

    - name server, if all its brokers were silent at once;
    - broker, if all name servers that know the broker missed it;
    - link otherwise.

    A pause of the name server is a row without a broker. Broker logs add the times in which a broker could
    not register; in these rows `server` is the name server's address.
    """
    told = told.where(col("time") < until)
    gaps = _together(_gaps(told, until).unionByName(silences_of_brokers(log_fact, until)))
    found = gaps.select(
        "server",
        *BROKER,
        "since",
        "until",
        "ended",
        when(
            col("brokerName").isNull() | (col("silent") >= col("brokers")) & (col("silent") > 1),
            "name server",
        )
        .when(col("missing") >= col("servers"), "broker")
        .otherwise("link")
        .alias("whose"),
        when(col("brokerName").isNotNull(), col("silent")).alias("silentBrokers"),
    )
    return found.where(col("until") > since).select(
        to_date(timestamp_millis("since")).alias("date"),
        coalesce("cluster", lit("-")).alias("cluster"),
        "brokerName",
        "brokerId",
        "server",
        timestamp_millis("since").alias("ts"),
        timestamp_millis("until").alias("endTs"),
        round((col("until") - col("since")) / 1000, 3).alias("seconds"),
        "ended",
        "whose",
        "silentBrokers",
    )


def _gaps(told: DataFrame, until: int) -> DataFrame:
    """Return the silences with their ends: resumed, lost or open."""
    by_witness = Window.partitionBy(number(["witness"])).orderBy("place")
    sofar = by_witness.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    counted = told.where(col("type").isin(*_SILENCES, "Heartbeats")).select(
        *_COLUMNS, coalesce(last("brokers", ignorenulls=True).over(sofar), lit(0)).alias("brokers")
    )
    ends = told.where(col("type").isin(*_ENDS)).select(*_COLUMNS, lit(0).alias("brokers"))
    both = counted.where("type != 'Heartbeats'").unionByName(ends)
    # All windows below are within a broker: repartition its rows once.
    rows = both.withColumns({"seat": number(SEAT), "broker": number(BROKER)}).repartition("broker")
    by_seat = Window.partitionBy("broker", "seat").orderBy("place")
    events = rows.select(
        "*",
        lead("type").over(by_seat).alias("nextType"),
        lead("time").over(by_seat).alias("nextTime"),
        lead("resumed").over(by_seat).alias("nextResumed"),
        _before("resumed").over(by_seat.rowsBetween(-1, -1)).alias("wasTold"),
        size(collect_set("server").over(Window.partitionBy("broker"))).alias("servers"),
    )
    # A name server reports a silence once when it is long and once when it ends; the first may be missing.
    is_gap = (col("type") == "HeartbeatGap") & (~col("resumed") | ~coalesce("wasTold", lit(False)))
    is_pause = col("type") == "ServerPaused"
    began = col("time") - coalesce("pauseMillis", "silentMillis", lit(0))
    over = is_pause | col("resumed")
    return events.where(is_gap | is_pause).select(
        *(when(~is_pause, col(name)).alias(name) if name in BROKER else col(name) for name in SEAT),
        began.alias("since"),
        when(over, col("time")).otherwise(coalesce("nextTime", lit(until))).alias("until"),
        _ended(over).alias("ended"),
        "brokers",
        "servers",
    )


def _before(name: str) -> Column:
    return last(when(col("type") == "HeartbeatGap", ~col(name)))


def _ended(over: Column) -> Column:
    is_lost = col("nextType") == "BrokerUnregistered"
    return (
        when(over, "resumed")
        .when(is_lost, "lost")
        .when(col("nextTime").isNull(), "open")
        .otherwise("resumed")
    )


def _together(gaps: DataFrame) -> DataFrame:
    """Add `silent` (silent brokers of the name server) and `missing` (name servers that missed the broker).

    Both count silences that overlap in time.
    """
    found = _islands(gaps, ["witness"], "atServer")
    found = _islands(found, BROKER, "ofBroker")
    at_server = Window.partitionBy(number(["witness", "atServer"]))
    of_broker = Window.partitionBy(number([*BROKER, "ofBroker"]))
    seat = when(col("brokerName").isNotNull(), number(BROKER))
    return found.select(
        "*",
        size(collect_set(seat).over(at_server)).cast("long").alias("silent"),
        size(collect_set("server").over(of_broker)).alias("missing"),
    )


def _islands(gaps: DataFrame, key: list[str], name: str) -> DataFrame:
    """Give the same number to the silences of a key that overlap."""
    window = Window.partitionBy(number(key)).orderBy("since")
    before = max("until").over(window.rowsBetween(Window.unboundedPreceding, -1))
    marked = gaps.withColumn("apart", coalesce(col("since") >= before, lit(True)).cast("int"))
    return marked.withColumn(name, sum("apart").over(window)).drop("apart")
