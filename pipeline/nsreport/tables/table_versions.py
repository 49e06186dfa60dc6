"""Table versions: the Delta log of a table. This module loads neither Spark nor Java.

The files of a table never change: a commit adds and removes files. All commits of nsadmin have the
transaction `LINES_TRANSACTION`. So delta-rs refuses the second of two commits on top of the same version.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from deltalake import DeltaTable
from deltalake.exceptions import TableNotFoundError

LINES_TABLE = "bronze/lines"
"""The table from which all others are made. Each commit that adds lines to it has the next number."""

LINES_TRANSACTION = "nsadmin-lines"
"""Its version in a table is the number of the newest lines that the table contains."""

COMPLETE_TRANSACTION = "nsadmin-complete"
"""Its version in LINES_TABLE is the number of the newest lines that all other tables contain."""

FORGOTTEN_TRANSACTION = "nsadmin-forgotten"
"""Its version in LINES_TABLE is the number of the first day (`date.toordinal`) that the tables still have."""

NO_DAY = date(1970, 1, 1)
"""The day of lines without a time. It is never forgotten."""

DAY_COLUMNS = frozenset(("date", "endDate"))
"""The names of partition columns with the day of a row, or of the end of a state (null: it lasts)."""

DAYS_KEY, SOURCES_KEY, NUMBER_KEY = "nsadmin.days", "nsadmin.sources", "nsadmin.lines"
"""What the commit information of new lines has: their days, the sources of each day, and its own number."""

DEFAULT_KEPT_TIME = timedelta(days=7)
"""For how long readers can go back to replaced rows."""

_MAX_SEARCHED_COMMITS = 200
_FIRST_SEARCHED_COMMITS = 5
"""Most runs find a value in these. On an object store, each commit is a request."""

_CHECKPOINT_INTERVAL = 10
"""Each so many commits, delta-rs sums up the log in one file, which makes opening a table faster."""


class TableFile(NamedTuple):
    """A Parquet file of a version: path below the table's folder, partition, size, and row count if known."""

    path: str
    partition_values: Mapping[str, Any]
    byte_count: int
    row_count: int | None


def open_table(
    table_uri: str, as_of: datetime | None = None, storage_options: dict[str, str] | None = None
) -> DeltaTable | None:
    """Open the newest version of a table, or that of a time; None if the table did not exist.

    `storage_options` come from `storage_options.read_storage_options`; a local folder needs none.
    """
    try:
        delta_table = DeltaTable(table_uri, storage_options=storage_options)
    except TableNotFoundError:
        return None
    if as_of is not None:
        commit_times = {info["version"]: info["timestamp"] for info in delta_table.history()}
        delta_table.load_as_version(as_of)
        # For a time before the first version, delta-rs opens the first one.
        if commit_times.get(delta_table.version(), 0) > as_of.timestamp() * 1000:
            return None
    return delta_table


DayTest = Callable[[date | None], bool]
"""Whether the rows of a day are wanted. Rows of a state that lasts have no day."""


def list_files(delta_table: DeltaTable, is_wanted: DayTest | None = None) -> list[TableFile]:
    """Return the files of the opened version: all, or those of wanted days if the table has files by day."""
    add_actions = delta_table.get_add_actions()
    column_names = add_actions.column_names
    paths, sizes, row_counts, partitions = (
        add_actions.column(name).to_pylist() if name in column_names else [None] * add_actions.num_rows
        for name in ("path", "size_bytes", "num_records", "partition")
    )
    table_files = [
        TableFile(unquote(path), partition or {}, byte_count, row_count)
        for path, byte_count, row_count, partition in zip(paths, sizes, row_counts, partitions, strict=True)
    ]
    [day_column] = DAY_COLUMNS.intersection(delta_table.metadata().partition_columns) or [None]
    if is_wanted is None or day_column is None:
        return table_files
    return [each for each in table_files if is_wanted(each.partition_values[day_column])]


def read_lines_number(delta_table: DeltaTable | None) -> int:
    """Return the number of the newest lines that a table contains; 0 if there is no table."""
    return 0 if delta_table is None else delta_table.transaction_version(LINES_TRANSACTION) or 0


def read_complete_number(lines_table: DeltaTable | None) -> int:
    """Return the number of the newest lines that all tables contain; 0 if there are none."""
    return 0 if lines_table is None else lines_table.transaction_version(COMPLETE_TRANSACTION) or 0


def read_first_day(lines_table: DeltaTable | None) -> date:
    """Return the first day that the tables still have: the days before were forgotten. NO_DAY: none was."""
    number = None if lines_table is None else lines_table.transaction_version(FORGOTTEN_TRANSACTION)
    return NO_DAY if number is None else date.fromordinal(number)


def list_due_days(lines_table: DeltaTable | None) -> dict[date, set[str]]:
    """Return the days of the lines that some table does not contain yet, in order, with their sources."""
    if lines_table is None:
        return {}
    newest_number = read_lines_number(lines_table)
    missing_numbers = set(range(read_complete_number(lines_table) + 1, newest_number + 1))
    due_days: dict[date, set[str]] = {}
    for commit_info in lines_table.history(_MAX_SEARCHED_COMMITS) if missing_numbers else ():
        if commit_info.get(NUMBER_KEY) in missing_numbers:
            missing_numbers.remove(commit_info[NUMBER_KEY])
            for day_text in commit_info[DAYS_KEY]:
                sources = due_days.setdefault(date.fromisoformat(day_text), set())
                sources.update(commit_info.get(SOURCES_KEY, {}).get(day_text, ()))
    if missing_numbers:
        # The log no longer has all commits, or another program added lines.
        due_days = {table_file.partition_values["date"]: set() for table_file in list_files(lines_table)}
    return dict(sorted(due_days.items()))


def read_commit_info(delta_table: DeltaTable, key: str) -> Any:
    """Return a value that the newest commit with this key recorded; None if no recent commit has it."""
    for commit_count in (_FIRST_SEARCHED_COMMITS, _MAX_SEARCHED_COMMITS):
        for commit_info in delta_table.history(commit_count):
            if key in commit_info:
                return commit_info[key]
    return None


def make_table_properties(kept_time: timedelta) -> dict[str, str | None]:
    """Return the properties of a new table. Programs that clean up Delta tables keep to them, too."""
    interval = f"interval {_to_hours(kept_time)} hours"
    return {
        "delta.checkpointInterval": str(_CHECKPOINT_INTERVAL),
        "delta.deletedFileRetentionDuration": interval,
        "delta.logRetentionDuration": interval,
    }


def remove_old_files(delta_table: DeltaTable, kept_time: timedelta) -> bool:
    """Remove files that no version of the kept time has, and older leftovers; return whether there were any.

    The files of a run that is writing now are younger.
    """
    # A full removal includes the files of killed runs, which the log never named.
    remove_files = partial(
        delta_table.vacuum, _to_hours(kept_time), enforce_retention_duration=False, full=True
    )
    # Each removal adds two commits to the log, also if it removes nothing.
    if not remove_files(dry_run=True):
        return False
    remove_files(dry_run=False)
    delta_table.update_incremental()
    return True


def _to_hours(duration: timedelta) -> int:
    return -(-duration // timedelta(hours=1))


def remove_empty_folders(table_folder: Path) -> None:
    """Remove the folders of removed files. The lock of the output folder keeps other runs away."""
    for folder_path, _, _ in sorted(os.walk(table_folder), reverse=True):
        if "/_delta_log" not in folder_path:
            with suppress(OSError):
                os.rmdir(folder_path)
