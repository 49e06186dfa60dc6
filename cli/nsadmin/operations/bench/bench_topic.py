"""The topic of a benchmark: created on every master of a cluster, and deleted at the end."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import sleep

from namesrv_core.errors import RocketMQError, TopicNotExist
from nsadmin.client import AdminClient, NotApplied, NotFound
from nsadmin.client.results import Ambiguous, error_text
from nsadmin.client.topics.topic_configs import TopicPatch

BENCH_TOPIC_PREFIX = "nsadmin-bench-"
_ROUTE_ATTEMPTS, _ROUTE_PAUSE_SECONDS = 100, 0.1


def choose_cluster(admin: AdminClient, cluster_name: str | None) -> tuple[str, dict[str, str]]:
    """Return a cluster and the addresses of its masters by broker name; without a name, the only cluster.

    Raises NotFound without such a cluster or a master, and Ambiguous if there are several clusters.
    """
    cluster_info = admin.clusters.get_info()
    cluster_names = sorted({group.cluster_name for group in cluster_info.groups_in_cluster(cluster_name)})
    if not cluster_names:
        raise NotFound("name servers list no cluster")
    if len(cluster_names) > 1:
        raise Ambiguous(f"several clusters: choose one of {', '.join(cluster_names)} with -c")
    masters = {
        group.broker_name: group.master_addr
        for group in cluster_info.groups_in_cluster(cluster_name)
        if group.master_addr is not None
    }
    if not masters:
        raise NotFound(f'the cluster "{cluster_names[0]}" has no master now')
    return cluster_names[0], masters


def list_left_topics(admin: AdminClient, cluster_name: str) -> list[str]:
    names = admin.topics.list_user_names(cluster_name)
    return [topic for topic in names if topic.startswith(BENCH_TOPIC_PREFIX)]


@contextmanager
def open_bench_topic(
    admin: AdminClient,
    cluster_name: str,
    masters: dict[str, str],
    queue_count: int,
    report_failure: Callable[[str], None],
) -> Iterator[str]:
    """Create a topic with a new name, and delete it at the end, also after an error or Ctrl-C.

    Raises RocketMQError if a broker refuses the topic. A failed deletion is reported, and raises nothing.
    """
    topic = BENCH_TOPIC_PREFIX + os.urandom(4).hex()
    try:
        for change in admin.topic_configs.update_topic(
            masters.values(), topic, TopicPatch(read_queue_nums=queue_count, write_queue_nums=queue_count)
        ):
            if change.error is not None:
                raise change.error
        _wait_for_route(admin, topic, masters)
        yield topic
    finally:
        _delete_topic(admin, topic, cluster_name, report_failure)


def _wait_for_route(admin: AdminClient, topic: str, masters: dict[str, str]) -> None:
    for _ in range(_ROUTE_ATTEMPTS):
        try:
            queue_routes = admin.topics.get_route(topic).queues
        except TopicNotExist:
            queue_routes = ()
        if {queue_route.broker_name for queue_route in queue_routes if queue_route.is_writable} >= {*masters}:
            return
        sleep(_ROUTE_PAUSE_SECONDS)
    raise NotApplied(f"after 10 s, name servers still do not list the topic {topic} on every broker")


def _delete_topic(admin: AdminClient, topic: str, name: str, report_failure: Callable[[str], None]) -> None:
    try:
        errors = [step.error for step in admin.topics.delete_topic(topic, name)]
    except RocketMQError as deletion_error:
        errors = [deletion_error]
    first_error = next((error for error in errors if error is not None), None)
    if first_error is not None:
        report_failure(f"the topic {topic} was not deleted: {error_text(first_error)}")
