"""The list of brokers, which is the home screen. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from nsadmin.tui.actions.row_subject import RowSubject
from nsadmin.tui.model.cluster_model import ClusterModel
from nsadmin.tui.views import alert_levels, display_states, units
from nsadmin.tui.views.base_view import CellLine, View
from nsadmin.tui.views.brokers.broker_problems import rank_broker
from nsadmin.tui.views.brokers.broker_rows import BrokerRow, list_broker_rows
from nsadmin.tui.views.brokers.broker_traffic import draw_broker_facts
from nsadmin.tui.views.table import Cell, Column, Tone, make_column
from nsadmin.tui.views.view_targets import BrokerProcessTarget


def _figure_cell(figure_text: str, row: BrokerRow, tone: Tone = "") -> Cell:
    """A figure of a broker, dimmed if the broker does not answer."""
    return Cell(figure_text, tone if row.broker.is_fresh else "dim")


def _state_cell(row: BrokerRow) -> Cell:
    since_ms = (
        row.broker.gone_since_ms if row.broker.gone_since_ms is not None else row.broker.silent_since_ms
    )
    state_detail = f" {units.format_age(row.now_ms - since_ms)}" if since_ms is not None else ""
    if row.wipe_counts and row.display_state in (display_states.WIPED, display_states.PARTLY_WIPED):
        state_detail = (
            ""
            if row.wipe_counts.wiped_count == row.wipe_counts.known_count
            else f" {row.wipe_counts.wiped_count}/{row.wipe_counts.known_count}"
        )
    return Cell(f"{row.display_state.sign} {row.display_state.name}{state_detail}", row.display_state.tone)


def _listing_cell(row: BrokerRow) -> Cell:
    missing_tone = "warn" if row.listing_count else "bad"
    return display_states.draw_listing(row.listing_count, row.server_count, row.silent_count, missing_tone)


def _spark_cell(row: BrokerRow, rates: Iterable[float | None]) -> Cell:
    """The last rates; nothing for a broker that is not asked any more."""
    return Cell(units.draw_sparkline(rates, 10) if row.broker.gone_since_ms is None else "", "spark")


def _leveled_cell(figure_name: str, figure_value: float | None, figure_text: str, row: BrokerRow) -> Cell:
    return _figure_cell(figure_text, row, alert_levels.figure_tone(figure_name, figure_value))


def _disk_ratio(row: BrokerRow) -> float | None:
    return row.broker.read_number("commitLogDiskRatio")


def _disk_cell(row: BrokerRow) -> Cell:
    disk_ratio = _disk_ratio(row)
    if disk_ratio is None or disk_ratio < 0:
        return Cell(units.UNKNOWN_MARK, "dim")
    return _figure_cell(
        f"{units.draw_meter(disk_ratio, 4)}{units.format_percent(disk_ratio):>4}",
        row,
        alert_levels.disk_tone(disk_ratio),
    )


def _version_text(row: BrokerRow) -> str:
    return (
        (row.broker.read_text("brokerVersionDesc") or units.UNKNOWN_MARK).removeprefix("V").replace("_", ".")
    )


def _heartbeat_cell(row: BrokerRow) -> Cell:
    if row.longest_silence is None:
        return Cell(units.UNKNOWN_MARK, "dim")
    silence_ms, patience_ratio = row.longest_silence
    return _figure_cell(units.format_age(silence_ms), row, alert_levels.heartbeat_tone(patience_ratio))


def _metadata_cell(row: BrokerRow) -> Cell:
    state_word = row.slave_state or ("" if row.broker_id == 0 else units.UNKNOWN_MARK)
    return _figure_cell(state_word, row, alert_levels.slave_state_tone(state_word))


BROKER_COLUMNS: Sequence[Column[BrokerRow]] = (
    make_column(
        "cluster",
        "CLUSTER",
        10,
        lambda row: row.broker.cluster_name,
        tone="dim",
        drop_rank=4,
        help_text="cluster of the broker, from the name servers",
    ),
    Column(
        "broker",
        "BROKER",
        14,
        lambda row: (row.broker_name, row.broker_id),
        lambda row: Cell(row.broker_name, "strong"),
        grows_to_fit=True,
        help_text="name of its broker group",
    ),
    Column(
        "role",
        "ROLE",
        7,
        lambda row: row.broker_id,
        lambda row: Cell(
            "master" if row.broker_id == 0 else f"slave {row.broker_id}", "" if row.broker_id == 0 else "dim"
        ),
        flashes_changes=True,
        help_text="master, or slave with its id",
    ),
    make_column(
        "addr",
        "ADDRESS",
        21,
        lambda row: row.broker_addr,
        tone="dim",
        drop_rank=6,
        flashes_changes=True,
        help_text="address of the broker",
    ),
    Column(
        "state",
        "STATE",
        14,
        lambda row: row.display_state.severity_order,
        _state_cell,
        flashes_changes=True,
        help_text="● up, ◐ frozen, ✕ down or gone, ⊘ wiped, ▽ draining, ▼ drained, ! refuses, ○ inactive",
    ),
    Column(
        "listed",
        "NS",
        4,
        lambda row: row.listing_count,
        _listing_cell,
        is_right_aligned=True,
        drop_rank=5,
        flashes_changes=True,
        help_text="name servers that list it, out of all; ? if one does not answer",
    ),
    Column(
        "version",
        "VERSION",
        8,
        _version_text,
        lambda row: _figure_cell(_version_text(row), row, "dim"),
        drop_rank=7,
        flashes_changes=True,
        help_text="release of the broker",
    ),
    Column(
        "in",
        "IN/s",
        6,
        lambda row: row.broker.put_rate,
        lambda row: _figure_cell(units.format_rate(row.broker.put_rate), row),
        is_right_aligned=True,
        help_text="messages put per second, over 10 s",
    ),
    Column(
        "ins",
        "",
        10,
        lambda row: row.broker.put_rate,
        lambda row: _spark_cell(row, row.broker.put_rates),
        drop_rank=3,
        help_text="IN/s over the last polls",
    ),
    Column(
        "out",
        "OUT/s",
        6,
        lambda row: row.broker.get_rate,
        lambda row: _figure_cell(units.format_rate(row.broker.get_rate), row),
        is_right_aligned=True,
        drop_rank=1,
        help_text="messages delivered per second, over 10 s",
    ),
    Column(
        "outs",
        "",
        10,
        lambda row: row.broker.get_rate,
        lambda row: _spark_cell(row, row.broker.get_rates),
        drop_rank=9,
        help_text="OUT/s over the last polls",
    ),
    Column(
        "inToday",
        "IN TODAY",
        8,
        lambda row: row.count_today("Put"),
        lambda row: _figure_cell(units.format_count(row.count_today("Put")), row),
        is_right_aligned=True,
        drop_rank=11,
        help_text="messages put today",
    ),
    Column(
        "outToday",
        "OUT TODAY",
        9,
        lambda row: row.count_today("Get"),
        lambda row: _figure_cell(units.format_count(row.count_today("Get")), row),
        is_right_aligned=True,
        drop_rank=11,
        help_text="messages delivered today",
    ),
    Column(
        "disk",
        "DISK",
        8,
        _disk_ratio,
        _disk_cell,
        is_right_aligned=True,
        drop_rank=2,
        help_text="used disk space",
    ),
    Column(
        "wait",
        "WAIT",
        7,
        lambda row: row.broker.read_now("sendThreadPoolQueueHeadWaitTimeMills"),
        lambda row: _leveled_cell(
            "sendWait",
            figure_value := row.broker.read_now("sendThreadPoolQueueHeadWaitTimeMills"),
            units.format_millis(figure_value),
            row,
        ),
        is_right_aligned=True,
        drop_rank=3,
        help_text="wait of the oldest message in the send queue",
    ),
    Column(
        "dispatch",
        "DISPATCH",
        9,
        lambda row: row.broker.read_now("dispatchBehindBytes"),
        lambda row: _leveled_cell(
            "dispatch",
            figure_value := row.broker.read_now("dispatchBehindBytes"),
            units.format_size(figure_value),
            row,
        ),
        is_right_aligned=True,
        drop_rank=8,
        help_text="bytes of the log that are not in queues yet",
    ),
    Column(
        "replica",
        "REPLICA",
        9,
        lambda row: row.missing_bytes,
        lambda row: _leveled_cell(
            "replica",
            row.missing_bytes,
            "" if row.broker_id == 0 else units.format_size(row.missing_bytes),
            row,
        ),
        is_right_aligned=True,
        drop_rank=5,
        help_text="bytes of the master's log that a slave does not have yet",
    ),
    Column(
        "metadata",
        "METADATA",
        8,
        lambda row: row.slave_state,
        _metadata_cell,
        drop_rank=5,
        flashes_changes=True,
        help_text="slave compared with its master (tab replicas): equal, lag, drift, unknown",
    ),
    Column(
        "rtt",
        "ANSWER",
        7,
        lambda row: _answer_ms(row),
        lambda row: _leveled_cell("latency", _answer_ms(row), units.format_millis(_answer_ms(row)), row),
        is_right_aligned=True,
        drop_rank=10,
        help_text="duration of its last answer",
    ),
    Column(
        "heartbeat",
        "HEARD",
        6,
        lambda row: row.longest_silence[0] if row.longest_silence else None,
        _heartbeat_cell,
        is_right_aligned=True,
        drop_rank=6,
        help_text="time since its last heartbeat, if an nsadmin name server lists it",
    ),
    Column(
        "uptime",
        "UP FOR",
        7,
        lambda row: _uptime_ms(row),
        lambda row: _figure_cell(units.format_age(_uptime_ms(row)), row, "dim"),
        is_right_aligned=True,
        drop_rank=8,
        flashes_changes=False,
        help_text="time since its start",
    ),
)


def _answer_ms(row: BrokerRow) -> float | None:
    return row.broker.answer_ms if row.broker.is_fresh else None


def _uptime_ms(row: BrokerRow) -> float | None:
    booted_at_ms = row.broker.read_now("bootTimestamp")
    return None if booted_at_ms is None else row.now_ms - booted_at_ms


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
        broker_rows = list_broker_rows(model)
        return (
            broker_rows
            if self.cluster_name is None
            else [row for row in broker_rows if row.broker.cluster_name == self.cluster_name]
        )

    def row_key(self, row: BrokerRow) -> str:
        return f"{row.broker_name} {row.broker_id} {row.broker_addr}"

    def filter_text(self, row: BrokerRow) -> str:
        role_text = "master" if row.broker_id == 0 else f"slave {row.broker_id}"
        return (
            f"{row.broker.cluster_name} {row.broker_name} {role_text} {row.broker_addr} "
            f"{row.display_state.name} {_version_text(row)}"
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
        broker_rows = self.build_rows(model)
        if not broker_rows and model.find_silence() is not None:
            return [Cell(f"{units.UNKNOWN_MARK} brokers", "strong")]
        return summarize_brokers(broker_rows)


def summarize_brokers(broker_rows: Sequence[BrokerRow]) -> CellLine:
    """Summarize brokers in one line: the count of each state, and the total put and get rates."""
    summary_cells = [Cell(units.count_noun(len(broker_rows), "broker"), "strong")]
    for display_state, broker_count in sorted(
        Counter(row.display_state for row in broker_rows).items(),
        key=lambda state_count: state_count[0].severity_order,
    ):
        summary_cells += [
            Cell("  "),
            Cell(f"{display_state.sign} {broker_count} {display_state.name}", display_state.tone),
        ]
    total_put_rate = _total_rate(row.broker.put_rate for row in broker_rows if row.broker_id == 0)
    total_get_rate = _total_rate(row.broker.get_rate for row in broker_rows)
    summary_cells += [Cell("  in "), Cell(f"{units.format_rate(total_put_rate)}/s", "accent")]
    summary_cells += [Cell("  out "), Cell(f"{units.format_rate(total_get_rate)}/s", "accent")]
    return summary_cells


def _total_rate(rates: Iterable[float | None]) -> float | None:
    """The sum of the known rates, or None if no rate is known."""
    known_rates = [rate for rate in rates if rate is not None]
    return sum(known_rates) if known_rates else None
