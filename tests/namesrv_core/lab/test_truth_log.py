"""What is told is a line at once, and is read as it was told."""

from pathlib import Path

import pytest

from namesrv_core.lab.truth_log import Deed, ExpectedEvent, TruthLog, read_deeds

DEED = Deed(
    1_767_600_000_000, 60.0, "kill", "begin", ("broker-a-0:0",), {"addresses": ["127.0.0.1:1"]},
    (ExpectedEvent(("BrokerUnregistered",), ("ns-1",), 1.0, {"reason": "channel closed"}, ("channel closed",),
              ("b:0",)),),
)  # fmt: skip


def test_a_line_is_there_at_once(tmp_path: Path) -> None:
    with TruthLog(tmp_path / "truth.jsonl") as truth:
        truth.append_deed(DEED)
        assert read_deeds(tmp_path / "truth.jsonl") == [DEED]
        assert truth.deeds == [DEED]


def test_an_expectation_of_no_server_is_read_as_it_was_written(tmp_path: Path) -> None:
    deed = DEED._replace(expected=(ExpectedEvent(("BrokerUnregistered",), (), 1.0),))
    with TruthLog(tmp_path / "truth.jsonl") as truth:
        truth.append_deed(deed)
    assert read_deeds(tmp_path / "truth.jsonl") == [deed]


def test_the_bytes(tmp_path: Path) -> None:
    with TruthLog(tmp_path / "truth.jsonl") as truth:
        truth.append_deed(DEED)
    assert (tmp_path / "truth.jsonl").read_text() == (
        '{"v": 1, "time": 1767600000000, "at": 60.0, "fault": "kill", "phase": "begin", '
        '"on": ["broker-a-0:0"], "details": {"addresses": ["127.0.0.1:1"]}, '
        '"expected": [{"types": ["BrokerUnregistered"], '
        '"on": ["ns-1"], "within": 1.0, "where": {"reason": "channel closed"}, '
        '"causes": ["channel closed"], "each": ["b:0"], "sure": true}]}\n'
    )


def test_another_version_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text('{"v": 2}\n')
    with pytest.raises(ValueError, match="another version than 1"):
        read_deeds(tmp_path / "x")
