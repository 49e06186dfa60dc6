"""The answers that a name server gave in the past, computed from the tables of a journal's replay."""

from namesrv_core.history.replay import JournalReplay
from namesrv_core.state import routes
from namesrv_core.state.broker_tables import RegisteredGroup
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.state.placements import QueuePlacement
from namesrv_core.state.route_tables import RouteTables


def replayed_route_body(replay: JournalReplay, topic: str) -> bytes | None:
    """The past body of GET_ROUTEINFO_BY_TOPIC in standard JSON, or None for a topic without a route.

    It has the filter servers of live brokers only: the journal does not record those of a refused broker.
    """
    route = routes.find_route(
        _build_route_tables(replay, topic), topic, _is_setting_on(replay, "supportActingMaster")
    )
    if route is None:
        return None
    is_order_enabled = _is_setting_on(replay, "orderMessageEnable")
    order_conf = replay.kv_tables.get(ORDER_TOPIC_CONFIG, {}).get(topic) if is_order_enabled else None
    return routes.encode_route_body(route, order_conf, is_standard=True)


def _is_setting_on(replay: JournalReplay, key: str) -> bool:
    return replay.settings.get(key) == "true"


def _build_route_tables(replay: JournalReplay, topic: str) -> RouteTables:
    """The part of the tables that the route of one topic needs."""
    tables = RouteTables()
    if topic in replay.queues_by_topic:
        tables.placements_by_topic[topic] = QueuePlacement(replay.queues_by_topic[topic])
    if topic in replay.queue_mappings:
        tables.queue_mappings[topic] = replay.queue_mappings[topic]
    for broker_name in replay.queues_by_topic.get(topic, ()):
        if broker_name in replay.broker_groups:
            known = replay.broker_groups[broker_name]
            group = tables.broker_groups[broker_name] = RegisteredGroup(known.cluster_name, broker_name)
            group.broker_addrs, group.zone_name = known.broker_addrs, known.zone_name
            group.enable_acting_master = known.enable_acting_master
    tables.filter_servers = {
        key: list(live.filter_servers) for key, live in replay.live_infos.items() if live.filter_servers
    }
    return tables
