"""When a drained broker is safe to stop. Pure. Times are in ms."""

from collections.abc import Mapping
from typing import NamedTuple

from nsadmin.client.consumers.lag import Lag
from nsadmin.console.phrases import count_noun
from nsadmin.operations.drain.facts import ClusterObservation
from nsadmin.operations.drain.state import DrainState


class SafetyRules(NamedTuple):
    """When a broker is safe to stop.

    `settle_ms` must pass after all routes closed, and then `quiet_intervals` without writes. Up to
    `write_threshold` messages per minute count as no writes. With `for_good`, all consumer groups must also
    have consumed everything.
    """

    settle_ms: int = 30_000
    quiet_intervals: int = 3
    write_threshold: int = 0
    for_good: bool = False


def list_waiting_for(
    rules: SafetyRules,
    state: DrainState,
    observation: ClusterObservation,
    last: ClusterObservation | None,
    puts: int | None,
    quiet: int,
) -> tuple[str, ...]:
    """Return the missing conditions for a safe stop; () if it is safe. Each item continues "waiting for".

    `quiet` intervals without writes have passed. `puts` is None if it is not known.
    """
    texts: list[str] = []
    open_count = sum(len(server.open_topics) for server in observation.servers)
    if open_count:
        texts.append(
            "the broker to register its topics without write permission"
            if state.durable
            else "the name servers to remove the write permission from all routes"
        )
    elif open_names := sorted({name for server in observation.servers for name in server.open_names}):
        texts.append(f"a drain of {' and '.join(open_names)} as well: these names are one broker process")
    elif not any(server.is_registered for server in observation.servers):
        texts.append("a name server that lists the broker")
    elif state.closed_since is not None and observation.time_ms < state.closed_since + rules.settle_ms:
        seconds_left = -(-(state.closed_since + rules.settle_ms - observation.time_ms) // 1000)
        texts.append(f"clients to refresh their routes ({seconds_left} s)")
    elif quiet < rules.quiet_intervals:
        texts.append(_explain_writes(rules, observation, last, puts, quiet))
    texts += _list_lagging_slaves(observation, last)
    if rules.for_good:
        texts += _explain_lag(observation.counters.lag_by_group)
    return tuple(texts)


def _explain_writes(
    rules: SafetyRules,
    observation: ClusterObservation,
    last: ClusterObservation | None,
    puts: int | None,
    quiet: int,
) -> str:
    if observation.counters.error is not None:
        return f"the broker to answer: {observation.counters.error}"
    limit = rules.write_threshold
    few = f"at most {count_noun(limit, 'message')} a minute"
    if puts is not None and puts > limit:
        return few if limit else "writes to stop"
    quiet_text = f"with {few}" if limit else "without a write"
    checks_left = rules.quiet_intervals - quiet
    if last is None:
        return f"{count_noun(checks_left, 'check')} {quiet_text}"
    seconds_left = max(1, round(checks_left * (observation.time_ms - last.time_ms) / 1000))
    return f"{seconds_left} s{' more' if quiet else ''} {quiet_text}"


def _explain_lag(lag_by_group: Mapping[str, Lag] | None) -> list[str]:
    if lag_by_group is None:
        return ["the broker to report the lag of its groups"]
    return [
        *(["consumers to read all messages"] if any(lag.messages for lag in lag_by_group.values()) else []),
        *(
            f"the lag of group {group}, which is unknown: {lag.reason}"
            for group, lag in sorted(lag_by_group.items())
            if lag.reason is not None
        ),
    ]


def _list_lagging_slaves(observation: ClusterObservation, last: ClusterObservation | None) -> list[str]:
    """Return the slaves without all messages that the master had at the last observation."""
    master_end = last and last.counters.log_end
    return [
        f"the slave {slave.slave_addr} to answer"
        if slave.log_end is None
        else f"the slave {slave.slave_addr} to copy the last messages"
        if last is not None
        else f"a comparison of the slave {slave.slave_addr} with its master"
        for slave in observation.counters.slaves
        if slave.log_end is None or master_end is None or slave.log_end < master_end
    ]
