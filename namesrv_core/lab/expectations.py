"""The events that an ideal observer records when brokers leave or return, with causes and deadlines."""

from collections.abc import Sequence

from namesrv_core.lab.broker_id_expectations import expect_acting_master, expect_new_minimum
from namesrv_core.lab.broker_listeners import format_broker_ids, group_by_listeners, list_deaf_servers
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster
from namesrv_core.lab.observation_rules import AT_ONCE_SECONDS, HEARTBEAT_TIMEOUT_SECONDS, REGISTRATION_CAUSES
from namesrv_core.lab.silence_expectations import expect_silence
from namesrv_core.lab.truth_log import ExpectedEvent


def expect_departure(
    lab_cluster: LabCluster, brokers: Sequence[LabBroker], loss_reason: str, cause: str
) -> list[ExpectedEvent]:
    """Expect that the name servers that the brokers reach record the departure at once."""
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
                    format_broker_ids(heard_brokers),
                )
            )
            expected_events += expect_acting_master(
                lab_cluster, listener_names, heard_brokers, AT_ONCE_SECONDS
            )
        deaf_names = list_deaf_servers(lab_cluster, listener_names, heard_brokers)
        if deaf_names:
            expected_events += expect_silence(
                lab_cluster, heard_brokers, deaf_names, 0, 10 * HEARTBEAT_TIMEOUT_SECONDS
            )
    return expected_events


def expect_return(
    lab_cluster: LabCluster, brokers: Sequence[LabBroker], within_seconds: float = AT_ONCE_SECONDS
) -> list[ExpectedEvent]:
    """Expect registrations on all name servers that the brokers reach."""
    expected_events = []
    for listener_names, heard_brokers in group_by_listeners(lab_cluster, brokers).items():
        if listener_names:
            expected_events.append(
                ExpectedEvent(
                    ("BrokerRegistered",),
                    listener_names,
                    within_seconds,
                    {},
                    REGISTRATION_CAUSES,
                    format_broker_ids(heard_brokers),
                )
            )
            expected_events += expect_new_minimum(
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
                10 * HEARTBEAT_TIMEOUT_SECONDS,
                {},
                REGISTRATION_CAUSES,
                format_broker_ids(heard_brokers),
            )
            expected_events.append(late_return._replace(is_sure=False))
    return expected_events
