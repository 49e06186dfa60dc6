"""Moving groups: planned, carried out, read back."""

from collections.abc import Iterator

import pytest

from namesrv_core.protocol.command import build_reply
from nsadmin import AdminClient
from nsadmin.client import NotApplied, NotFound
from nsadmin.client.consumers.offset_moves import END_OF_QUEUE, OffsetMove
from nsadmin.client.message_queues import MessageQueue
from tests.support.consumer_brokers import ConsumerBroker
from tests.support.fake_servers import FakeNameServer, answer_json, refuse_with

QUEUE = MessageQueue("T", "broker-a", 0)


@pytest.fixture
def broker() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        running.ends = {("T", number): (10, 50) for number in range(8)}
        running.offsets = {("G", "T", number): 20 for number in range(7)}
        yield running


def short(moves: tuple[OffsetMove, ...] | list[OffsetMove]) -> list[tuple[int | None, int | None, str]]:
    return [(move.old_offset, move.new_offset, move.result) for move in moves]


@pytest.mark.parametrize(
    ("timestamp", "new", "skipped", "repeated"),
    [(END_OF_QUEUE, 50, 30, 0), (15, 15, 0, 5), (3, 10, 0, 10), (20, 20, 0, 0)],
)
def test_a_plan_says_what_is_skipped_and_repeated(
    admin: AdminClient, broker: ConsumerBroker, timestamp: int, new: int, skipped: int, repeated: int
) -> None:
    plan = admin.offsets.plan_reset("G", "T", timestamp)
    assert len(plan.moves) == 8
    assert plan.moves[0] == OffsetMove(broker.addr, QUEUE, 20, new, "planned", None)
    assert (plan.moves[0].skipped_count, plan.moves[0].repeated_count) == (skipped, repeated)
    never = plan.moves[7]
    assert (never.old_offset, never.new_offset, never.skipped_count, never.repeated_count) == (
        None,
        new,
        None,
        None,
    )
    assert {15, 222}.isdisjoint(broker.asked_codes())


def test_a_plan_is_carried_out_by_the_broker(admin: AdminClient, broker: ConsumerBroker) -> None:
    done = admin.offsets.apply_reset(admin.offsets.plan_reset("G", "T", 15))
    assert short(done) == [(20, 15, "done")] * 7 + [(None, 15, "done")]
    assert set(broker.offsets.values()) == {15}
    [asked] = [command for command in broker.asked if command.code == 222]
    assert asked.ext == {"group": "G", "topic": "T", "timestamp": "15", "isForce": "true"}


def test_what_is_not_there_is_not_moved(admin: AdminClient, first_server: FakeNameServer) -> None:
    pattern = "this takes the name of one group, and `nsadmin consumerProgress 'w\\*'` lists the groups$"
    with pytest.raises(NotFound, match=pattern):
        admin.offsets.plan_reset("w*", "T", END_OF_QUEUE)
    creation = "`nsadmin consumerProgress` lists the groups; create it with `nsadmin updateSubGroup X -c C`$"
    with pytest.raises(NotFound, match=f'has the consumer group "X": {creation}'):
        admin.offsets.plan_reset("X", "T", END_OF_QUEUE)
    with pytest.raises(NotFound, match='has the consumer group "X": `nsadmin consumerProgress` lists'):
        admin.offsets.plan_clone("X", "G", "T")
    with pytest.raises(NotFound, match='no cluster "D"'):
        admin.offsets.plan_reset("G", "T", END_OF_QUEUE, cluster_name="D")
    first_server.clusters = {**first_server.clusters, "D": {"d": {0: "h:1"}}}
    with pytest.raises(NotFound, match='has queues of "T"'):
        admin.offsets.plan_reset("G", "T", END_OF_QUEUE, cluster_name="D")


def test_a_broker_that_does_nothing_is_found_out(admin: AdminClient, broker: ConsumerBroker) -> None:
    answer = b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:50}}'
    broker.handlers[222] = lambda asked: build_reply(asked, body=answer)
    done = admin.offsets.apply_reset(admin.offsets.plan_reset("G", "T", END_OF_QUEUE))
    assert str(done[0].error) == "the broker reported success, but the offset is still 20"
    assert str(done[1].error) == "the broker reported success, but its answer does not contain this queue"
    broker.handlers[222] = refuse_with(1, "no")
    done = admin.offsets.apply_reset(admin.offsets.plan_reset("G", "T", END_OF_QUEUE))
    assert {str(move.error) for move in done} == {"SYSTEM_ERROR (1): no"}


def test_a_broker_of_which_one_queue_cannot_be_planned_is_left_alone(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    broker.handlers[31] = lambda a: (
        refuse_with(1, "no")(a) if (a.ext or {})["queueId"] == "3" else build_reply(a, ext={"offset": "0"})
    )
    done = admin.offsets.apply_reset(admin.offsets.plan_reset("G", "T", END_OF_QUEUE))
    assert {move.result for move in done} == {"failed"}
    assert str(done[3].error) == "SYSTEM_ERROR (1): no"
    assert 222 not in broker.asked_codes()


def test_a_broker_without_a_master_fails_and_the_other_is_moved(
    admin: AdminClient, first_server: FakeNameServer, broker: ConsumerBroker
) -> None:
    first_server.clusters["C"] = {"broker-a": {0: broker.addr}, "broker-b": {1: "h:1"}}  # type: ignore[index]
    first_server.routes["T"]["broker-b"] = 6
    done = admin.offsets.apply_reset(admin.offsets.plan_reset("G", "T", END_OF_QUEUE))
    assert [move.result for move in done] == ["done"] * 8 + ["failed"]
    assert str(done[8].error) == "this broker has no master now"


def test_a_renamed_broker_is_moved_once(
    admin: AdminClient, first_server: FakeNameServer, broker: ConsumerBroker
) -> None:
    """Name servers list its former name as well, and the broker answers with its own."""
    first_server.clusters["C"] = {"a-former": {0: broker.addr}, "broker-a": {0: broker.addr}}  # type: ignore[index]
    first_server.routes["T"]["a-former"] = 6
    plan = admin.offsets.plan_reset("G", "T", END_OF_QUEUE)
    assert [move.result for move in admin.offsets.apply_reset(plan)] == ["done"] * 8


def test_old_brokers_write_offsets_where_nobody_is_connected(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    del broker.properties["useServerSideResetOffset"]
    done = admin.offsets.apply_reset(admin.offsets.plan_reset("G", "T", 30, force=False))
    assert short(done) == [(20, 20, "kept")] * 7 + [(None, 30, "done")]
    done = admin.offsets.apply_reset(admin.offsets.plan_reset("G", "T", 15, force=False))
    assert {move.result for move in done} == {"done"}
    assert set(broker.offsets.values()) == {15}


def test_old_brokers_leave_it_to_clients(admin: AdminClient, broker: ConsumerBroker) -> None:
    broker.properties["useServerSideResetOffset"] = "false"
    broker.clients = {"G": ["c1"]}
    plan = admin.offsets.plan_reset("G", "T", END_OF_QUEUE)
    before = dict(broker.offsets)
    usual_handler = broker.handlers[222]

    def forget(asked: object) -> object:
        answer = usual_handler(asked)  # type: ignore[arg-type]
        broker.offsets = dict(before)
        return answer

    broker.handlers[222] = forget  # type: ignore[assignment]
    assert {move.result for move in admin.offsets.apply_reset(plan)} == {"pending"}


@pytest.mark.parametrize("offset", [10, 50, None])
def test_one_queue_alone(admin: AdminClient, broker: ConsumerBroker, offset: int | None) -> None:
    plan = admin.offsets.plan_queue_reset("G", QUEUE, broker.addr, 30, offset)
    [move] = admin.offsets.apply_reset(plan)
    wanted = 30 if offset is None else offset
    assert (move.new_offset, move.result) == (wanted, "done")
    assert broker.offsets["G", "T", 0] == wanted
    assert broker.offsets["G", "T", 1] == 20


def test_one_queue_to_an_offset_that_it_does_not_have(admin: AdminClient, broker: ConsumerBroker) -> None:
    [move] = admin.offsets.plan_queue_reset("G", QUEUE, broker.addr, END_OF_QUEUE, 51).moves
    assert str(move.error) == "offset 51 is out of range: use 10 to 50"
    with pytest.raises(NotFound):
        admin.offsets.plan_queue_reset("X", QUEUE, broker.addr, END_OF_QUEUE, 20)


def test_one_queue_of_an_old_broker_only_while_nobody_is_connected(
    admin: AdminClient, broker: ConsumerBroker
) -> None:
    broker.properties["useServerSideResetOffset"] = "false"
    plan = admin.offsets.plan_queue_reset("G", QUEUE, broker.addr, END_OF_QUEUE, 11)
    assert short(admin.offsets.apply_reset(plan)) == [(20, 11, "done")]
    broker.clients = {"G": ["c1"]}
    [move] = admin.offsets.apply_reset(
        admin.offsets.plan_queue_reset("G", QUEUE, broker.addr, END_OF_QUEUE, 12)
    )
    assert str(move.error) == 'clients of group "G" are connected and commit their own offsets: stop c1 first'
    assert 222 not in broker.asked_codes()


@pytest.fixture
def other_broker(broker: ConsumerBroker) -> ConsumerBroker:
    """The broker has a group Other, which is at 40 on queue 0 and has an earlier reset pending there."""
    broker.configs["Other"] = {}
    broker.offsets["G", "%RETRY%G", 0] = 3
    broker.offsets["Other", "T", 0] = 40
    broker.offsets["Other", "T", 1] = 20
    broker.pending.add(("Other", "T", 0))
    return broker


CLONED = [(40, 20, "done"), (20, 20, "kept"), *[(None, 20, "done")] * 5, (None, None, "kept")]


def test_a_clone_takes_one_topic_over_an_earlier_reset(
    admin: AdminClient, other_broker: ConsumerBroker
) -> None:
    plan = admin.offsets.plan_clone("G", "Other", "T")
    assert [(m.skipped_count, m.repeated_count) for m in plan.moves[:3]] == [(0, 20), (0, 0), (None, None)]
    assert {15, 222}.isdisjoint(other_broker.asked_codes())
    assert short(admin.offsets.apply_clone(plan)) == CLONED
    assert {key: value for key, value in other_broker.offsets.items() if key[0] == "Other"} == {
        ("Other", "T", number): 20 for number in range(7)
    }


def test_a_clone_on_an_old_broker_while_nobody_is_connected(
    admin: AdminClient, other_broker: ConsumerBroker
) -> None:
    del other_broker.properties["useServerSideResetOffset"]
    other_broker.pending = set()
    assert short(admin.offsets.apply_clone(admin.offsets.plan_clone("G", "Other", "T"))) == CLONED
    other_broker.offsets["Other", "T", 0] = 41
    other_broker.clients = {"Other": ["c1"]}
    done = admin.offsets.apply_clone(admin.offsets.plan_clone("G", "Other", "T"))
    assert [move.result for move in done] == ["failed"] * 8
    assert other_broker.offsets["Other", "T", 0] == 41


def test_a_clone_for_groups_that_are_there(admin: AdminClient, other_broker: ConsumerBroker) -> None:
    for source, group in (("G", "X"), ("X", "Other")):
        with pytest.raises(NotFound, match='"X"'):
            admin.offsets.plan_clone(source, group, "T")
    other_broker.clients = {"Other": ["c1", "c2"]}
    assert {move.result for move in admin.offsets.plan_clone("G", "Other", "T").moves} == {"planned", "kept"}
    with pytest.raises(NotApplied, match="stop c1, c2"):
        admin.offsets.plan_clone("G", "Other", "T", require_offline=True)


def test_a_clone_says_what_was_refused(
    admin: AdminClient, first_server: FakeNameServer, other_broker: ConsumerBroker
) -> None:
    first_server.clusters["C"] = {"broker-a": {0: other_broker.addr}, "broker-b": {1: "h:1"}}  # type: ignore[index]
    first_server.routes["T"]["broker-b"] = 6
    other_broker.handlers[222] = refuse_with(1, "no")
    done = admin.offsets.apply_clone(admin.offsets.plan_clone("G", "Other", "T"))
    assert [str(move.error) for move in done if move.error] == [
        *["SYSTEM_ERROR (1): no"] * 6,
        "this broker has no master now",
    ]
    other_broker.handlers[14] = refuse_with(1, "busy")
    done = admin.offsets.apply_clone(admin.offsets.plan_clone("G", "Other", "T"))
    assert {str(move.error) for move in done[:8]} == {"SYSTEM_ERROR (1): busy"}


@pytest.fixture
def moved() -> Iterator[ConsumerBroker]:
    with ConsumerBroker() as running:
        yield running


def verify(moved: ConsumerBroker, old: int | None, new: int, result: str = "done") -> OffsetMove:
    move = OffsetMove(moved.addr, MessageQueue("T", "broker-a", 0), old, new, result, None)
    with AdminClient("h:1", timeout=5) as admin:
        [verified] = admin.offsets.verify_moves("G", [move])
    return verified


@pytest.mark.parametrize(
    ("old", "new", "current", "result"),
    [
        (20, 50, 50, "done"),
        (20, 50, 57, "done"),
        (20, 50, 21, "failed"),
        (20, 15, 15, "done"),
        (20, 15, 19, "done"),
        (20, 15, 14, "failed"),
        (20, 15, 20, "unknown"),
        (20, 15, 33, "unknown"),
        (None, 15, 15, "done"),
    ],
)
def test_a_move_holds_between_its_target_and_where_the_group_was(
    moved: ConsumerBroker, old: int | None, new: int, current: int, result: str
) -> None:
    moved.offsets["G", "T", 0] = current
    verified = verify(moved, old, new)
    assert verified.result == result
    assert isinstance(verified.error, NotApplied) == (result == "failed")
    assert (verified.error is None) == (result == "done")


def test_deliveries_prove_that_messages_were_consumed_again(moved: ConsumerBroker) -> None:
    moved.offsets["G", "T", 0] = 20
    moved.handlers[315] = lambda asked: answer_json(asked, {"statsMinute": {"sum": 5}})
    assert verify(moved, 20, 15).result == "done"
    assert verify(moved, 20, 14).result == "failed"
    # Messages that the broker filters out are not counted.
    moved.clients, moved.expressions = {"G": ["c1"]}, {"T": "TagA", "Other": "*"}
    assert [verify(moved, 20, new).result for new in (15, 14)] == ["done", "unknown"]
    moved.expressions = {"T": "*", "Other": "TagA"}
    assert verify(moved, 20, 14).result == "failed"
    moved.handlers[315] = refuse_with(1, "The stats <GROUP_GET_NUMS> <T@G> not exist")
    assert verify(moved, 20, 15).result == "failed"


def test_a_pending_move_stays_pending_until_the_clients_carry_it_out(moved: ConsumerBroker) -> None:
    moved.offsets["G", "T", 0] = 20
    moved.handlers[315] = lambda asked: answer_json(asked, {"statsMinute": {"sum": 500}})
    assert verify(moved, 20, 15, "pending").result == "pending"
    assert verify(moved, 20, 50, "pending").result == "pending"
    moved.offsets["G", "T", 0] = 50
    assert verify(moved, 20, 50, "pending").result == "done"


def test_moves_that_failed_or_were_kept_are_not_read_again(moved: ConsumerBroker) -> None:
    assert verify(moved, 20, 20, "kept").result == "kept"
    assert moved.asked == []
