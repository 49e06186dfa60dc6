"""Input files: finds journals and logs in folders, and reads their numbered lines, compressed or not.

Any file system of Spark works. Text after the last line end is not read: the server is still writing it.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.functions import (
    broadcast,
    coalesce,
    col,
    count,
    explode,
    first,
    lit,
    make_valid_utf8,
    monotonically_increasing_id,
    octet_length,
    posexplode,
    raise_error,
    rtrim,
    split,
    udf,
    when,
)
from pyspark.sql.functions import min as min_of
from pyspark.sql.functions import sum as sum_of

from namesrv_core import bounded_inflation
from nsreport.runtime.local_rows import build_rows
from nsreport.sources import connectors

JOURNAL_KIND = "journal"

LOG_PATTERNS: dict[str, str] = {
    log_name: rf"{log_name}(\.\d+)?\.log(\.gz)?"
    for log_name in (
        *("namesrv", "namesrv_default", "namesrv_traffic"),
        *("broker", "stats", "watermark", "store"),
        *("proxy", "proxy_traffic", "proxy_watermark"),
    )
}
"""The kinds of Java logs, with patterns of their names. A rotated log has a number and may be compressed."""

FILE_PATTERNS: dict[str, str] = {JOURNAL_KIND: r"\d{16}-\d{8}T\d{9}Z\.jsonl(\.zst)?", **LOG_PATTERNS}
"""All kinds of files, with patterns that match the whole file name."""

PIECE_BYTES = 1 << 20
"""A file that is read as a whole is cut into pieces of about this size, at line ends."""

_MIN_PARTITIONS_KEY = "spark.sql.files.minPartitionNum"
_BLOCKS_CHANGED_ERROR = "input files changed while they were read: run the same command again"

DAMAGE_PREFIX = "0000-00-00 00:00:00 - damaged: "
"""Start of the line that replaces the unreadable part of a log: a message with an invalid time."""

_PACKED_SUFFIXES = (".zst", ".gz")
_ZSTD_FRAME_HEADER = b"\x28\xb5\x2f\xfd"
_MAX_DAMAGED_PARTS = 1000
"""After this many damaged parts, the rest of a file counts as damaged: each try may read to the end."""
_LINE_COLUMNS = ("file", "line", "text", "kind", "server")
_BLOCKS_SCHEMA = (
    "path string, start bigint, begin bigint, lines bigint, first bigint, stop bigint,"
    " isLast boolean,"
    " file string, kind string, server string"
)
_PIECE_COLUMNS = {"first": "bigint", "lines": "string"}
_PIECES_SCHEMA = "array<struct<first: bigint, lines: string>>"
_LOCAL_PREFIX = "file:"
_COMMON_FOLDERS = ("rocketmqlogs", "logs", "otherdays", "journal")
"""Folder names that are the same on every server, and so do not name the server."""


class InputNotFoundError(Exception):
    """An input path does not exist, or its file system cannot be read; the text is one line."""


class InputSource(NamedTuple):
    """A folder, a file or a `*` pattern, and the server name that the operator gave to it.

    The server name `*` stands for the text that the first `*` of the pattern matches.
    """

    path: str
    server_name: str | None = None


class InputFile(NamedTuple):
    """A file of a known kind, with its path as Spark shows it; `modified` is in ms since 1970.

    `server` is the server that wrote the file, or None if its lines contain the server.
    """

    path: str
    length: int
    modified: int
    kind: str
    server: str | None

    @property
    def source(self) -> str:
        """The name of its server in messages: of a journal without a name, its folder."""
        return self.server or _name_folder(self.path)


def kind_of_file(file_path: str) -> str | None:
    """Return the kind of a file by its name, or None if it is unknown."""
    file_name = file_path.rpartition("/")[2]
    return next(
        (
            file_kind
            for file_kind, name_pattern in FILE_PATTERNS.items()
            if re.fullmatch(name_pattern, file_name)
        ),
        None,
    )


def server_of_file(file_path: str, file_kind: str, input_source: InputSource) -> str | None:
    """Return the server of a file: the operator's name for it, else the folder of a log, else None."""
    if input_source.server_name == "*":
        pattern_parts = (re.escape(pattern_part) for pattern_part in input_source.path.split("*"))
        path_match = re.search("([^/]*)".join(pattern_parts), file_path)
        return path_match[1] if path_match and path_match.groups() else None
    if input_source.server_name is not None or file_kind == JOURNAL_KIND:
        return input_source.server_name
    return _name_folder(file_path)


def _name_folder(file_path: str) -> str:
    folder_names = filter(None, reversed(file_path.split("/")[1:-1]))
    return next((name for name in folder_names if name not in _COMMON_FOLDERS), "-")


def list_files(spark: SparkSession, input_source: InputSource) -> tuple[list[InputFile], list[str]]:
    """List the files below a folder, sorted by path, and the paths of files of an unknown kind.

    Raises InputNotFoundError.
    """
    connector_advice = connectors.explain_missing_connector(spark, input_source.path)
    if connector_advice is not None:
        raise InputNotFoundError(connector_advice)
    file_reader = spark.read.format("binaryFile").option("recursiveFileLookup", True)
    try:
        file_rows = (
            file_reader.load(input_source.path)
            .selectExpr("path", "length", "unix_millis(modificationTime)")
            .collect()
        )
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            raise InputNotFoundError(f'no such file or folder "{input_source.path}"') from None
        raise
    except Py4JJavaError as error:
        raise InputNotFoundError(connectors.describe_read_error(input_source.path, error)) from None
    known_files, other_paths = [], []
    for file_path, byte_count, modified_ms in sorted(file_rows):
        input_file = describe_file(file_path, input_source, byte_count, modified_ms)
        if input_file is None:
            other_paths.append(file_path)
        else:
            known_files.append(input_file)
    return known_files, other_paths


def describe_file(
    file_path: str, input_source: InputSource, byte_count: int = 0, modified_ms: int = 0
) -> InputFile | None:
    """Describe the file at a path; None if its kind is unknown."""
    file_kind = kind_of_file(file_path)
    return (
        None
        if file_kind is None
        else InputFile(
            file_path, byte_count, modified_ms, file_kind, server_of_file(file_path, file_kind, input_source)
        )
    )


def read_lines(spark: SparkSession, wanted_files: Iterable[InputFile]) -> DataFrame:
    """Read the lines of files: `file`, `line` (from 1), `text` without its line end, `kind`, `server`.

    Uncompressed files are read in blocks whose lines are counted first. They may grow meanwhile.
    """
    packed_files: list[InputFile] = []
    plain_files: list[InputFile] = []
    for input_file in wanted_files:
        (packed_files if input_file.path.endswith(_PACKED_SUFFIXES) else plain_files).append(input_file)
    if packed_files and plain_files:
        return _read_in_blocks(spark, plain_files).unionByName(_read_whole_files(spark, packed_files))
    return _read_in_blocks(spark, plain_files) if plain_files else _read_whole_files(spark, packed_files)


def read_small_files(spark: SparkSession, wanted_files: Iterable[InputFile]) -> DataFrame:
    """Read the columns of `read_lines` from small files on this machine, without a Spark job."""
    piece_rows = [
        (input_file.path, input_file.kind, input_file.server, first_line, piece_lines)
        for input_file in wanted_files
        for first_line, piece_lines in cut_into_pieces(
            Path(input_file.path.removeprefix(_LOCAL_PREFIX)).read_bytes(), input_file.path
        )
    ]
    piece_columns = {"file": "string", "kind": "string", "server": "string", **_PIECE_COLUMNS}
    return _split_pieces(build_rows(spark, piece_rows, piece_columns)).select(*_LINE_COLUMNS)


def is_on_this_machine(input_file: InputFile) -> bool:
    return input_file.path.startswith(f"{_LOCAL_PREFIX}/")


def _read_in_blocks(spark: SparkSession, plain_files: Sequence[InputFile]) -> DataFrame:
    """Read files in Spark's blocks, so that a file of any length needs little memory."""
    if not spark.sparkContext.getConf().contains(_MIN_PARTITIONS_KEY):
        # The number of machines may change, but counting and reading must use the same blocks.
        spark.conf.set(_MIN_PARTITIONS_KEY, spark.sparkContext.defaultParallelism)
    file_reader = spark.read.option("lineSep", "\n").option("recursiveFileLookup", True)
    # Within a block the row id `at` grows by one from line to line.
    block_lines = file_reader.text([escape_glob(input_file.path) for input_file in plain_files]).select(
        "value",
        col("_metadata.file_path").alias("path"),
        col("_metadata.file_block_start").alias("start"),
        col("_metadata.file_size").alias("size"),
        monotonically_increasing_id().alias("at"),
    )
    block_table = spark.createDataFrame(
        _number_blocks(_count_blocks(block_lines), plain_files), _BLOCKS_SCHEMA
    )
    is_in_block = (col("at") >= col("begin")) & (col("at") < col("begin") + col("lines"))
    # Of a file that grew, Spark may read the line behind the last block.
    is_behind_end = col("isLast") & (col("at") >= col("begin") + col("lines"))
    line_number = (
        when(is_in_block, col("first") + col("at") - col("begin"))
        .when(is_behind_end, col("stop"))
        .otherwise(raise_error(lit(_BLOCKS_CHANGED_ERROR)))
    )
    line_text = _without_carriage_return(make_valid_utf8("value")).alias("text")
    numbered_lines = block_lines.join(broadcast(block_table), ["path", "start"], "left").select(
        "*", line_number.alias("line"), line_text
    )
    # A block that was not counted has no `stop`: its rows stay, and raise the error.
    return numbered_lines.where(coalesce(col("line") < col("stop"), lit(True))).select(*_LINE_COLUMNS)


class _Block(NamedTuple):
    """A block of a file: the row id of its first line, its lines, and their bytes including line ends."""

    path: str
    byte_start: int
    first_row_id: int
    line_count: int
    byte_count: int
    file_bytes: int


def _count_blocks(block_lines: DataFrame) -> list[_Block]:
    byte_count = sum_of(octet_length("value") + 1)
    block_counts = block_lines.groupBy("path", "start").agg(
        min_of("at"), count("*"), byte_count, first("size")
    )
    return sorted(_Block(*block_row) for block_row in block_counts.collect())


def _number_blocks(
    counted_blocks: Iterable[_Block], plain_files: Iterable[InputFile]
) -> list[tuple[str | int | None, ...]]:
    """Return rows of _BLOCKS_SCHEMA; `stop` is one more than the number of the last complete line."""
    file_by_path = {input_file.path: input_file for input_file in plain_files}
    block_rows: list[tuple[str | int | None, ...]] = []
    for file_path, file_group in groupby(counted_blocks, attrgetter("path")):
        file_blocks = list(file_group)
        is_torn = sum(block.byte_count for block in file_blocks) > file_blocks[0].file_bytes
        stop_line = 1 + sum(block.line_count for block in file_blocks) - is_torn
        input_file, next_line = file_by_path[_hadoop_path(file_path)], 1
        for block in file_blocks:
            block_columns = (
                file_path,
                block.byte_start,
                block.first_row_id,
                block.line_count,
                next_line,
                stop_line,
                block is file_blocks[-1],
            )
            block_rows.append((*block_columns, input_file.path, input_file.kind, input_file.server))
            next_line += block.line_count
    return block_rows


def _hadoop_path(file_uri: str) -> str:
    """Convert a URI to a path as Hadoop shows it."""
    uri_parts = urlsplit(file_uri)
    uri_authority = f"//{uri_parts.netloc}" if uri_parts.netloc else ""
    return f"{uri_parts.scheme}:{uri_authority}{unquote(uri_parts.path)}"


def _read_whole_files(spark: SparkSession, whole_files: Sequence[InputFile]) -> DataFrame:
    file_contents = spark.read.format("binaryFile").load(
        [escape_glob(input_file.path) for input_file in whole_files]
    )
    # The UDF runs once per file. It works without Arrow, which the pipeline does not need elsewhere.
    cut_udf = udf(cut_into_pieces, _PIECES_SCHEMA, useArrow=False)
    file_rows = [(input_file.path, input_file.kind, input_file.server) for input_file in whole_files]
    file_table = spark.createDataFrame(file_rows, "path string, kind string, server string")
    file_pieces = file_contents.select("path", explode(cut_udf("content", "path")).alias("piece")).select(
        "path", col("path").alias("file"), "piece.*"
    )
    return _split_pieces(file_pieces).join(broadcast(file_table), "path").select(*_LINE_COLUMNS)


def _split_pieces(file_pieces: DataFrame) -> DataFrame:
    """Split pieces, with `first` and `lines`, into rows with `line` and `text`."""
    piece_lines = file_pieces.select("*", posexplode(split("lines", "\n")).alias("at", "text"))
    return piece_lines.withColumns(
        {"line": col("first") + col("at"), "text": _without_carriage_return(col("text"))}
    )


def _without_carriage_return(line_text: Column) -> Column:
    """A copy of a file with CRLF has the same lines, and the same hashes, as the file itself."""
    return rtrim(line_text, lit("\r"))


def cut_into_pieces(packed_content: bytes, file_path: str) -> list[tuple[int, str]]:
    """Cut the complete lines of a file into pieces, each with the number of its first line."""
    plain_content = decompress_file(bytes(packed_content), file_path)
    numbered_pieces, piece_begin, first_line = [], 0, 1
    content_end = plain_content.rfind(b"\n") + 1
    while piece_begin < content_end:
        piece_end = plain_content.find(b"\n", min(piece_begin + PIECE_BYTES, content_end) - 1) + 1
        piece_content = plain_content[piece_begin : piece_end - 1]
        numbered_pieces.append((first_line, piece_content.decode(errors="replace")))
        piece_begin, first_line = piece_end, first_line + piece_content.count(b"\n") + 1
    return numbered_pieces


def decompress_file(packed_content: bytes, file_path: str) -> bytes:
    """Decompress a file according to its suffix; of a damaged file, return the readable parts.

    A line marks each damaged part; it is neither a valid record nor a valid message. What a file inflates to
    beyond `bounded_inflation.max_inflated_bytes` counts as damaged.
    """
    zst_suffix, gz_suffix = _PACKED_SUFFIXES
    file_name = file_path.rpartition("/")[2]
    if file_path.endswith(zst_suffix):
        return b"".join(_decompress_frames(packed_content, file_name))
    if file_path.endswith(gz_suffix):
        return _decompress_members(packed_content, file_name)
    return packed_content


def _decompress_frames(packed_content: bytes, file_name: str) -> Iterator[bytes]:
    """Decompress the frames of a closed journal segment. Each frame contains complete lines."""
    packed_view, content_end = memoryview(packed_content), len(packed_content)
    bytes_left, damage_count, frame_begin = bounded_inflation.max_inflated_bytes(content_end), 0, 0
    while frame_begin < content_end or not packed_content:
        frame = bounded_inflation.inflate_zstd_frame(packed_view[frame_begin:], bytes_left)
        bytes_left -= len(frame.content)
        if frame.problem_text is None:
            yield frame.content
            frame_begin += frame.compressed_bytes
            continue
        damage_count += 1
        next_header = packed_content.find(_ZSTD_FRAME_HEADER, frame_begin + 1)
        can_resume = next_header > 0 and bytes_left > 0 and damage_count < _MAX_DAMAGED_PARTS
        resume_offset = next_header if can_resume else content_end
        yield frame.content[: frame.content.rfind(b"\n") + 1]
        yield (
            f"{file_name} is damaged: {resume_offset - frame_begin} bytes from byte "
            f"{frame_begin} on are unreadable\n"
        ).encode()
        if not packed_content:
            return
        frame_begin = resume_offset


def _decompress_members(packed_content: bytes, file_name: str) -> bytes:
    """Decompress the members of a gzip file, up to the first damaged place."""
    packed_view, content_end = memoryview(packed_content), len(packed_content)
    plain_parts, member_begin = list[bytes](), 0
    bytes_left = bounded_inflation.max_inflated_bytes(content_end)
    while member_begin < content_end or not packed_content:
        member = bounded_inflation.inflate_gzip_member(packed_view[member_begin:], bytes_left)
        plain_parts.append(member.content)
        bytes_left -= len(member.content)
        member_begin += member.compressed_bytes
        if member.problem_text is not None:
            plain_content = b"".join(plain_parts)
            damage_line = f"{DAMAGE_PREFIX}{file_name} is damaged or incomplete from byte {member_begin} on\n"
            return plain_content[: plain_content.rfind(b"\n") + 1] + damage_line.encode()
    return b"".join(plain_parts)


def escape_glob(file_path: str) -> str:
    return re.sub(r"([\\*?{}\[\]])", r"\\\1", file_path)
