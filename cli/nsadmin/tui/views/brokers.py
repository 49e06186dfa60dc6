"""The list of brokers, which is the home screen. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from nsadmin.tui import levels, units
from nsadmin.tui.model import Model
from nsadmin.tui.views import states
from nsadmin.tui.views.broker_rows import BrokerRow, rows
from nsadmin.tui.views.table import Cell, Column, Tone
from nsadmin.tui.views.view import About, Line, View


def _figure(text: str, row: BrokerRow, tone: Tone = "") -> Cell:
    """A figure of a broker, dimmed if the broker does not answer."""
    return Cell(text, tone if row.broker.is_fresh else "dim")


def _state(row: BrokerRow) -> Cell:
    since = row.broker.gone if row.broker.gone is not None else row.broker.since
    held = f" {units.age(row.now - since)}" if since is not None else ""
    if row.wiped and row.state in (states.WIPED, states.PARTLY_WIPED):
        held = "" if row.wiped[0] == row.wiped[1] else f" {row.wiped[0]}/{row.wiped[1]}"
    return Cell(f"{row.state.sign} {row.state.word}{held}", row.state.tone)


def _listed(row: BrokerRow) -> Cell:
    if not row.servers:
        return Cell(units.NOTHING, "dim")
    tone: Tone = "" if row.listed == row.servers else "warn" if row.listed else "bad"
    return Cell(f"{row.listed}/{row.servers}", tone)


def _leveled(name: str, number: float | None, text: str, row: BrokerRow) -> Cell:
    return _figure(text, row, levels.tone(name, number))


def _disk(row: BrokerRow) -> float | None:
    return row.broker.number("commitLogDiskRatio")


def _disk_cell(row: BrokerRow) -> Cell:
    ratio = _disk(row)
    if ratio is None or ratio < 0:
        return Cell(units.NOTHING, "dim")
    return _figure(f"{units.meter(ratio, 4)}{units.percent(ratio):>4}", row, levels.disk(ratio))


def _version(row: BrokerRow) -> str:
    return (row.broker.text("brokerVersionDesc") or units.NOTHING).removeprefix("V").replace("_", ".")


def _heartbeat(row: BrokerRow) -> Cell:
    if row.silence is None:
        return Cell(units.NOTHING, "dim")
    silent, part = row.silence
    return _figure(units.age(silent), row, levels.heartbeat(part))


COLUMNS = (
    Column(
        "cluster",
        "CLUSTER",
        10,
        lambda r: r.broker.cluster,
        lambda r: Cell(r.broker.cluster, "dim"),
        rank=4,
        help="the cluster that name servers say it is in",
    ),
    Column(
        "broker",
        "BROKER",
        14,
        lambda r: (r.name, r.id),
        lambda r: Cell(r.name, "strong"),
        grows=True,
        help="the name of its group",
    ),
    Column(
        "role",
        "ROLE",
        7,
        lambda r: r.id,
        lambda r: Cell("master" if r.id == 0 else f"slave {r.id}", "" if r.id == 0 else "dim"),
        flashes=True,
        help="master, or slave and its id",
    ),
    Column(
        "addr",
        "ADDRESS",
        21,
        lambda r: r.addr,
        lambda r: Cell(r.addr, "dim"),
        rank=6,
        flashes=True,
        help="where it is reached",
    ),
    Column(
        "state",
        "STATE",
        14,
        lambda r: r.state.order,
        _state,
        flashes=True,
        help="● up, ◐ frozen, ✕ down or gone, ⊘ wiped, ▽ draining, ▼ drained, ! refuses, ○ inactive",
    ),
    Column(
        "listed",
        "NS",
        4,
        lambda r: r.listed,
        _listed,
        right=True,
        rank=5,
        flashes=True,
        help="name servers that list it, of those that answer",
    ),
    Column(
        "version",
        "VERSION",
        8,
        _version,
        lambda r: _figure(_version(r), r, "dim"),
        rank=7,
        flashes=True,
        help="the release that it runs",
    ),
    Column(
        "in",
        "IN/s",
        6,
        lambda r: r.ins,
        lambda r: _figure(units.rate(r.ins), r),
        right=True,
        help="messages put per second, over 10 s",
    ),
    Column(
        "ins",
        "",
        10,
        lambda r: r.ins,
        lambda r: Cell(units.sparkline(r.broker.ins, 10), "spark"),
        rank=3,
        help="IN/s over the last polls",
    ),
    Column(
        "out",
        "OUT/s",
        6,
        lambda r: r.outs,
        lambda r: _figure(units.rate(r.outs), r),
        right=True,
        rank=1,
        help="messages handed out per second, over 10 s",
    ),
    Column(
        "outs",
        "",
        10,
        lambda r: r.outs,
        lambda r: Cell(units.sparkline(r.broker.outs, 10), "spark"),
        rank=9,
        help="OUT/s over the last polls",
    ),
    Column(
        "inToday",
        "IN TODAY",
        8,
        lambda r: r.today("Put"),
        lambda r: _figure(units.count(r.today("Put")), r),
        right=True,
        rank=11,
        help="messages put today",
    ),
    Column(
        "outToday",
        "OUT TODAY",
        9,
        lambda r: r.today("Get"),
        lambda r: _figure(units.count(r.today("Get")), r),
        right=True,
        rank=11,
        help="messages handed out today",
    ),
    Column("disk", "DISK", 8, _disk, _disk_cell, right=True, rank=2, help="how full its disk is"),
    Column(
        "wait",
        "WAIT",
        7,
        lambda r: r.broker.number("sendThreadPoolQueueHeadWaitTimeMills"),
        lambda r: _leveled(
            "sendWait", n := r.broker.number("sendThreadPoolQueueHeadWaitTimeMills"), units.millis(n), r
        ),
        right=True,
        rank=3,
        help="how long the oldest message in the send queue has waited",
    ),
    Column(
        "dispatch",
        "DISPATCH",
        9,
        lambda r: r.broker.number("dispatchBehindBytes"),
        lambda r: _leveled("dispatch", n := r.broker.number("dispatchBehindBytes"), units.size(n), r),
        right=True,
        rank=8,
        help="bytes of the log that are not in queues yet",
    ),
    Column(
        "replica",
        "REPLICA",
        9,
        lambda r: r.behind,
        lambda r: _leveled("replica", r.behind, "" if r.id == 0 else units.size(r.behind), r),
        right=True,
        rank=5,
        help="bytes that a slave lacks of its master's log, as both tell",
    ),
    Column(
        "rtt",
        "ANSWER",
        7,
        lambda r: r.broker.millis,
        lambda r: _leveled("latency", r.broker.millis, units.millis(r.broker.millis), r),
        right=True,
        rank=10,
        help="how long its last answer took",
    ),
    Column(
        "heartbeat",
        "HEARD",
        6,
        lambda r: r.silence[0] if r.silence else None,
        _heartbeat,
        right=True,
        rank=6,
        help="since its last heartbeat, where a name server of ours tells it",
    ),
    Column(
        "uptime",
        "UP FOR",
        7,
        lambda r: _uptime(r),
        lambda r: _figure(units.age(_uptime(r)), r, "dim"),
        right=True,
        rank=8,
        flashes=False,
        help="since its start",
    ),
)


def _uptime(row: BrokerRow) -> float | None:
    booted = row.broker.number("bootTimestamp")
    return None if booted is None else row.now - booted


class Brokers(View):
    """The brokers of all clusters, or of one cluster."""

    name = "brokers"
    columns = COLUMNS
    grouping = "cluster"
    empty = "no broker is registered"

    def __init__(self, cluster: str | None = None) -> None:
        self.cluster = cluster

    @property
    def title(self) -> str:
        return "Brokers" if self.cluster is None else f"Brokers of {self.cluster}"

    def items(self, model: Model) -> Sequence[BrokerRow]:
        found = rows(model)
        return found if self.cluster is None else [row for row in found if row.broker.cluster == self.cluster]

    def key(self, item: BrokerRow) -> str:
        return f"{item.name} {item.id} {item.addr}"

    def text(self, item: BrokerRow) -> str:
        role = "master" if item.id == 0 else f"slave {item.id}"
        return f"{item.broker.cluster} {item.name} {role} {item.addr} {item.state.word} {_version(item)}"

    def about(self, item: BrokerRow) -> About:
        return About(broker_name=item.name, broker_addr=item.addr, cluster=item.broker.cluster)

    def enter(self, item: BrokerRow) -> View:
        from nsadmin.tui.views.broker import Figures

        return Figures(item.name, item.id, item.addr, item.broker.cluster)

    def nothing(self, model: Model) -> str:
        """An empty list depends on the name servers, although `find_silence` of this view is None."""
        silence = model.silence()
        return self.empty if silence is None else f"unknown: {silence.why}"

    def told(self, items: Sequence[BrokerRow]) -> Line:
        return summary(items)

    def headline(self, model: Model) -> Line:
        found = self.items(model)
        if not found and model.silence() is not None:
            return [Cell(f"{units.NOTHING} brokers", "strong")]
        return summary(found)


def summary(found: Sequence[BrokerRow]) -> Line:
    """Summarize brokers in one line: the count of each state, and the total put and get rates."""
    shown = [Cell(f"{len(found)} brokers", "strong")]
    for state, number in sorted(Counter(row.state for row in found).items(), key=lambda each: each[0].order):
        shown += [Cell("  "), Cell(f"{state.sign} {number} {state.word}", state.tone)]
    answering = [row for row in found if row.broker.is_fresh and row.broker.gone is None]
    ins = _total(row.ins for row in answering if row.id == 0)
    outs = _total(row.outs for row in answering)
    shown += [Cell("  in "), Cell(f"{units.rate(ins)}/s", "accent")]
    shown += [Cell("  out "), Cell(f"{units.rate(outs)}/s", "accent")]
    return shown


def _total(rates: Iterable[float | None]) -> float | None:
    """The sum of the known rates, or None if no rate is known."""
    known = [rate for rate in rates if rate is not None]
    return sum(known) if known else None
