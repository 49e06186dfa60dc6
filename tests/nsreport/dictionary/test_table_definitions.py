"""Definitions of tables: names with a layer, and a meaning for each column."""

from nsreport.dictionary.table_definitions import DEFINITIONS_BY_NAME, ColumnDefinition, define_table


def test_each_table_is_in_a_layer_and_each_column_has_a_meaning() -> None:
    for name, table in DEFINITIONS_BY_NAME.items():
        assert name == table.name
        assert name.split("/")[0] in ("bronze", "silver")
        assert table.description.endswith(".")
        assert all(column.meaning for column in table.columns)
        names = [column.name for column in table.columns]
        assert len(names) == len(set(names))


def test_a_definition_gets_its_types_and_units_from_the_names() -> None:
    assert define_table("gold/x", "A row.", {"downSeconds": "time without it"}).columns == (
        ColumnDefinition("downSeconds", "double", "s", "time without it"),
    )
