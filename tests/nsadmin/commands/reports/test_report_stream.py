"""report stream: what it leaves to the pipeline."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from nsadmin.app import main
from nsadmin.operations import report_runner


def test_it_is_the_pipeline_s_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given: list[str] = []

    def told(words: list[str], cache: Path, log: Path) -> Iterator[dict[str, Any]]:
        given.extend(words)
        yield {"doing": "checking for new data every 60 s"}

    monkeypatch.setattr(report_runner, "run_report", told)
    assert main(["report", "stream", "--input", str(tmp_path), "--dir", "b", "--once"]) == 0
    assert given == ["stream", "--dir", "b", "--input", str(tmp_path), "--once"]
    assert capsys.readouterr() == ("", "nsadmin: checking for new data every 60 s\n")


def test_a_wrong_line_is_said_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "stream", "--dir", "b"]) == 2
    assert capsys.readouterr().err.startswith("nsadmin: missing option --input DIR or --source NAME=DIR")
    assert main(["report", "stream", "--input", "a", "--dir", "b", "--every", "soon"]) == 2
    assert 'invalid time "soon": use 30s, 5m or 2h' in capsys.readouterr().err
