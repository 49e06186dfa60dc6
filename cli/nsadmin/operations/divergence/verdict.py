"""Groups equal differences into findings with age and cause, and decides the verdict. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from namesrv_core.protocol.codes import perm_text
from nsadmin.client.redaction import is_secret_name
from nsadmin.operations.divergence.causes import DivergenceCause
from nsadmin.operations.divergence.comparison import ComparedItem, ItemDifference, SnapshotComparison

HEARTBEAT_MS = 30_000
"""Interval between two registrations of a broker (registerNameServerPeriod)."""
DEFAULT_SETTLE_MS = 2 * HEARTBEAT_MS
"""Time after which registrations have made name servers equal, unless the difference is drift."""
COMMAND_SETTLE_MS = 2_000
"""Time that a command takes to write KV config or settings, which no broker registers, to all of them."""

FindingState = Literal["new", "drift"]
DivergenceVerdict = Literal["agree", "converging", "diverge", "partial", "unknown"]


class DriftFinding(NamedTuple):
    """Items of one section that differ in the same way for the same reason.

    `parent_name` is the broker or namespace that all of them belong to, or "". `age_ms` is the
    time since the oldest difference was first seen. `implied_topics` differ only because this broker does.
    """

    section_name: str
    parent_name: str
    differences: tuple[ItemDifference, ...]
    state: FindingState
    age_ms: int
    cause: DivergenceCause
    implied_topics: tuple[ItemDifference, ...] = ()

    @property
    def item_names(self) -> tuple[str, ...]:
        return tuple(format_item_name(difference.item) for difference in self.differences)


def format_item_name(item: ComparedItem) -> str:
    """Return the display name of an item: `broker-a:0`, a topic, `NAMESPACE KEY`, or a setting."""
    if item.section_name == "broker":
        return f"{item.name}:{item.parent_name}"
    return f"{item.parent_name} {item.name}" if item.section_name == "kv" else item.name


class DifferenceAges:
    """Remembers when each difference was first seen. Brokers may take `settle_ms` to make all equal."""

    def __init__(self, settle_ms: int = DEFAULT_SETTLE_MS) -> None:
        self._settle_ms = settle_ms
        self._first_seen_ms: dict[ComparedItem, int] = {}

    def observe_comparison(self, comparison: SnapshotComparison, now_ms: int) -> None:
        """Note the differences at `now_ms` (steady clock), and forget items that no longer differ."""
        self._first_seen_ms = {
            difference.item: self._first_seen_ms.get(difference.item, now_ms)
            for difference in comparison.differences
        }

    def age_of(self, item: ComparedItem, now_ms: int) -> int:
        return now_ms - self._first_seen_ms[item]

    def state_of(self, item: ComparedItem, now_ms: int) -> FindingState:
        """Return "drift" if the difference is older than name servers take to converge, else "new"."""
        return "drift" if self.time_left_ms(item, now_ms) <= 0 else "new"

    def time_left_ms(self, item: ComparedItem, now_ms: int) -> int:
        """Return the ms until the difference counts as drift; 0 or less if it is drift already."""
        patience_ms = (
            self._settle_ms
            if item.section_name in ("broker", "topic")
            else min(self._settle_ms, COMMAND_SETTLE_MS)
        )
        return patience_ms - self.age_of(item, now_ms)

    def list_undecided_ms(self, now_ms: int) -> list[int]:
        """Return the remaining time of each difference that is not drift yet."""
        return [left_ms for item in self._first_seen_ms if (left_ms := self.time_left_ms(item, now_ms)) > 0]


DifferenceBundle = tuple[ItemDifference, ...]


def bundle_differences(comparison: SnapshotComparison) -> list[DifferenceBundle]:
    """Bundle a broker's topics, and a namespace's keys, that differ in the same way; nothing else."""
    differences_by_shape: dict[tuple[object, ...], list[ItemDifference]] = {}
    for index, difference in enumerate(comparison.differences):
        section, _, parent = difference.item
        alone_index = index if section == "broker" else -1
        shape = (section, parent, alone_index, difference.missing_servers, repr(difference.differing_fields))
        differences_by_shape.setdefault(shape, []).append(difference)
    return [tuple(differences) for differences in differences_by_shape.values()]


def build_findings(
    difference_bundles: Iterable[DifferenceBundle],
    comparison: SnapshotComparison,
    difference_ages: DifferenceAges,
    now_ms: int,
    find_cause: Callable[[ItemDifference], DivergenceCause],
) -> list[DriftFinding]:
    """Explain each bundle by its first difference, and merge bundles that have the same cause."""
    findings: dict[tuple[object, ...], DriftFinding] = {}
    states: tuple[FindingState, ...] = ("drift", "new")
    for bundle in difference_bundles:
        cause, (section, _, parent) = find_cause(bundle[0]), bundle[0].item
        parent = parent if section in ("topic", "kv") else ""
        fields = repr(bundle[0].differing_fields)
        for state in states:
            part = tuple(d for d in bundle if difference_ages.state_of(d.item, now_ms) == state)
            if not part:
                continue
            key = (section, parent, state, bundle[0].missing_servers, fields, cause.text)
            age_ms = max(difference_ages.age_of(difference.item, now_ms) for difference in part)
            if known := findings.get(key):
                part, age_ms = known.differences + part, max(known.age_ms, age_ms)
            findings[key] = DriftFinding(section, parent, part, state, age_ms, cause)
    implied_by_broker = dict(comparison.implied_by_broker)
    return [_attach_implied(finding, implied_by_broker) for finding in findings.values()]


def _attach_implied(finding: DriftFinding, implied_by_broker: dict[str, DifferenceBundle]) -> DriftFinding:
    """Attach the implied topics of brokers to the first finding about these brokers."""
    if finding.section_name != "broker":
        return finding
    broker_names = dict.fromkeys(
        difference.item.name for difference in finding.differences if difference.missing_servers
    )
    implied_topics = tuple(
        topic_difference for name in broker_names for topic_difference in implied_by_broker.pop(name, ())
    )
    return finding._replace(implied_topics=implied_topics)


def decide_verdict(
    asked_count: int, answered_count: int, all_findings: Sequence[DriftFinding]
) -> DivergenceVerdict:
    """Return the verdict; "unknown" if fewer than two name servers answered."""
    if answered_count < 2:
        return "unknown"
    if any(finding.state == "drift" for finding in all_findings):
        return "diverge"
    if answered_count < asked_count:
        return "partial"
    return "converging" if all_findings else "agree"


def describe_difference(difference: ItemDifference, servers: Sequence[str]) -> str:
    """Describe a difference in one line, such as `perm: rw- on h:1, r-- on h:2` or `on h:1, not on h:2`."""
    difference_parts = []
    difference = _mask_secrets(difference)
    if difference.missing_servers:
        knowing_servers = [index for index in range(len(servers)) if index not in difference.missing_servers]
        difference_parts.append(
            f"on {_join_addrs(knowing_servers, servers)}, not on "
            f"{_join_addrs(difference.missing_servers, servers)}"
        )
    for field_name, server_values in difference.differing_fields:
        servers_by_value: dict[str, list[int]] = {}
        for server_index, value in enumerate(server_values):
            if server_index not in difference.missing_servers:
                servers_by_value.setdefault(_format_value(field_name, value), []).append(server_index)
        values_text = ", ".join(
            f"{text} on {_join_addrs(indexes, servers)}" for text, indexes in servers_by_value.items()
        )
        difference_parts.append(f"{field_name}: {values_text}" if field_name else values_text)
    return "; ".join(difference_parts)


def _join_addrs(server_indexes: Iterable[int], servers: Sequence[str]) -> str:
    return " ".join(servers[index] for index in server_indexes)


def _mask_secrets(difference: ItemDifference) -> ItemDifference:
    """Replace values that may be secrets by "secret 1", "secret 2", ..., so that equal values stay equal."""
    if difference.item.section_name not in ("kv", "setting") or not is_secret_name(difference.item.name):
        return difference
    known_secrets = list(dict.fromkeys(value for value in difference.server_values if isinstance(value, str)))
    hidden_values = tuple(
        f"secret {known_secrets.index(value) + 1}" if isinstance(value, str) else None
        for value in difference.server_values
    )
    return difference._replace(server_values=hidden_values)


def _format_value(field_name: str, value: object) -> str:
    if field_name == "perm" and isinstance(value, int):
        return perm_text(value)
    return "nothing" if value is None else str(value) or "''"


def map_by_server(difference: ItemDifference, servers: Sequence[str]) -> Mapping[str, Any]:
    """Return the value of the item on each name server."""
    return dict(zip(servers, _mask_secrets(difference).server_values, strict=True))
