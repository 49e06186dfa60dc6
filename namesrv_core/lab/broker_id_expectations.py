"""The expected changes of a group's smallest broker id when brokers join or leave."""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.lab.broker_listeners import split_by_certainty
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster
from namesrv_core.lab.observation_rules import REGISTRATION_CAUSES
from namesrv_core.lab.truth_log import ExpectedEvent


def expect_acting_master(
    lab_cluster: LabCluster,
    server_names: tuple[str, ...],
    brokers: Sequence[LabBroker],
    within_seconds: float,
) -> list[ExpectedEvent]:
    """Expect that a slave acts for its missing master, with read-only topics, if that is enabled."""
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
                is_sure=other_members.are_known,
            )
        )
        if has_acting_master:
            closed_fields = {"brokerName": broker_name, "reason": "unregistration", "changes.after.perm": 4}
            # Topics that were read-only before do not change.
            wiped_servers = {s for g, s in lab_cluster.wiped_permissions if g == broker_name}
            for affected_servers, was_writable in split_by_certainty(
                server_names, set(server_names) - wiped_servers
            ):
                expected_events.append(
                    ExpectedEvent(
                        ("TopicsChanged",),
                        affected_servers,
                        within_seconds,
                        closed_fields,
                        is_sure=was_writable,
                    )
                )
    return expected_events


def expect_new_minimum(
    lab_cluster: LabCluster,
    server_names: tuple[str, ...],
    brokers: Sequence[LabBroker],
    within_seconds: float,
    is_sure: bool = True,
) -> list[ExpectedEvent]:
    """Expect a new smallest id of a group, if the group has other members."""
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
                REGISTRATION_CAUSES,
                is_sure=is_sure and other_members.are_known,
            )
        )
    return expected_events


class _OtherMembers(NamedTuple):
    """The other ids of a group. They `are_known` unless another member joins, leaves or is silent as well."""

    broker_ids: tuple[int, ...]
    are_known: bool

    def are_all_larger(self, broker: LabBroker) -> bool:
        """Whether there are other ids, and all of them are larger."""
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
        lab_cluster.can_hear(name, member) for name in server_names for member in running_members
    )
    return _OtherMembers(
        tuple(member.broker_spec.broker_id for member in running_members if member not in changed_brokers),
        are_known,
    )
