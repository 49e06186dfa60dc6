"""A run of an import: batches, the rate, and what a killed run leaves."""

from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from time import monotonic

import pytest

from namesrv_core.protocol.codes import RequestCode
from namesrv_core.protocol.command import RemotingCommand, build_reply
from nsadmin import AdminClient
from nsadmin.operations.message_files.file_messages import FileMessage, parse_file_message
from nsadmin.operations.message_files.import_memory import ImportMemory
from nsadmin.operations.message_files.import_run import (
    BATCH_MESSAGES,
    END_READS,
    MAX_REFUSED,
    ImportRun,
    QueueChooser,
)
from nsadmin.operations.procedure_clock import SYSTEM_CLOCK
from tests.support.dead_letter_brokers import DeadLetterBroker
from tests.support.fake_servers import Answer, FakeNameServer


@pytest.fixture
def store(first_server: FakeNameServer) -> Iterator[DeadLetterBroker]:
    with DeadLetterBroker() as running:
        first_server.clusters = {"C": {"broker-a": {0: running.addr}}}
        first_server.routes = {"T": {"broker-a": 6}}
        yield running


@pytest.fixture
def admin(first_server: FakeNameServer, store: DeadLetterBroker) -> Iterator[AdminClient]:
    with AdminClient(first_server.addr) as client:
        yield client


def messages(count: int, queue_id: int | None = 0) -> list[FileMessage]:
    row = {"topic": "T", "brokerName": "broker-a", "queueId": queue_id}
    return [parse_file_message(number, row | {"body": str(number)}) for number in range(count)]


def make_run(admin: AdminClient, memory: ImportMemory, rate: float | None = None) -> ImportRun:
    return ImportRun(admin, QueueChooser(admin, {}), memory, rate)


def test_a_killed_run_repeats_at_most_one_batch(
    admin: AdminClient, store: DeadLetterBroker, tmp_path: Path
) -> None:
    class Killed(BaseException):
        pass

    class KilledMemory(ImportMemory):
        """Ends the process after the third batch was sent, and before that is noted."""

        def note_batch(self, row_numbers: Collection[int], unsent_rows: Iterable[int]) -> None:
            if self.next_row == 2 * BATCH_MESSAGES:
                raise Killed
            super().note_batch(row_numbers, unsent_rows)

    items = messages(1000)
    with pytest.raises(Killed):
        list(make_run(admin, KilledMemory(tmp_path)).send_messages(items))
    later = ImportMemory(tmp_path)
    later.load()
    run = make_run(admin, later)
    assert run.count_messages(items) == 1000 - 2 * BATCH_MESSAGES
    assert sum(run.send_messages(items)) == 1000 - 2 * BATCH_MESSAGES
    bodies = [int(message.body) for message in store.stored_messages("T")]
    assert sorted(set(bodies)) == list(range(1000))
    assert len(bodies) == 1000 + BATCH_MESSAGES


def test_a_rate_makes_small_batches(admin: AdminClient, store: DeadLetterBroker, tmp_path: Path) -> None:
    began_at = monotonic()
    sizes = list(make_run(admin, ImportMemory(tmp_path), 200).send_messages(messages(100)))
    assert (sizes, monotonic() - began_at >= 0.25) == ([40, 40, 20], True)


def test_what_the_pause_raises_ends_the_run_between_two_batches(
    admin: AdminClient, store: DeadLetterBroker, tmp_path: Path
) -> None:
    def stop(_: float) -> None:
        if store.sent:
            raise InterruptedError

    memory = ImportMemory(tmp_path)
    with pytest.raises(InterruptedError):
        list(make_run(admin, memory).send_messages(messages(1000), SYSTEM_CLOCK._replace(pause_seconds=stop)))
    assert (memory.next_row, len(store.sent)) == (BATCH_MESSAGES, BATCH_MESSAGES)


def test_too_many_refused_messages_end_the_run(
    admin: AdminClient, store: DeadLetterBroker, tmp_path: Path
) -> None:
    store.refusals = [13] * 1000
    memory = ImportMemory(tmp_path)
    run = make_run(admin, memory)
    items = messages(1000)
    run.count_messages(items)
    list(run.send_messages(items))
    assert (run.topics["T"].failed, run.topics["T"].sent) == (MAX_REFUSED, 0)
    assert not any(memory.is_sent(number) for number in range(1000))


@pytest.mark.parametrize("late_reads", [3, 1000])
def test_the_end_of_a_queue_may_come_late(
    admin: AdminClient, store: DeadLetterBroker, tmp_path: Path, late_reads: int
) -> None:
    read_end = store.handlers[RequestCode.GET_MAX_OFFSET]
    ends = iter(["0"] * late_reads)

    def read_late_end(request: RemotingCommand) -> Answer:
        late_end = next(ends, None)
        return read_end(request) if late_end is None else build_reply(request, ext={"offset": late_end})

    store.handlers[RequestCode.GET_MAX_OFFSET] = read_late_end
    pauses: list[float] = []
    run = make_run(admin, ImportMemory(tmp_path))
    list(run.send_messages(messages(2), SYSTEM_CLOCK._replace(pause_seconds=pauses.append)))
    # The first pause is that before the batch.
    assert len(pauses) == 1 + min(late_reads, END_READS)
    error = run.topics["T"].error
    assert (str(error) if error else None) == (
        "messages may be lost: queue 0 on broker-a ends at offset 0, and the broker acknowledged a message "
        "at offset 1"
        if late_reads > END_READS
        else None
    )


def test_messages_without_a_queue_take_turns(
    admin: AdminClient, store: DeadLetterBroker, tmp_path: Path
) -> None:
    list(make_run(admin, ImportMemory(tmp_path)).send_messages(messages(16, None)))
    assert {message.queue_id for message in store.stored_messages("T")} == set(range(8))
