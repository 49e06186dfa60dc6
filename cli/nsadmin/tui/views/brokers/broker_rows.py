"""The rows of the list of brokers, one for each broker process. Pure."""

from __future__ import annotations

from typing import NamedTuple

from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.model.server_states import ObservedBroker
from nsadmin.tui.views import alert_levels, display_states
from nsadmin.tui.views.base_view import NO_PROBLEM
from nsadmin.tui.views.display_states import DisplayState
from nsadmin.tui.views.table import Tone


class BrokerRow(NamedTuple):
    """A row of the list of brokers. `group_master` is the master of its group, if the master answers.

    `server_count` name servers answer, and `listing_count` of them list the broker; `silent_count` do not
    answer. `wipe_counts` are as in `count_wipes`. `slave_state` is the
    result of the last comparison with the master: equal, lag, drift or unknown; None for masters.
    """

    broker: ObservedBroker
    state: DisplayState
    now_ms: int
    listing_count: int
    server_count: int
    group_master: ObservedBroker | None
    wipe_counts: display_states.WipeCounts | None
    slave_state: str | None
    silent_count: int = 0

    @property
    def broker_name(self) -> str:
        return self.broker.key.name

    @property
    def broker_id(self) -> int:
        return self.broker.key.id

    @property
    def broker_addr(self) -> str:
        return self.broker.key.addr

    def count_today(self, operation: str) -> float | None:
        total_now = self.broker.read_number(f"msg{operation}TotalTodayNow")
        total_morning = self.broker.read_number(f"msg{operation}TotalTodayMorning")
        return None if total_now is None or total_morning is None else total_now - total_morning

    @property
    def uptime_ms(self) -> float | None:
        booted_at_ms = self.broker.read_now("bootTimestamp")
        return None if booted_at_ms is None else self.now_ms - booted_at_ms

    @property
    def longest_silence(self) -> tuple[float, float] | None:
        """The longest time since a heartbeat at any name server: in ms, and as a ratio of the expiry time."""
        silences = [
            (polled_at_ms - heard_at_ms, (polled_at_ms - heard_at_ms) / limit_ms)
            for heard_at_ms, limit_ms, polled_at_ms in self.broker.heartbeat_silences.values()
            if limit_ms
        ]
        return max(silences, key=lambda silence_part: silence_part[1], default=None)

    @property
    def missing_bytes(self) -> float | None:
        """The bytes of the master's log that a slave lacks.

        nsadmin polls master and slave at different times. It counts as 0 what the master takes in 2 s.
        """
        if self.broker_id == 0 or self.group_master is None or not self.broker.is_fresh:
            return None
        own_offset, master_offset = (
            self.broker.read_number("commitLogMaxOffset"),
            self.group_master.read_number("commitLogMaxOffset"),
        )
        if own_offset is None or master_offset is None:
            return None
        lacking_bytes = max(master_offset - own_offset, 0.0)
        put_rate, message_bytes = (
            self.group_master.read_number("putTps"),
            self.group_master.read_number("putMessageAverageSize"),
        )
        return 0.0 if lacking_bytes <= 2 * (put_rate or 0.0) * (message_bytes or 0.0) else lacking_bytes

    @property
    def stale_ms(self) -> int | None:
        """The time (ms) since the broker became silent or left all name servers; None while it answers."""
        since_times = [self.broker.silent_since_ms, self.broker.gone_since_ms]
        known_times = [since_ms for since_ms in since_times if since_ms is not None]
        return self.now_ms - min(known_times) if known_times else None


_DRAINABLE_STATES = (
    display_states.UP,
    display_states.SLOW,
    display_states.WIPED,
    display_states.PARTLY_WIPED,
)
"""States that a drain's state replaces. A broker that is gone or frozen keeps its own state."""


def list_broker_rows(model: ClusterModel) -> list[BrokerRow]:
    """The rows of all brokers, ordered by cluster, name and id."""
    return model.compute_once(
        "broker rows", (model.poll_count, model.now_ms), lambda: _build_broker_rows(model)
    )


def _build_broker_rows(model: ClusterModel) -> list[BrokerRow]:
    wipes_by_broker = display_states.count_wipes(model)
    fresh_addrs = {server.addr for server in model.list_fresh_servers()}
    silent_count = len(model.list_silent_servers())
    phase_by_broker = {
        (drain.cluster, drain.broker_name): drain.phase
        for drain in (model.drains_poll.drains if model.drains_poll else ())
        if drain.phase != "undrain"
    }
    master_by_group = {
        broker.key.name: broker for broker in model.brokers.values() if broker.key.id == 0 and broker.is_fresh
    }
    state_by_slave = {
        (slave.broker_name, slave.broker_id): slave.state
        for slave in (model.replicas_poll.slaves if model.replicas_poll else ())
    }
    rows = []
    for broker in sorted(
        model.brokers.values(), key=lambda sorted_broker: (sorted_broker.cluster_name, sorted_broker.key)
    ):
        broker_name = broker.key.name
        wipe_counts = wipes_by_broker.get(broker_name)
        state = display_states.state_of_broker(broker, wipe_counts)
        drain_phase = phase_by_broker.get((broker.cluster_name, broker_name)) if phase_by_broker else None
        if drain_phase is not None and state in _DRAINABLE_STATES:
            state = display_states.DRAINED if drain_phase == "safe" else display_states.DRAINING
        count = len(broker.listed_by & fresh_addrs)
        rows.append(
            BrokerRow(
                broker,
                state,
                model.now_ms,
                count,
                len(fresh_addrs),
                master_by_group.get(broker_name),
                wipe_counts,
                state_by_slave.get(broker.key[:2])
                if broker.is_fresh and broker_name in master_by_group
                else None,
                silent_count,
            )
        )
    return rows


def rank_broker(row: BrokerRow) -> int:
    """0 for a fault, 1 for a warning. The figures of a poll are judged once, because there are many brokers.

    The duration of the last answer does not count: rows would change their places after each late answer.
    """
    tones = {row.state.tone}
    if row.server_count and row.listing_count < row.server_count:
        tones.add("warn" if row.listing_count else "bad")
    if row.broker.is_fresh:
        tones |= row.broker.compute_once("figure tones", lambda: _judge_figures(row))
        tones.add(alert_levels.figure_tone("replica", row.missing_bytes))
        if row.slave_state is not None:
            tones.add(alert_levels.slave_state_tone(row.slave_state))
        if row.longest_silence is not None:
            tones.add(alert_levels.heartbeat_tone(row.longest_silence[1]))
    return 0 if "bad" in tones else 1 if "warn" in tones else NO_PROBLEM


def _judge_figures(row: BrokerRow) -> frozenset[Tone]:
    """The tones of the figures that depend only on the last poll of the broker."""
    read_number = row.broker.read_number
    ratio = read_number("commitLogDiskRatio")
    return frozenset(
        (
            alert_levels.disk_tone(None if ratio is None or ratio < 0 else ratio),
            alert_levels.figure_tone("sendWait", read_number("sendThreadPoolQueueHeadWaitTimeMills")),
            alert_levels.figure_tone("dispatch", read_number("dispatchBehindBytes")),
        )
    )
