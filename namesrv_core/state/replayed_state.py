"""The answers that a name server gave in the past, computed from the tables of a journal's replay."""

from namesrv_core.history.replay import JournalReplay, ReplayedGroup
from namesrv_core.state import table_lookup
from namesrv_core.state.broker_tables import RegisteredGroup
from namesrv_core.state.kv_config import ORDER_TOPIC_CONFIG
from namesrv_core.state.placements import QueuePlacement
from namesrv_core.state.route_tables import RouteTables


def replayed_route_body(journal_replay: JournalReplay, topic: str) -> bytes | None:
    """The past body of GET_ROUTEINFO_BY_TOPIC in standard JSON, or None for a topic without a route.

    It has the filter servers of live brokers only: the journal does not record those of a refused broker.
    """
    topic_route = table_lookup.find_route(
        _build_route_tables(journal_replay, topic),
        topic,
        _is_setting_on(journal_replay, "supportActingMaster"),
    )
    if topic_route is None:
        return None
    is_order_enabled = _is_setting_on(journal_replay, "orderMessageEnable")
    order_conf = journal_replay.kv_tables.get(ORDER_TOPIC_CONFIG, {}).get(topic) if is_order_enabled else None
    return table_lookup.encode_route_body(topic_route, order_conf, is_standard=True)


def _is_setting_on(journal_replay: JournalReplay, setting_key: str) -> bool:
    return journal_replay.settings.get(setting_key) == "true"


def _build_route_tables(journal_replay: JournalReplay, topic: str) -> RouteTables:
    """The part of the tables that the route of one topic needs."""
    tables = RouteTables()
    if topic in journal_replay.queues_by_topic:
        tables.placements_by_topic[topic] = QueuePlacement(journal_replay.queues_by_topic[topic])
    if topic in journal_replay.queue_mappings:
        tables.queue_mappings[topic] = journal_replay.queue_mappings[topic]
    for broker_name in journal_replay.queues_by_topic.get(topic, ()):
        if broker_name in journal_replay.broker_groups:
            tables.broker_groups[broker_name] = _build_broker_group(
                broker_name, journal_replay.broker_groups[broker_name]
            )
    tables.filter_servers = {
        live_key: list(live_info.filter_servers)
        for live_key, live_info in journal_replay.live_infos.items()
        if live_info.filter_servers
    }
    return tables


def _build_broker_group(broker_name: str, replayed_group: ReplayedGroup) -> RegisteredGroup:
    broker_group = RegisteredGroup(replayed_group.cluster_name, broker_name)
    broker_group.broker_addrs = replayed_group.broker_addrs
    broker_group.enable_acting_master, broker_group.zone_name = (
        replayed_group.enable_acting_master,
        replayed_group.zone_name,
    )
    return broker_group
