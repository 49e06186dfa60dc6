"""The events expected from name servers that brokers cannot reach for a while.

Brokers send a heartbeat every thirty seconds, so a silence is longer than its fault: `least` and `most` are
its bounds.
"""

from collections.abc import Sequence
from typing import NamedTuple

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS
from namesrv_core.lab.broker_id_expectations import expect_acting_master, expect_new_minimum
from namesrv_core.lab.broker_listeners import format_broker_ids
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster
from namesrv_core.lab.observation_rules import (
    AT_ONCE_SECONDS,
    GAP_SECONDS,
    HEARTBEAT_TIMEOUT_SECONDS,
    REGISTRATION_CAUSES,
    SCAN_SECONDS,
    SILENCE_CAUSE,
)
from namesrv_core.lab.truth_log import ExpectedEvent, limit_certainty


def expect_silence(
    lab_cluster: LabCluster,
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
    """The outcome of a silence: None for no event, otherwise whether the event is certain."""

    gap_certainty: bool | None
    resumption_certainty: bool | None
    loss_certainty: bool | None


def _judge_silence(
    lab_cluster: LabCluster, server_name: str, broker: LabBroker, least_seconds: float, most_seconds: float
) -> _SilenceOutcome:
    silent_seconds = lab_cluster.silent_seconds(server_name, broker)
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
    lab_cluster: LabCluster,
    brokers: Sequence[LabBroker],
    server_names: tuple[str, ...],
    silence_outcome: _SilenceOutcome,
    most_seconds: float,
) -> list[ExpectedEvent]:
    broker_ids = format_broker_ids(brokers)
    expected_events = []
    if silence_outcome.gap_certainty is not None:
        expected_events.append(
            ExpectedEvent(
                ("HeartbeatGap",),
                server_names,
                GAP_SECONDS + SCAN_SECONDS,
                {"resumed": False},
                (SILENCE_CAUSE,),
                broker_ids,
                silence_outcome.gap_certainty,
            )
        )
    if silence_outcome.resumption_certainty is not None:
        expected_events.append(
            ExpectedEvent(
                ("HeartbeatGap",),
                server_names,
                most_seconds + AT_ONCE_SECONDS,
                {"resumed": True},
                REGISTRATION_CAUSES,
                broker_ids,
                silence_outcome.resumption_certainty,
            )
        )
    if silence_outcome.loss_certainty is not None:
        expected_events += _expect_broker_loss(
            lab_cluster, brokers, server_names, silence_outcome.loss_certainty, most_seconds
        )
    return expected_events


def _expect_broker_loss(
    lab_cluster: LabCluster,
    brokers: Sequence[LabBroker],
    server_names: tuple[str, ...],
    is_certain: bool,
    most_seconds: float,
) -> list[ExpectedEvent]:
    """Expect that name servers remove the brokers, and that the brokers register again after the silence."""
    broker_ids = format_broker_ids(brokers)
    expiry_seconds = HEARTBEAT_TIMEOUT_SECONDS + SCAN_SECONDS
    return_seconds = most_seconds + AT_ONCE_SECONDS
    return [
        ExpectedEvent(
            ("BrokerUnregistered",),
            server_names,
            expiry_seconds if is_certain else most_seconds,
            {"reason": ["expired", "channel closed"]},
            (SILENCE_CAUSE, "channel idle", "channel closed"),
            broker_ids,
            is_certain,
        ),
        ExpectedEvent(
            ("BrokerRegistered",),
            server_names,
            return_seconds,
            {},
            REGISTRATION_CAUSES,
            broker_ids,
            is_certain,
        ),
        *limit_certainty(
            expect_acting_master(lab_cluster, server_names, brokers, expiry_seconds), is_certain
        ),
        *limit_certainty(expect_new_minimum(lab_cluster, server_names, brokers, return_seconds), is_certain),
    ]
