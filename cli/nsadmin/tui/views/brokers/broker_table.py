"""The list of brokers, which is the home screen. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial
from math import prod
from typing import NamedTuple

from nsadmin.console.phrases import count_noun
from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel, Trend
from nsadmin.tui.model.server_states import ObservedBroker
from nsadmin.tui.views import alert_levels, display_states, units
from nsadmin.tui.views.base_view import NO_PROBLEM, CellLine, View, open_broker
from nsadmin.tui.views.display_states import DisplayState
from nsadmin.tui.views.graphs import draw_graph
from nsadmin.tui.views.table import Cell, Column, Tone, draw_row_facts


class BrokerRow(NamedTuple):
    """A row of the list of brokers. `group_master` is the master of its group, if the master answers.

    `server_count` name servers answer, and `listing_count` of them list the broker; `silent_count` do not
    answer. `wipe_counts` are as in `count_wipes`. `slave_state` is the result of the last comparison with the
    master: equal, lag, drift or unknown; None for masters.
    """

    broker: ObservedBroker
    state: DisplayState
    now_ms: int
    listing_count: int
    server_count: int
    group_master: ObservedBroker | None
    wipe_counts: display_states.WipeCounts | None
    slave_state: str | None
    silent_count: int

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
        return max(silences, key=lambda silence: silence[1], default=None)

    @property
    def missing_bytes(self) -> float | None:
        """The bytes of the master's log that a slave lacks.

        nsadmin polls master and slave at different times. It counts as 0 what the master takes in 2 s.
        """
        broker, master = self.broker, self.group_master
        if self.broker.key.id == 0 or master is None or not broker.is_fresh:
            return None
        own_offset, master_offset = (b.read_number("commitLogMaxOffset") for b in (broker, master))
        if own_offset is None or master_offset is None:
            return None
        lacking = max(master_offset - own_offset, 0.0)
        byte_rate = prod(master.read_number(key) or 0.0 for key in ("putTps", "putMessageAverageSize"))
        return 0.0 if lacking <= 2 * byte_rate else lacking


_DRAINABLE_STATES = (
    display_states.UP,
    display_states.SLOW,
    display_states.WIPED,
    display_states.PARTLY_WIPED,
)
"""States that a drain's state replaces. A broker that is gone or frozen keeps its own state."""


def list_broker_rows(model: ClusterModel) -> list[BrokerRow]:
    """The rows of all brokers, ordered by cluster, name and id."""
    version = (model.poll_count, model.now_ms)
    return model.compute_once("broker rows", version, lambda: _build_broker_rows(model))


def _build_broker_rows(model: ClusterModel) -> list[BrokerRow]:
    wipe_counts = display_states.count_wipes(model)
    fresh_addrs = {server.addr for server in model.list_fresh_servers()}
    silent_count = len(model.list_silent_servers())
    brokers = sorted(model.brokers.values(), key=lambda broker: (broker.cluster_name, broker.key))
    masters = {broker.key.name: broker for broker in brokers if broker.key.id == 0 and broker.is_fresh}
    drains = model.drains_poll.drains
    phases = {(d.cluster, d.broker_name): d.phase for d in drains if d.phase != "undrain"}
    slaves = model.replicas_poll.slaves if model.replicas_poll else ()
    slave_states = {(slave.broker_name, slave.broker_id): slave.state for slave in slaves}
    rows = []
    for broker in brokers:
        name = broker.key.name
        state = display_states.state_of_broker(broker, wipe_counts.get(name))
        phase = phases.get((broker.cluster_name, name))
        if phase is not None and state in _DRAINABLE_STATES:
            state = display_states.DRAINED if phase == "safe" else display_states.DRAINING
        is_compared = broker.is_fresh and name in masters
        rows.append(
            BrokerRow(
                broker,
                state,
                model.now_ms,
                len(broker.listed_by & fresh_addrs),
                len(fresh_addrs),
                masters.get(name),
                wipe_counts.get(name),
                slave_states.get(broker.key[:2]) if is_compared else None,
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


_MIN_GRAPH_HEIGHT = 7


def draw_broker_facts(
    columns: Sequence[Column[BrokerRow]], row: BrokerRow, width: int, height: int
) -> list[CellLine]:
    """The columns of the broker's row, and below them its traffic over the last polls, if there is room."""
    lines = [[], *draw_row_facts(columns, row, width), []]
    graph_height = height - len(lines)
    if graph_height < _MIN_GRAPH_HEIGHT:
        return lines[:height]
    broker = row.broker
    trends = {
        "in": _build_trend(broker.poll_times_ms, broker.put_rates),
        "out": _build_trend(broker.poll_times_ms, broker.get_rates),
    }
    return [*lines, *draw_graph("messages per second", trends, width, graph_height)]


def _build_trend(times_ms: Iterable[int], rates: Iterable[float | None]) -> Trend:
    trend = Trend.create_empty()
    for at_ms, rate in zip(times_ms, rates, strict=True):
        trend.add_point(at_ms, rate)
    return trend


def _figure_cell(text: str, row: BrokerRow, tone: Tone = "") -> Cell:
    """A figure of a broker, dimmed if the broker does not answer."""
    return Cell(text, tone if row.broker.is_fresh else "dim")


def _state_cell(row: BrokerRow) -> Cell:
    broker, counts = row.broker, row.wipe_counts
    since_ms = broker.gone_since_ms if broker.gone_since_ms is not None else broker.silent_since_ms
    detail = f" {units.format_age(row.now_ms - since_ms)}" if since_ms is not None else ""
    if counts and row.state in (display_states.WIPED, display_states.PARTLY_WIPED):
        is_whole = counts.wiped_count == counts.known_count
        detail = "" if is_whole else f" {counts.wiped_count}/{counts.known_count}"
    return Cell(f"{row.state.sign} {row.state.name}{detail}", row.state.tone)


def _listing_cell(row: BrokerRow) -> Cell:
    missing_tone = "warn" if row.listing_count else "bad"
    return display_states.draw_listing(row.listing_count, row.server_count, row.silent_count, missing_tone)


def _spark_cell(row: BrokerRow, rates: Iterable[float | None]) -> Cell:
    """The last rates; nothing for a broker that is not asked any more."""
    return Cell(units.draw_sparkline(rates, 10) if row.broker.gone_since_ms is None else "", "spark")


def _disk_ratio(row: BrokerRow) -> float | None:
    return row.broker.read_number("commitLogDiskRatio")


def _disk_cell(row: BrokerRow) -> Cell:
    ratio = _disk_ratio(row)
    if ratio is None or ratio < 0:
        return Cell(units.UNKNOWN_MARK, "dim")
    text = f"{units.draw_meter(ratio, 4)}{units.format_percent(ratio):>4}"
    return _figure_cell(text, row, alert_levels.disk_tone(ratio))


def _version_text(row: BrokerRow) -> str | None:
    version = row.broker.read_text("brokerVersionDesc")
    return version and version.removeprefix("V").replace("_", ".")


def _replica_cell(row: BrokerRow) -> Cell:
    size_text = "" if row.broker.key.id == 0 else units.format_size(row.missing_bytes)
    return Cell(size_text, alert_levels.figure_tone("replica", row.missing_bytes))


def _metadata_cell(row: BrokerRow) -> Cell:
    state = row.slave_state or ("" if row.broker.key.id == 0 else units.UNKNOWN_MARK)
    return Cell(state, alert_levels.slave_state_tone(state))


def _today_cell(row: BrokerRow, operation: str) -> Cell:
    return _figure_cell(units.format_count(row.count_today(operation)), row)


BROKER_COLUMNS: Sequence[Column[BrokerRow]] = (
    Column("cluster", "CLUSTER", 10, "cluster of the broker, from the name servers",
           lambda row: row.broker.cluster_name, tone="dim", drop=4),
    Column("broker", "BROKER", 14, "name of its broker group",
           lambda row: row.broker.key[:2], show=lambda process: process[0], tone="strong", grow=True),
    Column("role", "ROLE", 7, "master, or slave with its id",
           lambda row: row.broker.key.id,
           cell=lambda row: Cell(row.broker.key.role, "dim" if row.broker.key.id else ""), flash=True),
    Column("addr", "ADDRESS", 21, "address of the broker",
           lambda row: row.broker.key.addr, tone="dim", drop=6, flash=True),
    Column("state", "STATE", 14,
           "● up, ◐ frozen, ✕ down or gone, ⊘ wiped, ▽ draining, ▼ drained, ! refuses, ○ inactive",
           lambda row: row.state.severity_order, cell=_state_cell, flash=True),
    Column("listed", "NS", 4, "name servers that list it, out of all; ? if one does not answer",
           lambda row: row.listing_count, cell=_listing_cell, right=True, drop=5, flash=True),
    Column("version", "VERSION", 8, "version of the broker", _version_text, tone="dim", drop=7, flash=True),
    Column("in", "IN/s", 6, "messages put per second, over 10 s",
           lambda row: row.broker.put_rate, show=units.format_rate, right=True),
    Column("ins", "", 10, "IN/s over the last polls",
           lambda row: row.broker.put_rate, cell=lambda row: _spark_cell(row, row.broker.put_rates), drop=3),
    Column("out", "OUT/s", 6, "messages delivered per second, over 10 s",
           lambda row: row.broker.get_rate, show=units.format_rate, right=True, drop=1),
    Column("outs", "", 10, "OUT/s over the last polls",
           lambda row: row.broker.get_rate, cell=lambda row: _spark_cell(row, row.broker.get_rates), drop=9),
    Column("inToday", "IN TODAY", 8, "messages put today",
           lambda row: row.count_today("Put"), cell=lambda row: _today_cell(row, "Put"), right=True, drop=11),
    Column("outToday", "OUT TODAY", 9, "messages delivered today",
           lambda row: row.count_today("Get"), cell=lambda row: _today_cell(row, "Get"), right=True, drop=11),
    Column("disk", "DISK", 8, "used disk space", _disk_ratio, cell=_disk_cell, right=True, drop=2),
    Column("wait", "WAIT", 7, "wait of the oldest message in the send queue",
           lambda row: row.broker.read_now("sendThreadPoolQueueHeadWaitTimeMills"),
           show=units.format_millis, tone=partial(alert_levels.figure_tone, "sendWait"), right=True, drop=3),
    Column("dispatch", "DISPATCH", 9, "bytes of the log that are not in queues yet",
           lambda row: row.broker.read_now("dispatchBehindBytes"),
           show=units.format_size, tone=partial(alert_levels.figure_tone, "dispatch"), right=True, drop=8),
    Column("replica", "REPLICA", 9, "bytes of the master's log that a slave does not have yet",
           lambda row: row.missing_bytes, cell=_replica_cell, right=True, drop=5),
    Column("metadata", "METADATA", 8,
           "slave compared with its master (tab replicas): equal, lag, drift, unknown",
           lambda row: row.slave_state, cell=_metadata_cell, drop=5, flash=True),
    Column("rtt", "ANSWER", 7, "duration of its last answer",
           lambda row: row.broker.answer_ms if row.broker.is_fresh else None,
           show=units.format_millis, tone=partial(alert_levels.figure_tone, "latency"), right=True, drop=10),
    Column("heartbeat", "HEARD", 6, "time since its last heartbeat, if an nsadmin name server lists it",
           lambda row: row.longest_silence, show=lambda silence: units.format_age(silence[0]),
           tone=lambda silence: alert_levels.heartbeat_tone(silence[1]), right=True, drop=6),
    Column("uptime", "UP FOR", 7, "time since its start",
           lambda row: row.uptime_ms, show=units.format_age, tone="dim", right=True, drop=8),
)  # fmt: skip


class BrokersView(View):
    name = "brokers"
    key_fields = ("broker.key.name", "broker.key.id", "broker.key.addr")
    title = "Brokers"
    columns = BROKER_COLUMNS
    grouping_key = "cluster"
    empty_text = "no broker is registered"

    def build_rows(self, model: ClusterModel) -> Sequence[BrokerRow]:
        return list_broker_rows(model)

    def filter_text(self, row: BrokerRow) -> str:
        return (
            f"{row.broker.cluster_name} {row.broker.key.name} {row.broker.key.role} {row.broker.key.addr} "
            f"{row.state.name} {_version_text(row) or units.UNKNOWN_MARK}"
        )

    def subject_of_row(self, row: BrokerRow) -> RowSubject:
        broker_name, _, broker_addr = row.broker.key
        return RowSubject(broker_name=broker_name, broker_addr=broker_addr, cluster=row.broker.cluster_name)

    def open_row(self, row: BrokerRow) -> View:
        return open_broker(row.broker)

    def draw_details(self, model: ClusterModel, row: BrokerRow, width: int, height: int) -> list[CellLine]:
        return draw_broker_facts(self.columns, row, width, height)

    def problem_rank(self, row: BrokerRow) -> int:
        return rank_broker(row)

    def empty_message(self, model: ClusterModel) -> str:
        """An empty list depends on the name servers, although `find_silence` of this view returns None."""
        silence = model.find_silence()
        return self.empty_text if silence is None else f"unknown: {silence.reason}"

    def summarize_rows(self, rows: Sequence[BrokerRow]) -> CellLine:
        return summarize_brokers(rows)

    def render_headline(self, model: ClusterModel) -> CellLine:
        rows = self.build_rows(model)
        if not rows and model.find_silence() is not None:
            return [Cell(f"{units.UNKNOWN_MARK} brokers", "strong")]
        cells = summarize_brokers(rows)
        if model.inventory_problem:
            cells.append(Cell(f"  missing brokers are unknown: {model.inventory_problem}", "warn"))
        return cells


def summarize_brokers(rows: Sequence[BrokerRow]) -> list[Cell]:
    """Summarize brokers in one line: the count of each state, and the total put and get rates.

    A process with several names counts once, as a master if one of the names has it as master.
    """
    masters_last = sorted(rows, key=lambda row: row.broker.key.id == 0)
    processes = list({(row.broker.key.addr, row.state): row for row in masters_last}.values())
    cells = [Cell(count_noun(len(processes), "broker"), "strong")]
    counts = Counter(row.state for row in processes)
    for state in sorted(counts, key=lambda state: state.severity_order):
        cells += [Cell("  "), Cell(f"{state.sign} {counts[state]} {state.name}", state.tone)]
    if len(rows) > len(processes):
        cells.append(Cell(f"  {len(rows)} names", "warn"))
    put_rate = _total_rate(row.broker.put_rate for row in processes if row.broker.key.id == 0)
    get_rate = _total_rate(row.broker.get_rate for row in processes)
    cells += [Cell("  in "), Cell(f"{units.format_rate(put_rate)}/s", "accent")]
    cells += [Cell("  out "), Cell(f"{units.format_rate(get_rate)}/s", "accent")]
    return cells


def _total_rate(rates: Iterable[float | None]) -> float | None:
    """The sum of the known rates, or None if no rate is known."""
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None
