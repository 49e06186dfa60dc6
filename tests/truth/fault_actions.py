"""Fault actions: what each kind of fault of a plan does to a simulation, when it begins and when it ends."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from namesrv_core.fleet.topics import make_topic_config
from namesrv_core.protocol import headers
from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import build_request
from tests.truth.cluster_simulation import ClusterSimulation
from tests.truth.fault_plan import PlannedFault
from tests.truth.true_facts import ClockStep, TrueFault
from tests.truth.virtual_broker import VirtualBroker

_CLOSED, _OPEN = 4, 6
"""Values of brokerPermission: read only, and read and write."""

_OPERATOR_STEP_MS = 400
"""The time between the requests of an operator to several name servers."""

_MAX_CLOCK_STEP_MS = 40_000
EndAction = Callable[[], None]


def schedule_faults(simulation: ClusterSimulation, planned_faults: Sequence[PlannedFault]) -> None:
    for fault in planned_faults:
        simulation.call_after(round(fault.since * 1000), partial(_begin_fault, simulation, fault))


def _begin_fault(simulation: ClusterSimulation, fault: PlannedFault) -> None:
    """Begin a fault, unless its target is already down or frozen."""
    end_action = _ACTIONS_BY_KIND[fault.kind](simulation, fault)
    if end_action is not None:
        lasts_ms = round((fault.until - fault.since) * 1000)
        targets = (f"{fault.group}:{fault.broker_id}", *fault.servers)
        simulation.history.facts.append(
            TrueFault(fault.kind, targets, simulation.now_ms, simulation.now_ms + lasts_ms)
        )
        simulation.call_after(lasts_ms, end_action)


def _do_nothing() -> None:
    pass


def _take_down_broker(
    simulation: ClusterSimulation, fault: PlannedFault, *, is_abrupt: bool
) -> EndAction | None:
    broker = simulation.brokers[fault.group, fault.broker_id]
    if broker.run_state != "up":
        return None
    simulation.end_broker(broker, is_abrupt=is_abrupt)
    return partial(simulation.start_broker, broker)


def _freeze_broker(simulation: ClusterSimulation, fault: PlannedFault) -> EndAction | None:
    broker = simulation.brokers[fault.group, fault.broker_id]
    if broker.run_state != "up":
        return None
    broker.run_state = "frozen"
    return partial(simulation.thaw_broker, broker)


def _cut_links(simulation: ClusterSimulation, fault: PlannedFault) -> EndAction | None:
    broker = simulation.brokers[fault.group, fault.broker_id]
    simulation.cut_links(broker, fault.servers)
    return partial(simulation.heal_links, broker, fault.servers)


def _take_down_server(
    simulation: ClusterSimulation, fault: PlannedFault, *, stop_reason: str | None
) -> EndAction | None:
    server = simulation.servers[fault.servers[0]]
    # A frozen process can be killed, but it does not stop in order.
    if server.run_state == "down" or (server.run_state == "frozen" and stop_reason is not None):
        return None
    simulation.end_server(server, stop_reason)
    return partial(simulation.start_server, server)


def _freeze_server(simulation: ClusterSimulation, fault: PlannedFault) -> EndAction | None:
    server = simulation.servers[fault.servers[0]]
    if server.run_state != "up":
        return None
    server.freeze()
    run_state = server.state

    def thaw() -> None:
        if server.run_state == "frozen" and server.state is run_state:
            simulation.thaw_server(server)

    return thaw


def _step_clock(simulation: ClusterSimulation, fault: PlannedFault) -> EndAction | None:
    server = simulation.servers[fault.servers[0]]
    change_ms = round((2 * fault.choice - 1) * _MAX_CLOCK_STEP_MS)
    simulation.history.facts.append(ClockStep(server.server_name, simulation.now_ms, change_ms))
    server.clock_error_ms += change_ms
    return _do_nothing


def _wipe_permission(simulation: ClusterSimulation, fault: PlannedFault) -> EndAction | None:
    broker_name = simulation.brokers[fault.group, 0].spec.broker_name
    ext_fields = headers.write_header(headers.BrokerName(broker_name))
    _send_to_servers(simulation, fault, RequestCode.WIPE_WRITE_PERM_OF_BROKER, ext_fields)
    if fault.choice > 0.7:
        return _do_nothing
    return partial(_send_to_servers, simulation, fault, RequestCode.ADD_WRITE_PERM_OF_BROKER, ext_fields)


def _send_to_servers(
    simulation: ClusterSimulation, fault: PlannedFault, code: int, ext_fields: dict[str, str]
) -> None:
    for number, name in enumerate(fault.servers):
        simulation.call_after(
            number * _OPERATOR_STEP_MS,
            partial(
                simulation.send_operator_request, simulation.servers[name], build_request(code, ext_fields)
            ),
        )


def _close_by_permission(simulation: ClusterSimulation, fault: PlannedFault) -> EndAction | None:
    master = simulation.brokers[fault.group, 0]
    if master.run_state != "up" or master.model.properties.broker_permission != _OPEN:
        return None
    _set_permission(simulation, master, _CLOSED)
    return partial(_set_permission, simulation, master, _OPEN)


def _set_permission(simulation: ClusterSimulation, master: VirtualBroker, perm: int) -> None:
    master.set_permission(perm, simulation.now_ms)
    if master.run_state == "up":
        simulation.register_broker(master)


def _change_topics(simulation: ClusterSimulation, fault: PlannedFault) -> EndAction | None:
    """Create a topic or change its queues; some topics are deleted later."""
    master = simulation.brokers[fault.group, 0]
    if master.run_state != "up":
        return None
    topic = f"topic-{int(fault.choice * 4)}-{fault.group}"
    master.model.topic_table.put_config(
        make_topic_config(topic, 1 + int(fault.since) % 16), simulation.now_ms
    )
    simulation.register_broker(master)
    return partial(_delete_topic, simulation, fault, master, topic) if fault.choice < 0.5 else _do_nothing


def _delete_topic(
    simulation: ClusterSimulation, fault: PlannedFault, master: VirtualBroker, topic: str
) -> None:
    if master.run_state == "up" and master.model.topic_table.delete_config(topic, simulation.now_ms):
        simulation.register_broker(master)
        ext_fields = headers.write_header(headers.DeleteTopic(topic))
        for server in simulation.servers.values():
            simulation.send_operator_request(
                server, build_request(RequestCode.DELETE_TOPIC_IN_NAMESRV, ext_fields)
            )


def _change_kv_config(simulation: ClusterSimulation, fault: PlannedFault) -> EndAction | None:
    key, value = f"topic-{int(fault.choice * 3)}", f"broker-a:{int(fault.since) % 9}"
    put_fields = headers.write_header(headers.PutKvConfig("ORDER_TOPIC_CONFIG", key, value))
    _send_to_servers(simulation, fault, RequestCode.PUT_KV_CONFIG, put_fields)
    if fault.choice > 0.6:
        return _do_nothing
    delete_fields = headers.write_header(headers.KvKey("ORDER_TOPIC_CONFIG", key))
    return partial(_send_to_servers, simulation, fault, RequestCode.DELETE_KV_CONFIG, delete_fields)


_ACTIONS_BY_KIND: Mapping[str, Callable[[ClusterSimulation, PlannedFault], EndAction | None]] = {
    "stop broker": partial(_take_down_broker, is_abrupt=False),
    "kill broker": partial(_take_down_broker, is_abrupt=True),
    "freeze broker": _freeze_broker,
    "partition": _cut_links,
    "stop name server": partial(_take_down_server, stop_reason="stop requested"),
    "kill name server": partial(_take_down_server, stop_reason=None),
    "freeze name server": _freeze_server,
    "step clock": _step_clock,
    "wipe": _wipe_permission,
    "close by permission": _close_by_permission,
    "change topics": _change_topics,
    "change KV config": _change_kv_config,
}
