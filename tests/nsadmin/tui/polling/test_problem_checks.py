"""The checks of `nsadmin check all` as problems, against a lab."""

from contextlib import closing
from pathlib import Path

from nsadmin import AdminClient
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.divergence.observer import DivergenceObserver
from nsadmin.tui.polling.poll_records import ProblemsPolled, ReplicasPolled
from nsadmin.tui.polling.problem_checks import poll_problems, repeat_checks
from tests.support.playground import start_playground

SCOPE = CheckScope()


def test_a_healthy_cluster_has_no_problem_and_a_partial_wipe_is_one_with_its_remedy(tmp_path: Path) -> None:
    now_ms = 0
    with start_playground(tmp_path, name_servers=2) as ground, ground.open_client() as admin:
        observer = DivergenceObserver(admin, lambda: now_ms, settle_ms=60_000)
        healthy = poll_problems(ground.open_client, SCOPE, lambda: 7, observer)
        with AdminClient(ground.addrs[0]) as one_server:
            one_server.brokers.wipe_write_perm("broker-a-0")
        young = poll_problems(ground.open_client, SCOPE, lambda: 8, observer)
        now_ms = 120_000
        wiped = poll_problems(ground.open_client, SCOPE, lambda: 9, observer)
    # The time of a playground stands still.
    assert (healthy.at, {problem.check for problem in healthy.problems}) == (7, {"clocks"})
    assert healthy.check_count >= 6
    assert "divergence" not in {problem.check for problem in young.problems}
    [drift] = {(problem.state, problem.remedy) for problem in wiped.problems if problem.check == "divergence"}
    assert drift[0] == "CRITICAL"
    assert "`nsadmin repair wipe broker-a-0`" in drift[1]


def test_the_divergence_of_a_single_name_server_is_not_checked(tmp_path: Path) -> None:
    with start_playground(tmp_path) as ground:
        polled = poll_problems(ground.open_client, SCOPE, lambda: 7, None)
    assert {problem.check for problem in polled.problems} == {"clocks"}
    assert {"lag", "topic", "clients", "divergence"} <= {*polled.unchecked}


def test_each_turn_compares_the_slaves_again(tmp_path: Path) -> None:
    equal_slaves = []
    with (
        start_playground(tmp_path) as ground,
        closing(repeat_checks(ground.open_client, SCOPE, lambda: 7, None)) as turns,
    ):
        for _ in range(2):
            problems, replicas = next(turns)
            assert isinstance(problems, ProblemsPolled)
            assert isinstance(replicas, ReplicasPolled)
            assert replicas.at == 7
            equal_slaves.append({slave.broker_name for slave in replicas.slaves if slave.state == "equal"})
            ground.kill_broker("broker-a-0", 1)
    assert equal_slaves[0] - equal_slaves[1] == {"broker-a-0"}
