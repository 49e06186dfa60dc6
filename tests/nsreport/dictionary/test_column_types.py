"""Types and units follow from the names of columns."""

from nsreport.dictionary.column_types import find_column_type, find_column_unit


def test_the_name_of_a_column_decides_its_type_except_in_some_tables() -> None:
    assert find_column_type("gold/x", "topics") == "bigint"
    assert find_column_type("gold/drain_audit", "topics") == "int"
    assert find_column_type("gold/x", "downSeconds") == "double"
    assert find_column_type("gold/x", "pauseMillis") == "bigint"
    assert find_column_type("gold/x", "brokerName") == "string"


def test_a_unit_is_that_of_the_name_its_end_or_the_type() -> None:
    assert find_column_unit("lag", "bigint") == "messages"
    assert find_column_unit("downSeconds", "double") == "s"
    assert find_column_unit("dispatchBehindBytes", "bigint") == "bytes"
    assert find_column_unit("endTs", "timestamp") == "UTC"
    assert find_column_unit("brokerName", "string") is None
