"""A transfer from one cluster of the lab to the other."""

from collections.abc import Iterator

import pytest

from nsadmin import AdminClient
from nsadmin.client.results import Ambiguous, NotFound
from nsadmin.operations.backups.records import Section
from nsadmin.operations.transfer.metadata_transfer import MetadataScope, MetadataTransfer
from tests.support.lab import Lab, start_lab

TOPICS = MetadataScope(
    frozenset({Section.TOPICS, Section.ORDER_CONF}),
    source_cluster="cluster-a",
    target_cluster="cluster-b",
    on_all_brokers=True,
)


@pytest.fixture(scope="module")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with start_lab(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture
def admin(running_lab: Lab) -> Iterator[AdminClient]:
    with AdminClient(running_lab.namesrv_addrs, timeout=5) as client:
        yield client


def transfer(admin: AdminClient, scope: MetadataScope, *, dry: bool = False) -> set[tuple[str, str]]:
    outcomes = list(MetadataTransfer(admin, admin, scope).run(is_dry_run=dry))
    return {(outcome.item_name, outcome.result) for outcome in outcomes if outcome.result != "unchanged"}


def test_a_topic_is_created_on_every_target_broker_once(running_lab: Lab, admin: AdminClient) -> None:
    admin.topics.delete_topic("orders", "cluster-b")
    scope = TOPICS._replace(topics=frozenset({"orders"}))
    assert transfer(admin, scope, dry=True) == {("orders", "dry-run")}
    assert transfer(admin, scope) == {("orders", "done")}
    masters = [running_lab.brokers[f"broker-b-{number}", 0] for number in range(3)]
    assert all(result.result for result in admin.topic_configs.get_each(masters, "orders"))
    assert transfer(admin, scope) == set()


@pytest.mark.parametrize("on_all_brokers", [True, False])
def test_an_order_configuration_names_the_brokers_that_get_the_topic(
    running_lab: Lab, admin: AdminClient, on_all_brokers: bool
) -> None:
    # The name servers serve both clusters: the entries of brokers that are not the target's stay.
    admin.order_confs.put_conf("orders", "broker-a-0:8;broker-a-2:4;broker-b-9:1")
    names = {} if on_all_brokers else {f"broker-a-{n}": f"broker-b-{n}" for n in range(3)}
    scope = TOPICS._replace(topics=frozenset({"orders"}), on_all_brokers=on_all_brokers, broker_names=names)
    assert ("ORDER_TOPIC_CONFIG orders", "done") in transfer(admin, scope)
    [conf] = {result.value() for result in admin.order_confs.get_each("orders")}
    added = "broker-b-0:8;broker-b-1:8;broker-b-2:8" if on_all_brokers else "broker-b-0:8;broker-b-2:4"
    assert conf == f"broker-a-0:8;broker-a-2:4;broker-b-9:1;{added}"
    assert transfer(admin, scope) == set()


def test_a_source_broker_goes_to_the_broker_that_is_named(running_lab: Lab, admin: AdminClient) -> None:
    names = {f"broker-a-{number}": f"broker-b-{number}" for number in range(3)}
    scope = MetadataScope(
        frozenset({Section.GROUPS}),
        source_cluster="cluster-a",
        target_cluster="cluster-b",
        broker_names=names,
    )
    assert transfer(admin, scope, dry=True) == set()
    unmapped = list(
        MetadataTransfer(admin, admin, scope._replace(broker_names={"broker-a-1": "broker-b-1"})).run(
            is_dry_run=True
        )
    )
    assert 'the cluster has no broker "broker-a-0"' in str(unmapped[0].error)


def test_names_that_the_source_lacks_are_refused(admin: AdminClient) -> None:
    for scope, text in (
        (TOPICS._replace(topics=frozenset({"none"})), 'the source has no topic "none" that a user created'),
        (TOPICS._replace(groups=frozenset({"none"})), 'the source has no group "none" that a user created'),
        (
            TOPICS._replace(broker_names={"x": "y"}),
            r'the source has no broker "x" \(--map\): it has broker-a-0',
        ),
        (
            TOPICS._replace(source_cluster=None),
            "several clusters: choose one of cluster-a, cluster-b with --from-cluster",
        ),
        (
            TOPICS._replace(broker_names={"broker-a-2": "broker-a-0"}),
            "broker-a-0 and broker-a-2 go to broker-a-0: pass another --map, or --all-brokers",
        ),
    ):
        with pytest.raises((NotFound, Ambiguous), match=text):
            MetadataTransfer(admin, admin, scope)
