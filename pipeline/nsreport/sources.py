"""Sources: which files an operator's folders have, and their lines, each with its number. Compressed or not.

Whatever file system Spark knows will do. What stands behind the last line end is not read: it is a line that
is being written.
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
"""Logs of Java's, by patterns of their names; a rotated one has a number, and may be packed."""

KINDS: dict[str, str] = {JOURNAL: r"\d{16}-\d{8}T\d{9}Z\.jsonl(\.zst)?", **LOGS}
"""What a file is, by its name: patterns for the whole of it."""

AT_REST = 900_000
"""Ms after which a file that nobody has written to is at rest: journals are written to each minute, logs of
quiet name servers each ten."""

PIECE = 1 << 20
"""Files that are read at once are cut into pieces of about as many bytes, of whole lines."""

_CUTS = "spark.sql.files.minPartitionNum"
_CUT_OTHERWISE = "files have grown, or were cut up otherwise, since their lines were counted; run it again"

DAMAGE = "0000-00-00 00:00:00 - damaged: "
"""Begins the line that stands for what cannot be read of a log: a message of its own, of no time."""

_PACKED = (".zst", ".gz")
_STEP = 1 << 12
"""Bytes of which nothing can be read where one of them is damaged."""
_OWN = ("file", "line", "text", "kind", "server")
_BLOCKS = (
    "path string, start bigint, begin bigint, lines bigint, first bigint, stop bigint,"
    " file string, kind string, server string"
)
_PIECES = "array<struct<first: bigint, lines: string>>"
_OF_ALL = ("rocketmqlogs", "logs", "otherdays")
"""Folders that are called the same on every server."""


class NoInput(Exception):
    """There is nothing to read at a path; the text is one line that says so."""


class Source(NamedTuple):
    """A folder, a file or a pattern with `*`, and the name that the operator gave the server it is of.

    The name `*` is what the first `*` of the pattern stands for.
    """

    path: str
    name: str | None = None


class File(NamedTuple):
    """A file that somebody can read, by the path that Spark calls it; `modified` is in ms since 1970.

    `server` is the one whose file it is, None where the lines say it themselves.
    """

    path: str
    length: int
    modified: int
    kind: str
    server: str | None


def kind_of(path: str) -> str | None:
    """What a file is; None for what nobody here can read."""
    name = path.rpartition("/")[2]
    return next((kind for kind, pattern in KINDS.items() if re.fullmatch(pattern, name)), None)


def server_of(path: str, kind: str, source: Source) -> str | None:
    """Whose file that is: as the operator says; of a log else the folder that it is in."""
    if source.name == "*":
        parts = (re.escape(part) for part in source.path.split("*"))
        found = re.search("([^/]*)".join(parts), path)
        return found[1] if found and found.groups() else None
    if source.name is not None or kind == JOURNAL:
        return source.name
    return next((name for name in reversed(path.split("/")[1:-1]) if name and name not in _OF_ALL), "-")


def files(spark: SparkSession, source: Source) -> tuple[list[File], list[str]]:
    """The files in a folder and all below it, in the order of their names; and those of no kind. NoInput."""
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
    """What is at that place; None for what nobody here can read."""
    kind = kind_of(path)
    return None if kind is None else File(path, length, modified, kind, server_of(path, kind, source))


def lines(spark: SparkSession, files: Sequence[File], now: int | None = None) -> DataFrame:
    """The lines of files: `file`, `line` (from 1), `text` without its end, `kind`, `server`.

    Those of files that are not packed are counted first, which needs them to stay as they are: what may be
    written to at `now` (ms since 1970; None: none of them) is read at once, like packed ones.
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
    """As Spark cuts them, so that a file of any length takes little memory."""
    if not spark.sparkContext.getConf().contains(_CUTS):
        # How many machines are there, may change; what files are cut into, not between counting and reading.
        spark.conf.set(_CUTS, spark.sparkContext.defaultParallelism)
    reader = spark.read.option("lineSep", "\n").option("recursiveFileLookup", True)
    # `at` grows by one from line to line of a block.
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
    # A block that nobody counted has no `stop`.
    return numbered.where(coalesce(col("line") < col("stop"), lit(True))).select(*_OWN)


class _Block(NamedTuple):
    """A part of a file: the `at` of its first line, how many lines, and their bytes, each with an end."""

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
    """Rows of _BLOCKS; `stop` is the number behind that of the last line which has an end."""
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
    """A path as Hadoop shows it, of one that is written as a URI."""
    parts = urlsplit(uri)
    place = f"//{parts.netloc}" if parts.netloc else ""
    return f"{parts.scheme}:{place}{unquote(parts.path)}"


def _at_once(spark: SparkSession, files: Sequence[File]) -> DataFrame:
    contents = spark.read.format("binaryFile").load([literal(file.path) for file in files])
    # One call a file; without Arrow, which nothing else here needs.
    cut = udf(pieces, _PIECES, useArrow=False)
    rows = [(file.path, file.kind, file.server) for file in files]
    whose = spark.createDataFrame(rows, "path string, kind string, server string")
    cut_up = contents.select("path", explode(cut("content", "path")).alias("piece"))
    each = cut_up.select("path", "piece.first", posexplode(split("piece.lines", "\n")).alias("at", "text"))
    named = each.withColumns({"file": col("path"), "line": col("first") + col("at")})
    return named.join(broadcast(whose), "path").select(*_OWN)


def pieces(content: bytes, path: str) -> list[tuple[int, str]]:
    """A file's whole lines, some MiB together, each piece with the number of its first line."""
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
    """What a file holds, decompressed as its name says; of one that is damaged, what can be read.

    Where it is damaged a line says so, which is no record and no message.
    """
    zst, gz = _PACKED
    name = path.rpartition("/")[2]
    if path.endswith(zst):
        return b"".join(_frames(content, name))
    if path.endswith(gz):
        return _members(content, name)
    return content


def _frames(content: bytes, name: str) -> Iterator[bytes]:
    """A closed segment is never written to again, and each of its frames has whole lines."""
    # Only Spark's workers need it.
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
    """What is in it; nothing can be told apart behind a place where it is damaged."""
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
    """A path in which no letter stands for others."""
    return re.sub(r"([\\*?{}\[\]])", r"\\\1", path)
