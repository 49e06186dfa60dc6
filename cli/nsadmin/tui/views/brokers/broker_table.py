"""The list of brokers, which is the home screen. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import partial

from nsadmin.tui.actions.row_actions import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel, Trend
from nsadmin.tui.views import alert_levels, display_states, units
from nsadmin.tui.views.base_view import BrokerProcessTarget, CellLine, View
from nsadmin.tui.views.brokers.broker_rows import BrokerRow, list_broker_rows, rank_broker
from nsadmin.tui.views.graphs import draw_graph
from nsadmin.tui.views.table import Cell, Column, Tone, draw_row_facts

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
    since_ms = (
        row.broker.gone_since_ms if row.broker.gone_since_ms is not None else row.broker.silent_since_ms
    )
    state_detail = f" {units.format_age(row.now_ms - since_ms)}" if since_ms is not None else ""
    if row.wipe_counts and row.state in (display_states.WIPED, display_states.PARTLY_WIPED):
        state_detail = (
            ""
            if row.wipe_counts.wiped_count == row.wipe_counts.known_count
            else f" {row.wipe_counts.wiped_count}/{row.wipe_counts.known_count}"
        )
    return Cell(f"{row.state.sign} {row.state.name}{state_detail}", row.state.tone)


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
    return _figure_cell(
        f"{units.draw_meter(ratio, 4)}{units.format_percent(ratio):>4}", row, alert_levels.disk_tone(ratio)
    )


def _version_text(row: BrokerRow) -> str | None:
    version = row.broker.read_text("brokerVersionDesc")
    return version and version.removeprefix("V").replace("_", ".")


def _replica_cell(row: BrokerRow) -> Cell:
    size_text = "" if row.broker_id == 0 else units.format_size(row.missing_bytes)
    return Cell(size_text, alert_levels.figure_tone("replica", row.missing_bytes))


def _metadata_cell(row: BrokerRow) -> Cell:
    state_word = row.slave_state or ("" if row.broker_id == 0 else units.UNKNOWN_MARK)
    return Cell(state_word, alert_levels.slave_state_tone(state_word))


def _today_cell(row: BrokerRow, operation: str) -> Cell:
    return _figure_cell(units.format_count(row.count_today(operation)), row)


BROKER_COLUMNS: Sequence[Column[BrokerRow]] = (
    Column("cluster", "CLUSTER", 10, "cluster of the broker, from the name servers",
           lambda row: row.broker.cluster_name, tone="dim", drop=4),
    Column("broker", "BROKER", 14, "name of its broker group",
           lambda row: (row.broker_name, row.broker_id), show=lambda process: process[0], tone="strong",
           grow=True),
    Column("role", "ROLE", 7, "master, or slave with its id",
           lambda row: row.broker_id, show=lambda broker_id: f"slave {broker_id}" if broker_id else "master",
           tone=lambda broker_id: "dim" if broker_id else "", flash=True),
    Column("addr", "ADDRESS", 21, "address of the broker",
           lambda row: row.broker_addr, tone="dim", drop=6, flash=True),
    Column("state", "STATE", 14,
           "● up, ◐ frozen, ✕ down or gone, ⊘ wiped, ▽ draining, ▼ drained, ! refuses, ○ inactive",
           lambda row: row.state.severity_order, cell=_state_cell, flash=True),
    Column("listed", "NS", 4, "name servers that list it, out of all; ? if one does not answer",
           lambda row: row.listing_count, cell=_listing_cell, right=True, drop=5, flash=True),
    Column("version", "VERSION", 8, "release of the broker", _version_text, tone="dim", drop=7, flash=True),
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
    """The brokers of all clusters, or of one cluster."""

    view_name = "brokers"
    columns = BROKER_COLUMNS
    grouping_key = "cluster"
    empty_text = "no broker is registered"

    def __init__(self, cluster_name: str | None = None) -> None:
        self.cluster_name = cluster_name

    @property
    def view_title(self) -> str:
        return "Brokers" if self.cluster_name is None else f"Brokers of {self.cluster_name}"

    def build_rows(self, model: ClusterModel) -> Sequence[BrokerRow]:
        rows = list_broker_rows(model)
        return (
            rows
            if self.cluster_name is None
            else [row for row in rows if row.broker.cluster_name == self.cluster_name]
        )

    def row_key(self, row: BrokerRow) -> str:
        return f"{row.broker_name} {row.broker_id} {row.broker_addr}"

    def filter_text(self, row: BrokerRow) -> str:
        role = "master" if row.broker_id == 0 else f"slave {row.broker_id}"
        return (
            f"{row.broker.cluster_name} {row.broker_name} {role} {row.broker_addr} "
            f"{row.state.name} {_version_text(row) or units.UNKNOWN_MARK}"
        )

    def subject_of_row(self, row: BrokerRow) -> RowSubject:
        return RowSubject(
            broker_name=row.broker_name, broker_addr=row.broker_addr, cluster=row.broker.cluster_name
        )

    def open_row(self, row: BrokerRow) -> BrokerProcessTarget:
        return BrokerProcessTarget(row.broker_name, row.broker_id, row.broker_addr, row.broker.cluster_name)

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
        cells = list(summarize_brokers(rows))
        if model.inventory_problem:
            cells.append(Cell(f"  missing brokers are unknown: {model.inventory_problem}", "warn"))
        return cells


def summarize_brokers(rows: Sequence[BrokerRow]) -> CellLine:
    """Summarize brokers in one line: the count of each state, and the total put and get rates.

    A process with several names counts once, as a master if one of the names has it as master.
    """
    masters_last = sorted(rows, key=lambda row: row.broker_id == 0)
    name_count = len(rows)
    rows = list({(row.broker_addr, row.state): row for row in masters_last}.values())
    cells = [Cell(units.count_noun(len(rows), "broker"), "strong")]
    for state, count in sorted(
        Counter(row.state for row in rows).items(), key=lambda state_count: state_count[0].severity_order
    ):
        cells += [Cell("  "), Cell(f"{state.sign} {count} {state.name}", state.tone)]
    total_put_rate = _total_rate(row.broker.put_rate for row in rows if row.broker_id == 0)
    total_get_rate = _total_rate(row.broker.get_rate for row in rows)
    if name_count > len(rows):
        cells.append(Cell(f"  {name_count} names", "warn"))
    cells += [Cell("  in "), Cell(f"{units.format_rate(total_put_rate)}/s", "accent")]
    cells += [Cell("  out "), Cell(f"{units.format_rate(total_get_rate)}/s", "accent")]
    return cells


def _total_rate(rates: Iterable[float | None]) -> float | None:
    """The sum of the known rates, or None if no rate is known."""
    known_rates = [rate for rate in rates if rate is not None]
    return sum(known_rates) if known_rates else None
