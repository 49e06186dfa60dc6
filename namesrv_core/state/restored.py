"""The answers that a name server gave in the past, computed from the tables of a journal's replay."""

from namesrv_core.history.replay import GroupTable, Replay
from namesrv_core.state import lookup
from namesrv_core.state.kv import ORDER_TOPIC_CONFIG
from namesrv_core.state.placements import Placement
from namesrv_core.state.tables import BrokerGroup, RouteTables


def route_body(past: Replay, topic: str) -> bytes | None:
    """The past body of GET_ROUTEINFO_BY_TOPIC in standard JSON, or None for a topic without a route.

    It has the filter servers of live brokers only: the journal does not record those of a refused broker.
    """
    found = lookup.route(_tables(past, topic), topic, _is_on(past, "supportActingMaster"))
    if found is None:
        return None
    ordered = _is_on(past, "orderMessageEnable")
    order = past.kv.get(ORDER_TOPIC_CONFIG, {}).get(topic) if ordered else None
    return lookup.route_body(found, order, standard=True)


def _is_on(past: Replay, setting: str) -> bool:
    return past.settings.get(setting) == "true"


def _tables(past: Replay, topic: str) -> RouteTables:
    """The part of the tables that the route of one topic needs."""
    tables = RouteTables()
    if topic in past.topics:
        tables.topics[topic] = Placement(past.topics[topic])
    if topic in past.mappings:
        tables.mappings[topic] = past.mappings[topic]
    for name in past.topics.get(topic, ()):
        if name in past.groups:
            tables.groups[name] = _group(name, past.groups[name])
    tables.filters = {
        key: list(info.filter_servers) for key, info in past.live.items() if info.filter_servers
    }
    return tables


def _group(name: str, table: GroupTable) -> BrokerGroup:
    group = BrokerGroup(table.cluster, name)
    group.addrs = table.addrs
    group.acting_master, group.zone = table.enable_acting_master, table.zone_name
    return group
