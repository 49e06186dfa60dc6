"""Reads of a cluster that cannot differ from the last ones are not sent: they take the same steps and time.

Most reads of a procedure find nothing new. A read is sent if the cluster has changed since the last one, or
if a fault or anything else is due while it would last. So each schedule has the same outcome as without this.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from tests.simulation.cluster import Cluster


class _Read(NamedTuple):
    """A read that was sent: what the cluster was like, how long it took, and when it looked."""

    facts: Hashable
    steps: int
    duration_ms: int
    looked_after_ms: int
    result: Any


def _repeat_or_read(
    cluster: Cluster, last_reads: dict[Hashable, _Read], key: Hashable, facts: Hashable, read: Callable[[], Any]
) -> Any:
    world, network = cluster.world, cluster.network
    last = last_reads.get(key)
    if last is not None and last.facts == facts and world.is_idle_for(last.steps, last.duration_ms):
        network.last_look_ms = max(network.last_look_ms, world.true_ms + last.looked_after_ms)
        world.step_number += last.steps
        world.true_ms += last.duration_ms
        return last.result
    first_step, first_event, began_ms = world.step_number, world.event_number, world.true_ms
    result = read()
    if world.event_number == first_event:
        steps, duration_ms = world.step_number - first_step, world.true_ms - began_ms
        last_reads[key] = _Read(facts, steps, duration_ms, network.last_look_ms - began_ms, result)
    return result


@contextmanager
def repeat_reads(cluster: Cluster) -> Iterator[None]:
    last_reads: dict[Hashable, _Read] = {}
    world, network = cluster.world, cluster.network
    read_servers, read_broker = ClusterEnvironment.read_servers, ClusterEnvironment.read_broker

    def repeat_servers(environment: Any) -> Any:
        if network.next_trouble is not None:
            return read_servers(environment)
        facts = world.is_quiet, *(server.route_facts for server in cluster.name_servers.values())
        name = environment._broker_name
        return _repeat_or_read(cluster, last_reads, name, facts, lambda: read_servers(environment))

    def repeat_broker(environment: Any, master_addr: Any, slaves: Any, previous: Any, with_lag: bool) -> Any:
        master = cluster.brokers.get(master_addr)
        has_moved = previous is not None and (
            master is None or (previous.boot_ms, previous.put_count) != (master.boot_ms, master.put_count)
        )
        if has_moved or with_lag or network.next_trouble is not None:
            return read_broker(environment, master_addr, slaves, previous, with_lag)
        facts = world.is_quiet, *(broker.runtime_facts for broker in cluster.brokers.values())
        return _repeat_or_read(
            cluster,
            last_reads,
            (master_addr, *slaves.values()),
            facts,
            lambda: read_broker(environment, master_addr, slaves, previous, with_lag),
        )

    with (
        patch.object(ClusterEnvironment, "read_servers", repeat_servers),
        patch.object(ClusterEnvironment, "read_broker", repeat_broker),
    ):
        yield
