"""Ext fields as records."""

from typing import NamedTuple

import pytest

from namesrv_core.protocol import headers
from namesrv_core.protocol.headers import read_header, write_header

EVERYTHING = headers.RegisterBroker("a", "1:2", "c", "1:3", 0, True, 7, 9000, False, "z")


def test_field_names_become_the_wire_s_own() -> None:
    assert write_header(EVERYTHING) == {
        "brokerName": "a",
        "brokerAddr": "1:2",
        "clusterName": "c",
        "haServerAddr": "1:3",
        "brokerId": "0",
        "compressed": "true",
        "bodyCrc32": "7",
        "heartbeatTimeoutMillis": "9000",
        "enableActingMaster": "false",
        "__ZONE_NAME": "z",
    }


def test_what_is_none_is_not_written() -> None:
    assert write_header(headers.MinBrokerIdChange(0, "1:2")) == {"minBrokerId": "0", "minBrokerAddr": "1:2"}


@pytest.mark.parametrize(
    "header",
    [
        EVERYTHING,
        headers.PutKvConfig("n", "k", ""),
        headers.KvKey("n", "k"),
        headers.KvNamespace("n"),
        headers.BrokerIdentity("a", "1:2", "c", 2**40),
        headers.BrokerHeartbeat("c", "1:2", "a"),
        headers.GetRoute("T", True, True, "z"),
        headers.BrokerName("a"),
        headers.ClusterName("c"),
        headers.DeleteTopic("T", "c"),
        headers.TopicName("T"),
        headers.MemberGroup("c", "a"),
        headers.MinBrokerIdChange(-1, "1:2", "1:3", "1:4"),
    ],
    ids=lambda header: type(header).__name__,
)
def test_every_record_reads_back_as_it_was_written(header: NamedTuple) -> None:
    assert read_header(type(header), write_header(header)) == header


def test_missing_fields_are_null_or_their_primitive_default() -> None:
    for ext in (None, {}, {"brokerName": None}):
        assert read_header(headers.RegisterBroker, ext) == headers.RegisterBroker()


@pytest.mark.parametrize("text", ["", "x", "1.5", " 1", "0x1", str(2**63), "9" * 5000, "1_0", "--1"])
def test_an_unreadable_long_is_null(text: str) -> None:
    assert read_header(headers.BrokerIdentity, {"brokerId": text}).broker_id is None


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("+5", 5), ("-5", -5), ("007", 7), (str(2**63 - 1), 2**63 - 1)]
)
def test_a_long_is_read_as_java_reads_it(text: str, number: int) -> None:
    assert read_header(headers.BrokerIdentity, {"brokerId": text}).broker_id == number


@pytest.mark.parametrize("text", ["x", "", str(2**31), str(-(2**31) - 1)])
def test_an_unreadable_int_is_its_default(text: str) -> None:
    assert read_header(headers.RegisterBroker, {"bodyCrc32": text}).body_crc32 == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("TRUE", True), ("True", True), ("false", False), ("1", False), ("yes", False),
        ("", False),
    ],
)  # fmt: skip
def test_only_true_in_any_case_is_true(text: str, value: bool) -> None:
    assert read_header(headers.RegisterBroker, {"compressed": text}).compressed is value
    assert read_header(headers.RegisterBroker, {"enableActingMaster": text}).enable_acting_master is value


def test_fields_that_are_not_asked_for_are_passed_over() -> None:
    ext = {"topic": "T", "ns": "x", "nsd": "y", "AccessKey": "k", "Signature": "s", "Topic": "no"}
    assert read_header(headers.TopicName, ext) == headers.TopicName("T")
