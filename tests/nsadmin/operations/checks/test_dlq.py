"""check dlq: dead letters that are new since an earlier run."""

import pytest

from nsadmin.client.messages.dead_letter_selection import DeadLetterCounts
from nsadmin.client.messages.replay_memory import ReplayPlace
from nsadmin.client.results import NotFound
from nsadmin.operations.checks.check import CheckScope
from nsadmin.operations.checks.dlq import CHECK, DlqObservation
from nsadmin.operations.checks.findings import CheckFinding, CheckState
from nsadmin.operations.checks.looks import Look
from tests.support.checks import read_values, run_check
from tests.support.fake_servers import FakeNameServer

PLACE = ReplayPlace("C", "broker-a", 0)


def counts(group: str, begin: int, end: int, last_hour: int = 0) -> DeadLetterCounts:
    return DeadLetterCounts(
        group, ("broker-a",), end - begin, 1_000, 2_000, last_hour, ("orders",), (), {PLACE: (begin, end)}
    )


def judge(*groups: DeadLetterCounts, earlier: Look | None = None) -> CheckFinding:
    return CHECK.judge(CHECK.make_scale(), DlqObservation(groups, earlier))


def test_no_dead_letters_are_ok() -> None:
    finding = judge(counts("G", 3, 3))
    assert (finding.state, finding.summary) == (CheckState.OK, "no group has dead letters")
    assert read_values(finding) == {"new": 0, "total": 0}


def test_growth_is_unknown_in_the_first_run_unless_the_last_hour_tells_it() -> None:
    finding = judge(counts("G", 0, 5))
    assert (finding.state, finding.summary) == (
        CheckState.UNKNOWN,
        "5 dead letters of 1 group: how many are new is not known before the next run",
    )
    finding = judge(counts("G", 0, 5), counts("H", 0, 4, last_hour=1))
    assert (finding.state, finding.summary) == (
        CheckState.WARNING,
        "9 dead letters of 2 groups, 1 of them in the last hour",
    )
    assert finding.details == (
        "H: 4 dead letters, 1 of them in the last hour, from orders; the newest is of 1970-01-01T00:00:02Z",
        "G: 5 dead letters, from orders; the newest is of 1970-01-01T00:00:02Z",
    )


def test_growth_since_an_earlier_run_by_queue() -> None:
    earlier = Look(0, {"broker-a 0 G": 3, "broker-a 0 anew": 100})
    finding = judge(counts("G", 0, 5), counts("late", 0, 1), counts("anew", 0, 2), earlier=earlier)
    assert (finding.state, read_values(finding)["new"]) == (CheckState.WARNING, 5)
    assert finding.summary.endswith(", 5 of them since 1970-01-01T00:00:00Z")
    assert judge(counts("G", 2, 3), earlier=earlier).state is CheckState.OK
    assert judge(counts("late", 0, 1_001), earlier=earlier).state is CheckState.CRITICAL


def test_a_queue_that_does_not_answer_is_unknown() -> None:
    silent = counts("G", 0, 0)._replace(errors=(NotFound("no broker"),))
    finding = judge(silent)
    assert (finding.state, finding.details) == (CheckState.UNKNOWN, ("G: no broker",))


def test_of_an_unknown_cluster_no_dead_letter_is_no_good_sign(first_server: FakeNameServer) -> None:
    with pytest.raises(NotFound, match='no cluster "E": name servers list C'):
        run_check(CHECK, first_server.addr, scope=CheckScope(cluster_name="E"))
