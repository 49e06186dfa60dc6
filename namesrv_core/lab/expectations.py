"""The events that an ideal observer records when brokers leave, return or are silent."""

from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster
from namesrv_core.lab.truth_log import ExpectedEvent

AT_ONCE_SECONDS = 1.0
"""The deadline in seconds of an immediate event."""
NEXT_HEARTBEAT_SECONDS = HEARTBEAT_PERIOD_SECONDS + 6
"""The deadline in seconds of the next heartbeat, including the timeout of a dead name server."""

SCAN_SECONDS = 6.0
HEARTBEAT_TIMEOUT_SECONDS = 120.0
GAP_SECONDS = HEARTBEAT_TIMEOUT_SECONDS * 3 / 4

REGISTRATION_CAUSES = ("REGISTER_BROKER",)
SILENCE_CAUSE = "no heartbeat"


# The name servers that each broker reaches, by what they can know of the broker.


def group_by_listeners(
    cluster: LabCluster, brokers: Iterable[LabBroker]
) -> dict[tuple[str, ...], list[LabBroker]]:
    """Group brokers by the name servers that they reach now."""
    brokers_by_listeners: dict[tuple[str, ...], list[LabBroker]] = {}
    for broker in brokers:
        listener_names = cluster.listeners(broker)
        brokers_by_listeners.setdefault(listener_names, []).append(broker)
    return brokers_by_listeners


def list_deaf_servers(
    cluster: LabCluster, listener_names: Sequence[str], brokers: Iterable[LabBroker]
) -> tuple[str, ...]:
    """The other running name servers in the lists of brokers. What they record depends on their own fault."""
    listed_names = {server_name for broker in brokers for server_name in broker.listed_servers}
    return tuple(
        name
        for name, server in cluster.name_servers.items()
        if name not in listener_names and name in listed_names and server.run_state != "down"
    )


def split_by_certainty(
    server_names: Sequence[str], certain_names: Container[str]
) -> list[tuple[tuple[str, ...], bool]]:
    """Split name servers into those with a certain outcome and those without."""
    certainty_parts = [
        (tuple(n for n in server_names if (n in certain_names) is is_certain), is_certain)
        for is_certain in (True, False)
    ]
    return [(part_names, is_certain) for part_names, is_certain in certainty_parts if part_names]


def format_broker_ids(brokers: Iterable[LabBroker]) -> tuple[str, ...]:
    return tuple(f"{broker.spec.broker_name}:{broker.spec.broker_id}" for broker in brokers)


# Departures and returns.


def expect_departure(
    cluster: LabCluster, brokers: Sequence[LabBroker], loss_reason: str, cause: str
) -> list[ExpectedEvent]:
    """Expect that the name servers that the brokers reach record the departure at once."""
    expected = []
    for names, heard_brokers in group_by_listeners(cluster, brokers).items():
        ids, fields = format_broker_ids(heard_brokers), {"reason": loss_reason}
        if names:
            expected.append(
                ExpectedEvent(("BrokerUnregistered",), names, AT_ONCE_SECONDS, fields, (cause,), ids)
            )
            expected += expect_acting_master(cluster, names, heard_brokers, AT_ONCE_SECONDS)
        deaf_names = list_deaf_servers(cluster, names, heard_brokers)
        if deaf_names:
            expected += expect_silence(cluster, heard_brokers, deaf_names, 0, 10 * HEARTBEAT_TIMEOUT_SECONDS)
    return expected


def expect_return(
    cluster: LabCluster, brokers: Sequence[LabBroker], within_seconds: float = AT_ONCE_SECONDS
) -> list[ExpectedEvent]:
    """Expect registrations on all name servers that the brokers reach."""
    expected = []
    for names, heard_brokers in group_by_listeners(cluster, brokers).items():
        ids = format_broker_ids(heard_brokers)
        if names:
            expected.append(
                ExpectedEvent(("BrokerRegistered",), names, within_seconds, {}, REGISTRATION_CAUSES, ids)
            )
            is_sure = within_seconds == AT_ONCE_SECONDS
            expected += expect_new_minimum(cluster, names, heard_brokers, within_seconds, is_sure=is_sure)
        deaf_names = list_deaf_servers(cluster, names, heard_brokers)
        if deaf_names:
            latest = 10 * HEARTBEAT_TIMEOUT_SECONDS
            expected.append(
                ExpectedEvent(("BrokerRegistered",), deaf_names, latest, {}, REGISTRATION_CAUSES, ids, False)
            )
    return expected


# The smallest broker id of a group, when brokers join or leave.


def expect_acting_master(
    cluster: LabCluster, names: tuple[str, ...], brokers: Sequence[LabBroker], within: float
) -> list[ExpectedEvent]:
    """Expect that a slave acts for its missing master, with read-only topics, if that is enabled."""
    expected = []
    for broker in brokers:
        broker_name = broker.spec.broker_name
        if not broker.spec.acting_master:
            continue
        others = _find_other_members(cluster, broker, brokers, names)
        if others.are_known and not others.are_all_larger(broker):
            continue
        fields: dict[str, Any] = {"brokerName": broker_name}
        if others.are_known:
            fields["minBrokerId"] = min(others.broker_ids)
        expected.append(
            ExpectedEvent(("MinBrokerIdChanged",), names, within, fields, is_sure=others.are_known)
        )
        if others.are_known and broker.spec.is_master:
            fields = {"brokerName": broker_name, "reason": "unregistration", "changes.after.perm": 4}
            # Topics that were read-only before do not change.
            wiped_servers = {s for g, s in cluster.wiped_permissions if g == broker_name}
            expected += [
                ExpectedEvent(("TopicsChanged",), part, within, fields, is_sure=was_writable)
                for part, was_writable in split_by_certainty(names, set(names) - wiped_servers)
            ]
    return expected


def expect_new_minimum(
    cluster: LabCluster,
    names: tuple[str, ...],
    brokers: Sequence[LabBroker],
    within: float,
    is_sure: bool = True,
) -> list[ExpectedEvent]:
    """Expect a new smallest id of a group, if the group has other members."""
    expected = []
    for broker in brokers:
        others = _find_other_members(cluster, broker, brokers, names)
        if others.are_known and is_sure and not others.are_all_larger(broker):
            continue
        fields = {"brokerName": broker.spec.broker_name, "minBrokerId": broker.spec.broker_id}
        event = ExpectedEvent(("MinBrokerIdChanged",), names, within, fields, REGISTRATION_CAUSES)
        expected.append(event._replace(is_sure=is_sure and others.are_known))
    return expected


class _OtherMembers(NamedTuple):
    """The other ids of a group. They `are_known` unless another member joins, leaves or is silent as well."""

    broker_ids: tuple[int, ...]
    are_known: bool

    def are_all_larger(self, broker: LabBroker) -> bool:
        """Whether there are other ids, and all of them are larger."""
        return bool(self.broker_ids) and broker.spec.broker_id < min(self.broker_ids)


def _find_other_members(
    cluster: LabCluster, broker: LabBroker, changed_brokers: Sequence[LabBroker], server_names: Sequence[str]
) -> _OtherMembers:
    running_members = [
        m
        for m in cluster.lab_brokers.values()
        if m is not broker and m.spec.broker_name == broker.spec.broker_name and m.run_state != "down"
    ]
    moving_members = [
        m for m in changed_brokers if m is not broker and m.spec.broker_name == broker.spec.broker_name
    ]
    are_known = not moving_members and all(
        cluster.can_hear(name, member) for name in server_names for member in running_members
    )
    return _OtherMembers(
        tuple(member.spec.broker_id for member in running_members if member not in changed_brokers), are_known
    )


# Silence: brokers send a heartbeat every thirty seconds, so a silence is longer than its fault.


def expect_silence(
    cluster: LabCluster,
    brokers: Sequence[LabBroker],
    server_names: Sequence[str],
    least_seconds: float,
    most_seconds: float,
) -> list[ExpectedEvent]:
    """Expect a silence of brokers for this many seconds from now on, and then new registrations.

    The time since the last heartbeat on each name server decides which events are certain.
    """
    brokers_by_outcome: dict[tuple[_SilenceOutcome, str], list[LabBroker]] = {}
    for server_name in server_names:
        for broker in brokers:
            brokers_by_outcome.setdefault(
                (_judge_silence(cluster, server_name, broker, least_seconds, most_seconds), server_name), []
            ).append(broker)
    servers_by_outcome: dict[tuple[_SilenceOutcome, tuple[str, ...]], list[str]] = {}
    for (silence_outcome, server_name), alike_brokers in brokers_by_outcome.items():
        servers_by_outcome.setdefault(
            (silence_outcome, tuple(broker.name for broker in alike_brokers)), []
        ).append(server_name)
    broker_by_name = {broker.name: broker for broker in brokers}
    return [
        event
        for (silence_outcome, broker_names), affected_servers in servers_by_outcome.items()
        for event in _expect_silence_outcome(
            cluster,
            [broker_by_name[broker_name] for broker_name in broker_names],
            tuple(affected_servers),
            silence_outcome,
            most_seconds,
        )
    ]


class _SilenceOutcome(NamedTuple):
    """The outcome of a silence: None for no event, otherwise whether the event is certain."""

    gap_certainty: bool | None
    resumption_certainty: bool | None
    loss_certainty: bool | None


def _judge_silence(
    cluster: LabCluster, server_name: str, broker: LabBroker, least_seconds: float, most_seconds: float
) -> _SilenceOutcome:
    silent_seconds = cluster.silent_seconds(server_name, broker)
    is_known = silent_seconds is not None and least_seconds > 0
    # A broker that another fault silences counts as silent for long enough.
    shortest_seconds, longest_seconds = (
        (silent_seconds or 0) + least_seconds,
        (HEARTBEAT_PERIOD_SECONDS + 6 if silent_seconds is None else silent_seconds) + most_seconds,
    )
    return _SilenceOutcome(
        is_known and shortest_seconds > GAP_SECONDS + SCAN_SECONDS if longest_seconds > GAP_SECONDS else None,
        is_known and shortest_seconds > GAP_SECONDS and longest_seconds <= HEARTBEAT_TIMEOUT_SECONDS
        if longest_seconds > GAP_SECONDS and shortest_seconds <= HEARTBEAT_TIMEOUT_SECONDS + SCAN_SECONDS
        else None,
        is_known and shortest_seconds > HEARTBEAT_TIMEOUT_SECONDS + SCAN_SECONDS
        if longest_seconds > HEARTBEAT_TIMEOUT_SECONDS
        else None,
    )


def _expect_silence_outcome(
    cluster: LabCluster,
    brokers: Sequence[LabBroker],
    names: tuple[str, ...],
    outcome: _SilenceOutcome,
    most_seconds: float,
) -> list[ExpectedEvent]:
    ids = format_broker_ids(brokers)
    expected = []
    if outcome.gap_certainty is not None:
        within, fields = GAP_SECONDS + SCAN_SECONDS, {"resumed": False}
        gap = ExpectedEvent(("HeartbeatGap",), names, within, fields, (SILENCE_CAUSE,), ids)
        expected.append(gap._replace(is_sure=outcome.gap_certainty))
    if outcome.resumption_certainty is not None:
        within, fields = most_seconds + AT_ONCE_SECONDS, {"resumed": True}
        resumption = ExpectedEvent(("HeartbeatGap",), names, within, fields, REGISTRATION_CAUSES, ids)
        expected.append(resumption._replace(is_sure=outcome.resumption_certainty))
    if outcome.loss_certainty is not None:
        expected += _expect_broker_loss(cluster, brokers, names, outcome.loss_certainty, most_seconds)
    return expected


def _expect_broker_loss(
    cluster: LabCluster,
    brokers: Sequence[LabBroker],
    names: tuple[str, ...],
    is_certain: bool,
    most_seconds: float,
) -> list[ExpectedEvent]:
    """Expect that name servers remove the brokers, and that the brokers register again after the silence."""
    ids = format_broker_ids(brokers)
    expiry_seconds = HEARTBEAT_TIMEOUT_SECONDS + SCAN_SECONDS
    return_seconds = most_seconds + AT_ONCE_SECONDS
    loss_seconds = expiry_seconds if is_certain else most_seconds
    fields = {"reason": ["expired", "channel closed"]}
    causes = (SILENCE_CAUSE, "channel idle", "channel closed")
    events = [
        ExpectedEvent(("BrokerUnregistered",), names, loss_seconds, fields, causes, ids),
        ExpectedEvent(("BrokerRegistered",), names, return_seconds, {}, REGISTRATION_CAUSES, ids),
        *expect_acting_master(cluster, names, brokers, expiry_seconds),
        *expect_new_minimum(cluster, names, brokers, return_seconds),
    ]
    return [event._replace(is_sure=event.is_sure and is_certain) for event in events]
