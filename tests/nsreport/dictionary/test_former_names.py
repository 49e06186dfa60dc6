"""The table of former names leads from each of them to one present table or column."""

from nsreport.dictionary.former_names import (
    FORMER_COLUMNS,
    FORMER_TABLES,
    find_former_table,
    find_present_table,
)
from nsreport.reports.table_catalogue import list_tables


def test_a_former_table_leads_to_the_present_one_and_back() -> None:
    for former, present in FORMER_TABLES.items():
        assert find_present_table(former) == present == find_present_table(present)
        assert find_former_table(present) == former
    assert find_former_table("silver/ns_event") is None


def test_present_names_exist_and_former_ones_do_not() -> None:
    columns = {table.name: {column.name for column in table.columns} for table in list_tables()}
    assert not set(FORMER_TABLES) & set(columns)
    for table, renamed in FORMER_COLUMNS.items():
        assert set(renamed.values()) <= columns[table]
        assert not set(renamed) & columns[table]
