"""Says which brokers are drained from this account, for commands that change topics on them."""

from collections.abc import Collection, Iterable, Iterator

from nsadmin.operations.drain.state import SavedDrain
from nsadmin.operations.process_lock import name_process
from nsadmin.operations.run_folder import InvalidStateError


def list_drained_names(drains: Iterable[SavedDrain | InvalidStateError]) -> frozenset[str]:
    """The brokers that undrain can open again."""
    return frozenset(saved.state.broker for saved in drains if isinstance(saved, SavedDrain))


def explain_drain_conflicts(
    drains: Iterable[SavedDrain | InvalidStateError], broker_names: Collection[str], opens: bool = False
) -> Iterator[str]:
    """Yield a line for each of these brokers whose drain a change of a topic would partly undo.

    A broker registers a changed topic with its own permission. Durable drains are omitted: they change the
    permission that the broker registers. If the command `opens` the broker, the line names undrain instead.
    """
    for saved in drains:
        if not isinstance(saved, SavedDrain):
            yield str(saved)
            continue
        state = saved.state
        if state.broker not in broker_names or state.phase == "undrain":
            continue
        if opens:
            yield (
                f"{state.broker} is drained: to end the drain, and give each topic its own permission again, "
                f"run `{state.advise('undrain', state.broker)}` instead"
            )
        elif not state.durable:
            yield _explain_conflict(saved)


def _explain_conflict(saved: SavedDrain) -> str:
    broker, holder_pid = saved.state.broker, saved.holder_pid
    if holder_pid is not None:
        return (
            f"{name_process(holder_pid)} is draining {broker}: this change makes the broker "
            "register writable topics until the drain removes the write permission again"
        )
    return (
        f"{broker} is drained, and no nsadmin watches it: this change makes the broker register "
        f"writable topics; run `{saved.state.advise('drain', broker)}` to remove the write permission again"
    )
