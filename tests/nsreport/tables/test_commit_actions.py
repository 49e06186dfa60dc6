"""Files as the Delta log has them."""

from datetime import date

from nsreport.tables.commit_actions import (
    make_add_action,
    make_remove_action,
    name_partition,
    parse_partition,
)
from nsreport.tables.table_versions import TableFile

FILE = TableFile("unique/date=2025-01-01/x.parquet", {"date": date(2025, 1, 1), "cluster": None}, 9, 7)


def test_partition_values_are_in_the_names_of_folders() -> None:
    path = "unique/date=2025-01-01/cluster=a%3Ab c/x.parquet"
    assert parse_partition(path) == {"date": "2025-01-01", "cluster": "a:b c"}
    assert parse_partition("cluster=__HIVE_DEFAULT_PARTITION__/x=y.parquet") == {"cluster": None}
    assert parse_partition("x.parquet") == {}


def test_an_added_file_has_its_row_count_and_a_partition_one_name() -> None:
    added = make_add_action(FILE)
    assert (added.size, added.stats, added.data_change) == (9, '{"numRecords": 7}', True)
    assert added.partition_values == {"date": "2025-01-01", "cluster": None}
    assert not make_remove_action(FILE).data_change
    assert name_partition(FILE) == name_partition(FILE._replace(path="other.parquet"))
    assert name_partition(FILE) != name_partition(FILE._replace(partition_values={"date": date(2025, 1, 2)}))
