"""Files of folders, and their lines with their numbers."""

import gzip
import os
import random
from pathlib import Path

import pytest
import zstandard
from pyspark.errors import SparkRuntimeException
from pyspark.sql import SparkSession

from namesrv_core import bounded_inflation
from nsreport.sources import input_files
from nsreport.sources.input_files import DAMAGE_PREFIX, InputFile, InputSource
from tests.support.bounded_process import run_bounded

NAME = "0000000000000001-20251121T140300123Z.jsonl"
LINES = [f"line {number} é" for number in range(1, 6)]
WHOLE = "".join(line + "\n" for line in LINES).encode()


def frames(content: bytes) -> bytes:
    """As journals are compressed: a frame after the other."""
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    return b"".join(compressor.compress(line) for line in content.splitlines(keepends=True))


def test_files_are_told_apart_by_their_names(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a b{c}" / "journal"
    folder.mkdir(parents=True)
    for name in (NAME, f"{NAME}.zst", f"{NAME}.idx", "journal.lock", "x.jsonl"):
        (folder / name).write_bytes(b"{}\n")
    os.utime(folder / NAME, (1, 1))
    known, others = input_files.list_files(spark, InputSource(input_files.escape_glob(str(tmp_path))))
    assert [(Path(file.path.removeprefix("file:")), file.length, file.kind) for file in known] == [
        (folder / NAME, 3, "journal"),
        (folder / f"{NAME}.zst", 3, "journal"),
    ]
    assert known[0].modified == 1000
    assert [Path(path).name for path in others] == [f"{NAME}.idx", "journal.lock", "x.jsonl"]


@pytest.mark.parametrize(
    ("suffix", "content"),
    [
        ("", WHOLE),
        (".zst", frames(WHOLE)),
        (".gz", gzip.compress(WHOLE[:9]) + gzip.compress(WHOLE[9:])),
        ("", WHOLE.replace(b"\n", b"\r\n")),
        (".gz", gzip.compress(WHOLE.replace(b"\n", b"\r\n"))),
    ],
    ids=["plain", "zst", "gz", "crlf", "crlf-gz"],
)
def test_lines_have_their_numbers(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, content: bytes
) -> None:
    path = tmp_path / f"what [*]{suffix}"
    path.write_bytes(content)
    file = InputFile(f"file:{path}", 0, 0, "journal", "s")
    found = input_files.read_lines(spark, [file]).collect()
    assert sorted((row.line, row.text) for row in found) == list(enumerate(LINES, 1))
    assert {(row.file, row.kind, row.server) for row in found} == {(file.path, "journal", "s")}
    assert input_files.is_on_this_machine(file)
    small = input_files.read_small_files(spark, [file])
    assert (sorted(small.collect()), small.dtypes) == (
        sorted(found),
        input_files.read_lines(spark, [file]).dtypes,
    )


@pytest.mark.parametrize("end", [b"", b"torn"], ids=["whole", "torn"])
def test_lines_of_a_file_that_is_read_in_blocks_have_their_numbers(
    spark: SparkSession, tmp_path: Path, end: bytes
) -> None:
    texts = [f"{'x' * (number % 50)}{number}" for number in range(1000)]
    files = [InputFile(f"file:{tmp_path}/{name}", 0, 0, "journal", name) for name in ("a", "b #1?", "empty")]
    for file in files[:2]:
        Path(file.path.removeprefix("file:")).write_bytes(
            "".join(f"{text}\n" for text in texts).encode() + end
        )
    (tmp_path / "empty").write_bytes(b"")
    settings = {"spark.sql.files.maxPartitionBytes": "999", "spark.sql.files.openCostInBytes": "10"}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        found = input_files.read_lines(spark, files)
        assert found.rdd.getNumPartitions() > 50
        rows = found.collect()
    finally:
        for key in settings:
            spark.conf.unset(key)
    assert len(rows) == 2000
    for file in files[:2]:
        own = sorted((row.line, row.text) for row in rows if row.file == file.path)
        assert own == list(enumerate(texts, 1))


@pytest.mark.parametrize("end", [b"", b"to"], ids=["whole", "torn"])
@pytest.mark.parametrize("more", [b"two\nthr", b"\nthree\nfour\n"])
def test_of_a_file_that_grows_the_lines_are_read_that_it_had(
    spark: SparkSession, tmp_path: Path, end: bytes, more: bytes
) -> None:
    path = tmp_path / NAME
    path.write_bytes(b"one\n" + end)
    files, _ = input_files.list_files(spark, InputSource(str(tmp_path)))
    lines = input_files.read_lines(spark, files)
    with path.open("ab") as file:
        file.write(more)
    assert [(row.line, row.text) for row in lines.collect()] == [(1, "one")]


def test_files_that_are_cut_otherwise_than_they_were_counted_are_no_lines(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "a").write_bytes(WHOLE)
    found = input_files.read_lines(spark, [InputFile(f"file:{tmp_path}/a", 0, 0, "journal", "s")])
    spark.conf.set("spark.sql.files.maxPartitionBytes", "20")
    try:
        with pytest.raises(SparkRuntimeException, match="run the same command again"):
            found.collect()
    finally:
        spark.conf.unset("spark.sql.files.maxPartitionBytes")


@pytest.mark.parametrize(
    ("path", "kind", "source", "server"),
    [
        ("file:/in/ns-1/journal/x", "journal", InputSource("/in"), None),
        ("file:/in/ns-1/journal/x", "journal", InputSource("/in/*", "*"), "ns-1"),
        ("file:/in/ns-1/journal/x", "journal", InputSource("/in/ns-*/journal", "*"), "1"),
        ("file:/in/ns-1/logs/x.log", "namesrv", InputSource("/in", "a"), "a"),
        ("file:/in/ns-1/logs/otherdays/x.log.gz", "namesrv", InputSource("/in"), "ns-1"),
        ("file:/logs/x.log", "namesrv", InputSource("/logs"), "-"),
    ],
)
def test_whose_file_it_is(path: str, kind: str, source: InputSource, server: str | None) -> None:
    assert input_files.server_of_file(path, kind, source) == server


def test_a_folder_that_is_not_there_is_said(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(input_files.InputNotFoundError, match='no such file or folder "'):
        input_files.list_files(spark, InputSource(str(tmp_path / "nowhere")))


def test_a_line_without_its_end_waits() -> None:
    assert input_files.cut_into_pieces(b"a\nb", "x") == [(1, "a")]
    assert input_files.cut_into_pieces(b"a", "x") == []
    assert input_files.cut_into_pieces(b"", "x") == []
    assert input_files.cut_into_pieces(b"\n\n", "x") == [(1, "\n")]


def test_large_files_come_in_pieces_of_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_files, "PIECE_BYTES", 12)
    found = input_files.cut_into_pieces(WHOLE, "x")
    assert found == [(1, "line 1 é\nline 2 é"), (3, "line 3 é\nline 4 é"), (5, "line 5 é")]


@pytest.mark.parametrize("size", range(1, 40))
def test_pieces_of_any_size_are_the_same_lines(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(input_files, "PIECE_BYTES", size)
    found = [
        (first + at, line)
        for first, piece in input_files.cut_into_pieces(WHOLE, "x")
        for at, line in enumerate(piece.split("\n"))
    ]
    assert found == list(enumerate(LINES, 1))


def test_of_a_damaged_file_what_can_be_read_is_read() -> None:
    whole = frames(WHOLE)
    second, last = whole.index(whole[:4], 1), whole.rindex(whole[:4])
    flipped = whole[:9] + bytes([whole[9] ^ 0xFF]) + whole[10:]
    for damaged, kept, at, lost in (
        (whole[:-9], LINES[:4], last, len(whole) - 9 - last),
        (whole + b"no frame", LINES, len(whole), 8),
        (b"none at all", [], 0, 11),
        (b"", [], 0, 0),
    ):
        said = f"x.zst is damaged: {lost} bytes from byte {at} on are unreadable"
        assert input_files.cut_into_pieces(damaged, "/a/x.zst") == [(1, "\n".join([*kept, said]))]
    said = f"x.zst is damaged: {second} bytes from byte 0 on are unreadable"
    assert input_files.cut_into_pieces(flipped, "x.zst") == [(1, "\n".join([said, *LINES[1:]]))]


def test_a_log_that_was_cut_off_says_so_in_a_line_of_its_own() -> None:
    whole = gzip.compress(WHOLE)
    for damaged, kept, at in (
        (b"no gzip\n", [], 0),
        (b"", [], 0),
        (whole + b"no gzip", LINES, len(whole)),
        (whole + whole[:-1], LINES + LINES, 2 * len(whole) - 1),
    ):
        said = f"{DAMAGE_PREFIX}x.gz is damaged or incomplete from byte {at} on"
        assert input_files.cut_into_pieces(damaged, "/a/x.gz") == [(1, "\n".join([*kept, said]))]
    assert input_files.cut_into_pieces(whole + whole, "x.gz") == [(1, "\n".join(LINES + LINES))]


def test_of_a_long_log_all_is_read_that_stands_before_the_damage() -> None:
    chance = random.Random(0)
    written = [f"{number} {chance.getrandbits(256):x}" for number in range(4000)]
    packed = bytearray(gzip.compress("".join(f"{line}\n" for line in written).encode()))
    packed[len(packed) // 2] ^= 0xFF
    [(first, text)] = input_files.cut_into_pieces(bytes(packed), "x.gz")
    *read, said = text.split("\n")
    # Bytes that are not what they were may still be text, to the sum behind them.
    same = next(at for at, (one, other) in enumerate(zip(read, written, strict=False)) if one != other)
    assert (first, said.startswith(DAMAGE_PREFIX)) == (1, True)
    assert same > 1800


def test_what_is_no_text_is_read_all_the_same(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff a\xe9\r\n")
    [row] = input_files.read_lines(spark, [InputFile(f"file:{tmp_path}/x", 0, 0, "journal", "s")]).collect()
    assert row.text == "\ufffd a\ufffd"
    assert input_files.cut_into_pieces(b"\xff a\xe9\r\n", "x") == [(1, "\ufffd a\ufffd\r")]


def test_what_a_segment_inflates_to_beyond_the_limit_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_inflation, "FREE_BYTES", 3000)
    monkeypatch.setattr(bounded_inflation, "MAX_RATIO", 1)
    line = b"x" * 999 + b"\n"
    packed = zstandard.compress(line * 2) + zstandard.compress(line * 50) + zstandard.compress(line)
    second = packed.index(packed[:4], 1)
    [(first, text)] = input_files.cut_into_pieces(packed, "x.zst")
    said = f"x.zst is damaged: {len(packed) - second} bytes from byte {second} on are unreadable"
    assert (first, text.split("\n")) == (1, [*["x" * 999] * 3, said])


def test_what_a_log_inflates_to_beyond_the_limit_is_damage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_inflation, "FREE_BYTES", 3000)
    monkeypatch.setattr(bounded_inflation, "MAX_RATIO", 1)
    packed = gzip.compress((b"x" * 999 + b"\n") * 50)
    [(first, text)] = input_files.cut_into_pieces(packed, "x.gz")
    said = f"{DAMAGE_PREFIX}x.gz is damaged or incomplete from byte {len(packed)} on"
    assert (first, text.split("\n")) == (1, [*["x" * 999] * 3, said])


_READ_BOMB = """
import gzip, zstandard
from namesrv_core import bounded_inflation
from nsreport.sources import input_files
compress, suffix = (zstandard.compress, "zst") if sys.argv[1] == "zst" else (gzip.compress, "gz")
member = compress(b" " * (1 << 27))
print(len(input_files.decompress_file(member * 24, f"x.{suffix}")))
"""


@pytest.mark.parametrize("suffix", ["zst", "gz"])
def test_a_file_that_inflates_without_measure_needs_little_memory(suffix: str) -> None:
    assert int(run_bounded(_READ_BOMB, suffix, megabytes=1800)) < 1 << 30


def test_a_file_with_a_damaged_part_everywhere_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    inflate = bounded_inflation.inflate_zstd_frame

    def count_frames(data: memoryview, max_bytes: int) -> bounded_inflation.InflatedData:
        tried.append(len(data))
        return inflate(data, max_bytes)

    monkeypatch.setattr(bounded_inflation, "inflate_zstd_frame", count_frames)
    text = input_files.decompress_file(zstandard.FRAME_HEADER * 50_000, "x.zst").decode()
    assert len(tried) == text.count("is damaged") == 1000
