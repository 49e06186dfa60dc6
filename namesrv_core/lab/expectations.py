"""What an ideal observer concludes of what is done: events on name servers, with causes and deadlines.

Heartbeats come every thirty seconds, so a silence is longer than its fault: `least` and `most` are bounds.
"""

from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster
from namesrv_core.lab.truth_log import ExpectedEvent, limit_certainty

AT_ONCE_SECONDS = 1.0
"""Seconds within which something is seen that is seen at once."""
NEXT_HEARTBEAT_SECONDS = HEARTBEAT_PERIOD_SECONDS + 6
"""Until the next heartbeat, also where one name server has to be waited for."""

_SCAN_SECONDS = 6.0
_HEARTBEAT_TIMEOUT_SECONDS = 120.0
_GAP_SECONDS = _HEARTBEAT_TIMEOUT_SECONDS * 3 / 4
_REGISTRATION_CAUSES, _SILENCE_CAUSE = ("REGISTER_BROKER",), "no heartbeat"


def group_by_listeners(
    lab_cluster: LabCluster, brokers: Iterable[LabBroker]
) -> dict[tuple[str, ...], list[LabBroker]]:
    """Brokers by the name servers that hear them now."""
    brokers_by_listeners: dict[tuple[str, ...], list[LabBroker]] = {}
    for broker in brokers:
        listener_names = tuple(
            server_name
            for server_name in lab_cluster.name_servers
            if lab_cluster.can_hear(server_name, broker)
        )
        brokers_by_listeners.setdefault(listener_names, []).append(broker)
    return brokers_by_listeners


def list_deaf_servers(
    lab_cluster: LabCluster, listener_names: Sequence[str], brokers: Iterable[LabBroker]
) -> tuple[str, ...]:
    """The others that run, and that brokers have in their lists: what they make of it depends on what is the
    matter with them.
    """
    listed_names = {server_name for broker in brokers for server_name in broker.listed_servers}
    return tuple(
        server_name
        for server_name, name_server in lab_cluster.name_servers.items()
        if server_name not in listener_names
        and server_name in listed_names
        and name_server.run_state != "down"
    )


def split_by_certainty(
    server_names: Sequence[str], certain_names: Container[str]
) -> list[tuple[tuple[str, ...], bool]]:
    """Name servers of which something is certain, and those of which it is not, if there are any."""
    certainty_parts = [
        (
            tuple(
                server_name for server_name in server_names if (server_name in certain_names) is is_certain
            ),
            is_certain,
        )
        for is_certain in (True, False)
    ]
    return [(part_names, is_certain) for part_names, is_certain in certainty_parts if part_names]


def _broker_ids(brokers: Iterable[LabBroker]) -> tuple[str, ...]:
    return tuple(f"{broker.broker_spec.broker_name}:{broker.broker_spec.broker_id}" for broker in brokers)


def expect_departure(
    lab_cluster: LabCluster, brokers: Sequence[LabBroker], loss_reason: str, cause: str
) -> list[ExpectedEvent]:
    """Brokers leave: whoever hears them sees it at once."""
    expected_events = []
    for listener_names, heard_brokers in group_by_listeners(lab_cluster, brokers).items():
        field_values = {"reason": loss_reason}
        if listener_names:
            expected_events.append(
                ExpectedEvent(
                    ("BrokerUnregistered",),
                    listener_names,
                    AT_ONCE_SECONDS,
                    field_values,
                    (cause,),
                    _broker_ids(heard_brokers),
                )
            )
            expected_events += _expect_acting_master(
                lab_cluster, listener_names, heard_brokers, AT_ONCE_SECONDS
            )
        deaf_names = list_deaf_servers(lab_cluster, listener_names, heard_brokers)
        if deaf_names:
            expected_events += expect_silence(
                lab_cluster, heard_brokers, deaf_names, 0, 10 * _HEARTBEAT_TIMEOUT_SECONDS
            )
    return expected_events


def expect_return(
    lab_cluster: LabCluster, brokers: Sequence[LabBroker], within_seconds: float = AT_ONCE_SECONDS
) -> list[ExpectedEvent]:
    """Brokers that register: with everybody who hears them."""
    expected_events = []
    for listener_names, heard_brokers in group_by_listeners(lab_cluster, brokers).items():
        if listener_names:
            expected_events.append(
                ExpectedEvent(
                    ("BrokerRegistered",),
                    listener_names,
                    within_seconds,
                    {},
                    _REGISTRATION_CAUSES,
                    _broker_ids(heard_brokers),
                )
            )
            expected_events += _expect_new_minimum(
                lab_cluster,
                listener_names,
                heard_brokers,
                within_seconds,
                is_sure=within_seconds == AT_ONCE_SECONDS,
            )
        deaf_names = list_deaf_servers(lab_cluster, listener_names, heard_brokers)
        if deaf_names:
            late_return = ExpectedEvent(
                ("BrokerRegistered",),
                deaf_names,
                10 * _HEARTBEAT_TIMEOUT_SECONDS,
                {},
                _REGISTRATION_CAUSES,
                _broker_ids(heard_brokers),
            )
            expected_events.append(late_return._replace(sure=False))
    return expected_events


def expect_silence(
    lab_cluster: LabCluster,
    brokers: Sequence[LabBroker],
    server_names: Sequence[str],
    least_seconds: float,
    most_seconds: float,
) -> list[ExpectedEvent]:
    """Nothing is heard of brokers for so many seconds from now on, then they register again.

    Each name server has not heard of each of them for some seconds already: that decides what is sure.
    """
    brokers_by_outcome: dict[tuple[_SilenceOutcome, str], list[LabBroker]] = {}
    for server_name in server_names:
        for broker in brokers:
            brokers_by_outcome.setdefault(
                (_judge_silence(lab_cluster, server_name, broker, least_seconds, most_seconds), server_name),
                [],
            ).append(broker)
    servers_by_outcome: dict[tuple[_SilenceOutcome, tuple[str, ...]], list[str]] = {}
    for (silence_outcome, server_name), alike_brokers in brokers_by_outcome.items():
        servers_by_outcome.setdefault(
            (silence_outcome, tuple(broker.name for broker in alike_brokers)), []
        ).append(server_name)
    broker_by_name = {broker.name: broker for broker in brokers}
    return [
        expected_event
        for (silence_outcome, broker_names), affected_servers in servers_by_outcome.items()
        for expected_event in _expect_silence_outcome(
            lab_cluster,
            [broker_by_name[broker_name] for broker_name in broker_names],
            tuple(affected_servers),
            silence_outcome,
            most_seconds,
        )
    ]


class _SilenceOutcome(NamedTuple):
    """What comes of it: None: nothing; else whether it is sure."""

    gap_certainty: bool | None
    resumption_certainty: bool | None
    loss_certainty: bool | None


def _judge_silence(
    lab_cluster: LabCluster, server_name: str, broker: LabBroker, least_seconds: float, most_seconds: float
) -> _SilenceOutcome:
    silent_seconds = lab_cluster.silent_seconds(server_name, broker)
    is_known = silent_seconds is not None and least_seconds > 0
    # Who is not heard for another reason has been silent for as long as it takes.
    shortest_seconds, longest_seconds = (
        (silent_seconds or 0) + least_seconds,
        (HEARTBEAT_PERIOD_SECONDS + 6 if silent_seconds is None else silent_seconds) + most_seconds,
    )
    return _SilenceOutcome(
        is_known and shortest_seconds > _GAP_SECONDS + _SCAN_SECONDS
        if longest_seconds > _GAP_SECONDS
        else None,
        is_known and shortest_seconds > _GAP_SECONDS and longest_seconds <= _HEARTBEAT_TIMEOUT_SECONDS
        if longest_seconds > _GAP_SECONDS and shortest_seconds <= _HEARTBEAT_TIMEOUT_SECONDS + _SCAN_SECONDS
        else None,
        is_known and shortest_seconds > _HEARTBEAT_TIMEOUT_SECONDS + _SCAN_SECONDS
        if longest_seconds > _HEARTBEAT_TIMEOUT_SECONDS
        else None,
    )


def _expect_silence_outcome(
    lab_cluster: LabCluster,
    brokers: Sequence[LabBroker],
    server_names: tuple[str, ...],
    silence_outcome: _SilenceOutcome,
    most_seconds: float,
) -> list[ExpectedEvent]:
    broker_ids = _broker_ids(brokers)
    expected_events = []
    if silence_outcome.gap_certainty is not None:
        field_values = {"resumed": False}
        expected_events.append(
            ExpectedEvent(
                ("HeartbeatGap",),
                server_names,
                _GAP_SECONDS + _SCAN_SECONDS,
                field_values,
                (_SILENCE_CAUSE,),
                broker_ids,
                silence_outcome.gap_certainty,
            )
        )
    if silence_outcome.resumption_certainty is not None:
        field_values = {"resumed": True}
        expected_events.append(
            ExpectedEvent(
                ("HeartbeatGap",),
                server_names,
                most_seconds + AT_ONCE_SECONDS,
                field_values,
                _REGISTRATION_CAUSES,
                broker_ids,
                silence_outcome.resumption_certainty,
            )
        )
    if silence_outcome.loss_certainty is not None:
        loss_reasons = {"reason": ["expired", "channel closed"]}
        loss_causes = (_SILENCE_CAUSE, "channel idle", "channel closed")
        within_seconds = (
            _HEARTBEAT_TIMEOUT_SECONDS + _SCAN_SECONDS if silence_outcome.loss_certainty else most_seconds
        )
        expected_events.append(
            ExpectedEvent(
                ("BrokerUnregistered",),
                server_names,
                within_seconds,
                loss_reasons,
                loss_causes,
                broker_ids,
                silence_outcome.loss_certainty,
            )
        )
        expected_events.append(
            ExpectedEvent(
                ("BrokerRegistered",),
                server_names,
                most_seconds + AT_ONCE_SECONDS,
                {},
                _REGISTRATION_CAUSES,
                broker_ids,
                silence_outcome.loss_certainty,
            )
        )
        expected_events += limit_certainty(
            _expect_acting_master(
                lab_cluster, server_names, brokers, _HEARTBEAT_TIMEOUT_SECONDS + _SCAN_SECONDS
            ),
            silence_outcome.loss_certainty,
        )
        expected_events += limit_certainty(
            _expect_new_minimum(lab_cluster, server_names, brokers, most_seconds + AT_ONCE_SECONDS),
            silence_outcome.loss_certainty,
        )
    return expected_events


def _expect_acting_master(
    lab_cluster: LabCluster,
    server_names: tuple[str, ...],
    brokers: Sequence[LabBroker],
    within_seconds: float,
) -> list[ExpectedEvent]:
    """Where a slave may act for its master, it does, and the topics can only be read."""
    expected_events = []
    for broker in brokers:
        broker_name = broker.broker_spec.broker_name
        if not broker.broker_spec.acting_master:
            continue
        other_members = _find_other_members(lab_cluster, broker, brokers, server_names)
        if other_members.are_known and not other_members.are_all_larger(broker):
            continue
        has_acting_master = other_members.are_known and broker.broker_spec.is_master
        min_id_fields = {
            "brokerName": broker_name,
            **({"minBrokerId": min(other_members.broker_ids)} if other_members.are_known else {}),
        }
        expected_events.append(
            ExpectedEvent(
                ("MinBrokerIdChanged",),
                server_names,
                within_seconds,
                min_id_fields,
                sure=other_members.are_known,
            )
        )
        if has_acting_master:
            closed_fields = {"brokerName": broker_name, "reason": "unregistration", "changes.after.perm": 4}
            # What could be read only before is no change.
            wiped_servers = {
                wiped_server
                for wiped_group, wiped_server in lab_cluster.wiped_permissions
                if wiped_group == broker_name
            }
            for affected_servers, was_writable in split_by_certainty(
                server_names, set(server_names) - wiped_servers
            ):
                expected_events.append(
                    ExpectedEvent(
                        ("TopicsChanged",), affected_servers, within_seconds, closed_fields, sure=was_writable
                    )
                )
    return expected_events


def _expect_new_minimum(
    lab_cluster: LabCluster,
    server_names: tuple[str, ...],
    brokers: Sequence[LabBroker],
    within_seconds: float,
    is_sure: bool = True,
) -> list[ExpectedEvent]:
    """The smallest id of a group is another one, if there was anybody else."""
    expected_events = []
    for broker in brokers:
        other_members = _find_other_members(lab_cluster, broker, brokers, server_names)
        if other_members.are_known and is_sure and not other_members.are_all_larger(broker):
            continue
        min_id_fields = {
            "brokerName": broker.broker_spec.broker_name,
            "minBrokerId": broker.broker_spec.broker_id,
        }
        expected_events.append(
            ExpectedEvent(
                ("MinBrokerIdChanged",),
                server_names,
                within_seconds,
                min_id_fields,
                _REGISTRATION_CAUSES,
                sure=is_sure and other_members.are_known,
            )
        )
    return expected_events


class _OtherMembers(NamedTuple):
    """The other ids of a group; they `are_known` unless somebody of it comes, goes or is silent as well."""

    broker_ids: tuple[int, ...]
    are_known: bool

    def are_all_larger(self, broker: LabBroker) -> bool:
        """Whether there are some, all of them larger."""
        return bool(self.broker_ids) and broker.broker_spec.broker_id < min(self.broker_ids)


def _find_other_members(
    lab_cluster: LabCluster,
    broker: LabBroker,
    changed_brokers: Sequence[LabBroker],
    server_names: Sequence[str],
) -> _OtherMembers:
    running_members = [
        member
        for member in lab_cluster.lab_brokers.values()
        if member is not broker
        and member.broker_spec.broker_name == broker.broker_spec.broker_name
        and member.run_state != "down"
    ]
    moving_members = [
        member
        for member in changed_brokers
        if member is not broker and member.broker_spec.broker_name == broker.broker_spec.broker_name
    ]
    are_known = not moving_members and all(
        lab_cluster.can_hear(server_name, member)
        for server_name in server_names
        for member in running_members
    )
    return _OtherMembers(
        tuple(member.broker_spec.broker_id for member in running_members if member not in changed_brokers),
        are_known,
    )
