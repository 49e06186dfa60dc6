"""Says which brokers are drained from this account, for commands that change topics on them."""

from collections.abc import Collection, Iterator
from pathlib import Path

from nsadmin.console.phrases import quote_command
from nsadmin.operations.drain.state import SavedDrain, load_drains


def explain_drain_conflicts(
    state_home: Path, broker_names: Collection[str], namesrv_addrs: Collection[str]
) -> Iterator[str]:
    """Yield a line for each of these brokers whose drain a change of a topic would partly undo.

    A broker registers a changed topic with its own permission. `namesrv_addrs` are the name servers of the
    command; without any, a broker is known by its name alone. Durable drains are omitted: they change the
    permission that the broker registers.
    """
    for saved_drain in load_drains(state_home):
        if not isinstance(saved_drain, SavedDrain):
            yield str(saved_drain)
            continue
        state = saved_drain.state
        is_same_cluster = not namesrv_addrs or not set(namesrv_addrs).isdisjoint(state.name_servers)
        if (
            state.broker in broker_names
            and is_same_cluster
            and not state.durable
            and state.phase != "undrain"
        ):
            yield _explain_conflict(saved_drain)


def _explain_conflict(saved_drain: SavedDrain) -> str:
    broker_name, holder_pid = saved_drain.state.broker, saved_drain.holder_pid
    if holder_pid is not None:
        return (
            f"process {holder_pid or 'unknown'} is draining {broker_name}: this change makes the broker "
            "register writable topics until the drain removes the write permission again"
        )
    return (
        f"{broker_name} is drained, and no process holds the drain: this change makes the broker register "
        f"writable topics; run `{quote_command('drain', broker_name)}` to remove the write permission again"
    )
