"""Says which brokers are drained from this account, for commands that change topics on them."""

from collections.abc import Collection, Iterator
from pathlib import Path

from nsadmin.client.advised_command import quote_command
from nsadmin.operations.drain.state import SavedDrain, load_drains


def explain_drain_conflicts(
    state_home: Path, broker_names: Collection[str], addrs: Collection[str]
) -> Iterator[str]:
    """Yield a line for each of these brokers whose drain a change of a topic would partly undo.

    A broker registers a changed topic with its own permission. `addrs` are the name servers of the
    command; without any, a broker is known by its name alone. Durable drains are omitted: they change the
    permission that the broker registers.
    """
    for saved in load_drains(state_home):
        if not isinstance(saved, SavedDrain):
            yield str(saved)
            continue
        state = saved.state
        is_same_cluster = not addrs or not set(addrs).isdisjoint(state.name_servers)
        if (
            state.broker in broker_names
            and is_same_cluster
            and not state.durable
            and state.phase != "undrain"
        ):
            yield _explain_conflict(saved)


def _explain_conflict(saved: SavedDrain) -> str:
    broker, holder_pid = saved.state.broker, saved.holder_pid
    if holder_pid is not None:
        return (
            f"process {holder_pid or 'unknown'} is draining {broker}: this change makes the broker "
            "register writable topics until the drain removes the write permission again"
        )
    return (
        f"{broker} is drained, and no nsadmin watches it: this change makes the broker register "
        f"writable topics; run `{quote_command('drain', broker)}` to remove the write permission again"
    )
