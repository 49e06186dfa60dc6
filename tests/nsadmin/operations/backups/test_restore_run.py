"""A restore into the lab: what was deleted comes back, and a second restore changes nothing."""

from pathlib import Path

from nsadmin import AdminClient
from nsadmin.client.topics.topic_configs import TopicPatch
from nsadmin.operations.backups.comparison import compare_backups
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.offset_restore import HAS_LEFT_OFFSET
from nsadmin.operations.backups.records import ClusterBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.restore_run import RestoreRun
from nsadmin.operations.backups.restore_scope import RestoreScope, select_backup
from tests.support.lab import start_lab


def restore(
    admin: AdminClient, backup: ClusterBackup, *, dry: bool = False, scope: RestoreScope | None = None
) -> list[RestoreOutcome]:
    selected = select_backup(backup, scope or RestoreScope(backup.cluster_name))
    run = RestoreRun(admin, selected, is_dry_run=dry, overwrites_offsets=scope is not None)
    return list(run.restore_all())


def test_a_deleted_topic_and_group_come_back(tmp_path: Path) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        backup = observe_backup(admin, "cluster-a", 5)
        assert (backup.remarks, len(backup.brokers)) == ([], 3)
        for broker in backup.brokers.values():
            assert not any(topic.startswith(("%", "rmq_sys")) for topic in broker.topics)
        masters = [there.brokers[f"broker-a-{number}", 0] for number in range(3)]
        admin.topics.delete_topic("orders", "cluster-a")
        planned = [outcome for outcome in restore(admin, backup, dry=True) if outcome.result == "dry-run"]
        assert {(outcome.section, outcome.item_name) for outcome in planned} >= {(Section.TOPICS, "orders")}
        assert not any(result.result for result in admin.topic_configs.get_each(masters, "orders"))
        outcomes = restore(admin, backup)
        assert [outcome.error for outcome in outcomes if outcome.result == "failed"] == []
        now = observe_backup(admin, "cluster-a", 6)
        changed = [item for item in compare_backups(backup, now) if item.item.section is not Section.OFFSETS]
        assert changed == []
        again = restore(admin, backup)
    assert {outcome.result for outcome in again} <= {"kept", "unchanged"}


def test_the_preview_of_offsets_follows_the_topics_that_the_restore_changes(tmp_path: Path) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        backup = observe_backup(admin, "cluster-a", 5)
        masters = [there.brokers[f"broker-a-{number}", 0] for number in range(3)]
        admin.topic_configs.update_topic(masters, "orders", TopicPatch(read_queue_nums=2, write_queue_nums=2))
        scope = RestoreScope("cluster-a", topics=frozenset({"orders"}))
        planned, made = (restore(admin, backup, dry=dry, scope=scope) for dry in (True, False))
    planned_queues, made_queues = (
        {
            (outcome.server_name, outcome.item_name, queue_id)
            for outcome in outcomes
            if outcome.section is Section.OFFSETS and outcome.result == result
            for queue_id in outcome.before
        }
        for outcomes, result in ((planned, "dry-run"), (made, "done"))
    )
    planned_offsets = [
        offset
        for outcome in planned
        if outcome.section is Section.OFFSETS and outcome.result == "dry-run"
        for offset in outcome.after.values()
    ]
    assert None not in planned_offsets
    # Consumers commit in between, and can leave the offset of the backup.
    assert {"2", "3"} <= {queue_id for *_, queue_id in planned_queues}
    assert planned_queues <= made_queues
    assert {outcome.result for outcome in planned} <= {"dry-run", "unchanged"}


def test_offsets_that_outlived_their_group_are_kept_as_announced(tmp_path: Path) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        backup = observe_backup(admin, "cluster-a", 5)
        admin.groups.delete_group("warehouse", admin.groups.list_masters("cluster-a"))
        scope = RestoreScope("cluster-a", groups=frozenset({"warehouse"}))
        selected = select_backup(backup, scope)
        planned, made = (
            [
                outcome
                for outcome in RestoreRun(
                    admin, selected, is_dry_run=dry, overwrites_offsets=False
                ).restore_all()
                if outcome.section is Section.OFFSETS and outcome.result != "unchanged"
            ]
            for dry in (True, False)
        )
    assert planned == made
    assert {outcome.reason for outcome in made if "%" not in outcome.item_name} == {HAS_LEFT_OFFSET}


def test_a_broker_that_the_cluster_lacks_is_one_failure(tmp_path: Path) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        backup = observe_backup(admin, "cluster-a", 5)
        scope = RestoreScope("cluster-b", frozenset({Section.TOPICS, Section.GROUPS}))
        outcomes = restore(admin, backup, dry=True, scope=scope)
    failures = [outcome for outcome in outcomes if outcome.result == "failed"]
    assert [(outcome.section.value, outcome.server_name) for outcome in failures] == [
        ("topics", "broker-a-0"),
        ("topics", "broker-a-1"),
        ("topics", "broker-a-2"),
    ]
    assert 'the cluster has no broker "broker-a-0"' in str(failures[0].error)
