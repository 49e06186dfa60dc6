"""check all: what applies, at the same time, and what it comes to."""

from pathlib import Path

from nsadmin import AdminClient, Tls
from nsadmin.operations.checks import everything
from nsadmin.operations.checks.everything import CHECKS, Asked
from nsadmin.operations.checks.finding import Finding, State
from nsadmin.operations.checks.thresholds import MEASURES
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.journals import snapshot, written
from tests.support.servers import FakeNameServer

AT_ONCE = Asked(settle=0)


def found(
    *addrs: str, asked: Asked = AT_ONCE, left_out: tuple[str, ...] = ("registrationSize",)
) -> tuple[Finding, dict[str, Finding]]:
    whole, parts = everything.run(lambda: AdminClient(addrs, timeout=5), asked, left_out)
    return whole, {part.check: part for part in parts}


def test_every_check_is_here() -> None:
    assert {*CHECKS, "topic", "lag", "security"} == {*MEASURES}


def test_all_is_well_and_what_does_not_apply_is_told(first: FakeNameServer) -> None:
    whole, parts = found(first.addr)
    assert (whole.state, whole.summary) == (State.OK, "all 4 checks are OK")
    assert list(parts) == ["namesrv", "brokers", "writable", "heartbeat"]
    assert [line.partition(": ")[2] for line in whole.details] == [
        "divergence: there is one name server",
        "certificates: TLS is not in use",
        "journal: no journal is known",
        "drain: no broker of this cluster is drained from here",
    ]


def test_the_worst_state_counts_and_is_named_first(
    first: FakeNameServer, second: FakeNameServer, gone: str
) -> None:
    second.routes = {"T": {"broker-a": 4}}
    whole, parts = found(first.addr, second.addr, gone)
    assert whole.state is State.CRITICAL
    assert whole.summary == (
        "5 of 5 checks are not OK: divergence CRITICAL, writable CRITICAL, namesrv WARNING, brokers WARNING,"
        " heartbeat WARNING"
    )
    assert parts["divergence"].state is State.CRITICAL


def test_topics_and_groups_by_name(first: FakeNameServer) -> None:
    with ConsumerBroker() as group:
        group.clients = {"G": ["c1"]}
        first.clusters = {"C": {"broker-a": {0: group.addr}}}
        whole, parts = found(first.addr, asked=Asked(("T", "X"), ("G",)))
    assert whole.summary == "1 of 7 checks are not OK: topic X CRITICAL"
    assert parts["lag"].about == "G"


def test_tls_and_journals(first: FakeNameServer, tmp_path: Path) -> None:
    folder = written(tmp_path / "j", [snapshot()])
    _, parts = found(first.addr, asked=Asked(journals=(Path(folder),), tls=Tls(), settle=0))
    assert parts["certificates"].state is State.UNKNOWN
    assert parts["journal"].state is State.CRITICAL
    first.config["journal"] = "ok"
    assert found(first.addr)[1]["journal"].state is State.OK


def test_where_nobody_answers_each_check_says_so(gone: str) -> None:
    whole, parts = found(gone)
    assert whole.state is State.CRITICAL
    assert {one.state for one in parts.values()} == {State.CRITICAL, State.UNKNOWN}
    assert parts["brokers"].state is State.UNKNOWN
