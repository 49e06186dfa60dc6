"""DuckDB folds a day: lines of journals become sorted events, and continue the intervals of routes.

`python -m tests.bench.duckdb_day FOLDER DAY DAY_BEFORE` prints seconds, seconds of processor time, and
MiB. It does less than a run: no logs, late or unreadable lines, gaps, or times in which nothing is known.
"""

import resource
import sys
import time

import duckdb

_QUEUE = "struct(brokerName varchar, readQueueNums int, writeQueueNums int, perm int, topicSysFlag int)"
_COLUMNS = {
    **dict.fromkeys(("server", "type", "cause", "client", "clusterName", "brokerName", "reason"), "varchar"),
    **dict.fromkeys(("v", "seq", "time", "brokerId", "topics", "silentMillis", "brokers"), "bigint"),
    "changes": f'struct(topics varchar[], "before" {_QUEUE}, "after" {_QUEUE})[]',
    "groups": "json",
}
_STEPS = """
    select server, seq, time, unnest(change.topics) as topic, change."after" as queue,
        coalesce(change."after".brokerName, change."before".brokerName) as broker
    from (select server, seq, time, unnest(changes) as change from '{events}' where type = 'TopicsChanged')
"""


def fold_day(folder: str, day: str, carried: str = "") -> None:
    """Write `events.parquet` of a day, and the intervals that end on it or last."""
    lines = f"read_json('{folder}/*/*-{day}T*', columns={_COLUMNS}, format='newline_delimited')"
    events, intervals = f"{folder}/events.parquet", f"{folder}/intervals.parquet"
    duckdb.sql(f"copy (from {lines} order by type, server, time) to '{events}' (compression zstd)")
    duckdb.sql(
        "copy (select *, lead(time) over (partition by server, topic, broker order by seq) as ended "
        f"from ({_STEPS.format(events=events)} {carried})) to '{intervals}' (compression zstd)"
    )


def main() -> None:
    folder, day, day_before = sys.argv[1:]
    fold_day(folder, day_before)
    duckdb.sql(
        f"copy (select * exclude ended from '{folder}/intervals.parquet' where ended is null) "
        f"to '{folder}/open.parquet'"
    )
    used, began = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    fold_day(folder, day, f"union all by name from '{folder}/open.parquet'")
    seconds, now = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF)
    print(seconds, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime, now.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
