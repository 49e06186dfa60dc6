"""What is selected of a backup, under which names."""

from nsadmin.operations.backups.records import SavedOffset, Section
from nsadmin.operations.backups.restore_scope import RestoreScope, describe_desired_cluster, select_backup
from tests.support.cluster_backups import BACKUP, BROKER


def test_everything_is_selected_with_the_new_names_of_brokers() -> None:
    selected = select_backup(BACKUP, RestoreScope("cluster-b", broker_names={"broker-a": "broker-x"}))
    assert selected.cluster_name == "cluster-b"
    broker = selected.brokers["broker-x"]
    assert broker._replace(broker_name="broker-a", static_topics=BROKER.static_topics) == BROKER
    share = broker.static_topics["moved"]
    assert share is not None
    assert [part.bname for part in share.hosted_queues[0]] == ["broker-b", "broker-x"]
    assert selected.kv["ORDER_TOPIC_CONFIG"] == {"orders": "broker-x:8"}
    assert selected.kv["DEPLOYMENT"] == {"region": "eu"}


def test_a_topic_selects_its_offsets_modes_and_order_configuration_only() -> None:
    selected = select_backup(BACKUP, RestoreScope("cluster-a", topics=frozenset({"orders"})))
    broker = selected.brokers["broker-a"]
    assert (list(broker.topics), broker.groups, broker.users, broker.settings) == (["orders"], {}, [], {})
    assert (len(broker.offsets), len(broker.consume_modes)) == (1, 1)
    assert selected.kv == {"ORDER_TOPIC_CONFIG": {"orders": "broker-a:8"}}
    other = select_backup(BACKUP, RestoreScope("cluster-a", topics=frozenset({"payments"})))
    assert other.brokers["broker-a"].offsets == {}


def test_a_parent_topic_selects_the_offsets_of_its_lite_topics() -> None:
    key = ("%LMQ%$orders$one", "warehouse")
    broker = BROKER._replace(offsets={key: {0: SavedOffset(1, 5)}})
    scope = RestoreScope("cluster-a", topics=frozenset({"orders"}))
    selected = select_backup(BACKUP._replace(brokers={"broker-a": broker}), scope)
    assert list(selected.brokers["broker-a"].offsets) == [key]


def test_a_section_selects_nothing_else() -> None:
    selected = select_backup(BACKUP, RestoreScope("cluster-a", frozenset({Section.GROUPS})))
    broker = selected.brokers["broker-a"]
    assert (broker.topics, list(broker.groups), broker.offsets, selected.kv) == ({}, ["warehouse"], {}, {})


def test_items_name_their_brokers_so_that_other_brokers_get_nothing() -> None:
    desired = describe_desired_cluster(BACKUP)
    assert desired.topic_specs is not None
    assert desired.topic_specs["orders"].only_on == ("broker-a",)
    assert desired.order_confs == {"orders": "broker-a:8"}
    assert desired.kv_tables == {"DEPLOYMENT": {"region": "eu"}}
