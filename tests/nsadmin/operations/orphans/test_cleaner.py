"""What is cleaned, and what of it is told."""

from pathlib import Path

from nsadmin import AdminClient
from nsadmin.operations.orphans.cleaner import clean_orphans, select_cleanable
from nsadmin.operations.orphans.observer import observe_topics
from nsadmin.operations.orphans.rules import Orphan
from tests.nsadmin.commands.procedures.test_orphans import orphaned
from tests.support.lab import start_lab

ADDRS = ("s:1", "s:2")
STALE = Orphan("noBroker", "X", ("a",), ADDRS)
RETRY = Orphan("noGroup", "%RETRY%H", ("a",), ADDRS, "H")
DEAD = Orphan("noGroup", "%DLQ%H", ("a",), ADDRS, "H")


def test_dead_letters_have_to_be_asked_for() -> None:
    every = [
        STALE,
        Orphan("notThere", "U", ("a",), ADDRS),
        Orphan("noNameServer", "V", ("a",), ADDRS),
        RETRY,
        DEAD,
    ]
    assert select_cleanable(every, include_dead_letters=False) == [STALE, RETRY]
    assert select_cleanable(every, include_dead_letters=True) == [STALE, RETRY, DEAD]


def test_each_server_does_its_part(tmp_path: Path) -> None:
    with start_lab(tmp_path, name_servers=2) as there, AdminClient(there.namesrv_addr) as admin:
        orphaned(there)
        facts = observe_topics(admin, 7)
        stale = Orphan("noBroker", "orders", ("broker-a-0",), there.namesrv_addrs)
        retry = Orphan(
            "noGroup", "%RETRY%retired", ("broker-a-0", "broker-b-0"), there.namesrv_addrs, "retired"
        )
        planned = list(clean_orphans(admin, [stale, retry], facts, dry_run=True))
        assert {step.result for _, step in planned if step.before is not None} == {"dry-run"}
        # Of each cluster, one master has the topic.
        assert {step.result for _, step in planned if step.before is None} == {"not found"}
        assert {step.server for orphan, step in planned if orphan is stale} == set(there.namesrv_addrs)
        # The masters of both clusters, and each name server for each of them.
        steps = [
            step for orphan, step in clean_orphans(admin, [retry], facts, dry_run=False) if orphan is retry
        ]
        assert [step.role for step in steps] == [*["master"] * 3, *["namesrv"] * 2] * 2
        assert {step.result for step in steps if step.before is not None} == {"done"}
        assert {step.result for step in steps if step.before is None} == {"not found"}
        assert "%RETRY%retired" not in admin.topics.list_names()
