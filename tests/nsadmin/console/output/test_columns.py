"""A column: how to read it off a record, off a part of one, and what a table leaves out."""

from operator import itemgetter
from typing import Any, NamedTuple

from nsadmin.command_line.declarations import command, declaration_of
from nsadmin.console.output import AnyColumn, Column, ResultRows, of_part, read_row, replace_columns


class Queue(NamedTuple):
    queue_id: int
    offset: int | None


QUEUE_ID: AnyColumn = Column("queueId", "number of the queue", lambda q: q.queue_id)
OFFSET: AnyColumn = Column("offset", "end of the queue", lambda q: q.offset, wide=True)


def test_rows_are_read_off_records_and_a_table_leaves_out_wide_columns() -> None:
    rows = ResultRows.from_records((QUEUE_ID, OFFSET), [Queue(0, 7), Queue(1, None)], [None], ["note"])
    assert rows.rows == [{"queueId": 0, "offset": 7}, {"queueId": 1, "offset": None}]
    assert (rows.columns, rows.table_columns) == (["queueId", "offset"], ["queueId"])
    assert (rows.errors, rows.notes) == ([None], ["note"])


def test_a_value_of_all_rows_is_given_once() -> None:
    rows = ResultRows.from_records((QUEUE_ID, OFFSET), [Queue(0, 7)], common={OFFSET: 8})
    assert rows.rows == [{"queueId": 0, "offset": 8}]


def test_a_part_that_is_missing_has_no_values() -> None:
    columns = of_part(itemgetter(0), (QUEUE_ID, OFFSET))
    assert read_row(columns, (Queue(0, 7),)) == {"queueId": 0, "offset": 7}
    assert read_row(columns, (None,)) == {"queueId": None, "offset": None}


def test_a_column_is_changed_for_one_command() -> None:
    other: AnyColumn = OFFSET.means("start of the queue").of(lambda q: -q.offset)
    assert (other.key, other.meaning, other.read(Queue(0, 7)), other.wide) == (
        "offset", "start of the queue", -7, True,
    )  # fmt: skip
    assert [c.read(Queue(0, 7)) for c in replace_columns((QUEUE_ID, OFFSET), other)] == [0, -7]
    assert QUEUE_ID.in_wide().wide


def test_a_command_declares_each_key_once() -> None:
    @command(columns=(QUEUE_ID, OFFSET, QUEUE_ID.means("another one")))
    def show_queues() -> Any: ...

    declaration = declaration_of(show_queues)
    assert declaration.column_names == ["queueId", "offset"]
    assert declaration.column_meanings == {"queueId": "number of the queue", "offset": "end of the queue"}
