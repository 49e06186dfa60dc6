"""Warns on stderr before a command changes topics on a broker that is drained."""

from collections.abc import Iterable

from nsadmin.console import stderr
from nsadmin.console.session import Session
from nsadmin.operations.state_folder import find_state_home


def warn_of_drains(session: Session, broker_names: Iterable[str | None]) -> None:
    """Write a line for each of these brokers that is drained or being drained from this account."""
    state_home = find_state_home()
    if not (state_home / "drains").is_dir():
        return
    # Most machines have no drains, and their commands need not load this.
    from nsadmin.operations.drain.drained_brokers import explain_drain_conflicts

    for warning_line in explain_drain_conflicts(
        state_home, {name for name in broker_names if name}, session.namesrv_addrs
    ):
        stderr.write_stderr_line(warning_line)
