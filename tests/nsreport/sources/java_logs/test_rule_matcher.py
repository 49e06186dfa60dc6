"""Messages follow rules, each line counts once."""

from nsreport.sources.java_logs.rule_matcher import build_start_pattern
from tests.nsreport.sources.java_logs.conftest import Read


def test_lines_that_were_read_under_two_names_count_once(real: Read) -> None:
    lines = [
        (item["type"], item["sourceLine"])
        for item in real.of("new", "BrokerRegistered", "BrokerUnregistered")
    ]
    assert len(lines) == len(set(lines)) == 8


def test_a_value_of_two_lines_is_whole(real: Read) -> None:
    [put] = real.of("rare", "KvPut")
    assert put["value"] == "one\ntwo"


def test_a_beginning_is_taken_literally() -> None:
    assert build_start_pattern(["cluster [", "a.b"]) == r"^(?:\Qcluster [\E|\Qa.b\E)"
