"""Warns on stderr before a command changes topics on a broker that is drained."""

from collections.abc import Iterable

from nsadmin.console import stderr
from nsadmin.console.session import Session
from nsadmin.operations.state_folder import find_state_home, list_homes


def warn_of_drains(session: Session, broker_names: Iterable[str | None], *, opens: bool = False) -> None:
    """Write a line for each of these brokers that is drained or being drained from this account.

    `opens` is whether the command is to let producers write to the broker again.
    """
    state_home = find_state_home()
    if not any((home / "drains").is_dir() for home in list_homes(state_home)):
        return
    # Most machines have no drains, and their commands need not load this.
    from nsadmin.operations.drain.drained_brokers import explain_drain_conflicts
    from nsadmin.operations.drain.state import load_drains
    from nsadmin.operations.installation import Installation

    drains = load_drains(state_home)
    if session.namesrv_addrs:
        # Without name servers, a broker is known by its name alone.
        drains = Installation(session.admin).keep_own(drains)
    for warning_line in explain_drain_conflicts(drains, {name for name in broker_names if name}, opens):
        stderr.write_stderr_line(warning_line)
