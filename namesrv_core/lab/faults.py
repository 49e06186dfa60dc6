"""What can be done to a world: a coroutine for each kind of fault, which tells the truth about it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

from namesrv_core.fleet.broker import HEARTBEAT_PERIOD_SECONDS
from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.lab import expectations
from namesrv_core.lab.expectations import AT_ONCE_SECONDS, NEXT_HEARTBEAT_SECONDS
from namesrv_core.lab.fault_context import FaultContext, member_names
from namesrv_core.lab.lab_cluster import LabBroker, LabCluster, LabNameServer
from namesrv_core.lab.misconfiguration import (
    change_broker_setting,
    change_namesrv_list,
    forget_topic,
    write_order_conf,
)
from namesrv_core.lab.scenario import Fault
from namesrv_core.lab.truth_log import ExpectedEvent
from namesrv_core.protocol.codes import RequestCode

_TOPICS_PER_PART = 20
"""Topics in each part of a registration that is split."""


async def _take_down_brokers(fault_context: FaultContext, fault: Fault, *, is_abrupt: bool) -> None:
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    departure_ways = (
        ("channel closed", "channel closed") if is_abrupt else ("unregistered", "UNREGISTER_BROKER")
    )
    expected_events = expectations.expect_departure(lab_cluster, brokers, *departure_ways)
    fault_context.record_deed(
        fault.kind, "begin", member_names(brokers), expected_events, addresses=_broker_addrs(brokers)
    )
    await asyncio.gather(*(lab_cluster.take_down_broker(broker, is_abrupt=is_abrupt) for broker in brokers))
    # A master that comes back brings all its topics, with the permissions that it has for them.
    master_groups = {broker.broker_spec.broker_name for broker in brokers if broker.broker_spec.is_master}
    lab_cluster.wiped_permissions = {
        (wiped_group, wiped_server)
        for wiped_group, wiped_server in lab_cluster.wiped_permissions
        if wiped_group not in master_groups
    }
    if not fault.lasts:
        return
    await asyncio.sleep(fault.lasts)
    if fault.address == "new":
        for broker in brokers:
            lab_cluster.move_broker(broker)
    for broker in brokers:
        # It is up as far as the truth is concerned: this is who will be heard.
        broker.run_state = "up"
    fault_context.record_deed(
        fault.kind,
        "end",
        member_names(brokers),
        expectations.expect_return(lab_cluster, brokers),
        addresses=_broker_addrs(brokers),
    )
    await lab_cluster.start_brokers(brokers)


def _broker_addrs(brokers: Sequence[LabBroker]) -> list[str]:
    return [broker.reserved_port.socket_addr for broker in brokers]


async def stop_brokers(fault_context: FaultContext, fault: Fault) -> None:
    await _take_down_brokers(fault_context, fault, is_abrupt=False)


async def kill_brokers(fault_context: FaultContext, fault: Fault) -> None:
    await _take_down_brokers(fault_context, fault, is_abrupt=True)


async def freeze_brokers(fault_context: FaultContext, fault: Fault) -> None:
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    expected_events = [
        expected_event
        for listener_names, heard_brokers in expectations.group_by_listeners(lab_cluster, brokers).items()
        for server_names, least_seconds in (
            (listener_names, fault.lasts),
            (expectations.list_deaf_servers(lab_cluster, listener_names, heard_brokers), 0),
        )
        # It registers as soon as it goes on, though perhaps somewhere else first.
        for expected_event in expectations.expect_silence(
            lab_cluster,
            heard_brokers,
            server_names,
            least_seconds,
            fault.lasts + NEXT_HEARTBEAT_SECONDS - HEARTBEAT_PERIOD_SECONDS,
        )
    ]
    fault_context.record_deed(fault.kind, "begin", member_names(brokers), expected_events, lasts=fault.lasts)
    for broker in brokers:
        broker.run_state = "frozen"
        broker.simulated_broker.freeze()
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(fault.kind, "end", member_names(brokers))
    for broker in brokers:
        broker.run_state = "up"
    await asyncio.gather(*(broker.simulated_broker.thaw() for broker in brokers))


async def partition_network(fault_context: FaultContext, fault: Fault) -> None:
    lab_cluster, brokers, name_servers = (
        fault_context.lab_cluster,
        fault_context.matching_brokers(fault),
        fault_context.matching_servers(fault),
    )
    expected_events = expectations.expect_silence(
        lab_cluster, brokers, member_names(name_servers), fault.lasts, fault.lasts + NEXT_HEARTBEAT_SECONDS
    )
    fault_context.record_deed(
        fault.kind,
        "begin",
        [*member_names(brokers), *member_names(name_servers)],
        expected_events,
        lasts=fault.lasts,
    )
    cut_links = [
        broker.links_by_server[name_server.name] for broker in brokers for name_server in name_servers
    ]
    for link in cut_links:
        link.is_cut = True
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(fault.kind, "end", [*member_names(brokers), *member_names(name_servers)])
    for link in cut_links:
        link.is_cut = False
        link.drop_held_streams()


async def slow_network(fault_context: FaultContext, fault: Fault) -> None:
    """Nothing is concluded, unless it is so slow that brokers are missed."""
    lab_cluster, brokers, name_servers = (
        fault_context.lab_cluster,
        fault_context.matching_brokers(fault),
        fault_context.matching_servers(fault),
    )
    expected_events = expectations.expect_silence(
        lab_cluster, brokers, member_names(name_servers), 0, NEXT_HEARTBEAT_SECONDS + 2 * fault.delay
    )
    affected_names = [*member_names(brokers), *member_names(name_servers)]
    fault_context.record_deed(
        fault.kind, "begin", affected_names, expected_events, delay=fault.delay, lasts=fault.lasts
    )
    slow_links = [
        broker.links_by_server[name_server.name] for broker in brokers for name_server in name_servers
    ]
    for link in slow_links:
        link.delay_seconds = fault.delay
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(fault.kind, "end", affected_names)
    for link in slow_links:
        link.delay_seconds = 0


async def start_impostors(fault_context: FaultContext, fault: Fault) -> None:
    """Both registrations win and lose in turn, with every heartbeat."""
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    impostors = [lab_cluster.add_broker(broker.broker_spec, name_suffix=" (impostor)") for broker in brokers]
    expected_events = []
    for broker, impostor in zip(brokers, impostors, strict=True):
        listener_names = tuple(
            server_name
            for server_name in lab_cluster.name_servers
            if lab_cluster.can_hear(server_name, broker)
        )
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
                repeated_types, listener_names, fault.lasts + AT_ONCE_SECONDS, each=broker_names, sure=False
            )
        )
    fault_context.record_deed(
        fault.kind, "begin", member_names(brokers), expected_events, addresses=_broker_addrs(impostors)
    )
    await lab_cluster.start_brokers(impostors)
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(
        fault.kind,
        "end",
        member_names(brokers),
        _expect_impostor_end(lab_cluster, brokers, impostors),
        addresses=_broker_addrs(impostors),
    )
    await asyncio.gather(*(lab_cluster.take_down_broker(impostor, is_abrupt=False) for impostor in impostors))
    for impostor in impostors:
        del lab_cluster.lab_brokers[impostor.name]


def _expect_reclaim(
    lab_cluster: LabCluster, broker: LabBroker, listener_names: Sequence[str], lasts_seconds: float
) -> list[ExpectedEvent]:
    """The broker wants its place back with its next heartbeat, if the impostor is still there by then."""
    conflict_fields = {"brokerAddr": broker.reserved_port.socket_addr}
    return [
        ExpectedEvent(
            ("AddressConflict",),
            server_names,
            NEXT_HEARTBEAT_SECONDS,
            conflict_fields,
            each=(broker.name,),
            sure=is_sure,
        )
        for server_names, is_sure in expectations.split_by_certainty(
            listener_names,
            [
                server_name
                for server_name in listener_names
                if lasts_seconds + (lab_cluster.silent_seconds(server_name, broker) or 0)
                > NEXT_HEARTBEAT_SECONDS
            ],
        )
    ]


def _expect_impostor_end(
    lab_cluster: LabCluster, brokers: Sequence[LabBroker], impostors: Sequence[LabBroker]
) -> list[ExpectedEvent]:
    """The impostor goes: with the place, if it had it; the broker then takes it with its next heartbeat."""
    expected_events = []
    for broker, impostor in zip(brokers, impostors, strict=True):
        listener_names = tuple(
            server_name
            for server_name in lab_cluster.name_servers
            if lab_cluster.can_hear(server_name, impostor)
        )
        departure_fields = {"brokerAddr": impostor.reserved_port.socket_addr, "reason": "unregistered"}
        departure_types = ("BrokerUnregistered", "AddressForgotten")
        expected_events.append(
            ExpectedEvent(
                departure_types, listener_names, AT_ONCE_SECONDS, departure_fields, ("UNREGISTER_BROKER",)
            )
        )
        # Who of them registered last decides whether the place is empty until then.
        expected_events.append(
            ExpectedEvent(
                ("BrokerRegistered",), listener_names, NEXT_HEARTBEAT_SECONDS, each=(broker.name,), sure=False
            )
        )
        min_id_fields = {"brokerName": broker.broker_spec.broker_name}
        expected_events.append(
            ExpectedEvent(
                ("MinBrokerIdChanged",), listener_names, NEXT_HEARTBEAT_SECONDS, min_id_fields, sure=False
            )
        )
    return expected_events


async def join_other_cluster(fault_context: FaultContext, fault: Fault) -> None:
    """A slave that says it is of another cluster: the broker's name is in two of them."""
    lab_cluster = fault_context.lab_cluster
    new_slaves = []
    for broker in [
        broker for broker in fault_context.matching_brokers(fault) if broker.broker_spec.is_master
    ]:
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
        expected_event._replace(where={"clusterName": fault.cluster})
        if expected_event.types == ("BrokerRegistered",)
        else expected_event
        for expected_event in expectations.expect_return(lab_cluster, new_slaves)
    ]
    fault_context.record_deed(
        fault.kind, "begin", member_names(new_slaves), expected_events, cluster=fault.cluster
    )
    await lab_cluster.start_brokers(new_slaves)
    if fault.lasts:
        await asyncio.sleep(fault.lasts)
        expected_events = expectations.expect_departure(
            lab_cluster, new_slaves, "unregistered", "UNREGISTER_BROKER"
        )
        fault_context.record_deed(
            fault.kind, "end", member_names(new_slaves), expected_events, cluster=fault.cluster
        )
        await asyncio.gather(
            *(lab_cluster.take_down_broker(new_slave, is_abrupt=False) for new_slave in new_slaves)
        )


async def skew_clocks(fault_context: FaultContext, fault: Fault) -> None:
    """Clocks are set: nobody is to expire for that, and nothing is to be concluded."""
    skewed_members: Sequence[LabBroker] | Sequence[LabNameServer]
    skewed_members = (
        fault_context.matching_servers(fault) if fault.namesrvs else fault_context.matching_brokers(fault)
    )
    fault_context.record_deed(fault.kind, "begin", member_names(skewed_members), seconds=fault.seconds)
    for skewed_member in skewed_members:
        skewed_member.clock_skew_seconds += fault.seconds


async def create_topic(fault_context: FaultContext, fault: Fault) -> None:
    masters = [master for master in fault_context.matching_brokers(fault) if master.broker_spec.is_master]
    topic_names = (
        [f"{fault.topic}-{topic_number}" for topic_number in range(fault.number)]
        if fault.number > 1
        else [fault.topic]
    )
    expected_events = []
    for master in masters:
        listener_names = tuple(
            member_name
            for member_name in fault_context.lab_cluster.name_servers
            if fault_context.lab_cluster.can_hear(member_name, master)
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
    """A registration of all topics in a new version puts back the permission that a name server took."""
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
    """The topics that are new, or all at once, or all in parts, each of which is another version."""
    topic_table = broker.simulated_broker.model.topic_table
    if fault.registration == "incremental":
        await broker.simulated_broker.register_topics(new_topics)
    elif fault.registration == "all":
        await broker.simulated_broker.register_topics()
    else:
        all_topics = list(topic_table.configs)
        for part_start in range(0, len(all_topics), _TOPICS_PER_PART):
            await broker.simulated_broker.register_topics(
                all_topics[part_start : part_start + _TOPICS_PER_PART]
            )
            topic_table.advance_version(topic_table.data_version.timestamp)


async def register_brokers(fault_context: FaultContext, fault: Fault) -> None:
    lab_cluster, brokers = fault_context.lab_cluster, fault_context.matching_brokers(fault)
    expected_events = []
    for listener_names, heard_brokers in expectations.group_by_listeners(lab_cluster, brokers).items():
        broker_names = tuple(broker.name for broker in heard_brokers)
        expected_events.append(
            ExpectedEvent(
                ("BrokerChanged",),
                listener_names,
                AT_ONCE_SECONDS,
                causes=("REGISTER_BROKER",),
                each=broker_names,
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
        *(
            _register_topics(broker, fault, topic_names)
            for broker, topic_names in zip(brokers, first_topics, strict=True)
        )
    )


async def delete_topic(fault_context: FaultContext, fault: Fault) -> None:
    masters = [master for master in fault_context.matching_brokers(fault) if master.broker_spec.is_master]
    name_servers = fault_context.matching_servers(fault)
    had_topic = any(
        fault.topic in master.simulated_broker.model.topic_table.configs
        for master in masters
        if master.run_state == "up"
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
            sure=had_topic,
        )
    ]
    fault_context.record_deed(fault.kind, "begin", member_names(masters), expected_events, topic=fault.topic)
    for name_server in name_servers:
        await fault_context.lab_cluster.send_request(name_server.name, request_code, {"topic": fault.topic})


async def _change_write_permission(
    fault_context: FaultContext, fault: Fault, request_code: RequestCode, event_type: str
) -> None:
    """Of each group once, however many of its brokers are meant."""
    broker_groups = list(
        dict.fromkeys(broker.broker_spec.broker_name for broker in fault_context.matching_brokers(fault))
    )
    server_names = tuple(member_names(fault_context.matching_servers(fault)))
    is_wipe = event_type == "WritePermWiped"
    expected_events = [
        # What changes nothing is no event: nobody knows whether others had done the same before.
        ExpectedEvent(
            (event_type,),
            affected_servers,
            AT_ONCE_SECONDS,
            {"brokerName": broker_group},
            (request_code.name,),
            sure=is_change,
        )
        for broker_group in broker_groups
        for affected_servers, is_change in expectations.split_by_certainty(
            server_names,
            [
                server_name
                for server_name in server_names
                if ((broker_group, server_name) in fault_context.lab_cluster.wiped_permissions) != is_wipe
            ],
        )
    ]
    fault_context.record_deed(fault.kind, "begin", [*broker_groups, *server_names], expected_events)
    for server_name in server_names:
        for broker_group in broker_groups:
            await fault_context.lab_cluster.send_request(
                server_name, request_code, {"brokerName": broker_group}
            )
            change_wiped = (
                fault_context.lab_cluster.wiped_permissions.add
                if is_wipe
                else fault_context.lab_cluster.wiped_permissions.discard
            )
            change_wiped((broker_group, server_name))


async def wipe_write_permission(fault_context: FaultContext, fault: Fault) -> None:
    await _change_write_permission(
        fault_context, fault, RequestCode.WIPE_WRITE_PERM_OF_BROKER, "WritePermWiped"
    )


async def restore_write_permission(fault_context: FaultContext, fault: Fault) -> None:
    await _change_write_permission(
        fault_context, fault, RequestCode.ADD_WRITE_PERM_OF_BROKER, "WritePermAdded"
    )


async def kill_namesrv(fault_context: FaultContext, fault: Fault) -> None:
    name_servers = fault_context.matching_servers(fault)
    fault_context.record_deed(fault.kind, "begin", member_names(name_servers))
    await asyncio.gather(*(name_server.kill_server() for name_server in name_servers))
    await _restart_name_servers(fault_context, fault, name_servers)


async def restart_namesrv(fault_context: FaultContext, fault: Fault) -> None:
    name_servers = fault_context.matching_servers(fault)
    expected_events = [ExpectedEvent(("ServerStopping",), tuple(member_names(name_servers)), AT_ONCE_SECONDS)]
    fault_context.record_deed(fault.kind, "begin", member_names(name_servers), expected_events)
    await asyncio.gather(*(name_server.stop_server() for name_server in name_servers))
    await _restart_name_servers(fault_context, fault, name_servers)


async def _restart_name_servers(
    fault_context: FaultContext, fault: Fault, name_servers: Sequence[LabNameServer]
) -> None:
    """With empty tables, which fill with the next heartbeats."""
    if not fault.lasts:
        return
    await asyncio.sleep(fault.lasts)
    lab_cluster, server_names = fault_context.lab_cluster, tuple(member_names(name_servers))
    for name_server in name_servers:
        name_server.run_state = "up"
    lab_cluster.wiped_permissions = {
        (wiped_group, server_name)
        for wiped_group, server_name in lab_cluster.wiped_permissions
        if server_name not in server_names
    }
    running_brokers = [broker for broker in lab_cluster.lab_brokers.values() if broker.run_state == "up"]
    ready_seconds = fault_context.lab_cluster.scenario.wait_seconds + AT_ONCE_SECONDS
    expected_events = [
        ExpectedEvent(("ServerStarted",), server_names, AT_ONCE_SECONDS),
        ExpectedEvent(("ServerReady",), server_names, ready_seconds),
    ]
    for return_event in expectations.expect_return(lab_cluster, running_brokers, NEXT_HEARTBEAT_SECONDS):
        returned_servers = tuple(
            server_name for server_name in return_event.on if server_name in server_names
        )
        expected_events += [return_event._replace(on=returned_servers)] if returned_servers else []
    fault_context.record_deed(fault.kind, "end", server_names, expected_events)
    for name_server in name_servers:
        await name_server.start_server()


async def pause_namesrv(fault_context: FaultContext, fault: Fault) -> None:
    lab_cluster, name_servers = fault_context.lab_cluster, fault_context.matching_servers(fault)
    server_names = tuple(member_names(name_servers))
    running_brokers = [broker for broker in lab_cluster.lab_brokers.values() if broker.run_state == "up"]
    pause_bounds = {"min": (fault.lasts - 1.5) * 1000, "max": (fault.lasts + 0.5) * 1000}
    pause_event = ExpectedEvent(
        ("ServerPaused",),
        server_names,
        fault.lasts + AT_ONCE_SECONDS,
        {"pauseMillis": pause_bounds},
        ("name server",),
    )
    expected_events = [pause_event._replace(sure=fault.lasts > 6.5)]
    expected_events += expectations.expect_silence(
        lab_cluster, running_brokers, server_names, 0, fault.lasts + NEXT_HEARTBEAT_SECONDS
    )
    fault_context.record_deed(fault.kind, "begin", server_names, expected_events, lasts=fault.lasts)
    for name_server in name_servers:
        name_server.freeze_server()
    await asyncio.sleep(fault.lasts)
    fault_context.record_deed(fault.kind, "end", server_names)
    for name_server in name_servers:
        name_server.thaw_server()


FaultAction = Callable[[FaultContext, Fault], Awaitable[None]]

ACTIONS_BY_FAULT: Mapping[str, FaultAction] = {
    "stop": stop_brokers,
    "kill": kill_brokers,
    "restart": stop_brokers,
    "storm": kill_brokers,
    "freeze": freeze_brokers,
    "partition": partition_network,
    "slow": slow_network,
    "impostor": start_impostors,
    "join": join_other_cluster,
    "createTopic": create_topic,
    "deleteTopic": delete_topic,
    "register": register_brokers,
    "wipe": wipe_write_permission,
    "unwipe": restore_write_permission,
    "killNamesrv": kill_namesrv,
    "restartNamesrv": restart_namesrv,
    "pauseNamesrv": pause_namesrv,
    "skew": skew_clocks,
    "relist": change_namesrv_list,
    "configure": change_broker_setting,
    "forgetTopic": forget_topic,
    "orderConf": write_order_conf,
}
