"""Turns the state of a cluster into the desired cluster that describes it. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from nsadmin.client.consumers.groups import select_user_groups
from nsadmin.client.name_servers.order_confs import ORDER_CONF_NAMESPACE, parse_order_conf
from nsadmin.client.results import error_text
from nsadmin.operations.plans.records import ClusterState, DesiredCluster, ItemSpec, LiveBrokerState
from nsadmin.operations.plans.settings import ItemSettings, SpreadKind

OrderConfTexts = Mapping[str, str]


def describe_cluster(state: ClusterState, namespaces: Iterable[str] = ()) -> tuple[DesiredCluster, list[str]]:
    """The desired cluster that describes the servers that answered, and one line for each remark.

    Topics that brokers created for themselves or for groups, system groups and static topics are left out. If
    name servers have different values, those of the first one are taken.
    """
    known_brokers = [b for b in state.broker_states if b.error is None]
    order_confs, unreadable_remarks = _select_readable(
        select_cluster_confs(_merge_values(state, ORDER_CONF_NAMESPACE), state.broker_states)
    )
    desired = DesiredCluster(
        state.cluster_name,
        _drop_implied_order(
            _derive_specs("topic", known_brokers, [select_user_topics(b) for b in known_brokers]), order_confs
        ),
        _derive_specs("group", known_brokers, [select_user_groups(b.groups) for b in known_brokers]),
        order_confs,
        {namespace: _merge_values(state, namespace) for namespace in namespaces} or None,
    )
    return desired, [
        *_remarks_on_silent(state),
        *state.shared_addr_lines,
        *unreadable_remarks,
        *_remarks_on_disagreement(state),
        *_remarks_on_static(known_brokers),
    ]


def select_user_topics(broker: LiveBrokerState) -> dict[str, ItemSettings]:
    """The topics of a broker that may be in a file."""
    excluded_topics = broker.own_topics | broker.static
    return {topic: settings for topic, settings in broker.topics.items() if topic not in excluded_topics}


def select_cluster_confs(
    order_confs: OrderConfTexts, broker_states: Sequence[LiveBrokerState]
) -> dict[str, str]:
    """The order configurations of a cluster: those of its topics, and those that name its brokers."""
    broker_names = {broker.broker_name for broker in broker_states}
    broker_topics = {topic for broker in broker_states for topic in broker.topics}
    return {
        topic: conf_text
        for topic, conf_text in order_confs.items()
        if topic in broker_topics or broker_names & _brokers_in_conf(conf_text)
    }


def _brokers_in_conf(conf_text: str) -> set[str]:
    return {conf_entry.partition(":")[0] for conf_entry in conf_text.split(";")}


def _derive_specs(
    spread_kind: SpreadKind,
    broker_states: Sequence[LiveBrokerState],
    settings_tables: Sequence[Mapping[str, ItemSettings]],
) -> dict[str, ItemSpec]:
    broker_names = [b.broker_name for b in broker_states]
    settings_by_item: dict[str, dict[str, ItemSettings]] = {}
    for broker_name, settings_table in zip(broker_names, settings_tables, strict=True):
        for item_name, settings in settings_table.items():
            settings_by_item.setdefault(item_name, {})[broker_name] = settings
    return {
        item_name: ItemSpec.from_brokers(spread_kind, settings_by_item[item_name], broker_names)
        for item_name in sorted(settings_by_item)
    }


def _drop_implied_order(specs: Mapping[str, ItemSpec], order_confs: OrderConfTexts) -> dict[str, ItemSpec]:
    """The specs without `order` for topics with an order configuration, which implies it."""
    return {topic: _drop_order(spec) if topic in order_confs else spec for topic, spec in specs.items()}


def _drop_order(spec: ItemSpec) -> ItemSpec:
    broker_settings = {name: _without_order(settings) for name, settings in spec.per_broker.items()}
    remaining_settings = {n: settings for n, settings in broker_settings.items() if settings}
    return spec._replace(common_settings=_without_order(spec.common_settings), per_broker=remaining_settings)


def _without_order(settings: ItemSettings) -> ItemSettings:
    return {n: v for n, v in settings.items() if n != "order"}


def _merge_values(state: ClusterState, namespace: str) -> dict[str, str]:
    """The merged values of all name servers; for one key, the first name server that has it wins."""
    merged_values: dict[str, str] = {}
    for server in reversed(state.server_states):
        merged_values.update(server.kv.get(namespace, {}))
    return merged_values


def _select_readable(order_confs: OrderConfTexts) -> tuple[dict[str, str], list[str]]:
    """The valid order configurations, and a remark for each invalid one."""
    readable_confs, export_remarks = {}, []
    for topic, conf_text in order_confs.items():
        try:
            parse_order_conf(conf_text)
        except ValueError as error:
            export_remarks.append(f"not exported: the malformed order configuration of {topic}: {error}")
        else:
            readable_confs[topic] = conf_text
    return readable_confs, export_remarks


def _remarks_on_silent(state: ClusterState) -> list[str]:
    broker_errors = [(f"broker {b.broker_name}", b.error) for b in state.broker_states]
    server_errors = [(f"name server {s.namesrv_addr}", s.error) for s in state.server_states]
    return [
        f"{server_label}: {error_text(error)}; its settings are missing from this file"
        for server_label, error in (*broker_errors, *server_errors)
        if error is not None
    ]


def _remarks_on_disagreement(state: ClusterState) -> list[str]:
    known_servers = [s for s in state.server_states if s.error is None]
    namespaces = sorted({kv_namespace for server in known_servers for kv_namespace in server.kv})
    return [
        (
            f"name servers have different values in the KV namespace {n}: this file has the values "
            "of the first name server"
        )
        for n in namespaces
        if any(server.kv.get(n) != known_servers[0].kv.get(n) for server in known_servers)
    ]


def _remarks_on_static(known_brokers: Sequence[LiveBrokerState]) -> list[str]:
    static_topics = sorted({topic for broker in known_brokers for topic in broker.static})
    return [f"not exported: the static topics {', '.join(static_topics)}"] if static_topics else []
