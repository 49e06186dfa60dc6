"""States: what a broker or a name server is, as a word, a sign and a tone: never as a colour alone. Pure."""

from typing import NamedTuple

from nsadmin.tui.model import Broker, Model, NameServer
from nsadmin.tui.views.table import Tone


class State(NamedTuple):
    """`order` puts what is worst first."""

    word: str
    sign: str
    tone: Tone
    order: int


GONE = State("gone", "✕", "bad", 0)
FROZEN = State("frozen", "◐", "bad", 1)
DOWN = State("down", "✕", "bad", 2)
REFUSES = State("refuses", "!", "warn", 3)
INACTIVE = State("inactive", "○", "warn", 4)
WIPED = State("wiped", "⊘", "warn", 5)
PARTLY_WIPED = State("wiped?", "⊘", "warn", 5)
DRAINING = State("draining", "▽", "info", 6)
DRAINED = State("drained", "▼", "info", 6)
LISTED = State("listed", "·", "dim", 7)
UP = State("up", "●", "good", 8)


def of_broker(broker: Broker, wiped: tuple[int, int] | None = None) -> State:
    """The worst that is known of it; `wiped` is how many of how many name servers say that it is."""
    if broker.gone is not None:
        return GONE
    if broker.error is not None:
        return {"timeout": FROZEN, "refused": REFUSES}.get(broker.kind or "", DOWN)
    if broker.last is None:
        return LISTED
    # Slaves take no messages, and say so.
    if broker.place[1] == 0 and broker.text("brokerActive") == "false":
        return INACTIVE
    if wiped is not None:
        return WIPED if wiped[0] == wiped[1] else PARTLY_WIPED
    return UP


def wiped(model: Model) -> dict[str, tuple[int, int]]:
    """Broker names that name servers say are not to be written: how many of those that answer say so.

    Where none answers, their last words are all that is known.
    """
    heard = model.fresh() or model.servers.values()
    told = [server.last.perms for server in heard if server.last is not None]
    names = {name for perms in told for name, perm in perms.items() if not perm & 2}
    found = {name: [perms[name] for perms in told if name in perms] for name in names}
    return {name: (sum(1 for perm in perms if not perm & 2), len(perms)) for name, perms in found.items()}


def of_name_server(server: NameServer) -> State:
    if server.last is None and server.error is None:
        return LISTED
    return UP if server.is_fresh else DOWN
