"""Records of an inventory, and how a read of the name servers changes it. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from namesrv_core.errors import RocketMQError
from namesrv_core.protocol.codes import MASTER_BROKER_ID, Perm
from namesrv_core.transport.multiplexed_client import CallError
from nsadmin.client.brokers.clusters import BrokerAddrGroup
from nsadmin.client.results import error_text

RETENTION_MS = 7 * 86_400_000
"""Time after which a broker that no name server lists is dropped from the inventory, unless it is pinned."""
MAX_UNLISTED = 1_000
"""The number of brokers that are kept although no name server lists them, besides those of an operator."""

TopicPlacements = Mapping[str, Mapping[str, int]]
"""Topic to broker name to the permission of its queues there."""


class ExpectedBroker(NamedTuple):
    """A broker process that should be registered. Times are in ms since 1970 (UTC).

    `cluster_name` and `broker_addr` are "" and the times None until a name server lists the broker.
    An operator sets `is_pinned` and `is_leaving`: a broker that is leaving is not missing once it is gone.
    Then it `has_left`. If it comes back, it is expected again. `former_addr` is its address before
    `broker_addr`; "" if it never changed.
    """

    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str
    first_seen_ms: int | None = None
    last_seen_ms: int | None = None
    is_pinned: bool = False
    is_leaving: bool = False
    has_left: bool = False
    former_addr: str = ""

    @property
    def label(self) -> str:
        """The name that commands show and accept, such as `broker-a:0`."""
        return f"{self.broker_name}:{self.broker_id}"

    def may_be_in(self, cluster_name: str | None) -> bool:
        """Whether the broker may be in this cluster. The cluster of an unseen broker is unknown."""
        return cluster_name is None or self.cluster_name in (cluster_name, "")

    def is_outdated(self, now_ms: int) -> bool:
        """Whether the broker was not seen for so long that it is no longer expected."""
        return not self.is_pinned and now_ms - (self.last_seen_ms or 0) > RETENTION_MS


class MissingBroker(NamedTuple):
    """An expected broker that no name server lists. `is_group_gone` if no process of its name is listed."""

    broker: ExpectedBroker
    is_group_gone: bool

    @property
    def is_name_unwritable(self) -> bool:
        """Whether clients find no master of this broker name."""
        return self.is_group_gone or self.broker.broker_id == MASTER_BROKER_ID


class _ListedBroker(NamedTuple):
    cluster_name: str
    broker_name: str
    broker_id: int
    broker_addr: str


class _BrokerMatch(NamedTuple):
    """An expected broker and the entry of a name server that matches it. One of the two can be None."""

    expected_broker: ExpectedBroker | None
    listed_broker: _ListedBroker | None


_MATCH_KEYS: tuple[Callable[[ExpectedBroker | _ListedBroker], object], ...] = (
    lambda broker: (broker.broker_id, broker.broker_addr),
    lambda broker: broker.broker_addr,
    lambda broker: broker.broker_id,
)


def _match_brokers(
    expected: Iterable[ExpectedBroker], groups: Iterable[BrokerAddrGroup]
) -> list[_BrokerMatch]:
    """Match expected brokers with listed ones of the same name.

    The address decides before the id: after a failover the new master has a new id. A broker that came back
    at another address has its old id.
    """
    listed_by_name = _group_listed(groups)
    waiting_brokers = list(expected)
    matches: list[_BrokerMatch] = []
    for match_key in _MATCH_KEYS:
        unmatched_brokers = []
        for expected_broker in waiting_brokers:
            candidates = listed_by_name.get(expected_broker.broker_name, [])
            wanted_key = match_key(expected_broker)
            listed_broker = next(
                (candidate for candidate in candidates if match_key(candidate) == wanted_key), None
            )
            if listed_broker is None:
                unmatched_brokers.append(expected_broker)
            else:
                candidates.remove(listed_broker)
                matches.append(_BrokerMatch(expected_broker, listed_broker))
        waiting_brokers = unmatched_brokers
    matches += [_BrokerMatch(broker, None) for broker in waiting_brokers]
    matches += [
        _BrokerMatch(None, listed_broker) for brokers in listed_by_name.values() for listed_broker in brokers
    ]
    return matches


def _group_listed(groups: Iterable[BrokerAddrGroup]) -> dict[str, list[_ListedBroker]]:
    """Group the listed processes by broker name.

    If name servers differ about an id or an address, the first entry counts, so that a broker that moved does
    not count twice.
    """
    listed_by_name: dict[str, list[_ListedBroker]] = {}
    used_keys: set[tuple[str, int | str]] = set()
    for broker_group in groups:
        broker_name = broker_group.broker_name
        for broker_id, broker_addr in broker_group.broker_addrs.items():
            broker_keys: set[tuple[str, int | str]] = {(broker_name, broker_id), (broker_name, broker_addr)}
            if used_keys.isdisjoint(broker_keys):
                listed_by_name.setdefault(broker_name, []).append(
                    _ListedBroker(broker_group.cluster_name, broker_name, broker_id, broker_addr)
                )
                used_keys |= broker_keys
    return listed_by_name


def merge_listing(
    expected_brokers: Sequence[ExpectedBroker], groups: Sequence[BrokerAddrGroup], now_ms: int
) -> tuple[ExpectedBroker, ...]:
    """Return the inventory after name servers listed these brokers, in the order of names and ids."""
    staying_names = {broker.broker_name for broker in expected_brokers if not broker.is_leaving}
    leaving_names = {broker.broker_name for broker in expected_brokers} - staying_names
    is_any_listed = any(group.broker_addrs for group in groups)
    merged_brokers = []
    unlisted: list[ExpectedBroker] = []
    for expected, listed in _match_brokers(expected_brokers, groups):
        if listed is None:
            # An empty list does not show that the broker left: the name servers may have just been started.
            if expected is not None and not expected.is_outdated(now_ms):
                has_left = expected.has_left or (expected.is_leaving and is_any_listed)
                unlisted.append(expected._replace(has_left=has_left))
        elif expected is None:
            merged_brokers.append(
                ExpectedBroker(*listed, now_ms, now_ms, is_leaving=listed.broker_name in leaving_names)
            )
        else:
            merged_brokers.append(
                expected._replace(
                    **listed._asdict(),
                    first_seen_ms=now_ms if expected.first_seen_ms is None else expected.first_seen_ms,
                    last_seen_ms=now_ms,
                    is_leaving=expected.is_leaving and not expected.has_left,
                    has_left=False,
                    former_addr=expected.former_addr
                    if expected.broker_addr in ("", listed.broker_addr)
                    else expected.broker_addr,
                )
            )
    merged_brokers += _limit_unlisted(unlisted)
    return tuple(sorted(merged_brokers, key=lambda broker: (broker[1], broker[2], broker[3])))


def move_last_seen(brokers: Iterable[ExpectedBroker], from_ms: int, to_ms: int) -> tuple[ExpectedBroker, ...]:
    """Return the brokers; those that were last seen at `from_ms` were also seen at `to_ms`."""
    return tuple(b._replace(last_seen_ms=to_ms) if b.last_seen_ms == from_ms else b for b in brokers)


def find_move_of_last_seen(
    known: Sequence[ExpectedBroker], changed: Sequence[ExpectedBroker]
) -> tuple[int, int] | None:
    """Return the two times with which `move_last_seen` makes the one of the other; None if more differs."""
    moves = {(a.last_seen_ms, b.last_seen_ms) for a, b in zip(known, changed, strict=False) if a != b}
    from_ms, to_ms = moves.pop() if len(moves) == 1 else (None, None)
    if from_ms is None or to_ms is None or move_last_seen(known, from_ms, to_ms) != tuple(changed):
        return None
    return from_ms, to_ms


def _limit_unlisted(unlisted: Sequence[ExpectedBroker]) -> list[ExpectedBroker]:
    """Drop the brokers that were seen for the shortest time: anybody can register thousands for a moment."""
    chosen_brokers = [broker for broker in unlisted if broker.is_pinned or broker.is_leaving]
    seen_brokers = [broker for broker in unlisted if not (broker.is_pinned or broker.is_leaving)]
    # A duration first; of equal ones, the broker that was seen first.
    seen_brokers.sort(
        key=lambda broker: (
            (broker.first_seen_ms or 0) - (broker.last_seen_ms or 0),
            broker.first_seen_ms or 0,
        )
    )
    return [*chosen_brokers, *seen_brokers[:MAX_UNLISTED]]


def set_leaving(
    expected: Sequence[ExpectedBroker], broker_name: str, broker_id: int | None, is_leaving: bool, now_ms: int
) -> list[ExpectedBroker]:
    """Mark the processes of a broker name, or the one with `broker_id`, as leaving or as staying."""

    def is_meant(broker: ExpectedBroker) -> bool:
        return broker.broker_name == broker_name and broker_id in (None, broker.broker_id)

    if is_leaving and not any(map(is_meant, expected)):
        unseen_broker = ExpectedBroker(
            "", broker_name, broker_id or MASTER_BROKER_ID, "", now_ms, now_ms, is_leaving=True
        )
        return [*expected, unseen_broker]
    return [
        broker._replace(is_leaving=is_leaving, has_left=False) if is_meant(broker) else broker
        for broker in expected
    ]


def find_missing(
    expected: Iterable[ExpectedBroker], groups: Sequence[BrokerAddrGroup], now_ms: int
) -> tuple[MissingBroker, ...]:
    """Return the expected brokers that no name server lists, in the order of names and ids."""
    listed_names = {group.broker_name for group in groups if group.broker_addrs}
    missing_brokers = [
        MissingBroker(expected, expected.broker_name not in listed_names)
        for expected, listed in _match_brokers(expected, groups)
        if expected is not None
        and listed is None
        and not expected.is_leaving
        and not expected.is_outdated(now_ms)
    ]
    return tuple(sorted(missing_brokers, key=lambda lost: (lost.broker[1], lost.broker[2])))


def explain_silence(error: RocketMQError, former_addr: str | None) -> str:
    """Return the error of a listed broker, with the likely cause if its address refused the connection.

    Name servers drop a broker at once when its process ends, so the process of a listed broker runs.
    """
    if not isinstance(error, CallError) or error.kind != "unconnected" or "refused" not in error.reason:
        return error_text(error)
    former_text = f"; it was at {former_addr} before" if former_addr else ""
    return (
        f"{error_text(error)}; the broker registers under an address where nobody listens: correct its "
        f"brokerIP1 or listenPort{former_text}"
    )


def merge_placements(
    known_placements: TopicPlacements,
    seen_placements: TopicPlacements,
    listed_names: Collection[str],
    expected_names: Collection[str],
    *,
    is_complete: bool,
) -> dict[str, Mapping[str, int]]:
    """Return the topics per broker after a read of routes.

    A broker that is listed has the topics that were seen. A broker that is not listed keeps those that are
    known of it. With `is_complete` all topics were read, so that other topics are on no listed broker.
    """
    merged_placements: dict[str, Mapping[str, int]] = {}
    for topic in known_placements.keys() | seen_placements.keys():
        if topic not in seen_placements and not is_complete:
            merged_placements[topic] = known_placements[topic]
            continue
        kept_perms = {
            name: perm
            for name, perm in known_placements.get(topic, {}).items()
            if name not in listed_names and name in expected_names
        }
        seen_perms = seen_placements.get(topic, {})
        # Most topics share one table, which need not be copied.
        perms_by_broker = {**kept_perms, **seen_perms} if kept_perms else seen_perms
        if perms_by_broker:
            merged_placements[topic] = perms_by_broker
    return merged_placements


def lost_brokers_of_topics(
    topic_placements: TopicPlacements, missing_brokers: Iterable[MissingBroker]
) -> dict[str, list[str]]:
    """Return the topics that clients could write to on missing brokers, with the names of these brokers."""
    missing_names = {lost.broker.broker_name for lost in missing_brokers if lost.is_group_gone}
    return {
        topic: lost_names
        for topic, perms_by_broker in topic_placements.items()
        if (
            lost_names := sorted(
                name for name, perm in perms_by_broker.items() if name in missing_names and perm & Perm.WRITE
            )
        )
    }
