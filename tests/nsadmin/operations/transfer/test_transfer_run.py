"""A run: what is copied and in which order, and what it survives."""

import pytest

from namesrv_core.errors import ResponseCode
from nsadmin.client.results import NotApplied
from nsadmin.client.topic_routes import TopicRoute
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK
from nsadmin.operations.transfer import transfer_run
from nsadmin.operations.transfer.message_rules import MessageRules
from nsadmin.operations.transfer.queue_map import QueueId
from nsadmin.operations.transfer.transfer_run import TransferOptions, TransferRun
from nsadmin.operations.transfer.verification import load_transfer
from tests.support.transfer_clusters import COPIED, ClusterPair


def fill(pair: ClusterPair, count: int, queue_id: int = 0, first: int = 0) -> list[bytes]:
    for number in range(first, first + count):
        pair.source.store_message(
            b"%d" % number, queue_id=queue_id, KEYS=f"k{number}", TAGS=["even", "odd"][number % 2]
        )
    return [b"%d" % number for number in range(first, first + count)]


def test_every_queue_is_copied_in_its_order(pair: ClusterPair) -> None:
    bodies = {queue_id: fill(pair, 100 + queue_id, queue_id) for queue_id in (0, 3, 7)}
    run = pair.copy_all()
    assert {queue_id: pair.copied_bodies(queue_id) for queue_id in bodies} == bodies
    assert {queue.source.queue_id: queue.copied_count for queue in run.queues} == {
        queue_id: len(bodies.get(queue_id, ())) for queue_id in range(8)
    }
    assert 1 < max(pair.target.batch_sizes) <= 64


def test_the_next_run_copies_only_what_is_new(pair: ClusterPair) -> None:
    bodies = fill(pair, 70)
    pair.copy_all()
    assert [queue.copied_count for queue in pair.copy_all().queues] == [0] * 8
    bodies += fill(pair, 5, first=70)
    pair.target.store_message(b"of another producer")
    assert sum(queue.copied_count for queue in pair.copy_all().queues) == 5
    assert pair.copied_bodies() == [*bodies[:70], b"of another producer", *bodies[70:]]


def test_a_kill_after_a_batch_that_was_stored_repeats_nothing(pair: ClusterPair) -> None:
    bodies = fill(pair, 200)
    run = TransferRun(pair.clusters, pair.make_planner(), [pair.plan_topic()], TransferOptions())
    rounds = run.run()
    while run.queues == [] or run.queues[0].copied_count == 0:
        next(rounds)
    kept = dict(pair.target_server.kv["NSADMIN_TRANSFER"])
    rounds.close()
    # A killed process does not save its record at the end.
    pair.target_server.kv["NSADMIN_TRANSFER"] = kept
    pair.copy_all()
    assert pair.copied_bodies() == bodies


@pytest.mark.parametrize("codes", [[2], [1, 14], [16]])
def test_a_batch_that_is_refused_for_now_is_sent_again(pair: ClusterPair, codes: list[int]) -> None:
    bodies = fill(pair, 100)
    pair.target.refusals = codes
    pair.copy_all()
    assert pair.copied_bodies() == bodies


def test_a_batch_without_an_answer_is_looked_for_in_the_target(pair: ClusterPair) -> None:
    bodies = fill(pair, 200)
    pair.target.loses_answers = 2
    run = pair.copy_all()
    assert pair.copied_bodies() == bodies
    assert run.queues[0].copied_count == 200


def test_copies_that_the_target_lost_are_copied_again(pair: ClusterPair) -> None:
    bodies = fill(pair, 150)
    send = pair.target.handlers[320]

    def lose_two(asked: object) -> object:
        if len(pair.target.batch_sizes) == 1:
            del pair.target.queues["T", 0][-2:]
        return send(asked)  # type: ignore[arg-type]

    pair.target.handlers[320] = lose_two  # type: ignore[assignment]
    pair.copy_all()
    # The second batch was stored before the loss showed, and is repeated after the lost messages.
    lost, repeated = pair.target.batch_sizes[0], sum(pair.target.batch_sizes[:2])
    assert pair.copied_bodies() == [*bodies[: lost - 2], *bodies[lost:repeated], *bodies[lost - 2 :]]


def test_lost_copies_are_copied_again_if_others_filled_their_place(pair: ClusterPair) -> None:
    bodies = fill(pair, 150)
    send = pair.target.handlers[320]

    def lose_two_and_fail(asked: object) -> object:
        if len(pair.target.batch_sizes) != 1:
            return send(asked)  # type: ignore[arg-type]
        del pair.target.queues["T", 0][-2:]
        pair.target.batch_sizes.append(0)
        for _ in range(3):
            pair.target.store_message(b"other", queue_id=0)
        return None

    pair.target.handlers[320] = lose_two_and_fail  # type: ignore[assignment]
    pair.copy_all()
    kept = pair.target.batch_sizes[0] - 2
    assert pair.copied_bodies() == [*bodies[:kept], *[b"other"] * 3, *bodies[kept:]]


def test_the_record_keeps_queues_that_the_source_does_not_list_now(pair: ClusterPair) -> None:
    fill(pair, 20)
    pair.copy_all()
    plan = pair.plan_topic()
    record = plan.store.load()
    assert record is not None
    gone = QueueId("broker-b", 0)
    plan.store.save(record._replace(queues={**record.queues, gone: record.queues[QueueId("broker-a", 0)]}))
    pair.copy_all()
    record = plan.store.load()
    assert record is not None
    assert gone in record.queues
    assert str(pair.plan_topic().missing_queues) == (
        "T: the source does not list broker-b/0 now: run the command again when the broker is registered"
    )
    with pytest.raises(NotApplied, match="does not list broker-b/0 now"):
        load_transfer(pair.clusters, COPIED)


def test_a_source_that_answers_late_is_asked_again(pair: ClusterPair) -> None:
    bodies = fill(pair, 40)
    pull, calls = pair.source.handlers[11], []

    def fail_once(asked: object) -> object:
        calls.append(asked)
        return None if len(calls) == 1 else pull(asked)  # type: ignore[arg-type]

    plan = pair.plan_topic()
    pair.source.handlers[11] = fail_once  # type: ignore[assignment]
    run = TransferRun(pair.clusters, pair.make_planner(), [plan], TransferOptions())
    assert list(run.run())
    assert pair.copied_bodies() == bodies


def test_a_message_that_the_target_refuses_ends_its_queue_and_no_other(pair: ClusterPair) -> None:
    fill(pair, 3)
    others = fill(pair, 3, queue_id=1)
    pair.source.store_message(b"last", queue_id=0, large="x" * 32_600)
    run = pair.copy_all()
    assert [queue.is_failed for queue in run.queues] == [True, *[False] * 7]
    assert str(run.queues[0].error) == (
        "the target refuses the message at source offset 3: MESSAGE_ILLEGAL (13): the properties are longer "
        "than 32767 bytes"
    )
    assert pair.copied_bodies(1) == others
    assert len(pair.copied_bodies(0)) == 3


def test_conditions_of_the_client_and_of_brokers(pair: ClusterPair) -> None:
    fill(pair, 40)
    rules = MessageRules(tags=("even",), keys=("k2", "k3", "k8"))
    run = pair.copy_all(TransferOptions(rules=rules))
    assert pair.copied_bodies() == [b"2", b"8"]
    assert (run.queues[0].skipped_count, run.queues[0].record.next_offset) == (18, 40)


def test_a_queue_that_fails_too_long_is_given_up(pair: ClusterPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_run, "GIVE_UP_SECONDS", 0.0)
    fill(pair, 3)
    pair.target.refusals = [1] * 100
    run = pair.copy_all()
    assert run.queues[0].is_failed


def test_a_target_that_takes_no_messages_is_not_asked_again(pair: ClusterPair) -> None:
    fill(pair, 3)
    pair.target.refusals = [ResponseCode.REQUEST_CODE_NOT_SUPPORTED, 1]
    run = pair.copy_all()
    assert (run.queues[0].is_failed, pair.target.refusals) == (True, [1])


def test_a_follower_copies_new_messages_until_it_is_stopped(pair: ClusterPair) -> None:
    bodies = fill(pair, 10)
    run = TransferRun(pair.clusters, pair.make_planner(), [pair.plan_topic()], TransferOptions(follows=True))
    rounds = run.run()
    while len(pair.copied_bodies()) < 10:
        next(rounds)
    bodies += fill(pair, 10, first=10)
    while len(pair.copied_bodies()) < 20:
        next(rounds)
    rounds.close()
    assert pair.copied_bodies() == bodies


def test_a_second_nsadmin_stops_the_first(pair: ClusterPair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer_run, "_SAVE_PERIOD_SECONDS", 0.0)
    fill(pair, 3)
    options = TransferOptions(follows=True)
    rounds = TransferRun(pair.clusters, pair.make_planner(), [pair.plan_topic()], options).run()
    next(rounds)
    others = TransferRun(pair.clusters, pair.make_planner(), [pair.plan_topic()], options).run()
    next(others)
    with pytest.raises(NotApplied, match="another nsadmin continues this transfer"):
        next(rounds)
    # The first one leaves the record to the second.
    next(others)
    others.close()


def test_a_follower_copies_a_queue_that_appears_later(
    pair: ClusterPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsadmin.client.messages.topic_follower._ROUTE_PERIOD_SECONDS", 0.0)
    topics = pair.clusters.source.topics
    get_route, counts = topics.get_route, [1]

    def show_queues(topic: str) -> TopicRoute:
        route = get_route(topic)
        return route._replace(queues=(route.queues[0]._replace(read_queue_nums=counts[0]),))

    monkeypatch.setattr(topics, "get_route", show_queues)
    bodies = fill(pair, 5)
    rounds = TransferRun(
        pair.clusters, pair.make_planner(), [pair.plan_topic()], TransferOptions(follows=True)
    ).run()
    while len(pair.copied_bodies()) < 5:
        next(rounds)
    fill(pair, 5, queue_id=1)
    counts[0] = 2
    while len(pair.copied_bodies(1)) < 5:
        next(rounds)
    rounds.close()
    assert pair.copied_bodies(0) == pair.copied_bodies(1) == bodies


def test_a_rate_limits_all_queues_together(pair: ClusterPair) -> None:
    pauses: list[float] = []
    clock = SYSTEM_CLOCK._replace(pause_seconds=pauses.append)
    fill(pair, 200)
    pair.copy_all(TransferOptions(messages_per_second=10), clock)
    assert max(pauses) > 15
