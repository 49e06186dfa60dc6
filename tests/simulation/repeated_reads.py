"""Reads of a cluster that cannot differ from earlier ones are not sent: they take the same steps and time.

Most reads of a procedure find nothing new. A read is sent if nobody has read such a cluster yet, or if a
fault or anything else is due while it would last. So each schedule has the same outcome as without this.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from nsadmin.operations.drain.cluster_environment import ClusterEnvironment
from nsadmin.operations.drain.facts import BrokerCounters
from tests.simulation.cluster import Cluster

_MAX_REMEMBERED = 50_000


class _Read(NamedTuple):
    """A read that was sent: how many steps it took, how long, when it looked at routes, and its result."""

    steps: int
    duration_ms: int
    looked_after_ms: int
    result: Any


_known_reads: dict[Hashable, _Read] = {}
"""By everything that the result depends on. They serve other schedules of the process, too."""


def forget_reads() -> None:
    """Forget all reads: those of a client with a planted fault are different ones."""
    _known_reads.clear()


def _read_or_repeat(cluster: Cluster, facts: Hashable, read: Callable[[], Any]) -> Any:
    world, network = cluster.world, cluster.network
    if network.next_trouble is not None:
        return read()
    known = _known_reads.get(facts)
    if known is not None and world.is_idle_for(known.steps, known.duration_ms):
        network.last_look_ms = max(network.last_look_ms, world.true_ms + known.looked_after_ms)
        world.step_number += 0 if world.is_quiet else known.steps
        world.true_ms += known.duration_ms
        return known.result
    first_step, first_event, began_ms = world.step_number, world.event_number, world.true_ms
    result = read()
    if world.event_number == first_event and not world.is_quiet:
        steps, duration_ms = world.step_number - first_step, world.true_ms - began_ms
        if len(_known_reads) >= _MAX_REMEMBERED:
            _known_reads.clear()
        _known_reads[facts] = _Read(steps, duration_ms, network.last_look_ms - began_ms, result)
    return result


@contextmanager
def repeat_reads(cluster: Cluster) -> Iterator[None]:
    """Serve the reads of the environments of drains in this way, until the block ends."""
    names = "read_servers", "read_broker", "_with_recent_puts", "read_own_topics", "read_own_queues"
    originals = {name: getattr(ClusterEnvironment, name) for name in names}

    def read_servers(environment: Any) -> Any:
        cluster.network.observed_ms = cluster.world.true_ms
        facts = environment._broker_name, *(server.facts for server in cluster.name_servers.values())
        return _read_or_repeat(cluster, facts, lambda: originals["read_servers"](environment))

    def read_broker(
        environment: Any, master_addr: Any, slaves: Any, previous: BrokerCounters | None, with_lag: bool
    ) -> Any:
        def read() -> Any:
            return originals["read_broker"](environment, master_addr, slaves, previous, with_lag)

        master = cluster.brokers.get(master_addr)
        if with_lag or (
            previous is not None
            and (
                master is None or (previous.boot_ms, previous.put_count) != (master.boot_ms, master.put_count)
            )
        ):
            return read()
        addrs = master_addr, *slaves.values()
        return _read_or_repeat(cluster, (addrs, *(b.facts for b in cluster.brokers.values())), read)

    def add_recent_puts(environment: Any, counters: BrokerCounters, master_addr: str) -> Any:
        named_before = environment._named_topics

        def read() -> Any:
            return originals["_with_recent_puts"](
                environment, counters, master_addr
            ), environment._named_topics

        master = cluster.brokers[master_addr]
        facts = "puts", named_before, master.topic_facts, master.count_recent_by_topic()
        read_counters, environment._named_topics = _read_or_repeat(cluster, facts, read)
        return counters._replace(
            recent_puts=read_counters.recent_puts,
            user_puts=read_counters.user_puts,
            has_transactions=read_counters.has_transactions,
            writers=read_counters.writers,
        )

    def read_topics(name: str) -> Callable[..., Any]:
        def read_own(environment: Any, master_addr: str) -> Any:
            if master_addr not in cluster.brokers:
                return originals[name](environment, master_addr)
            facts = name, cluster.brokers[master_addr].topic_facts
            return _read_or_repeat(cluster, facts, lambda: originals[name](environment, master_addr))

        return read_own

    with ExitStack() as patches:
        for name, replacement in (
            ("read_servers", read_servers),
            ("read_broker", read_broker),
            ("_with_recent_puts", add_recent_puts),
            ("read_own_topics", read_topics("read_own_topics")),
            ("read_own_queues", read_topics("read_own_queues")),
        ):
            patches.enter_context(patch.object(ClusterEnvironment, name, replacement))
        yield
