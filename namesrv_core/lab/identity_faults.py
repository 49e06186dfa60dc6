"""Faults of identity: a broker that registers with the name of another one, or in another cluster."""

import asyncio
from collections.abc import Sequence

from namesrv_core.lab.broker_listeners import split_by_certainty
from namesrv_core.lab.expectations import expect_departure, expect_return
from namesrv_core.lab.fault_context import FaultContext, broker_addrs, member_names
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster
from namesrv_core.lab.observation_rules import AT_ONCE_SECONDS, NEXT_HEARTBEAT_SECONDS
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.truth_log import ExpectedEvent


async def start_impostors(fault_context: FaultContext, fault: Fault) -> None:
    """Start impostors. The registrations of broker and impostor replace each other with every heartbeat."""
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    impostors = [lab_cluster.add_broker(broker.broker_spec, name_suffix=" (impostor)") for broker in brokers]
    expected_events = []
    for broker, impostor in zip(brokers, impostors, strict=True):
        listener_names = tuple(n for n in lab_cluster.name_servers if lab_cluster.can_hear(n, broker))
        conflict_fields = {
            "brokerAddr": impostor.reserved_port.socket_addr,
            "holderAddr": broker.reserved_port.socket_addr,
        }
        broker_names = (broker.name,)
        expected_events += [
            ExpectedEvent(
                ("AddressConflict",),
                listener_names,
                AT_ONCE_SECONDS,
                conflict_fields,
                ("REGISTER_BROKER",),
                broker_names,
            ),
            *_expect_reclaim(lab_cluster, broker, listener_names, fault.lasts),
        ]
        repeated_types = ("AddressConflict", "BrokerRegistered")
        expected_events.append(
            ExpectedEvent(
                repeated_types,
                listener_names,
                fault.lasts + AT_ONCE_SECONDS,
                broker_id_texts=broker_names,
                is_sure=False,
            )
        )
    fault_context.record_deed(
        fault.kind, "begin", member_names(brokers), expected_events, addresses=broker_addrs(impostors)
    )
    await lab_cluster.start_brokers(impostors)
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(
        fault.kind,
        "end",
        member_names(brokers),
        _expect_impostor_end(lab_cluster, brokers, impostors),
        addresses=broker_addrs(impostors),
    )
    await asyncio.gather(*(lab_cluster.take_down_broker(impostor, is_abrupt=False) for impostor in impostors))
    for impostor in impostors:
        del lab_cluster.lab_brokers[impostor.name]


def _expect_reclaim(
    lab_cluster: LabCluster, broker: LabBroker, listener_names: Sequence[str], lasts_seconds: float
) -> list[ExpectedEvent]:
    """Expect that the broker reclaims its id with its next heartbeat if the impostor still runs then."""
    conflict_fields = {"brokerAddr": broker.reserved_port.socket_addr}
    return [
        ExpectedEvent(
            ("AddressConflict",),
            server_names,
            NEXT_HEARTBEAT_SECONDS,
            conflict_fields,
            broker_id_texts=(broker.name,),
            is_sure=is_sure,
        )
        for server_names, is_sure in split_by_certainty(
            listener_names,
            [
                name
                for name in listener_names
                if lasts_seconds + (lab_cluster.silent_seconds(name, broker) or 0) > NEXT_HEARTBEAT_SECONDS
            ],
        )
    ]


def _expect_impostor_end(
    lab_cluster: LabCluster, brokers: Sequence[LabBroker], impostors: Sequence[LabBroker]
) -> list[ExpectedEvent]:
    """Expect the impostor's end. If it held the id, the broker reclaims it with its next heartbeat."""
    expected_events = []
    for broker, impostor in zip(brokers, impostors, strict=True):
        listener_names = tuple(n for n in lab_cluster.name_servers if lab_cluster.can_hear(n, impostor))
        departure_fields = {"brokerAddr": impostor.reserved_port.socket_addr, "reason": "unregistered"}
        departure_types = ("BrokerUnregistered", "AddressForgotten")
        expected_events.append(
            ExpectedEvent(
                departure_types, listener_names, AT_ONCE_SECONDS, departure_fields, ("UNREGISTER_BROKER",)
            )
        )
        # The last registration decides whether the id is free until then.
        expected_events.append(
            ExpectedEvent(
                ("BrokerRegistered",),
                listener_names,
                NEXT_HEARTBEAT_SECONDS,
                broker_id_texts=(broker.name,),
                is_sure=False,
            )
        )
        min_id_fields = {"brokerName": broker.broker_spec.broker_name}
        expected_events.append(
            ExpectedEvent(
                ("MinBrokerIdChanged",), listener_names, NEXT_HEARTBEAT_SECONDS, min_id_fields, is_sure=False
            )
        )
    return expected_events


async def join_other_cluster(fault_context: FaultContext, fault: Fault) -> None:
    """Add a slave that registers in another cluster, so that the broker name is in two clusters."""
    lab_cluster = fault_context.lab_cluster
    new_slaves = []
    for broker in [b for b in fault_context.matching_brokers(fault) if b.broker_spec.is_master]:
        taken_ids = {
            member.broker_spec.broker_id
            for member in lab_cluster.lab_brokers.values()
            if member.broker_spec.broker_name == broker.broker_spec.broker_name
        }
        slave_spec = broker.broker_spec._replace(cluster_name=fault.cluster, broker_id=max(taken_ids) + 1)
        new_slaves.append(lab_cluster.add_broker(slave_spec))
    for new_slave in new_slaves:
        new_slave.run_state = "up"
    expected_events = [
        e._replace(field_values={"clusterName": fault.cluster}) if e.types == ("BrokerRegistered",) else e
        for e in expect_return(lab_cluster, new_slaves)
    ]
    fault_context.record_deed(
        fault.kind, "begin", member_names(new_slaves), expected_events, cluster=fault.cluster
    )
    await lab_cluster.start_brokers(new_slaves)
    if fault.lasts:
        await asyncio.sleep(fault.lasts)
        expected_events = expect_departure(lab_cluster, new_slaves, "unregistered", "UNREGISTER_BROKER")
        fault_context.record_deed(
            fault.kind, "end", member_names(new_slaves), expected_events, cluster=fault.cluster
        )
        await asyncio.gather(*(lab_cluster.take_down_broker(slave, is_abrupt=False) for slave in new_slaves))
