"""startMonitoring: once for a check, else again and again."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.console import session
from tests.nsadmin.conftest import Run
from tests.support.lab import Lab, start_lab

ANY = ("--warning", "~:", "--critical", "~:")


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(Path(tmp_path_factory.mktemp("lab")), producer_period=0.2) as there:
        yield there


def test_once_with_the_exit_code_of_a_check_and_its_formats(
    run: Run, running_lab: Lab, tmp_path: Path
) -> None:
    line = ("startMonitoring", "--once", "-n", running_lab.namesrv_addr)
    strict = run(*line, "--critical", "0", "--json")
    report = json.loads(strict.out)
    assert (strict.code, report["state"], report["check"]) == (2, "CRITICAL", "monitoring")
    assert {check["state"] for check in report["checks"]} >= {"CRITICAL"}
    loose = run(*line, *ANY)
    assert (loose.code, loose.out) == (0, f"OK: all {report['summary'].split()[2]} groups are healthy\n")
    file = tmp_path / "groups.prom"
    result = run(*line, "--critical", "0", "--format", "prometheus", "--out", str(file))
    assert (result.code, result.out) == (2, "")
    assert "nsadmin_" in file.read_text()


def test_again_and_again_until_somebody_stops_it(
    run: Run, running_lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(session, "sleep", pause)
    result = run("startMonitoring", "-i", "5", "--critical", "0", "-n", running_lab.namesrv_addr)
    assert (result.code, pauses) == (0, [5.0, 5.0])
    assert result.out.count("CRITICAL: ") == 2


def test_nobody_answers_or_nonsense_is_unknown(run: Run, dead_addr: str) -> None:
    assert run("startMonitoring", "--once", "-n", dead_addr).code == 3
    assert run("startMonitoring", "--once", "-i", "0", "-n", dead_addr).code == 3
    assert run("startMonitoring", "--critical", "soon", "-n", dead_addr).code == 3
