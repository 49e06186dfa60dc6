"""Raw lines become messages, and what is none is said."""

import re

from pyspark.sql import SparkSession
from pyspark.testing import assertDataFrameEqual

from nsreport.sources.input_files import DAMAGE_PREFIX, LOG_PATTERNS
from nsreport.sources.java_logs import message_splitter
from tests.nsreport.sources.java_logs.conftest import Read, messages


def test_what_continues_a_line_joins_it(spark: SparkSession) -> None:
    first = "2026-11-22 08:00:00 INFO main - a - b\n\tat first\n\n\tat third"
    text = f"\tat a torn trace\n{first}\n2026-11-22 07:59:59 - c\n"
    lines = messages(spark, {"s": {"namesrv.log": text}})
    found = lines.selectExpr("line", "text", "string(date) as date")
    expected = [
        (1, "\tat a torn trace", "1970-01-01"),
        (2, first, "2026-11-22"),
        (6, "2026-11-22 07:59:59 - c", "2026-11-21"),
    ]
    assertDataFrameEqual(found, spark.createDataFrame(expected, "line long, text string, date string"))
    told = message_splitter.split_messages(lines).selectExpr("string(ts) as ts", "level", "thread", "message")
    parts = [
        ("2026-11-22 00:00:00", "INFO", "main", "a - b\n\tat first\n\n\tat third"),
        ("2026-11-21 23:59:59", "", "", "c"),
    ]
    assertDataFrameEqual(
        told, spark.createDataFrame(parts, "ts string, level string, thread string, message string")
    )


def test_where_a_log_is_damaged_no_message_goes_on(spark: SparkSession) -> None:
    said = f"{DAMAGE_PREFIX}x.gz cannot be read"
    lines = messages(spark, {"s": {"namesrv.log": f"2026-11-22 08:00:00 - a\n\tat b\n{said}\n"}})
    assert [row.message for row in message_splitter.split_messages(lines).collect()] == ["a\n\tat b"]
    assert [(row.text, row.reason) for row in message_splitter.select_orphan_lines(lines).collect()] == [
        (said, "the file is damaged")
    ]


def test_a_message_that_is_too_long_is_told_and_read_no_further(spark: SparkSession) -> None:
    head = "2026-11-22 08:00:00 INFO main - "
    longest = head + "x" * (message_splitter.MAX_MESSAGE_LENGTH - len(head))
    half = "y" * (message_splitter.MAX_MESSAGE_LENGTH // 2)
    text = f"{longest}\n{longest}x\n{head}{half}\n{half}\n{head}short\n"
    lines = messages(spark, {"s": {"namesrv.log": text}}).localCheckpoint()
    assert sorted(row.line for row in message_splitter.split_messages(lines).collect()) == [1, 5]
    orphans = sorted((row.line, row.reason) for row in message_splitter.select_orphan_lines(lines).collect())
    assert orphans == [(2, "longer than 262144 characters"), (3, "longer than 262144 characters")]


def test_a_rotated_file_has_the_hashes_that_it_had(spark: SparkSession) -> None:
    text = "2026-11-22 08:00:00 ERROR main - a\n"
    grown = text + "\tat a trace that was written later\n2026-11-22 08:00:00 ERROR main - a\n"
    lines = messages(spark, {"s": {"namesrv.log": text, "namesrv.1.log": grown}, "t": {"namesrv.log": text}})
    found = {(row.file, row.line): row.hash for row in lines.collect()}
    assert found["s/namesrv.log", 1] == found["s/namesrv.1.log", 1]
    assert len(set(found.values())) == 3


def test_names_of_files_tell_what_they_are() -> None:
    names = [
        "namesrv.log",
        "namesrv.3.log.gz",
        "namesrv_default.log",
        "stats.1.log",
        "pop.log",
        "namesrv.log.bak",
    ]
    kinds = [[kind for kind, name in LOG_PATTERNS.items() if re.fullmatch(name, file)] for file in names]
    assert kinds == [["namesrv"], ["namesrv"], ["namesrv_default"], ["stats"], [], []]


def test_what_nobody_understands_is_told_with_the_reason(real: Read) -> None:
    assert [(item.file, item.line, item.reason) for item in real.quarantine] == [
        ("german/stats.log", 4, "not a statistic that brokers are known to write"),
        ("rare/namesrv.log", 1, "continuation of a line that is not in this file"),
        ("rare/namesrv.log", 13, "starts like a known message, but does not match its pattern"),
        ("rare/namesrv.log", 14, "invalid time"),
    ]
