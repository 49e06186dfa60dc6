"""Files of messages in Parquet, written and read by DuckDB, which nsadmin[parquet] installs.

A file has the columns of `consume`. `body` is the bytes of the body, and times are timestamps in UTC.
"""

import errno
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nsadmin.client.extras import describe_missing
from nsadmin.operations.message_files.file_form import InvalidMessageFileError
from nsadmin.operations.message_files.line_file import replace_line_file

if TYPE_CHECKING:
    import duckdb

_COLUMN_TYPES = {
    "msgId": "VARCHAR", "offsetMsgId": "VARCHAR", "topic": "VARCHAR", "brokerName": "VARCHAR",
    "queueId": "INTEGER", "queueOffset": "BIGINT", "physicalOffset": "BIGINT", "keys": "VARCHAR[]",
    "tags": "VARCHAR", "storeTime": "VARCHAR", "bornTime": "VARCHAR", "storeHost": "VARCHAR",
    "bornHost": "VARCHAR", "reconsumeTimes": "INTEGER", "flag": "BIGINT", "sysFlag": "BIGINT",
    "preparedTransactionOffset": "BIGINT", "storeSize": "BIGINT", "crcOk": "BOOLEAN",
    "properties": "MAP(VARCHAR, VARCHAR)", "body": "VARCHAR", "bodyEncoding": "VARCHAR",
    "bodyError": "VARCHAR",
}  # fmt: skip
_TIME_COLUMNS = ("storeTime", "bornTime")
_MAX_OBJECT_BYTES = 128 * 1024 * 1024
_FETCHED_ROWS = 256
_MAX_MEMORY = "1GB"


class MissingParquetLibraryError(Exception):
    """DuckDB is not installed. The text is one line that says how to install it."""


def require_parquet_library() -> None:
    """Raise MissingParquetLibraryError if DuckDB is not installed."""
    try:
        import duckdb  # noqa: F401
    except ImportError:
        remedy = f"{describe_missing('duckdb', 'parquet')}, or use .jsonl.gz"
        raise MissingParquetLibraryError(remedy) from None


@contextmanager
def replace_parquet_file(target: Path) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Yield a function that takes the row of a message. The file appears when all rows are written.

    The rows go to lines of JSON first. Raises OSError if a file cannot be written.
    """
    lines = target.with_name(f".{target.name}.jsonl")
    temporary = target.with_name(f".{target.name}.new")
    try:
        with replace_line_file(lines) as write_line:
            # DuckDB gets each body in one form, and needs no text of it.
            yield lambda row: write_line({**row, "body": _encode_body(row)})
        _convert_lines(lines, temporary)
        temporary.chmod(0o600)
        temporary.replace(target)
    finally:
        lines.unlink(missing_ok=True)
        temporary.unlink(missing_ok=True)


def _encode_body(row: Mapping[str, Any]) -> str:
    body: str = row["body"]
    return body if row["bodyEncoding"] == "base64" else b64encode(body.encode()).decode("ascii")


def _convert_lines(lines: Path, parquet: Path) -> None:
    import duckdb

    times = ", ".join(f"try_cast({name} AS TIMESTAMP_MS) AS {name}" for name in _TIME_COLUMNS)
    column_types = ", ".join(f"'{name}': '{type_name}'" for name, type_name in _COLUMN_TYPES.items())
    query = (
        f"COPY (SELECT * REPLACE (from_base64(body) AS body, {times}) FROM read_json($lines, "
        f"format = 'newline_delimited', maximum_object_size = {_MAX_OBJECT_BYTES}, "
        f"columns = {{{column_types}}})) TO {_quote_text(parquet)} "
        f"(FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 8192)"
    )
    with _open_duckdb() as connection:
        try:
            connection.execute(query, {"lines": str(lines)})
        except duckdb.Error as error:
            raise OSError(errno.EIO, str(error).partition("\n")[0]) from None


def read_parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the row of each message; `body` is bytes, or the text of a column of text.

    Raises InvalidMessageFileError for a file that is no Parquet file, and OSError.
    """
    import duckdb

    # DuckDB would take a name with * for several files, and an OSError says more than its error.
    with open(path, "rb"):
        pass
    with _open_duckdb() as connection:
        try:
            connection.execute(f"SELECT * FROM read_parquet({_quote_text(path)})")
            column_names = [column[0] for column in connection.description or ()]
            while rows := connection.fetchmany(_FETCHED_ROWS):
                for row in rows:
                    yield dict(zip(column_names, row, strict=True))
        except duckdb.Error as error:
            reason = str(error).partition("\n")[0]
            raise InvalidMessageFileError(f"{path} is not a readable Parquet file: {reason}") from None


@contextmanager
def _open_duckdb() -> Iterator["duckdb.DuckDBPyConnection"]:
    import duckdb

    connection = duckdb.connect(
        ":memory:", config={"memory_limit": _MAX_MEMORY, "autoinstall_known_extensions": False, "threads": 2}
    )
    try:
        connection.execute("SET TimeZone = 'UTC'")
        yield connection
    finally:
        connection.close()


def _quote_text(path: Path) -> str:
    escaped_path = str(path).replace("'", "''")
    return f"'{escaped_path}'"
