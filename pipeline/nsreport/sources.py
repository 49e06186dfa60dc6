"""Input files: finds journals and logs in folders, and reads their numbered lines, compressed or not.

Any file system of Spark works. Text after the last line end is not read: the server is still writing it.
"""

import contextlib
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
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
    split,
    udf,
    when,
)
from pyspark.sql.functions import min as min_of
from pyspark.sql.functions import sum as sum_of

JOURNAL = "journal"

LOGS: dict[str, str] = {
    name: rf"{name}(\.\d+)?\.log(\.gz)?"
    for name in ("namesrv", "namesrv_default", "namesrv_traffic", "broker", "stats", "watermark", "store")
}
"""The kinds of Java logs, with patterns of their names. A rotated log has a number and may be compressed."""

KINDS: dict[str, str] = {JOURNAL: r"\d{16}-\d{8}T\d{9}Z\.jsonl(\.zst)?", **LOGS}
"""All kinds of files, with patterns that match the whole file name."""

AT_REST = 900_000
"""A file without a write for this long is at rest: a journal grows every minute, and the log of a quiet name
server every ten minutes."""

PIECE = 1 << 20
"""A file that is read as a whole is cut into pieces of about this size, at line ends."""

_CUTS = "spark.sql.files.minPartitionNum"
_CUT_OTHERWISE = "files have grown, or were cut up otherwise, since their lines were counted; run it again"

DAMAGE = "0000-00-00 00:00:00 - damaged: "
"""Start of the line that replaces the unreadable part of a log: a message with an invalid time."""

_PACKED = (".zst", ".gz")
_STEP = 1 << 12
"""A damaged byte makes at most this many compressed bytes unreadable."""
_OWN = ("file", "line", "text", "kind", "server")
_BLOCKS = (
    "path string, start bigint, begin bigint, lines bigint, first bigint, stop bigint,"
    " file string, kind string, server string"
)
_PIECES = "array<struct<first: bigint, lines: string>>"
_OF_ALL = ("rocketmqlogs", "logs", "otherdays")
"""Folder names that are the same on every server, and so do not name the server."""


class NoInput(Exception):
    """An input path does not exist; the text is one line."""


class Source(NamedTuple):
    """A folder, a file or a `*` pattern, and the server name that the operator gave to it.

    The server name `*` stands for the text that the first `*` of the pattern matches.
    """

    path: str
    name: str | None = None


class File(NamedTuple):
    """A file of a known kind, with its path as Spark shows it; `modified` is in ms since 1970.

    `server` is the server that wrote the file, or None if its lines contain the server.
    """

    path: str
    length: int
    modified: int
    kind: str
    server: str | None


def kind_of(path: str) -> str | None:
    """Return the kind of a file by its name, or None if it is unknown."""
    name = path.rpartition("/")[2]
    return next((kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, name)), None)


def server_of(path: str, kind: str, source: Source) -> str | None:
    """Return the server of a file: the operator's name for it, else the folder of a log, else None."""
    if source.name == "*":
        parts = (re.escape(part) for part in source.path.split("*"))
        found = re.search("([^/]*)".join(parts), path)
        return found[1] if found and found.groups() else None
    if source.name is not None or kind == JOURNAL:
        return source.name
    return next((name for name in reversed(path.split("/")[1:-1]) if name and name not in _OF_ALL), "-")


def files(spark: SparkSession, source: Source) -> tuple[list[File], list[str]]:
    """List the files below a folder, sorted by path, and the paths of files of an unknown kind.

    Raises InputNotFoundError.
    """
    reader = spark.read.format("binaryFile").option("recursiveFileLookup", True)
    try:
        found = (
            reader.load(source.path).selectExpr("path", "length", "unix_millis(modificationTime)").collect()
        )
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            raise NoInput(f"{source.path}: there is no such file or folder") from None
        raise
    known, others = [], []
    for path, length, modified in sorted(found):
        file = file_at(path, source, length, modified)
        if file is None:
            others.append(path)
        else:
            known.append(file)
    return known, others


def file_at(path: str, source: Source, length: int = 0, modified: int = 0) -> File | None:
    """Describe the file at a path; None if its kind is unknown."""
    kind = kind_of(path)
    return None if kind is None else File(path, length, modified, kind, server_of(path, kind, source))


def lines(spark: SparkSession, files: Sequence[File], now: int | None = None) -> DataFrame:
    """Read the lines of files: `file`, `line` (from 1), `text` without its line end, `kind`, `server`.

    Uncompressed files are read in blocks whose lines are counted first, so they must not change. Files that
    may still grow at `now_ms` (ms since 1970; None: none of them) are read as a whole, like compressed files.
    """
    whole: list[File] = []
    at_rest: list[File] = []
    for file in files:
        grows = now is not None and file.modified > now - AT_REST
        (whole if grows or file.path.endswith(_PACKED) else at_rest).append(file)
    if whole and at_rest:
        return _in_blocks(spark, at_rest).unionByName(_at_once(spark, whole))
    return _in_blocks(spark, at_rest) if at_rest else _at_once(spark, whole)


def _in_blocks(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    """Read files in Spark's blocks, so that a file of any length needs little memory."""
    if not spark.sparkContext.getConf().contains(_CUTS):
        # The number of machines may change, but counting and reading must use the same blocks.
        spark.conf.set(_CUTS, spark.sparkContext.defaultParallelism)
    reader = spark.read.option("lineSep", "\n").option("recursiveFileLookup", True)
    # Within a block the row id `at` grows by one from line to line.
    found = reader.text([literal(file.path) for file in files]).select(
        "value",
        col("_metadata.file_path").alias("path"),
        col("_metadata.file_block_start").alias("start"),
        col("_metadata.file_size").alias("size"),
        monotonically_increasing_id().alias("at"),
    )
    blocks = spark.createDataFrame(_numbered(_counted(found), files), _BLOCKS)
    own = (col("at") >= col("begin")) & (col("at") < col("begin") + col("lines"))
    line = when(own, col("first") + col("at") - col("begin")).otherwise(raise_error(lit(_CUT_OTHERWISE)))
    text = make_valid_utf8("value").alias("text")
    numbered = found.join(broadcast(blocks), ["path", "start"], "left").select("*", line.alias("line"), text)
    # A block that was not counted has no `stop`: its rows stay, and raise the error.
    return numbered.where(coalesce(col("line") < col("stop"), lit(True))).select(*_OWN)


class _Block(NamedTuple):
    """A block of a file: the row id of its first line, its lines, and their bytes including line ends."""

    path: str
    start: int
    begin: int
    lines: int
    length: int
    size: int


def _counted(found: DataFrame) -> list[_Block]:
    length = sum_of(octet_length("value") + 1)
    counted = found.groupBy("path", "start").agg(min_of("at"), count("*"), length, first("size"))
    return sorted(_Block(*row) for row in counted.collect())


def _numbered(blocks: Iterable[_Block], files: Iterable[File]) -> list[tuple[str | int | None, ...]]:
    """Return rows of _BLOCKS_SCHEMA; `stop` is one more than the number of the last complete line."""
    whose = {file.path: file for file in files}
    rows: list[tuple[str | int | None, ...]] = []
    for path, of_file in groupby(blocks, attrgetter("path")):
        cut = list(of_file)
        is_torn = sum(block.length for block in cut) > cut[0].size
        stop = 1 + sum(block.lines for block in cut) - is_torn
        file, number = whose[_name_of(path)], 1
        for block in cut:
            own = (path, block.start, block.begin, block.lines, number, stop)
            rows.append((*own, file.path, file.kind, file.server))
            number += block.lines
    return rows


def _name_of(uri: str) -> str:
    """Convert a URI to a path as Hadoop shows it."""
    parts = urlsplit(uri)
    place = f"//{parts.netloc}" if parts.netloc else ""
    return f"{parts.scheme}:{place}{unquote(parts.path)}"


def _at_once(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    contents = spark.read.format("binaryFile").load([literal(file.path) for file in files])
    # The UDF runs once per file. It works without Arrow, which the pipeline does not need elsewhere.
    cut = udf(pieces, _PIECES, useArrow=False)
    rows = [(file.path, file.kind, file.server) for file in files]
    whose = spark.createDataFrame(rows, "path string, kind string, server string")
    cut_up = contents.select("path", explode(cut("content", "path")).alias("piece"))
    each = cut_up.select("path", "piece.first", posexplode(split("piece.lines", "\n")).alias("at", "text"))
    named = each.withColumns({"file": col("path"), "line": col("first") + col("at")})
    return named.join(broadcast(whose), "path").select(*_OWN)


def pieces(content: bytes, path: str) -> list[tuple[int, str]]:
    """Cut the complete lines of a file into pieces, each with the number of its first line."""
    plain = inflate(bytes(content), path)
    found, begin, first = [], 0, 1
    end = plain.rfind(b"\n") + 1
    while begin < end:
        stop = plain.find(b"\n", min(begin + PIECE, end) - 1) + 1
        piece = plain[begin : stop - 1]
        found.append((first, piece.decode(errors="replace")))
        begin, first = stop, first + piece.count(b"\n") + 1
    return found


def inflate(content: bytes, path: str) -> bytes:
    """Decompress a file according to its suffix; of a damaged file, return the readable parts.

    A line marks each damaged part; it is neither a valid record nor a valid message.
    """
    zst, gz = _PACKED
    name = path.rpartition("/")[2]
    if path.endswith(zst):
        return b"".join(_frames(content, name))
    if path.endswith(gz):
        return _members(content, name)
    return content


def _frames(content: bytes, name: str) -> Iterator[bytes]:
    """Decompress the frames of a closed journal segment. Each frame contains complete lines."""
    # Only Spark's workers need this package.
    import zstandard

    at, end = 0, len(content)
    while at < end or not content:
        frame, plain = zstandard.ZstdDecompressor().decompressobj(), b""
        with contextlib.suppress(zstandard.ZstdError):
            plain = frame.decompress(content[at:])
        if frame.eof:
            yield plain
            at = end - len(frame.unused_data)
            continue
        following = content.find(zstandard.FRAME_HEADER, at + 1)
        resumed = following if following > 0 else end
        yield plain[: plain.rfind(b"\n") + 1]
        yield f"{name} is damaged: {resumed - at} bytes from byte {at} on cannot be read\n".encode()
        if not content:
            return
        at = resumed


def _members(content: bytes, name: str) -> bytes:
    """Decompress the members of a gzip file, up to the first damaged place."""
    found, rest = [], content
    while rest or not content:
        member, at = zlib.decompressobj(16 + zlib.MAX_WBITS), 0
        with contextlib.suppress(zlib.error):
            while not member.eof and at < len(rest):
                found.append(member.decompress(rest[at : at + _STEP]))
                at += _STEP
        if not member.eof:
            plain = b"".join(found)
            end = min(len(content) - len(rest) + at, len(content))
            told = f"{DAMAGE}{name} cannot be read from byte {end} on, or was cut off there\n"
            return plain[: plain.rfind(b"\n") + 1] + told.encode()
        rest = member.unused_data + rest[at:]
    return b"".join(found)


def literal(path: str) -> str:
    """Escape the wildcards in a path."""
    return re.sub(r"([\\*?{}\[\]])", r"\\\1", path)
