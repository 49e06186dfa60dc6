"""The states of brokers and name servers. Each has a word and a sign, not only a colour. Pure."""

from typing import NamedTuple

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import ObservedBroker, ObservedNameServer
from nsadmin.tui.views import units
from nsadmin.tui.views.table import Cell, Tone


def draw_listing(count: int, asked_count: int, silent_count: int, missing_tone: Tone) -> Cell:
    """How many name servers list an object: 2/2, 1/2, or 1/2? if others did not answer."""
    if not asked_count:
        return Cell(units.UNKNOWN_MARK, "dim")
    tone = missing_tone if count < asked_count else "dim" if silent_count else ""
    return Cell(f"{count}/{asked_count + silent_count}{'?' if silent_count else ''}", tone)


class DisplayState(NamedTuple):
    """A state. `severity_order` is lowest for the worst state."""

    name: str
    sign: str
    tone: Tone
    severity_order: int


GONE = DisplayState("gone", "✕", "bad", 0)
FROZEN = DisplayState("frozen", "◐", "bad", 1)
DOWN = DisplayState("down", "✕", "bad", 2)
REFUSES = DisplayState("refuses", "!", "warn", 3)
SLOW = DisplayState("slow", "◔", "warn", 4)
INACTIVE = DisplayState("inactive", "○", "warn", 4)
WIPED = DisplayState("wiped", "⊘", "warn", 5)
PARTLY_WIPED = DisplayState("wiped?", "⊘", "warn", 5)
DRAINING = DisplayState("draining", "▽", "info", 6)
DRAINED = DisplayState("drained", "▼", "info", 6)
LISTED = DisplayState("listed", "·", "dim", 7)
UP = DisplayState("up", "●", "good", 8)


_MISSES_OF_FROZEN = 2
"""One late answer is no proof: the broker or this machine may be busy. The second poll has `--timeout`."""


class WipeCounts(NamedTuple):
    """How many name servers know a broker without its write permission, and how many know it."""

    wiped_count: int
    known_count: int


def state_of_broker(broker: ObservedBroker, wipe_counts: WipeCounts | None = None) -> DisplayState:
    """The worst state that applies to a broker. `wipe_counts` are its counts from `count_wipes`."""
    if broker.gone_since_ms is not None:
        return GONE
    if broker.error_text is not None:
        if broker.error_kind == "timeout":
            return FROZEN if broker.miss_count >= _MISSES_OF_FROZEN else SLOW
        return REFUSES if broker.error_kind == "refused" else DOWN
    if broker.last_poll is None:
        return LISTED
    # Slaves always report brokerActive=false, because they take no messages.
    if broker.key.id == 0 and broker.read_text("brokerActive") == "false":
        return INACTIVE
    if wipe_counts is not None:
        return WIPED if wipe_counts.wiped_count == wipe_counts.known_count else PARTLY_WIPED
    return UP


def count_wipes(model: ClusterModel) -> dict[str, WipeCounts]:
    """The counts for each broker that is wiped on a name server.

    Only name servers that answer count. If none answers, their last answers count.
    """
    heard_servers = model.list_fresh_servers() or model.name_servers.values()
    reported_perms = [server.last_poll.perms for server in heard_servers if server.last_poll is not None]
    wiped_brokers = {name for perms in reported_perms for name, perm in perms.items() if not perm & 2}
    perms_by_broker = {
        name: [perms[name] for perms in reported_perms if name in perms] for name in wiped_brokers
    }
    return {
        name: WipeCounts(sum(not perm & 2 for perm in perms), len(perms))
        for name, perms in perms_by_broker.items()
    }


def state_of_name_server(name_server: ObservedNameServer) -> DisplayState:
    if name_server.last_poll is None and name_server.error_text is None:
        return LISTED
    return UP if name_server.is_fresh else DOWN
