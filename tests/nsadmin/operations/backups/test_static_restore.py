"""Static topics that brokers lost, and mappings that must stay."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from nsadmin import AdminClient
from nsadmin.operations.backups.records import BrokerBackup, Section
from nsadmin.operations.backups.restore_outcome import RestoreOutcome
from nsadmin.operations.backups.static_restore import StaticTopicRestore
from tests.support.cluster_backups import BROKER, STATIC_SHARE
from tests.support.static_brokers import StaticBroker


class Brokers(NamedTuple):
    admin: AdminClient
    a: StaticBroker
    b: StaticBroker

    def restore(self, broker: BrokerBackup = BROKER, *, is_dry_run: bool = False) -> RestoreOutcome:
        addrs = {"broker-a": self.a.addr, "broker-b": self.b.addr}
        [outcome] = StaticTopicRestore(self.admin, addrs, is_dry_run=is_dry_run).restore_topics([broker])
        return outcome


@pytest.fixture
def brokers() -> Iterator[Brokers]:
    with StaticBroker("broker-a") as a, StaticBroker("broker-b") as b, AdminClient("h:1", timeout=5) as admin:
        yield Brokers(admin, a, b)


def test_a_lost_share_comes_back_once(brokers: Brokers) -> None:
    planned = brokers.restore(is_dry_run=True)
    assert (planned.section, planned.result, brokers.a.told) == (Section.STATIC_TOPICS, "dry-run", [])
    done = brokers.restore()
    assert (done.result, done.before, done.error) == ("done", None, None)
    assert brokers.admin.queue_mappings.get_each("moved", [brokers.a.addr])[0].result == STATIC_SHARE
    assert (brokers.restore().result, len(brokers.a.told)) == ("unchanged", 1)


def test_a_newer_mapping_on_any_broker_stays(brokers: Brokers) -> None:
    newer = STATIC_SHARE._replace(epoch=6, hosted_queues={})
    brokers.admin.queue_mappings.put_shares("moved", [(brokers.b.addr, "broker-b", newer)])
    refused = brokers.restore()
    assert (refused.result, brokers.a.told) == ("failed", [])
    assert "the mapping on broker-b is newer than the backup (epoch 6, not 5)" in str(refused.error)


def test_a_queue_that_lost_its_messages_and_a_plain_topic_are_refused(brokers: Brokers) -> None:
    [first, last] = STATIC_SHARE.hosted_queues[0]
    moved_back = STATIC_SHARE._replace(hosted_queues={0: (first, last._replace(start_offset=8))})
    broker = BROKER._replace(static_topics={"moved": moved_back})
    brokers.a.ends = {0: 7}
    assert "queue 0 has lost its messages: it ends at 7" in str(brokers.restore(broker).error)
    brokers.a.ends = {0: 8}
    assert brokers.restore(broker, is_dry_run=True).error is None
    brokers.b.static["moved"] = {"topicName": "moved"}
    assert "the mapping on broker-b is unknown" in str(brokers.restore(broker).error)


def test_a_broker_that_the_cluster_lacks_is_named(brokers: Brokers) -> None:
    [first, last] = STATIC_SHARE.hosted_queues[0]
    elsewhere = STATIC_SHARE._replace(hosted_queues={0: (first._replace(bname="gone"), last)})
    refused = brokers.restore(BROKER._replace(static_topics={"moved": elsewhere}))
    assert "the mapping has queues on gone, which the cluster lacks" in str(refused.error)
