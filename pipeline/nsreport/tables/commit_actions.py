"""Commit actions: the files of a table as the Delta log has them."""

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote

from deltalake import CommitProperties, Transaction
from deltalake.transaction import AddAction, RemoveAction

from nsreport.tables.table_versions import TableFile

_DEFAULT_PARTITION = "__HIVE_DEFAULT_PARTITION__"
"""The name that Spark gives the folder of rows without a value."""


def make_commit_properties(
    transactions: Mapping[str, int], commit_info: Mapping[str, Any] | None = None
) -> CommitProperties:
    """Return the Delta transactions of a commit, by name, and what its log entry says besides."""
    return CommitProperties(
        custom_metadata=dict(commit_info or {}),
        app_transactions=[Transaction(app_id, version) for app_id, version in transactions.items()],
    )


def make_add_action(added_file: TableFile, is_new_data: bool = True) -> AddAction:
    """Add a file. Without `is_new_data`, other files of the table had its rows before."""
    return AddAction(
        added_file.path,
        added_file.byte_count,
        _format_partition(added_file),
        int(time.time() * 1000),
        is_new_data,
        json.dumps({"numRecords": added_file.row_count}),
    )


def make_remove_action(removed_file: TableFile, is_new_data: bool = False) -> RemoveAction:
    """Remove a file. Without `is_new_data`, other files of the same commit have its rows."""
    return RemoveAction(
        removed_file.path,
        is_new_data,
        int(time.time() * 1000),
        removed_file.byte_count,
        _format_partition(removed_file),
    )


def _format_partition(table_file: TableFile) -> dict[str, str | None]:
    return {
        column_name: None if value is None else str(value)
        for column_name, value in table_file.partition_values.items()
    }


def name_partition(table_file: TableFile) -> str:
    """Return a text that the files of a partition share."""
    return json.dumps(_format_partition(table_file), sort_keys=True)


def parse_partition(file_path: str) -> dict[str, str | None]:
    """Return the values that Spark wrote into the names of the folders of a file."""
    folder_parts = [path_part.partition("=") for path_part in file_path.split("/")[:-1]]
    return {
        column_name: None if value == _DEFAULT_PARTITION else unquote(value)
        for column_name, separator, value in folder_parts
        if separator
    }
