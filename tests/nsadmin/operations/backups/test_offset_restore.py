"""Where a group continues: by position, by time, or not at all."""

from pathlib import Path

import pytest

from nsadmin import AdminClient
from nsadmin.operations.backups.observer import observe_backup
from nsadmin.operations.backups.offset_restore import OffsetTarget, apply_offsets, plan_offsets
from nsadmin.operations.backups.records import BrokerBackup, SavedOffset
from tests.support.lab import Lab, start_lab


def take_broker(admin: AdminClient) -> BrokerBackup:
    """The broker with one offset of a group that is in the middle of a queue."""
    broker = observe_backup(admin, "cluster-a", 5).brokers["broker-a-0"]
    key = next(
        key for key, by_queue in sorted(broker.offsets.items()) if 0 in by_queue and by_queue[0].store_ms
    )
    return broker._replace(offsets={key: {0: broker.offsets[key][0]}})


def only_key(broker: BrokerBackup) -> tuple[str, str]:
    [key] = broker.offsets
    return key


def plan(
    running_lab: Lab, admin: AdminClient, broker: BrokerBackup, *, overwrites: bool = True
) -> OffsetTarget:
    [target] = plan_offsets(admin, running_lab.brokers["broker-a-0", 0], broker, overwrites=overwrites)
    return target


def change_offset(broker: BrokerBackup, by: int, store_shift_ms: int | None) -> BrokerBackup:
    key = only_key(broker)
    saved = broker.offsets[key][0]
    store_ms = None if store_shift_ms is None else (saved.store_ms or 0) + store_shift_ms
    return broker._replace(offsets={key: {0: SavedOffset(saved.offset + by, store_ms)}})


@pytest.mark.parametrize(
    ("by", "store_shift_ms", "method"), [(-5, 7, "time"), (-5, None, "unknown")], ids=["time", "unknown"]
)
def test_another_message_at_the_position_means_time_or_nothing(
    tmp_path: Path, by: int, store_shift_ms: int | None, method: str
) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        target = plan(there, admin, change_offset(take_broker(admin), by, store_shift_ms))
    assert target.method == method
    assert (target.new_offset is None) == (method == "unknown")


def test_the_same_message_at_the_position_is_restored_by_position_and_read_back(tmp_path: Path) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        broker = take_broker(admin)
        broker_addr = there.brokers["broker-a-0", 0]
        key = only_key(broker)
        saved = broker.offsets[key][0]
        kept = plan(there, admin, change_offset(broker, -5, 0), overwrites=False)
        first = broker._replace(offsets={key: {0: SavedOffset(0, None)}})
        target = plan(there, admin, first)
        [outcome] = apply_offsets(admin, broker_addr, "broker-a-0", [target])
        back = plan(there, admin, broker._replace(offsets={key: {0: saved}}))
    assert (kept.method, "--overwrite-offsets" in kept.reason) == ("kept", True)
    # The lab has deleted its first messages, so a group that had consumed nothing begins at the oldest one.
    assert target.method == "time"
    assert 0 < (target.new_offset or 0) < saved.offset
    assert outcome.error is None
    assert (back.method, back.new_offset) == ("position", saved.offset)


def test_an_offset_of_a_static_topic_that_is_no_message_of_the_own_queue_is_kept_as_it_was(
    tmp_path: Path,
) -> None:
    with start_lab(tmp_path) as there, AdminClient(there.namesrv_addrs, timeout=5) as admin:
        broker_addr = there.brokers["broker-a-0", 0]
        broker = change_offset(take_broker(admin), 1_000_000, None)
        (topic, group), saved = only_key(broker), next(iter(broker.offsets.values()))[0]
        assert plan(there, admin, broker).method == "unknown"
        targets = plan_offsets(admin, broker_addr, broker, {topic}, overwrites=True)
        assert [(target.method, target.new_offset) for target in targets] == [("position", saved.offset)]
        [outcome] = apply_offsets(admin, broker_addr, "broker-a-0", targets, {topic})
        assert (outcome.result, outcome.error) == ("done", None)
        committed = admin.consumers.get_committed_each([broker_addr])[0].value()
        assert committed[f"{topic}@{group}"][0] == saved.offset
        changed = change_offset(broker, -5, 7)
        [other] = plan_offsets(admin, broker_addr, changed, {topic}, overwrites=True)
    assert (other.method, other.reason) == ("unknown", "the queue of the static topic has other messages")
