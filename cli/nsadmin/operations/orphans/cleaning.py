"""Deletes orphaned topics where nothing else is lost, and yields the steps."""

from collections.abc import Callable, Iterator, Sequence

from nsadmin.client import AdminClient
from nsadmin.client.deletion import DeletionStep
from nsadmin.operations.orphans.finding import Facts, Orphan
from nsadmin.operations.topic_kinds import DLQ_PREFIX

Step = tuple[Orphan, DeletionStep]


def cleanable(found: Sequence[Orphan], *, dead_letters: bool) -> list[Orphan]:
    """The orphans that `clean_orphans` deletes: topics on name servers only, and topics of vanished groups.

    Dead letter topics need `include_dead_letters`, because their messages may still be wanted.
    """
    return [
        orphan
        for orphan in found
        if orphan.kind == "noBroker"
        or (orphan.kind == "noGroup" and (dead_letters or not orphan.topic.startswith(DLQ_PREFIX)))
    ]


def clean(
    admin: AdminClient,
    chosen: Sequence[Orphan],
    facts: Facts,
    *,
    dry_run: bool,
    advance: Callable[[int], None] = lambda _: None,
) -> Iterator[Step]:
    """Delete the topics: on the name servers that alone have them, or else first on the masters.

    With `dry_run`, yield the steps without deleting. `advance_progress` is called after each orphan.
    """
    for orphan in chosen:
        yield from ((orphan, step) for step in _steps(admin, orphan, facts, dry_run))
        advance(1)


def _steps(admin: AdminClient, orphan: Orphan, facts: Facts, dry_run: bool) -> Iterator[DeletionStep]:
    if orphan.kind == "noBroker":
        yield from admin.topics.forget(orphan.topic, orphan.name_servers, dry_run=dry_run)
        return
    for cluster in sorted({facts.clusters[name] for name in orphan.brokers}):
        deletion = admin.topics.deletion(orphan.topic, cluster)
        yield from deletion.planned() if dry_run else deletion.run()
