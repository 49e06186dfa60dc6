"""check drain: drains that are kept, and what name servers make of them."""

from pathlib import Path
from typing import Any

import pytest

from nsadmin.operations.checks import drain
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.drain.state import DrainFolder, QueueSnapshot, open_drain
from nsadmin.operations.drain.state import DrainState as Kept
from tests.support.checks import run_check
from tests.support.fake_servers import FakeNameServer

NOW = 1_763_733_780_000
HOUR = 3_600_000


def keep(home: Path, addr: str, phase: Any, age: int = HOUR, broker: str = "broker-a") -> DrainFolder:
    """A drain as `nsadmin drain` leaves it."""
    keeping = open_drain(home, "C", broker)
    assert keeping.lock.acquire()
    keeping.save(Kept("C", broker, (addr,), NOW - age, NOW, "ops", phase), QueueSnapshot())
    keeping.lock.release()
    return keeping


def found(home: Path, *addrs: str) -> CheckFinding:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NSADMIN_STATE", str(home))
        return run_check(drain.CHECK, *addrs, now_ms=NOW)


def test_there_is_none(tmp_path: Path, first_server: FakeNameServer) -> None:
    finding = found(tmp_path, first_server.addr)
    assert (finding.state, finding.summary) == (
        CheckState.OK,
        "you drain no broker here; drains from other machines and by other users are not known",
    )
    keep(tmp_path, "another:9876", "safe")
    assert (
        found(tmp_path, first_server.addr).summary
        == "you drain no broker here; drains from other machines and by other users are not known"
    )


def test_one_that_is_drained(tmp_path: Path, first_server: FakeNameServer) -> None:
    keep(tmp_path, first_server.addr, "safe")
    first_server.routes = {"T": {"broker-a": 4}}
    finding = found(tmp_path, first_server.addr)
    assert (finding.state, finding.summary) == (CheckState.OK, "1 drained: broker-a")
    assert finding.details == ("drain of broker-a: started 1.0 h ago by ops, phase safe",)
    assert [sample.value for sample in finding.samples] == [0, 3600, 1]


def test_topics_that_are_open_again_are_critical_unless_somebody_is_at_it(
    tmp_path: Path, first_server: FakeNameServer, second_server: FakeNameServer
) -> None:
    keeping = keep(tmp_path, first_server.addr, "safe")
    first_server.routes = {f"T{n}": {"broker-a": 6} for n in range(5)}
    second_server.routes = {"T0": {"broker-a": 4}}
    finding = found(tmp_path, first_server.addr, second_server.addr)
    assert finding.state is CheckState.CRITICAL
    assert finding.summary == "1 drained: broker-a; the write permission is back on broker-a"
    assert finding.details[1:] == (
        f"drain of broker-a: name server {first_server.addr} still routes writes for T0, T1, T2 and 2 more",
    )
    assert keeping.lock.acquire()
    assert found(tmp_path, first_server.addr).state is CheckState.OK
    keeping.lock.release()


def test_one_that_was_forgotten_or_left_half_way_is_a_warning(
    tmp_path: Path, first_server: FakeNameServer
) -> None:
    first_server.routes = {"T": {"broker-a": 4}}
    keep(tmp_path, first_server.addr, "safe", 25 * HOUR)
    assert found(tmp_path, first_server.addr).state is CheckState.WARNING
    keep(tmp_path, first_server.addr, "wait")
    finding = found(tmp_path, first_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.details[1] == (
        "drain of broker-a: no process runs this drain: run `nsadmin drain broker-a` to resume"
    )
    first_server.routes = {"T": {"broker-a": 6}}
    keep(tmp_path, first_server.addr, "undrain")
    finding = found(tmp_path, first_server.addr)
    assert finding.state is CheckState.WARNING
    assert finding.details[1] == (
        "drain of broker-a: the undo is incomplete: run `nsadmin undrain broker-a` to resume"
    )


def test_what_nobody_knows(tmp_path: Path, first_server: FakeNameServer, dead_addr: str) -> None:
    first_server.routes = {"T": {"broker-a": 4}}
    keep(tmp_path, dead_addr, "safe")
    finding = found(tmp_path, first_server.addr, dead_addr)
    assert finding.state is CheckState.UNKNOWN
    assert finding.details[1] == (
        f"drain of broker-a: name server {dead_addr}: connection refused, no server listens on this port"
    )
    [file] = tmp_path.rglob("state.json")
    file.write_text("{}")
    finding = found(tmp_path, first_server.addr)
    assert finding.state is CheckState.UNKNOWN
    assert "the field version is missing" in finding.details[0]
