"""Views for DuckDB: every table by its present name, and renamed ones also by their former name."""

from pathlib import Path

import duckdb

from nsreport.presentation import sql_views
from nsreport.reports.table_catalogue import list_tables
from tests.support.gold_tables import DAY, table


def test_the_views_read_each_table_also_by_its_former_names(tmp_path: Path) -> None:
    gaps = {
        "brokerName": "varchar",
        "outcome": "varchar",
        "causedBy": "varchar",
        "cluster": "varchar",
        "date": "date",
    }
    events = {"type": "varchar", "observer": "varchar", "recordOrder": "bigint"}
    folder = tmp_path / "it's"
    for name, types, rows, partitions in (
        ("gold/heartbeat_gaps", gaps, [("a", "lost", "link", "007", DAY)], ("date", "cluster")),
        ("silver/broker_lifecycle", events, [("Snapshot", "ns-1", 7)], ()),
    ):
        definition = next(item for item in list_tables() if item.name == name)
        whole = {column.name: types.get(column.name, "varchar") for column in definition.columns}
        values = [tuple(dict(zip(types, row, strict=True)).get(column) for column in whole) for row in rows]
        table(folder / name, whole, values, partitions)
    with duckdb.connect() as connection:
        connection.execute("\n".join(sql_views.render_views(folder, list_tables())))
        views = {row[2] for row in connection.sql("show all tables").fetchall()}
        assert {item.name.split("/")[1] for item in list_tables()} < views
        select = "select cluster, outcome, ended, causedBy, whose from gold.heartbeat_gaps"
        assert connection.sql(select).fetchall() == [("007", "lost", "lost", "link", "link")]
        for select in (
            "observer, recordOrder from silver.broker_lifecycle",
            "witness, place from silver.told",
        ):
            assert connection.sql(f"select {select}").fetchall() == [("ns-1", 7)]
        for empty in ("topic_volume", "data_quality"):
            assert connection.sql(f"select * from gold.{empty}").fetchall() == []
