"""Deletes orphaned topics where nothing else is lost, and yields the steps."""

from collections.abc import Iterator, Sequence

from namesrv_core.protocol.resource_names import DLQ_PREFIX
from nsadmin.client import AdminClient
from nsadmin.client.topics.topic_deletion import DeletionStep
from nsadmin.operations.orphans.rules import Orphan, TopicFacts

OrphanDeletionStep = tuple[Orphan, DeletionStep]


def select_cleanable(orphans: Sequence[Orphan], *, include_dead_letters: bool) -> list[Orphan]:
    """The orphans that `clean_orphans` deletes: topics on name servers only, and topics of vanished groups.

    Dead letter topics need `include_dead_letters`, because their messages may still be wanted.
    """
    return [
        orphan
        for orphan in orphans
        if orphan.orphan_kind == "noBroker"
        or (
            orphan.orphan_kind == "noGroup"
            and (include_dead_letters or not orphan.topic.startswith(DLQ_PREFIX))
        )
    ]


def clean_orphans(
    admin: AdminClient,
    chosen_orphans: Sequence[Orphan],
    facts: TopicFacts,
    *,
    dry_run: bool,
) -> Iterator[OrphanDeletionStep]:
    """Delete the topics: on the name servers that alone have them, or else first on the masters.

    With `dry_run`, yield the steps without deleting.
    """
    for orphan in chosen_orphans:
        yield from ((orphan, step) for step in _deletion_steps(admin, orphan, facts, dry_run))


def _deletion_steps(
    admin: AdminClient, orphan: Orphan, facts: TopicFacts, dry_run: bool
) -> Iterator[DeletionStep]:
    if orphan.orphan_kind == "noBroker":
        yield from admin.topics.forget_topic(orphan.topic, orphan.namesrv_addrs, dry_run=dry_run)
        return
    for cluster_name in sorted({facts.clusters_by_broker[name] for name in orphan.broker_names}):
        topic_deletion = admin.topics.plan_deletion(orphan.topic, cluster_name)
        yield from topic_deletion.list_planned_steps() if dry_run else topic_deletion.run_deletion()
