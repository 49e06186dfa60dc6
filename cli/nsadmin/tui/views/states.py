"""The states of brokers and name servers. Each has a word and a sign, not only a colour. Pure."""

from typing import NamedTuple

from nsadmin.tui.model import Broker, Model, NameServer
from nsadmin.tui.views.table import Tone


class State(NamedTuple):
    """A state. `severity_order` is lowest for the worst state."""

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
    """The worst state that applies to a broker. `wipe_counts` are its counts from `count_wipes`."""
    if broker.gone is not None:
        return GONE
    if broker.error is not None:
        return {"timeout": FROZEN, "refused": REFUSES}.get(broker.kind or "", DOWN)
    if broker.last is None:
        return LISTED
    # Slaves always report brokerActive=false, because they take no messages.
    if broker.place[1] == 0 and broker.text("brokerActive") == "false":
        return INACTIVE
    if wiped is not None:
        return WIPED if wiped[0] == wiped[1] else PARTLY_WIPED
    return UP


def wiped(model: Model) -> dict[str, tuple[int, int]]:
    """Count for each wiped broker name the name servers without its write permission, and all that know it.

    Only name servers that answer count. If none answers, their last answers count.
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
