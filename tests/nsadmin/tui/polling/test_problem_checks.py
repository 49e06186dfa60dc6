"""The checks of `nsadmin check all` as problems, against a lab."""

import time
from pathlib import Path

from nsadmin.operations.checks.check_suite import CheckScope
from nsadmin.tui.polling.problem_checks import poll_problems
from tests.support.playground import playground


def test_a_healthy_cluster_has_no_problem_and_a_partial_wipe_is_one_with_its_remedy(tmp_path: Path) -> None:
    scope = CheckScope(settle_seconds=0, pause_seconds=lambda seconds: None)
    with playground(tmp_path, name_servers=2) as ground:
        healthy = poll_problems(ground.client, scope, lambda: 7)
        with ground.client() as admin:
            admin.brokers.wipe_write_perm("broker-a-0")
        wiped = poll_problems(ground.client, scope, lambda: int(time.time() * 1000))
    assert (healthy.at, healthy.problems) == (7, [])
    assert healthy.check_count >= 6
    assert {problem.check for problem in wiped.problems} == {"writable"}
    assert "broker-a-0" in wiped.problems[0].text
