"""One broker name at two addresses, and two names at one: what procedures do about it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from nsadmin.operations.rebalance.rebalance_plan import (
    QueuePair,
    RebalanceMove,
    RebalancePlan,
    save_rebalance_plan,
)
from tests.nsadmin.conftest import Run
from tests.support.fake_servers import FakeBroker, FakeNameServer


@pytest.fixture
def twins(first_server: FakeNameServer, second_server: FakeNameServer, broker: FakeBroker) -> Iterator[str]:
    """Two processes of one name: each name server lists another one."""
    with FakeBroker() as other:
        for one, server in ((broker, first_server), (other, second_server)):
            one.settings |= {"brokerName": "broker-a", "brokerId": "0"}
            one.table["bootTimestamp"] = one.addr.rpartition(":")[2]
            server.clusters = {"C": {"broker-a": {0: one.addr}}}
        yield f"broker-a 0 is two processes, at {broker.addr} and {other.addr}: name servers list the one"


@pytest.mark.parametrize(
    ("words", "is_refused"),
    [
        (["drain", "broker-a", "--yes"], True),
        (["rollingRestart", "-c", "C", "--dry-run"], True),
        (["rebalance", "run", "{plan}", "--yes"], True),
        (["whatIf", "--down", "broker-a"], False),
        (["export", "C"], False),
        (["exportConfigs", "C"], False),
    ],
)
def test_two_processes_of_one_name_are_refused_or_named(
    run: Run, both_servers: str, twins: str, words: list[str], is_refused: bool, tmp_path: Path
) -> None:
    moves = (RebalanceMove("T", False, {"broker-a": QueuePair(4, 4)}, {"broker-a": QueuePair(8, 8)}),)
    save_rebalance_plan(RebalancePlan("C", "", "queues", "", moves), tmp_path / "plan.yaml")
    result = run(*(word.format(plan=tmp_path / "plan.yaml") for word in words), both_servers)
    assert (twins in result.err, result.out == "", result.code == 1) == (True, is_refused, is_refused), result
