"""The rows of the list of brokers, one for each broker process. Pure."""

from __future__ import annotations

from typing import NamedTuple

from nsadmin.tui.model import Broker, Model
from nsadmin.tui.views import states
from nsadmin.tui.views.states import State


class BrokerRow(NamedTuple):
    """A row of the list of brokers. `group_master` is the master of its group, if the master answers.

    `server_count` name servers answer, and `listing_count` of them list the broker. Silent name servers do
    not count, because their last answer is old. `wipe_counts` are as in `count_wipes`.
    """

    broker: Broker
    state: State
    now: int
    listed: int
    servers: int
    master: Broker | None
    wiped: tuple[int, int] | None

    @property
    def name(self) -> str:
        return self.broker.place[0]

    @property
    def id(self) -> int:
        return self.broker.place[1]

    @property
    def addr(self) -> str:
        return self.broker.place[2]

    @property
    def ins(self) -> float | None:
        return self.broker.number("putTps")

    @property
    def outs(self) -> float | None:
        return self.broker.number("getTransferredTps", "getTransferedTps")

    def today(self, what: str) -> float | None:
        now = self.broker.number(f"msg{what}TotalTodayNow")
        morning = self.broker.number(f"msg{what}TotalTodayMorning")
        return None if now is None or morning is None else now - morning

    @property
    def silence(self) -> tuple[float, float] | None:
        """The longest time since a heartbeat at any name server: in ms, and as a ratio of the expiry time."""
        told = [
            (at - heard, (at - heard) / limit) for heard, limit, at in self.broker.silences.values() if limit
        ]
        return max(told, key=lambda each: each[1], default=None)

    @property
    def behind(self) -> float | None:
        """The bytes of the master's log that a slave lacks.

        nsadmin polls master and slave at different times. It counts as 0 what the master takes in 2 s.
        """
        if self.id == 0 or self.master is None or not self.broker.is_fresh:
            return None
        own, end = self.broker.number("commitLogMaxOffset"), self.master.number("commitLogMaxOffset")
        if own is None or end is None:
            return None
        lacking = max(end - own, 0.0)
        rate, size = self.master.number("putTps"), self.master.number("putMessageAverageSize")
        return 0.0 if lacking <= 2 * (rate or 0.0) * (size or 0.0) else lacking

    @property
    def stale(self) -> int | None:
        """The time (ms) since the broker became silent, or None while it answers."""
        return None if self.broker.since is None else self.now - self.broker.since


_QUIET = (states.UP, states.WIPED, states.PARTLY_WIPED)
"""States that a drain's state replaces. A broker that is gone or frozen keeps its own state."""


def rows(model: Model) -> list[BrokerRow]:
    """The rows of all brokers, ordered by cluster, name and id."""
    return model.once("broker rows", (model.polls, model.now), lambda: _rows(model))


def _rows(model: Model) -> list[BrokerRow]:
    wiped = states.wiped(model)
    fresh = {server.addr for server in model.fresh()}
    drains = {
        (drain.cluster, drain.broker_name): drain.phase
        for drain in (model.drains.drains if model.drains else ())
        if drain.phase != "undrain"
    }
    masters = {
        broker.place[0]: broker
        for broker in model.brokers.values()
        if broker.place[1] == 0 and broker.is_fresh and broker.gone is None
    }
    found = []
    for broker in sorted(model.brokers.values(), key=lambda item: (item.cluster, item.place)):
        name = broker.place[0]
        said = wiped.get(name)
        state = states.of_broker(broker, said)
        phase = drains.get((broker.cluster, name)) if drains else None
        if phase is not None and state in _QUIET:
            state = states.DRAINED if phase == "safe" else states.DRAINING
        listed = len(broker.listed_by & fresh)
        found.append(BrokerRow(broker, state, model.now, listed, len(fresh), masters.get(name), said))
    return found
