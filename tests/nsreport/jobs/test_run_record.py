"""What a run leaves for the next one, and when it counts."""

from pathlib import Path

import pytest

from nsreport.jobs import run_record
from nsreport.jobs.run_record import (
    RECORD_FILE,
    RunRecord,
    digest_inputs,
    read_unchanged_outcome,
    remove_record,
    write_record,
)


def test_inputs_differ_in_names_lengths_and_times_and_with_the_request(tmp_path: Path) -> None:
    log = tmp_path / "ns" / "namesrv.log"
    log.parent.mkdir()
    log.write_text("a\n")
    digests = {digest_inputs(["all"], [str(tmp_path)])}
    digests.add(digest_inputs(["drain_audit"], [str(tmp_path)]))
    log.write_text("a\nb\n")
    digests.add(digest_inputs(["all"], [str(tmp_path)]))
    log.rename(log.with_name("namesrv.1.log"))
    digests.add(digest_inputs(["all"], [f"{tmp_path}/*"]))
    assert len(digests) == 4
    assert digest_inputs(["all"], [f"{tmp_path}/*"]) in digests
    assert digest_inputs(["all"], [str(tmp_path), "hdfs:///logs"]) is None


@pytest.mark.parametrize("output", ["", "file://"])
def test_the_outcome_counts_while_inputs_and_reports_are_there(tmp_path: Path, output: str) -> None:
    report_folder = tmp_path / "gold" / "drain_audit"
    report_folder.mkdir(parents=True)
    place = f"{output}{tmp_path}"
    record = RunRecord(run_record.digest_code(), ["drain_audit"], [5, 1, 0, ["ns"]], "d")
    assert read_unchanged_outcome(place, "d") is None
    write_record(place, record)
    assert read_unchanged_outcome(place, "d") == [5, 1, 0, ["ns"]]
    assert read_unchanged_outcome(place, "other") is None
    assert read_unchanged_outcome(place, None) is None
    assert read_unchanged_outcome(f"hdfs://{tmp_path}", "d") is None
    report_folder.rmdir()
    assert read_unchanged_outcome(place, "d") is None
    report_folder.mkdir()
    for other in (record._replace(code_digest="older"), None):
        write_record(place, other) if other else (tmp_path / RECORD_FILE).write_text('{"other": 1}')
        assert read_unchanged_outcome(place, "d") is None
    for report_names in (5, [5], None):
        write_record(place, record._replace(report_names=report_names))  # type: ignore[arg-type]
        assert read_unchanged_outcome(place, "d") is None
    (tmp_path / RECORD_FILE).write_text("[" * 50_000)
    assert read_unchanged_outcome(place, "d") is None
    remove_record(place)
    assert not (tmp_path / RECORD_FILE).exists()
