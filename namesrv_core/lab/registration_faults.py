"""Faults of registrations: topics that are created, changed, deleted or registered again."""

import asyncio
from collections.abc import Sequence

from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.lab.broker_listeners import group_by_listeners
from namesrv_core.lab.fault_context import FaultContext, member_names
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster
from namesrv_core.lab.observation_rules import AT_ONCE_SECONDS
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.truth_log import ExpectedEvent
from namesrv_core.protocol.codes import RequestCode

_TOPICS_PER_PART = 20
"""The number of topics in each part of a split registration."""


async def create_topic(fault_context: FaultContext, fault: Fault) -> None:
    masters = [master for master in fault_context.matching_brokers(fault) if master.broker_spec.is_master]
    topic_names = [f"{fault.topic}-{n}" for n in range(fault.number)] if fault.number > 1 else [fault.topic]
    expected_events = []
    for master in masters:
        listener_names = tuple(
            n for n in fault_context.lab_cluster.name_servers if fault_context.lab_cluster.can_hear(n, master)
        )
        registration_fields = {"brokerName": master.broker_spec.broker_name, "reason": "registration"}
        for member_name in (topic_names[0], topic_names[-1]):
            topic_fields = {**registration_fields, "changes.topics": member_name}
            expected_events.append(
                ExpectedEvent(
                    ("TopicsChanged",), listener_names, AT_ONCE_SECONDS, topic_fields, ("REGISTER_BROKER",)
                )
            )
        expected_events += _expect_restored_permission(fault_context.lab_cluster, master, fault)
    fault_context.record_deed(
        fault.kind, "begin", member_names(masters), expected_events, topic=fault.topic, count=fault.number
    )
    for master in masters:
        now_ms = int((fault_context.lab_cluster.clock_seconds() + master.clock_skew_seconds) * 1000)
        for member_name in topic_names:
            master.simulated_broker.model.topic_table.put_config(
                make_topic_config(member_name, fault.queues), now_ms
            )
    await asyncio.gather(*(_register_topics(master, fault, topic_names) for master in masters))


def _expect_restored_permission(
    lab_cluster: LabCluster, master: LabBroker, fault: Fault
) -> list[ExpectedEvent]:
    """Expect that a registration with a new data version restores a permission that was wiped."""
    broker_name = master.broker_spec.broker_name
    if fault.registration == "incremental":
        return []
    expected_events = []
    for server_name in lab_cluster.name_servers:
        if (
            lab_cluster.can_hear(server_name, master)
            and (broker_name, server_name) in lab_cluster.wiped_permissions
        ):
            lab_cluster.wiped_permissions.discard((broker_name, server_name))
            registration_fields = {"brokerName": broker_name, "reason": "registration"}
            permission_fields = {"changes.before.perm": 4, "changes.after.perm": 6}
            restoration = ExpectedEvent(
                ("TopicsChanged",),
                (server_name,),
                AT_ONCE_SECONDS,
                registration_fields | permission_fields,
                ("REGISTER_BROKER",),
            )
            expected_events.append(restoration)
    return expected_events


async def _register_topics(broker: LabBroker, fault: Fault, new_topics: Sequence[str]) -> None:
    """Register the new topics, or all topics at once, or all in parts with a new data version each."""
    topic_table = broker.simulated_broker.model.topic_table
    if fault.registration == "incremental":
        await broker.simulated_broker.register_topics(new_topics)
    elif fault.registration == "all":
        await broker.simulated_broker.register_topics()
    else:
        all_topics = list(topic_table.configs)
        for start in range(0, len(all_topics), _TOPICS_PER_PART):
            await broker.simulated_broker.register_topics(all_topics[start : start + _TOPICS_PER_PART])
            topic_table.advance_version(topic_table.data_version.timestamp)


async def register_brokers(fault_context: FaultContext, fault: Fault) -> None:
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    expected_events = []
    for listener_names, heard_brokers in group_by_listeners(lab_cluster, brokers).items():
        broker_names = tuple(broker.name for broker in heard_brokers)
        expected_events.append(
            ExpectedEvent(
                ("BrokerChanged",),
                listener_names,
                AT_ONCE_SECONDS,
                causes=("REGISTER_BROKER",),
                broker_id_texts=broker_names,
            )
        )
    for broker in brokers:
        expected_events += (
            _expect_restored_permission(lab_cluster, broker, fault) if broker.broker_spec.is_master else []
        )
    fault_context.record_deed(
        fault.kind, "begin", member_names(brokers), expected_events, registration=fault.registration
    )
    for broker in brokers:
        broker.simulated_broker.model.topic_table.advance_version(
            int((lab_cluster.clock_seconds() + broker.clock_skew_seconds) * 1000)
        )
    first_topics = (list(broker.simulated_broker.model.topic_table.configs)[:1] for broker in brokers)
    await asyncio.gather(
        *(_register_topics(broker, fault, names) for broker, names in zip(brokers, first_topics, strict=True))
    )


async def delete_topic(fault_context: FaultContext, fault: Fault) -> None:
    masters = [master for master in fault_context.matching_brokers(fault) if master.broker_spec.is_master]
    name_servers = fault_context.matching_servers(fault)
    had_topic = any(
        fault.topic in m.simulated_broker.model.topic_table.configs for m in masters if m.run_state == "up"
    )
    for master in masters:
        master.simulated_broker.model.topic_table.delete_topic(
            fault.topic, int((fault_context.lab_cluster.clock_seconds() + master.clock_skew_seconds) * 1000)
        )
    request_code = RequestCode.DELETE_TOPIC_IN_NAMESRV
    topic_fields = {"topic": fault.topic}
    expected_events = [
        ExpectedEvent(
            ("TopicDeleted",),
            tuple(member_names(name_servers)),
            AT_ONCE_SECONDS,
            topic_fields,
            (request_code.name,),
            is_sure=had_topic,
        )
    ]
    fault_context.record_deed(fault.kind, "begin", member_names(masters), expected_events, topic=fault.topic)
    for name_server in name_servers:
        await fault_context.lab_cluster.send_request(name_server.name, request_code, {"topic": fault.topic})
