"""The faults of a lab: for each kind a coroutine that applies it to a cluster and records the truth."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.lab.expectations import (
    AT_ONCE_SECONDS,
    NEXT_HEARTBEAT_SECONDS,
    REGISTRATION_CAUSES,
    expect_departure,
    expect_return,
    expect_silence,
    group_by_listeners,
    list_deaf_servers,
    split_by_certainty,
)
from namesrv_core.lab.fault_context import FaultContext, broker_addrs, member_names
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster, LabNameServer
from namesrv_core.lab.scenario import Fault, match_names
from namesrv_core.lab.truth_log import ExpectedEvent
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.transport.request_channel import RequestChannel

# Brokers: stops, kills, freezes and clock changes.


async def _take_down_brokers(context: FaultContext, fault: Fault, *, is_abrupt: bool) -> None:
    cluster, brokers = context.cluster, context.matching_brokers(fault)
    ways = ("channel closed", "channel closed") if is_abrupt else ("unregistered", "UNREGISTER_BROKER")
    expected = expect_departure(cluster, brokers, *ways)
    context.record_deed(fault.kind, "begin", member_names(brokers), expected, addresses=broker_addrs(brokers))
    await asyncio.gather(*(cluster.take_down_broker(broker, is_abrupt=is_abrupt) for broker in brokers))
    # A returning master registers all its topics with its own permissions.
    master_groups = {broker.spec.broker_name for broker in brokers if broker.spec.is_master}
    cluster.wiped_permissions = {
        (group, server) for group, server in cluster.wiped_permissions if group not in master_groups
    }
    if not fault.lasts:
        return
    await asyncio.sleep(fault.lasts)
    if fault.address == "new":
        for broker in brokers:
            cluster.move_broker(broker)
    for broker in brokers:
        # Mark the broker as up already, because the expectations depend on the brokers that will register.
        broker.run_state = "up"
    context.record_deed(
        fault.kind,
        "end",
        member_names(brokers),
        expect_return(cluster, brokers),
        addresses=broker_addrs(brokers),
    )
    await cluster.start_brokers(brokers)


async def freeze_brokers(context: FaultContext, fault: Fault) -> None:
    cluster, brokers = context.cluster, context.matching_brokers(fault)
    expected = [
        event
        for listener_names, heard_brokers in group_by_listeners(cluster, brokers).items()
        for server_names, least_seconds in (
            (listener_names, fault.lasts),
            (list_deaf_servers(cluster, listener_names, heard_brokers), 0),
        )
        # It registers as soon as it continues, but possibly with another name server first.
        for event in expect_silence(
            cluster,
            heard_brokers,
            server_names,
            least_seconds,
            fault.lasts + NEXT_HEARTBEAT_SECONDS - HEARTBEAT_PERIOD_SECONDS,
        )
    ]
    context.record_deed(fault.kind, "begin", member_names(brokers), expected, lasts=fault.lasts)
    for broker in brokers:
        broker.run_state = "frozen"
        broker.simulated_broker.freeze()
    await asyncio.sleep(fault.lasts)
    context.record_deed(fault.kind, "end", member_names(brokers))
    for broker in brokers:
        broker.run_state = "up"
    await asyncio.gather(*(broker.simulated_broker.thaw() for broker in brokers))


async def skew_clocks(context: FaultContext, fault: Fault) -> None:
    """Change clocks. No broker may expire because of that, and no event is expected."""
    skewed_members: Sequence[LabBroker] | Sequence[LabNameServer]
    skewed_members = context.matching_servers(fault) if fault.namesrvs else context.matching_brokers(fault)
    context.record_deed(fault.kind, "begin", member_names(skewed_members), seconds=fault.seconds)
    for skewed_member in skewed_members:
        skewed_member.clock_skew_seconds += fault.seconds


# Name servers: kills, restarts and pauses.


async def kill_namesrv(context: FaultContext, fault: Fault) -> None:
    name_servers = context.matching_servers(fault)
    context.record_deed(fault.kind, "begin", member_names(name_servers))
    await asyncio.gather(*(name_server.kill_server() for name_server in name_servers))
    await _restart_name_servers(context, fault, name_servers)


async def restart_namesrv(context: FaultContext, fault: Fault) -> None:
    name_servers = context.matching_servers(fault)
    expected = [ExpectedEvent(("ServerStopping",), tuple(member_names(name_servers)), AT_ONCE_SECONDS)]
    context.record_deed(fault.kind, "begin", member_names(name_servers), expected)
    await asyncio.gather(*(name_server.stop_server() for name_server in name_servers))
    await _restart_name_servers(context, fault, name_servers)


async def _restart_name_servers(
    context: FaultContext, fault: Fault, name_servers: Sequence[LabNameServer]
) -> None:
    """Restart with empty tables, which the next heartbeats fill."""
    if not fault.lasts:
        return
    await asyncio.sleep(fault.lasts)
    cluster, server_names = context.cluster, tuple(member_names(name_servers))
    for name_server in name_servers:
        name_server.run_state = "up"
    cluster.wiped_permissions = {
        (group, name) for group, name in cluster.wiped_permissions if name not in server_names
    }
    running_brokers = [broker for broker in cluster.lab_brokers.values() if broker.run_state == "up"]
    ready_seconds = context.cluster.scenario.wait_seconds + AT_ONCE_SECONDS
    expected = [
        ExpectedEvent(("ServerStarted",), server_names, AT_ONCE_SECONDS),
        ExpectedEvent(("ServerReady",), server_names, ready_seconds),
    ]
    for return_event in expect_return(cluster, running_brokers, NEXT_HEARTBEAT_SECONDS):
        returned_servers = tuple(n for n in return_event.server_names if n in server_names)
        expected += [return_event._replace(server_names=returned_servers)] if returned_servers else []
    context.record_deed(fault.kind, "end", server_names, expected)
    for name_server in name_servers:
        await name_server.start_server()


async def pause_namesrv(context: FaultContext, fault: Fault) -> None:
    cluster, name_servers = context.cluster, context.matching_servers(fault)
    names = tuple(member_names(name_servers))
    running_brokers = [broker for broker in cluster.lab_brokers.values() if broker.run_state == "up"]
    fields = {"pauseMillis": {"min": (fault.lasts - 1.5) * 1000, "max": (fault.lasts + 0.5) * 1000}}
    within = fault.lasts + AT_ONCE_SECONDS
    expected = [
        ExpectedEvent(("ServerPaused",), names, within, fields, ("name server",), is_sure=fault.lasts > 6.5),
        *expect_silence(cluster, running_brokers, names, 0, fault.lasts + NEXT_HEARTBEAT_SECONDS),
    ]
    context.record_deed(fault.kind, "begin", names, expected, lasts=fault.lasts)
    for name_server in name_servers:
        name_server.freeze_server()
    await asyncio.sleep(fault.lasts)
    context.record_deed(fault.kind, "end", names)
    for name_server in name_servers:
        name_server.thaw_server()


# The network between brokers and name servers: cuts and delays.


async def partition_network(context: FaultContext, fault: Fault) -> None:
    cluster = context.cluster
    brokers = context.matching_brokers(fault)
    name_servers = context.matching_servers(fault)
    expected = expect_silence(
        cluster, brokers, member_names(name_servers), fault.lasts, fault.lasts + NEXT_HEARTBEAT_SECONDS
    )
    context.record_deed(
        fault.kind,
        "begin",
        [*member_names(brokers), *member_names(name_servers)],
        expected,
        lasts=fault.lasts,
    )
    cut_links = [broker.links_by_server[server.name] for broker in brokers for server in name_servers]
    for link in cut_links:
        link.is_cut = True
    await asyncio.sleep(fault.lasts)
    context.record_deed(fault.kind, "end", [*member_names(brokers), *member_names(name_servers)])
    for link in cut_links:
        link.is_cut = False
        link.drop_held_streams()


async def slow_network(context: FaultContext, fault: Fault) -> None:
    """Slow the network. No event is expected, unless the delay is so long that heartbeats are missed."""
    cluster, brokers, name_servers = (
        context.cluster,
        context.matching_brokers(fault),
        context.matching_servers(fault),
    )
    expected = expect_silence(
        cluster, brokers, member_names(name_servers), 0, NEXT_HEARTBEAT_SECONDS + 2 * fault.delay
    )
    affected_names = [*member_names(brokers), *member_names(name_servers)]
    context.record_deed(fault.kind, "begin", affected_names, expected, delay=fault.delay, lasts=fault.lasts)
    slow_links = [b.links_by_server[s.name] for b in brokers for s in name_servers]
    for link in slow_links:
        link.delay_seconds = fault.delay
    await asyncio.sleep(fault.lasts)
    context.record_deed(fault.kind, "end", affected_names)
    for link in slow_links:
        link.delay_seconds = 0


# Identity: a broker that registers with the name of another one, or in another cluster.


async def start_impostors(context: FaultContext, fault: Fault) -> None:
    """Start impostors. The registrations of broker and impostor replace each other with every heartbeat."""
    cluster, brokers = context.cluster, context.matching_brokers(fault)
    impostors = [cluster.add_broker(broker.spec, name_suffix=" (impostor)") for broker in brokers]
    expected = []
    for broker, impostor in zip(brokers, impostors, strict=True):
        names, ids = cluster.listeners(broker), (broker.name,)
        fields = {
            "brokerAddr": impostor.reserved_port.socket_addr,
            "holderAddr": broker.reserved_port.socket_addr,
        }
        types = ("AddressConflict", "BrokerRegistered")
        expected += [
            ExpectedEvent(("AddressConflict",), names, AT_ONCE_SECONDS, fields, REGISTRATION_CAUSES, ids),
            *_expect_reclaim(cluster, broker, names, fault.lasts),
            ExpectedEvent(types, names, fault.lasts + AT_ONCE_SECONDS, broker_id_texts=ids, is_sure=False),
        ]
    context.record_deed(
        fault.kind, "begin", member_names(brokers), expected, addresses=broker_addrs(impostors)
    )
    await cluster.start_brokers(impostors)
    await asyncio.sleep(fault.lasts)
    expected = _expect_impostor_end(cluster, brokers, impostors)
    context.record_deed(fault.kind, "end", member_names(brokers), expected, addresses=broker_addrs(impostors))
    await asyncio.gather(*(cluster.take_down_broker(impostor, is_abrupt=False) for impostor in impostors))
    for impostor in impostors:
        del cluster.lab_brokers[impostor.name]


def _expect_reclaim(
    cluster: LabCluster, broker: LabBroker, listener_names: Sequence[str], lasts_seconds: float
) -> list[ExpectedEvent]:
    """Expect that the broker reclaims its id with its next heartbeat if the impostor still runs then."""
    fields = {"brokerAddr": broker.reserved_port.socket_addr}
    certain_names = [
        name
        for name in listener_names
        if lasts_seconds + (cluster.silent_seconds(name, broker) or 0) > NEXT_HEARTBEAT_SECONDS
    ]
    return [
        ExpectedEvent(
            ("AddressConflict",), names, NEXT_HEARTBEAT_SECONDS, fields, (), (broker.name,), is_sure
        )
        for names, is_sure in split_by_certainty(listener_names, certain_names)
    ]


def _expect_impostor_end(
    cluster: LabCluster, brokers: Sequence[LabBroker], impostors: Sequence[LabBroker]
) -> list[ExpectedEvent]:
    """Expect the impostor's end. If it held the id, the broker reclaims it with its next heartbeat."""
    expected = []
    for broker, impostor in zip(brokers, impostors, strict=True):
        names = cluster.listeners(impostor)
        departure = {"brokerAddr": impostor.reserved_port.socket_addr, "reason": "unregistered"}
        types = ("BrokerUnregistered", "AddressForgotten")
        group, within = {"brokerName": broker.spec.broker_name}, NEXT_HEARTBEAT_SECONDS
        expected += [
            ExpectedEvent(types, names, AT_ONCE_SECONDS, departure, ("UNREGISTER_BROKER",)),
            # The last registration decides whether the id is free until then.
            ExpectedEvent(("BrokerRegistered",), names, within, {}, (), (broker.name,), is_sure=False),
            ExpectedEvent(("MinBrokerIdChanged",), names, within, group, is_sure=False),
        ]
    return expected


async def join_other_cluster(context: FaultContext, fault: Fault) -> None:
    """Add a slave that registers in another cluster, so that the broker name is in two clusters."""
    cluster = context.cluster
    new_slaves = []
    for broker in [b for b in context.matching_brokers(fault) if b.spec.is_master]:
        taken_ids = {
            member.spec.broker_id
            for member in cluster.lab_brokers.values()
            if member.spec.broker_name == broker.spec.broker_name
        }
        slave_spec = broker.spec._replace(cluster_name=fault.cluster, broker_id=max(taken_ids) + 1)
        new_slaves.append(cluster.add_broker(slave_spec))
    for new_slave in new_slaves:
        new_slave.run_state = "up"
    expected = [
        e._replace(field_values={"clusterName": fault.cluster}) if e.types == ("BrokerRegistered",) else e
        for e in expect_return(cluster, new_slaves)
    ]
    context.record_deed(fault.kind, "begin", member_names(new_slaves), expected, cluster=fault.cluster)
    await cluster.start_brokers(new_slaves)
    if fault.lasts:
        await asyncio.sleep(fault.lasts)
        expected = expect_departure(cluster, new_slaves, "unregistered", "UNREGISTER_BROKER")
        context.record_deed(fault.kind, "end", member_names(new_slaves), expected, cluster=fault.cluster)
        await asyncio.gather(*(cluster.take_down_broker(slave, is_abrupt=False) for slave in new_slaves))


# Registrations: topics that are created, changed, deleted or registered again.


_TOPICS_PER_PART = 20
"""The number of topics in each part of a split registration."""


async def create_topic(context: FaultContext, fault: Fault) -> None:
    masters = [master for master in context.matching_brokers(fault) if master.spec.is_master]
    topic_names = [f"{fault.topic}-{n}" for n in range(fault.number)] if fault.number > 1 else [fault.topic]
    expected = []
    for master in masters:
        names = context.cluster.listeners(master)
        registration = {"brokerName": master.spec.broker_name, "reason": "registration"}
        for topic in (topic_names[0], topic_names[-1]):
            fields = {**registration, "changes.topics": topic}
            expected.append(
                ExpectedEvent(("TopicsChanged",), names, AT_ONCE_SECONDS, fields, REGISTRATION_CAUSES)
            )
        expected += _expect_restored_permission(context.cluster, master, fault)
    context.record_deed(
        fault.kind, "begin", member_names(masters), expected, topic=fault.topic, count=fault.number
    )
    for master in masters:
        now_ms = int((context.cluster.clock_seconds() + master.clock_skew_seconds) * 1000)
        for member_name in topic_names:
            master.simulated_broker.model.topic_table.put_config(
                make_topic_config(member_name, fault.queues), now_ms
            )
    await asyncio.gather(*(_register_topics(master, fault, topic_names) for master in masters))


def _expect_restored_permission(cluster: LabCluster, master: LabBroker, fault: Fault) -> list[ExpectedEvent]:
    """Expect that a registration with a new data version restores a permission that was wiped."""
    broker_name = master.spec.broker_name
    if fault.registration == "incremental":
        return []
    expected = []
    for server_name in cluster.name_servers:
        if cluster.can_hear(server_name, master) and (broker_name, server_name) in cluster.wiped_permissions:
            cluster.wiped_permissions.discard((broker_name, server_name))
            fields = {
                "brokerName": broker_name, "reason": "registration",
                "changes.before.perm": 4, "changes.after.perm": 6,
            }  # fmt: skip
            expected.append(
                ExpectedEvent(
                    ("TopicsChanged",), (server_name,), AT_ONCE_SECONDS, fields, REGISTRATION_CAUSES
                )
            )
    return expected


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


async def register_brokers(context: FaultContext, fault: Fault) -> None:
    cluster, brokers = context.cluster, context.matching_brokers(fault)
    expected = []
    for names, heard_brokers in group_by_listeners(cluster, brokers).items():
        ids = tuple(broker.name for broker in heard_brokers)
        expected.append(
            ExpectedEvent(("BrokerChanged",), names, AT_ONCE_SECONDS, {}, REGISTRATION_CAUSES, ids)
        )
    for broker in brokers:
        expected += _expect_restored_permission(cluster, broker, fault) if broker.spec.is_master else []
    context.record_deed(fault.kind, "begin", member_names(brokers), expected, registration=fault.registration)
    for broker in brokers:
        broker.simulated_broker.model.topic_table.advance_version(
            int((cluster.clock_seconds() + broker.clock_skew_seconds) * 1000)
        )
    first_topics = (list(broker.simulated_broker.model.topic_table.configs)[:1] for broker in brokers)
    await asyncio.gather(
        *(_register_topics(broker, fault, names) for broker, names in zip(brokers, first_topics, strict=True))
    )


async def delete_topic(context: FaultContext, fault: Fault) -> None:
    masters = [master for master in context.matching_brokers(fault) if master.spec.is_master]
    name_servers = context.matching_servers(fault)
    had_topic = any(
        fault.topic in m.simulated_broker.model.topic_table.configs for m in masters if m.run_state == "up"
    )
    for master in masters:
        master.simulated_broker.model.topic_table.delete_config(
            fault.topic, int((context.cluster.clock_seconds() + master.clock_skew_seconds) * 1000)
        )
    deletion = _expect_deletion(fault, name_servers)._replace(is_sure=had_topic)
    context.record_deed(fault.kind, "begin", member_names(masters), [deletion], topic=fault.topic)
    for name_server in name_servers:
        await context.cluster.send_request(
            name_server.name, RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": fault.topic}
        )


def _expect_deletion(fault: Fault, name_servers: Sequence[LabNameServer]) -> ExpectedEvent:
    names, causes = tuple(member_names(name_servers)), (RequestCode.DELETE_TOPIC_IN_NAMESRV.name,)
    return ExpectedEvent(("TopicDeleted",), names, AT_ONCE_SECONDS, {"topic": fault.topic}, causes)


# Write permissions, which are removed and restored on name servers.


async def _change_write_permission(context: FaultContext, fault: Fault, *, is_wipe: bool) -> None:
    """Change the permission of each group once, even if the fault names several of its brokers."""
    request_code, event_type = (
        (RequestCode.WIPE_WRITE_PERM_OF_BROKER, "WritePermWiped")
        if is_wipe
        else (RequestCode.ADD_WRITE_PERM_OF_BROKER, "WritePermAdded")
    )
    broker_groups = list(dict.fromkeys(broker.spec.broker_name for broker in context.matching_brokers(fault)))
    server_names = tuple(member_names(context.matching_servers(fault)))
    expected = [
        # A request that changes nothing makes no event, and an earlier request may have done the same.
        ExpectedEvent(
            (event_type,),
            affected_servers,
            AT_ONCE_SECONDS,
            {"brokerName": broker_group},
            (request_code.name,),
            is_sure=is_change,
        )
        for broker_group in broker_groups
        for affected_servers, is_change in split_by_certainty(
            server_names,
            [n for n in server_names if ((broker_group, n) in context.cluster.wiped_permissions) != is_wipe],
        )
    ]
    context.record_deed(fault.kind, "begin", [*broker_groups, *server_names], expected)
    for server_name in server_names:
        for broker_group in broker_groups:
            await context.cluster.send_request(server_name, request_code, {"brokerName": broker_group})
            change_wiped = (
                context.cluster.wiped_permissions.add
                if is_wipe
                else context.cluster.wiped_permissions.discard
            )
            change_wiped((broker_group, server_name))


# Operators: wrong lists and settings, and changes that reach only some name servers.


_USUAL_PERM = 6


async def change_namesrv_list(context: FaultContext, fault: Fault) -> None:
    """Restart brokers with another list. They leave the name servers that the list no longer has."""
    cluster, brokers = context.cluster, context.matching_brokers(fault)
    listed_names = tuple(match_names(fault.namesrvs, cluster.name_servers))
    expected = expect_departure(cluster, brokers, "unregistered", "UNREGISTER_BROKER")
    context.record_deed(fault.kind, "begin", member_names(brokers), expected, namesrvs=listed_names)
    await asyncio.gather(*(cluster.take_down_broker(broker, is_abrupt=False) for broker in brokers))
    broker_groups = {broker.spec.broker_name for broker in brokers}
    cluster.wiped_permissions = {
        (group, server) for group, server in cluster.wiped_permissions if group not in broker_groups
    }
    for broker in brokers:
        broker.run_state, broker.listed_servers = "up", listed_names
    context.record_deed(
        fault.kind, "end", member_names(brokers), expect_return(cluster, brokers), namesrvs=listed_names
    )
    await cluster.start_brokers(brokers)


async def change_broker_setting(context: FaultContext, fault: Fault) -> None:
    """Change a broker setting. Its registration changes only with brokerPermission."""
    brokers = context.matching_brokers(fault)
    expected = [e for b in brokers for e in _expect_restricted_permission(context, b, fault)]
    context.record_deed(
        fault.kind, "begin", member_names(brokers), expected, key=fault.key, value=fault.value
    )
    for broker in brokers:
        channel = RequestChannel(broker.reserved_port.socket_addr)
        try:
            property_line = f"{fault.key}={fault.value}\n".encode()
            await channel.send_request(build_request(RequestCode.UPDATE_BROKER_CONFIG, body=property_line))
        finally:
            channel.close()


def _expect_restricted_permission(
    context: FaultContext, broker: LabBroker, fault: Fault
) -> list[ExpectedEvent]:
    broker_properties = broker.simulated_broker.model.properties
    if (
        fault.key != "brokerPermission"
        or not broker.spec.is_master
        or broker_properties[fault.key] == fault.value
    ):
        return []
    names = context.cluster.listeners(broker)
    fields = {
        "brokerName": broker.spec.broker_name,
        "reason": "registration",
        "changes.after.perm": _USUAL_PERM & int(fault.value),
    }
    event = ExpectedEvent(("TopicsChanged",), names, AT_ONCE_SECONDS, fields, REGISTRATION_CAUSES)
    return [event] if names else []


async def write_order_conf(context: FaultContext, fault: Fault) -> None:
    """Write an order configuration. No program copies it to other name servers."""
    server_names, request_code = (member_names(context.matching_servers(fault)), RequestCode.PUT_KV_CONFIG)
    ext_fields = {"namespace": ORDER_TOPIC_CONFIG, "key": fault.topic, "value": fault.value}
    event = ExpectedEvent(("KvPut",), tuple(server_names), AT_ONCE_SECONDS, ext_fields, (request_code.name,))
    context.record_deed(fault.kind, "begin", server_names, [event], topic=fault.topic, value=fault.value)
    for server_name in server_names:
        await context.cluster.send_request(server_name, request_code, ext_fields)


async def forget_topic(context: FaultContext, fault: Fault) -> None:
    """Delete a topic on name servers. Brokers restore it with their next registrations."""
    cluster, name_servers = context.cluster, context.matching_servers(fault)
    expected = [_expect_deletion(fault, name_servers), *_expect_topic_return(context, fault)]
    context.record_deed(fault.kind, "begin", member_names(name_servers), expected, topic=fault.topic)
    for name_server in name_servers:
        await cluster.send_request(
            name_server.name, RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": fault.topic}
        )


def _expect_topic_return(context: FaultContext, fault: Fault) -> list[ExpectedEvent]:
    cluster, expected = context.cluster, []
    for broker in cluster.lab_brokers.values():
        if (
            broker.run_state == "up"
            and broker.spec.is_master
            and fault.topic in broker.simulated_broker.model.topic_table.configs
        ):
            names = tuple(s.name for s in context.matching_servers(fault) if cluster.can_hear(s.name, broker))
            fields = {
                "brokerName": broker.spec.broker_name,
                "reason": "registration",
                "changes.topics": fault.topic,
            }
            expected.append(
                ExpectedEvent(("TopicsChanged",), names, NEXT_HEARTBEAT_SECONDS, fields, REGISTRATION_CAUSES)
            )
    return expected


FaultAction = Callable[[FaultContext, Fault], Awaitable[None]]

ACTIONS_BY_FAULT: Mapping[str, FaultAction] = {
    "stop": partial(_take_down_brokers, is_abrupt=False),
    "kill": partial(_take_down_brokers, is_abrupt=True),
    "restart": partial(_take_down_brokers, is_abrupt=False),
    "storm": partial(_take_down_brokers, is_abrupt=True),
    "freeze": freeze_brokers,
    "partition": partition_network,
    "slow": slow_network,
    "impostor": start_impostors,
    "join": join_other_cluster,
    "createTopic": create_topic,
    "deleteTopic": delete_topic,
    "register": register_brokers,
    "wipe": partial(_change_write_permission, is_wipe=True),
    "unwipe": partial(_change_write_permission, is_wipe=False),
    "killNamesrv": kill_namesrv,
    "restartNamesrv": restart_namesrv,
    "pauseNamesrv": pause_namesrv,
    "skew": skew_clocks,
    "relist": change_namesrv_list,
    "configure": change_broker_setting,
    "forgetTopic": forget_topic,
    "orderConf": write_order_conf,
}
